"""What must hold of forwards: the weights that their rows read."""

from __future__ import annotations

from slotproof.model.language import Set, step_invariant
from slotproof.model.serving.scheduler import Scheduler, in_flight
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Loop, Rank, Request, loop


def kept_rows(scheduler: Scheduler) -> Set[Request]:
    """Rows of the forward in flight whose output will be kept."""
    return in_flight(scheduler) - scheduler.finished


@step_invariant
def resident_at_launch(before: Server, after: Server) -> bool:
    """Each adapter of a batch is in a slot when its kernels are launched, and its copy has ended."""
    return all(
        all(
            after.adapter[r] in after.ranks[k].pool.resident
            and after.adapter[r] not in after.ranks[k].loader.filling
            for r in after.ranks[k].forward.launched
        )
        for k in Rank
    )


@step_invariant
def stable_in_flight(before: Server, after: Server) -> bool:
    """The load stream writes no slot that a row of the forward in flight reads whose output is kept."""
    return all(
        all(
            before.adapter[r] not in after.ranks[k].gate.overwritten
            for r in kept_rows(before.ranks[k].scheduler) - after.ranks[k].forward.discarded
        )
        for k in Rank
    )


@step_invariant
def right_adapter(before: Server, after: Server) -> bool:
    """Each row whose token will be delivered reads the weights of the adapter that its request named.

    It reads that adapter's slot, and nothing has been written into the slot after the copy.

    In the overlap loop a row that finishes in the same step has been launched once too often: its token is
    discarded.
    """
    return all(
        all(
            loop is Loop.OVERLAP and r in after.ranks[k].scheduler.finished
            for r in after.ranks[k].forward.misrouted | after.ranks[k].forward.wiped
        )
        for k in Rank
    )


@step_invariant
def split_equals_single(before: Server, after: Server) -> bool:
    """Each token of the decode role is computed with the adapter that the request came with, and its KV.

    A single server for which ``right_adapter`` holds uses that one, too: for every token the two agree,
    whatever batches the two form.
    """
    return all(
        all(
            r not in after.ranks[k].forward.misrouted
            and r in after.ranks[k].forward.launched
            and after.adapter[r] == before.adapter[r]
            and after.adapter[r] in after.ranks[k].pool.resident
            for r in after.ranks[k].forward.results
        )
        for k in Rank
    )
