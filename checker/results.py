"""Cells of the matrix with their verdicts, held against the baseline: what is expected and what is news."""

from __future__ import annotations

import enum
import fnmatch
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from slotproof.checker.baseline import Baseline, Key, Known
from slotproof.checker.runs import EXPLICIT, REACHABLE, Finding, Subject, for_subject, program_of
from slotproof.checker.usage import UsageProblem
from slotproof.checker.verdict import Coverage, Holds, Unknown, Verdict, Violated
from slotproof.model.language.program import DEADLOCK, Program, no_crash
from slotproof.model.near import near


class Standing(enum.Enum):
    """What a verdict means for the exit status."""

    EXPECTED = 0
    NEWS = 1
    UNKNOWN = 3


@dataclass(frozen=True)
class Cell:
    """A verdict on one property of one subject by one engine."""

    subject: Subject
    scenario: str
    name: str
    engine: str
    verdict: Verdict
    search: int
    """The number of the search that answered; cells with the same number share it."""
    standing: Standing
    note: str | None
    """What the baseline has to say: the reason of a known violation, or what is new."""
    traces: tuple[Path, ...] = ()
    remembered: bool = False
    """Whether an earlier run has found the verdict."""

    @property
    def release(self) -> str | None:
        """The release, if the subject is a scenario."""
        return self.subject.release

    @property
    def key(self) -> Key:
        """The cell's place in a baseline."""
        return self.scenario, self.name, self.release, self.subject.size

    @property
    def word(self) -> str:
        """``holds``, ``violated`` or ``unknown``."""
        return self.verdict.word

    @property
    def depth(self) -> int:
        """The trace's length if violated, else the depth of the search."""
        return len(self.verdict.trace) if isinstance(self.verdict, Violated) else self.verdict.coverage.depth


@dataclass
class Results:
    """All that one ``check`` found, in the order of releases and scenarios."""

    cells: list[Cell] = field(default_factory=list)
    gone: list[tuple[Key, Known]] = field(default_factory=list)
    """Listed violations of properties that are not there any more."""
    failures: list[str] = field(default_factory=list)
    """Searches that could not be run to an answer, one line each."""
    interrupted: bool = False
    baseline: Baseline | None = None
    """``None`` if no baseline was read."""

    @property
    def status(self) -> int:
        """The exit status: 2 wrong use, 1 news, 3 unknown, 0 all as expected, in this order."""
        if self.failures:
            return 2
        if self.gone or any(cell.standing is Standing.NEWS for cell in self.cells):
            return 1
        return 3 if self.unknown else 0

    @property
    def unknown(self) -> bool:
        """Whether something was not answered."""
        return self.interrupted or any(cell.standing is Standing.UNKNOWN for cell in self.cells)


def known_properties(programs: Sequence[Program]) -> list[str]:
    """Every name that ``--property`` can ask for."""
    names: dict[str, None] = {}
    for program in programs:
        names |= dict.fromkeys(p.name for p in program.properties)
        names |= dict.fromkeys(p.name for p in program.progress)
        names |= dict.fromkeys(map(no_crash, program.crashes))
    if any(not p.properties for p in programs):
        names[REACHABLE] = None
    return [*names, DEADLOCK]


def chosen_properties(
    asked: Sequence[str], programs: Sequence[Program], *, listed: bool = True
) -> tuple[str, ...] | None:
    """The properties that the patterns of ``--property`` name; ``None`` if none is given.

    ``no-crash`` stands for every cause, and ``*`` for anything. ``listed`` says whether ``slotproof list``
    has the properties of these programs.
    """
    if not asked:
        return None
    known = known_properties(programs)
    found: dict[str, None] = {}
    for name in asked:
        pattern = "no-crash-*" if name == "no-crash" else name
        matching = fnmatch.filter(known, pattern)
        if not matching and name != "no-crash":
            remedy = "slotproof list properties" if listed else f"there are: {', '.join(known)}"
            raise UsageProblem(f"there is no property '{name}'{near(name, known)} ({remedy})")
        found |= dict.fromkeys(matching)
    return tuple(found)


def collect(
    findings: Sequence[Finding], asked: Sequence[str] | None, baseline: Baseline | None, *, exact: bool
) -> Results:
    """The cells of all findings. With ``exact`` a listed violation has to be as long as it is listed."""
    results = Results(baseline=baseline)
    for number, finding in enumerate(findings):
        if finding.failure is not None:
            results.failures.append(finding.failure)
            if not finding.verdicts:
                continue
        for subject in finding.search.subjects:
            program = program_of(subject)
            verdicts = _reported(finding, subject, program, asked)
            for name, verdict in verdicts.items():
                scenario = subject.scenario or program.name
                known, own = _known(baseline, (scenario, name, subject.release, subject.size), subject)
                standing, note = judge(verdict, known, listed=baseline is not None, exact=exact and own)
                results.cells.append(
                    Cell(
                        subject,
                        scenario,
                        name,
                        finding.search.engine,
                        verdict,
                        number,
                        standing,
                        note,
                        remembered=finding.remembered,
                    )
                )
    if baseline is not None and exact:
        answered = {number for number, finding in enumerate(findings) if finding.failure is None}
        results.gone = _gone(results, baseline, asked, answered)
    return results


def _known(baseline: Baseline | None, key: Key, subject: Subject) -> tuple[Known | None, bool]:
    """The baseline's entry, and whether it is the subject's own: a candidate has that of its release too."""
    if baseline is None or key in baseline or subject.candidate is None or subject.release is None:
        return None if baseline is None else baseline.get(key), True
    from slotproof.model.releases import base_of

    return baseline.get((key[0], key[1], base_of(subject.release), key[3])), False


def _reported(
    finding: Finding, subject: Subject, program: Program, asked: Sequence[str] | None
) -> Mapping[str, Verdict]:
    verdicts = for_subject(finding, subject)
    coverage = finding.coverage if finding.failure is None else None
    if not program.properties and coverage is not None and finding.search.engine == EXPLICIT:
        # Without properties the question is the graph itself, which no other engine goes through to count
        # it; what always holds is not worth a line.
        verdicts = {
            REACHABLE: _reachable(coverage),
            **{n: v for n, v in verdicts.items() if isinstance(v, Violated) or (asked and n in asked)},
        }
    return {n: v for n, v in verdicts.items() if asked is None or n in asked}


def _reachable(coverage: Coverage) -> Verdict:
    if coverage.complete:
        return Holds(REACHABLE, coverage)
    return Unknown(REACHABLE, coverage.stopped or "the search did not end", coverage)


def judge(verdict: Verdict, known: Known | None, *, listed: bool, exact: bool) -> tuple[Standing, str | None]:
    """What a verdict means beside its entry in the baseline, and the note that says so."""
    match verdict:
        case Unknown():
            return Standing.UNKNOWN, None
        case Holds():
            if known is None or not exact or not verdict.coverage.complete:
                return Standing.EXPECTED, None
            return Standing.NEWS, "the baseline lists it as violated, and it no longer is: take it out"
        case Violated():
            if known is None:
                return Standing.NEWS, "not in the baseline" if listed else None
            if exact and len(verdict.trace) != known.steps:
                return Standing.NEWS, f"the baseline lists it with {known.steps} steps"
            if exact and verdict.coverage.complete and len(verdict.traces) != known.parts:
                return Standing.NEWS, f"the baseline lists it with {known.parts} violated parts"
            return Standing.EXPECTED, f"known: {known.reason}"


def _gone(
    results: Results, baseline: Baseline, asked: Sequence[str] | None, answered: Set[int]
) -> list[tuple[Key, Known]]:
    """What is listed of the subjects that were searched to an answer, and is not there."""
    searched = {(c.scenario, c.release, c.subject.size) for c in results.cells if c.search in answered}
    seen = {c.key for c in results.cells}
    return [
        (key, known)
        for key, known in baseline.items()
        if (key[0], key[2], key[3]) in searched and key not in seen and (asked is None or key[1] in asked)
    ]
