"""What a false property rests on: the variables that decide it, and the step that left each as it is.

The last step is run once more in the IR, and each value that it computes carries the cells of the state
before it that decided it: those that were read for it, and those of the conditions around it. So what a
step shows to a property leads back to what earlier steps have stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from slotproof.counterexamples.encoding import names
from slotproof.counterexamples.evidence import Evidence, Facts, Found, Returned, cell
from slotproof.counterexamples.story import values_of
from slotproof.model.language import ir
from slotproof.model.language.columns import Column, Valuation, decode
from slotproof.model.language.errors import ModelError
from slotproof.model.language.program import Program
from slotproof.model.language.types import SetType


@dataclass(frozen=True, slots=True)
class Origin:
    """A variable that decides, its value before the last step, and the step that last changed it.

    ``since`` says of a set whose elements came at different steps when each came; 0 is the start.
    """

    path: str
    value: str
    step: int
    since: tuple[tuple[str, int], ...] = ()


class _Died(Exception):
    def __init__(self, because: Facts) -> None:
        self.because = because


@dataclass
class Flow(Evidence):
    """A step as it runs, and then a property of it. A fact is a cell of the state before, by its number."""

    after: list[int] = field(init=False)
    written: dict[int, Facts] = field(default_factory=dict)
    crash: str = ""
    asked: set[int] = field(default_factory=set)
    """The decisions that were asked, by number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.after = list(self.states["before"])

    def run(self, action: ir.Action, numbers: Sequence[int]) -> Facts:
        """Take the step; what its crash rests on, if it crashes."""
        local = {p.name: Found(v) for p, v in zip(action.parameters, numbers, strict=True)}
        try:
            self._run(action.effect, local)
        except Returned:
            pass
        except _Died as died:
            return died.because
        return ()

    def false(self, prop: ir.Property, numbers: Sequence[int]) -> Facts:
        """What the false conjuncts of a property rest on."""
        found = self.conjuncts(prop, numbers)
        return tuple(dict.fromkeys(fact for f in found if not f.value for fact in f.facts))

    def _read(self, e: ir.Read, local: dict[str, Found]) -> Found:
        column = self.program.columns[e.column]
        at, facts = self._place(column, e.indices, local)
        code = self.states["before"][at] if e.root == "before" else self.after[at]
        if e.root != "before" and at in self.written:
            facts += self.written[at]
        elif not column.output:
            facts += (str(at),)
        return Found(code + column.type.low, tuple(dict.fromkeys(facts)))

    def _write(self, statement: ir.Write, local: dict[str, Found], because: Facts) -> None:
        column = self.program.columns[statement.column]
        found = self.value(statement.value, local)
        at, facts = self._place(column, statement.indices, local)
        self.after[at] = found.value - column.type.low
        self.written[at] = tuple(dict.fromkeys((*because, *facts, *found.facts)))

    def _called(self, e: ir.Call | ir.Decide) -> int:
        if isinstance(e, ir.Decide):
            self.asked.add(e.point)
        return super()._called(e)

    def _die(self, statement: ir.Die, because: Facts) -> None:
        self.crash = self.program.crashes[statement.cause]
        raise _Died(because)

    def _place(
        self, column: Column, indices: Sequence[ir.Expr], local: dict[str, Found]
    ) -> tuple[int, Facts]:
        """The number of a cell, and the facts that its indices rest on."""
        at = 0
        facts: Facts = ()
        for index, size in zip(indices, column.dims, strict=True):
            found = self.value(index, local)
            at = at * size + found.value
            facts += found.facts
        return column.offset + at, facts


def origins(
    program: Program,
    choices: tuple[int, ...],
    states: Sequence[Valuation],
    action: int,
    numbers: tuple[int, ...],
    name: str,
) -> list[Origin]:
    """What makes the last of ``states`` violate a property, or the step to it; in the order of the steps.

    ``action`` with its arguments ``numbers`` is the last step, ``name`` a property or a ``no-crash-…``.
    What has been as it is since the start is left out, and so is everything where the step cannot be told.
    """
    last = len(states) - 1
    flow = Flow(program, choices, {"before": fresh(program, states[-2])})
    prop = next((p for p in program.properties if p.name == name), None)
    try:
        facts = flow.run(program.actions[action], numbers)
        if prop is not None:
            facts = flow.false(prop, numbers if prop.parameters else ())
    except ModelError:
        return []
    cells: dict[str, int] = {}
    for fact in facts:
        if fact.isdigit():  # what is no cell names an element that a quantifier goes through
            cells.setdefault(_path(program, int(fact)), int(fact))
    history = [values_of(program.state, decode(program.state, s)) for s in states[:last]]
    found = []
    for path, number in cells.items():
        step = _changed([values[path] for values in history])
        if step:
            since = _arrivals(program, number, states[:last])
            found.append(Origin(path, history[-1][path], step, since))
    return sorted(found, key=lambda origin: origin.step)


def fresh(program: Program, state: Valuation) -> Valuation:
    """The state with every output at its initial value."""
    cells = list(state)
    for column in program.columns:
        if column.output:
            cells[column.offset : column.offset + column.cells] = column.initial
    return tuple(cells)


def _changed(values: Sequence[object]) -> int:
    """The index from which on the last value stands; 0 if it has never been another."""
    return next((i for i in range(len(values) - 1, 0, -1) if values[i - 1] != values[i]), 0)


def _arrivals(program: Program, number: int, states: Sequence[Valuation]) -> tuple[tuple[str, int], ...]:
    """Since when each element of a set is in it; nothing if all came at once."""
    type_ = _column(program, number).type
    if not isinstance(type_, SetType):
        return ()
    elements = [i for i in range(type_.item.size) if states[-1][number] >> i & 1]
    found = [(names(type_.item)[i], _changed([s[number] >> i & 1 for s in states])) for i in elements]
    return tuple(found) if len({step for _, step in found}) > 1 else ()


def _column(program: Program, number: int) -> Column:
    return next(c for c in program.columns if c.offset <= number < c.offset + c.cells)


def _path(program: Program, number: int) -> str:
    """The variable that a cell belongs to; a sequence is one variable."""
    column = _column(program, number)
    at = number - column.offset
    indices: list[int] = []
    for size in reversed(column.dims):
        at, index = divmod(at, size)
        indices.insert(0, index)
    name = column.name.partition("[#]")[0].removesuffix(".len")
    return cell(replace(column, name=name), indices)
