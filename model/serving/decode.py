"""The decode role of prefill/decode disaggregation (``disaggregation/decode.py``).

A request passes these stages; the middle column says whether the admission gate of this role counts its
adapter as occupying a slot (all releases with a gate):

    reserving      no   ``DecodePreallocQueue.queue``, handshake pending or done; leaves by a reservation
    transferring   yes  ``DecodeTransferQueue.queue``; leaves when the prefill server's KV has arrived
    waiting        yes  ``waiting_queue``; leaves into a batch that counts as prefilled already
    running        yes  ``running_batch``, finished rows included until they are swept
    retracted      no   ``retracted_queue``, rows put out for want of KV; back to waiting, no gate
    broken         no   aborted or failed while reserving or transferring; out at the next poll

One iteration of ``event_loop_normal_disagg_decode`` is one step: reservations (the gate), arrivals, the
batch of imported prefills, the sweep, the forward, its result. The gate comes *before* the sweep, so that
it sees rows that finished in the iteration before. The tokenizer's steps and aborts lie between two
iterations (``front.py`` says why that loses nothing).

Reductions, each exact for what the properties look at:

- Handshakes are not stored. A candidate that is not handshaken is skipped, and one behind a used-up limit
  (metadata buffers, rows, KV) is not looked at; neither leaves a trace, and with synchronous loading a
  refusal does not either. So ``moved`` names the candidates that the pass looks at, each pass anew, and a
  server whose handshake ends with the pass that accepts the candidate makes the same states. The same set
  names the transfers that have ended, the retracted rows for which there is KV again, and the rows that
  are put out for want of it: a request is in one of these stages only.
- The handshake and the transfer of one request do not end in the same iteration: the writes of the prefill
  server start after the reservation has been sent to it.
- An abort and a failure reported by the peer set the same mark ``broken``. The next poll reports
  ``KVPoll.Failed`` for both, and the answer is an output with abort reason 500.
- A deferred KV release (``_deferred_releases``) holds memory and no adapter: left out.
- The result of a forward is taken at once (the normal loop). With synchronous loading the overlap loop adds
  nothing here: it too shows a finished row to the gate of the next iteration, and the forward in flight is
  ordered before the next one's copies.

Which rows are retracted depends on the tokens that each has produced, which the model does not count: any
can be, as long as one remains. While one is out nothing is reserved and no transfer is polled.
"""

from __future__ import annotations

from slotproof.model.language import (
    Annotated,
    Map,
    Range,
    Seq,
    Set,
    action,
    decision,
    initial,
    parameter,
    require,
)
from slotproof.model.serving.decode_queues import awaits_kv, break_off
from slotproof.model.serving.forward import hand_over, launch_forward
from slotproof.model.serving.gate import Answer, ask_gate
from slotproof.model.serving.scheduler import Scheduler, sweep
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.step import at_ingest, take_results, tidy
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, Role, requests, role

least_rows = parameter("least_rows", int, 2, "smallest active set (max_running_requests)")
retraction = parameter("retraction", bool, True, "KV can run short, so that rows are put out for a time")


@decision
def gate_on_reservation() -> bool:
    """Whether a candidate's adapter has to pass the admission gate before KV is reserved for it."""
    raise NotImplementedError


def only_memory_decides() -> bool:
    """No: request rows, metadata buffers and KV alone limit the active set (up to 0.5.19)."""
    return False


def gate_decides() -> bool:
    """Yes, the gate of the other roles; who is refused stays in the queue (0.5.20, #39332)."""
    return True


@decision
def refusal_ends_reservation() -> bool:
    """What a candidate that the gate refuses means for those behind it."""
    raise NotImplementedError


def skips_the_refused_candidate() -> bool:
    """Nothing: it is asked about with its handshake done, and the queue goes on (0.5.20, #39332)."""
    return False


def stops_at_the_refused_candidate() -> bool:
    """They wait too, also behind one whose handshake is not done; no release has it."""
    return True


@decision
def occupied_on_decode(scheduler: Scheduler) -> Set[Request]:
    """The rows of the active set whose adapters occupy slots while reservations are made."""
    raise NotImplementedError


def finished_rows_too(scheduler: Scheduler) -> Set[Request]:
    """All of them: the device may still read their slots (0.5.20, #39332)."""
    return scheduler.running


def unfinished_rows_only(scheduler: Scheduler) -> Set[Request]:
    """Those that have not finished, as on the single role."""
    return scheduler.running - scheduler.finished


@decision
def reservation_occupies() -> bool:
    """Whether a reservation counts for the candidates behind it in the same pass."""
    raise NotImplementedError


def counted_at_once() -> bool:
    """Yes: its adapter joins the occupied ones right away (0.5.20, #39332)."""
    return True


def as_set(queue: Seq[Request]) -> Set[Request]:
    """The requests of a queue without their order."""
    return {r for r in Request if r in queue}


def occupied_slots(rank: Process, adapter: Map[Request, Adapter]) -> Set[Adapter]:
    """The adapters that hold slots for the decode role: of active, transferring and waiting requests."""
    holders = (
        occupied_on_decode(rank.scheduler) | as_set(rank.decode.transferring) | as_set(rank.scheduler.waiting)
    )
    return {adapter[r] for r in holders}


def answer_now(s: Server, ended: Set[Request]) -> None:
    """``stream_output`` of requests that leave at once."""
    s.replies.outputs |= ended & s.tokenizer.open


def fail(s: Server, rank: Process, failed: Set[Request]) -> None:
    """``prepare_abort``, ``stream_output``: they leave with an output whose finish reason is abort 500."""
    rank.decode.broken -= failed
    answer_now(s, failed)
    s.replies.errors |= failed & s.tokenizer.open


def resume_retracted(rank: Process, moved: Set[Request]) -> None:
    """``resume_retracted_reqs``: back to waiting, in order, as far as KV reaches; without the gate."""
    resumed: Set[Request] = set()
    for r in rank.decode.retracted:
        if r not in moved:
            break
        resumed |= {r}
        rank.scheduler.waiting.append(r)
    rank.decode.retracted[:] = [r for r in rank.decode.retracted if r not in resumed]


def pop_preallocated(s: Server, rank: Process, moved: Set[Request]) -> Set[Request]:
    """``DecodePreallocQueue.pop_preallocated``: drop what failed, then reserve in the order of the queue.

    A refused candidate stays where it is. Returns the requests that got a reservation.
    """
    failed = as_set(rank.decode.reserving) & rank.decode.broken
    rank.decode.reserving[:] = [r for r in rank.decode.reserving if r not in failed]
    fail(s, rank, failed)
    occupied = occupied_slots(rank, s.adapter)
    reserved: Set[Request] = set()
    for r in rank.decode.reserving:
        asked = gate_on_reservation() and (r in moved or refusal_ends_reservation())
        if asked and ask_gate(rank, r, s.adapter, occupied) is not Answer.PASS:
            rank.gate.refused |= {r}
            if refusal_ends_reservation():
                break
        elif r in moved:
            reserved |= {r}
            if reservation_occupies():
                occupied |= {s.adapter[r]}
    return reserved


def pop_transferred(s: Server, rank: Process, moved: Set[Request]) -> Set[Request]:
    """``DecodeTransferQueue.pop_transferred``: what failed leaves, that whose KV is here waits for a row.

    Returns the requests that have arrived.
    """
    failed = as_set(rank.decode.transferring) & rank.decode.broken
    arrived = (as_set(rank.decode.transferring) & moved) - failed
    fail(s, rank, failed)
    for r in rank.decode.transferring:
        if r in arrived:
            rank.scheduler.waiting.append(r)
    left = failed | arrived
    rank.decode.transferring[:] = [r for r in rank.decode.transferring if r not in left]
    return arrived


def enter_transfer(rank: Process, reserved: Set[Request]) -> None:
    """``DecodeTransferQueue.extend``: the reserved requests, in the order of the reservation queue."""
    for r in rank.decode.reserving:
        if r in reserved:
            rank.decode.transferring.append(r)
    rank.decode.reserving[:] = [r for r in rank.decode.reserving if r not in reserved]


def import_prefills(s: Server, rank: Process) -> None:
    """``get_new_prebuilt_batch``: the free rows go to waiting requests; a finished row is still taken.

    Those whose last token came from the prefill server take a row as well, but never run: their output goes
    out (``process_batch_result_prebuilt``), like that of a request that was aborted before it was retracted.
    """
    started: Set[Request] = set()
    for r in rank.scheduler.waiting:
        if len(rank.scheduler.running) + len(started) < rank.decode.rows:
            started |= {r}
    rank.scheduler.waiting[:] = [r for r in rank.scheduler.waiting if r not in started]
    ended = started & (rank.decode.complete | rank.scheduler.to_finish)
    rank.decode.complete -= started
    answer_now(s, ended)
    rank.scheduler.running |= started - ended


def retract(rank: Process, out: Set[Request]) -> None:
    """``retract_decode``: put these rows out for want of KV, as long as one stays."""
    if out != rank.scheduler.running:
        for r in out:
            rank.decode.retracted.append(r)
        rank.scheduler.running -= out


def has_work(rank: Process) -> bool:
    """Whether an iteration would do anything."""
    return (
        len(rank.decode.reserving) + len(rank.decode.transferring) + len(rank.decode.retracted) > 0
        or len(rank.scheduler.waiting) + len(rank.scheduler.running) > 0
    )


def can_move(rank: Process) -> Set[Request]:
    """Requests that may leave their stage in this iteration."""
    queued = as_set(rank.decode.reserving) | as_set(rank.decode.transferring)
    if len(rank.decode.retracted) == 0 and retraction:
        queued |= rank.scheduler.running - rank.scheduler.finished
    return (queued | as_set(rank.decode.retracted)) - rank.decode.broken


def may_end(rank: Process, moved: Set[Request]) -> Set[Request]:
    """Requests that can get their last token in this iteration: rows that stay, and whoever may start."""
    rows = rank.scheduler.running - rank.scheduler.finished - rank.scheduler.to_finish - moved
    starting = as_set(rank.decode.transferring) | as_set(rank.decode.retracted)
    return rows | (starting & moved) | (as_set(rank.scheduler.waiting) - rank.decode.complete)


@action(actor="scheduler", source="disaggregation/decode.py: event_loop_normal_disagg_decode")
def decode_step(s: Server, k: Rank, moved: Set[Request], ends: Set[Request], quick: Set[Request]) -> None:
    """The decode scheduler goes once through its loop.

    ``moved`` may leave their stage, as far as a gate lets them; ``ends`` get their last tokens; of ``quick``,
    which arrive, the prefill server has sent them.
    """
    require(role is Role.DECODE)
    require(has_work(s.ranks[k]))
    require(moved <= can_move(s.ranks[k]))
    require(quick <= as_set(s.ranks[k].decode.transferring) & moved)
    require(ends <= may_end(s.ranks[k], moved) - quick)
    out = s.ranks[k].scheduler.running & moved
    resume_retracted(s.ranks[k], moved)
    if len(s.ranks[k].decode.retracted) == 0:
        reserved = pop_preallocated(s, s.ranks[k], moved)
        s.ranks[k].decode.complete |= pop_transferred(s, s.ranks[k], moved) & quick
        enter_transfer(s.ranks[k], reserved)
    import_prefills(s, s.ranks[k])
    sweep(s.ranks[k].scheduler)
    retract(s.ranks[k], out)
    hand_over(s.ranks[k], s.ranks[k].scheduler.running, s.adapter)
    launch_forward(s.ranks[k], s.adapter)
    s.ranks[k].forward.results = s.ranks[k].forward.rows
    take_results(s, s.ranks[k].scheduler, s.ranks[k].forward.rows, ends)
    tidy(s, s.ranks[k])


@action(actor="prefill server", source="disaggregation/common/conn.py: CommonKVReceiver.failure_exception")
def transfer_fails(s: Server, k: Rank, r: Request) -> None:
    """The prefill server gives up on {r}, or its handshake or transfer fails or times out."""
    require(role is Role.DECODE)
    require(at_ingest(s))
    require(awaits_kv(s.ranks[k].decode, r) and r not in s.ranks[k].decode.broken)
    break_off(s.ranks[k].decode, r)


@initial
def with_rows(s: Server, limit: Annotated[int, Range(least_rows, requests)]) -> None:
    """The active set holds {limit} rows at most."""
    for k in Rank:
        s.ranks[k].decode.rows = limit
