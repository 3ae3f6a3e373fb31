"""What a release lost against the one before happens on the reference, and not with the older decisions."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotproof.counterexamples.itf import read
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.counterexamples.replay.run import Replay, replay, waiting
from slotproof.counterexamples.replay.sglang.elsewhere import on_release
from tests.counterexamples.lost import LOST, trace_of
from tests.counterexamples.replay.runs import program_of


def test_what_was_lost() -> None:
    """The race of copies, a pin that the gate asks about, and a candidate that is passed over."""
    assert LOST == [
        ("copy-race", "progress", "0.5.12.post1", "0.5.13"),
        ("decode-admission-pinned", "no-crash-fit-test-unknown-adapter", "0.5.19", "0.5.20"),
        ("decode-endless-traffic", "progress", "0.5.19", "0.5.20"),
    ]


def on_both(scenario: str, path: Path, base: str, candidate: str) -> tuple[Replay, Replay]:
    """The trace as the older release would take it, and as the newer one does."""
    program = program_of(scenario, candidate)
    trace = read(path).trace(program)
    after = replay(trace, program, ReferenceTarget(), scenario)
    moved, older, _ = on_release(trace, scenario, base)
    return replay(moved, older, ReferenceTarget(), scenario), after


@pytest.mark.parametrize(("scenario", "property", "base", "candidate"), LOST)
def test_it_happens_on_the_newer_and_not_on_the_older(
    scenario: str, property: str, base: str, candidate: str, tmp_path: Path
) -> None:
    """Of those who wait in every round of a loop, one at least gets in by the same steps on the older, if
    only to find too many adapters there for the slots (which is what the decode role's gate was made for)."""
    before, after = on_both(scenario, trace_of(scenario, property, candidate, tmp_path), base, candidate)
    assert after.happened, after.difference
    assert after.symptom is not None
    assert after.symptom.kind == ("hang" if property == "progress" else "exception")
    assert before.difference is None
    if property == "progress":
        crowded = before.died is not None and before.died.cause == "make-resident-too-many"
        assert crowded or waiting(after.log[-1]) - waiting(before.log[-1])
    else:
        assert before.died is None
