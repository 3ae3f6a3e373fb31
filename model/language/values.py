"""Values of a state while Python runs it: records, maps and sequences that check what is stored.

Sets are Python's own frozen sets (``s.pending |= {a}``), maps and sequences the classes below. Each
assignment is checked against the declared type, so that a wrong value is an error at the line that
stored it and never a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar, dataclass_transform, overload

from slotproof.model.language.errors import LanguageError, ModelError, callers_line
from slotproof.model.language.types import (
    MapType,
    RecordType,
    SeqType,
    SetType,
    ValueType,
)

K = TypeVar("K")
V = TypeVar("V")

__all__ = [
    "Annotated",
    "Capacity",
    "Field",
    "Map",
    "Range",
    "Record",
    "Seq",
    "Set",
    "State",
    "field",
    "output",
]


@dataclass(frozen=True)
class Range:
    """Bounds of a whole number, both included: ``Annotated[int, Range(0, slots)]``.

    A bound is a number, an int parameter or a domain (its size).
    """

    low: Any
    high: Any


@dataclass(frozen=True)
class Capacity:
    """The most items of a sequence: ``Annotated[Seq[Message], Capacity(4)]``.

    A sequence of domain elements holds each at most once by default: its capacity is the domain's size.
    """

    items: Any


@dataclass(frozen=True)
class Field:
    """A field's initial value and meaning; see ``field`` and ``output``."""

    initial: Any
    meaning: str
    output: bool


def field(initial: Any, meaning: str) -> Any:
    """Declare a state variable: its initial value (for a map: of every key) and what it means."""
    return Field(initial, meaning, output=False)


def output(initial: Any, meaning: str) -> Any:
    """Declare what a step shows to properties and traces without storing it.

    An output has its initial value before every action and is no part of the state: two states that
    differ in outputs alone are one. It says what happened in a step, such as the batch launched.
    """
    return Field(initial, meaning, output=True)


class Map(Generic[K, V]):
    """A total map from a domain or enum; iterates over its keys in order."""

    __slots__ = ("_items", "_type")

    def __init__(self, type_: MapType, items: dict[K, V]) -> None:
        self._type = type_
        self._items = items

    def __getitem__(self, key: K) -> V:
        try:
            return self._items[key]
        except KeyError:
            self._type.key.encode(key)
            raise

    def __setitem__(self, key: K, value: V) -> None:
        self._type.key.encode(key)
        self._items[key] = stored(self._type.value, value)

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Map) and self._items == other._items

    def __hash__(self) -> int:
        raise TypeError("a map of a state can change; compare states by their codes")

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self._items.items()) + "}"


class Seq(Generic[V]):
    """A bounded sequence: a queue, or an order of recency. Iteration sees the sequence as it was."""

    __slots__ = ("_items", "_type")

    def __init__(self, type_: SeqType, items: list[V]) -> None:
        self._type = type_
        self._items = items

    def __getitem__(self, index: int) -> V:
        if not 0 <= index < len(self._items):
            raise ModelError(f"item {index} is read of a sequence of {len(self._items)}")
        return self._items[index]

    @overload
    def __setitem__(self, index: int, value: V) -> None: ...

    @overload
    def __setitem__(self, index: slice, value: list[V]) -> None: ...

    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            self.replace(value)
            return
        if not 0 <= index < len(self._items):
            raise ModelError(f"item {index} is set in a sequence of {len(self._items)}")
        self._items[index] = stored(self._type.item, value)

    def __iter__(self) -> Iterator[V]:
        return iter(tuple(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, value: object) -> bool:
        return value in self._items

    def append(self, value: V) -> None:
        """Add an item at the end."""
        self.insert(len(self._items), value)

    def insert(self, index: int, value: V) -> None:
        """Add an item before position ``index`` (from 0 to the length)."""
        if len(self._items) >= self._type.capacity:
            raise self._type.full()
        if not 0 <= index <= len(self._items):
            raise ModelError(f"item {index} is inserted in a sequence of {len(self._items)}")
        self._items.insert(index, stored(self._type.item, value))

    def pop(self, index: int) -> V:
        """Remove and return the item at ``index`` (from 0)."""
        if not 0 <= index < len(self._items):
            raise ModelError(f"item {index} is taken from a sequence of {len(self._items)}")
        return self._items.pop(index)

    def remove(self, value: V) -> None:
        """Remove the first item that equals ``value``; a model error if there is none."""
        if value not in self._items:
            raise ModelError(f"{value!r} is removed from a sequence that does not hold it")
        self._items.remove(value)

    def clear(self) -> None:
        """Remove every item."""
        self._items.clear()

    def replace(self, values: list[V]) -> None:
        """Hold these items instead: what ``s.queue[:] = [r for r in s.queue if …]`` does."""
        if len(values) > self._type.capacity:
            raise self._type.full()
        self._items[:] = [stored(self._type.item, v) for v in values]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seq) and self._items == other._items

    def __hash__(self) -> int:
        raise TypeError("a sequence of a state can change; compare states by their codes")

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass_transform(kw_only_default=True, field_specifiers=(field, output))
class Record:
    """A group of state variables: a component of the system. Subclass it and annotate its fields.

    A field is declared ``name: type = field(initial, "meaning")``; a record or a map of records as a
    field needs no initial value. A record whose fields are all scalars can be an item of a sequence;
    it is then made by keywords: ``s.queue.append(Message(kind=Kind.ABORT, request=r))``.
    """

    _type: RecordType | None = None

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            if not isinstance(getattr(type(self), name, None), Field):
                raise LanguageError(f"{type(self).__name__} has no field '{name}'", callers_line())
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._type is not None:
            declared = self._type.field(name)
            if declared is None:
                raise ModelError(f"{self._type} has no field '{name}'")
            if isinstance(declared.type, SeqType):
                getattr(self, name).replace(list(value))
                return
            value = stored(declared.type, value)
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _own(self) == _own(other)

    def __hash__(self) -> int:
        return hash(tuple(_own(self).items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in _own(self).items())})"


class State(Record):
    """The whole state of a system: the record that actions get as their first parameter."""


def _own(record: Any) -> dict[str, Any]:
    return {k: v for k, v in vars(record).items() if not k.startswith("_")}


def stored(type_: ValueType, value: Any) -> Any:
    """A value as a state keeps it, checked against its type; ``ModelError`` if it does not fit."""
    match type_:
        case SetType():
            type_.encode(value)
            return frozenset(value)
        case RecordType():
            if type(value) is not type_.cls:
                raise ModelError(f"{value!r} is no {type_}")
            if value._type is None:
                given = _own(value)
                value = type_.cls()
                for f in type_.fields:
                    initial = given.get(f.name, f.initial)
                    object.__setattr__(value, f.name, stored(f.type, initial))
                object.__setattr__(value, "_type", type_)
            return value
        case MapType() | SeqType():
            raise ModelError(f"a whole {type_} is assigned; write its items")
        case _:
            type_.encode(value)
            return value
