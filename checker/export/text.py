"""Expressions as Promela writes them. They have no calls and no folds (``pure.py``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slotproof.checker.export.build import NUMBER, bounds, limits
from slotproof.checker.export.errors import ExportError
from slotproof.checker.export.names import Names
from slotproof.model.language.columns import Column
from slotproof.model.language.ir import (
    And,
    Arithmetic,
    Checked,
    Choose,
    Compare,
    Const,
    Count,
    Expr,
    Local,
    Member,
    Not,
    Or,
    Read,
    Retyped,
    SetOf,
    SetOperation,
    Subset,
    Table,
    Unwrap,
    Wrap,
)
from slotproof.model.language.types import (
    BoolType,
    EnumType,
    IndexType,
    OptionalType,
    ScalarType,
    SetType,
)

SIGNS = {"//": "/", "|": "|", "&": "&", "^": "^"}


def declared_type(type_: ScalarType, what: str) -> str:
    """The smallest of Promela's types that holds every number of a type."""
    low, high = limits(type_)
    if low < NUMBER.low or high > NUMBER.high:
        raise ExportError(f"{what} of type {type_} needs more than the 31 bits of a number in Promela")
    if low >= 0 and high <= 1:
        return "bool" if isinstance(type_, BoolType) else "bit"
    if low >= 0 and high <= 255:
        return "byte"
    return "short" if low >= -(2**15) and high < 2**15 else "int"


class Text:
    """Writes the expressions of one program; ``local`` gives the names of variables."""

    def __init__(self, columns: Sequence[Column], names: Names, local: Callable[[Local], str]) -> None:
        self.columns = columns
        self.names = names
        self.local = local

    def of(self, e: Expr) -> str:
        """The expression, in parentheses unless it is one word."""
        match e:
            case Const():
                return self._constant(e.type, e.value)
            case Local():
                return self.local(e)
            case Read():
                return self.cell(e.column, e.indices)
            case Table():
                return self._looked_up(self._linear(e.indices, e.dims), e)
            case Not():
                return f"!{self.of(e.item)}"
            case And():
                return f"({' && '.join(self.of(x) for x in e.items)})"
            case Or():
                return f"({' || '.join(self.of(x) for x in e.items)})"
            case Compare():
                return f"({self.of(e.left)} {e.operator} {self.of(e.right)})"
            case Arithmetic():
                return self._arithmetic(e)
            case Choose() if _never(e.otherwise):
                return self.of(e.then)
            case Choose() if _never(e.then):
                return self.of(e.otherwise)
            case Choose():
                return f"({self.of(e.condition)} -> {self.of(e.then)} : {self.of(e.otherwise)})"
            case SetOf():
                bits = " | ".join(f"(1 << {self.of(x)})" for x in e.elements)
                return bits if len(e.elements) == 1 else f"({bits})"
            case SetOperation() if e.operator == "-":
                return f"({self.of(e.left)} & ~{self.of(e.right)})"
            case SetOperation():
                return f"({self.of(e.left)} {e.operator} {self.of(e.right)})"
            case Member():
                return f"(({self.of(e.set)} >> {self.of(e.element)}) & 1)"
            case Subset():
                return f"(({self.of(e.left)} & ~{self.of(e.right)}) == 0)"
            case Count():
                return self._count(e)
            case Wrap():
                return self._plus(e.item, 1 - _low(e.type))
            case Unwrap():
                return self._plus(e.item, _low(e.item.type) - 1)
            case Checked() | Retyped():
                return self.of(e.item)
            case _:
                raise AssertionError(f"{type(e).__name__} is no part of a written-out expression")

    def cell(self, column: int, indices: Sequence[Expr]) -> str:
        """A variable, or an item of an array."""
        declared = self.columns[column]
        name = self.names.columns[column]
        return name if declared.cells == 1 else f"{name}[{self._linear(indices, declared.dims)}]"

    def _linear(self, indices: Sequence[Expr], dims: Sequence[int]) -> str:
        """The number of a cell, row by row."""
        known, text = 0, ""
        for index, extent in zip(indices, dims, strict=True):
            if extent == 1:
                continue
            if text:
                text = f"({text}) * {extent}"
            known *= extent
            if isinstance(index, Const):
                known += index.value
            else:
                text = f"{text} + {self.of(index)}" if text else self.of(index)
        if not text:
            return str(known)
        return f"{text} + {known}" if known else text

    def _looked_up(self, cell: str, e: Table) -> str:
        """An entry of a constant table, as a chain of choices."""
        cells: dict[int, list[int]] = {}
        for i, value in enumerate(e.values):
            cells.setdefault(value, []).append(i)
        *some, last = sorted(cells.items(), key=lambda x: len(x[1]))
        text = self._constant(e.type, last[0])
        for value, places in some:
            condition = " || ".join(f"({cell}) == {i}" for i in places)
            text = f"(({condition}) -> {self._constant(e.type, value)} : {text})"
        return text

    def _arithmetic(self, e: Arithmetic) -> str:
        low, high = bounds(e)
        if low < NUMBER.low or high > NUMBER.high:
            raise ExportError(f"a result between {low} and {high} leaves the numbers of Promela")
        left, right = self.of(e.left), self.of(e.right)
        if e.operator not in ("//", "%"):
            return f"({left} {e.operator} {right})"
        if bounds(e.left)[0] >= 0:
            return f"({left} {SIGNS.get(e.operator, e.operator)} {right})"
        # C rounds to zero, Python down.
        rest = f"((({left} % {right}) + {right}) % {right})"
        return rest if e.operator == "%" else f"(({left} - {rest}) / {right})"

    def _count(self, e: Count) -> str:
        assert isinstance(e.set.type, SetType)
        set_ = self.of(e.set)
        return f"({' + '.join(f'(({set_} >> {i}) & 1)' for i in range(e.set.type.item.size))})"

    def _plus(self, item: Expr, constant: int) -> str:
        if not constant:
            return self.of(item)
        return f"({self.of(item)} {'+' if constant > 0 else '-'} {abs(constant)})"

    def _constant(self, type_: ScalarType, value: int) -> str:
        match type_:
            case BoolType():
                return "true" if value else "false"
            case EnumType() | IndexType() if 0 <= value < type_.size:
                return self.names.constant(type_, value)
            case OptionalType() if isinstance(type_.item, EnumType | IndexType) and value:
                return f"({self.names.constant(type_.item, value - 1)} + 1)"
            case OptionalType() if not value:
                return "NONE"
            case _:
                return str(value) if value >= 0 else f"({value})"


def _never(e: Expr) -> bool:
    """Whether evaluation always fails, so that it does not matter what the text says."""
    return isinstance(e, Unwrap) and isinstance(e.item, Const)


def _low(optional: ScalarType) -> int:
    """The number that code 1 of an optional stands for."""
    assert isinstance(optional, OptionalType)
    return optional.item.low
