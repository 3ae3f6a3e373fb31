"""Background loading and cancelled requests: rows L of the obligations, and #25413."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slotproof.model.language import Set, invariant, step_invariant
from slotproof.model.releases import RELEASES, release
from slotproof.model.serving import gate
from slotproof.model.serving.gate import Answer
from slotproof.model.serving.loader import Status, begin_copy, copy_status, looks_again, reap_first
from slotproof.model.serving.manager import fits
from slotproof.model.serving.pool import make_resident
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request
from tests.model.serving.runs import BASE, R1, R2, R3, RANK0, A, B, C, Script, known, system_of, violations

FIXED = ("0.5.13", "0.5.16", "0.5.20", "0.5.23")
NOTHING_ENDS = {"ends": set(), "by_length": set(), "room": 6}


def script(version: str, slots: int = 2) -> Script:
    """A server of three requests, each with an adapter of its own."""
    return Script(system_of("overlap-cancel", version, slots=slots))


def schedule(run: Script, ends: Set[Request] = frozenset()) -> Server:
    """One iteration of the scheduler, up to a copy in flight."""
    return run.do("schedule", k=RANK0, **{**NOTHING_ENDS, "ends": ends})


@pytest.mark.parametrize("faulty", ["0.5.12", "0.5.12.post1"])
def test_a_cancelled_load_keeps_its_slot(faulty: str) -> None:
    """L01, L14."""
    assert known("overlap-cancel", faulty)["no-slot-leak"] == 8


@pytest.mark.parametrize("fixed", FIXED)
def test_no_slot_is_lost_once_ended_copies_are_reaped(fixed: str) -> None:
    """L01, L14: aborts come at every stage of a request and of its copy."""
    assert "no-slot-leak" not in known("overlap-cancel", fixed)


def test_the_reaping_alone_makes_the_difference() -> None:
    """L01: the fixed release without its one decision has the fault again."""
    swapped = release("0.5.13").replace(reap_first="reap_nothing")
    assert "no-slot-leak" in violations(system_of("overlap-cancel", swapped))


def test_smallest_leak_has_one_slot_and_two_requests() -> None:
    """L01, as the report has it: arrive, start, abort, the copy ends, arrive, refused."""
    small: dict[str, Any] = {"requests": 2, "slots": 1, "names": {"r1": ["A"], "r2": ["B"]}, "unloadable": []}
    assert violations(system_of("overlap-cancel", "0.5.12.post1", **small)) == {"no-slot-leak": 6}
    assert violations(system_of("overlap-cancel", "0.5.13", **small)) == {}


def test_completed_stale_loads_are_reaped_before_capacity_check() -> None:
    """L06, X-7: with room for one, the stale copy goes and the new one starts; it is not ready yet."""
    run = script("0.5.13", slots=1)
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    run.do("abort", r=R1)
    run.do("copy_ends", k=RANK0, a=A)
    run.do("arrive", k=RANK0, r=R2, a=B)
    state = schedule(run)
    assert state.ranks[RANK0].loader.pending == {B}
    assert state.ranks[RANK0].pool.resident == {B}
    assert state.ranks[RANK0].gate.refused == {R2}
    assert state.ranks[RANK0].gate.counted[R2] == set()
    assert state.ranks[RANK0].gate.overwritten == {A}


def test_loaded_lora_reused_after_stale_event_drain() -> None:
    """L07, X-7: B's call reaps A's ended copy; A is then ready without a second copy.

    Three slots: the base model keeps one, because it is the last to be evicted.
    """
    run = script("0.5.13", slots=3)
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    run.do("abort", r=R1)
    run.do("echo", r=R1)
    run.do("copy_ends", k=RANK0, a=A)
    run.do("arrive", k=RANK0, r=R2, a=B)
    state = schedule(run)
    assert state.ranks[RANK0].loader.pending == {B}
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)  # B is asked about first and is still copied
    state = run.do("go_on", k=RANK0, **NOTHING_ENDS)
    assert state.ranks[RANK0].forward.rows == {R1}
    assert state.ranks[RANK0].loader.pending == {B}
    assert list(state.ranks[RANK0].loader.copies) == [B]


def test_pending_lora_load_must_complete_even_if_memory_pool_has_slot() -> None:
    """L08, X-7: an adapter in a slot whose event is pending is not ready; the event stays."""
    run = script("0.5.13")
    run.do("arrive", k=RANK0, r=R1, a=A)
    before = schedule(run)
    assert A in before.ranks[RANK0].pool.resident
    after = schedule(run)
    assert after.ranks[RANK0].gate.refused == {R1}
    assert after.ranks[RANK0].loader.pending == {A}
    assert after.ranks[RANK0].pool.resident == before.ranks[RANK0].pool.resident
    assert after.ranks[RANK0].forward.rows == set()


def test_lifecycle_of_a_copy() -> None:
    """L10, L03, L09: absent, copying, copied, ready, in use."""
    run = script("0.5.13")
    run.do("arrive", k=RANK0, r=R1, a=A)
    assert A not in run.state.ranks[RANK0].pool.resident
    loader = schedule(run).ranks[RANK0].loader
    assert (loader.pending, list(loader.copies), loader.filling) == ({A}, [A], {A})
    loader = run.do("copy_ends", k=RANK0, a=A).ranks[RANK0].loader
    assert (loader.pending, list(loader.copies), loader.filling) == ({A}, [], set())
    state = schedule(run)
    assert state.ranks[RANK0].loader.pending == set()
    assert state.ranks[RANK0].forward.rows == {R1}


def test_a_copy_in_flight_counts_and_a_ready_adapter_does_not() -> None:
    """L05, L10: capacity blocks while copies are in flight; the fit test counts pending, occupied, new."""
    run = script("0.5.13")
    for r, a in ((R1, A), (R2, B), (R3, C)):
        run.do("arrive", k=RANK0, r=r, a=a)
    schedule(run)
    run.do("go_on", k=RANK0, **NOTHING_ENDS)
    state = run.do("go_on", k=RANK0, **NOTHING_ENDS)
    assert state.ranks[RANK0].gate.counted[R3] == {A, B}
    run.do("abort", r=R1)
    run.do("abort", r=R2)
    run.do("copy_ends", k=RANK0, a=A)
    state = schedule(run)
    assert state.ranks[RANK0].loader.pending == {B, C}, "A was ready, wanted by nobody, and gave its slot"
    assert state.ranks[RANK0].gate.overwritten == {A}


@pytest.mark.parametrize(("version", "waits"), [("0.5.15", False), ("0.5.16", True)])
def test_unload_waits_before_clearing_slot(version: str, waits: bool) -> None:
    """L10: from 0.5.16 the unload of a copying adapter waits for its copy, then clears the slot."""
    free = release(version).replace(echo_releases="every_end_releases")
    run = Script(system_of("overlap-cancel", free))
    run.do("arrive", k=RANK0, r=R2, a=B)
    schedule(run)
    run.do("abort", r=R2)
    run.do("echo", r=R2)
    run.do("unregister", a=B)
    process = run.do("unload", a=B).ranks[RANK0]
    assert (list(process.loader.copies) == []) is waits
    assert (B in process.loader.pending) is not waits
    assert (B in process.pool.resident) is not waits
    assert process.manager.gone == {B}


@invariant
def pending_is_in_a_slot(s: Server) -> bool:
    """L03, L12: an event is in the table only for an adapter that has a slot."""
    return all(s.ranks[k].loader.pending <= s.ranks[k].pool.resident for k in Rank)


@step_invariant
def copies_are_not_evicted(before: Server, after: Server) -> bool:
    """L12: no slot is written over while the copy into it is in flight."""
    return all(len(after.ranks[k].gate.overwritten & before.ranks[k].loader.filling) == 0 for k in Rank)


@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.13", "0.5.15", "0.5.23"])
def test_slots_and_events_stay_in_step(version: str) -> None:
    """L03, L12."""
    system = system_of("overlap-cancel", version)
    checked = replace(system, properties=(pending_is_in_a_slot, copies_are_not_evicted), witnesses=())
    assert violations(checked) == {}


@pytest.mark.parametrize("version", FIXED)
def test_what_runs_was_reaped_and_what_was_reaped_had_ended(version: str) -> None:
    """L04, L16: no row reads a slot that is being filled, or written over by another copy."""
    found = known("overlap-cancel", version)
    assert not {"resident-at-launch", "stable-in-flight"} & found.keys()


@step_invariant
def ready_adapters_are_kept(before: Server, after: Server) -> bool:
    """L15: no waiting request loses an adapter that was ready for it."""
    return all(
        all(
            before.adapter[r] not in after.ranks[k].gate.overwritten
            for r in before.ranks[k].scheduler.waiting
        )
        for k in Rank
    )


@pytest.mark.parametrize("version", ["0.5.13", "0.5.19", "0.5.20", "0.5.23"])
def test_a_ready_adapter_can_be_evicted_before_its_request_is_scheduled(version: str) -> None:
    """L15: nothing protects it from the load of a sibling."""
    system = system_of("overlap-cancel", version)
    assert "ready-adapters-are-kept" in violations(
        replace(system, properties=(ready_adapters_are_kept,), witnesses=())
    )


@step_invariant
def events_protect(before: Server, after: Server) -> bool:
    """L15: no adapter with an event in the table loses its slot."""
    return all(len(after.ranks[k].gate.overwritten & before.ranks[k].loader.pending) == 0 for k in Rank)


def test_up_to_0_5_12_an_event_keeps_a_ready_adapter() -> None:
    """L15: the event stays in the table until its own request asks, and protects the slot for so long."""
    system = system_of("overlap-cancel", "0.5.12.post1")
    assert violations(replace(system, properties=(events_protect,), witnesses=())) == {}


def test_an_adapter_whose_copy_ends_at_once_is_scheduled_in_the_same_pass() -> None:
    """L15: 0.5.20 looks again right after the start."""
    run = script("0.5.20")
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    run.do("copy_ends", k=RANK0, a=A)
    state = run.do("go_on", k=RANK0, **NOTHING_ENDS)
    assert state.ranks[RANK0].forward.rows == {R1}


def drains_after_the_capacity_test(rank: Process, r: Request, a: Adapter, occupied: Set[Adapter]) -> Answer:
    """``gate.try_load`` with its reaping moved behind the capacity test."""
    status = copy_status(rank.loader, rank.pool, a)
    if status is Status.COPYING and a in rank.loader.copies:
        return Answer.REFUSE
    if status is not Status.ABSENT:
        reap_first(rank.loader)
        return Answer.PASS
    needed = {a} | occupied | rank.loader.pending
    if not fits(rank.manager, needed):
        rank.gate.counted[r] = needed - {a}
        reap_first(rank.loader)
        return Answer.REFUSE
    reap_first(rank.loader)
    missing = needed - rank.pool.resident
    evicted = make_resident(rank.pool, needed, rank.manager.gone)
    begin_copy(rank.loader, a, missing, evicted)
    rank.gate.overwritten |= evicted
    return Answer.LOOK_AGAIN if looks_again() else Answer.REFUSE


def test_mutation_reaping_after_the_capacity_test_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """L02, L11: the refusal counts a copy that has ended and that nobody wants."""
    monkeypatch.setattr(gate, "try_load", drains_after_the_capacity_test)
    mutated = replace(system_of("overlap-cancel", "0.5.13"), name="reaps too late")
    assert "no-slot-leak" in violations(mutated)


def forgets_pending_copies(rank: Process, r: Request, a: Adapter, occupied: Set[Adapter]) -> Answer:
    """``gate.try_load`` with a capacity test that counts the occupied slots alone."""
    reap_first(rank.loader)
    status = copy_status(rank.loader, rank.pool, a)
    if status is not Status.ABSENT:
        return Answer.REFUSE if status is Status.COPYING else Answer.PASS
    needed = {a} | occupied
    if not fits(rank.manager, needed):
        rank.gate.counted[r] = needed - {a}
        return Answer.REFUSE
    missing = needed - rank.pool.resident
    evicted = make_resident(rank.pool, needed, rank.manager.gone)
    begin_copy(rank.loader, a, missing, evicted)
    rank.gate.overwritten |= evicted
    return Answer.REFUSE


def test_mutation_copies_in_flight_do_not_count_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """L05: a copy in flight is written over, and its adapter reported as ready although it has no slot."""
    monkeypatch.setattr(gate, "try_load", forgets_pending_copies)
    system = replace(system_of("overlap-cancel", "0.5.13", stream=6), name="copies do not count")
    checked = replace(system, properties=(pending_is_in_a_slot, copies_are_not_evicted), witnesses=())
    assert violations(checked).keys() >= {"pending-is-in-a-slot", "copies-are-not-evicted"}


@pytest.mark.deep
@pytest.mark.parametrize("version", RELEASES)
def test_full_size(version: str) -> None:
    """L01 at full size: any request may name any adapter."""
    found = violations(system_of("overlap-cancel", version, full=True))
    assert ("no-slot-leak" in found) is (version in ("0.5.12", "0.5.12.post1"))
    assert not {"slot-capacity", "resident-at-launch", "stable-in-flight"} & found.keys()
    assert ("right-adapter" in found) is (RELEASES.index(version) >= RELEASES.index("0.5.16"))


@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.13", "0.5.19"])
def test_ranks_that_see_a_copy_end_at_different_moments_pick_different_batches(version: str) -> None:
    """L17: two tensor-parallel ranks get the same messages; nothing makes them agree on a copy's end."""
    early, late = script(version), script(version)
    for run in (early, late):
        run.do("arrive", k=RANK0, r=R1, a=A)
        schedule(run)
    early.do("copy_ends", k=RANK0, a=A)
    sooner, later = schedule(early), schedule(late)
    assert sooner.ranks[RANK0].forward.rows == {R1}
    assert later.ranks[RANK0].forward.rows == set()
    assert later.ranks[RANK0].gate.refused == {R1}


def test_the_loader_finds_slots_and_an_empty_table_from_the_first_call_on() -> None:
    """L13: the pool is built before the loader can be asked; it holds the base model."""
    start = script("0.5.13").state
    assert start.ranks[RANK0].pool.resident == {BASE}
    assert start.ranks[RANK0].loader.pending == set()
    run = script("0.5.13")
    run.do("arrive", k=RANK0, r=R1, a=A)
    assert schedule(run).ranks[RANK0].loader.pending == {A}


@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.19", "0.5.22", "0.5.23"])
def test_a_pick_that_takes_the_last_room_ends_the_pass(version: str) -> None:
    """Real code of 0.5.12.post1 has shown it (``add_one_req`` returns ``budget_state``): the gate is not
    asked about B any more, and no copy of it starts."""
    run = Script(system_of("whole-server", version))
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    if version >= "0.5.20":  # the loader looks again at once
        run.do("go_on", k=RANK0, ends=set(), by_length=set())
    run.do("copy_ends", k=RANK0, a=A)
    run.do("arrive", k=RANK0, r=R2, a=B)
    state = run.do("schedule", k=RANK0, **{**NOTHING_ENDS, "room": 2})
    rank = state.ranks[RANK0]
    assert list(rank.scheduler.waiting) == [R2]
    assert rank.scheduler.asked is None
    assert B not in rank.loader.pending
