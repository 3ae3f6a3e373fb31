"""Queues and sets of a state: which elements each holds, whatever the order.

A queue is cells for its length and its positions. That an element has only moved from one queue to another is
hard to see from them; said once for each stop of an action, it makes the rest easy (``through.Step``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from slotproof.checker.symbolic.booleans import FALSE, Literal
from slotproof.checker.symbolic.paths import Cells
from slotproof.checker.symbolic.relation import Relation
from slotproof.checker.symbolic.values import Bits, Value
from slotproof.model.language.types import IndexType, SetType


@dataclass(frozen=True, slots=True)
class Container:
    """A queue, or a set (``capacity`` 0), of elements of one type; ``items`` and ``length`` are cells."""

    name: str
    type: IndexType
    items: int
    length: int
    capacity: int

    def holds(self, made: Relation, cells: Cells) -> list[Literal]:
        """Of each element, whether it is held."""
        if not self.capacity:
            bits = cells[self.items]
            assert isinstance(bits, tuple)
            return list(bits)
        b = made.booleans
        places = list(self._places(made, cells))
        return [
            b.any([b.conj(there, item.get(self.type.low + n, FALSE)) for there, item in places])
            for n in range(self.type.size)
        ]

    def each_once(self, made: Relation, cells: Cells) -> Literal:
        """Whether no element is held at two positions."""
        return self._all_differ(made, list(self._places(made, cells)) if self.capacity else [])

    def kept_once(self, made: Relation, cells: Cells, kept: Value, after: int) -> Literal:
        """The same of the first so many positions and of those after a place: what a filter has kept and what
        it has not looked at. What lies between is left over."""
        b = made.booleans
        places = []
        for place, (there, item) in enumerate(self._places(made, cells)):
            inside = _more_than(made, kept, place)
            places.append((there if place > after else b.conj(there, inside), item))
        return self._all_differ(made, places)

    def has_none_of(self, made: Relation, cells: Cells, elements: Bits, kept: Value | None = None) -> Literal:
        """Whether a queue has no element of a set; its first so many positions, if that is given."""
        b = made.booleans
        found: list[Literal] = []
        for place, (there, item) in enumerate(self._places(made, cells)):
            inside = there if kept is None else b.conj(there, _more_than(made, kept, place))
            found += [
                b.conj(inside, item.get(self.type.low + n, FALSE), there_too)
                for n, there_too in enumerate(elements)
            ]
        return b.any(found) ^ 1

    def _all_differ(self, made: Relation, places: Sequence[tuple[Literal, dict[int, Literal]]]) -> Literal:
        b = made.booleans
        pairs = combinations(places, 2)
        return b.all([b.conj(one, there, made.values.equal(x, y)) ^ 1 for (one, x), (there, y) in pairs])

    def _places(self, made: Relation, cells: Cells) -> Iterator[tuple[Literal, dict[int, Literal]]]:
        """Of each position, whether there is an item, and which."""
        for place in range(self.capacity):
            there = _more_than(made, cells[self.length], place)
            yield there, dict(made.values.number(cells[self.items + place]))


def _more_than(made: Relation, number: Value, least: int) -> Literal:
    return made.booleans.any([x for n, x in made.values.number(number).items() if n > least])


def containers(made: Relation) -> list[Container]:
    """The queues and sets of elements that a stored state has."""
    columns = {column.name: column for column in made.program.columns if not column.output}
    found: list[Container] = []
    for name, column in columns.items():
        if isinstance(column.type, SetType) and isinstance(column.type.item, IndexType):
            of = column.type.item
            found += [Container(name, of, column.offset + at, 0, 0) for at in range(column.cells)]
        elif isinstance(column.type, IndexType) and name.endswith("[#]"):
            queue = name.removesuffix("[#]")
            *outer, capacity = column.dims
            length = columns[f"{queue}.len"].offset
            found += [
                Container(queue, column.type, column.offset + at * capacity, length + at, capacity)
                for at in range(prod(outer))
                if len(columns[f"{queue}.len"].dims) == len(outer)
            ]
    return found
