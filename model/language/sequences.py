"""Operations on sequences, as reads, writes and loops: engines know columns alone.

The places of a sequence beyond its length always hold the code 0: equal sequences have equal cells.
"""

from __future__ import annotations

import ast
from typing import cast

from slotproof.model.language.bind import WIDE, BoundMap
from slotproof.model.language.columns import column_count
from slotproof.model.language.ir import (
    Assign,
    Block,
    Const,
    Elements,
    Expr,
    Fail,
    Fold,
    For,
    If,
    Local,
    Read,
    Span,
    Statement,
    Write,
)
from slotproof.model.language.operands import (
    TRUE,
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
)
from slotproof.model.language.stores import Stores
from slotproof.model.language.types import (
    IntType,
    RecordType,
    ScalarType,
    SeqType,
)
from slotproof.model.language.walk import expressions_of, statements_of

KEPT = "kept"
"""What counts the items that a filter has kept so far: a variable of the action, known on the way."""


def counts_kept(name: str) -> bool:
    """Whether a variable of this name counts what a filter has kept."""
    return name.partition(".")[0] == KEPT


def is_of_filter(loop: For) -> bool:
    """Whether a loop is part of a filter: until that has ended, what the sequence holds means nothing."""
    return any(
        isinstance(x, Local) and counts_kept(x.name)
        for statement in statements_of(loop.body)
        for x in expressions_of(statement)
    )


class Sequences(Stores):
    """Compiles ``append``, ``insert``, ``pop``, ``remove``, ``clear`` and filters."""

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
            return self.sequence(node.func.value), self.index(node.args[0], node.func.value)
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
        before: list[Statement] = []
        if index is not None and not isinstance(index, Const | Local):
            held = Local(WIDE, self.fresh("index"))
            before.append(Assign(held, index))
            index = held
        computed, values = self.held(self.item_values(place, node), node)
        return [*before, *computed, *self.inserted(place, index, values, node)]

    def inserted(
        self, place: Place, index: Const | Local | None, values: list[Expr], node: ast.expr
    ) -> list[Statement]:
        """Add an item whose scalars are computed."""
        seq = cast(SeqType, place.type)
        statements: list[Statement] = []
        length = self.length(place)
        at: Expr = length
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
            if after_index != TRUE:
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
        body: Block = zeros if beyond == TRUE else (If(beyond, zeros, ()),)
        return [For(position, Span(0, seq.capacity), body)]

    def sequence_assignment(
        self, target: ast.expr, value: ast.ListComp | ast.List, node: ast.AST
    ) -> list[Statement]:
        """``q[:] = [x for x in q if …]``, ``q[:] = [a, b]``, ``q[:] = []``; the same without the slice."""
        if isinstance(target, ast.Name):
            raise self.error(
                node, "a list is no local value; assign it to a sequence of the state, or write a set"
            )
        place = self.sequence(target)
        if isinstance(value, ast.List):
            statements: list[Statement] = []
            items: list[tuple[ast.expr, list[Expr]]] = []
            for element in value.elts:
                computed, scalars = self.held(self.item_values(place, element), element)
                statements.extend(computed)
                items.append((element, scalars))
            statements += [*self.clearing(place, number(0)), self.set_length(place, number(0))]
            for element, scalars in items:
                statements.extend(self.inserted(place, None, scalars, element))
            return statements
        generator = value.generators[0]
        source = self.operand(generator.iter) if not self.names_class(generator.iter) else None
        if isinstance(source, Place) and source == place:
            return self.filtered(place, value)
        with self.generator(value) as (variable, over, inside, filters):
            operands = [o for _, o in self.item_values(place, value.elt)]
            added = self.insertion(place, None, value.elt)
        condition = conjunction(inside + filters)
        read = [condition, *(o for o in operands if not isinstance(o, Nothing | EmptySet | Place | BoundMap))]
        if isinstance(over, Elements):
            read.append(over.set)
        own = set(range(place.column, place.column + column_count(place.type)))
        if any(self.compiler.read_elsewhere(e, own, ()) for e in read):
            raise self.error(value, "the list reads the sequence that it replaces; compute a set before")
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
        kept = Local(WIDE, self.fresh(KEPT))
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
                return self.insertion(place, self.index(index, function.value), item)
            case "pop", [index]:
                position = self.index(index, function.value)
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
            raise self.error(
                node, "remove() of a sequence of records; filter it: 'q[:] = [x for x in q if …]'"
            )
        position = self.position(place)
        inside = comparison("<", position, self.length(place))
        same = self.equal(self.item(place, position), self.operand(item), node)
        found = Fold(
            position.type, "min", position, Span(0, cast(SeqType, place.type).capacity),
            conjunction([inside, same]), position, None, self.site(node), None,
        )  # fmt: skip
        local = Local(WIDE, self.fresh("index"))
        return [Assign(local, found), *self.removal(place, local)]
