"""The model's side of a walk: which steps there are from a state, and which one is taken."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slotproof.checker.explicit.context import arguments_of
from slotproof.checker.explicit.native import native
from slotproof.checker.explicit.paths import Successors, expanded
from slotproof.counterexamples.trace import Step
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.layout import Words
from slotproof.model.language.program import Program

MOST_LOOKED_AT = 5_000
"""States that are looked through for the nearest one with a new step."""

Label = tuple[int, int]
"""The number of an action, and that of its combination of arguments."""


@dataclass(frozen=True)
class Choice:
    """A step that the model can take: its action and arguments by number, and where it leads."""

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
        self.known: dict[bytes, dict[Label, bytes | None]] = {}
        self.plan: deque[Label] = deque()
        self.last: tuple[bytes, Label] | None = None

    @property
    def edges(self) -> int:
        """How many different steps have been taken."""
        return sum(after is not None for steps in self.known.values() for after in steps.values())

    def choose(self, state: Valuation) -> Choice | None:
        """The next step; ``None``: a dead end.

        One that no walk has taken, of a random action; where all have been, one on the way to the nearest
        state with another.
        """
        here, rows, labels = self._from(state)
        if not labels:
            return None
        steps = self.known.setdefault(here, dict.fromkeys(labels))
        label = self._next(here, steps)
        row = labels[label]
        steps[label] = self._key(rows.rows[row])
        self.last = (here, label)
        return self._choice(rows, label, row)

    def forget_last(self) -> None:
        """The step that was chosen last counts as one that no walk has taken: nothing is known of it."""
        if self.last is not None:
            here, label = self.last
            self.known[here][label] = None

    def all_steps(self, state: Valuation) -> Iterator[tuple[Choice, bool]]:
        """Every step from a state, in the order of declaration, and whether a walk has taken it."""
        here, rows, labels = self._from(state)
        taken = self.known.get(here, {})
        for label, row in labels.items():
            yield self._choice(rows, label, row), taken.get(label) is not None

    def _from(self, state: Valuation) -> tuple[bytes, Successors, dict[Label, int]]:
        """A state's key, its successors, and the row of each step that is not left out."""
        words = self.code.layout.pack(self.interpreter.stored(state))
        rows = expanded(self.code, self.context, words)
        labels = {rows.label(row): row for row in range(len(rows.rows))}
        kept = {label: row for label, row in labels.items() if label[0] not in self.left_out}
        return self._key(words), rows, kept

    def _choice(self, rows: Successors, label: Label, row: int) -> Choice:
        outcome = rows.outcome(row, self.program)
        numbers = arguments_of(self.program.actions[label[0]], label[1])
        return Choice(label[0], numbers, outcome.state, outcome.crash)

    def start_afresh(self) -> None:
        """A new walk begins."""
        self.plan.clear()

    def _key(self, words: Words) -> bytes:
        return words[: self.code.layout.words].tobytes()

    def _next(self, here: bytes, steps: Mapping[Label, bytes | None]) -> Label:
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

    def _by_action(self, labels: Iterable[Label]) -> dict[int, list[Label]]:
        found: dict[int, list[Label]] = {}
        for label in labels:
            found.setdefault(label[0], []).append(label)
        return found

    def _way_to_new(self, here: bytes) -> list[Label]:
        """The shortest way through known steps to a state from which one has not been taken."""
        ways: dict[bytes, list[Label]] = {here: []}
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

    def step_of(self, choice: Choice) -> Step:
        """A choice as a step of a trace."""
        action = self.program.actions[choice.number]
        return Step(action.name, self.interpreter.arguments(action, choice.numbers))
