"""Reservations on the decode role in the order of the queue, so that nobody starves behind a busy adapter.

0.5.20 skips a candidate that the gate refuses and goes on behind it (#39332). While requests for an adapter
that is in use keep coming, its slot never gets free, and a request for another adapter waits for good; there
is neither a timeout nor a drainer on this role. Here nobody passes a candidate that the gate refuses, whether
its handshake is done or not: the rows before it drain, its adapter gets the slot, and the queue goes on. That
is the least that the drainer of the other roles does (``LoRADrainer``), with a threshold of zero.

In the server it is a ``break`` for a ``continue`` in ``DecodePreallocQueue.pop_preallocated``, and the gate's
question before the one about the handshake.
"""

from slotproof.model.language import Set, action, require
from slotproof.model.releases import release
from slotproof.model.serving.decode import (
    as_set,
    can_move,
    enter_transfer,
    fail,
    has_work,
    import_prefills,
    may_end,
    occupied_slots,
    pop_transferred,
    resume_retracted,
    retract,
)
from slotproof.model.serving.forward import hand_over, launch_forward
from slotproof.model.serving.gate import Answer, ask_gate
from slotproof.model.serving.scheduler import sweep
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.step import take_results, tidy
from slotproof.model.serving.vocabulary import Rank, Request, Role, role


def pop_in_order(s: Server, rank: Process, moved: Set[Request]) -> Set[Request]:
    """``pop_preallocated``: drop what failed, then reserve in the order of the queue, up to a refusal."""
    failed = as_set(rank.decode.reserving) & rank.decode.broken
    for r in failed:
        rank.decode.reserving.remove(r)
    fail(s, rank, failed)
    occupied = occupied_slots(rank, s.adapter)
    reserved: Set[Request] = set()
    for r in rank.decode.reserving:
        if ask_gate(rank, r, s.adapter[r], occupied) is not Answer.PASS:
            rank.gate.refused |= {r}
            break
        if r in moved:
            reserved |= {r}
            occupied |= {s.adapter[r]}
    return reserved


@action(actor="scheduler", source="disaggregation/decode.py: event_loop_normal_disagg_decode")
def decode_step(s: Server, k: Rank, moved: Set[Request], ends: Set[Request], quick: bool) -> None:
    """The decode scheduler goes once through its loop, and lets nobody pass whom the gate refuses. Requests
    that leave their stage: {moved}. The last tokens: {ends}; those of arrivals came with their KV: {quick}.
    """
    require(role is Role.DECODE)
    require(has_work(s.ranks[k]))
    require(moved <= can_move(s.ranks[k]))
    require(ends <= may_end(s.ranks[k], moved))
    require(not quick or len(ends & as_set(s.ranks[k].decode.transferring)) > 0)
    out = s.ranks[k].scheduler.running & moved
    resume_retracted(s.ranks[k], moved)
    arrived: Set[Request] = set()
    if len(s.ranks[k].decode.retracted) == 0:
        reserved = pop_in_order(s, s.ranks[k], moved)
        arrived |= pop_transferred(s, s.ranks[k], moved)
        enter_transfer(s.ranks[k], reserved)
    import_prefills(s, s.ranks[k], ends & arrived if quick else ends - ends)
    sweep(s.ranks[k].scheduler)
    retract(s.ranks[k], out)
    hand_over(s.ranks[k], s.ranks[k].scheduler.running, s.adapter)
    launch_forward(s.ranks[k], s.adapter)
    s.ranks[k].forward.results = s.ranks[k].forward.rows
    take_results(s, s.ranks[k].scheduler, s.ranks[k].forward.rows, ends)
    tidy(s, s.ranks[k])


candidate = release("0.5.23").with_actions(decode_step)
