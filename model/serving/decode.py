"""The decode role of prefill/decode disaggregation (``disaggregation/decode.py``).

A request passes these stages; the middle column says whether the admission gate of this role counts its
adapter as occupying a slot (all releases with a gate):

    reserving      no   ``DecodePreallocQueue.queue``, handshake pending or done; leaves by a reservation
    transferring   yes  ``DecodeTransferQueue.queue``; leaves when the prefill server's KV has arrived
    waiting        yes  ``waiting_queue``; leaves into a batch that counts as prefilled already
    running        yes  ``running_batch``, finished rows included until they are swept
    broken         no   aborted or failed while reserving or transferring; out at the next poll
    retracted      no   left out: see below

One iteration of ``event_loop_normal_disagg_decode`` is one step: reservations (the gate), arrivals, the
batch of imported prefills, the sweep, the forward, its result. The gate comes *before* the sweep, so that
it sees rows that finished in the iteration before. The tokenizer's steps and aborts lie between two
iterations (``tokenizer.py`` says why that loses nothing).

Reductions, each exact for what the properties look at:

- Handshakes are not stored. A candidate that is not handshaken is skipped, and one behind a used-up limit
  (metadata buffers, rows, KV) is not looked at; neither leaves a trace, and with synchronous loading a
  refusal does not either. So ``moved`` names the candidates that the pass looks at, each pass anew, and a
  server whose handshake ends with the pass that accepts the candidate makes the same states.
- The handshake and the transfer of one request do not end in the same iteration: the writes of the prefill
  server start after the reservation has been sent to it.
- An abort and a failure reported by the peer set the same mark ``broken``. The next poll reports
  ``KVPoll.Failed`` for both, and the answer is an output with abort reason 500.
- ``transferring`` is a set. Its order decides only the order in which requests that arrive together enter
  the waiting queue, and every order of reservations is one of the server's.
- A deferred KV release (``_deferred_releases``) holds memory and no adapter: left out.

Retraction is left out: while a request is retracted nothing is admitted, and it comes back to the waiting
queue, which the gate counts, before anything else is; the adapters of the stages that count and of the
retracted requests together never grow in between.
"""

from __future__ import annotations

from slotproof.model.language import Map, Set, action, decision, parameter, require
from slotproof.model.serving.decode_queues import break_off, in_decode_queues
from slotproof.model.serving.forward import hand_over, launch_forward
from slotproof.model.serving.front import at_ingest
from slotproof.model.serving.gate import Answer, ask_gate
from slotproof.model.serving.scheduler import Scheduler, sweep
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.step import take_results, tidy
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, Role, role

rows = parameter("rows", int, 3, "rows of the active set (max_running_requests)")


@decision
def gate_on_reservation() -> bool:
    """Whether a candidate's adapter has to pass the admission gate before KV is reserved for it."""
    ...


def only_memory_decides() -> bool:
    """No: request rows, metadata buffers and KV alone limit the active set (up to 0.5.19)."""
    return False


def gate_decides() -> bool:
    """Yes, the gate of the other roles; who is refused stays in the queue (0.5.20, #39332)."""
    return True


@decision
def occupied_on_decode(scheduler: Scheduler) -> Set[Request]:
    """The rows of the active set whose adapters occupy slots while reservations are made."""
    ...


def finished_rows_too(scheduler: Scheduler) -> Set[Request]:
    """All of them: the device may still read their slots (0.5.20, #39332)."""
    return scheduler.running


def unfinished_rows_only(scheduler: Scheduler) -> Set[Request]:
    """Those that have not finished, as on the single role."""
    return scheduler.running - scheduler.finished


@decision
def reservation_occupies() -> bool:
    """Whether a reservation counts for the candidates behind it in the same pass."""
    ...


def counted_at_once() -> bool:
    """Yes: its adapter joins the occupied ones right away (0.5.20, #39332)."""
    return True


def occupied_slots(rank: Process, adapter: Map[Request, Adapter]) -> Set[Adapter]:
    """The adapters that hold slots for the decode role: of active, transferring and waiting requests."""
    holders = occupied_on_decode(rank.scheduler) | rank.decode.transferring
    return {adapter[r] for r in holders} | {adapter[r] for r in rank.scheduler.waiting}


def answer_now(s: Server, ended: Set[Request]) -> None:
    """``stream_output`` of requests that leave at once."""
    s.replies.outputs |= {r for r in ended if r in s.tokenizer.open}


def fail(s: Server, rank: Process, failed: Set[Request]) -> None:
    """``prepare_abort``, ``stream_output``: they leave with an output whose finish reason is abort 500."""
    rank.decode.broken -= failed
    answer_now(s, failed)
    s.replies.errors |= {r for r in failed if r in s.tokenizer.open}


def pop_preallocated(s: Server, rank: Process, moved: Set[Request]) -> Set[Request]:
    """``DecodePreallocQueue.pop_preallocated``: drop what failed, then reserve in the order of the queue.

    A refused candidate is skipped and stays where it is. Returns the requests that got a reservation.
    """
    failed = {r for r in rank.decode.reserving if r in rank.decode.broken}
    rank.decode.reserving = [r for r in rank.decode.reserving if r not in failed]
    fail(s, rank, failed)
    occupied = occupied_slots(rank, s.adapter)
    reserved: Set[Request] = set()
    for r in rank.decode.reserving:
        if r in moved:
            if not gate_on_reservation() or ask_gate(rank, r, s.adapter[r], occupied) is Answer.PASS:
                reserved |= {r}
                if reservation_occupies():
                    occupied |= {s.adapter[r]}
    rank.decode.reserving = [r for r in rank.decode.reserving if r not in reserved]
    return reserved


def pop_transferred(s: Server, rank: Process, moved: Set[Request]) -> None:
    """``DecodeTransferQueue.pop_transferred``: what failed leaves, that whose KV is here waits to run."""
    failed = rank.decode.transferring & rank.decode.broken
    arrived = (rank.decode.transferring & moved) - failed
    rank.decode.transferring = rank.decode.transferring - failed - arrived
    fail(s, rank, failed)
    for r in arrived:
        rank.scheduler.waiting.append(r)


def import_prefills(s: Server, rank: Process, ends: Set[Request], at_once: bool) -> None:
    """``get_new_prebuilt_batch``: the free rows go to waiting requests; a finished row is still taken.

    With ``at_once``, those that end had their last token from the prefill server: their output goes out
    and they never run (``process_batch_result_prebuilt``).
    """
    free = rows - len(rank.scheduler.running)
    started: Set[Request] = set()
    for r in rank.scheduler.waiting:
        if len(started) < free:
            started |= {r}
    rank.scheduler.waiting = [r for r in rank.scheduler.waiting if r not in started]
    if at_once:
        answer_now(s, started & ends)
        started -= ends
    rank.scheduler.running |= started


def has_work(rank: Process) -> bool:
    """Whether an iteration would do anything."""
    return (
        len(rank.decode.reserving) + len(rank.scheduler.waiting) > 0
        or len(rank.decode.transferring | rank.scheduler.running) > 0
    )


def can_move(rank: Process) -> Set[Request]:
    """Requests whose reservation or arrival this iteration can see."""
    return ({r for r in rank.decode.reserving} | rank.decode.transferring) - rank.decode.broken


def may_start(rank: Process, moved: Set[Request]) -> Set[Request]:
    """Requests that this iteration finds waiting for a row."""
    return ((rank.decode.transferring & moved) - rank.decode.broken) | {r for r in rank.scheduler.waiting}


def may_end(rank: Process, moved: Set[Request]) -> Set[Request]:
    """Requests that can get their last token in this iteration; those that find no row do not."""
    return may_start(rank, moved) | (rank.scheduler.running - rank.scheduler.finished - rank.scheduler.to_finish)


@action(actor="scheduler", source="disaggregation/decode.py: event_loop_normal_disagg_decode")
def decode_step(s: Server, k: Rank, moved: Set[Request], ends: Set[Request], at_once: bool) -> None:
    """The scheduler goes once through its loop: it makes reservations, takes what has arrived, imports it,
    sweeps, launches the active set and takes its result. Handshaken and looked at, or arrived: {moved}.
    The last tokens: {ends}; {at_once}: of those that only start now, it came from the prefill server.
    """
    require(role is Role.DECODE)
    require(has_work(s.ranks[k]))
    require(moved <= can_move(s.ranks[k]))
    require(ends <= may_end(s.ranks[k], moved))
    require(not at_once or len(ends & may_start(s.ranks[k], moved)) > 0)
    reserved = pop_preallocated(s, s.ranks[k], moved)
    pop_transferred(s, s.ranks[k], moved)
    s.ranks[k].decode.transferring |= reserved
    import_prefills(s, s.ranks[k], ends, at_once)
    sweep(s.ranks[k].scheduler)
    hand_over(s.ranks[k], s.ranks[k].scheduler.running, s.adapter)
    launch_forward(s.ranks[k], s.adapter)
    s.ranks[k].forward.results = s.ranks[k].forward.rows
    take_results(s, s.ranks[k].scheduler, s.ranks[k].forward.rows, ends)
    tidy(s, s.ranks[k].scheduler)


@action(actor="prefill server", source="disaggregation/common/conn.py: CommonKVReceiver.failure_exception")
def transfer_fails(s: Server, k: Rank, r: Request) -> None:
    """The prefill server gives up on {r}, or its handshake or transfer fails or times out."""
    require(role is Role.DECODE)
    require(at_ingest(s))
    require(in_decode_queues(s.ranks[k].decode, r) and r not in s.ranks[k].decode.broken)
    break_off(s.ranks[k].decode, r)
