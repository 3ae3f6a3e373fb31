"""The states of a walk as rows of bars over time.

A system's own drawing gives the bars of one state; here bars of successive states are joined, and what
takes a place keeps it. A system without a drawing gets one row for each variable that changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from slotproof.counterexamples.story import differences, values_of
from slotproof.model.language.columns import Valuation, decode
from slotproof.model.language.drawing import Bar, Group
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program

MOST_ROWS = 80
"""Rows of variables that a system without a drawing gets."""


@dataclass(slots=True)
class Segment:
    """A bar from state ``first`` to ``last``, both included; ``marks`` by state."""

    first: int
    last: int
    text: str
    hue: int
    texture: str
    passing: bool
    odd: bool = False
    marks: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Row:
    """One line of the picture."""

    name: str
    segments: list[Segment] = field(default_factory=list)


@dataclass(slots=True)
class Band:
    """A group of rows with its title and what its textures mean."""

    title: str
    rows: list[Row]
    legend: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""


def picture(program: Program, interpreter: Interpreter, states: Sequence[Valuation]) -> list[Band]:
    """The bands of these states."""
    drawing = program.system.drawing
    if drawing is None:
        return _variables(program, states)
    draw = interpreter.linker.function(drawing)
    bands: dict[str, _Drawn] = {}
    for time, state in enumerate(states):
        groups: list[Group] = draw(interpreter.object(state))
        for group in groups:
            if group.title not in bands:
                bands[group.title] = _Drawn(group)
            bands[group.title].add(group, time)
    return [drawn.finished() for drawn in bands.values()]


class _Drawn:
    """A band as it grows, state by state."""

    def __init__(self, group: Group) -> None:
        legend = [(texture.value, meaning) for texture, meaning in group.legend]
        self.band = Band(group.title, [Row(name) for name in group.rows], legend)
        self.held: dict[str, int] = {}  # who holds which place, of a group with places

    def add(self, group: Group, time: int) -> None:
        """The bars of one more state."""
        rows = self._places(group) if group.places else [self._named(bar.row) for bar in group.bars]
        for bar, row in zip(group.bars, rows, strict=True):
            _extend(row, bar, time)

    def _named(self, name: str) -> Row:
        found = next((row for row in self.band.rows if row.name == name), None)
        if found is None:
            found = Row(name)
            self.band.rows.append(found)
        return found

    def _places(self, group: Group) -> list[Row]:
        """The place of each bar: the one that it has had, else the first that is free."""
        self.held = {bar.row: self.held[bar.row] for bar in group.bars if bar.row in self.held}
        for bar in group.bars:
            if bar.row not in self.held:
                taken = set(self.held.values())
                self.held[bar.row] = next(p for p in range(len(taken) + 1) if p not in taken)
        while len(self.band.rows) < len(self.held):
            self.band.rows.append(Row(f"{len(self.band.rows)}"))
        return [self.band.rows[self.held[bar.row]] for bar in group.bars]

    def finished(self) -> Band:
        """The band, its legend without what it does not show."""
        used = {s.texture for row in self.band.rows for s in row.segments}
        self.band.legend = [(t, meaning) for t, meaning in self.band.legend if t in used]
        return self.band


def _extend(row: Row, bar: Bar, time: int) -> None:
    last = row.segments[-1] if row.segments else None
    if last is not None and last.last == time:
        raise ValueError(
            f"a drawing gives two bars to row '{row.name}' in one state: {last.text}, {bar.text}"
        )
    if last is None or last.last < time - 1 or not _same(last, bar):
        last = Segment(time, time, bar.text, bar.hue, bar.texture.value, bar.passing, bar.odd)
        row.segments.append(last)
    last.last = time
    if bar.mark:
        last.marks.append((time, bar.mark))


def _same(segment: Segment, bar: Bar) -> bool:
    looks = (segment.text, segment.hue, segment.texture, segment.odd)
    its = (bar.text, bar.hue, bar.texture.value, bar.odd)
    return looks == its and not segment.passing and not bar.passing


def _variables(program: Program, states: Sequence[Valuation]) -> list[Band]:
    """A row for each variable that changes, with its values over time."""
    objects = [decode(program.state, state) for state in states]
    changing: dict[str, None] = {}
    for old, new in pairwise(objects):
        changing.update((path, None) for path, _, _ in differences(program.state, old, new))
    columns = [values_of(program.state, state) for state in objects]
    shown = [path for path in columns[0] if path in changing] if changing else list(columns[0])
    band = Band("Variables", [])
    for path in shown[:MOST_ROWS]:
        row = Row(path)
        hues: dict[str, int] = {}
        for time, values in enumerate(columns):
            hue = hues.setdefault(values[path], len(hues))
            _extend(row, Bar(path, values[path], hue), time)
        band.rows.append(row)
    if len(shown) > MOST_ROWS:
        band.note = f"and {len(shown) - MOST_ROWS} variables more"
    elif changing and len(columns[0]) > len(shown):
        band.note = f"{len(columns[0]) - len(shown)} variables that do not change are left out"
    return [band]
