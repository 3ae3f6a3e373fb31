"""Three streams: a slot that an unload frees is zeroed behind the forward in flight, and copied into before.

Rows L10 and L16: the invariant that a ready slot holds its adapter's weights, which is right-adapter here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slotproof.model.language import Set
from slotproof.model.releases import Release, release
from slotproof.model.serving.loader import Loader, wait_for_copy
from slotproof.model.serving.pool import Pool, clear_slot
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import Adapter, Request
from tests.model.serving.runs import BASE, R1, R2, R3, RANK0, A, B, C, Script, known, system_of, violations

FAULTY = ("0.5.16", "0.5.19", "0.5.20", "0.5.23")
NOTHING_ENDS: Mapping[str, Any] = {"ends": set(), "by_length": set()}


@pytest.mark.parametrize("version", FAULTY)
def test_a_row_is_computed_from_a_slot_that_was_zeroed_after_the_copy(version: str) -> None:
    """L16."""
    assert known("overlap-cancel", version)["right-adapter"] == 12


@pytest.mark.parametrize("version", ["0.5.13", "0.5.15.post1"])
def test_nothing_is_zeroed_before_0_5_16(version: str) -> None:
    """L16: an unload leaves the slot to its adapter until someone else is copied over it."""
    assert "right-adapter" not in known("overlap-cancel", version)


def test_the_clearing_alone_brings_the_fault() -> None:
    """L16: the last release without it, with that one decision."""
    cleared = release("0.5.15.post1").replace(unload_and_slot="slot_cleared")
    assert "right-adapter" in violations(system_of("overlap-cancel", cleared))


def waits_for_the_zeroing(loader: Loader, pool: Pool, a: Adapter) -> None:
    """A candidate: the unload waits on the host until the schedule stream has zeroed the slot."""
    wait_for_copy(loader, a)
    clear_slot(pool, a)


@pytest.mark.parametrize("version", ["0.5.16", "0.5.23"])
@pytest.mark.parametrize("cure", ["slot_zeroed_by_the_loader", waits_for_the_zeroing])
def test_an_order_between_zeroing_and_copy_cures_it_and_loses_nothing(version: str, cure: Any) -> None:
    """L16: on the load stream the zeroing comes before the copy; so it does if the host waits for it."""
    cured = violations(system_of("overlap-cancel", release(version).replace(unload_and_slot=cure)))
    assert cured == {k: n for k, n in known("overlap-cancel", version).items() if k != "right-adapter"}


@pytest.mark.parametrize("version", ["0.5.16", "0.5.23"])
def test_with_captured_decodes_the_fence_holds_behind_a_prefill(version: str) -> None:
    """L16: the fence of a captured decode is open before the next ingest; that of a prefill is not."""
    assert violations(system_of("overlap-cancel", version, graphs=True))["right-adapter"] > 12


def test_loading_with_the_forward_is_in_order() -> None:
    """L16: the forward stream waits for the schedule stream before it copies."""
    assert "right-adapter" not in known("finish-unload", "0.5.23")


class Unloading(Script):
    """B holds a slot beside the base model, its only request ends, and it is unloaded.

    ``flying``: a forward with its row, launched once too often, is in flight at the unload.
    """

    def __init__(self, of: Release | str, flying: bool, **parameters: Any) -> None:
        super().__init__(system_of("overlap-cancel", of, **parameters))
        self.do("arrive", k=RANK0, r=R2, a=B)
        self.schedule()
        self.do("copy_ends", k=RANK0, a=B)
        self.schedule()
        self.schedule({R2})
        if not flying:
            self.schedule()
        self.do("answer", r=R2)
        self.do("unregister", a=B)
        self.do("unload", a=B)

    def schedule(self, ends: Set[Request] = frozenset()) -> Server:
        """One iteration of the scheduler, up to a copy in flight."""
        return self.do("schedule", k=RANK0, room=6, **{**NOTHING_ENDS, "ends": ends})

    def go_on(self) -> Server:
        """The rest of a pass."""
        return self.do("go_on", k=RANK0, **NOTHING_ENDS)

    @property
    def process(self) -> Process:
        """The scheduler process."""
        return self.state.ranks[RANK0]


def test_a_forward_in_flight_keeps_the_zeroing_back() -> None:
    """L10, L16: the next copy takes the slot; when the forward has ended, its weights are gone."""
    run = Unloading("0.5.16", flying=True)
    assert run.process.pool.zeroing == 1
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.schedule()
    assert (run.process.pool.zeroing, run.process.pool.wiped) == (0, {A})
    run.do("copy_ends", k=RANK0, a=A)
    run.schedule()
    assert run.process.forward.rows == run.process.forward.wiped == {R1}


def test_without_a_forward_in_flight_the_slot_is_zeroed_before_anyone_copies() -> None:
    """L10, L16."""
    run = Unloading("0.5.16", flying=False)
    assert run.process.pool.zeroing == 0
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.schedule()
    run.do("copy_ends", k=RANK0, a=A)
    run.schedule()
    assert run.process.forward.rows == {R1}
    assert run.process.forward.wiped == set()


def test_a_copy_after_the_forward_has_ended_is_whole() -> None:
    """L16: the step that takes the forward's result ends the zeroing."""
    run = Unloading("0.5.16", flying=True)
    run.schedule()
    assert run.process.pool.zeroing == 0
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.schedule()
    assert run.process.pool.wiped == set()


def test_who_evicts_an_adapter_from_a_slot_that_is_still_to_be_zeroed_loses_its_weights() -> None:
    """L15, L16: A's copy has ended and nobody holds it, so that C takes its slot in the same pass."""
    run = Unloading("0.5.16", flying=True)
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.do("arrive", k=RANK0, r=R3, a=C)
    run.schedule()
    assert run.process.pool.overtaken == {A}
    run.do("copy_ends", k=RANK0, a=A)
    run.go_on()
    assert run.process.gate.overwritten == {A}
    assert (run.process.pool.overtaken, run.process.pool.wiped) == (set(), {C})


def test_an_adapter_stays_wiped_until_it_is_copied_again() -> None:
    """L16: no copy mends it while it has a slot; each of its requests is computed without it."""
    run = Unloading("0.5.16", flying=True)
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.schedule()
    run.do("copy_ends", k=RANK0, a=A)
    run.schedule()
    run.schedule({R1})
    run.schedule()
    run.do("answer", r=R1)
    assert run.process.pool.wiped == {A}
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.schedule()
    assert run.process.forward.wiped == {R1}, "the next request of A"
    run.schedule({R1})
    run.schedule()
    run.do("answer", r=R1)
    run.do("arrive", k=RANK0, r=R3, a=C)
    run.schedule()
    assert A not in run.process.pool.resident
    assert run.process.pool.wiped == set()


def test_zeros_over_the_base_model_change_nothing() -> None:
    """L16: its slot is filled with zeros anyway."""
    run = Unloading("0.5.16", flying=True, names={"r1": ["A"], "r2": ["B"], "r3": ["base"]})
    run.edit(lambda s: base_is_evicted(s.ranks[RANK0].pool))
    run.do("arrive", k=RANK0, r=R3, a=BASE)
    run.schedule()
    assert run.process.pool.resident == {BASE, A}
    assert run.process.pool.wiped == set()


def base_is_evicted(pool: Pool) -> None:
    """A is in the slot that the base model had."""
    pool.resident = (pool.resident - {BASE}) | {A}
    pool.recency.append(A)
