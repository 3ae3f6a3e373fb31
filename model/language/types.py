"""The types of the language, with sizes bound: what a value is and which code stands for it.

A *scalar* (bool, range, enum, domain element, optional, set) has a code, a number from 0 to
``size - 1``; codes are what layouts pack and engines compute with. Records, maps and sequences are
built from scalars. ``None`` has code 0 in an optional; a set's code is a bit mask.

Expressions compute with *numbers*: an int's is its value, that of anything else is its code. A type's
numbers go from ``low``, which stands for code 0, to ``high``.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from slotproof.model.language.domains import Domain
from slotproof.model.language.errors import ModelError


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


class _FromZero:
    """The number of a value is its code."""

    __slots__ = ()
    low: ClassVar[int] = 0

    @property
    def high(self: _Sized) -> int:
        """The largest number."""
        return self.size - 1


@dataclass(frozen=True, slots=True)
class BoolType(_FromZero):
    """False or True."""

    size: int = 2

    def encode(self, value: Any) -> int:
        """The code of a value; ``ModelError`` if it is of another type."""
        if value is not True and value is not False:
            raise ModelError(f"{value!r} is no bool")
        return int(value)

    def decode(self, code: int) -> bool:
        """The value of a code."""
        return bool(code)

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class IntType:
    """Whole numbers from ``low`` to ``high``, both included; the code is the distance from ``low``."""

    low: int
    high: int

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1

    def encode(self, value: Any) -> int:
        """The code of a value; ``ModelError`` if it is out of range."""
        if type(value) is not int:
            raise ModelError(f"{value!r} is no int")
        if not self.low <= value <= self.high:
            raise ModelError(f"{value} leaves the range {self.low}..{self.high}")
        return value - self.low

    def decode(self, code: int) -> int:
        """The value of a code."""
        return code + self.low

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class EnumType(_FromZero):
    """The members of a Python enum, in the order of their definition."""

    cls: type[enum.Enum]

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.cls)

    @property
    def name(self) -> str:
        """The enum's name."""
        return self.cls.__name__

    def encode(self, value: Any) -> int:
        """The code of a member; ``ModelError`` for anything else."""
        if not isinstance(value, self.cls):
            raise ModelError(f"{_show(value)} is no {self.name}")
        return list(self.cls).index(value)

    def decode(self, code: int) -> enum.Enum:
        """The member of a code."""
        return list(self.cls)[code]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class IndexType(_FromZero):
    """The elements of a domain."""

    cls: type[Domain]
    size: int

    @property
    def name(self) -> str:
        """The domain's name."""
        return self.cls.__name__

    def encode(self, value: Any) -> int:
        """The number of an element; ``ModelError`` for anything else."""
        if value is None:
            raise ModelError(f"an empty optional is read where a {self.name} is needed")
        if type(value) is not self.cls:
            raise ModelError(f"{_show(value)} is no {self.name}")
        if not 0 <= value.index < self.size:
            raise ModelError(f"{self.name}({value.index}) leaves the domain of {self.size}")
        return int(value.index)

    def decode(self, code: int) -> Domain:
        """The element of a code."""
        return self.cls(code)

    def __str__(self) -> str:
        return self.name


KeyType = EnumType | IndexType


@dataclass(frozen=True, slots=True)
class SetType(_FromZero):
    """Subsets of a domain or enum of at most 64 elements."""

    item: KeyType

    @property
    def size(self) -> int:
        """How many subsets there are."""
        return 1 << self.item.size

    def encode(self, value: Any) -> int:
        """The bit mask of a set; ``ModelError`` for anything else."""
        if not isinstance(value, Set):
            raise ModelError(f"{_show(value)} is no set of {self.item}")
        return sum(1 << self.item.encode(x) for x in value)

    def decode(self, code: int) -> frozenset[Any]:
        """The set of a bit mask."""
        return frozenset(self.item.decode(i) for i in range(self.item.size) if code >> i & 1)

    def __str__(self) -> str:
        return f"Set[{self.item}]"


@dataclass(frozen=True, slots=True)
class OptionalType(_FromZero):
    """A value or ``None``."""

    item: BoolType | IntType | EnumType | IndexType | SetType

    @property
    def size(self) -> int:
        """How many values there are, ``None`` included."""
        return self.item.size + 1

    def encode(self, value: Any) -> int:
        """0 for ``None``, else one more than the item's code."""
        return 0 if value is None else self.item.encode(value) + 1

    def decode(self, code: int) -> Any:
        """The value of a code."""
        return None if code == 0 else self.item.decode(code - 1)

    def __str__(self) -> str:
        return f"{self.item} | None"


ScalarType = BoolType | IntType | EnumType | IndexType | SetType | OptionalType


@dataclass(frozen=True, slots=True)
class MapType:
    """A total map from a domain or enum."""

    key: KeyType
    value: ValueType

    def __str__(self) -> str:
        return f"Map[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class SeqType:
    """A sequence of at most ``capacity`` items: scalars, or records of scalars.

    ``parameter`` names the parameter that is its capacity, if one is; two types do not differ by it alone.
    """

    item: ScalarType | RecordType
    capacity: int
    parameter: str = field(default="", compare=False, repr=False)

    def full(self) -> ModelError:
        """What is raised where an item more is put in."""
        message = f"a sequence of {self.capacity} is full"
        if self.parameter:
            more = f"{self.parameter}={self.capacity + 1}"
            message += (
                f"; its capacity is the parameter {self.parameter}: '--set {more}' makes room for one more"
            )
        return ModelError(message)

    def __str__(self) -> str:
        return f"Seq[{self.item}]"


@dataclass(frozen=True, slots=True)
class FieldType:
    """One declared field of a record."""

    name: str
    type: ValueType
    initial: Any = field(hash=False)
    meaning: str
    output: bool


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record class with its fields in the order of their declaration."""

    cls: type[Any]
    fields: tuple[FieldType, ...]

    def __hash__(self) -> int:
        """Of the class alone: a system has one type for it, and the fields go deep."""
        return hash(self.cls)

    def field(self, name: str) -> FieldType | None:
        """The field of that name, if there is one."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def name(self) -> str:
        """The class's name."""
        return self.cls.__name__

    def __str__(self) -> str:
        return self.name


ValueType = ScalarType | MapType | SeqType | RecordType


def bits(size: int) -> int:
    """How many bits tell ``size`` values apart."""
    return max(size - 1, 0).bit_length()


def shown(values: Iterable[Any]) -> str:
    """Values as a list in a message."""
    return ", ".join(_show(v) for v in values)


def _show(value: Any) -> str:
    return f"{type(value).__name__}.{value.name}" if isinstance(value, enum.Enum) else repr(value)
