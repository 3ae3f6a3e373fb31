"""What a release lost: properties that its predecessor had, with a shortest trace of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slotproof.checker import baseline
from slotproof.checker.cli import main
from slotproof.counterexamples.itf import read, write
from slotproof.counterexamples.replay.sglang.elsewhere import on_release
from slotproof.counterexamples.replay.states import Flat
from slotproof.counterexamples.trace import Step
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import release as release_of
from slotproof.model.serving.vocabulary import Loading, Request, Role
from slotproof.properties import SCENARIOS


def _in_the_background(scenario: str) -> bool:
    return SCENARIOS[scenario].parameters()["loading"] is Loading.BACKGROUND


def _decodes(scenario: str) -> bool:
    return SCENARIOS[scenario].parameters().get("role") is Role.DECODE


PAIRS = (("0.5.12.post1", "0.5.13", _in_the_background), ("0.5.19", "0.5.20", _decodes))
"""The releases on both sides of the loader's and of the decode role's change, with the scenarios about it."""

KNOWN = {key[:3] for key in baseline.shipped() if key[3] == "quick"}

LOST = sorted(
    (scenario, property, base, candidate)
    for base, candidate, about in PAIRS
    for scenario, property, release in KNOWN
    if release == candidate and about(scenario) and (scenario, property, base) not in KNOWN
)
"""Scenario, property, the release that had it, the one that has it no more, as ``slotproof compare`` says."""


def trace_of(scenario: str, property: str, release: str, folder: Path) -> Path:
    """A shortest trace of the violation, as a file."""
    options = ["--scenario", scenario, "--release", release, "--property", property]
    with pytest.raises(SystemExit) as ended:
        main(["check", *options, "--no-baseline", "--out", str(folder)])
    assert ended.value.code == 1
    path = folder / f"{scenario}.{property}.{release}.itf.json"
    if SCENARIOS[scenario].parameters().get("role") is Role.DECODE and property == "progress":
        _let_the_peer_be_ready(path, scenario, release)
    return path


def _let_the_peer_be_ready(path: Path, scenario: str, release: str) -> None:
    """The same lasso with a peer that is ready for whoever waits in its loop: the gate alone refuses."""
    program = compile_system(SCENARIOS[scenario].system(release_of(release)))
    trace = read(path).trace(program)
    assert trace.loop is not None
    reserving = Flat(program)(trace.states[trace.loop])["ranks[rank0].decode.reserving"]
    waiting = {Request(int(name.removeprefix("r")) - 1) for name in reserving}
    steps = list(trace.steps)
    for i, step in enumerate(steps):
        if i >= trace.loop and step.action == "decode_step":
            steps[i] = Step(step.action, {**step.arguments, "moved": step.arguments["moved"] | waiting})
    ready, _, left_out = on_release(replace(trace, steps=tuple(steps)), scenario, release)
    assert not left_out
    write(replace(ready, loop=trace.loop), program, path, scenario)
