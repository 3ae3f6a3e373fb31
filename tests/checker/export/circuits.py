"""Reads circuits in AIGER and runs them: nothing here knows how the export makes them.

A circuit is run for all values of its inputs at once, one bit of a number for each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

from slotproof.checker.export.aiger import BEGUN
from slotproof.checker.symbolic.execution import column_cells
from slotproof.model.language.columns import Column, Valuation
from slotproof.model.language.program import Program
from slotproof.model.language.types import OptionalType, SetType

Frame = tuple[bool, ...]
"""The values of the latches."""


@dataclass(frozen=True)
class Read:
    """A circuit as a file has it."""

    inputs: tuple[str, ...]
    latches: tuple[str, ...]
    reset: Frame
    following: tuple[int, ...]
    bads: tuple[tuple[str, int], ...]
    gates: tuple[tuple[int, int, int], ...]

    def bare(self, frame: Frame) -> Frame:
        """The same without what is remembered."""
        return tuple(x and not remembers(n) for x, n in zip(frame, self.latches, strict=True))

    def run(self, frame: Frame) -> tuple[set[Frame], set[str]]:
        """The next values of the latches, for whatever inputs; and what is bad for some of them."""
        width = 1 << len(self.inputs)
        every = (1 << width) - 1
        value = [0, every]
        for i in range(len(self.inputs)):
            period = (1 << (1 << i)) - 1 << (1 << i)
            block = 2 << i
            pattern = sum(period << at for at in range(0, width, block))
            value += [pattern, every ^ pattern]
        for x in frame:
            value += [every, 0] if x else [0, every]
        for _, a, b in self.gates:
            both = value[a] & value[b]
            value += [both, every ^ both]
        columns = [value[x] for x in self.following]
        states = {tuple(bool(c >> i & 1) for c in columns) for i in range(width)}
        return states, {name for name, x in self.bads if value[x]}


def read(data: bytes) -> Read:
    """A file of either format."""
    lines = _Lines(data)
    format, *numbers = lines.next().split()
    most, inputs, latches, outputs, gates, bads = map(int, numbers)
    assert (outputs, most) == (0, inputs + latches + gates)
    ascii = format == b"aag"
    assert ascii or format == b"aig"
    if ascii:
        assert [int(lines.next()) for _ in range(inputs)] == [2 * (1 + i) for i in range(inputs)]
    following, reset = [], []
    for i in range(latches):
        own, *rest = [*([] if ascii else [2 * (1 + inputs + i)]), *map(int, lines.next().split())]
        assert own == 2 * (1 + inputs + i)
        following.append(rest[0])
        reset.append(rest[1:] == [1])
    bad = [int(lines.next()) for _ in range(bads)]
    first = 1 + inputs + latches
    made = []
    for i in range(gates):
        here = 2 * (first + i)
        if ascii:
            gate = tuple(map(int, lines.next().split()))
        else:
            a = here - lines.delta()
            gate = (here, a, a - lines.delta())
        assert gate[0] == here > gate[1] >= gate[2]
        made.append((gate[0], gate[1], gate[2]))
    names = {}
    while (line := lines.next()) != b"c":
        symbol, _, name = line.partition(b" ")
        names[symbol.decode()] = name.decode()

    def named(kind: str, count: int) -> tuple[str, ...]:
        found = tuple(names.pop(f"{kind}{i}") for i in range(count))
        assert len(set(found)) == count  # ABC refuses others
        return found

    read = Read(
        named("i", inputs),
        named("l", latches),
        tuple(reset),
        tuple(following),
        tuple(zip(named("b", bads), bad, strict=True)),
        tuple(made),
    )
    assert not names
    return read


class _Lines:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def next(self) -> bytes:
        """The next line."""
        end = self._data.index(b"\n", self._at)
        line, self._at = self._data[self._at : end], end + 1
        return line

    def delta(self) -> int:
        """The next difference of the binary format."""
        number = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number


def remembers(name: str) -> bool:
    """Whether a latch only remembers what has happened."""
    return name == "(stray)" or name.startswith("(violated ")


@dataclass
class Run:
    """What all runs of a circuit come to: the states by the frame in which they are first seen, and the first
    frame of each bad literal that is ever true. Frames are counted from the initial state."""

    layers: list[set[Valuation]]
    bads: dict[str, int]


def reached(circuit: Read, program: Program) -> Run:
    """Run a circuit from its reset, for all inputs."""
    state_of = _Decoder(circuit, program)
    later = int(BEGUN in circuit.latches)
    layers: list[set[Valuation]] = []
    bads: dict[str, int] = {}
    seen: set[Frame] = set()
    fresh, number = {circuit.reset}, -later
    while fresh:
        new = {circuit.bare(frame) for frame in fresh} - seen
        if number >= 0 and new:
            layers.append({state_of(frame) for frame in new})
        following: set[Frame] = set()
        for frame in fresh:
            states, wrong = circuit.run(frame)
            for name in wrong:
                bads.setdefault(name, number)
            if circuit.bare(frame) in new:
                following |= states
        seen |= new
        # Nothing but bad literals rests on what is remembered: to see each of them once is enough.
        fresh = {
            frame for frame in following if circuit.bare(frame) not in seen or circuit.bare(frame) != frame
        }
        number += 1
    return Run(layers, bads)


class _Decoder:
    """The state that latches stand for, by their names."""

    def __init__(self, circuit: Read, program: Program) -> None:
        self._program = program
        place = {name: i for i, name in enumerate(circuit.latches)}
        self._bits: list[list[int]] = []
        for column, cell in column_cells(program.columns):
            name = _name(column, cell)
            bit = [place.pop(name)] if name in place else []
            while f"{name} bit {len(bit)}" in place:
                bit.append(place.pop(f"{name} bit {len(bit)}"))
            self._bits.append(bit)
        assert all(remembers(name) or name == BEGUN for name in place)

    def __call__(self, frame: Frame) -> Valuation:
        codes = []
        cells = column_cells(self._program.columns)
        for (column, at), bit in zip(cells, self._bits, strict=True):
            code = sum(frame[x] << i for i, x in enumerate(bit))
            if not bit:
                code = column.initial[at]
            elif isinstance(column.type, OptionalType) and isinstance(column.type.item, SetType):
                code = 1 + (code >> 1) if code & 1 else 0
            assert code < column.type.size
            codes.append(code)
        return tuple(codes)


def _name(column: Column, cell: int) -> str:
    keys = list(product(*map(range, column.dims)))[cell]
    parts = re.split(r"\[#?\]", column.name)
    return parts[0] + "".join(f"[{key}]{part}" for key, part in zip(keys, parts[1:], strict=True))
