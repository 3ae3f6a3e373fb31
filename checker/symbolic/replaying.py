"""What the solver found, run again in the interpreter before anyone hears of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from slotproof.checker.symbolic.bounded import Choice, Codes, Run
from slotproof.checker.symbolic.relation import Bad
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language import ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError, NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import DEADLOCK, Program, no_crash


class Disagreement(Exception):
    """Z3's relation and the interpreter give different answers: a fault of this program, not of the model."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"internal error, please report it: the relation and the interpreter disagree: {what}. "
            "No verdict of this run can be trusted."
        )


class Replay:
    """Replays runs of one program."""

    def __init__(self, program: Program, choices: Sequence[int], engine: str) -> None:
        self.program = program
        self.choices = tuple(choices)
        self.engine = engine
        self.interpreter = Interpreter(program, self.choices)

    def trace(self, run: Run, bad: Bad) -> Trace:
        """The trace of a run that ends in a violation; ``Disagreement`` if it does not."""
        states, crash = self._walk(run)
        for position, (found, expected) in enumerate(zip(run.states, states, strict=True)):
            self._compare(position, found, expected)
        return Trace.of(
            self.program,
            self.choices,
            property=bad.property,
            part=self._confirmed(run, bad, states, crash),
            engine=self.engine,
            start=None if run.start is None else self._step(self.program.initial, run.start),
            steps=(self._step(self.program.actions, s) for s in run.steps),
            states=states,
            crash=crash,
        )

    def error(self, run: Run, properties: Sequence[str]) -> NoReturn:
        """Raise the model error that a run ends with, as the interpreter words it."""
        states, _ = self._walk(run)
        before = states[-2] if run.steps else None
        for number, found in enumerate(self.program.properties):
            if found.name in properties:
                last = run.steps[-1] if run.steps else None
                if found.over == "state":
                    self.interpreter.holds(number, None, (), states[-1])
                elif last is not None and (found.actions is None or last.action in found.actions):
                    self.interpreter.holds(number, before, last.arguments, states[-1])
        if DEADLOCK in properties:
            list(self.interpreter.successors(states[-1]))
            self.interpreter.final(states[-1])
        raise Disagreement(f"a model error after {self._told(run)} does not come up when replayed")

    def _walk(self, run: Run) -> tuple[list[Valuation], str | None]:
        start: tuple[int | None, Sequence[int]] = (None, ())
        if run.start is not None:
            start = (run.start.action, run.start.arguments)
        try:
            return self.interpreter.walk(start, [(s.action, s.arguments) for s in run.steps])
        except NotEnabled as e:
            raise Disagreement(f"{self._told(run)} is no run: {e}") from e

    def _compare(self, position: int, found: Codes, expected: Valuation) -> None:
        if position == 0 and not self.program.initial:
            expected = self.program.start
        if any(a is not None and a != b for a, b in zip(found, expected, strict=True)):
            raise Disagreement(f"state {position} is {found} and {expected}")

    def _confirmed(self, run: Run, bad: Bad, states: Sequence[Valuation], crash: str | None) -> str:
        """The part of a property that the interpreter finds violated, too."""
        if bad.property == DEADLOCK:
            step = next(self.interpreter.successors(states[-1]), None)
            if crash is not None or step is not None or self.interpreter.final(states[-1]):
                raise Disagreement("a state without successors has one, or is final")
            return "some step is possible"
        if bad.property in map(no_crash, self.program.crashes):
            cause = self.program.crashes[bad.part]
            if crash != cause:
                raise Disagreement(f"{self._told(run)} crashes with {cause} and with {crash}")
            return f"crash({cause!r})"
        number = next(i for i, p in enumerate(self.program.properties) if p.name == bad.property)
        part = self.program.properties[number].conjuncts[bad.part].site.text
        before, arguments = (states[-2], run.steps[-1].arguments) if bad.over == "step" else (None, ())
        try:
            holds = self.interpreter.holds(number, before, arguments, states[-1])
        except ModelError:
            return part  # of a later conjunct, which means nothing where this one is false
        if holds[bad.part]:
            raise Disagreement(f"'{part}' of {bad.property} is true after {self._told(run)}")
        return part

    def _step(self, actions: Sequence[ir.Action], choice: Choice) -> Step:
        action = actions[choice.action]
        return Step(action.name, self.interpreter.arguments(action, choice.arguments))

    def _told(self, run: Run) -> str:
        steps = [self._step(self.program.actions, s) for s in run.steps]
        first = [] if run.start is None else [self._step(self.program.initial, run.start)]
        return ", ".join(map(str, [*first, *steps])) or "no step"
