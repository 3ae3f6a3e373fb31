"""The four pull requests: violated on the last release without the fix, gone on the first with it.

By exhaustive search to closure, and by Z3 with the same length; swapping one decision of the fixed release
back brings the fault back. No release is named anywhere but in the table of decisions. Rows D01, F01, I01,
L01 and X-4 of the obligations.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from slotproof.checker.symbolic.engine import check_bounded
from slotproof.checker.verdict import Holds, Limits, Unknown, Violated
from slotproof.model.releases import release
from slotproof.model.serving import decode, gate, loader, routing
from tests.model.serving.runs import compiled, explored, system_of


class Flip(NamedTuple):
    """A property of a scenario, the releases on either side of its fix, and one decision that fixed it."""

    scenario: str
    property: str
    violated: str
    holds: str
    decision: str


FLIPS = (
    Flip("overlap-cancel", "no-slot-leak", "0.5.12.post1", "0.5.13", loader.reap_first.name),
    Flip(
        "finish-unload",
        "no-crash-fit-test-unknown-adapter",
        "0.5.13.post1",
        "0.5.14",
        gate.occupied_on_prefill.name,
    ),
    Flip("idle-rank", "fresh-batch-info", "0.5.16", "0.5.17", routing.idle_metadata.name),
    Flip("decode-admission", "slot-capacity", "0.5.19", "0.5.20", decode.gate_on_reservation.name),
)
each = pytest.mark.parametrize("flip", FLIPS, ids=lambda f: f.scenario)
sizes = pytest.mark.parametrize(
    "full", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["quick", "full"]
)


@each
@sizes
def test_the_fault_is_there_before_the_fix_and_gone_after_it(flip: Flip, full: bool) -> None:
    before = explored(system_of(flip.scenario, flip.violated, full)).verdicts()[flip.property]
    after = explored(system_of(flip.scenario, flip.holds, full)).verdicts()[flip.property]
    assert isinstance(before, Violated)
    assert isinstance(after, Holds)
    assert after.coverage.complete


@each
def test_one_decision_swapped_back_brings_the_fault_back(flip: Flip) -> None:
    before = {d: f for d, f in release(flip.violated).choices.items() if d == flip.decision}
    swapped = release(flip.holds).replace(**before)
    assert isinstance(explored(system_of(flip.scenario, swapped)).verdicts()[flip.property], Violated)


@each
@pytest.mark.deep
def test_z3_finds_the_fault_at_the_same_length_and_nothing_after_the_fix(flip: Flip) -> None:
    system = system_of(flip.scenario, flip.violated)
    program = compiled(system)
    shortest = explored(system).verdicts()[flip.property]
    assert isinstance(shortest, Violated)
    length = len(shortest.trace)
    found = check_bounded(
        program, program.choices(system.choices), [flip.property], limits=Limits(depth=length)
    )
    verdict = found[flip.property]
    assert isinstance(verdict, Violated)
    assert len(verdict.trace) == length
    fixed = system_of(flip.scenario, flip.holds)
    program = compiled(fixed)
    none = check_bounded(
        program, program.choices(fixed.choices), [flip.property], limits=Limits(depth=length + 3)
    )
    nothing = none[flip.property]
    assert isinstance(nothing, Unknown)
    assert f"nothing to depth {length + 3}" in nothing.reason
