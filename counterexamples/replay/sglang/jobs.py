"""What the child process can do with a release: replay a trace, or walk along the model's steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.replay.driver import Mismatch, Refused
from slotproof.counterexamples.replay.run import Replay, replay, waiting
from slotproof.counterexamples.replay.sglang.elsewhere import on_release
from slotproof.counterexamples.replay.sglang.folder import supported
from slotproof.counterexamples.replay.sglang.fork import Forks
from slotproof.counterexamples.replay.sglang.limits import ACTIONS, SWITCHED_OFF
from slotproof.counterexamples.replay.sglang.standins import stood_in
from slotproof.counterexamples.replay.sglang.target import make
from slotproof.counterexamples.verify import call, verify
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import base_of, release
from slotproof.properties import SCENARIOS


def run_trace(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Replay a trace file. With ``other`` its actions are taken on this release instead of its own."""
    version = supported(folder)
    file = read(Path(job["trace"]))
    assert file.release is not None
    if base_of(file.release) != version and not job.get("other"):
        return {
            "wrong": f"the trace is of release {file.release}, the folder holds {version};"
            f" give --sglang a folder with {base_of(file.release)}"
        }
    program = compile_system(
        SCENARIOS[file.scenario].system(release(base_of(file.release))).with_parameters(**file.parameters)
    )
    try:
        trace = file.trace(program)
        verify(trace, program)
    except TraceError as error:
        return {"wrong": str(error).removeprefix(f"{job['trace']}: ")}
    skipped: tuple[str, ...] = ()
    if job.get("other"):
        trace, program, skipped = on_release(trace, file.scenario, version)
    try:
        found = replay(trace, program, make(folder, version, file.scenario), file.scenario)
    except Mismatch as error:
        return {"wrong": str(error)}
    except Refused as error:
        return {"wrong": f"{error}; see the step with 'slotproof explain', or take it on the reference"}
    return {**_told(found), "release": version, "skipped": list(skipped), "crash": trace.crash}


def _told(found: Replay) -> dict[str, Any]:
    return {
        "happened": found.happened,
        "steps": found.steps,
        "difference": None if found.difference is None else str(found.difference),
        "died": None if found.died is None else str(found.died),
        "cause": None if found.died is None else found.died.cause,
        "symptom": None if found.symptom is None else [found.symptom.kind, found.symptom.text],
        "waits": sorted(waiting(found.log[-1])) if found.log else [],
        "compared": sorted(found.compared),
        "unseen": sorted(found.unseen - found.compared),
        "stood_in": list(stood_in()),
    }


def run_walks(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Walk along the steps of a scenario's model (``conform.py``), each walk on a server of its own."""
    from slotproof.counterexamples.replay.conform import conform  # the native engine takes a while to import

    version, scenario = supported(folder), job["scenario"]
    system = SCENARIOS[scenario].system(release(version), full=job["full"])
    program = compile_system(system)
    off = {n: value for n, (value, _) in SWITCHED_OFF.items() if n in program.parameters}
    if off:
        program = compile_system(system.with_parameters(**off))
    forks = Forks(lambda: make(folder, version, scenario), f"sglang {version}")
    names = {action.name for action in program.actions}
    without = {name: why for name, why in ACTIONS.items() if name in names}
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
        "shortest": found.shortest,
        "left_out": sorted({*without.values(), *(SWITCHED_OFF[n][1] for n in off)}),
    }


def run_own_steam(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Let the server run by itself, and look for a path of the model that its log can be."""
    from slotproof.counterexamples.replay.conform import setting_for
    from slotproof.counterexamples.replay.own_steam import Paths
    from slotproof.counterexamples.replay.sglang.by_itself import HIDDEN, run_by_itself

    version, scenario = supported(folder), job["scenario"]
    system = SCENARIOS[scenario].system(release(version))
    program = compile_system(system)
    server = make(folder, version, scenario)
    server.begin(setting_for(program, dict(system.choices), scenario, version, None))
    log = run_by_itself(server, Random(job["seed"]), job["length"])
    verdict = Paths(program, program.choices(dict(system.choices)), HIDDEN).consistent(log)
    return {
        "accepted": verdict.accepted,
        "entries": verdict.entries,
        "nearest": verdict.nearest,
        "log": [f"{seen.action}({', '.join(map(str, seen.arguments.values()))})" for seen in log],
        "crash": log[-1].crash if log else None,
    }


KINDS: Mapping[str, Callable[[Path, Mapping[str, Any]], dict[str, Any]]] = {
    "trace": run_trace,
    "walks": run_walks,
    "own-steam": run_own_steam,
}
