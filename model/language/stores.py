"""Writing to the state: cells, records that are assigned whole, records that are reset."""

from __future__ import annotations

import ast
from typing import Any, cast

from slotproof.model.language.columns import column_count, is_scalar
from slotproof.model.language.expressions import Expressions
from slotproof.model.language.ir import (
    Assign,
    Const,
    Expr,
    For,
    Local,
    Read,
    Span,
    Statement,
    Write,
)
from slotproof.model.language.operands import (
    Operand,
    Place,
    from_code,
    table,
)
from slotproof.model.language.types import (
    IntType,
    MapType,
    RecordType,
    ScalarType,
    SeqType,
)
from slotproof.model.language.values import Record
from slotproof.model.near import near_or_all


class Stores(Expressions):
    """Compiles writes. ``writable`` says whether the state may be changed (not in guards and properties)."""

    writable = True

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
            raise self.error(
                target,
                "assignment to something that is no local and no variable of the state; write 's.field = …'",
            )
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
            column += column_count(f.type)
        raise self.error(
            node,
            f"{record} has no field '{name}'{near_or_all(name, [f.name for f in record.fields], 'it has')}",
        )

    def sequence_cell(self, owner: Place, target: ast.Subscript) -> Place:
        """The place of an item of a sequence, its index checked."""
        read = self.subscript(target)
        seq = cast(SeqType, owner.type)
        if isinstance(read, Place):
            return read
        if isinstance(read, Read):
            return Place(owner.root, seq.item, owner.column + 1, read.indices)
        raise self.error(target, "an item of a sequence that is always empty is assigned; leave it out")

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
                    f"{near_or_all(keyword.arg or '', [f.name for f in record.fields], 'it has')}",
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
        for number_ in range(place.column, place.column + column_count(place.type)):
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
