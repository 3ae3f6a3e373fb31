"""Finished rows, unloading and the partial prompt: rows F of the obligations, #27597 and #23141."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slotproof.model.language import step_invariant
from slotproof.model.releases import RELEASES, Release, release
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Rank, Request
from tests.model.serving.runs import BASE, R1, R2, R3, RANK0, A, B, Script, known, system_of, violations

CRASH = "no-crash-fit-test-unknown-adapter"
UP_TO_0_5_13 = ("0.5.12", "0.5.12.post1", "0.5.13", "0.5.13.post1")
LOOPS = ("finish-unload", "finish-unload-normal")


def schedule(run: Script, ends: set[Request] = frozenset(), room: int = 6) -> Server:  # type: ignore[assignment]
    """One iteration of the scheduler."""
    return run.do("schedule", k=RANK0, ends=set(ends), by_length=set(), room=room)


@pytest.mark.parametrize("scenario", LOOPS)
@pytest.mark.parametrize("faulty", ["0.5.12.post1", "0.5.13.post1"])
def test_a_finished_row_takes_an_unloaded_adapter_into_the_fit_test(scenario: str, faulty: str) -> None:
    """F01."""
    assert known(scenario, faulty)[CRASH] == 8


@pytest.mark.parametrize("scenario", LOOPS)
@pytest.mark.parametrize("fixed", ["0.5.14", "0.5.23"])
def test_without_finished_rows_every_adapter_is_known(scenario: str, fixed: str) -> None:
    """F01, F03: all interleavings of result, answer, unload and pass."""
    assert CRASH not in known(scenario, fixed)


def test_the_finished_rows_alone_make_the_difference() -> None:
    """F01, F03: the fixed release without its one decision has the fault again."""
    swapped = release("0.5.14").replace(occupied_on_prefill="all_rows")
    assert violations(system_of("finish-unload", swapped))[CRASH] == 8


def test_without_a_pinned_adapter_nobody_is_looked_up() -> None:
    """F06."""
    system = system_of("finish-unload", "0.5.13.post1", pinned=[])
    assert CRASH not in violations(replace(system, witnesses=()))


def finished_and_unloaded(of: str | Release) -> Script:
    """A's only row has finished, is not swept, and A has been unloaded; r2 asks for B."""
    run = Script(system_of("finish-unload", of))
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    state = schedule(run, ends={R1})
    assert state.ranks[RANK0].scheduler.running == {R1} == state.ranks[RANK0].scheduler.finished
    run.do("answer", r=R1)
    run.do("unregister", a=A)
    run.do("unload", a=A)
    run.do("arrive", k=RANK0, r=R2, a=B)
    return run


def test_finish_unload_pick_kills_0_5_13() -> None:
    """F08, X-7: the pass after the unload counts the finished row."""
    run = finished_and_unloaded("0.5.13.post1")
    schedule(run)
    assert run.crash == "fit-test-unknown-adapter"


@pytest.mark.parametrize("version", ["0.5.14", "0.5.16", "0.5.22", "0.5.23"])
def test_finish_unload_pick_is_harmless_later(version: str) -> None:
    """F08."""
    run = finished_and_unloaded(version)
    state = schedule(run)
    assert run.crash is None
    assert state.ranks[RANK0].forward.rows == {R2}


@pytest.mark.parametrize(("version", "lingers"), [("0.5.22", True), ("0.5.23", False)])
def test_a_finished_row_lingers_while_prefills_keep_coming(version: str, lingers: bool) -> None:
    """F02: up to 0.5.22 only a decode sweeps."""
    run = Script(system_of("finish-unload", version))
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    schedule(run, ends={R1})
    for _ in range(2):
        run.do("arrive", k=RANK0, r=R2, a=B)
        run.do("arrive", k=RANK0, r=R3, a=BASE)
        state = schedule(run)
        assert (R1 in state.ranks[RANK0].scheduler.running) is lingers
        run.do("abort", r=R2)
        run.do("abort", r=R3)
        break
    run.do("answer", r=R1)
    state = schedule(run)
    assert R1 not in state.ranks[RANK0].scheduler.running, "a decode has swept it"


def test_an_aborted_row_is_not_finished() -> None:
    """F04: it holds its reference until its result is processed, so that the unload waits."""
    run = Script(system_of("finish-unload", "0.5.14"))
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    run.do("abort", r=R1)
    state = run.do("unregister", a=A)
    assert state.ranks[RANK0].scheduler.to_finish == {R1}
    run.cannot("unload", a=A)


@pytest.mark.parametrize("version", ["0.5.13.post1", "0.5.14", "0.5.23"])
def test_no_unload_passes_a_row_that_will_finish(version: str) -> None:
    """F04, F09: the answer may be delayed for as long as it likes; the unload comes after it."""
    assert "unload-safe" not in known("finish-unload", version)
    run = Script(system_of("finish-unload", version))
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    schedule(run, ends={R1})
    run.do("unregister", a=A)
    run.cannot("unload", a=A)
    run.do("answer", r=R1)
    run.do("unload", a=A)


@pytest.mark.parametrize("version", ["0.5.14", "0.5.16", "0.5.23"])
def test_slots_in_flight_and_the_fit_test_are_both_safe(version: str) -> None:
    """F10, X-2 on one server: finished rows are not counted, and no row whose token counts loses its slot.

    From 0.5.16 on without the other fault of an unload, which zeroes a slot that a copy is under way to.
    """
    chosen = release(version)
    if chosen.names()["unload_and_slot"] == "slot_cleared":
        chosen = chosen.replace(unload_and_slot="slot_zeroed_by_the_loader")
    found = violations(system_of("whole-server", chosen))
    assert CRASH not in found
    assert not {"stable-in-flight", "resident-at-launch", "right-adapter"} & found.keys()


@step_invariant
def swept_slots_are_written(before: Server, after: Server) -> bool:
    """F10: no slot that any row of the forward in flight reads is written over."""
    return all(
        all(
            before.adapter[r] not in after.ranks[k].gate.overwritten
            for r in before.ranks[k].scheduler.running
        )
        for k in Rank
    )


def test_a_slot_of_a_discarded_row_may_be_written_over() -> None:
    """F10: that is the price of leaving finished rows out; their tokens are discarded."""
    system = system_of("overlap-cancel", "0.5.14")
    checked = replace(system, properties=(swept_slots_are_written,), witnesses=())
    assert "swept-slots-are-written" in violations(checked)


@pytest.mark.parametrize(("version", "over"), [("0.5.12.post1", True), ("0.5.13", False)])
def test_a_continuing_chunk_occupies_a_slot(version: str, over: bool) -> None:
    """F05, #23141: up to 0.5.12 the forward gets one adapter too many, and dies of it."""
    found = known("partial-prompt", version)
    assert (found.get("slot-capacity") == 5) is over
    assert (found.get("no-crash-make-resident-too-many") == 5) is over


def test_mutation_the_chunk_is_not_counted_is_caught() -> None:
    """F05: on the newest release too."""
    mutated = release("0.5.23").replace(partial_prompt_occupies="not_counted")
    assert "slot-capacity" in violations(system_of("partial-prompt", mutated))


@pytest.mark.deep
@pytest.mark.parametrize("scenario", LOOPS)
@pytest.mark.parametrize("version", RELEASES)
def test_full_size(scenario: str, version: str) -> None:
    """F01, F03 at full size: any request may name any adapter."""
    found = violations(system_of(scenario, version, full=True))
    assert (CRASH in found) is (version in UP_TO_0_5_13)
    assert not {"unload-safe", "slot-capacity", "right-adapter"} & found.keys()
