"""One release or candidate beside another: what a change gains, what it loses, and what it does otherwise.

Verdicts come from the engines, one search a side. The two systems are then taken through the steps that both
have (``explicit/pairs.py``), which says how their behaviour differs and whether one refines the other.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from slotproof.checker.explicit.pairs import Divergence, Kind, Pairs
from slotproof.checker.runs import Finding, Subject, chosen, for_subject, program_of
from slotproof.checker.verdict import Coverage, Holds, Unknown, Verdict, Violated
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.lasso import check_lasso
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import call, numbers_of
from slotproof.model.language.errors import ModelError, NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.ir import Action
from slotproof.model.language.program import DEADLOCK, NO_CRASH, Program, no_crash


class Change(enum.Enum):
    """What became of a verdict."""

    LOST = "lost"
    GAINED = "gained"
    KEPT = "kept"
    UNKNOWN = "unknown"
    NEW = "new"
    """Only the candidate is asked: the base cannot do what the property is about."""
    DROPPED = "dropped"
    """Only the base is asked."""


@dataclass(frozen=True)
class Side:
    """A release or a candidate as it was named, and what is searched for it in each scenario."""

    label: str
    subjects: Mapping[str, Subject]


@dataclass(frozen=True)
class Row:
    """What became of one property in one scenario; a verdict is ``None`` where it was not asked.

    ``notes`` are ``shorter``, ``longer`` and ``other cause``, where both sides violate it.
    """

    scenario: str
    name: str
    engine: str
    change: Change
    base: Verdict | None
    candidate: Verdict | None
    notes: tuple[str, ...] = ()
    trace: Path | None = None

    @property
    def telling(self) -> tuple[str, Violated] | None:
        """The violation to look at and whose it is: the candidate's, or the base's where that is gone."""
        if isinstance(self.candidate, Violated):
            return "candidate", self.candidate
        return ("base", self.base) if isinstance(self.base, Violated) else None

    @property
    def reason(self) -> str | None:
        """Why it is unknown."""
        found = [f"{v.reason}" for v in (self.base, self.candidate) if isinstance(v, Unknown)]
        return "; ".join(dict.fromkeys(found)) or None


class Relation(enum.Enum):
    """How the two sides' runs relate."""

    SAME = "same"
    REFINES = "refines"
    REFINED = "refined"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Only:
    """A shortest run after which one side can take a step that the other cannot."""

    steps: int
    step: str
    reasons: tuple[str, ...]
    both: bool
    """Both can take it, and it leads to something else."""
    trace: Trace
    path: Path | None = None


@dataclass(frozen=True)
class Behaviour:
    """How the two sides' runs relate in one scenario; ``why`` says more where it is short."""

    scenario: str
    relation: Relation
    base_can: Only | None = None
    candidate_can: Only | None = None
    pairs: int = 0
    seconds: float = 0.0
    why: str | None = None
    start: tuple[str, ...] = ()
    only_base: tuple[str, ...] = ()
    only_candidate: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Where the runs are the same: whether what the two sides answer otherwise comes up at all."""


@dataclass
class Comparison:
    """All that one ``compare`` found."""

    base: Side
    candidate: Side
    rows: list[Row] = field(default_factory=list)
    behaviours: list[Behaviour] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """The scenarios in which a search ended in an error."""
    interrupted: bool = False
    coverages: dict[tuple[str, bool], tuple[Coverage, bool]] = field(default_factory=dict)
    """How far each search went, by scenario and whether it is the base's; and whether it was remembered."""

    @property
    def status(self) -> int:
        """The exit status: 2 wrong use, 1 something is lost, 3 something is unknown, else 0."""
        if self.failures:
            return 2
        if any(r.change is Change.LOST for r in self.rows):
            return 1
        unknown = any(r.change is Change.UNKNOWN for r in self.rows)
        unknown |= any(b.relation is Relation.UNKNOWN for b in self.behaviours)
        return 3 if unknown or self.interrupted else 0


def rows_of(
    scenario: str,
    base: tuple[Subject, Finding],
    candidate: tuple[Subject, Finding],
    asked: Sequence[str] | None,
) -> list[Row]:
    """What became of each property of a scenario, in the order of the candidate's properties.

    Where a search ended in an error, the only rows are of what it was certain of before.
    """
    before, after = (for_subject(finding, subject) for subject, finding in (base, candidate))
    programs = program_of(base[0]), program_of(candidate[0])
    engine = candidate[1].search.engine
    found = []
    for name in dict.fromkeys([*after, *before]):
        if asked is not None and name not in asked:
            continue
        one, other = before.get(name), after.get(name)
        sides = (one, base[1].failure is not None), (other, candidate[1].failure is not None)
        if any(verdict is None and failed for verdict, failed in sides):
            continue
        if name.startswith(NO_CRASH):  # what a side has no word for cannot happen to it
            one = Holds(name, _coverage(before)) if one is None else one
            other = Holds(name, _coverage(after)) if other is None else other
        change = changed(one, other)
        notes: tuple[str, ...] = ()
        if isinstance(one, Violated) and isinstance(other, Violated):
            there = still_there(one.trace, programs[1], chosen(candidate[0], programs[1]))
            notes = _notes(one, other, there)
        found.append(Row(scenario, name, engine, change, one, other, notes))
    return found


def changed(base: Verdict | None, candidate: Verdict | None) -> Change:
    """What became of a verdict. What is unknown on either side is never kept."""
    match base, candidate:
        case None, _:
            return Change.NEW
        case _, None:
            return Change.DROPPED
        case (Unknown(), _) | (_, Unknown()):
            return Change.UNKNOWN
        case Holds(), Violated():
            return Change.LOST
        case Violated(), Holds():
            return Change.GAINED
        case _:
            return Change.KEPT


def _coverage(verdicts: Mapping[str, Verdict]) -> Coverage:
    return next(iter(verdicts.values())).coverage


def _notes(base: Violated, candidate: Violated, still: bool) -> tuple[str, ...]:
    notes = []
    if len(candidate.trace) != len(base.trace):
        notes.append("shorter" if len(candidate.trace) < len(base.trace) else "longer")
    if not still:
        notes.append("other cause")
    return tuple(notes)


def still_there(trace: Trace, program: Program, choices: Mapping[str, str]) -> bool:
    """Whether a violation happens on another system by the same steps."""
    interpreter = Interpreter(program, program.choices(choices))
    try:
        path = [_numbered(program.actions, step) for step in trace.steps]
        start: tuple[int | None, tuple[int, ...]] = None, ()
        if trace.start is not None:
            start = _numbered(program.initial, trace.start)
        states, crash = interpreter.walk(start, path)
    except (NotEnabled, ModelError, KeyError, StopIteration):
        return False
    if trace.loop is not None:
        there = replace(trace, states=tuple(states), choices=dict(choices))
        try:
            check_lasso(there, program, interpreter)
        except TraceError:
            return False
        return True
    if trace.property.startswith(NO_CRASH):
        return crash is not None and trace.property == no_crash(crash)
    if trace.property == DEADLOCK:
        last = states[-1]
        return next(interpreter.successors(last), None) is None and not interpreter.final(last)
    index = next(i for i, p in enumerate(program.properties) if p.name == trace.property)
    judged = program.properties[index]
    if judged.over == "state":
        return not all(interpreter.holds(index, None, (), states[-1]))
    last_action, arguments = path[-1]
    if judged.actions is not None and last_action not in judged.actions:
        return False
    return not all(interpreter.holds(index, states[-2], arguments if judged.parameters else (), states[-1]))


def _numbered(actions: Sequence[Action], step: Step) -> tuple[int, tuple[int, ...]]:
    number = next(i for i, a in enumerate(actions) if a.name == step.action)
    return number, numbers_of(actions[number], step)


def untouched(scenario: str) -> Behaviour:
    """Both sides are one system in this scenario."""
    return Behaviour(scenario, Relation.SAME, why="no decision, action or size of it differs")


def add_notes(found: Comparison) -> None:
    """Say of each scenario in which nothing differs whether the change has a part in it."""
    from slotproof.checker.asked import notes

    changed = {r.scenario for r in found.rows if r.change in (Change.LOST, Change.GAINED)}
    same = {b.scenario for b in found.behaviours if b.relation is Relation.SAME} - changed
    if not same or found.interrupted:
        return
    sides = {n: (found.base.subjects[n], found.candidate.subjects[n]) for n in found.base.subjects}
    told = notes(sides, same)
    found.behaviours = [replace(b, notes=tuple(told.get(b.scenario, ()))) for b in found.behaviours]


def behaviour_of(scenario: str, base: Subject, candidate: Subject, found: Pairs) -> Behaviour:
    """How the runs of the two sides relate, by what was found of their pairs."""
    base_can = None if found.first_can is None else _only(found.first_can, found.first_can.first, base)
    candidate_can = (
        None if found.second_can is None else _only(found.second_can, found.second_can.second, candidate)
    )
    relation = {
        (False, False): Relation.SAME,
        (True, False): Relation.REFINES,
        (False, True): Relation.REFINED,
        (True, True): Relation.DIFFERS,
    }[bool(base_can) or found.first_starts, bool(candidate_can) or found.second_starts]
    if found.stopped is not None and relation is not Relation.DIFFERS:
        relation = Relation.UNKNOWN
    return Behaviour(
        scenario,
        relation,
        base_can,
        candidate_can,
        found.pairs,
        found.seconds,
        found.stopped,
        found.start,
        found.only_first,
        found.only_second,
    )


def _only(divergence: Divergence, run: Trace, subject: Subject) -> Only:
    program = program_of(subject)
    named = replace(run, release=subject.release, choices=chosen(subject, program))
    return Only(
        len(run),
        call(divergence.step),
        divergence.reasons,
        divergence.kind is Kind.OTHERWISE,
        named,
    )
