"""The admission gate: may this request's adapter join the batch (``can_schedule_lora_req``).

The order of the tests is the server's: drainer, membership among the occupied slots, then the background
loader or the fit test. Every part of an answer is one step on the CPU, the start of a copy included; only
the copy itself goes on in the background.
"""

from __future__ import annotations

import enum

from slotproof.model.language import Map, Set, decision
from slotproof.model.serving.drainer import drainer, drainer_allows
from slotproof.model.serving.loader import Status, begin_copy, copy_status, looks_again, reap_first
from slotproof.model.serving.manager import fits
from slotproof.model.serving.pool import make_resident
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.server import Process
from slotproof.model.serving.vocabulary import Adapter, Loading, Request, loading


class Answer(enum.Enum):
    """What the gate says of a candidate."""

    PASS = "its adapter can join the batch"
    REFUSE = "it stays in the queue"
    LOOK_AGAIN = "its copy has just been started, and the loader looks once more whether it has ended"


@decision
def occupied_on_prefill(scheduler: Scheduler) -> Set[Request]:
    """The rows of the active set whose adapters occupy slots while a prefill batch is picked."""
    raise NotImplementedError


def all_rows(scheduler: Scheduler) -> Set[Request]:
    """All of them, finished ones that are not swept included (up to 0.5.13)."""
    return scheduler.running


def unfinished_rows(scheduler: Scheduler) -> Set[Request]:
    """Those that have not finished (0.5.14, #27597)."""
    return scheduler.running - scheduler.finished


@decision
def partial_prompt_occupies() -> bool:
    """Whether the partial prompt that a prefill batch goes on with occupies a slot for its other picks."""
    raise NotImplementedError


def not_counted() -> bool:
    """No: it is neither in the active set nor among the picks of the pass (up to 0.5.12, #23141)."""
    return False


def counted_with_the_picks() -> bool:
    """Yes (0.5.13)."""
    return True


def try_load(rank: Process, r: Request, a: Adapter, occupied: Set[Adapter]) -> Answer:
    """``try_overlap_load_lora``: whether the adapter is ready; start its copy if it is absent and fits.

    Ended copies are reaped before the status and the capacity test. A copy in flight counts as occupied.
    Making the adapter resident may evict any other that is neither occupied, pending nor pinned; the load
    stream writes the slot at once and waits for no forward.
    """
    reap_first(rank.loader)
    status = copy_status(rank.loader, rank.pool, a)
    if status is Status.COPYING:
        return Answer.REFUSE
    if status is Status.READY:
        return Answer.PASS
    needed = {a} | occupied | rank.loader.pending
    if not fits(rank.manager, needed):
        rank.gate.counted[r] = needed - {a}
        return Answer.REFUSE
    missing = needed - rank.pool.resident
    evicted = make_resident(rank.pool, needed, rank.manager.gone)
    begin_copy(rank.loader, a, missing, evicted)
    rank.gate.overwritten |= evicted
    return Answer.LOOK_AGAIN if looks_again() else Answer.REFUSE


def ask_gate(rank: Process, r: Request, adapter: Map[Request, Adapter], occupied: Set[Adapter]) -> Answer:
    """``can_schedule_lora_req``: request ``r`` with its adapter, while these adapters hold slots."""
    if drainer and not drainer_allows(rank.drainer, rank.scheduler.running, adapter, r):
        return Answer.REFUSE
    a = adapter[r]
    if a in occupied:
        return Answer.PASS
    if loading is Loading.BACKGROUND:
        return try_load(rank, r, a, occupied)
    if fits(rank.manager, {a} | occupied):
        return Answer.PASS
    rank.gate.counted[r] = occupied
    return Answer.REFUSE
