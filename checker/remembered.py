"""Verdicts that an earlier run has found, by all that they depend on.

The key of an entry is what the engine read of the system (``identity.py``), the engine, the properties that
were asked for, the limits, and the source of this tool with the libraries it searches with. Only searches
that came to their end are kept. An entry carries a digest of itself, and one that does not fit its program
is as good as none.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache as once
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from slotproof import checker, counterexamples, model
from slotproof.checker.explicit import cache
from slotproof.checker.identity import add_sources, identity
from slotproof.checker.runs import Finding, Search, names_of, program_of
from slotproof.checker.verdict import Coverage, Holds, Limits, Unknown, Verdict, Violated
from slotproof.checker.workers import Report, run_all
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import numbers_of
from slotproof.model.language.errors import ModelError
from slotproof.model.language.interpreter import decoded
from slotproof.model.language.ir import Action
from slotproof.model.language.program import Program

KIND = ".verdicts"
KEPT = 4096
"""How many entries stay; each has a few kilobytes."""
FORM = 1
VACUOUS = "vacuous: "
INDIFFERENT = ("subjects", "choices", "workers")
"""What a search is told that its answer does not depend on, or that its program's identity contains."""


def run_remembered(
    searches: Sequence[Search], limits: Limits, workers: int, report: Report | None, *, remember: bool
) -> tuple[list[Finding], bool]:
    """The findings in the order of the searches, and whether an interrupt ended some of them early.

    With ``remember``, only what no earlier run has found is searched, and what is found is kept.
    """
    if not remember:
        return run_all(searches, limits, workers, report)
    known = {i: f for i, s in enumerate(searches) if (f := recall(s, limits)) is not None}
    missing = [s for i, s in enumerate(searches) if i not in known]
    found, interrupted = run_all(missing, limits, workers, report) if missing else ([], False)
    for finding in found:
        keep(finding, limits)
    fresh = iter(found)
    return [known[i] if i in known else next(fresh) for i in range(len(searches))], interrupted


def key_of(search: Search, limits: Limits) -> str:
    """The name of a search's entry."""
    program = program_of(search.subjects[0])
    # Whatever else a search is told counts, so that an option of tomorrow is not forgotten here.
    told = {f.name: getattr(search, f.name) for f in fields(search) if f.name not in INDIFFERENT}
    interchangeable = [str(d) for d in program.system.interchangeable]
    parts = [FORM, identity(program, search.choices), interchangeable, told, limits.states, limits.depth]
    return hashlib.sha256(f"{tool()} {json.dumps(parts)}".encode()).hexdigest()


@once
def tool() -> str:
    """A digest of the source that verdicts come from, and of what it runs on."""
    sha = hashlib.sha256(platform.python_version().encode())
    for package, pattern in (
        (checker, "*.py"),
        (checker, "explicit/*.py"),
        (checker, "symbolic/*.py"),
        (model, "language/*.py"),
        (counterexamples, "*.py"),
    ):
        add_sources(sha, package, pattern)
    for library in ("llvmlite", "numba", "numpy", "scipy", "z3-solver"):
        try:
            sha.update(f"{library} {version(library)};".encode())
        except PackageNotFoundError:
            continue
    return sha.hexdigest()


def keep(finding: Finding, limits: Limits) -> None:
    """Write down what a search has found, if it came to its end."""
    if finding.failure is not None or not finding.verdicts or not all(map(_final, finding.verdicts.values())):
        return
    program = program_of(finding.search.subjects[0])
    coverages: list[Coverage] = []
    content = {
        "verdicts": {name: _plain(v, program, coverages) for name, v in finding.verdicts.items()},
        "coverage": _place(finding.coverage, coverages),
        "coverages": [_plain_coverage(c) for c in coverages],
    }
    cache.store(key_of(finding.search, limits), json.dumps(content).encode(), KIND, KEPT)


def _final(verdict: Verdict) -> bool:
    """Whether another run could say nothing else."""
    return verdict.coverage.complete and (
        not isinstance(verdict, Unknown) or verdict.reason.startswith(VACUOUS)
    )


def recall(search: Search, limits: Limits) -> Finding | None:
    """What an earlier run has found, with its traces taken again; ``None`` if there is nothing to go by."""
    data = cache.load(key_of(search, limits), KIND)
    if data is None:
        return None
    program = program_of(search.subjects[0])
    try:
        raw = json.loads(data)
        coverages = [_coverage(c) for c in raw["coverages"]]
        verdicts = {
            name: _verdict(name, entry, coverages, search, program) for name, entry in raw["verdicts"].items()
        }
        coverage = None if raw["coverage"] is None else coverages[raw["coverage"]]
    except (ModelError, ValueError, LookupError, TypeError, AttributeError):
        return None
    known = names_of(program, search.engine)
    asked = known if search.properties is None else [name for name in known if name in search.properties]
    if not set(asked) <= set(verdicts) <= set(known):
        return None
    return Finding(search, verdicts, coverage, remembered=True)


def _plain(verdict: Verdict, program: Program, coverages: list[Coverage]) -> dict[str, Any]:
    entry: dict[str, Any] = {"coverage": _place(verdict.coverage, coverages)}
    if isinstance(verdict, Unknown):
        entry["unknown"] = verdict.reason
    if isinstance(verdict, Violated):
        entry["traces"] = [_plain_trace(t, program) for t in verdict.traces]
    return entry


def _verdict(
    name: str,
    entry: Mapping[str, Any],
    coverages: Sequence[Coverage],
    search: Search,
    program: Program,
) -> Verdict:
    coverage = coverages[entry["coverage"]]
    if "traces" in entry:
        traces = tuple(_trace(raw, search, program) for raw in entry["traces"])
        if not traces or any(t.property != name for t in traces):
            raise ValueError(f"a trace of {name} is of something else")
        return Violated(name, traces, coverage)
    return Unknown(name, entry["unknown"], coverage) if "unknown" in entry else Holds(name, coverage)


def _plain_trace(trace: Trace, program: Program) -> dict[str, Any]:
    return {
        "property": trace.property,
        "part": trace.part,
        "engine": trace.engine,
        "start": None if trace.start is None else _numbered(program.initial, trace.start),
        "steps": [_numbered(program.actions, step) for step in trace.steps],
        "states": trace.states,
        "crash": trace.crash,
        "loop": trace.loop,
    }


def _numbered(actions: Sequence[Action], step: Step) -> tuple[int, tuple[int, ...]]:
    number = next(i for i, a in enumerate(actions) if a.name == step.action)
    return number, numbers_of(actions[number], step)


def _trace(raw: Mapping[str, Any], search: Search, program: Program) -> Trace:
    states = tuple(tuple(state) for state in raw["states"])
    if any(len(state) != program.cells for state in states) or len(states) != len(raw["steps"]) + 1:
        raise ValueError("the states are not those of the program")
    return Trace.of(
        program,
        search.choices,
        property=raw["property"],
        part=raw["part"],
        engine=raw["engine"],
        start=None if raw["start"] is None else _step(program.initial, *raw["start"]),
        steps=(_step(program.actions, *step) for step in raw["steps"]),
        states=states,
        crash=raw["crash"],
        loop=raw["loop"],
    )


def _step(actions: Sequence[Action], number: int, numbers: Sequence[int]) -> Step:
    action = actions[number]
    return Step(action.name, decoded(action.parameters, numbers))


def _place(coverage: Coverage | None, coverages: list[Coverage]) -> int | None:
    if coverage is None:
        return None
    if coverage not in coverages:
        coverages.append(coverage)
    return coverages.index(coverage)


def _plain_coverage(coverage: Coverage) -> dict[str, Any]:
    return {name: getattr(coverage, name) for name in coverage.__slots__} | {
        "fired": dict(coverage.fired),
        "witnesses": dict(coverage.witnesses),
    }


def _coverage(raw: Mapping[str, Any]) -> Coverage:
    return Coverage(**{**raw, "premises": tuple(raw["premises"])})
