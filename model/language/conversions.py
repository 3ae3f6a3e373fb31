"""Names, types and places: what every part of the compiler of a function body builds on."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from slotproof.model.language.bind import WIDE, BoundMap
from slotproof.model.language.columns import column_count, is_scalar
from slotproof.model.language.domains import Domain, Parameter
from slotproof.model.language.errors import LanguageError, ModelError
from slotproof.model.language.ir import (
    Checked,
    Const,
    Expr,
    Local,
    Read,
    Unwrap,
    Wrap,
)
from slotproof.model.language.operands import (
    FALSE,
    TRUE,
    EmptySet,
    Nothing,
    Operand,
    Place,
    choice,
    comparison,
    from_code,
    number,
    retyped,
    set_of,
    table,
)
from slotproof.model.language.source import MISSING
from slotproof.model.language.source import Source as SourceText
from slotproof.model.language.types import (
    BoolType,
    EnumType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    ScalarType,
    SeqType,
    SetType,
)
from slotproof.model.near import near_or_all

if TYPE_CHECKING:
    from slotproof.model.language.functions import Functions


class Conversions:
    """The names of one function body, and values as the types that are needed."""

    def __init__(self, compiler: Functions, text: SourceText, property_name: str | None) -> None:
        self.compiler = compiler
        self.text = text
        self.property_name = property_name
        self.names: dict[str, Operand] = {}
        self._taken: dict[str, int] = {}

    def operand(self, node: ast.expr) -> Operand:
        """Compile any expression; ``Expressions`` does it."""
        raise NotImplementedError

    def error(self, node: ast.AST, message: str) -> LanguageError:
        """The error to raise for a node."""
        return LanguageError(message, self.text.site(node))

    def site(self, node: ast.AST) -> int:
        """The number of a place where a model error can happen."""
        return self.compiler.site(self.text.site(node))

    def fresh(self, name: str) -> str:
        """A name that no other local of this function has."""
        self._taken[name] = self._taken.get(name, 0) + 1
        return name if self._taken[name] == 1 else f"{name}.{self._taken[name]}"

    @contextmanager
    def bound(self, name: str, operand: Operand) -> Iterator[None]:
        """Let a name stand for something inside a comprehension or loop."""
        before = self.names.get(name)
        self.names[name] = operand
        try:
            yield
        finally:
            if before is None:
                self.names.pop(name, None)
            else:
                self.names[name] = before

    def describe(self, operand: Operand) -> str:
        """An operand's type in a message."""
        match operand:
            case Nothing():
                return "None"
            case EmptySet():
                return "an empty set"
            case _:
                return "int" if isinstance(operand.type, IntType) else str(operand.type)

    def scalar(self, node: ast.expr) -> Expr:
        """An expression that has to have a scalar value."""
        operand = self.operand(node)
        if isinstance(operand, Nothing | EmptySet):
            raise self.error(
                node, f"{self.describe(operand)} has no type here; compare it or assign it to something typed"
            )
        if isinstance(operand, Place | BoundMap):
            raise self.error(
                node, f"a whole {operand.type} is used as a value; name a field or an item of it"
            )
        return operand

    def coerce(self, operand: Operand, type_: ScalarType, node: ast.AST) -> Expr:
        """The operand as a value of ``type_``; numbers are not checked against a range here."""
        if isinstance(operand, Nothing):
            if isinstance(type_, OptionalType):
                return Const(type_, 0)
            raise self.error(node, f"None where a {type_} is needed; declare it '{type_} | None'")
        if isinstance(operand, EmptySet):
            if isinstance(type_, SetType):
                return Const(type_, 0)
            if isinstance(type_, OptionalType) and isinstance(type_.item, SetType):
                return Const(type_, 1)
            raise self.error(node, f"a set where a {type_} is needed")
        if isinstance(operand, Place | BoundMap):
            raise self.error(node, f"a whole {operand.type} where a {type_} is needed; name a part of it")
        if operand.type == type_ or (isinstance(operand.type, IntType) and isinstance(type_, IntType)):
            return operand
        if isinstance(operand.type, OptionalType) and operand.type.item == type_:
            return self.unwrap(operand, node)
        if isinstance(type_, OptionalType) and not isinstance(operand.type, OptionalType):
            return self.wrap(self.coerce(operand, type_.item, node), type_, node)
        both_optional = isinstance(type_, OptionalType) and isinstance(operand.type, OptionalType)
        if both_optional and isinstance(type_.item, IntType) and isinstance(operand.type.item, IntType):  # type: ignore[union-attr]
            inner = self.wrap(self.unwrap(operand, node), cast(OptionalType, type_), node)
            return choice(comparison("==", operand, Const(operand.type, 0)), Const(type_, 0), inner)
        raise self.error(node, f"a {self.describe(operand)} where a {self.named(type_)} is needed")

    def fitted(self, operand: Operand, type_: ScalarType, node: ast.AST) -> Expr:
        """The operand as a value of ``type_``, a number checked against its range."""
        value = self.coerce(operand, type_, node)
        if isinstance(type_, IntType) and isinstance(value.type, IntType):
            inside = type_.low <= value.type.low and value.type.high <= type_.high
            return value if inside else Checked(type_, value, self.site(node))
        return value

    def named(self, type_: ScalarType) -> str:
        """A type in a message."""
        return "int" if type_ == WIDE else str(type_)

    def wrap(self, item: Expr, type_: OptionalType, node: ast.AST) -> Expr:
        """A value as an optional; a number is checked against the optional's range."""
        inner = type_.item
        if isinstance(inner, IntType):
            assert isinstance(item.type, IntType)
            inside = inner.low <= item.type.low and item.type.high <= inner.high
            if isinstance(item, Const) and inside:
                return Const(type_, item.value - inner.low + 1)
            return Wrap(type_, item, None if inside else self.site(node))
        if isinstance(item, Const):
            return Const(type_, item.value + 1)
        return Wrap(type_, item, None)

    def unwrap(self, item: Expr, node: ast.AST) -> Expr:
        """The value of an optional, checked."""
        assert isinstance(item.type, OptionalType)
        if isinstance(item, Const) and item.value:
            return Const(item.type.item, from_code(item.type.item, item.value - 1))
        if isinstance(item, Wrap) and item.site is None:
            return item.item
        return Unwrap(item.type.item, item, self.site(node))

    def condition(self, node: ast.expr) -> Expr:
        """An expression in a place where Python asks for truth: a bool, or a set or sequence (not empty)."""
        operand = self.operand(node)
        if isinstance(operand, EmptySet):
            return FALSE
        if isinstance(operand, Place) and isinstance(operand.type, SeqType):
            return comparison(">", self.length(operand), number(0))
        if isinstance(operand, Nothing | Place | BoundMap):
            raise self.error(node, f"{self.describe(operand)} is no condition; write a bool or a comparison")
        if isinstance(operand.type, SetType):
            return comparison("!=", operand, Const(operand.type, 0))
        if not isinstance(operand.type, BoolType):
            remedy = (
                "compare it: 'x is not None'"
                if isinstance(operand.type, OptionalType)
                else "compare it with something"
            )
            raise self.error(node, f"a {self.describe(operand)} is no condition; {remedy}")
        return operand

    def unified(self, left: Operand, right: Operand, node: ast.AST) -> tuple[Expr, Expr]:
        """Two values as one common type."""
        if isinstance(left, Place | BoundMap) or isinstance(right, Place | BoundMap):
            raise self.error(
                node, "a whole record, map or sequence is used as a value; name a field or an item of it"
            )
        if isinstance(left, Nothing | EmptySet) and isinstance(right, Nothing | EmptySet):
            raise self.error(node, "both sides have no type; give one of them a type")
        if isinstance(left, Nothing | EmptySet):
            right_, left_ = self.unified(right, left, node)
            return left_, right_
        if isinstance(right, Nothing):
            type_ = (
                left.type
                if isinstance(left.type, OptionalType)
                else OptionalType(self.storable(left.type, node))
            )
            return self.coerce(left, type_, node), Const(type_, 0)
        if isinstance(right, EmptySet):
            return left, self.coerce(right, left.type, node)
        if isinstance(right.type, OptionalType) and not isinstance(left.type, OptionalType):
            return self.coerce(left, right.type, node), right
        return left, self.coerce(right, left.type, node)

    def storable(
        self, type_: ScalarType, node: ast.AST
    ) -> BoolType | IntType | EnumType | IndexType | SetType:
        """A type that an optional can have."""
        assert not isinstance(type_, OptionalType)
        if isinstance(type_, IntType) and type_.high - type_.low >= 2**32:
            raise self.error(
                node, "a number without bounds or None; annotate it 'Annotated[int, Range(…)] | None'"
            )
        return type_

    def as_int(self, operand: Operand, node: ast.AST) -> Expr:
        """An operand of arithmetic."""
        if isinstance(operand, Nothing | EmptySet | Place | BoundMap):
            raise self.error(node, f"arithmetic with {self.describe(operand)}")
        if isinstance(operand.type, BoolType):
            return retyped(IntType(0, 1), operand)
        if isinstance(operand.type, OptionalType) and isinstance(operand.type.item, IntType):
            return self.unwrap(operand, node)
        if not isinstance(operand.type, IntType):
            remedy = "; write '.index' for an element's number" if isinstance(operand.type, IndexType) else ""
            raise self.error(node, f"arithmetic with a {operand.type}{remedy}")
        return operand

    def integer(self, node: ast.expr) -> Expr:
        """An expression that has to be a whole number."""
        value = self.scalar(node)
        if isinstance(value.type, OptionalType) and isinstance(value.type.item, IntType):
            value = self.unwrap(value, node)
        if isinstance(value.type, BoolType):
            value = retyped(IntType(0, 1), value)
        if not isinstance(value.type, IntType):
            raise self.error(node, f"a {value.type} where an int is needed")
        return value

    def index(self, node: ast.expr, sequence: ast.expr) -> Expr:
        """The index of an item. Python counts negative ones from the end, which no engine does."""
        value = self.integer(node)
        if isinstance(value, Const) and value.value < 0 and self.same_at_all_sizes(node):
            name = ast.unparse(sequence)
            raise self.error(
                node,
                f"{name} is indexed by {value.value}; an index counts from the front:"
                f" write 'len({name}) - {-value.value}' for it",
            )
        return value

    def same_at_all_sizes(self, node: ast.expr) -> bool:
        """Whether a number is made of plain numbers: no parameter and no local name is in it."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        attributes = any(isinstance(part, ast.Attribute) for part in ast.walk(node))
        return not attributes and all(isinstance(self.module_value(name), int) for name in names)

    def is_set(self, operand: Operand) -> bool:
        """Whether an operand is a set."""
        return isinstance(operand, EmptySet) or (
            not isinstance(operand, Nothing | Place | BoundMap) and isinstance(operand.type, SetType)
        )

    def set_type(self, left: Operand, right: Operand, node: ast.AST) -> SetType:
        """The common type of two sets."""
        for operand in (left, right):
            if not isinstance(operand, EmptySet | Nothing) and isinstance(operand.type, SetType):
                return operand.type
        raise self.error(node, "two empty sets; their type is not known")

    def module_value(self, node: ast.Name) -> Any:
        """What a name means outside the function, if it is no local."""
        return MISSING if node.id in self.names else self.text.lookup(node.id)

    def class_named(self, node: ast.expr) -> type[Any] | None:
        """The class that a name stands for, if it does."""
        value = self.module_value(node) if isinstance(node, ast.Name) else None
        return value if isinstance(value, type) else None

    def field(self, owner: Place, name: str, node: ast.AST) -> Operand:
        """A field of a record in the state."""
        record = cast(RecordType, owner.type)
        column = owner.column
        for f in record.fields:
            if f.name == name:
                return self.at(Place(owner.root, f.type, column, owner.indices))
            column += column_count(f.type)
        raise self.error(
            node,
            f"{record} has no field '{name}'{near_or_all(name, [f.name for f in record.fields], 'it has')}",
        )

    def at(self, place: Place) -> Operand:
        """A place, read if it is a scalar."""
        if not is_scalar(place.type):
            return place
        type_ = cast(ScalarType, place.type)
        codes = self.compiler.constant_columns.get(place.column)
        if codes is not None:
            column = self.compiler.columns[place.column]
            return table(type_, tuple(from_code(type_, c) for c in codes), column.dims, place.indices)
        return Read(type_, place.root, place.column, place.indices)

    def length(self, place: Place) -> Expr:
        """The length of a sequence."""
        seq = cast(SeqType, place.type)
        read = self.at(Place(place.root, IntType(0, seq.capacity), place.column, place.indices))
        return cast(Expr, read)

    def item(self, place: Place, index: Expr) -> Operand:
        """An item of a sequence at an index that is known to be inside."""
        seq = cast(SeqType, place.type)
        return self.at(Place(place.root, seq.item, place.column + 1, (*place.indices, index)))

    def position(self, seq: Place) -> Local:
        """A fresh variable for positions of a sequence."""
        return Local(IntType(0, cast(SeqType, seq.type).capacity - 1), self.fresh("position"))

    def constant(self, value: Any, node: ast.AST) -> Operand:
        """A Python value that the source names: a literal, a module's constant or a parameter's value."""
        compiler = self.compiler
        if value is None:
            return Nothing()
        if isinstance(value, bool):
            return TRUE if value else FALSE
        if isinstance(value, int):
            return number(value)
        if isinstance(value, enum.Enum):
            enum_type = EnumType(type(value))
            return Const(enum_type, enum_type.encode(value))
        if isinstance(value, Domain):
            index_type = IndexType(type(value), compiler.binding.size(type(value)))
            try:
                return Const(index_type, index_type.encode(value))
            except ModelError as e:
                raise self.error(node, e.message) from None
        if isinstance(value, Set):
            elements = [self.constant(x, node) for x in value]
            return self.set_from(elements, node)
        if isinstance(value, Parameter):
            return self.parameter(value)
        if isinstance(value, float):
            raise self.error(node, "a float is not in the language; write a whole number")
        if isinstance(value, str):
            raise self.error(node, "a text is not in the language; write a member of an enum")
        raise self.error(node, f"{value!r} is not in the language; write a whole number, True, False or None")

    def parameter(self, declared: Parameter) -> Operand:
        """The value that a parameter has in this system."""
        binding = self.compiler.binding
        value = binding.value(declared)
        if declared.kind is int:
            return number(value)
        type_ = binding.type_of(declared.kind)
        if isinstance(type_, MapType):
            item = cast(ScalarType, type_.value)
            return BoundMap(type_, tuple(from_code(item, item.encode(value[k])) for k in value))
        scalar = cast(ScalarType, type_)
        return Const(scalar, from_code(scalar, scalar.encode(value)))

    def set_from(self, operands: list[Operand], node: ast.AST) -> Operand:
        """The set of these elements; the first says of which type."""
        if not operands:
            return EmptySet()
        first = operands[0]
        type_ = None if isinstance(first, Nothing | EmptySet | Place | BoundMap) else first.type
        if isinstance(type_, OptionalType):
            type_ = type_.item
        if not isinstance(type_, IndexType | EnumType):
            raise self.error(node, f"a set of {self.describe(first)}; sets hold elements of a domain or enum")
        if type_.size > 64:
            raise self.error(node, f"a set of {type_}, which has {type_.size} elements; at most 64")
        return set_of(SetType(type_), [self.coerce(o, type_, node) for o in operands])

    def check_set(self, node: ast.Name) -> None:
        """Hook of ``Statements``: a local that has no value on some way here."""
