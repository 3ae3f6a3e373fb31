"""And-inverter graphs, and the AIGER format that hardware model checkers read.

    graph = Graph(inputs=["go"], latches=[Latch("done")])
    text = graph.ascii([graph.any([graph.latch(0), graph.input(0)])], [Bad("over", graph.latch(0))], [])

A literal is AIGER's: twice the number of its variable, plus one if it is negated; 0 is false, 1 is true.
Equal gates are one.

Biere, Heljanko and Wieringa: AIGER 1.9 and beyond, FMV reports 11/2, Linz 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

FALSE = 0
TRUE = 1


@dataclass(frozen=True, slots=True)
class Latch:
    """One bit of the state, and its value at the start."""

    name: str
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Bad:
    """What must not become true."""

    name: str
    literal: int


class Graph:
    """A circuit with these inputs and latches; every other variable is the ``and`` of two literals."""

    def __init__(self, inputs: Sequence[str], latches: Sequence[Latch]) -> None:
        self.inputs = tuple(inputs)
        self.latches = tuple(latches)
        self._gates: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """How many gates there are."""
        return len(self._gates)

    def input(self, number: int) -> int:
        """The literal of an input."""
        return 2 * (1 + number)

    def latch(self, number: int) -> int:
        """The literal of a latch."""
        return 2 * (1 + len(self.inputs) + number)

    def both(self, left: int, right: int) -> int:
        """Both of these."""
        if left < right:
            left, right = right, left
        if right == FALSE or left == right ^ 1:
            return FALSE
        if right == TRUE or left == right:
            return left
        made = self._known.get((left, right))
        if made is None:
            self._gates.append((left, right))
            made = self._known[left, right] = 2 * (self._first + len(self._gates) - 1)
        return made

    def all(self, literals: Iterable[int]) -> int:
        """All of these, as a tree that is as flat as can be."""
        row = sorted(set(literals)) or [TRUE]
        while len(row) > 1:
            pairs = [self.both(a, b) for a, b in zip(row[::2], row[1::2], strict=False)]
            row = pairs + row[len(row) & ~1 :]
        return row[0]

    def any(self, literals: Iterable[int]) -> int:
        """Any of these."""
        return self.all([x ^ 1 for x in literals]) ^ 1

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """``then`` if ``condition`` else ``otherwise``."""
        if then == otherwise:
            return then
        return self.any([self.both(condition, then), self.both(condition ^ 1, otherwise)])

    @property
    def _first(self) -> int:
        """The variable of the first gate."""
        return 1 + len(self.inputs) + len(self.latches)

    # Files

    def ascii(self, following: Sequence[int], bads: Sequence[Bad], comment: Sequence[str]) -> str:
        """The circuit in AIGER's ASCII format; ``following`` is what each latch is after a step."""
        gates, following, bads = self._used(following, bads)
        lines = [self._header("aag", gates, bads)]
        lines += [str(self.input(i)) for i in range(len(self.inputs))]
        lines += [f"{self.latch(i)} {x}" for i, x in enumerate(self._reset(following))]
        lines += [str(bad.literal) for bad in bads]
        lines += [f"{2 * (self._first + i)} {a} {b}" for i, (a, b) in enumerate(gates)]
        return "\n".join([*lines, *self._symbols(bads), "c", *comment]) + "\n"

    def binary(self, following: Sequence[int], bads: Sequence[Bad], comment: Sequence[str]) -> bytes:
        """The circuit in AIGER's binary format."""
        gates, following, bads = self._used(following, bads)
        lines = [self._header("aig", gates, bads), *self._reset(following)]
        lines += [str(bad.literal) for bad in bads]
        made = bytearray()
        for i, (a, b) in enumerate(gates):
            made += _packed(2 * (self._first + i) - a) + _packed(a - b)
        after = "\n".join([*self._symbols(bads), "c", *comment]) + "\n"
        return "\n".join(lines).encode() + b"\n" + bytes(made) + after.encode()

    def _header(self, format: str, gates: Sequence[tuple[int, int]], bads: Sequence[Bad]) -> str:
        numbers = (
            self._first - 1 + len(gates),
            len(self.inputs),
            len(self.latches),
            0,
            len(gates),
            len(bads),
        )
        return f"{format} {' '.join(map(str, numbers))}"

    def _reset(self, following: Sequence[int]) -> list[str]:
        return [f"{x} 1" if latch.reset else str(x) for latch, x in zip(self.latches, following, strict=True)]

    def _symbols(self, bads: Sequence[Bad]) -> Iterator[str]:
        yield from (f"i{i} {name}" for i, name in enumerate(self.inputs))
        yield from (f"l{i} {latch.name}" for i, latch in enumerate(self.latches))
        yield from (f"b{i} {bad.name}" for i, bad in enumerate(bads))

    def _used(
        self, following: Sequence[int], bads: Sequence[Bad]
    ) -> tuple[list[tuple[int, int]], list[int], list[Bad]]:
        """The same without the gates that nothing rests on."""
        first = self._first
        wanted = {x >> 1 for x in (*following, *(bad.literal for bad in bads))}
        for i in reversed(range(len(self._gates))):  # a gate is made after its operands
            if first + i in wanted:
                wanted.update(x >> 1 for x in self._gates[i])
        number = {v: v for v in range(first)}
        gates: list[tuple[int, int]] = []

        def of(literal: int) -> int:
            return 2 * number[literal >> 1] | literal & 1

        for i, (a, b) in enumerate(self._gates):
            if first + i in wanted:
                number[first + i] = first + len(gates)
                gates.append((of(a), of(b)))
        return gates, [of(x) for x in following], [Bad(bad.name, of(bad.literal)) for bad in bads]


def _packed(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first; the last has no high bit."""
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)
