"""Conformance, from the model to the code: walks of the model, driven on a target, compared after each step.

A walk takes steps that no walk has taken, and where there is none it goes to the nearest state that has one:
so the edges of the graph are covered one by one. It ends at a crash, where the target cannot follow any
further, or when it is long enough; the next one starts anew.
Steps that violate a property are steps like others.
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slotproof.checker.explicit.context import arguments_of
from slotproof.checker.explicit.native import native
from slotproof.checker.explicit.paths import expanded
from slotproof.counterexamples.encoding import plain
from slotproof.counterexamples.replay.driver import (
    Died,
    OutOfReach,
    Plain,
    Refused,
    Setting,
    Target,
)
from slotproof.counterexamples.replay.run import Difference, first_difference
from slotproof.counterexamples.replay.states import Flat, plain_arguments
from slotproof.counterexamples.trace import Step
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.layout import Words
from slotproof.model.language.program import Program

LONGEST = 60
"""Steps of a walk."""

MOST_LOOKED_AT = 5_000
"""States that are looked through for the nearest one with a new step."""

_Label = tuple[int, int]
"""The number of an action, and that of its combination of arguments."""


@dataclass
class Conformance:
    """What walks have shown: steps compared, edges covered, the first difference and a short way to it."""

    steps: int = 0
    walks: int = 0
    edges: int = 0
    actions: dict[str, int] = field(default_factory=dict)
    difference: Difference | None = None
    path: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class _Choice:
    """A step that the model can take."""

    number: int
    numbers: tuple[int, ...]
    after: Valuation
    crash: str | None


class Walker:
    """The model's side of a walk: which steps there are from a state, and one of them by a seed's choosing.

    Steps come from the native code of ``explicit``, which the tests compare with the interpreter.
    """

    def __init__(
        self, program: Program, choices: Sequence[int], seed: int, without: Container[str] = ()
    ) -> None:
        self.program = program
        self.left_out = {i for i, action in enumerate(program.actions) if action.name in without}
        self.interpreter = Interpreter(program, choices)
        self.random = random.Random(seed)
        self.initial = self.interpreter.initial()
        self.code = native(program)
        self.context = self.code.slots.fresh(tuple(choices))
        self.known: dict[bytes, dict[_Label, bytes | None]] = {}
        self.plan: deque[_Label] = deque()

    @property
    def edges(self) -> int:
        """How many different steps have been taken."""
        return sum(after is not None for steps in self.known.values() for after in steps.values())

    def choose(self, state: Valuation) -> _Choice | None:
        """The next step; ``None``: a dead end.

        One that no walk has taken, of a random action; where all have been, one on the way to the nearest
        state with another.
        """
        words = self.code.layout.pack(self.interpreter.stored(state))
        rows = expanded(self.code, self.context, words)
        labels = {rows.label(row): row for row in range(len(rows.rows))}
        there_are = [label for label in labels if label[0] not in self.left_out]
        if not there_are:
            return None
        here = self._key(words)
        steps = self.known.setdefault(here, dict.fromkeys(there_are))
        label = self._next(here, steps)
        row = labels[label]
        steps[label] = self._key(rows.rows[row])
        outcome = rows.outcome(row, self.program)
        numbers = arguments_of(self.program.actions[label[0]], label[1])
        return _Choice(label[0], numbers, outcome.state, outcome.crash)

    def start_afresh(self) -> None:
        """A new walk begins."""
        self.plan.clear()

    def _key(self, words: Words) -> bytes:
        return words[: self.code.layout.words].tobytes()

    def _next(self, here: bytes, steps: Mapping[_Label, bytes | None]) -> _Label:
        if self.plan and self.plan[0] in steps:
            return self.plan.popleft()
        self.plan.clear()
        new = self._by_action(label for label, after in steps.items() if after is None)
        if not new:
            self.plan.extend(self._way_to_new(here))
            if self.plan:
                return self.plan.popleft()
            new = self._by_action(steps)
        return self.random.choice(new[self.random.choice(sorted(new))])

    def _by_action(self, labels: Iterable[_Label]) -> dict[int, list[_Label]]:
        found: dict[int, list[_Label]] = {}
        for label in labels:
            found.setdefault(label[0], []).append(label)
        return found

    def _way_to_new(self, here: bytes) -> list[_Label]:
        """The shortest way through known steps to a state from which one has not been taken."""
        ways: dict[bytes, list[_Label]] = {here: []}
        queue = deque([here])
        while queue and len(ways) < MOST_LOOKED_AT:
            state = queue.popleft()
            steps = self.known.get(state, {})
            if any(after is None for after in steps.values()):
                return ways[state]
            for label, after in steps.items():
                if after is not None and after not in ways:
                    ways[after] = [*ways[state], label]
                    queue.append(after)
        return []

    def step_of(self, choice: _Choice) -> Step:
        """A choice as a step of a trace."""
        action = self.program.actions[choice.number]
        return Step(action.name, self.interpreter.arguments(action, choice.numbers))


def conform(
    program: Program,
    names: Mapping[str, str],
    scenario: str,
    release: str | None,
    target: Callable[[], Target],
    steps: int,
    seed: int,
    longest: int = LONGEST,
    without: Container[str] = (),
) -> Conformance:
    """Walk ``steps`` steps of the model on fresh targets; stops at the first difference.

    ``names``: the alternative in force at each decision, by name. ``seed`` makes the walks the same again.
    ``without``: actions that the target cannot take; no walk takes them.
    """
    walker = Walker(program, program.choices(names), seed, without)
    used = {p.name: names[p.name] for p in program.decisions}
    found = Conformance()
    while found.steps < steps and found.difference is None:
        found.walks += 1
        walker.start_afresh()
        number, numbers, state = walker.random.choice(walker.initial)
        start = None
        if number is not None:
            action = program.initial[number]
            start = Step(action.name, walker.interpreter.arguments(action, numbers))
        setting = setting_for(program, used, scenario, release, start)
        found.path = []
        run = _Run(program, setting, target())
        found.difference = run.compare(state, "start")
        while found.difference is None and found.steps < steps and len(found.path) < longest:
            choice = walker.choose(state)
            if choice is None:
                break
            step = walker.step_of(choice)
            found.actions[step.action] = found.actions.get(step.action, 0) + 1
            found.path.append(step)
            found.steps += 1
            try:
                found.difference = run.take(step, state, choice.after, choice.crash)
            except OutOfReach:
                break
            state = choice.after
            if choice.crash is not None or run.target.beyond():
                break
        if not found.path and found.difference is None:
            break  # nothing that the target can take is possible
        if found.difference is not None:
            again = _Again(program, walker.interpreter, setting, target, (number, numbers))
            found.path, found.difference = again.shortened(found.path, found.difference)
    found.edges = walker.edges
    return found


def setting_for(
    program: Program, names: Mapping[str, str], scenario: str, release: str | None, start: Step | None
) -> Setting:
    """What a target has to be for a walk."""
    parameters = {name: plain(value) for name, value in program.parameters.items()}
    first = None if start is None else (start.action, plain_arguments(start))
    return Setting(scenario, release, parameters, dict(names), first)


class _Run:
    """One walk on one target."""

    def __init__(self, program: Program, setting: Setting, target: Target) -> None:
        self.flat = Flat(program)
        self.target = target
        target.begin(setting)
        self.steps = 0
        self.tainted: set[str] = set()

    def compare(self, state: Valuation, action: str) -> Difference | None:
        """The first difference between the model's state and the target's."""
        return first_difference(self.steps, action, self.flat(state), self.target.observe())

    def take(self, step: Step, before: Valuation, after: Valuation, crash: str | None) -> Difference | None:
        """Take the model's step on the target, and compare."""
        self.steps += 1
        try:
            self.target.step(step.action, plain_arguments(step))
        except Refused as refused:
            return Difference(self.steps, step.action, "the step", "possible", f"refused: {refused}")
        except Died as died:
            if crash is not None and died.cause == crash:
                return None
            return Difference(self.steps, step.action, "crash", crash or "no crash", str(died))
        if crash is not None:
            return Difference(self.steps, step.action, "crash", crash, "no exception")
        model, was = self.flat(after), self.flat(before)
        different = first_difference(self.steps, step.action, model, self.target.observe())
        if different is not None:
            return different
        self.tainted = tainted(self.tainted, was, model)
        requests = {name[len("adapter[") : -1] for name in model if name.startswith("adapter[")}
        wrong = self.target.unexpected(frozenset(requests - self.tainted))
        return None if wrong is None else Difference(self.steps, step.action, *wrong)


def tainted(known: set[str], before: Mapping[str, Plain], after: Mapping[str, Plain]) -> set[str]:
    """Requests of which the model says that a forward may have read wrong weights or metadata.

    ``before`` and ``after`` are a step's states, with the outputs of the step in ``after``. A request that
    is sent anew starts clean.
    """
    found = set(known)
    for name, value in after.items():
        process, _, variable = name.partition("].")
        loading, scheduler = f"{process}].loader.", f"{process}].scheduler."
        if variable in ("forward.misrouted", "forward.wiped"):
            found |= value
        elif variable == "forward.launched":
            filling = before[loading + "filling"] | after[loading + "filling"]
            found |= {
                r for r in value if after[f"adapter[{r}]"] in filling or before[f"adapter[{r}]"] in filling
            }
        elif variable == "gate.overwritten":
            flying = before[scheduler + "running"] | before[scheduler + "last"]
            found |= {r for r in flying if before[f"adapter[{r}]"] in value}
    new = {r for r in after["tokenizer.open"] if r not in before["tokenizer.open"]}
    return found - new


class _Again:
    """Repeats a walk that ended in a difference, to find a shorter way to one."""

    def __init__(
        self,
        program: Program,
        interpreter: Interpreter,
        setting: Setting,
        target: Callable[[], Target],
        start: tuple[int | None, tuple[int, ...]],
    ) -> None:
        self.program, self.interpreter, self.setting, self.target = program, interpreter, setting, target
        self.start = start

    def shortened(self, path: list[Step], difference: Difference) -> tuple[list[Step], Difference]:
        """The path without any stretch of steps that it can do without, and the difference at its end."""
        size = len(path) - 1
        while size:
            shorter = next((f for f in self._without(path, size)), None)
            if shorter is None and size == 1:
                shorter = next((f for f in self._without_two(path)), None)
                if shorter is None:
                    break
            if shorter is None:
                size -= 1
            else:
                path, difference = shorter
                size = min(size, len(path) - 1)
        return path, difference

    def _without(self, path: list[Step], size: int) -> Iterator[tuple[list[Step], Difference]]:
        for place in range(len(path) - size):
            yield from self._still(path[:place] + path[place + size :])

    def _without_two(self, path: list[Step]) -> Iterator[tuple[list[Step], Difference]]:
        for first, second in itertools.combinations(range(len(path) - 1), 2):
            yield from self._still([s for i, s in enumerate(path) if i not in (first, second)])

    def _still(self, path: list[Step]) -> Iterator[tuple[list[Step], Difference]]:
        found = self.difference_of(path)
        if found is not None:
            yield path[: found.step], found

    def difference_of(self, path: Sequence[Step]) -> Difference | None:
        """The first difference along a path; ``None`` if there is none or the model cannot go it."""
        number, numbers = self.start
        state = self.program.start if number is None else self.interpreter.start(number, numbers)
        way = []
        for step in path:
            index = next(i for i, a in enumerate(self.program.actions) if a.name == step.action)
            arguments = self.interpreter.numbers(self.program.actions[index], dict(step.arguments))
            try:
                outcome = self.interpreter.step(state, index, arguments)
            except NotEnabled:
                return None
            way.append((step, state, outcome))
            state = outcome.state
            if outcome.crash is not None:
                break
        run = _Run(self.program, self.setting, self.target())
        for step, before, outcome in way:
            try:
                different = run.take(step, before, outcome.state, outcome.crash)
            except OutOfReach:
                return None
            if different is not None:
                return different
        return None
