"""Walks by hand: a path of steps, by name, through one release or two side by side, as the page's data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.explorer.alternatives import call_of
from slotproof.counterexamples.explorer.running import VIOLATION, next_steps
from slotproof.counterexamples.explorer.settings import History
from slotproof.counterexamples.explorer.walk import Finding, Teller, Walk
from slotproof.counterexamples.rerun import Rerun, begun, parsed
from slotproof.counterexamples.story import values_of
from slotproof.counterexamples.verify import call
from slotproof.model.language.columns import Valuation
from slotproof.model.language.program import Program, no_crash

Build = Callable[[str], tuple[Program, tuple[int, ...]]]

SEPARATOR = ";"
MOST_STEPS = 400
"""Steps of a walk by hand."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person is: what is walked, what stands beside it, and the steps, as an address has them."""

    subject: str
    beside: str
    path: tuple[str, ...]

    @staticmethod
    def of(query: Mapping[str, str], subject: str) -> Place:
        """The place that the query of an address names."""
        steps = tuple(s.strip() for s in query.get("path", "").split(SEPARATOR) if s.strip())
        return Place(query.get("release", "") or subject, query.get("beside", ""), steps)


def _no_history(program: Program) -> None:
    return None


@dataclass
class Ground:
    """What can be walked: ``subjects`` by name, and how each is built. One thread computes at a time.

    ``history`` gives that of a program's decisions.
    ``finding`` is what the path of ``first`` is shown for; a longer or another path finds its own.
    """

    title: str
    subjects: Sequence[str]
    build: Build
    first: Place
    notices: tuple[str, ...] = ()
    finding: Finding | None = None
    history: Callable[[Program], History | None] = _no_history
    _tellers: dict[str, Teller] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def data(self, place: Place) -> dict[str, Any]:
        """The page's data of a place. ``TraceError`` for a subject that there is not."""
        with self._lock:
            teller = self._teller(place.subject)
            walked, problem = _walked(teller, place.path)
            same = (place.subject, place.path) == (self.first.subject, self.first.path)
            finding = self.finding if same and not problem else None
            told = teller.tell(_walk(teller, walked, place.subject), finding, title=self.title)
            notices = [*self.notices, *([problem] if problem else [])]
            beside = None
            if place.beside:
                beside = self._beside(place, teller, walked)
            return {
                **told,
                "notices": notices,
                "live": {
                    "subjects": list(self.subjects),
                    "subject": place.subject,
                    "beside": place.beside,
                    "path": _path(walked),
                    "starts": self._starts(teller),
                    "started": walked.start is not None,
                    "targets": self._targets(teller.program),
                },
                "beside": beside,
            }

    def run(self, place: Place, target: str) -> list[str]:
        """The path on to the next violation or witness from a place. ``TraceError`` where there is none."""
        with self._lock:
            teller = self._teller(place.subject)
            walked, problem = _walked(teller, place.path)
            if problem:
                raise TraceError(problem)
            if walked.crash is not None:
                raise TraceError("nothing can happen after a crash")
            known = [name for name, _ in self._targets(teller.program)]
            if target not in known:
                raise TraceError(f"there is nothing to run to named '{target[:80]}'")
            state = teller.interpreter.stored(walked.states[-1])
            steps = next_steps(teller.program, teller.choices, state, target)
            return [*_path(walked), *(call(step) for step in steps)]

    def _teller(self, subject: str) -> Teller:
        if subject not in self.subjects:
            raise TraceError(f"there is no '{subject[:80]}' here; there are: {', '.join(self.subjects)}")
        if subject not in self._tellers:
            program, choices = self.build(subject)
            self._tellers[subject] = Teller(program, choices, self.history(program))
        return self._tellers[subject]

    def _starts(self, teller: Teller) -> list[str]:
        found = []
        for number, numbers, _ in teller.interpreter.initial():
            if number is not None:
                found.append(call_of(teller.program.initial[number], numbers))
        return found

    def _targets(self, program: Program) -> list[tuple[str, str]]:
        return [
            (VIOLATION, "the next violation"),
            *((p.name, f"a violation of {p.name}") for p in program.properties),
            *((no_crash(c), f"the crash {c}") for c in program.crashes),
            *((w.name, f"the witness {w.name}") for w in program.witnesses),
        ]

    def _beside(self, place: Place, teller: Teller, walked: Rerun) -> dict[str, Any]:
        """The same steps on the other subject: as far as they go, and where the two part."""
        other = self._teller(place.beside)
        following, problem = _walked(other, _path(walked))
        told = other.tell(_walk(other, following, place.beside), title=self.title)
        parts: list[list[tuple[str, str, str]]] = []
        for mine, its in zip(walked.states, following.states, strict=False):
            parts.append(_differences(teller, mine, other, its))
        if walked.crash != following.crash and len(walked.states) == len(following.states):
            parts[-1].append(("crash", walked.crash or "none", following.crash or "none"))
        first = next((i for i, found in enumerate(parts) if found), None)
        return {
            "subject": place.beside,
            "bands": told["bands"],
            "steps": [
                {"judgements": s["judgements"], "sentence": s["sentence"], "call": s["call"]}
                for s in told["steps"]
            ],
            "finding": told["finding"],
            "differences": parts,
            "part": len(following.states) - 1 if first is None and problem else first,
            "ends": problem,
        }


def _walked(teller: Teller, path: Sequence[str]) -> tuple[Rerun, str]:
    """The path as far as it goes, and what ends it early."""
    program = teller.program
    steps = list(path[:MOST_STEPS])
    problem = f"only the first {MOST_STEPS} steps of this address are taken" if len(path) > MOST_STEPS else ""
    start = None
    names = [a.name for a in program.initial]
    if steps and steps[0].partition("(")[0].strip() in names:
        try:
            start = parsed(steps[0], program.initial)
        except TraceError as error:
            problem = str(error)
        steps = steps[1:]
    walked = begun(program, teller.choices, start)
    for text in steps:
        try:
            walked.take(text)
        except TraceError as error:
            return walked, f"The steps of this address end early: {error}."
    return walked, problem


def _path(walked: Rerun) -> list[str]:
    start = [call(walked.start)] if walked.start is not None else []
    return [*start, *(call(step) for step in walked.steps)]


def _walk(teller: Teller, walked: Rerun, subject: str) -> Walk:
    return Walk(
        teller.program,
        teller.choices,
        walked.start,
        tuple(walked.steps),
        tuple(walked.states),
        walked.crash,
        None,
        subject,
    )


def _differences(a: Teller, mine: Valuation, b: Teller, its: Valuation) -> list[tuple[str, str, str]]:
    """What is stored differently, by path; a variable that one of them does not have is ``-`` there."""
    left = values_of(a.program.state, a.interpreter.object(mine))
    right = values_of(b.program.state, b.interpreter.object(its))
    paths = dict.fromkeys((*left, *right))
    return [(p, left.get(p, "-"), right.get(p, "-")) for p in paths if left.get(p) != right.get(p)]
