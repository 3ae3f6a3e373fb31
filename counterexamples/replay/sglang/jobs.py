"""What the child process can do with a release: replay a trace, or walk along the model's steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from slotproof.counterexamples.itf import read
from slotproof.counterexamples.replay.driver import Mismatch, Refused
from slotproof.counterexamples.replay.run import Replay, replay
from slotproof.counterexamples.replay.sglang.elsewhere import on_release
from slotproof.counterexamples.replay.sglang.folder import supported
from slotproof.counterexamples.replay.sglang.fork import Forks
from slotproof.counterexamples.replay.sglang.standins import stood_in
from slotproof.counterexamples.replay.sglang.target import NOT_DRIVEN, SWITCHED_OFF, make
from slotproof.counterexamples.verify import call
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS


def run_trace(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Replay a trace file. With ``other`` its actions are taken on this release instead of its own."""
    version = supported(folder)
    file = read(Path(job["trace"]))
    assert file.release is not None
    if file.release.rstrip("+") != version and not job.get("other"):
        return {
            "wrong": f"the trace is of release {file.release}, the folder holds {version};"
            f" give --sglang a folder with {file.release.rstrip('+')}"
        }
    program = compile_system(
        SCENARIOS[file.scenario].system(release(file.release.rstrip("+"))).with_parameters(**file.parameters)
    )
    trace = file.trace(program)
    skipped: tuple[str, ...] = ()
    if job.get("other"):
        trace, program, skipped = on_release(trace, file.scenario, version)
    try:
        found = replay(trace, program, make(folder, version, file.scenario), file.scenario)
    except (Mismatch, Refused) as error:
        return {"wrong": str(error)}
    return {**_told(found), "release": version, "skipped": list(skipped), "crash": trace.crash}


def _told(found: Replay) -> dict[str, Any]:
    return {
        "happened": found.happened,
        "steps": found.steps,
        "difference": None if found.difference is None else str(found.difference),
        "died": None if found.died is None else str(found.died),
        "cause": None if found.died is None else found.died.cause,
        "symptom": None if found.symptom is None else [found.symptom.kind, found.symptom.text],
        "compared": sorted(found.compared),
        "unseen": sorted(found.unseen - found.compared),
        "stood_in": list(stood_in()),
    }


def run_walks(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Walk along the steps of a scenario's model (``conform.py``), each walk on a server of its own."""
    from slotproof.counterexamples.replay.conform import conform  # the native engine takes a while to import

    version, scenario = supported(folder), job["scenario"]
    system = SCENARIOS[scenario].system(release(version), full=job["full"])
    off = {n: value for n, (value, _) in SWITCHED_OFF.items() if n in system.parameters}
    program = compile_system(system.with_parameters(**off))
    forks = Forks(lambda: make(folder, version, scenario), f"sglang {version}")
    names = {action.name for action in program.actions}
    without = {name: why for name, why in NOT_DRIVEN.items() if name in names}
    try:
        found = conform(
            program,
            dict(system.choices),
            scenario,
            version,
            forks,
            job["steps"],
            job["seed"],
            without=without,
        )
    except Mismatch as error:
        return {"wrong": str(error)}
    finally:
        forks.end()
    return {
        "release": version,
        "scenario": scenario,
        "steps": found.steps,
        "walks": found.walks,
        "edges": found.edges,
        "actions": found.actions,
        "difference": None if found.difference is None else str(found.difference),
        "path": [call(step) for step in found.path],
        "left_out": sorted({*without.values(), *(SWITCHED_OFF[n][1] for n in off)}),
    }


KINDS: Mapping[str, Callable[[Path, Mapping[str, Any]], dict[str, Any]]] = {
    "trace": run_trace,
    "walks": run_walks,
}
