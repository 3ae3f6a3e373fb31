"""From a Python expression of the language to a typed expression of the IR."""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, cast

from slotproof.model.language import surface
from slotproof.model.language.bind import WIDE, BoundMap
from slotproof.model.language.columns import is_scalar
from slotproof.model.language.domains import Domain, Parameter
from slotproof.model.language.errors import LanguageError, ModelError, Site
from slotproof.model.language.ir import (
    Call,
    Checked,
    Const,
    Decide,
    Elements,
    Expr,
    Fold,
    Implies,
    Local,
    Read,
    Source,
    Span,
    Unwrap,
    Wrap,
)
from slotproof.model.language.operands import (
    BOOL,
    FALSE,
    TRUE,
    EmptySet,
    Nothing,
    Operand,
    Place,
    arithmetic,
    choice,
    clamp,
    comparison,
    conjunction,
    count,
    disjunction,
    from_code,
    member,
    negation,
    number,
    retyped,
    set_of,
    set_operation,
    subset,
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
    ValueType,
)

if TYPE_CHECKING:
    from slotproof.model.language.compile import Compiler

KeyLike = type[Domain] | type[enum.Enum]

REMEDIES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "write a function with a name"),
    ast.Dict: ("a dict", "declare a Map in the state and write its items"),
    ast.DictComp: ("a dict comprehension", "declare a Map in the state and write its items in a loop"),
    ast.ListComp: ("a list", "write a set {…}, or assign the list to a sequence of the state"),
    ast.List: ("a list", "write a set {…}, or assign the list to a sequence of the state"),
    ast.Tuple: ("a tuple", "return or store one value at a time"),
    ast.JoinedStr: ("a text", "use an enum"),
    ast.NamedExpr: ("':='", "assign on a line of its own"),
    ast.Await: ("await", "write one action for each atomic step"),
    ast.Yield: ("yield", "write one action for each atomic step"),
    ast.Starred: ("'*'", "write the arguments one by one"),
    ast.Slice: ("a slice", "write a loop or a filter [x for x in q if …]"),
    ast.GeneratorExp: ("a generator by itself", "put it inside any, all, sum, min, max or next"),
}


class Expressions:
    """Compiles the expressions of one function body; ``Statements`` adds the rest."""

    def __init__(self, compiler: Compiler, text: SourceText, property_name: str | None) -> None:
        self.compiler = compiler
        self.text = text
        self.property_name = property_name
        self.names: dict[str, Operand] = {}
        self._taken: dict[str, int] = {}

    # -- errors and names -------------------------------------------------------------------------

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

    # -- what an operand is ------------------------------------------------------------------------

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
            raise self.error(node, f"a whole {operand.type} where a {type_} is needed")
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
            raise self.error(node, f"{self.describe(operand)} is no condition")
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

    # -- the kinds of expressions ------------------------------------------------------------------

    def operand(self, node: ast.expr) -> Operand:
        """Compile any expression."""
        match node:
            case ast.Constant():
                return self.constant(node.value, node)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.BoolOp():
                items = [self.truth(v) for v in node.values]
                return conjunction(items) if isinstance(node.op, ast.And) else disjunction(items)
            case ast.UnaryOp(op=ast.Not()):
                return negation(self.condition(node.operand))
            case ast.UnaryOp(op=ast.USub()):
                return arithmetic("-", number(0), self.integer(node.operand))
            case ast.BinOp():
                return self.binary(node, node.op, self.operand(node.left), self.operand(node.right))
            case ast.Compare():
                return self.comparisons(node)
            case ast.IfExp():
                return self.conditional(node)
            case ast.Set():
                return self.set_literal(node.elts, node)
            case ast.SetComp():
                return self.set_comprehension(node)
            case ast.Call():
                return self.call(node)
            case _:
                what, remedy = REMEDIES.get(
                    type(node), (f"'{ast.unparse(node)}'", "see the language's reference")
                )
                raise self.error(node, f"{what} is not in the language; {remedy}")

    def truth(self, node: ast.expr) -> Expr:
        """An operand of ``and`` and ``or``: a bool."""
        operand = self.operand(node)
        if isinstance(operand, Nothing | EmptySet | Place | BoundMap) or not isinstance(
            operand.type, BoolType
        ):
            raise self.error(
                node, f"{self.describe(operand)} in 'and' or 'or'; write a comparison such as 'len(x) > 0'"
            )
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
        raise self.error(node, f"{value!r} is not in the language")

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

    def name(self, node: ast.Name) -> Operand:
        """A local name, or a constant of the module."""
        if node.id in self.names:
            return self.names[node.id]
        self.check_set(node)
        value = self.text.lookup(node.id)
        if value is MISSING:
            near = get_close_matches(node.id, [*self.names, *self.text.function.__globals__], 1)
            raise self.error(
                node, f"'{node.id}' is not defined" + (f"; did you mean '{near[0]}'?" if near else "")
            )
        if isinstance(value, type):
            raise self.error(
                node, f"class {node.id} is used as a value; use an instance or write 'for x in {node.id}'"
            )
        if callable(value):
            raise self.error(node, f"function {node.id} is used as a value; call it")
        return self.constant(value, node)

    def check_set(self, node: ast.Name) -> None:
        """Hook of ``Statements``: a local that has no value on some way here."""

    def attribute(self, node: ast.Attribute) -> Operand:
        """A field of a record, a member of an enum, the number of an element."""
        cls = self.class_named(node.value)
        if cls is not None:
            if issubclass(cls, enum.Enum):
                if node.attr not in cls.__members__:
                    raise self.error(
                        node, f"{cls.__name__} has no member '{node.attr}'{near(node.attr, cls.__members__)}"
                    )
                return self.constant(cls[node.attr], node)
            raise self.error(
                node, f"class {cls.__name__} is used as a value; use an instance, such as a parameter"
            )
        if isinstance(node.value, ast.Name) and isinstance(self.module_value(node.value), types.ModuleType):
            raise self.error(
                node, f"'{ast.unparse(node)}' is named through its module; import the name itself"
            )
        owner = self.operand(node.value)
        if isinstance(owner, Place) and isinstance(owner.type, RecordType):
            return self.field(owner, node.attr, node)
        if not isinstance(owner, Nothing | EmptySet | Place | BoundMap):
            type_ = owner.type.item if isinstance(owner.type, OptionalType) else owner.type
            if isinstance(type_, IndexType):
                if node.attr == "index":
                    return retyped(IntType(0, type_.size - 1), self.coerce(owner, type_, node.value))
                raise self.error(
                    node, f"an element of {type_} has no '{node.attr}', only its number: write '.index'"
                )
        raise self.error(node, f"{self.describe(owner)} has no field '{node.attr}'")

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
            column += columns_of(f.type)
        raise self.error(node, f"{record} has no field '{name}'{near(name, [f.name for f in record.fields])}")

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

    def subscript(self, node: ast.Subscript) -> Operand:
        """An item of a map or sequence."""
        owner = self.operand(node.value)
        if isinstance(owner, BoundMap):
            key = self.coerce(self.operand(node.slice), owner.type.key, node.slice)
            return table(cast(ScalarType, owner.type.value), owner.values, (owner.type.key.size,), (key,))
        if isinstance(owner, Place) and isinstance(owner.type, MapType):
            key = self.coerce(self.operand(node.slice), owner.type.key, node.slice)
            return self.at(Place(owner.root, owner.type.value, owner.column, (*owner.indices, key)))
        if isinstance(owner, Place) and isinstance(owner.type, SeqType):
            if isinstance(node.slice, ast.Slice):
                raise self.error(
                    node, "a slice is not in the language; write a loop or a filter [x for x in q if …]"
                )
            index = self.integer(node.slice)
            inside = conjunction(
                [comparison(">=", index, number(0)), comparison("<", index, self.length(owner))]
            )
            position = IntType(0, owner.type.capacity - 1)
            some = OptionalType(position)
            checked = Unwrap(
                position, choice(inside, Wrap(some, index, self.site(node)), Const(some, 0)), self.site(node)
            )
            return self.item(owner, checked)
        raise self.error(node, f"{self.describe(owner)} has no items; maps and sequences do")

    def length(self, place: Place) -> Expr:
        """The length of a sequence."""
        seq = cast(SeqType, place.type)
        read = self.at(Place(place.root, IntType(0, seq.capacity), place.column, place.indices))
        return cast(Expr, read)

    def item(self, place: Place, index: Expr) -> Operand:
        """An item of a sequence at an index that is known to be inside."""
        seq = cast(SeqType, place.type)
        return self.at(Place(place.root, seq.item, place.column + 1, (*place.indices, index)))

    def binary(self, node: ast.AST, operator: ast.operator, left: Operand, right: Operand) -> Expr:
        """Arithmetic of ints, or an operation on sets."""
        sets = {ast.BitOr: "|", ast.BitAnd: "&", ast.Sub: "-", ast.BitXor: "^"}
        ints = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
        if type(operator) in sets and (self.is_set(left) or self.is_set(right)):
            type_ = self.set_type(left, right, node)
            return set_operation(
                sets[type(operator)], self.coerce(left, type_, node), self.coerce(right, type_, node)
            )
        if type(operator) not in ints:
            remedy = (
                "write '//'" if isinstance(operator, ast.Div) else "ints have + - * // %, sets have | & - ^"
            )
            raise self.error(node, f"operator '{symbol(operator)}' is not in the language; {remedy}")
        a, b = self.as_int(left, node), self.as_int(right, node)
        if isinstance(operator, ast.FloorDiv | ast.Mod) and not (isinstance(b, Const) and b.value > 0):
            raise self.error(
                node, "a division by something that is no positive constant; divide by a number or parameter"
            )
        result = arithmetic(ints[type(operator)], a, b)
        return result

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

    def comparisons(self, node: ast.Compare) -> Expr:
        """A chain of comparisons."""
        parts: list[Expr] = []
        left_node = node.left
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            parts.append(self.compare(operator, left_node, right_node, node))
            left_node = right_node
        return conjunction(parts)

    def compare(self, operator: ast.cmpop, left_node: ast.expr, right_node: ast.expr, node: ast.AST) -> Expr:
        """One comparison."""
        if isinstance(operator, ast.In | ast.NotIn):
            inside = self.contains(left_node, right_node, node)
            return inside if isinstance(operator, ast.In) else negation(inside)
        left, right = self.operand(left_node), self.operand(right_node)
        op = {
            ast.Eq: "==",
            ast.Is: "==",
            ast.NotEq: "!=",
            ast.IsNot: "!=",
            ast.Lt: "<",
            ast.LtE: "<=",
            ast.Gt: ">",
            ast.GtE: ">=",
        }[type(operator)]
        if op in ("==", "!="):
            same = self.equal(left, right, node)
            return same if op == "==" else negation(same)
        if self.is_set(left) or self.is_set(right):
            type_ = self.set_type(left, right, node)
            a, b = self.coerce(left, type_, node), self.coerce(right, type_, node)
            if op in (">", ">="):
                a, b = b, a
            inside = subset(a, b)
            return inside if op in ("<=", ">=") else conjunction([inside, comparison("!=", a, b)])
        a, b = self.ordered(left, node), self.ordered(right, node)
        if type(a.type) is not type(b.type) or (not isinstance(a.type, IntType) and a.type != b.type):
            raise self.error(node, f"a {self.describe(a)} is compared with a {self.describe(b)}")
        return comparison(op, a, b)

    def ordered(self, operand: Operand, node: ast.AST) -> Expr:
        """An operand of ``<`` and its kin."""
        if isinstance(operand, Nothing | EmptySet | Place | BoundMap):
            raise self.error(node, f"{self.describe(operand)} has no order")
        if isinstance(operand.type, OptionalType):
            operand = self.unwrap(operand, node)
        if not isinstance(operand.type, IntType | IndexType):
            raise self.error(node, f"a {operand.type} has no order; ints and elements of a domain have")
        return operand

    def equal(self, left: Operand, right: Operand, node: ast.AST) -> Expr:
        """Whether two values are the same."""
        if isinstance(left, Place | BoundMap) or isinstance(right, Place | BoundMap):
            raise self.error(
                node, "whole records, maps or sequences are compared; compare their fields or items"
            )
        if isinstance(left, Nothing | EmptySet):
            left, right = right, left
        if isinstance(left, Nothing | EmptySet):
            return TRUE if type(left) is type(right) else FALSE
        if isinstance(right, Nothing):
            if not isinstance(left.type, OptionalType):
                raise self.error(node, f"a {self.describe(left)} is never None")
            return comparison("==", left, Const(left.type, 0))
        if isinstance(right, EmptySet):
            return comparison("==", left, self.coerce(right, left.type, node))
        if isinstance(left.type, IntType) and isinstance(right.type, IntType):
            return comparison("==", left, right)
        if left.type == right.type:
            return comparison("==", left, right)
        if isinstance(right.type, OptionalType) and not isinstance(left.type, OptionalType):
            left, right = right, left
        if isinstance(left.type, OptionalType) and not isinstance(right.type, OptionalType):
            if isinstance(left.type.item, IntType) and isinstance(right.type, IntType):
                present = comparison("!=", left, Const(left.type, 0))
                return conjunction([present, comparison("==", self.unwrap(left, node), right)])
            if left.type.item == right.type:
                return comparison("==", left, self.wrap(right, left.type, node))
        raise self.error(
            node, f"a {self.describe(left)} is compared with a {self.describe(right)}; they are never equal"
        )

    def contains(self, left_node: ast.expr, right_node: ast.expr, node: ast.AST) -> Expr:
        """``left in right``."""
        if isinstance(right_node, ast.Tuple | ast.List | ast.Set):
            left = self.operand(left_node)
            return disjunction([self.equal(left, self.operand(e), node) for e in right_node.elts])
        element, container = self.operand(left_node), self.operand(right_node)
        if isinstance(container, Place) and isinstance(container.type, SeqType):
            if not is_scalar(container.type.item):
                raise self.error(node, "'in' a sequence of records; write any(x.field == … for x in q)")
            variable = self.position(container)
            same = self.equal(element, self.item(container, variable), node)
            inside = comparison("<", variable, self.length(container))
            span = Span(0, container.type.capacity)
            return Fold(BOOL, "any", variable, span, inside, same, None, None, None)
        if isinstance(container, EmptySet):
            return FALSE
        if self.is_set(container):
            set_ = cast(Expr, container)
            item = cast(SetType, set_.type).item
            if isinstance(element, Nothing):
                raise self.error(node, f"None is never in a {set_.type}")
            if not isinstance(element, EmptySet | Place | BoundMap) and element.type == OptionalType(item):
                present = comparison("!=", element, Const(element.type, 0))
                return conjunction([present, member(self.unwrap(element, node), set_)])
            return member(self.coerce(element, item, node), set_)
        raise self.error(node, f"'in' {self.describe(container)}; write it of a set or a sequence")

    def position(self, seq: Place) -> Local:
        """A fresh variable for positions of a sequence."""
        return Local(IntType(0, cast(SeqType, seq.type).capacity - 1), self.fresh("position"))

    def conditional(self, node: ast.IfExp) -> Operand:
        """``a if c else b``."""
        condition = self.condition(node.test)
        if isinstance(condition, Const):
            return self.operand(node.body if condition.value else node.orelse)
        then, otherwise = self.operand(node.body), self.operand(node.orelse)
        a, b = self.unified(then, otherwise, node)
        return choice(condition, a, b)

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

    def set_literal(self, elements: list[ast.expr], node: ast.AST) -> Operand:
        """``{a, b}``."""
        for e in elements:
            if isinstance(e, ast.Starred):
                raise self.error(e, "'*' is not in the language; write the union 'a | b'")
        return self.set_from([self.operand(e) for e in elements], node)

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

    # -- comprehensions ------------------------------------------------------------------------------

    def source(self, node: ast.expr, name: str) -> tuple[Local, Source, Expr | None, Operand]:
        """What a loop ranges over: its variable, source, an extra condition, and what the name stands for."""
        over = self.module_value(node) if isinstance(node, ast.Name) else None
        if isinstance(over, type) and issubclass(over, Domain | enum.Enum):
            key = (
                EnumType(over)
                if issubclass(over, enum.Enum)
                else IndexType(over, self.compiler.binding.size(over))
            )
            variable = Local(key, self.fresh(name))
            return variable, Span(0, key.size), None, variable
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            bounds = [self.integer(a) for a in node.args]
            if not all(isinstance(b, Const) for b in bounds) or not 1 <= len(bounds) <= 2:
                raise self.error(
                    node, "range() of something that is not known; its bounds have to be constants"
                )
            low, high = (
                (0, cast(Const, bounds[0]).value)
                if len(bounds) == 1
                else (cast(Const, b).value for b in bounds)
            )
            variable = Local(IntType(low, max(low, high - 1)), self.fresh(name))
            return variable, Span(low, max(low, high)), None, variable
        operand = self.operand(node)
        if isinstance(operand, Place) and isinstance(operand.type, MapType):
            variable = Local(operand.type.key, self.fresh(name))
            return variable, Span(0, operand.type.key.size), None, variable
        if isinstance(operand, Place) and isinstance(operand.type, SeqType):
            position = self.position(operand)
            inside = comparison("<", position, self.length(operand))
            return position, Span(0, operand.type.capacity), inside, self.item(operand, position)
        if isinstance(operand, BoundMap):
            variable = Local(operand.type.key, self.fresh(name))
            return variable, Span(0, operand.type.key.size), None, variable
        if isinstance(operand, EmptySet):
            raise self.error(node, "a loop over an empty set")
        if isinstance(operand, Nothing | Place) or not isinstance(operand.type, SetType):
            raise self.error(
                node,
                f"a loop over {self.describe(operand)}; write a domain, an enum, a set, a map or a sequence",
            )
        variable = Local(operand.type.item, self.fresh(name))
        if operand.type.item.size == 1 or operand == Const(operand.type, operand.type.size - 1):
            extra = None if isinstance(operand, Const) else member(variable, operand)
            return variable, Span(0, operand.type.item.size), extra, variable
        return variable, Elements(operand), None, variable

    @contextmanager
    def generator(
        self, node: ast.GeneratorExp | ast.SetComp | ast.ListComp
    ) -> Iterator[tuple[Local, Source, list[Expr], list[Expr]]]:
        """The one ``for`` of a comprehension: variable, source, the source's own condition, the filters."""
        if len(node.generators) != 1:
            raise self.error(node, "a comprehension with two 'for'; nest any(any(…)) or write a loop")
        part = node.generators[0]
        if not isinstance(part.target, ast.Name) or part.is_async:
            raise self.error(node, "a comprehension whose variable is no plain name")
        variable, source, inside, meaning = self.source(part.iter, part.target.id)
        meaning = self.only(variable, source, meaning)
        with self.bound(part.target.id, meaning):
            filters = [self.condition(test) for test in part.ifs]
            yield variable, source, [] if inside is None else [inside], filters

    def only(self, variable: Local, source: Source, meaning: Operand) -> Operand:
        """The value of a loop's variable where there is just one: a domain of one element."""
        single = isinstance(source, Span) and source.high - source.low == 1
        return Const(variable.type, source.low) if single and meaning is variable else meaning  # type: ignore[union-attr]

    def set_comprehension(self, node: ast.SetComp) -> Operand:
        """``{x for x in … if …}``."""
        with self.generator(node) as (variable, source, inside, filters):
            body = self.scalar(node.elt)
            if not isinstance(body.type, IndexType | EnumType) or body.type.size > 64:
                raise self.error(
                    node, f"a set of {self.describe(body)}; sets hold at most 64 elements of a domain or enum"
                )
            condition = conjunction(inside + filters)
            type_ = SetType(body.type)
            if condition == FALSE:
                return Const(type_, 0)
            kept = None if condition == TRUE else condition
            if body == variable and isinstance(source, Elements) and kept is None:
                return source.set
            if (
                body == variable
                and kept is None
                and isinstance(source, Span)
                and source.high == body.type.size
            ):
                return Const(type_, type_.size - 1)
            return Fold(type_, "set", variable, source, kept, body, None, None, None)

    def fold(self, kind: Literal["any", "all", "sum", "min", "max", "first"], node: ast.Call) -> Expr:
        """``any``, ``all``, ``sum``, ``min``, ``max`` and ``next`` of a generator, and of a set."""
        argument = node.args[0]
        if not isinstance(argument, ast.GeneratorExp):
            inner = ast.GeneratorExp(
                ast.Name("element", ast.Load()),
                [ast.comprehension(ast.Name("element", ast.Store()), argument, [], 0)],
            )
            if kind not in ("min", "max"):
                raise self.error(
                    node, f"{kind}() of something that is no generator; write '{kind}(… for x in …)'"
                )
            argument = ast.fix_missing_locations(ast.copy_location(inner, argument))
        default_node = self.default_of(kind, node)
        with self.generator(argument) as (variable, source, inside, filters):
            match kind:
                case "any" | "all":
                    return self.quantified(kind, argument, node, variable, source, inside, filters)
                case "sum":
                    body = self.integer(argument.elt)
                case _:
                    body = self.scalar(argument.elt)
        condition = conjunction(inside + filters)
        kept = None if condition == TRUE else condition
        if kind == "sum":
            times = (
                source.high - source.low
                if isinstance(source, Span)
                else cast(SetType, source.set.type).item.size
            )
            body_type = cast(IntType, body.type)
            type_: ScalarType = clamp(min(0, times * body_type.low), max(0, times * body_type.high))
            return (
                number(0)
                if condition == FALSE
                else Fold(type_, kind, variable, source, kept, body, None, None, None)
            )
        if kind in ("min", "max") and not isinstance(body.type, IntType | IndexType):
            raise self.error(node, f"{kind}() of {body.type}; ints and elements of a domain have an order")
        if default_node is None:
            return Fold(body.type, kind, variable, source, kept, body, None, self.site(node), None)
        body_, default = self.unified(body, self.operand(default_node), node)
        if condition == FALSE:
            return default
        if isinstance(body_.type, IntType) and isinstance(default.type, IntType):
            ranged = IntType(min(body_.type.low, default.type.low), max(body_.type.high, default.type.high))
            return Fold(ranged, kind, variable, source, kept, body_, default, None, None)
        return Fold(body_.type, kind, variable, source, kept, body_, default, None, None)

    def default_of(self, kind: str, node: ast.Call) -> ast.expr | None:
        """The default of ``min``, ``max`` and ``next``."""
        if kind == "first":
            if len(node.args) > 2 or node.keywords:
                raise self.error(node, "next() takes a generator and a default")
            return node.args[1] if len(node.args) == 2 else None
        for keyword in node.keywords:
            if keyword.arg != "default" or kind not in ("min", "max"):
                raise self.error(node, f"{kind}() with '{keyword.arg}=' is not in the language")
        if len(node.args) != 1:
            raise self.error(node, f"{kind}() takes one generator")
        return node.keywords[0].value if node.keywords else None

    def quantified(
        self,
        kind: Literal["any", "all"],
        argument: ast.GeneratorExp,
        node: ast.Call,
        variable: Local,
        source: Source,
        inside: list[Expr],
        filters: list[Expr],
    ) -> Expr:
        """``any`` and ``all``; a filter of an ``all`` in a property is a premise."""
        body = self.condition(argument.elt)
        condition = conjunction(inside + filters)
        if condition == FALSE or body == (FALSE if kind == "any" else TRUE):
            return FALSE if kind == "any" else TRUE
        single = isinstance(source, Span) and source.high - source.low == 1
        counted = kind == "all" and bool(filters) and self.property_name is not None
        if single and not counted and not uses(variable, [condition, body]):
            return (
                conjunction([condition, body]) if kind == "any" else disjunction([negation(condition), body])
            )
        premise = self.compiler.premise(self.property_name, self.text.site(node)) if counted else None
        kept = None if condition == TRUE else condition
        return Fold(BOOL, kind, variable, source, kept, body, None, None, premise)

    # -- calls -----------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Operand:
        """A call of one of the language's words or of a helper function."""
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and isinstance(self.module_value(owner), types.ModuleType):
                raise self.error(
                    node, f"'{ast.unparse(node.func)}' is named through its module; import the name itself"
                )
            raise self.error(
                node,
                f"method '{node.func.attr}' is not in the language here; {method_remedy(node.func.attr)}",
            )
        if not isinstance(node.func, ast.Name):
            raise self.error(node, "a call of something that is no name; call a function of the module")
        name = node.func.id
        if name in self.names:
            raise self.error(node, f"'{name}' is a value, no function")
        value = self.text.lookup(name)
        if value is MISSING:
            hint = near(name, [k for k, v in self.text.function.__globals__.items() if callable(v)])
            raise self.error(node, f"function '{name}' is not defined{hint}")
        if value is surface.require:
            raise self.error(
                node, "'require' stands only at the top of an action, before any other statement"
            )
        if value in (surface.crash, surface.reset):
            raise self.error(node, f"'{name}' is a statement; write it on a line of its own")
        builtin = self.builtin(value, node)
        if builtin is not None:
            return builtin
        if isinstance(value, type) and issubclass(value, Domain):
            return self.element(value, node)
        if isinstance(value, type):
            raise self.error(
                node, f"{name}(…) is not in the language here; records are made in append() or assigned whole"
            )
        return self.function_call(value, node)

    def builtin(self, value: Any, node: ast.Call) -> Operand | None:
        """The words that the language shares with Python, and its own."""
        folds: dict[Any, Literal["any", "all", "sum", "min", "max", "first"]] = {
            any: "any", all: "all", sum: "sum", min: "min", max: "max", next: "first"
        }  # fmt: skip
        if value in (min, max) and len(node.args) == 2:
            a, b = self.integer(node.args[0]), self.integer(node.args[1])
            return choice(comparison("<=" if value is min else ">=", a, b), a, b)
        if isinstance(value, types.BuiltinFunctionType) and value in folds:
            if not node.args:
                raise self.error(node, f"{ast.unparse(node.func)}() needs a generator")
            return self.fold(folds[value], node)
        if value is len:
            return self.len_of(node)
        if value in (set, frozenset):
            if not node.args:
                return EmptySet()
            over = self.module_value(node.args[0]) if isinstance(node.args[0], ast.Name) else None
            if isinstance(over, type) or isinstance(node.args[0], ast.GeneratorExp):
                raise self.error(node, "set(…) of these is not in the language; write '{x for x in …}'")
            return self.operand(node.args[0])
        if value is surface.some:
            item = self.scalar(node.args[0])
            return self.unwrap(item, node) if isinstance(item.type, OptionalType) else item
        if value is surface.implies:
            premise, conclusion = (self.condition(a) for a in node.args)
            if self.property_name is None:
                return comparison("<=", premise, conclusion)
            number_ = self.compiler.premise(self.property_name, self.text.site(node.args[0]))
            return Implies(BOOL, premise, conclusion, number_)
        if value in (
            print,
            open,
            input,
            eval,
            exec,
            sorted,
            enumerate,
            zip,
            map,
            filter,
            abs,
            range,
            str,
            list,
            dict,
            tuple,
            isinstance,
            getattr,
            hasattr,
            id,
            repr,
            type,
        ):
            remedies = {
                sorted: "domains and sets iterate in order already",
                enumerate: "iterate over the sequence or over range(n)",
                range: "write it in a 'for'",
            }
            raise self.error(
                node,
                f"{ast.unparse(node.func)}() is not in the language; "
                f"{remedies.get(value, 'see its reference for what is')}",
            )
        return None

    def len_of(self, node: ast.Call) -> Expr:
        """``len`` of a set, sequence, map or domain."""
        if len(node.args) != 1:
            raise self.error(node, "len() takes one set, sequence, map or domain")
        cls = self.class_named(node.args[0])
        if cls is not None and issubclass(cls, Domain):
            return number(self.compiler.binding.size(cls))
        if cls is not None and issubclass(cls, enum.Enum):
            return number(len(cls))
        operand = self.operand(node.args[0])
        if isinstance(operand, EmptySet):
            return number(0)
        if isinstance(operand, Place) and isinstance(operand.type, SeqType):
            return self.length(operand)
        if isinstance(operand, Place | BoundMap) and isinstance(operand.type, MapType):
            return number(operand.type.key.size)
        if not isinstance(operand, Nothing | Place | BoundMap) and isinstance(operand.type, SetType):
            return count(operand)
        raise self.error(
            node, f"len() of {self.describe(operand)}; write it of a set, sequence, map or domain"
        )

    def element(self, cls: type[Domain], node: ast.Call) -> Expr:
        """``Adapter(i)``: the element of a number."""
        type_ = IndexType(cls, self.compiler.binding.size(cls))
        if len(node.args) != 1 or node.keywords:
            raise self.error(node, f"{cls.__name__}(…) takes one number")
        index = self.integer(node.args[0])
        bounds = cast(IntType, index.type)
        if bounds.low >= 0 and bounds.high < type_.size:
            return retyped(type_, index)
        if isinstance(index, Const):
            raise self.error(node, f"{cls.__name__}({index.value}) leaves the domain of {type_.size}")
        return Checked(type_, index, self.site(node))

    def function_call(self, value: Any, node: ast.Call) -> Operand:
        """A call of a helper function or a decision."""
        call = self.compiler.call(value, self, node)
        if call is None:
            raise self.error(node, f"{ast.unparse(node.func)} returns nothing; call it on a line of its own")
        return call


def uses(variable: Local, expressions: list[Expr]) -> bool:
    """Whether a variable occurs in one of the expressions."""
    from slotproof.model.language.ir import subexpressions

    return any(e == variable or uses(variable, list(subexpressions(e))) for e in expressions)


def columns_of(type_: ValueType) -> int:
    """How many columns a value of a type takes."""
    match type_:
        case RecordType():
            return sum(columns_of(f.type) for f in type_.fields)
        case MapType():
            return columns_of(type_.value)
        case SeqType():
            return 1 + columns_of(type_.item)
        case _:
            return 1


def near(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """A hint at the known name that is nearest."""
    found = get_close_matches(name, list(known), 1)
    return (
        f"; did you mean '{found[0]}'?"
        if found
        else f"; it has: {', '.join(list(known)[:12])}"
        if known
        else ""
    )


def symbol(operator: ast.operator) -> str:
    """An operator as Python writes it."""
    return ast.unparse(ast.BinOp(ast.Name("x"), operator, ast.Name("y")))[2:-2].strip()


def method_remedy(name: str) -> str:
    """What to write instead of a method."""
    return {
        "add": "write 's.x |= {a}'",
        "discard": "write 's.x -= {a}'",
        "union": "write 'a | b'",
        "get": "maps are total: write 'm[k]'",
        "values": "iterate over the map's keys",
        "items": "iterate over the map's keys",
        "keys": "iterate over the map itself",
        "pop": "write 'x = q.pop(0)' on a line of its own",
        "append": "write it on a line of its own",
    }.get(name, "write a function of the module and call it by name")


__all__ = ["Call", "Decide", "Expressions", "Site", "columns_of", "near"]
