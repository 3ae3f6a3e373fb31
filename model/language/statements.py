"""From the statements of a function of the language to blocks of the IR.

Operations on sequences become reads, writes and loops here, so that engines know columns alone. The
places of a sequence beyond its length always hold the code 0: equal sequences have equal cells.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, cast

from slotproof.model.language import surface
from slotproof.model.language.bind import WIDE
from slotproof.model.language.columns import is_scalar
from slotproof.model.language.expressions import Expressions, columns_of, near
from slotproof.model.language.ir import (
    Assign,
    Block,
    Break,
    Call,
    Const,
    Continue,
    Decide,
    Die,
    Do,
    Expr,
    Fail,
    Fold,
    For,
    If,
    Local,
    Read,
    Return,
    Span,
    Statement,
    Write,
)
from slotproof.model.language.operands import (
    EmptySet,
    Nothing,
    Operand,
    Place,
    arithmetic,
    comparison,
    conjunction,
    from_code,
    number,
    retyped,
    table,
)
from slotproof.model.language.source import MISSING
from slotproof.model.language.types import (
    IntType,
    MapType,
    OptionalType,
    RecordType,
    ScalarType,
    SeqType,
)
from slotproof.model.language.values import Record

STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.While: ("a while loop", "write 'for x in' a domain, set or sequence"),
    ast.Try: ("try", "test for the case with 'if'"),
    ast.With: ("with", "write the statements by themselves"),
    ast.Global: ("global", "declare a field of the state"),
    ast.Nonlocal: ("nonlocal", "declare a field of the state"),
    ast.Delete: ("del", "assign None, or remove the item of a sequence"),
    ast.Assert: ("assert", "write 'crash(\"cause\")' under an 'if', or 'some(x)' for an optional"),
    ast.Raise: ("raise", "write 'crash(\"cause\")'"),
    ast.Import: ("an import inside a function", "import at the top of the file"),
    ast.ImportFrom: ("an import inside a function", "import at the top of the file"),
    ast.FunctionDef: ("a function inside a function", "define it in the module"),
    ast.ClassDef: ("a class inside a function", "define it in the module"),
    ast.AsyncFor: ("async", "write one action for each atomic step"),
    ast.Match: ("match", "write 'if' and 'elif'"),
}


class Statements(Expressions):
    """Compiles the statements of one function body.

    ``returns`` is the type that a ``return`` has to give, ``None`` for an action or procedure;
    ``writable`` says whether the state may be changed (not in guards and properties).
    """

    returns: ScalarType | None = None
    writable = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.unset: set[str] = set()
        self._locals: dict[str, Local] = {}

    def check_set(self, node: ast.Name) -> None:
        """Report a local that has a value on some ways here only."""
        if node.id in self.unset:
            raise self.error(node, f"'{node.id}' may have no value here; give it one before the 'if' or loop")

    # -- blocks and control ------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> tuple[list[Statement], bool]:
        """Compile statements; also whether the end of the block can be reached."""
        result: list[Statement] = []
        for statement in statements:
            compiled, goes_on = self.statement(statement)
            result.extend(compiled)
            if not goes_on:
                return result, False
        return result, True

    def statement(self, node: ast.stmt) -> tuple[list[Statement], bool]:
        """Compile one statement; also whether execution can go on after it."""
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return [], True
            case ast.Expr(value=ast.Call()):
                return self.call_statement(cast(ast.Call, node.value))
            case ast.Assign():
                return self.assignment(node), True
            case ast.AnnAssign():
                return self.annotated(node), True
            case ast.AugAssign():
                return self.augmented(node), True
            case ast.If():
                return self.branch(node)
            case ast.For():
                return self.loop(node), True
            case ast.Return():
                return [Return(self.returned(node))], False
            case ast.Break() | ast.Continue():
                return [Break() if isinstance(node, ast.Break) else Continue()], False
            case ast.Expr():
                raise self.error(
                    node, f"the value of '{ast.unparse(node)}' is not used; assign it or leave it out"
                )
            case _:
                what, remedy = STATEMENTS.get(
                    type(node), (f"'{type(node).__name__.lower()}'", "see the reference")
                )
                raise self.error(node, f"{what} is not in the language; {remedy}")

    def returned(self, node: ast.Return) -> Expr | None:
        """The value of a ``return``."""
        if self.returns is None:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                raise self.error(
                    node, f"{self.text.name} returns a value; annotate it '-> type' (an action returns None)"
                )
            return None
        if node.value is None:
            raise self.error(
                node, f"{self.text.name} returns nothing here; return a {self.named(self.returns)}"
            )
        return self.coerce(self.operand(node.value), self.returns, node)

    def branch(self, node: ast.If) -> tuple[list[Statement], bool]:
        """``if``: of a known condition only the branch that is taken."""
        condition = self.condition(node.test)
        if isinstance(condition, Const):
            return self.block(node.body if condition.value else node.orelse)
        names = dict(self.names)
        then, then_on = self.block(node.body)
        then_names = self.names
        self.names = dict(names)
        otherwise, otherwise_on = self.block(node.orelse)
        self.names = self.joined(names, then_names if then_on else None, self.names if otherwise_on else None)
        return [If(condition, tuple(then), tuple(otherwise))], then_on or otherwise_on

    def joined(
        self,
        before: dict[str, Operand],
        then: dict[str, Operand] | None,
        otherwise: dict[str, Operand] | None,
    ) -> dict[str, Operand]:
        """The names that have a value after a branch, whichever way was taken."""
        ways = [w for w in (then, otherwise) if w is not None]
        if not ways:
            return before
        for way in ways:
            self.unset |= {n for n in way if any(n not in other for other in ways)}
        kept = {n: o for n, o in ways[0].items() if all(n in w and w[n] == o for w in ways)}
        self.unset |= set(ways[0]) - set(kept)
        return kept

    def loop(self, node: ast.For) -> list[Statement]:
        """``for x in`` a domain, enum, set, map, sequence or range."""
        if node.orelse:
            raise self.error(node, "'else' of a loop is not in the language; use a local bool")
        if not isinstance(node.target, ast.Name):
            raise self.error(node, "a loop whose variable is no plain name")
        variable, source, inside, meaning = self.source(node.iter, node.target.id)
        meaning = self.only(variable, source, meaning)
        names = dict(self.names)
        held: list[Statement] = []
        if inside is not None and not isinstance(meaning, Place | Const):
            local = Local(cast(Expr, meaning).type, self.fresh(node.target.id))
            held = [Assign(local, cast(Expr, meaning))]
            meaning = local
        with self.bound(node.target.id, meaning):
            body, _ = self.block(node.body)
        body = [*held, *body]
        self.unset |= {n for n in self.names if n not in names} | {node.target.id}
        self.names = names
        if inside is not None:
            self.check_untouched(node, tuple(body))
            body = [If(inside, tuple(body), ())]
        return [For(variable, source, tuple(body))]

    def check_untouched(self, node: ast.For, body: Block) -> None:
        """A loop over a sequence must not change it."""
        over = self.operand(node.iter)
        if isinstance(over, Place) and isinstance(over.type, SeqType):
            own = range(over.column, over.column + columns_of(over.type))
            if any(c in own for c in self.compiler.written(body)):
                raise self.error(
                    node,
                    "the loop changes the sequence that it goes over; "
                    "collect a set and filter the sequence afterwards",
                )

    # -- assignments -------------------------------------------------------------------------------

    def assignment(self, node: ast.Assign) -> list[Statement]:
        """``target = value``."""
        if len(node.targets) != 1:
            raise self.error(node, "a chain of assignments; write one line for each")
        target = node.targets[0]
        if isinstance(target, ast.Tuple | ast.List):
            raise self.error(node, "several targets at once; write one line for each")
        taken = self.taken(node.value)
        if taken is not None:
            place, index = taken
            value = self.item(place, index)
            if isinstance(value, Place):
                raise self.error(
                    node, "a record is taken from a sequence; read the fields of q[0], then write 'q.pop(0)'"
                )
            local = Local(cast(Expr, value).type, self.fresh("taken"))
            return [
                *self.check_index(place, index, node),
                Assign(local, cast(Expr, value)),
                *self.removal(place, index),
                *self.store(target, local, node),
            ]
        if isinstance(node.value, ast.ListComp | ast.List):
            return self.sequence_assignment(target, node.value, node)
        if isinstance(node.value, ast.Call) and self.record_class(node.value) is not None:
            return self.record_assignment(target, node.value, node)
        return self.store(target, self.operand(node.value), node)

    def annotated(self, node: ast.AnnAssign) -> list[Statement]:
        """``name: type = value``."""
        if not isinstance(node.target, ast.Name) or node.value is None:
            raise self.error(node, "an annotation of something that is no local name with a value")
        annotation = self.text.annotation(node.annotation)
        if annotation is int:
            type_: ScalarType = WIDE
        else:
            type_ = self.compiler.binding.scalar_of(annotation, f"'{node.target.id}'", self.text.site(node))
        value = self.coerce(self.operand(node.value), type_, node)
        return [Assign(self.declare(node.target.id, type_), value)]

    def augmented(self, node: ast.AugAssign) -> list[Statement]:
        """``target += value`` and its kin."""
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        for part in ast.walk(load):
            ast.copy_location(part, node.target)
        value = self.binary(node, node.op, self.operand(load), self.operand(node.value))
        return self.store(node.target, value, node)

    def store(self, target: ast.expr, value: Operand, node: ast.AST) -> list[Statement]:
        """Put a value into a local or a variable of the state."""
        if isinstance(target, ast.Name):
            return self.store_local(target, value, node)
        cell = self.cell(target)
        return [self.write(cell, value, node)]

    def store_local(self, target: ast.Name, value: Operand, node: ast.AST) -> list[Statement]:
        known = self.names.get(target.id)
        if isinstance(value, Place):
            raise self.error(
                node,
                f"'{target.id}' would be another name of a {value.type} of the state; "
                "write the whole path, or a function of it",
            )
        if isinstance(known, Local):
            return [Assign(known, self.coerce(value, known.type, node))]
        if known is not None:
            raise self.error(
                node, f"'{target.id}' is a loop's or parameter's name of one value; use another name"
            )
        if isinstance(value, Nothing | EmptySet):
            raise self.error(
                node,
                f"'{target.id}' starts as {self.describe(value)}, of no type; write '{target.id}: type = …'",
            )
        expression = cast(Expr, value)
        type_ = WIDE if isinstance(expression.type, IntType) else expression.type
        return [Assign(self.declare(target.id, type_), expression)]

    def declare(self, name: str, type_: ScalarType) -> Local:
        """The local of a name from here on; the same one on every branch that gives it this type."""
        local = self._locals.get(name)
        if local is None or local.type != type_:
            local = self._locals[name] = Local(type_, self.fresh(name))
        self.names[name] = local
        self.unset.discard(name)
        return local

    def cell(self, target: ast.expr) -> Place:
        """The place of a variable of the state that is assigned."""
        if isinstance(target, ast.Subscript):
            owner = self.operand(target.value)
            if isinstance(owner, Place) and isinstance(owner.type, MapType):
                key = self.coerce(self.operand(target.slice), owner.type.key, target.slice)
                place = Place(owner.root, owner.type.value, owner.column, (*owner.indices, key))
            elif isinstance(owner, Place) and isinstance(owner.type, SeqType):
                place = self.sequence_cell(owner, target)
            else:
                raise self.error(
                    target, f"an item of {self.describe(owner)} is assigned; maps and sequences have items"
                )
        elif isinstance(target, ast.Attribute):
            owner = self.operand(target.value)
            if not isinstance(owner, Place) or not isinstance(owner.type, RecordType):
                raise self.error(
                    target, f"a field of {self.describe(owner)} is assigned; only the state has fields"
                )
            place = self.field_place(owner, target.attr, target)
        else:
            raise self.error(target, "assignment to something that is no local and no variable of the state")
        if not self.writable or place.root != "state":
            raise self.error(target, "the state is changed here; only the effect of an action may do that")
        return place

    def field_place(self, owner: Place, name: str, node: ast.AST) -> Place:
        """The place of a field, not read."""
        record = cast(RecordType, owner.type)
        column = owner.column
        for f in record.fields:
            if f.name == name:
                return Place(owner.root, f.type, column, owner.indices)
            column += columns_of(f.type)
        raise self.error(node, f"{record} has no field '{name}'{near(name, [f.name for f in record.fields])}")

    def sequence_cell(self, owner: Place, target: ast.Subscript) -> Place:
        """The place of an item of a sequence, its index checked."""
        read = self.subscript(target)
        seq = cast(SeqType, owner.type)
        if isinstance(read, Place):
            return read
        if isinstance(read, Read):
            return Place(owner.root, seq.item, owner.column + 1, read.indices)
        raise self.error(target, "an item of a sequence that is always empty is assigned")

    def write(self, place: Place, value: Operand, node: ast.AST) -> Write:
        """The statement that stores a value in one cell."""
        if not is_scalar(place.type):
            raise self.error(
                node, f"a whole {place.type} is assigned; write its items or fields, or 'reset(…)'"
            )
        type_ = cast(ScalarType, place.type)
        expression = self.coerce(value, type_, node)
        site = None
        if isinstance(type_, IntType) and isinstance(expression.type, IntType):
            inside = type_.low <= expression.type.low and expression.type.high <= type_.high
            site = None if inside else self.site(node)
        return Write(place.column, place.indices, expression, site)

    # -- records -----------------------------------------------------------------------------------

    def record_class(self, node: ast.expr) -> type[Any] | None:
        """The record class that a call makes an instance of."""
        cls = self.class_named(node.func) if isinstance(node, ast.Call) else None
        return cls if cls is not None and issubclass(cls, Record) else None

    def record_values(self, node: ast.Call) -> list[tuple[ScalarType, Operand]]:
        """The fields of a record that is made by keywords, in order; the others as declared."""
        cls = cast(type[Any], self.record_class(node))
        record = self.compiler.binding.record(cls)
        if node.args:
            raise self.error(node, f"{cls.__name__} is made by keywords: write '{cls.__name__}(field=value)'")
        given = {}
        for keyword in node.keywords:
            if keyword.arg is None or record.field(keyword.arg) is None:
                raise self.error(
                    node,
                    f"{cls.__name__} has no field '{keyword.arg}'"
                    f"{near(keyword.arg or '', [f.name for f in record.fields])}",
                )
            given[keyword.arg] = keyword.value
        values: list[tuple[ScalarType, Operand]] = []
        for f in record.fields:
            if not is_scalar(f.type):
                raise self.error(
                    node, f"{cls.__name__}.{f.name} is a {f.type}; only records of scalars are made"
                )
            type_ = cast(ScalarType, f.type)
            initial: Operand = Const(type_, from_code(type_, type_.encode(f.initial)))
            values.append((type_, self.operand(given[f.name]) if f.name in given else initial))
        return values

    def held(
        self, values: list[tuple[ScalarType, Operand]], node: ast.AST
    ) -> tuple[list[Statement], list[Expr]]:
        """Values computed before anything is written."""
        statements: list[Statement] = []
        results: list[Expr] = []
        for type_, operand in values:
            expression = self.coerce(operand, type_, node)
            if not isinstance(expression, Const | Local):
                local = Local(expression.type, self.fresh("value"))
                statements.append(Assign(local, expression))
                expression = local
            results.append(expression)
        return statements, results

    def record_assignment(self, target: ast.expr, node: ast.Call, statement: ast.AST) -> list[Statement]:
        """``s.part = Record(field=value)``."""
        place = self.cell(target)
        cls = self.record_class(node)
        if not isinstance(place.type, RecordType) or place.type.cls is not cls:
            raise self.error(statement, f"a {cls.__name__ if cls else '?'} is assigned to a {place.type}")
        statements, values = self.held(self.record_values(node), statement)
        for offset, (f, value) in enumerate(zip(place.type.fields, values, strict=True)):
            cell = Place(place.root, f.type, place.column + offset, place.indices)
            statements.append(self.write(cell, value, statement))
        return statements

    def reset(self, node: ast.Call) -> list[Statement]:
        """``reset(s.part)``: every cell of a record as it was declared."""
        place = self.operand(node.args[0]) if len(node.args) == 1 else None
        if not isinstance(place, Place) or not isinstance(place.type, RecordType):
            raise self.error(node, "reset() takes one record of the state")
        if not self.writable or place.root != "state":
            raise self.error(node, "the state is changed here; only the effect of an action may do that")
        statements: list[Statement] = []
        for number_ in range(place.column, place.column + columns_of(place.type)):
            statements.append(self.reset_column(number_, place.indices))
        return statements

    def reset_column(self, number_: int, indices: tuple[Expr, ...]) -> Statement:
        column = self.compiler.columns[number_]
        variables = [Local(IntType(0, size - 1), self.fresh("key")) for size in column.dims[len(indices) :]]
        every = (*indices, *variables)
        values = tuple(from_code(column.type, c) for c in column.initial)
        statement: Statement = Write(number_, every, table(column.type, values, column.dims, every), None)
        for variable in reversed(variables):
            size = cast(IntType, variable.type).high + 1
            statement = For(variable, Span(0, size), (statement,))
        return statement

    # -- sequences ---------------------------------------------------------------------------------

    def sequence(self, node: ast.expr) -> Place:
        """A sequence of the state that is changed."""
        place = self.operand(node)
        if not isinstance(place, Place) or not isinstance(place.type, SeqType):
            raise self.error(node, f"{self.describe(place)} is no sequence of the state")
        if not self.writable or place.root != "state":
            raise self.error(node, "the state is changed here; only the effect of an action may do that")
        return place

    def item_columns(self, place: Place) -> list[tuple[int, ScalarType]]:
        """The columns of a sequence's items, with their types."""
        item = cast(SeqType, place.type).item
        if isinstance(item, RecordType):
            return [(place.column + 1 + i, cast(ScalarType, f.type)) for i, f in enumerate(item.fields)]
        return [(place.column + 1, item)]

    def item_values(self, place: Place, node: ast.expr) -> list[tuple[ScalarType, Operand]]:
        """The scalars of an item that is added."""
        item = cast(SeqType, place.type).item
        if isinstance(item, RecordType):
            if self.record_class(node) is not item.cls:
                raise self.error(node, f"an item of this sequence is made as '{item.name}(field=value)'")
            return self.record_values(cast(ast.Call, node))
        return [(item, self.operand(node))]

    def zero(self, number_: int, indices: tuple[Expr, ...], type_: ScalarType) -> Write:
        """Give a cell the code 0."""
        return Write(number_, indices, Const(type_, from_code(type_, 0)), None)

    def set_length(self, place: Place, value: Expr) -> Write:
        """Store a length that is known to fit."""
        return Write(place.column, place.indices, value, None)

    def taken(self, node: ast.expr) -> tuple[Place, Expr] | None:
        """The sequence and index of ``q.pop(i)``."""
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "pop"
            and not self.is_module(node.func.value)
        ):
            if len(node.args) != 1:
                raise self.error(node, "pop() takes the index; write 'q.pop(0)'")
            return self.sequence(node.func.value), self.integer(node.args[0])
        return None

    def is_module(self, node: ast.expr) -> bool:
        """Whether a name is an imported module."""
        import types as python_types

        return isinstance(node, ast.Name) and isinstance(self.module_value(node), python_types.ModuleType)

    def check_index(self, place: Place, index: Expr, node: ast.AST) -> list[Statement]:
        """A model error unless the index is inside the sequence."""
        inside = conjunction([comparison(">=", index, number(0)), comparison("<", index, self.length(place))])
        return [If(inside, (), (Fail(self.site(node)),))]

    def insertion(self, place: Place, index: Expr | None, node: ast.expr) -> list[Statement]:
        """Add an item at ``index``, or at the end."""
        seq = cast(SeqType, place.type)
        statements, values = self.held(self.item_values(place, node), node)
        length = self.length(place)
        at = length
        statements.append(If(comparison("<", length, number(seq.capacity)), (), (Fail(self.site(node)),)))
        if index is not None:
            inside = conjunction([comparison(">=", index, number(0)), comparison("<=", index, length)])
            statements.append(If(inside, (), (Fail(self.site(node)),)))
            at = index
            statements.extend(self.shift_up(place, index))
        for (number_, type_), value in zip(self.item_columns(place), values, strict=True):
            cell = Place(place.root, type_, number_, (*place.indices, at))
            statements.append(self.write(cell, value, node))
        statements.append(self.set_length(place, arithmetic("+", length, number(1))))
        return statements

    def shift_up(self, place: Place, index: Expr) -> list[Statement]:
        """Move the items from ``index`` on one place further."""
        seq = cast(SeqType, place.type)
        if seq.capacity == 1:
            return []
        step = Local(IntType(0, seq.capacity - 2), self.fresh("step"))
        last = number(seq.capacity - 1)
        to = arithmetic("-", last, step)
        moves: list[Statement] = []
        for number_, type_ in self.item_columns(place):
            before = Read(type_, place.root, number_, (*place.indices, arithmetic("-", to, number(1))))
            moves.append(Write(number_, (*place.indices, to), before, None))
        return [For(step, Span(0, seq.capacity - 1), (If(comparison(">", to, index), tuple(moves), ()),))]

    def removal(self, place: Place, index: Expr) -> list[Statement]:
        """Take the item at a checked index out and close the gap."""
        seq = cast(SeqType, place.type)
        statements: list[Statement] = []
        if not isinstance(index, Const | Local):
            held = Local(WIDE, self.fresh("index"))
            statements.append(Assign(held, index))
            index = held
        if seq.capacity > 1:
            position = Local(IntType(0, seq.capacity - 2), self.fresh("position"))
            moves: list[Statement] = []
            for number_, type_ in self.item_columns(place):
                after = Read(
                    type_, place.root, number_, (*place.indices, arithmetic("+", position, number(1)))
                )
                moves.append(Write(number_, (*place.indices, position), after, None))
            after_index = comparison(">=", position, index)
            moved: Block = tuple(moves)
            if not isinstance(after_index, Const):
                moved = (If(after_index, moved, ()),)
            statements.append(For(position, Span(0, seq.capacity - 1), moved))
        for number_, type_ in self.item_columns(place):
            statements.append(self.zero(number_, (*place.indices, number(seq.capacity - 1)), type_))
        statements.append(self.set_length(place, arithmetic("-", self.length(place), number(1))))
        return statements

    def clearing(self, place: Place, start: Expr) -> list[Statement]:
        """Empty the places from ``start`` on."""
        seq = cast(SeqType, place.type)
        position = Local(IntType(0, seq.capacity - 1), self.fresh("position"))
        zeros = tuple(self.zero(n, (*place.indices, position), t) for n, t in self.item_columns(place))
        beyond = comparison(">=", position, start)
        body: Block = zeros if isinstance(beyond, Const) else (If(beyond, zeros, ()),)
        return [For(position, Span(0, seq.capacity), body)]

    def sequence_assignment(
        self, target: ast.expr, value: ast.ListComp | ast.List, node: ast.AST
    ) -> list[Statement]:
        """``q = [x for x in q if …]``, ``q = [a, b]``, ``q = []``."""
        if isinstance(target, ast.Name):
            raise self.error(
                node, "a list is no local value; assign it to a sequence of the state, or write a set"
            )
        place = self.sequence(target)
        if isinstance(value, ast.List):
            statements = [*self.clearing(place, number(0)), self.set_length(place, number(0))]
            for element in value.elts:
                statements.extend(self.insertion(place, None, element))
            return statements
        generator = value.generators[0]
        source = self.operand(generator.iter) if not self.names_class(generator.iter) else None
        if isinstance(source, Place) and source == place:
            return self.filtered(place, value)
        with self.generator(value) as (variable, over, inside, filters):
            added = self.insertion(place, None, value.elt)
        condition = conjunction(inside + filters)
        body: Block = (
            tuple(added) if condition == Const(condition.type, 1) else (If(condition, tuple(added), ()),)
        )
        loop = For(variable, over, body)
        return [*self.clearing(place, number(0)), self.set_length(place, number(0)), loop]

    def names_class(self, node: ast.expr) -> bool:
        """Whether an expression names a class, as in ``for a in Adapter``."""
        return self.class_named(node) is not None

    def filtered(self, place: Place, value: ast.ListComp) -> list[Statement]:
        """Keep the items that meet a condition, in order."""
        element = value.generators[0].target
        if (
            not isinstance(value.elt, ast.Name)
            or not isinstance(element, ast.Name)
            or value.elt.id != element.id
        ):
            raise self.error(value, "a filter of a sequence keeps its own items: write '[x for x in q if …]'")
        kept = Local(WIDE, self.fresh("kept"))
        with self.generator(value) as (variable, over, inside, filters):
            condition = conjunction(filters)
        own = {n for n, _ in self.item_columns(place)} | {place.column}
        others = self.compiler.read_elsewhere(condition, own, (*place.indices, variable))
        if others:
            raise self.error(value, "the condition reads the sequence that is filtered; compute a set before")
        moves: list[Statement] = []
        for number_, type_ in self.item_columns(place):
            item = Read(type_, place.root, number_, (*place.indices, variable))
            target = retyped(variable.type, kept)
            moves.append(Write(number_, (*place.indices, target), item, None))
        moves.append(Assign(kept, arithmetic("+", kept, number(1))))
        body: Block = tuple(moves)
        if not isinstance(condition, Const):
            body = (If(condition, body, ()),)
        elif not condition.value:
            body = ()
        loop = For(variable, over, (If(inside[0], body, ()),))
        fits = retyped(IntType(0, cast(SeqType, place.type).capacity), kept)
        return [Assign(kept, number(0)), loop, *self.clearing(place, kept), self.set_length(place, fits)]

    # -- calls by themselves -----------------------------------------------------------------------

    def call_statement(self, node: ast.Call) -> tuple[list[Statement], bool]:
        """A call on a line of its own."""
        if isinstance(node.func, ast.Attribute) and not self.is_module(node.func.value):
            return self.method(node, node.func), True
        if isinstance(node.func, ast.Name) and node.func.id not in self.names:
            value = self.text.lookup(node.func.id)
            if value is surface.crash:
                return [self.crash(node)], False
            if value is surface.reset:
                return self.reset(node), True
            if value is surface.require:
                raise self.error(
                    node, "'require' stands only at the top of an action, before any other statement"
                )
            known: Callable[..., Any] | None = None if value is MISSING else value
            if known is not None and not isinstance(known, type) and self.builtin(known, node) is None:
                return self.procedure(known, node), True
        self.operand(node)
        raise self.error(node, f"the value of '{ast.unparse(node)}' is not used; assign it or leave it out")

    def procedure(self, value: Any, node: ast.Call) -> list[Statement]:
        """A call of a helper for its effect."""
        call = self.compiler.call(value, self, node, effect=True)
        return [Do(cast(Call | Decide, call))]

    def crash(self, node: ast.Call) -> Statement:
        """``crash("cause")``."""
        argument = node.args[0] if len(node.args) == 1 else None
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise self.error(node, "crash() takes one text, the cause")
        if not self.writable:
            raise self.error(node, "'crash' stands only in the effect of an action")
        return Die(self.compiler.cause(argument.value))

    def method(self, node: ast.Call, function: ast.Attribute) -> list[Statement]:
        """``q.append(x)`` and its kin."""
        owner = self.operand(function.value)
        if not isinstance(owner, Place) or not isinstance(owner.type, SeqType):
            remedies = {
                "add": "write 's.x |= {a}'",
                "update": "write 's.x |= {a}'",
                "discard": "write 's.x -= {a}'",
                "remove": "write 's.x -= {a}'",
                "clear": "write 's.x = set()'",
            }
            remedy = remedies.get(
                function.attr, "only sequences have methods; write a function of the module"
            )
            raise self.error(node, f"{self.describe(owner)} has no method '{function.attr}'; {remedy}")
        place = self.sequence(function.value)
        if node.keywords:
            raise self.error(node, f"{function.attr}() takes no keywords")
        match function.attr, node.args:
            case "append", [item]:
                return self.insertion(place, None, item)
            case "insert", [index, item]:
                return self.insertion(place, self.integer(index), item)
            case "pop", [index]:
                position = self.integer(index)
                return [*self.check_index(place, position, node), *self.removal(place, position)]
            case "remove", [item]:
                return self.remove(place, item, node)
            case "clear", []:
                return [*self.clearing(place, number(0)), self.set_length(place, number(0))]
            case _:
                raise self.error(
                    node,
                    f"'{function.attr}' with {len(node.args)} arguments is not in the language; "
                    "sequences have append(x), insert(i, x), pop(i), remove(x), clear()",
                )

    def remove(self, place: Place, item: ast.expr, node: ast.AST) -> list[Statement]:
        """``q.remove(x)``: the first item that equals x."""
        if isinstance(cast(SeqType, place.type).item, RecordType):
            raise self.error(node, "remove() of a sequence of records; filter it: 'q = [x for x in q if …]'")
        position = self.position(place)
        inside = comparison("<", position, self.length(place))
        same = self.equal(self.item(place, position), self.operand(item), node)
        found = Fold(
            position.type, "min", position, Span(0, cast(SeqType, place.type).capacity),
            conjunction([inside, same]), position, None, self.site(node), None,
        )  # fmt: skip
        local = Local(WIDE, self.fresh("index"))
        return [Assign(local, found), *self.removal(place, local)]


__all__ = ["OptionalType", "Statements"]
