"""Whether a lasso is a fair run that waits for ever: what the interpreter says of it.

A lasso is a trace whose last state is that of ``states[loop]`` again, and whose steps from there on repeat
for ever. With no step in the loop the run stops in its last state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from slotproof.counterexamples.encoding import label
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter, decoded
from slotproof.model.language.ir import FairSets, Local, Progress
from slotproof.model.language.program import Program


@dataclass(frozen=True, slots=True)
class Standing:
    """How a fair set fares in a loop.

    ``taken`` is the number of the first step of the loop that is in it (steps count from 1), ``barred`` that
    of the first state of the loop in which no step of it is possible (state 0 is the first of the trace).
    """

    sets: FairSets
    values: tuple[int, ...]
    taken: int | None
    barred: int | None
    always_barred: bool

    @property
    def fair(self) -> bool:
        """Whether the loop is fair to the set."""
        if self.taken is not None:
            return True
        return self.always_barred if self.sets.strength == "strong" else self.barred is not None

    @property
    def name(self) -> str:
        """The set in words."""
        return f"{self.sets.steps}{_given(self.sets.instances, self.values)}"

    def __str__(self) -> str:
        """Why the loop is fair to the set, as a story tells it."""
        if self.taken is not None:
            fares = f"happens in step {self.taken}"
        elif self.always_barred:
            fares = "is never possible in the loop"
        else:
            fares = f"is not possible after step {self.barred}"
        return f"{self.name} ({self.sets.strength}): {fares}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The values for which a progress property fails, and the state (from 0) in which the wait begins."""

    progress: Progress
    values: tuple[int, ...]
    since: int

    @property
    def about(self) -> str:
        """The values in words, such as ``r = r1``; empty if the property has no parameters."""
        return _given(self.progress.parameters, self.values).removeprefix(" of ")


def _given(parameters: Sequence[Local], values: Sequence[int]) -> str:
    pairs = zip(parameters, decoded(parameters, values).values(), strict=True)
    told = ", ".join(f"{p.name.removeprefix('each ')} = {label(v)}" for p, v in pairs)
    return f" of {told}" if told else ""


def assumption(sets: FairSets) -> str:
    """Fair sets in words: their steps, and the parameters for each of whose values there is a set."""
    names = ", ".join(p.name.removeprefix("each ") for p in sets.instances)
    return f"{sets.steps}{f' for each {names}' if names else ''}"


def check_lasso(trace: Trace, program: Program, interpreter: Interpreter) -> None:
    """``TraceError`` if the loop does not close, is not fair, or does not wait for ever."""
    loop = loop_of(trace)
    first, last = trace.states[loop], trace.states[-1]
    if interpreter.stored(first) != interpreter.stored(last):
        raise TraceError(f"loop: the last state is not states[{loop}] again, so that nothing goes round")
    waiting(trace, program, interpreter)
    for standing in standings(trace, program, interpreter):
        if not standing.fair:
            possible = "all the time" if standing.sets.strength == "weak" else "again and again"
            raise TraceError(
                f"loop: is not fair: {standing.name} is possible {possible} and never happens, and the system"
                f" assumes that it is {standing.sets.strength}ly fair"
            )


def loop_of(trace: Trace) -> int:
    """The state at which a lasso's loop begins; ``TraceError`` if it is none."""
    if trace.crash is not None:
        raise TraceError(f"the trace ends in a crash ({trace.crash}), so that no run goes on from it")
    if trace.loop is None:
        raise TraceError(f"loop: is missing, and {trace.property} is about runs without end")
    return trace.loop


def waiting(trace: Trace, program: Program, interpreter: Interpreter) -> Waiting:
    """What the lasso waits for in vain; ``TraceError`` if it waits for nothing."""
    loop = loop_of(trace)
    number = [p.name for p in program.progress].index(trace.property)
    progress = program.progress[number]
    met = False
    for values in every(progress.parameters):
        judged = [interpreter.pending(number, values, state) for state in trace.states]
        since = len(judged)
        while since > 0 and not judged[since - 1][1]:
            since -= 1
        opened = next((i for i in range(since, len(judged)) if judged[i][0]), None)
        met = met or any(premise for premise, _ in judged)
        if opened is not None and all(not goal for _, goal in judged[loop:]):
            return Waiting(progress, values, opened)
    goal, premise = progress.goal.site.text, progress.premise.site.text
    said = f"meets the goal again: {goal}" if met else f"never meets the premise: {premise}"
    raise TraceError(f"the trace does not violate {trace.property}: it {said}")


def standings(trace: Trace, program: Program, interpreter: Interpreter) -> Iterator[Standing]:
    """How each fair set of the program fares in the loop."""
    loop = loop_of(trace)
    names = [a.name for a in program.actions]
    round_: list[tuple[int, Valuation, int, tuple[int, ...]]] = []
    for i, step in enumerate(trace.steps[loop:], loop):
        action = names.index(step.action)
        numbers = interpreter.numbers(program.actions[action], dict(step.arguments))
        round_.append((i + 1, trace.states[i], action, numbers))
    states = range(loop, max(len(trace.steps), loop + 1))  # the last state of a loop is its first one again
    offered = _Offers(trace, interpreter)
    for number, sets in enumerate(program.fairness):
        for values in every(sets.instances):
            taken = next((i for i, s, a, n in round_ if interpreter.fair(number, values, s, a, n)), None)
            barred = [] if taken is not None else [i for i in states if not offered.some(number, values, i)]
            first = barred[0] if barred else None
            yield Standing(sets, values, taken, first, taken is None and len(barred) == len(states))


class _Offers:
    """The steps that are possible in the states of a trace, found when they are asked for."""

    def __init__(self, trace: Trace, interpreter: Interpreter) -> None:
        self.trace = trace
        self.interpreter = interpreter
        self._known: dict[tuple[int, int], list[tuple[int, ...]]] = {}

    def some(self, sets: int, values: Sequence[int], i: int) -> bool:
        """Whether a step of a fair set is possible in a state."""
        return any(
            self.interpreter.fair(sets, values, self.trace.states[i], action, numbers)
            for action in self.interpreter.program.fairness[sets].actions
            for numbers in self._of(i, action)
        )

    def _of(self, i: int, action: int) -> list[tuple[int, ...]]:
        if (i, action) not in self._known:
            self._known[i, action] = self.interpreter.possible(self.trace.states[i], action)
        return self._known[i, action]


def every(parameters: Sequence[Local]) -> Iterator[tuple[int, ...]]:
    """Every combination of values, as the IR represents them, the first parameter varying slowest."""
    lows = [p.type.low for p in parameters]
    yield from product(*(range(low, low + p.type.size) for low, p in zip(lows, parameters, strict=True)))
