"""What a scenario must be able to reach: a search that does not meet it has proved nothing."""

from __future__ import annotations

from slotproof.model.language import Set, witness
from slotproof.model.serving.manager import has_room
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, slots


@witness
def copies_in_parallel(s: Server) -> bool:
    """Two copies are under way at once."""
    return any(len(s.ranks[k].loader.copies) >= 2 for k in Rank)


@witness
def orphaned_copy(s: Server) -> bool:
    """A copy has ended and no request names its adapter any more."""
    named = {s.adapter[r] for r in Request}
    return any(
        any(a not in named and a not in s.ranks[k].loader.copies for a in s.ranks[k].loader.pending)
        for k in Rank
    )


@witness
def slots_exhausted(s: Server) -> bool:
    """The running adapters leave no room for that of a waiting request."""
    return any(
        any(
            not has_room(s.ranks[k].manager, {s.adapter[r]} | running_adapters(s, k))
            for r in s.ranks[k].scheduler.waiting
        )
        for k in Rank
    )


@witness
def partial_prompt_between(s: Server) -> bool:
    """A prompt is computed in part, and another request waits."""
    return any(s.ranks[k].scheduler.chunk is not None and len(s.ranks[k].scheduler.waiting) > 0 for k in Rank)


@witness
def aborted_partial_prompt(s: Server) -> bool:
    """A request is aborted while its prompt is computed in part."""
    return any(any(s.ranks[k].scheduler.chunk == r for r in s.ranks[k].scheduler.to_finish) for k in Rank)


@witness
def late_reference(s: Server) -> bool:
    """An adapter has been unloaded between the look-up of a request and its reference."""
    return any(any(s.adapter[r] in s.ranks[k].manager.gone for r in s.tokenizer.looked_up) for k in Rank)


@witness
def orphaned_warm_up(s: Server) -> bool:
    """A scheduler computes a prompt whose client has gone."""
    return any(any(s.tokenizer.warm_up == r for r in s.ranks[k].scheduler.to_finish) for k in Rank)


@witness
def aborted_row(s: Server) -> bool:
    """A running request has been aborted and its last result is due."""
    return any(len(s.ranks[k].scheduler.to_finish & s.ranks[k].scheduler.running) > 0 for k in Rank)


@witness
def finished_unswept(s: Server) -> bool:
    """A row has finished and is not swept while another request waits."""
    return any(
        len(s.ranks[k].scheduler.finished & s.ranks[k].scheduler.running) > 0
        and len(s.ranks[k].scheduler.waiting) > 0
        for k in Rank
    )


@witness
def between_candidates(s: Server) -> bool:
    """The scheduler stands between two candidates, with a copy under way."""
    return any(s.ranks[k].scheduler.asked is not None for k in Rank)


@witness
def base_evicted(s: Server) -> bool:
    """The base model has lost its slot."""
    return any(all(a != Adapter(0) for a in s.ranks[k].pool.resident) for k in Rank)


@witness
def adapter_unloaded(s: Server) -> bool:
    """An adapter has been unloaded."""
    return any(len(s.ranks[k].manager.gone) > 0 for k in Rank)


@witness
def unload_waits(s: Server) -> bool:
    """An unload waits for requests that use its adapter."""
    return any(s.adapter[r] in s.registry.unloading for r in s.tokenizer.open)


def running_adapters(s: Server, k: Rank) -> Set[Adapter]:
    """The adapters of a rank's active set."""
    return {s.adapter[r] for r in s.ranks[k].scheduler.running}


@witness
def candidate_behind_full_slots(s: Server) -> bool:
    """As many adapters as there are slots are transferring or running, and another request wants to."""
    return any(
        len({s.adapter[r] for r in s.ranks[k].decode.transferring} | running_adapters(s, k)) == slots
        and len(s.ranks[k].decode.reserving) > 0
        for k in Rank
    )


@witness
def broken_transfer(s: Server) -> bool:
    """A request has been aborted or has failed while its KV was on its way."""
    return any(any(r in s.ranks[k].decode.broken for r in s.ranks[k].decode.transferring) for k in Rank)


@witness
def waits_for_a_row(s: Server) -> bool:
    """A request whose KV has arrived finds no free row."""
    return any(len(s.ranks[k].scheduler.waiting) > 0 for k in Rank)


@witness
def retracted_row(s: Server) -> bool:
    """A row has been put out for want of KV while another one runs."""
    return any(len(s.ranks[k].decode.retracted) > 0 and len(s.ranks[k].scheduler.running) > 0 for k in Rank)


@witness
def finished_before_the_gate(s: Server) -> bool:
    """The next pass over the reservation queue sees a finished row whose adapter has been unloaded."""
    return any(
        any(s.adapter[r] in s.ranks[k].manager.gone for r in s.ranks[k].scheduler.finished)
        and len(s.ranks[k].decode.reserving) > 0
        for k in Rank
    )


@witness
def idle_beside_busy(s: Server) -> bool:
    """One rank has rows and another has nothing at all to do."""
    return any(len(s.ranks[k].scheduler.running) > 0 for k in Rank) and any(
        len(s.ranks[k].scheduler.running | s.ranks[k].scheduler.last) + len(s.ranks[k].scheduler.waiting) == 0
        for k in Rank
    )


@witness
def both_busy(s: Server) -> bool:
    """All ranks have rows."""
    return all(len(s.ranks[k].scheduler.running | s.ranks[k].scheduler.last) > 0 for k in Rank)


@witness
def one_adapter_on_both(s: Server) -> bool:
    """The same adapter, not the base model, is in a slot of every rank."""
    return any(all(a in s.ranks[k].pool.resident for k in Rank) for a in Adapter if a != Adapter(0))


@witness
def adapter_drains(s: Server) -> bool:
    """An adapter with rows drains for another."""
    return any(
        any(s.ranks[k].drainer.drains_for[s.adapter[r]] is not None for r in s.ranks[k].scheduler.running)
        for k in Rank
    )


@witness
def kept_back_by_a_drain(s: Server) -> bool:
    """A request waits whose adapter drains and has nothing but rows that it would outlast."""
    return any(
        any(
            s.ranks[k].drainer.drains_for[s.adapter[r]] is not None
            and {q for q in s.ranks[k].scheduler.running if s.adapter[q] == s.adapter[r]}
            <= s.ranks[k].drainer.far_on
            for r in s.ranks[k].scheduler.waiting
        )
        for k in Rank
    )
