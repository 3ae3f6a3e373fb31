"""Conformance, from the code to the model: the server runs by itself, and its log is a path of the model.

``consistent`` searches for a path. A log has one entry for each thing that the outside has seen: an action
with the arguments that are known, and the state afterwards as far as it was seen. What the code cannot see
(the moment a copy ends, the cut of a pass) is left open: hidden steps may lie between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slotproof.checker.explicit.context import arguments_of
from slotproof.checker.explicit.native import native
from slotproof.checker.explicit.paths import expanded
from slotproof.counterexamples.replay.driver import Plain
from slotproof.counterexamples.replay.states import Flat, plain_argument
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program


@dataclass(frozen=True)
class Seen:
    """One entry of a log.

    ``action`` with those of its ``arguments`` that are known; it may be followed by steps of ``then``, in
    any number, before ``state`` was seen. ``state``: variables and their values, not all of them. ``crash``:
    the cause, if the server died.
    """

    action: str
    arguments: Mapping[str, Plain] = field(default_factory=dict)
    then: frozenset[str] = frozenset()
    state: Mapping[str, Plain] = field(default_factory=dict)
    crash: str | None = None


@dataclass(frozen=True)
class Verdict:
    """How much of a log is a path of the model: all of it, or its first ``accepted`` entries.

    ``nearest`` is, where an entry has no step, the variable in which the model's nearest state differs.
    """

    accepted: int
    entries: int
    nearest: str | None = None

    @property
    def whole(self) -> bool:
        """Whether the model has the whole log."""
        return self.accepted == self.entries


class Paths:
    """Which states of the model a log may have come to."""

    def __init__(self, program: Program, choices: Sequence[int], hidden: frozenset[str]) -> None:
        self.program = program
        self.flat = Flat(program)
        self.hidden = hidden
        self.interpreter = Interpreter(program, choices)
        self.code = native(program)
        self.context = self.code.slots.fresh(tuple(choices))

    def consistent(self, log: Sequence[Seen], starts: Sequence[Valuation] | None = None) -> Verdict:
        """Follow a log from the initial states; ``Verdict.accepted`` is the longest prefix with a path."""
        states = set(starts if starts is not None else [s for _, _, s in self.interpreter.initial()])
        for number, entry in enumerate(log):
            reached = self._after(states, entry)
            if isinstance(reached, str):
                return Verdict(number, len(log), reached)
            states = reached
        return Verdict(len(log), len(log))

    def _after(self, states: set[Valuation], entry: Seen) -> set[Valuation] | str:
        """The states after an entry; if there is none, how the nearest differs."""
        frontier = self._closure(states, self.hidden, None)
        reached: set[Valuation] = set()
        for state in frontier:
            for action, arguments, after, crash in self._steps(state):
                if action == entry.action and all(arguments[n] == v for n, v in entry.arguments.items()):
                    if crash == entry.crash and crash is not None:
                        return {after}
                    if crash is None:
                        reached.add(after)
        reached = self._closure(reached, entry.then, entry.crash)
        if entry.crash is not None:
            return reached or f"{entry.action} does not crash with {entry.crash}"
        seen = {state for state in reached if self._differs(state, entry) is None}
        if seen:
            return seen
        if not reached:
            return f"{entry.action} is not possible"
        return min((self._differs(state, entry) or "" for state in reached), key=len)

    def _closure(self, states: set[Valuation], actions: frozenset[str], crash: str | None) -> set[Valuation]:
        """All states that steps of these actions lead to, those from which they start included."""
        found, work = set(states), list(states)
        if not actions:
            return found
        crashed: set[Valuation] = set()
        while work:
            for action, _, after, cause in self._steps(work.pop()):
                if action not in actions:
                    continue
                if cause is not None and cause == crash:
                    crashed.add(after)
                elif cause is None and after not in found:
                    found.add(after)
                    work.append(after)
        return crashed if crash is not None else found

    def _steps(self, state: Valuation) -> list[tuple[str, dict[str, Plain], Valuation, str | None]]:
        rows = expanded(self.code, self.context, self.code.layout.pack(self.interpreter.stored(state)))
        steps = []
        for row in range(len(rows.rows)):
            number, combination = rows.label(row)
            action = self.program.actions[number]
            values = self.interpreter.arguments(action, arguments_of(action, combination))
            outcome = rows.outcome(row, self.program)
            plain = {name: plain_argument(value) for name, value in values.items()}
            steps.append((action.name, plain, outcome.state, outcome.crash))
        return steps

    def _differs(self, state: Valuation, entry: Seen) -> str | None:
        model = self.flat(state)
        for name, value in entry.state.items():
            if model[name] != value:
                return f"{name} is {model[name]} in the model and {value} in the log"
        return None
