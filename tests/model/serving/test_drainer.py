"""The drainer: who gets a mark, for whom, and how long (X-6; section B.3.1 of the release's text, F07)."""

from __future__ import annotations

import pytest

from slotproof.model.releases import RELEASES, Release, release
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Loading, Request
from tests.model.serving.runs import BASE, R1, R2, R3, RANK0, A, B, C, Script, system_of

EVERYBODY = {"r1": ["base", "A", "B", "C"], "r2": ["base", "A", "B", "C"], "r3": ["base", "A", "B", "C"]}


def server(of: str | Release = "0.5.23", slots: int = 1) -> Script:
    """Any request may name any adapter; loading with the forward."""
    return Script(
        system_of(
            "drained-traffic",
            of,
            slots=slots,
            adapters=4,
            names=EVERYBODY,
            loading=Loading.SYNCHRONOUS,
            unloadable=[],
        )
    )


def arrive(run: Script, r: Request, a: Adapter) -> None:
    run.do("arrive", k=RANK0, r=r, a=a)


def schedule(run: Script, *ends: Request) -> Server:
    """One iteration."""
    return run.do("schedule", k=RANK0, ends=set(ends), by_length=set(), room=6)


def marks(run: Script) -> dict[Adapter, Adapter | None]:
    """Who drains for whom."""
    found = run.state.ranks[RANK0].drainer.drains_for
    return {a: found[a] for a in (BASE, A, B, C) if found[a] is not None}


def one_runs_and_one_starves(of: str | Release = "0.5.23", starving: Adapter = B) -> Script:
    """r1 runs, r3 has waited too long; the next pass gives marks."""
    run = server(of)
    arrive(run, R1, A)
    schedule(run)
    arrive(run, R3, starving)
    run.do("waits_too_long", k=RANK0, r=R3)
    return run


@pytest.mark.parametrize("version", RELEASES)
def test_a_wait_that_is_too_long_makes_the_running_adapter_drain(version: str) -> None:
    run = one_runs_and_one_starves(version)
    assert marks(run) == {}
    schedule(run)
    assert marks(run) == {A: B}


def test_nobody_drains_while_a_slot_is_free() -> None:
    run = server(slots=2)
    arrive(run, R1, A)
    schedule(run)
    schedule(run)
    arrive(run, R2, A)
    run.do("waits_too_long", k=RANK0, r=R2)
    schedule(run)
    assert marks(run) == {}


def test_a_request_joins_a_drain_as_long_as_a_row_is_not_far_on() -> None:
    run = one_runs_and_one_starves()
    schedule(run)
    arrive(run, R2, A)
    shown = schedule(run)
    assert shown.ranks[RANK0].gate.refused == {R3}, "1.2 times the tokens left to r1 are enough for r2"
    run = one_runs_and_one_starves()
    schedule(run)
    run.do("gets_far_on", k=RANK0, r=R1)
    arrive(run, R2, A)
    shown = schedule(run)
    assert shown.ranks[RANK0].gate.refused == {R2, R3}
    assert marks(run) == {A: B}


def test_a_drained_slot_is_reserved_for_nobody() -> None:
    """The mark goes with the last row, and whoever stands first in the queue gets the slot."""
    run = server()
    arrive(run, R1, A)
    schedule(run)
    schedule(run)
    arrive(run, R2, A)  # in front of who starves, but refused once A drains
    run.do("waits_too_long", k=RANK0, r=R2)
    run.do("gets_far_on", k=RANK0, r=R1)
    arrive(run, R3, B)
    run.do("waits_too_long", k=RANK0, r=R3)
    schedule(run)
    assert marks(run) == {A: A}, "a running adapter can starve, and drains for itself"
    schedule(run, R1)
    schedule(run)
    shown = run.state
    assert marks(run) == {}
    assert shown.ranks[RANK0].gate.refused == {R3}
    assert R2 in shown.ranks[RANK0].scheduler.last


def test_a_mark_outlives_the_request_that_it_was_for() -> None:
    run = one_runs_and_one_starves()
    schedule(run)
    run.do("gets_far_on", k=RANK0, r=R1)
    run.do("abort", r=R3)
    arrive(run, R2, A)
    shown = schedule(run)
    assert marks(run) == {A: B}
    assert shown.ranks[RANK0].gate.refused == {R2}


def test_the_victim_is_the_adapter_with_the_fewest_tokens_left() -> None:
    for nearest, far_on, victim in ((None, None, A), (B, None, B), (A, R2, B)):
        run = server(slots=2)
        arrive(run, R1, A)
        arrive(run, R2, B)
        schedule(run)
        schedule(run)
        if nearest is not None:
            run.do("comes_nearest", k=RANK0, a=nearest)
        if far_on is not None:
            run.do("gets_far_on", k=RANK0, r=far_on)
        arrive(run, R3, C)
        run.do("waits_too_long", k=RANK0, r=R3)
        schedule(run)
        assert marks(run) == {victim: C}


def test_a_victim_for_the_base_model_gets_no_mark() -> None:
    run = one_runs_and_one_starves(starving=BASE)
    schedule(run)
    assert marks(run) == {}
    run = one_runs_and_one_starves(release("0.5.23").replace(base_can_starve="like_any_adapter"), BASE)
    schedule(run)
    assert marks(run) == {A: BASE}


@pytest.mark.parametrize(("version", "marked"), [("0.5.22", True), ("0.5.23", False)])
def test_it_is_told_of_finished_rows_that_nobody_has_swept(version: str, marked: bool) -> None:
    """F07: up to 0.5.22 a finished row still fills its slot here, and its adapter drains."""
    run = one_runs_and_one_starves(version)
    run.do("arrive", k=RANK0, r=R2, a=C)
    schedule(run, R1)
    shown = schedule(run)
    assert R1 not in shown.ranks[RANK0].scheduler.running or marked
    assert (marks(run) != {}) is marked


def test_it_is_off_unless_the_threshold_is_set() -> None:
    off = Script(system_of("drained-traffic", "0.5.23", drainer=False))
    clock = {"waits_too_long", "gets_far_on", "comes_nearest"}
    assert clock.isdisjoint(a.name for a in off.program.actions)
    assert clock <= {a.name for a in server(slots=2).program.actions}
