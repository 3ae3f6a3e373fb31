"""From a state's number to the way there: rebuilt from parent links, replayed in the interpreter.

Parent links say only from which state another was first reached. The step between the two is the
first, in order of declaration, that native code gives; the interpreter then has to give the same.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from slotproof.checker.explicit.context import IN_STATE, LABEL_BITS, applies, arguments_of
from slotproof.checker.explicit.native import Native, native
from slotproof.checker.explicit.registers import NO_PARENT
from slotproof.checker.explicit.search import Broken, Search
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import LanguageError, ModelError, NotEnabled
from slotproof.model.language.interpreter import Interpreter, Outcome
from slotproof.model.language.program import Program


class Disagreement(Exception):
    """Native code and interpreter give different answers: a fault of this program, not of the model."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"internal error, please report it: native code and interpreter disagree: {what}. "
            "No verdict of this run can be trusted."
        )


@dataclass(frozen=True, slots=True)
class Successors:
    """Rows of native code: one a successor, its words with outputs and its label."""

    code: Native
    rows: NDArray[np.uint64]

    def outcome(self, row: int, program: Program) -> Outcome:
        """The state of a row, and the crash that made it."""
        layout = self.code.layout
        words = self.rows[row, : layout.total]
        cause = layout.crashed(words)
        return Outcome(layout.unpack(words), None if cause is None else program.crashes[cause])

    def label(self, row: int) -> tuple[int, int]:
        """The action of a row and the number of its arguments."""
        label = int(self.rows[row, self.code.layout.total + 1])
        return label >> LABEL_BITS, label & ((1 << LABEL_BITS) - 1)

    def labels(self) -> list[int]:
        """The labels of all rows."""
        return [int(label) for label in self.rows[:, self.code.layout.total + 1]]

    def first(self, words: NDArray[np.uint64]) -> int | None:
        """The first row with these state words."""
        same = np.all(self.rows[:, : self.code.layout.words] == words[: self.code.layout.words], axis=1)
        return int(np.argmax(same)) if same.any() else None


class Paths:
    """Rebuilds and replays ways through the states of a search.

    Where a search is one of a part of a program, ``whole`` is the program in which its ways are replayed, and
    ``kept`` the columns that have to agree.
    """

    def __init__(
        self, search: Search, whole: Program | None = None, kept: Container[int] | None = None
    ) -> None:
        self.search = search
        self.program = whole or search.program
        self._cells: list[int] | None = None
        if kept is not None:
            columns = (c for i, c in enumerate(self.program.columns) if i in kept)
            self._cells = [c.offset + i for c in columns for i in range(c.cells)]
        self.code = native(search.program)  # of states themselves, also where the search is one of orbits
        self.label: int | None = None
        """The label of the last step of the last trace, if that step was asked for."""
        self.interpreter = Interpreter(self.program, search.choices)
        self._context = search.native.slots.fresh(search.choices)

    def successors(self, words: NDArray[np.uint64]) -> Successors:
        """All successors of a state in order; none of a crash state."""
        return expanded(self.code, self._context, words)

    def initial(self) -> Successors:
        """All initial states in order."""
        out = np.empty(self.code.most * self.code.stride, np.uint64)
        count = self.code.initial(self._context, out)
        return Successors(self.code, out[: max(count, 0) * self.code.stride].reshape(-1, self.code.stride))

    def numbers(self, state: int) -> list[int]:
        """The states on the way to a state, the initial one first."""
        way = [state]
        while (parent := int(self.search.store.parents[way[-1]])) != NO_PARENT:
            way.append(parent)
        return way[::-1]

    def trace(
        self,
        property: str,
        part: str,
        state: int,
        label: int | None = None,
        conjunct: tuple[int, int] | None = None,
    ) -> Trace:
        """The trace to a state, and with a ``label`` one step on. Raises ``Disagreement``.

        ``conjunct`` is the property and its part that this last step violates. Where the search is one of
        orbits, the trace leads through states themselves, to one of the orbit. ``ModelError`` where a later
        step of the state leaves the model, and the search is one of orbits.
        """
        store = self.search.store
        way = self.numbers(state)
        here, start, valuation = self._start(way[0])
        steps: list[Step] = []
        states = [valuation]
        crash = None
        for parent, child in pairwise(way):
            rows = self.successors(here)
            row = self._match(rows, store.state(child))
            if row is None:
                raise Disagreement(f"state {child} does not follow from its parent {parent}")
            here = rows.rows[row]
            crash = self._step(rows, row, steps, states)
        if label is not None:
            try:
                rows = self.successors(here)
            except ModelError:  # of a later step of this state: native code gives none of them then
                if self.search.symmetric:
                    raise
                self.label = label
                crash = self._taken(label, steps, states)
            else:
                row = self._last(rows, states[-1], store.state(state), label, conjunct)
                self.label = int(rows.rows[row, self.code.layout.total + 1])
                crash = self._step(rows, row, steps, states)
        return Trace.of(
            self.program,
            self.search.choices,
            property=property,
            part=part,
            engine="explicit",
            start=start,
            steps=steps,
            states=states,
            crash=crash,
        )

    def lasso(
        self, property: str, part: str, state: int, onward: Sequence[tuple[int, int]], loop: int
    ) -> Trace:
        """The trace to a state, then on by these rows of these states; the last ``loop`` steps go round."""
        trace = self.trace(property, part, state)
        steps, states = list(trace.steps), list(trace.states)
        for source, row in onward:
            self._step(self.successors(self.search.store.state(source)), row, steps, states)
        return replace(
            trace, engine="temporal", steps=tuple(steps), states=tuple(states), loop=len(steps) - loop
        )

    def _agree(self, one: Valuation, other: Valuation) -> bool:
        """Whether two states are the same in all that is searched."""
        if self._cells is None:
            return one == other
        return all(one[cell] == other[cell] for cell in self._cells)

    def _match(self, rows: Successors, words: NDArray[np.uint64]) -> int | None:
        """The first row that is a stored state, or of its orbit."""
        if not self.search.symmetric:
            return rows.first(words)
        return next((i for i, row in enumerate(rows.rows) if self._alike(row, words)), None)

    def _alike(self, row: NDArray[np.uint64], canonical: NDArray[np.uint64]) -> bool:
        code = self.search.native
        words = code.layout.words
        return bool(np.array_equal(code.canonical(self._context, row), canonical[:words]))

    def _last(
        self,
        rows: Successors,
        before: Valuation,
        stored: NDArray[np.uint64],
        label: int,
        conjunct: tuple[int, int] | None,
    ) -> int:
        """The row of the step with this label from the stored state, or of one like it from this state."""
        if not self.search.symmetric:
            return rows.labels().index(label)
        there = self.successors(stored)
        after = self.search.native.canonical(self._context, there.rows[there.labels().index(label)])
        for i, row in enumerate(rows.rows):
            number, combination = rows.label(i)
            if number == label >> LABEL_BITS and self._alike(row, after):
                if conjunct is None:
                    return i
                arguments = arguments_of(self.program.actions[number], combination)
                state = rows.outcome(i, self.program).state
                if not self.interpreter.holds(conjunct[0], before, arguments, state)[conjunct[1]]:
                    return i
        raise Disagreement("a step that violates a property has none like it in the rest of its orbit")

    def _start(self, state: int) -> tuple[NDArray[np.uint64], Step | None, Valuation]:
        rows = self.initial()
        row = self._match(rows, self.search.store.state(state))
        if row is None:
            raise Disagreement(f"state {state} has no parent and is not initial")
        given = rows.outcome(row, self.program)
        if not self.program.initial:
            step, valuation = None, self.program.start
        else:
            number, combination = rows.label(row)
            action = self.program.initial[number]
            numbers = arguments_of(action, combination)
            valuation = self.interpreter.start(number, numbers)
            step = Step(action.name, self.interpreter.arguments(action, numbers))
        if not self._agree(given.state, valuation):
            raise Disagreement(f"initial state {given.state} and {valuation}")
        return rows.rows[row], step, valuation

    def _step(self, rows: Successors, row: int, steps: list[Step], states: list[Valuation]) -> str | None:
        """Replay a step and append it; the cause if it crashes."""
        number, combination = rows.label(row)
        action = self.program.actions[number]
        numbers = arguments_of(action, combination)
        step = Step(action.name, self.interpreter.arguments(action, numbers))
        given = rows.outcome(row, self.program)
        try:
            outcome = self.interpreter.step(states[-1], number, numbers)
        except (NotEnabled, ModelError) as e:
            raise Disagreement(f"{step} is a step, but replayed it ends with '{e}'") from e
        if outcome.crash != given.crash or not self._agree(outcome.state, given.state):
            raise Disagreement(f"{step} leads to {given} and to {outcome}")
        steps.append(step)
        states.append(outcome.state)
        return outcome.crash

    def _taken(self, label: int, steps: list[Step], states: list[Valuation]) -> str | None:
        """Append a step as the interpreter alone takes it; the cause if it crashes."""
        number = label >> LABEL_BITS
        action = self.program.actions[number]
        numbers = arguments_of(action, label & ((1 << LABEL_BITS) - 1))
        outcome = self.interpreter.step(states[-1], number, numbers)
        steps.append(Step(action.name, self.interpreter.arguments(action, numbers)))
        states.append(outcome.state)
        return outcome.crash

    def confirm(self, number: int, conjunct: int, trace: Trace, label: int | None) -> None:
        """Demand that the interpreter finds the conjunct of a property false at the end of a trace."""
        property_ = self.program.properties[number]
        before: Valuation | None = None
        numbers: tuple[int, ...] = ()
        if label is not None:
            before = trace.states[-2]
            action = self.program.actions[label >> LABEL_BITS]
            numbers = arguments_of(action, label & ((1 << LABEL_BITS) - 1))
        try:
            holds = self.interpreter.holds(number, before, numbers, trace.states[-1])
        except ModelError:
            return  # of another conjunct, which means nothing where an earlier one is false
        if holds[conjunct]:
            raise Disagreement(f"'{property_.conjuncts[conjunct].site.text}' of {property_.name} is true")

    def confirm_deadlock(self, trace: Trace) -> None:
        """Demand that the interpreter finds no step at the end of a trace."""
        step = next(self.interpreter.successors(trace.states[-1]), None)
        if step is not None or self.interpreter.final(trace.states[-1]):
            raise Disagreement("a state without successors has one, or is final")

    def error(self, broken: Broken) -> NoReturn:
        """Raise the model error that ended a search, as the interpreter words it."""
        program, interpreter = self.program, self.interpreter
        if self.search.states == 0:
            interpreter.initial()
        else:
            state = self.trace("", "", broken.state).states[-1]
            if broken.where == IN_STATE:
                self._judge(state)
            else:
                for number, numbers, outcome in interpreter.successors(state):
                    for i, property_ in enumerate(program.properties):
                        if applies(property_, number):
                            interpreter.holds(i, state, numbers, outcome.state)
        if broken.site == len(program.sites):
            raise ModelError("a number leaves -2^62 .. 2^62 - 1, the numbers that the language computes with")
        if 0 <= broken.site < len(program.sites):
            raise Disagreement(
                f"a model error at {program.sites[broken.site]} does not come up when replayed"
            )
        raise LanguageError("crash() is used where nothing can crash: in a guard, a property or a witness")

    def _judge(self, state: Valuation) -> None:
        for i, property_ in enumerate(self.program.properties):
            if property_.over == "state":
                self.interpreter.holds(i, None, (), state)
        for i in range(len(self.program.witnesses)):
            self.interpreter.witnessed(i, state)
        self.interpreter.final(state)


def expanded(code: Native, context: NDArray[np.int64], words: NDArray[np.uint64]) -> Successors:
    """All successors of a state in order; ``ModelError`` with the site's number if there is an error."""
    out = np.empty(code.most * code.stride, np.uint64)
    count = code.expand(context, words, out)
    if count < -1:
        raise ModelError("a step from this state is a model error")
    return Successors(code, out[: max(count, 0) * code.stride].reshape(-1, code.stride))
