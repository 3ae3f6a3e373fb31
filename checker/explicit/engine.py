"""The engine ``explicit``: every reachable state is visited once, nearest first.

    exploration = explore(program, choices)
    exploration.verdicts()["no-slot-leak"]

The whole graph is searched; a violation does not stop it. Each conjunct of a property, each crash
cause and the deadlock keep their first violation, which is a shortest one, and always the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slotproof.checker.explicit.context import arguments_of
from slotproof.checker.explicit.native import native
from slotproof.checker.explicit.paths import Paths, expanded
from slotproof.checker.explicit.registers import NO_PARENT
from slotproof.checker.explicit.search import Progress, Report, Search
from slotproof.checker.explicit.symmetry import assert_interchangeable
from slotproof.checker.vacuity import judged
from slotproof.checker.verdict import Coverage, Limits, Verdict, Violated
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError
from slotproof.model.language.interpreter import Outcome
from slotproof.model.language.program import DEADLOCK, Program, no_crash
from slotproof.model.language.slicing import Slice, sliced
from slotproof.model.language.symmetry import group

__all__ = ["Exploration", "Progress", "Violation", "explore", "layers", "reached", "successors"]


@dataclass(frozen=True, slots=True)
class Violation:
    """The first violation of conjunct number ``conjunct`` of a property, with the conjunct's source."""

    property: str
    conjunct: int
    part: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a search has covered and found."""

    program: Program
    coverage: Coverage
    violations: tuple[Violation, ...]
    asked: tuple[str, ...] | None = None
    """The properties that were asked for; ``None`` means all."""
    error: ModelError | None = None
    """What ended the search: a step, a property or a witness that left the model."""

    def verdicts(self) -> dict[str, Verdict]:
        """A verdict for each property, ``deadlock`` and ``no-crash-<cause>`` of each cause, as asked.

        After a model error only for those that are violated: nothing else is certain then.
        """
        names = self.program.safety
        found = {name: self._verdict(name) for name in names if self.asked is None or name in self.asked}
        return {n: v for n, v in found.items() if self.error is None or isinstance(v, Violated)}

    def _verdict(self, name: str) -> Verdict:
        traces = [v.trace for v in self.violations if v.property == name]
        if traces:
            return Violated(name, tuple(sorted(traces, key=len)), self.coverage)
        return judged(self.program, name, self.coverage)


def explore(
    program: Program,
    choices: tuple[int, ...] = (),
    *,
    limits: Limits | None = None,
    progress: Report | None = None,
    workers: int = 1,
    symmetric: bool = False,
    asked: Sequence[str] | None = None,
    partial: bool = False,
) -> Exploration:
    """Search all reachable states of a program under one release's choices.

    Every number of ``workers`` (threads) gives the same answer, traces included. With ``symmetric`` one
    state is visited of each orbit of the system's interchangeable elements, and the coverage counts those;
    ``LanguageError`` if the declaration is found to be wrong. Where properties are ``asked`` by name, the
    others have no verdict, and what cannot influence those that are is not searched.
    A limit, SIGINT or SIGTERM ends in an incomplete coverage. ``progress`` is called a few times a
    second. Raises ``ModelError`` where a step leaves the model, as the interpreter words it; with ``partial``
    it is returned with what was found before: states come nearest first, so that a violation among them is
    certain, and its trace a shortest one.
    """
    if symmetric:
        assert_interchangeable(program, choices)
    part = None if asked is None else sliced(program, asked)
    searched = program if part is None else part.program
    search = Search(searched, choices, limits or Limits(), workers, symmetric=symmetric)
    stopped = search.run(progress)
    paths = Paths(search, program, None if part is None else part.kept)
    error: ModelError | None = None
    if search.broken is not None:
        try:
            paths.error(search.broken)
        except ModelError as raised:
            if not partial:
                raise
            error = raised
    coverage = coverage_of(search, stopped)
    if part is not None:
        fired = {name: number for name, number in coverage.fired.items() if name not in part.actions}
        notes = (*coverage.notes, *_left_out(part))
        coverage = replace(coverage, fired=fired, notes=notes, asked=tuple(asked or ()))
    violations = tuple(_violations(search, paths, coverage.asked))
    return Exploration(program, coverage, violations, coverage.asked, error)


def _left_out(part: Slice) -> list[str]:
    """What of a program was not searched, in words."""
    lines = []
    if part.columns:
        lines.append(f"sliced: {', '.join(part.columns)} cannot make a difference to what is asked")
    if part.actions:
        lines.append(f"sliced: steps of {', '.join(part.actions)} cannot make a difference to what is asked")
    return lines


def coverage_of(search: Search, stopped: str | None) -> Coverage:
    """What a search that ended (``stopped`` early, if it did) has seen."""
    program, slots, context = search.program, search.native.slots, search.context
    fired = {a.name: int(context[slots.fired + i]) for i, a in enumerate(program.actions)}
    fired.update(dict.fromkeys(program.dropped, 0))
    depths = {w.name: int(context[slots.witness(i)]) - 1 for i, w in enumerate(program.witnesses)}
    return Coverage(
        states=search.states,
        transitions=search.transitions,
        depth=search.depth,
        seconds=search.seconds,
        complete=stopped is None,
        stopped=stopped,
        fired=fired,
        premises=tuple(bool(x) for x in context[slots.premises : slots.premises + len(program.premises)]),
        witnesses={name: depth if depth >= 0 else None for name, depth in depths.items()},
        notes=_notes(search),
    )


def _notes(search: Search) -> tuple[str, ...]:
    if not search.symmetric:
        return ()
    count = len(group(search.program))
    declared = ", ".join(map(str, search.program.system.interchangeable))
    return (f"one state of each orbit of {count} renamings: {declared}",)


def _violations(search: Search, paths: Paths, asked: Sequence[str] | None) -> list[Violation]:
    program, slots, context = search.program, search.native.slots, search.context
    found = []
    for part in slots.parts:
        slot = slots.part(part.property, part.conjunct)
        if context[slot]:
            property_ = program.properties[part.property]
            label = int(context[slot + 1]) if property_.over == "step" else None
            text = property_.conjuncts[part.conjunct].site.text
            conjunct = part.property, part.conjunct
            try:
                trace = paths.trace(property_.name, text, int(context[slot]) - 1, label, conjunct)
            except ModelError:  # of another step of the same state, which is one of an orbit
                continue
            paths.confirm(part.property, part.conjunct, trace, None if label is None else paths.label)
            found.append(Violation(property_.name, part.conjunct, text, trace))
    for i, cause in enumerate(program.crashes):
        if context[slots.crash(i)] and (asked is None or no_crash(cause) in asked):
            trace = paths.trace(no_crash(cause), f"crash({cause!r})", int(context[slots.crash(i)]) - 1)
            found.append(Violation(no_crash(cause), 0, trace.part, trace))
    if context[slots.deadlock] and (asked is None or DEADLOCK in asked):
        trace = paths.trace(DEADLOCK, "some step is possible", int(context[slots.deadlock]) - 1)
        paths.confirm_deadlock(trace)
        found.append(Violation(DEADLOCK, 0, trace.part, trace))
    return found


def reached(program: Program, choices: tuple[int, ...] = (), depth: int | None = None) -> list[list[Outcome]]:
    """The reachable states by depth (down to a limit), crash states with their causes. For small systems."""
    search = Search(program, choices, Limits(depth=depth))
    search.run()
    if search.broken is not None:
        Paths(search).error(search.broken)
    layout, store = search.native.layout, search.store
    words = store.arena[: search.states * store.words].reshape(-1, store.words)
    depths: list[int] = []
    found: list[list[Outcome]] = []
    for i, state in enumerate(layout.unpack_all(words)):
        parent = int(store.parents[i])
        depths.append(0 if parent == NO_PARENT else depths[parent] + 1)
        cause = layout.crashed(words[i])
        if depths[i] == len(found):
            found.append([])
        found[depths[i]].append(Outcome(state, None if cause is None else program.crashes[cause]))
    return found


def layers(program: Program, choices: tuple[int, ...] = ()) -> list[list[Valuation]]:
    """All reachable states that are no crash states, by depth. For small systems."""
    return [[o.state for o in layer if o.crash is None] for layer in reached(program, choices)]


def successors(
    program: Program, choices: tuple[int, ...], state: Valuation
) -> list[tuple[int, tuple[int, ...], Outcome]]:
    """What native code gives for ``Interpreter.successors``: every step's action, arguments, outcome.

    ``ModelError`` (without the interpreter's words) if a step from this state leaves the model.
    """
    code = native(program)
    rows = expanded(code, code.slots.fresh(choices), code.layout.pack(state))
    found = []
    for row in range(len(rows.rows)):
        action, combination = rows.label(row)
        found.append((action, arguments_of(program.actions[action], combination), rows.outcome(row, program)))
    return found
