"""A state's type, flattened: one column for each scalar field, one cell for each key of its maps.

``Map[Rank, Loader]`` with ``copied: Map[Adapter, bool]`` inside gives a column ``ranks[].copied[]`` of
dimensions (ranks, adapters). A sequence gives a column for its length and one for each scalar of its
items. A state is then a tuple of codes, one for each cell: its *valuation*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from slotproof.model.language.types import (
    BoolType,
    EnumType,
    IndexType,
    IntType,
    KeyType,
    MapType,
    OptionalType,
    RecordType,
    ScalarType,
    SeqType,
    SetType,
    ValueType,
)
from slotproof.model.language.values import Map, Record, Seq, stored

Valuation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """All cells of one scalar field; ``offset`` is the first cell's place in a valuation.

    ``keys`` are the types of the map keys, outermost first; a sequence's items have one more
    dimension, its positions, which stands in ``dims`` alone. ``initial`` holds one code a cell.
    """

    name: str
    keys: tuple[KeyType, ...]
    dims: tuple[int, ...]
    type: ScalarType
    offset: int
    initial: tuple[int, ...]
    meaning: str
    output: bool

    @property
    def cells(self) -> int:
        """How many cells the column has."""
        return prod(self.dims)


def is_scalar(type_: ValueType) -> bool:
    """Whether values of the type have a code."""
    return isinstance(type_, BoolType | IntType | EnumType | IndexType | SetType | OptionalType)


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    keys: tuple[KeyType, ...]
    dims: tuple[int, ...]
    type: ScalarType
    meaning: str
    output: bool


def _parts(
    type_: ValueType, name: str, keys: tuple[KeyType, ...], dims: tuple[int, ...], meaning: str, output: bool
) -> Iterator[_Part]:
    match type_:
        case RecordType():
            for f in type_.fields:
                inner = f"{name}.{f.name}" if name else f.name
                yield from _parts(f.type, inner, keys, dims, f.meaning or meaning, output or f.output)
        case MapType():
            yield from _parts(
                type_.value, f"{name}[]", (*keys, type_.key), (*dims, type_.key.size), meaning, output
            )
        case SeqType():
            yield _Part(
                f"{name}.len", keys, dims, IntType(0, type_.capacity), f"length of: {meaning}", output
            )
            yield from _parts(type_.item, f"{name}[#]", keys, (*dims, type_.capacity), meaning, output)
        case _:
            yield _Part(name, keys, dims, type_, meaning, output)


def columns_of(state: RecordType) -> tuple[Column, ...]:
    """The columns of a state type, in the order of declaration."""
    parts = list(_parts(state, "", (), (), "", False))
    codes = encode(state, initial_value(state))
    columns = []
    offset = 0
    for p in parts:
        cells = prod(p.dims)
        initial = codes[offset : offset + cells]
        columns.append(Column(p.name, p.keys, p.dims, p.type, offset, initial, p.meaning, p.output))
        offset += cells
    return tuple(columns)


def initial_value(type_: ValueType, initial: Any = None) -> Any:
    """A fresh value of a type with each field as declared."""
    match type_:
        case RecordType():
            record = type_.cls()
            for f in type_.fields:
                object.__setattr__(record, f.name, initial_value(f.type, f.initial))
            object.__setattr__(record, "_type", type_)
            return record
        case MapType():
            keys = [type_.key.decode(i) for i in range(type_.key.size)]
            return Map(type_, {k: initial_value(type_.value, _entry(initial, k)) for k in keys})
        case SeqType():
            return Seq(type_, [stored(type_.item, v) for v in initial or ()])
        case _:
            return stored(type_, initial)


def _entry(initial: Any, key: Any) -> Any:
    return initial[key] if isinstance(initial, dict | Map) else initial


def encode(type_: ValueType, value: Any) -> Valuation:
    """The codes of a value's cells, column by column."""
    lists: list[list[int]] = [[] for _ in _parts(type_, "", (), (), "", False)]
    _encode(type_, value, lists, 0)
    return tuple(code for cells in lists for code in cells)


def column_count(type_: ValueType) -> int:
    """How many columns a value of a type takes."""
    match type_:
        case RecordType():
            return sum(column_count(f.type) for f in type_.fields)
        case MapType():
            return column_count(type_.value)
        case SeqType():
            return 1 + column_count(type_.item)
        case _:
            return 1


def _encode(type_: ValueType, value: Any, lists: list[list[int]], at: int) -> None:
    match type_:
        case RecordType():
            for f in type_.fields:
                _encode(f.type, getattr(value, f.name), lists, at)
                at += column_count(f.type)
        case MapType():
            for key in value:
                _encode(type_.value, value[key], lists, at)
        case SeqType():
            lists[at].append(len(value))
            for item in value:
                _encode(type_.item, item, lists, at + 1)
            for cells in lists[at + 1 : at + 1 + column_count(type_.item)]:
                cells.extend([0] * (type_.capacity - len(value)))
        case _:
            lists[at].append(type_.encode(value))


class _Reader:
    """Takes the codes of each column in turn."""

    def __init__(self, type_: ValueType, codes: Valuation) -> None:
        self.columns: list[Iterator[int]] = []
        offset = 0
        for p in _parts(type_, "", (), (), "", False):
            cells = prod(p.dims)
            self.columns.append(iter(codes[offset : offset + cells]))
            offset += cells

    def read(self, type_: ValueType, at: int) -> Any:
        match type_:
            case RecordType():
                record: Record = type_.cls()
                for f in type_.fields:
                    object.__setattr__(record, f.name, self.read(f.type, at))
                    at += column_count(f.type)
                object.__setattr__(record, "_type", type_)
                return record
            case MapType():
                keys = [type_.key.decode(i) for i in range(type_.key.size)]
                return Map(type_, {k: self.read(type_.value, at) for k in keys})
            case SeqType():
                length = next(self.columns[at])
                items = [self.read(type_.item, at + 1) for _ in range(type_.capacity)]
                return Seq(type_, items[:length])
            case _:
                return type_.decode(next(self.columns[at]))


def decode(type_: RecordType, codes: Valuation) -> Any:
    """The state object of a valuation."""
    return _Reader(type_, codes).read(type_, 0)
