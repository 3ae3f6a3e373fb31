"""What must hold of the waiting queue."""

from __future__ import annotations

from slotproof.model.language import Set, step_invariant
from slotproof.model.serving.manager import has_room
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank


def in_use(s: Server, k: Rank) -> Set[Adapter]:
    """Adapters of rows that have not finished, and of copies that have not been reaped."""
    rows = (s.ranks[k].scheduler.running | s.ranks[k].scheduler.last) - s.ranks[k].scheduler.finished
    return {s.adapter[r] for r in rows} | s.ranks[k].loader.pending


@step_invariant
def work_conserving(before: Server, after: Server) -> bool:
    """A request whose adapter the gate would pass is not left behind a refused one."""
    return all(
        all(
            after.adapter[r] not in in_use(after, k)
            and not has_room(after.ranks[k].manager, {after.adapter[r]} | in_use(after, k))
            for r in after.ranks[k].gate.unasked
        )
        for k in Rank
    )


@step_invariant
def refused_waits(before: Server, after: Server) -> bool:
    """A request that the gate refuses stays in its queue: it is not aborted and loses no reservation."""
    return all(
        all(
            r in after.ranks[k].scheduler.waiting or r in after.ranks[k].decode.reserving
            for r in after.ranks[k].gate.refused
        )
        for k in Rank
    )
