"""What is searched, in which order, and by whom: cells of the matrix that agree share one search.

A cell is one (release, scenario, engine). Two cells with the same compiled system and equal choices at
the decisions that it uses have the same graph; one search answers both. Searches go to worker processes;
a limit or an interrupt ends some of them early and keeps what the others found.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from slotproof.checker.candidatefile import load_candidate, replaced
from slotproof.checker.systemfile import load_system, located, parse_settings
from slotproof.checker.usage import UsageProblem, one_of
from slotproof.checker.verdict import Coverage, Limits, Unknown, Verdict, Violated
from slotproof.model.language.errors import LanguageError, ModelError
from slotproof.model.language.program import Program
from slotproof.model.language.system import System

if TYPE_CHECKING:
    from slotproof.checker.symbolic.proving import Helped
    from slotproof.model.releases import Release

REACHABLE = "reachable-states"
"""What is reported of a system without properties: that its graph was searched to the end."""

EXPLICIT = "explicit"
"""The engine that goes through all states; no other can count them."""

AT_ANY_DEPTH = ("induction", "pdr")
"""The engines that look for a proof and visit no states; they use the lemmas of a scenario."""

ENGINES = (EXPLICIT, "bounded", *AT_ANY_DEPTH, "temporal")

TEMPORAL = "temporal"
"""The engine for progress properties. It answers for nothing else, and no other engine answers for them."""

DEFAULT_ENGINES = (EXPLICIT, TEMPORAL)


@dataclass(frozen=True, slots=True)
class Subject:
    """A system by what names it, so that another process can build it again.

    Either a scenario on a release, or a system file; ``settings`` are the texts of ``--set``. With a
    ``candidate``, the file that defines it, ``release`` is the candidate's name (``0.5.23+gate``). With
    ``lemmas`` those of the scenario are among its properties.
    """

    scenario: str | None
    release: str | None
    full: bool
    file: str | None
    settings: tuple[str, ...]
    candidate: str | None = None
    lemmas: bool = False

    @property
    def size(self) -> str:
        """Which of a scenario's sizes it has."""
        return "full" if self.full else "quick"


@dataclass(frozen=True, slots=True)
class Search:
    """One run of one engine, and the subjects that it answers; the first stands for all."""

    engine: str
    subjects: tuple[Subject, ...]
    choices: tuple[int, ...]
    properties: tuple[str, ...] | None
    """The properties that are asked for; ``None`` means all."""
    workers: int = 1
    """How many threads it may use; the answer is the same for any number."""
    symmetric: bool = False
    """Whether one state of each orbit of the system's interchangeable elements is searched."""

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        first = self.subjects[0]
        releases = [s.release for s in self.subjects if s.release]
        last = f" to {releases[-1]}" if len(releases) > 1 else ""
        return f"{first.scenario or first.file} {releases[0] if releases else ''}{last}".strip()


@dataclass(frozen=True)
class Finding:
    """What a search answers: a verdict for each property."""

    search: Search
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    coverage: Coverage | None = None
    failure: str | None = None
    """What ended the search before it could answer, such as an error of the model at its line.

    The verdicts are then those alone that were certain before.
    """
    remembered: bool = False
    """Whether an earlier run has answered (``remembered.py``)."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a search is; what an engine does not count is 0."""

    states: int
    transitions: int
    depth: int
    queue: int


Progress = Callable[[Any], None]
"""Called now and then with an engine's own object of states, transitions, depth and queue."""


def status_of(raw: Any) -> Status:
    """How far an engine says that it is."""
    return Status(*(getattr(raw, name, 0) for name in ("states", "transitions", "depth", "queue")))


def build(subject: Subject) -> System:
    """The system of a subject, with its settings; not compiled yet."""
    settings = parse_settings(subject.settings)
    if subject.file is not None:
        return load_system(subject.file).with_parameters(**settings)
    from slotproof.properties import SCENARIOS

    assert subject.scenario is not None
    scenario = SCENARIOS[subject.scenario]
    system: System = scenario.system(decided(subject), full=subject.full, lemmas=subject.lemmas)
    return system.with_parameters(**settings)


def decided(subject: Subject) -> Release:
    """The release or candidate of a subject that is a scenario."""
    from slotproof.model.releases import release

    assert subject.release is not None
    return load_candidate(subject.candidate) if subject.candidate else release(subject.release)


def lemmas_of(subject: Subject) -> tuple[str, ...]:
    """The names of the lemmas that go with a subject, in their order."""
    if subject.scenario is None or not subject.lemmas:
        return ()
    from slotproof.properties import SCENARIOS

    return tuple(lemma.name for lemma in SCENARIOS[subject.scenario].lemmas)


def costly_lemmas_of(subject: Subject) -> tuple[str, ...]:
    """The names of those lemmas that are asked about only where the others do not suffice."""
    if subject.scenario is None:
        return ()
    from slotproof.properties import SCENARIOS

    return tuple(lemma.name for lemma in SCENARIOS[subject.scenario].costly)


def program_of(subject: Subject) -> Program:
    """The compiled system of a subject. Subjects that differ in their choices alone share one."""
    if subject not in _programs:
        _programs[subject] = _compiled_once(subject)
    return _programs[subject]


def programs_of(subjects: Sequence[Subject]) -> list[Program]:
    """The different programs of some subjects. Releases share that of a candidate beside them."""
    for subject in sorted(subjects, key=lambda s: s.candidate is None):
        program_of(subject)
    return list({id(p): p for p in map(program_of, subjects)}.values())


def start_afresh() -> None:
    """Forget compiled systems: files may have changed since an earlier command of this process."""
    _programs.clear()
    _compiled.clear()


_programs: dict[Subject, Program] = {}
_compiled: list[tuple[System, Program]] = []


def _compiled_once(subject: Subject) -> Program:
    named = subject.file or subject.candidate or f"scenario {subject.scenario}"
    try:
        system = build(subject)
    except (LanguageError, ModelError) as error:
        raise UsageProblem(located(error, named)) from None
    key = replace(system, choices={})
    for known, program in _compiled:
        if _serves(known, key):
            return program
    from slotproof.model.language.compile import compile_system

    try:
        program = compile_system(system)
    except (LanguageError, ModelError) as error:
        raise UsageProblem(located(error, named)) from None
    _compiled.append((key, program))
    return program


def _serves(a: System, b: System) -> bool:
    """Whether system ``a``, compiled, is ``b`` under some choices. Their parts are compared by identity.

    It may have more alternatives than ``b``: those of a candidate beside those of the releases.
    """
    sequences = all(
        len(x) == len(y) and all(p is q or p == q for p, q in zip(x, y, strict=True))
        for x, y in (
            (a.actions, b.actions),
            (a.initial, b.initial),
            (a.properties, b.properties),
            (a.witnesses, b.witnesses),
            (a.fairness, b.fairness),
            (a.interchangeable, b.interchangeable),
        )
    )
    answers = len(a.decisions) == len(b.decisions) and all(
        x.point is y.point and set(y.functions) <= set(x.functions)
        for x, y in zip(a.decisions, b.decisions, strict=True)
    )
    return (
        sequences
        and answers
        and (a.name, a.state, a.final, dict(a.parameters))
        == (
            b.name,
            b.state,
            b.final,
            dict(b.parameters),
        )
    )


def chosen(subject: Subject, program: Program) -> dict[str, str]:
    """The alternative in force at each decision that the program uses."""
    given = build(subject).choices
    try:
        return {point.name: given[point.name] for point in program.decisions}
    except KeyError as missing:
        raise UsageProblem(
            f"{subject.file or subject.scenario}: no alternative is chosen for decision {missing};"
            " write System(…, choices={…})"
        ) from None


def plan(
    subjects: Sequence[Subject], engines: Sequence[str], properties: Sequence[str] | None
) -> list[Search]:
    """One search for all subjects that have the same program and choices, in the order of the subjects.

    There is none where an engine has nothing to answer.
    """
    groups: dict[tuple[str, str, tuple[int, ...]], list[Subject]] = {}
    for engine in engines:
        for subject in subjects:
            program = program_of(subject)
            if not _answers(engine, program, properties):
                continue
            choices = program.choices(chosen(subject, program))
            groups.setdefault((engine, program.digest, choices), []).append(subject)
    asked = None if properties is None else tuple(properties)
    return [Search(engine, tuple(group), choices, asked) for (engine, _, choices), group in groups.items()]


def _answers(engine: str, program: Program, properties: Sequence[str] | None) -> bool:
    runs = names_of(program, TEMPORAL)
    if engine == TEMPORAL:
        return any(properties is None or name in properties for name in runs)
    others = runs if engine == EXPLICIT else [*runs, REACHABLE]
    return properties is None or not properties or any(name not in others for name in properties)


def perform(search: Search, limits: Limits, progress: Progress | None) -> Finding:
    """Run one search here and now. Errors of the user's model are part of the finding."""
    try:
        program = program_of(search.subjects[0])
        return _engine(search.engine)(search, program, limits, progress)
    except ModelError as error:
        return Finding(search, failure=model_error(search, error))
    except LanguageError as error:
        return Finding(search, failure=located(error, search.title))
    except UsageProblem as error:
        return Finding(search, failure=str(error))


def under(error: LanguageError | ModelError, *subjects: Subject) -> str:
    """Which changes an error of the model comes up under, where candidates alone meet it; or nothing.

    The line of the error is often one of the server, and the reason is the change.
    """
    changed = subjects[0].candidate
    if changed is None or any(subject.candidate is None for subject in subjects):
        return ""
    if error.site is not None and os.path.realpath(error.site.file) == os.path.realpath(changed):
        return ""
    return f"; it comes up under {changed}, which replaces {', '.join(replaced(changed))}"


def model_error(search: Search, error: ModelError) -> str:
    """A model error that ended a search, in one line."""
    return f"{search.title}: model error: {error}{under(error, *search.subjects)}"


def load_engine(name: str) -> None:
    """Import an engine and what it needs; this takes a second."""
    importlib.import_module(MODULES[name])


MODULES = {
    "explicit": "slotproof.checker.explicit.engine",
    "bounded": "slotproof.checker.symbolic.engine",
    "induction": "slotproof.checker.symbolic.proving",
    "pdr": "slotproof.checker.symbolic.proving",
    TEMPORAL: "slotproof.checker.temporal",
}


def _engine(name: str) -> Callable[[Search, Program, Limits, Progress | None], Finding]:
    return {"explicit": _explicit, "bounded": _bounded, TEMPORAL: _temporal}.get(name, _unbounded)


def _explicit(search: Search, program: Program, limits: Limits, progress: Progress | None) -> Finding:
    from slotproof.checker.explicit.engine import explore

    exploration = explore(
        program,
        search.choices,
        limits=limits,
        progress=progress,
        workers=search.workers,
        symmetric=search.symmetric and bool(program.system.interchangeable),
        asked=None if search.properties is None or REACHABLE in search.properties else search.properties,
        partial=True,
    )
    error = exploration.error
    failure = None if error is None else model_error(search, error)
    return Finding(search, dict(exploration.verdicts()), exploration.coverage, failure)


def _bounded(search: Search, program: Program, limits: Limits, progress: Progress | None) -> Finding:
    from slotproof.checker.symbolic.engine import check_bounded

    names = names_of(program)
    asked = [n for n in names if search.properties is None or n in search.properties]
    errors: list[ModelError] = []
    verdicts = dict(
        check_bounded(program, search.choices, asked, limits=limits, progress=progress, broken=errors.append)
    )
    # A violation is counted up to its own depth; what went deepest says how far the search came.
    coverage = max((v.coverage for v in verdicts.values()), key=lambda c: c.depth, default=None)
    if coverage is not None and errors:
        coverage = replace(coverage, stopped="model error")
    elif coverage is not None and all(isinstance(v, Violated) for v in verdicts.values()):
        coverage = replace(coverage, stopped="ended when every property was violated")
    failure = model_error(search, errors[0]) if errors else None
    return Finding(search, verdicts, coverage, failure)


def _temporal(search: Search, program: Program, limits: Limits, progress: Progress | None) -> Finding:
    from slotproof.checker.temporal import check_progress

    found = check_progress(program, search.choices, search.properties, limits=limits, progress=progress)
    return Finding(search, found.verdicts, found.coverage)


def _unbounded(search: Search, program: Program, limits: Limits, progress: Progress | None) -> Finding:
    from slotproof.checker.symbolic.proving import METHODS, check_unbounded

    method = next(m for m in METHODS if m == search.engine)
    asked = [n for n in names_of(program) if search.properties is None or n in search.properties]
    verdicts = check_unbounded(
        program,
        search.choices,
        asked,
        method,
        helped=_helped(search.subjects[0]),
        limits=limits,
        progress=progress,
    )
    coverage = min((v.coverage for v in verdicts.values()), key=lambda c: c.complete, default=None)
    return Finding(search, dict(verdicts), coverage)


def _helped(subject: Subject) -> Helped | None:
    """The subject with its scenario's lemmas, if it has any."""
    from slotproof.checker.symbolic.proving import Helped

    with_lemmas = replace(subject, lemmas=True)
    names = lemmas_of(with_lemmas)
    if not names:
        return None
    program = program_of(with_lemmas)
    choices = program.choices(chosen(with_lemmas, program))
    return Helped(program, choices, names, costly_lemmas_of(with_lemmas))


def names_of(program: Program, engine: str = "explicit") -> list[str]:
    """The names of all properties that an engine answers for, those that no one wrote included."""
    if engine == TEMPORAL:
        return [p.name for p in program.progress]
    return list(program.safety)


def check_safety(name: str, program: Program) -> None:
    """``UsageProblem`` unless the program has this property and it is none of progress."""
    names = names_of(program)
    remedy = f"there are: {', '.join(names)}"
    if name in names_of(program, TEMPORAL):
        raise UsageProblem(
            f"'{name}' is a progress property, which only 'slotproof check' answers ({remedy})"
        )
    one_of("property", name, names, remedy)


def for_subject(finding: Finding, subject: Subject) -> dict[str, Verdict]:
    """The verdicts with their traces as if they had been searched for this subject alone."""
    program = program_of(subject)
    choices = chosen(subject, program)
    verdicts: dict[str, Verdict] = {}
    for name, verdict in finding.verdicts.items():
        if isinstance(verdict, Violated):
            traces = tuple(replace(t, release=subject.release, choices=choices) for t in verdict.traces)
            verdict = replace(verdict, traces=traces)
        verdicts[name] = verdict
    return verdicts


def unfinished(search: Search, reason: str, names: Sequence[str]) -> Finding:
    """The finding of a search that never answered."""
    return Finding(search, {name: Unknown(name, reason, NOTHING) for name in names}, NOTHING)


NOTHING = Coverage(0, 0, 0, 0.0, False, None, {}, (), {})
