"""Row X-1: which containers of a process count as occupying a slot, in each role and release.

One request with adapter A is put into a container; the next pass asks the gate about a request with B, for
which there is room only if A does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from slotproof.model.language import Set
from slotproof.model.releases import RELEASES
from slotproof.model.serving.scheduler import Batch
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import Adapter
from tests.model.serving.runs import R1, R2, RANK0, A, B, Script, system_of

ALL = RELEASES
NO = ()
TOLD_APART = ("0.5.12.post1", "0.5.13", "0.5.13.post1", "0.5.14", "0.5.23")
"""One release of each kind, as far as occupied slots go."""


def since(first: str) -> tuple[str, ...]:
    """The releases from this one on."""
    return RELEASES[RELEASES.index(first) :]


def until(last: str) -> tuple[str, ...]:
    """The releases up to this one."""
    return RELEASES[: RELEASES.index(last) + 1]


def open_reply(rank: Process) -> None:
    """Nowhere: its output is on the way to the tokenizer."""


def active_row(rank: Process) -> None:
    """A row of the active set."""
    rank.scheduler.running = {R1}
    rank.scheduler.in_flight = Batch.DECODE


def finished_row(rank: Process) -> None:
    """A row that has finished and is not swept, still computed by the forward in flight."""
    active_row(rank)
    rank.scheduler.finished = {R1}


def row_to_finish(rank: Process) -> None:
    """An aborted row, which ends with its next result."""
    active_row(rank)
    rank.scheduler.to_finish = {R1}


def last_prefill(rank: Process) -> None:
    """A row of the last prefill: it is merged before the gate is asked."""
    rank.scheduler.last = {R1}
    rank.scheduler.in_flight = Batch.PREFILL


def partial_prompt(rank: Process) -> None:
    """The partial prompt, which the pass goes on with."""
    last_prefill(rank)
    rank.scheduler.chunk = R1


def queued_before(rank: Process) -> None:
    """A request before it in the queue, which the same pass picks."""
    rank.scheduler.waiting.append(R1)


class Single(NamedTuple):
    """A container of the single role, and the releases in which it counts."""

    put: Callable[[Process], None]
    counts: tuple[str, ...]


SINGLE = (
    Single(open_reply, NO),
    Single(active_row, ALL),
    Single(finished_row, until("0.5.13.post1")),
    Single(row_to_finish, ALL),
    Single(last_prefill, ALL),
    Single(partial_prompt, since("0.5.13")),
    Single(queued_before, ALL),
)


def counted(shown: Server) -> Set[Adapter]:
    """What the fit test counted when it refused r2; nothing if it did not."""
    return shown.ranks[RANK0].gate.counted[R2]


@pytest.mark.parametrize("release", TOLD_APART)
@pytest.mark.parametrize("case", SINGLE, ids=lambda c: c.put.__name__)
def test_what_counts_on_the_single_role(case: Single, release: str) -> None:
    """X-1, D04, F05: prefill batches, one slot, loading with the forward."""
    names = {"r1": ["A"], "r2": ["B"]}
    run = Script(system_of("partial-prompt", release, requests=2, slots=1, names=names))

    def put(s: Server) -> None:
        s.adapter[R1], s.adapter[R2] = A, B
        s.tokenizer.open = {R1, R2}
        case.put(s.ranks[RANK0])
        s.ranks[RANK0].scheduler.waiting.append(R2)

    shown = run.edit(put).do("schedule", k=RANK0, ends=set(), by_length=set(), room=6)
    assert counted(shown) == ({A} if release in case.counts else set())


def copy_in_flight(rank: Process) -> None:
    """No request, but a copy that has not ended."""
    rank.loader.pending = {A}
    rank.loader.copies.append(A)
    rank.loader.filling = {A}
    rank.pool.resident = {A}
    rank.pool.recency.append(A)


def ended_copy(rank: Process) -> None:
    """No request, but a copy that has ended and is not reaped."""
    rank.loader.pending = {A}
    rank.pool.resident = {A}
    rank.pool.recency.append(A)


def ready_adapter(rank: Process) -> None:
    """No request, but a slot."""
    rank.pool.resident = {A}
    rank.pool.recency.append(A)


BACKGROUND = (
    Single(copy_in_flight, ALL),
    Single(ended_copy, until("0.5.12.post1")),
    Single(ready_adapter, NO),
    Single(active_row, ALL),
)


@pytest.mark.parametrize("release", TOLD_APART)
@pytest.mark.parametrize("case", BACKGROUND, ids=lambda c: c.put.__name__)
def test_what_counts_with_background_loading(case: Single, release: str) -> None:
    """X-1, L05: the loader adds its table of copies."""
    names = {"r1": ["A"], "r2": ["B"]}
    run = Script(system_of("overlap-cancel", release, requests=2, slots=1, names=names))

    def put(s: Server) -> None:
        s.adapter[R2] = B
        s.tokenizer.open = {R2}
        if case.put is active_row:
            s.adapter[R1] = A
            s.tokenizer.open |= {R1}
            s.ranks[RANK0].pool.resident = {A}
            s.ranks[RANK0].pool.recency.append(A)
        case.put(s.ranks[RANK0])
        s.ranks[RANK0].scheduler.waiting.append(R2)

    shown = run.edit(put).do("schedule", k=RANK0, ends=set(), by_length=set(), room=6)
    assert counted(shown) == ({A} if release in case.counts else set())


def transferring(rank: Process) -> None:
    """Its KV is on the way."""
    rank.decode.transferring.append(R1)


def broken_transfer(rank: Process) -> None:
    """Its transfer has failed, and the next poll will say so: after the pass over the reservations."""
    transferring(rank)
    rank.decode.broken = {R1}


def waiting_for_a_row(rank: Process) -> None:
    """Its KV has arrived."""
    rank.scheduler.waiting.append(R1)


def unready_reservation(rank: Process) -> None:
    """Before it in the reservation queue, its handshake not done."""
    rank.decode.reserving.append(R1)


def reserved_before(rank: Process) -> None:
    """Before it in the reservation queue, and reserved in the same pass."""
    rank.decode.reserving.append(R1)


class Decode(NamedTuple):
    """A container of the decode role, whether it counts, and what else moves in the pass."""

    put: Callable[[Process], None]
    counts: bool
    moved: Set[object] = frozenset()


DECODE = (
    Decode(open_reply, False),
    Decode(unready_reservation, False),
    Decode(reserved_before, True, frozenset({R1})),
    Decode(transferring, True),
    Decode(broken_transfer, True),
    Decode(waiting_for_a_row, True),
    Decode(active_row, True),
    Decode(finished_row, True),
    Decode(row_to_finish, True),
)


@pytest.mark.parametrize("release", ["0.5.20", "0.5.23"])
@pytest.mark.parametrize("case", DECODE, ids=lambda c: c.put.__name__)
def test_what_counts_on_the_decode_role(case: Decode, release: str) -> None:
    """X-1, D06, D07, D08: reservations, one slot."""
    names = {"r1": ["A"], "r2": ["B"]}
    run = Script(system_of("decode-admission", release, names=names), limit=2)

    def put(s: Server) -> None:
        s.adapter[R1], s.adapter[R2] = A, B
        s.tokenizer.open = {R1, R2}
        case.put(s.ranks[RANK0])
        s.ranks[RANK0].scheduler.in_flight = Batch.NONE
        s.ranks[RANK0].decode.reserving.append(R2)

    shown = run.edit(put).do("decode_step", k=RANK0, moved={R2, *case.moved}, ends=set(), quick=set())
    assert counted(shown) == ({A} if case.counts else set())


def test_while_a_row_is_retracted_the_decode_role_asks_nobody() -> None:
    """X-1: it need not count, for nothing is admitted beside it."""
    names = {"r1": ["A"], "r2": ["B"]}
    run = Script(system_of("decode-admission", "0.5.23", names=names), limit=2)

    def put(s: Server) -> None:
        s.adapter[R1], s.adapter[R2] = A, B
        s.tokenizer.open = {R1, R2}
        s.ranks[RANK0].decode.retracted.append(R1)
        s.ranks[RANK0].decode.reserving.append(R2)

    shown = run.edit(put).do("decode_step", k=RANK0, moved={R2}, ends=set(), quick=set())
    assert counted(shown) == set()
    assert list(shown.ranks[RANK0].decode.reserving) == [R2]
