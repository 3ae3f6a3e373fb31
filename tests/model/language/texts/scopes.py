"""What random systems are made of: their types, and what a text that is being written can name."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

RISK = 6

BOOL, COLOR, ITEM = "bool", "Color", "Item"


@dataclass(frozen=True)
class Int:
    """Whole numbers of a range."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"Annotated[int, Range({self.low}, {self.high})]"


@dataclass(frozen=True)
class SetOf:
    """Sets of items or colors."""

    item: str

    def __str__(self) -> str:
        return f"Set[{self.item}]"


@dataclass(frozen=True)
class Optional:
    """A value or none."""

    item: "str | Int | SetOf"

    def __str__(self) -> str:
        return f"{self.item} | None"


Scalar = str | Int | SetOf | Optional

SMALL = Int(0, 2)
SCALARS: list[Scalar] = [
    BOOL,
    COLOR,
    ITEM,
    SMALL,
    Int(-2, 1),
    Int(1, 3),
    SetOf(ITEM),
    SetOf(COLOR),
    Optional(ITEM),
    Optional(COLOR),
    Optional(BOOL),
    Optional(SMALL),
    Optional(SetOf(ITEM)),
]
PARAMETERS: list[Scalar] = [BOOL, COLOR, ITEM, SMALL, Int(-1, 0), SetOf(ITEM), Optional(ITEM)]
INITIAL: dict[Scalar, list[str]] = {
    BOOL: ["False", "True"],
    COLOR: ["Color.RED", "Color.BLUE"],
    ITEM: ["Item(0)", "Item(1)"],
    SetOf(ITEM): ["frozenset()", "frozenset({Item(1)})"],
    SetOf(COLOR): ["frozenset()", "frozenset({Color.BLUE})"],
}


@dataclass(frozen=True)
class Row:
    """A sequence of the state: its path, the type of its items and its capacity."""

    path: str
    item: "Scalar | None"
    """``None`` for records."""
    capacity: int


@dataclass
class Scope:
    """What a body can name: local names by type, and what it may not change."""

    names: list[tuple[str, Scalar]] = field(default_factory=list)
    roots: list[str] = field(default_factory=lambda: ["s"])
    locked: list[str] = field(default_factory=list)
    loops: int = 0
    pure: bool = False
    returns: Scalar | None = None


class Choices:
    """What is drawn, and what the text that is being written can name."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw
        self.fresh = 0
        self.places: list[tuple[str, Scalar]] = []
        """Paths below the state, with ``{Item}`` and ``{Color}`` where a key stands."""
        self.rows: list[Row] = []
        self.records: list[str] = []
        self.helpers: list[tuple[str, Scalar, Scalar]] = []
        self.procedures: list[str] = []
        self.crashes = 0
        self.scope = Scope()

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def pick(self, options: list[str]) -> str:
        return options[self.number(0, len(options) - 1)]

    def scalar(self, options: list[Scalar]) -> Scalar:
        return options[self.number(0, len(options) - 1)]

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    @contextmanager
    def inside(self, **changes: Any) -> Iterator[None]:
        """A scope within the present one: names that are added inside are gone after it."""
        outer = self.scope
        values: dict[str, Any] = {
            **vars(outer),
            "names": list(outer.names),
            "locked": list(outer.locked),
            **changes,
        }
        self.scope = Scope(**values)
        try:
            yield
        finally:
            self.scope = outer
