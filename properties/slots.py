"""What must hold of slots: how many adapters share a forward, and that no slot is lost."""

from __future__ import annotations

from slotproof.model.language import Set, step_invariant
from slotproof.model.serving.decode_queues import in_decode_queues
from slotproof.model.serving.scheduler import holds, in_flight
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, pinned, slots


def is_held(s: Server, k: Rank, r: Request) -> bool:
    """Whether a scheduler still has the request in any container: waiting, reserving, transferring, partly
    prefilled, a row of a batch, finished or not."""
    return holds(s.ranks[k].scheduler, r) or in_decode_queues(s.ranks[k].decode, r)


def accounted_for(s: Server, k: Rank) -> Set[Adapter]:
    """Adapters that occupy a slot for a reason: a request, a forward in flight, a copy under way, a pin."""
    return (
        {s.adapter[r] for r in Request if is_held(s, k, r) or r in in_flight(s.ranks[k].scheduler)}
        | {a for a in Adapter if a in s.ranks[k].loader.copies}
        | pinned
    )


@step_invariant
def slot_capacity(before: Server, after: Server) -> bool:
    """The adapters of a batch that is handed to the forward number at most the slots, base included."""
    return all(len(after.ranks[k].forward.handed) <= slots for k in Rank)


@step_invariant
def no_slot_leak(before: Server, after: Server) -> bool:
    """When the fit test refuses a request, each adapter that it counted occupies its slot for a reason.

    The reason is looked up in the state before the step: what the scheduler holds does not change between
    the top of an iteration and its last question to the gate, and a copy that the step itself has started
    is that of a waiting request.
    """
    return all(all(after.ranks[k].gate.counted[r] <= accounted_for(before, k) for r in Request) for k in Rank)
