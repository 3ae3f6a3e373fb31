"""A shorter way to a difference between model and target, and whether there is none.

First whatever the way can do without is left out. Then every shorter way is gone through, breadth first over
the model's states: one way to each state, and each step from there that no walk has compared, driven anew.
The first step that differs ends a shortest way. What that rests on is what the comparison itself rests on:
that a target whose state is the model's goes on alike, however it got there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from slotproof.counterexamples.replay.drive import Drive
from slotproof.counterexamples.replay.driver import OutOfReach, Setting, Target
from slotproof.counterexamples.replay.run import Difference
from slotproof.counterexamples.replay.walker import Walker
from slotproof.counterexamples.trace import Step
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import NotEnabled

MOST_RUNS = 300
"""Ways that are driven in search of a shorter one; on real code each takes a second or so."""

Start = tuple[Setting, Valuation]
"""An initial state of the model, and what makes a target begin there."""


@dataclass(frozen=True)
class Way:
    """From an initial state to the step, the last, with which model and target part."""

    setting: Setting
    state: Valuation
    path: tuple[Step, ...]
    difference: Difference


@dataclass(frozen=True)
class Shortest:
    """A way, and whether every shorter one has been gone through."""

    way: Way
    proven: bool


class Shorter:
    """Drives ways on fresh targets. ``walker`` knows the steps that walks have compared."""

    def __init__(self, walker: Walker, starts: Sequence[Start], target: Callable[[], Target]) -> None:
        self.walker, self.starts, self.target = walker, starts, target
        self.program, self.interpreter = walker.program, walker.interpreter

    def of(self, way: Way) -> Shortest:
        """A shortest way to a difference if ``MOST_RUNS`` runs are enough to tell, else a short one."""
        return self.breadth_first(self.without_stretches(way))

    def without_stretches(self, way: Way) -> Way:
        """The way without any stretch of steps, or two single ones, that it can do without."""
        size = len(way.path) - 1
        while size > 0:
            shorter = next(self._without(way, size), None)
            if shorter is None and size == 1:
                shorter = next(self._without_two(way), None)
                if shorter is None:
                    break
            if shorter is None:
                size -= 1
            else:
                way = shorter
                size = min(size, len(way.path) - 1)
        return way

    def breadth_first(self, way: Way) -> Shortest:
        """The first way in the order of length that ends in a difference; ``way`` if there is no shorter."""
        runs = 0
        stored = self.interpreter.stored
        seen = {stored(state) for _, state in self.starts}
        level: list[tuple[Start, tuple[Step, ...], Valuation]] = [((g, s), (), s) for g, s in self.starts]
        for _ in range(len(way.path) - 1):
            following = []
            for start, path, state in level:
                for choice, compared in self.walker.all_steps(state):
                    longer = (*path, self.walker.step_of(choice))
                    if not compared:
                        if runs == MOST_RUNS:
                            return Shortest(way, False)
                        runs += 1
                        found = self.difference_of(start, longer)
                        if found is not None:
                            return Shortest(Way(*start, longer[: found.step], found), True)
                    if choice.crash is None and stored(choice.after) not in seen:
                        seen.add(stored(choice.after))
                        following.append((start, longer, choice.after))
            level = following
        return Shortest(way, True)

    def _without(self, way: Way, size: int) -> Iterator[Way]:
        for place in range(len(way.path) - size):
            yield from self._still(way, way.path[:place] + way.path[place + size :])

    def _without_two(self, way: Way) -> Iterator[Way]:
        for pair in itertools.combinations(range(len(way.path) - 1), 2):
            yield from self._still(way, tuple(s for i, s in enumerate(way.path) if i not in pair))

    def _still(self, way: Way, path: tuple[Step, ...]) -> Iterator[Way]:
        found = self.difference_of((way.setting, way.state), path)
        if found is not None:
            yield Way(way.setting, way.state, path[: found.step], found)

    def difference_of(self, start: Start, path: Sequence[Step]) -> Difference | None:
        """The first difference along a path; ``None`` if there is none or the model cannot go it."""
        setting, state = start
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
        run = Drive(self.program, setting, self.target())
        for step, before, outcome in way:
            if run.target.beyond():
                return None
            try:
                different = run.take(step, before, outcome.state, outcome.crash)
            except OutOfReach:
                return None
            if different is not None:
                return different
        return None
