"""Lemmas: what is always true of the server's state, and why the properties hold at any depth.

``slotproof prove`` shows that these together are kept by every step, at the sizes that are asked for, and
takes them for granted where it proves a property. None is believed: a lemma that a release or a candidate
does not keep is left out, and the proof goes on without it.
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Capacity, Seq, Set, implies, invariant
from slotproof.model.language.surface import Property
from slotproof.model.serving.decode import occupied_slots
from slotproof.model.serving.pool import can_be_victim
from slotproof.model.serving.scheduler import is_row
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import (
    Adapter,
    Rank,
    Request,
    adapters,
    requests,
    slots,
    stream,
    unloadable,
)
from slotproof.properties.references import unloaded, use_count
from slotproof.properties.slots import is_held


def each_once(queue: Seq[Request]) -> bool:
    """Whether no request stands twice in a queue."""
    return all(
        all(queue[i] != queue[j] for j in range(requests) if j < i) for i in range(requests) if i < len(queue)
    )


@invariant
def queued_once(s: Server) -> bool:
    """A request stands at most once in each queue, so that no queue can overflow."""
    return (
        all(each_once(s.ranks[k].scheduler.waiting) for k in Rank)
        and all(each_once(s.ranks[k].decode.reserving) for k in Rank)
        and all(each_once(s.ranks[k].decode.transferring) for k in Rank)
        and all(each_once(s.ranks[k].decode.retracted) for k in Rank)
    )


@invariant
def held_in_one_place(s: Server) -> bool:
    """A request waits, reserves, receives, is put out or is a row; it is one of these, on one rank."""
    return all(
        sum(
            (1 if r in s.ranks[k].scheduler.waiting else 0)
            + (1 if is_row(s.ranks[k].scheduler, r) else 0)
            + (1 if r in s.ranks[k].decode.reserving else 0)
            + (1 if r in s.ranks[k].decode.transferring else 0)
            + (1 if r in s.ranks[k].decode.retracted else 0)
            for k in Rank
        )
        <= 1
        for r in Request
    )


@invariant
def picks_wait(s: Server) -> bool:
    """What a pass has admitted still waits until the pass ends; between two passes nothing is admitted."""
    return all(
        all(r in s.ranks[k].scheduler.waiting for r in s.ranks[k].scheduler.picks) for k in Rank
    ) and all(
        implies(
            s.ranks[k].scheduler.asked is None,
            len(s.ranks[k].scheduler.picks) == 0 and s.ranks[k].scheduler.resumed is None,
        )
        for k in Rank
    )


@invariant
def partial_prompt_apart(s: Server) -> bool:
    """A partial prompt is no row of the active set yet, and has not finished; a pass has one at most."""
    return all(
        all(
            r not in s.ranks[k].scheduler.running and r not in s.ranks[k].scheduler.finished
            for r in Request
            if s.ranks[k].scheduler.chunk == r or s.ranks[k].scheduler.resumed == r
        )
        for k in Rank
    ) and all(
        s.ranks[k].scheduler.asked is None
        or s.ranks[k].scheduler.chunk is None
        or s.ranks[k].scheduler.chunk == s.ranks[k].scheduler.resumed
        for k in Rank
    )


@invariant
def pass_follows_merge(s: Server) -> bool:
    """While a pass goes on, the last prefill's unfinished rows are in the active set already."""
    return all(
        s.ranks[k].scheduler.asked is None
        or all(
            r in s.ranks[k].scheduler.running
            or r in s.ranks[k].scheduler.finished
            or s.ranks[k].scheduler.resumed == r
            for r in s.ranks[k].scheduler.last
        )
        for k in Rank
    )


@invariant
def finished_is_row(s: Server) -> bool:
    """Only rows have finished: nothing is kept of those that have left."""
    return all(all(is_row(s.ranks[k].scheduler, r) for r in s.ranks[k].scheduler.finished) for k in Rank)


def unfinished(s: Server, k: Rank) -> Set[Request]:
    """The requests that a scheduler holds and that have not finished."""
    return {r for r in Request if is_held(s, k, r)} - s.ranks[k].scheduler.finished


@invariant
def held_is_open(s: Server) -> bool:
    """The tokenizer keeps the state of a request, and with it a reference, until the scheduler is done."""
    return all(unfinished(s, k) <= s.tokenizer.open for k in Rank)


@invariant
def answered_has_left(s: Server) -> bool:
    """Once an answer is on its way the scheduler has no more than the finished row of the request."""
    return s.replies.errors <= s.replies.outputs and all(
        len(unfinished(s, k) & (s.replies.outputs | s.replies.echoes)) == 0 for k in Rank
    )


@invariant
def unloading_is_absent(s: Server) -> bool:
    """Whom a client can still name is in every catalogue, and no unload of it is under way."""
    return (
        s.registry.unloading <= s.registry.absent
        and s.registry.absent <= unloadable
        and all(s.ranks[k].manager.gone <= s.registry.absent for k in Rank)
    )


@invariant
def gone_is_unloaded(s: Server) -> bool:
    """What has left the catalogue of a rank has left that of every other: who is unregistered, and not about
    to be unloaded."""
    return all(s.ranks[k].manager.gone == unloaded(s) for k in Rank)


@invariant
def samples_apart(s: Server) -> bool:
    """A request that is still to be sent, of a list or as a second sample, is nowhere else; the first of two
    samples is open from its warm-up on."""
    return (
        all(not was_sent(s, r) for r in s.tokenizer.looked_up)
        and all(
            not was_sent(s, r) and r not in s.tokenizer.looked_up
            for r in Request
            if s.tokenizer.promised == r
        )
        and all(r in s.tokenizer.open for r in Request if s.tokenizer.warm_up == r)
    )


def was_sent(s: Server, r: Request) -> bool:
    """Whether a request has been sent: its state is open, an answer is on its way, or a scheduler has it."""
    return (
        r in s.tokenizer.open
        or r in s.replies.outputs
        or r in s.replies.echoes
        or any(is_held(s, k, r) for k in Rank)
    )


@invariant
def held_is_loaded(s: Server) -> bool:
    """The adapter of each request that has not finished is in the catalogue."""
    return all(all(s.adapter[r] not in s.ranks[k].manager.gone for r in unfinished(s, k)) for k in Rank)


@invariant
def rows_are_loaded(s: Server) -> bool:
    """The adapter of each row of the active set is in the catalogue, of a finished row too.

    No release keeps this, which is why the fit test dies where it counts finished rows (F10); it is kept
    where an unload sweeps them first (``candidates/unload_sweeps_first.py``).
    """
    return all(
        all(s.adapter[r] not in s.ranks[k].manager.gone for r in s.ranks[k].scheduler.running) for k in Rank
    )


@invariant
def residents_fit(s: Server) -> bool:
    """There are no more residents than slots; the empty slots that will be zeroed are apart from theirs."""
    return all(len(s.ranks[k].pool.resident) + s.ranks[k].pool.zeroing <= slots for k in Rank)


@invariant
def rows_fit(s: Server) -> bool:
    """With synchronous loading the rows that have not finished, the picks of the pass and the partial prompt
    have no more adapters than there are slots: the gate has counted them all."""
    return all(
        len(
            {
                s.adapter[r]
                for r in Request
                if r not in s.ranks[k].scheduler.finished
                and (is_row(s.ranks[k].scheduler, r) or r in s.ranks[k].scheduler.picks)
            }
        )
        <= slots
        for k in Rank
    )


def each_adapter_once(queue: Seq[Adapter]) -> bool:
    """Whether no adapter stands twice in an order of adapters."""
    return all(
        all(queue[i] != queue[j] for j in range(adapters) if j < i) for i in range(adapters) if i < len(queue)
    )


def each_in_flight_once(copies: Annotated[Seq[Adapter], Capacity(stream)]) -> bool:
    """Whether no adapter has two copies on the load stream."""
    return all(
        all(copies[i] != copies[j] for j in range(stream) if j < i) for i in range(stream) if i < len(copies)
    )


@invariant
def residents_in_order(s: Server) -> bool:
    """Each resident that can be a victim stands in the order of use, and no adapter stands there twice."""
    return (
        all(
            all(a in s.ranks[k].pool.recency for a in s.ranks[k].pool.resident if can_be_victim(a))
            for k in Rank
        )
        and all(each_adapter_once(s.ranks[k].pool.recency) for k in Rank)
        and all(all(can_be_victim(a) for a in s.ranks[k].pool.recency) for k in Rank)
    )


@invariant
def copies_pending(s: Server) -> bool:
    """An adapter whose copy is under way has one copy, an event and a slot."""
    return (
        all(all(a in s.ranks[k].loader.pending for a in s.ranks[k].loader.copies) for k in Rank)
        and all(s.ranks[k].loader.pending <= s.ranks[k].pool.resident for k in Rank)
        and all(each_in_flight_once(s.ranks[k].loader.copies) for k in Rank)
    )


def runs_or_is_picked(s: Server, k: Rank, r: Request) -> bool:
    """Whether a request is a row that has not finished, or a pick of the pass."""
    return r in s.ranks[k].scheduler.picks or (
        is_row(s.ranks[k].scheduler, r) and r not in s.ranks[k].scheduler.finished
    )


def is_ready(s: Server, k: Rank, a: Adapter) -> bool:
    """Whether an adapter is in a slot, and no copy of it is under way."""
    return a in s.ranks[k].pool.resident and a not in s.ranks[k].loader.copies


@invariant
def rows_resident(s: Server) -> bool:
    """With background loading the adapter of each unfinished row, and of each pick, is in a slot, ready."""
    return all(all(is_ready(s, k, s.adapter[r]) for r in Request if runs_or_is_picked(s, k, r)) for k in Rank)


@invariant
def reservations_fit(s: Server) -> bool:
    """The adapters that hold slots for the decode role number at most the slots, those of rows that are put
    out included: they come back without the gate."""
    return all(
        len(
            occupied_slots(s.ranks[k], s.adapter)
            | {s.adapter[r] for r in Request if r in s.ranks[k].decode.retracted}
        )
        <= slots
        for k in Rank
    )


OF_CANDIDATES: tuple[Property, ...] = (rows_are_loaded,)
"""What no release keeps, and a candidate does."""

OF_EVERY_ROLE: tuple[Property, ...] = (
    *OF_CANDIDATES,
    queued_once,
    held_in_one_place,
    picks_wait,
    partial_prompt_apart,
    pass_follows_merge,
    finished_is_row,
    held_is_open,
    answered_has_left,
    unloading_is_absent,
    gone_is_unloaded,
    held_is_loaded,
    residents_fit,
    residents_in_order,
    use_count,
)

COSTLY: tuple[Property, ...] = (rows_are_loaded, rows_fit)
"""What few properties need, and what takes longest to show: how many adapters rows have is a pigeonhole."""

OF_SYNCHRONOUS_LOADING: tuple[Property, ...] = (*OF_EVERY_ROLE, rows_fit)

OF_USE_COUNTS: tuple[Property, ...] = (*OF_SYNCHRONOUS_LOADING, samples_apart)

OF_BACKGROUND_LOADING: tuple[Property, ...] = (*OF_EVERY_ROLE, copies_pending, rows_resident)

OF_DECODE: tuple[Property, ...] = (*OF_EVERY_ROLE, reservations_fit)
