"""One iteration of the scheduler's loop (``event_loop_normal``, ``event_loop_overlap``), in its order.

    ingest            the tokenizer's steps between two iterations, see front.py
    begin_iteration   tear down an aborted partial prompt, merge, sweep      (get_next_batch_to_run)
    ask_queue         the gate over the queue, first come first served       (_get_new_batch_prefill_raw)
    launch            a prefill of the picks, else a decode                  (update_running_batch, run_batch)
    take_results      at once, or of the forward before                      (process_batch_result)

An iteration is one step wherever nothing can happen in between that any part of the server sees. Messages
are read at the top alone. What the GPU does is seen only where the loader asks whether a copy has ended:
so an iteration is cut between two candidates, and after a copy's start, while a copy is in flight, and
nowhere else. Between the last candidate and the next iteration nobody looks, so that launch and result
belong to the last part of the pass.

What a pass admits is limited by tokens (``PrefillAdder``), counted here in half prompts: a prompt takes
two, the last piece of a partial prompt one. A limit that shuts the queue for more than the pass
(``batch_is_full``) is left out, and so are mixed batches, retraction, preemption and grammars.
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Map, Range, Set, action, decision, require, some
from slotproof.model.serving.decode_queues import in_decode_queues
from slotproof.model.serving.drainer import drainer, forget, update_marks
from slotproof.model.serving.forward import hand_over, launch_forward
from slotproof.model.serving.gate import Answer, ask_gate, occupied_on_prefill, partial_prompt_occupies
from slotproof.model.serving.loader import end_copy
from slotproof.model.serving.pool import end_zeroing
from slotproof.model.serving.scheduler import (
    Batch,
    Scheduler,
    foresees_the_end,
    holds,
    in_flight,
    is_row,
    merge,
    queued,
    sweep,
    sweep_before_the_pass,
    tears_down_partial_prompt,
)
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import (
    BASE,
    Adapter,
    Loading,
    Loop,
    Rank,
    Request,
    Role,
    data_parallel,
    least_room,
    loading,
    loop,
    most_room,
    role,
)


def tear_down_partial_prompt(s: Server, rank: Process) -> None:
    """``process_pending_chunked_abort``: an aborted partial prompt leaves, with an echo.

    The piece that is in flight is computed for nothing: its KV is freed and not kept for other requests.
    """
    if rank.scheduler.chunk is not None:
        r = some(rank.scheduler.chunk)
        if r in rank.scheduler.to_finish and tears_down_partial_prompt():
            rank.scheduler.chunk = None
            rank.scheduler.last -= {r}
            rank.scheduler.to_finish -= {r}
            rank.forward.discarded = {r}
            if r in s.tokenizer.open:
                s.replies.echoes |= {r}


def begin_iteration(s: Server, rank: Process, room: int) -> None:
    """Everything that comes before the first candidate: the deferred abort, the merge, the sweep, the partial
    prompt, which goes on with its last piece if there is room for more than it, and the drainer's marks."""
    tear_down_partial_prompt(s, rank)
    merge(rank.scheduler)
    sweep_before_the_pass(rank.scheduler)
    rank.scheduler.asked = 0
    rank.scheduler.room = room
    rank.scheduler.resumed = rank.scheduler.chunk
    if room > 1:
        rank.scheduler.chunk = None
    if drainer and (len(rank.scheduler.waiting) > 0 or rank.scheduler.resumed is not None):
        update_marks(rank.drainer, rank.scheduler, s.adapter)


def used_room(scheduler: Scheduler) -> int:
    """Half prompts that the pass has taken already."""
    return 2 * len(scheduler.picks) + (1 if scheduler.resumed is not None else 0)


def is_spent(scheduler: Scheduler) -> bool:
    """Whether no token is left for another candidate: an unfinished partial prompt takes all there are."""
    return used_room(scheduler) >= scheduler.room or (
        scheduler.resumed is not None and scheduler.chunk == scheduler.resumed
    )


@decision
def spent_room_ends_the_pass() -> bool:
    """Whether a pass whose room the partial prompt has spent asks the gate about a candidate.

    A pick that takes the last token ends the pass in every release (``add_one_req`` returns
    ``budget_state``). Pages of more than one token, whose rest is no room but is not spent, are left out.
    """
    raise NotImplementedError


def after_the_gate() -> bool:
    """It does: refused candidates are skipped, the first that passes ends it (up to 0.5.22)."""
    return False


def before_the_gate() -> bool:
    """It ends at once (0.5.23)."""
    return True


@decision
def refusal_ends_the_pass() -> bool:
    """What a refused candidate means for those behind it."""
    raise NotImplementedError


def skips_the_refused() -> bool:
    """Nothing: the pass goes on (0.5.7 on)."""
    return False


def stops_at_the_refused() -> bool:
    """They wait too (up to 0.5.6)."""
    return True


def occupied(rank: Process, adapter: Map[Request, Adapter]) -> Set[Adapter]:
    """``running_loras`` at this point of the pass."""
    rows = occupied_on_prefill(rank.scheduler) | rank.scheduler.picks
    if rank.scheduler.resumed is not None and partial_prompt_occupies():
        rows |= {some(rank.scheduler.resumed)}
    return {adapter[r] for r in rows}


def ask_queue(rank: Process, adapter: Map[Request, Adapter]) -> bool:
    """Ask the gate about the candidates not asked yet; whether the pass has come to its end.

    It has not when a copy is in flight that may end before the next question.
    """
    seen = 0
    left = queued(rank.scheduler)
    for r in rank.scheduler.waiting:
        seen += 1
        if seen <= some(rank.scheduler.asked):
            left -= {r}
            continue
        if is_spent(rank.scheduler) and spent_room_ends_the_pass():
            return True
        answer = ask_gate(rank, r, adapter, occupied(rank, adapter))
        if answer is Answer.LOOK_AGAIN:
            return False
        rank.scheduler.asked = seen
        left -= {r}
        if answer is Answer.REFUSE:
            rank.gate.refused |= {r}
            if refusal_ends_the_pass():
                break
        elif is_spent(rank.scheduler):
            return True
        else:
            rank.scheduler.picks |= {r}
            if used_room(rank.scheduler) > rank.scheduler.room:
                rank.scheduler.chunk = r
            if used_room(rank.scheduler) >= rank.scheduler.room:
                return True
        if loading is Loading.BACKGROUND and len(rank.loader.copies) > 0 and len(left) > 0:
            return False
    rank.gate.unasked = left
    return True


def take_results(s: Server, scheduler: Scheduler, rows: Set[Request], ends: Set[Request]) -> None:
    """``process_batch_result``: each unfinished row gets its token; some finish, and aborted ones do."""
    for r in rows:
        if r not in scheduler.finished and (r in ends or r in scheduler.to_finish):
            scheduler.finished |= {r}
            scheduler.to_finish -= {r}
            if r in s.tokenizer.open:
                s.replies.outputs |= {r}


def form_batch(s: Server, rank: Process, by_length: Set[Request]) -> Batch:
    """Hand a prefill of what the pass has picked to the forward, else a decode of the active set."""
    middle = {some(rank.scheduler.resumed)} if rank.scheduler.resumed is not None else set()
    prefill = rank.scheduler.picks | middle
    if len(prefill) > 0:
        hand_over(rank, prefill, s.adapter)
        return Batch.PREFILL
    sweep(rank.scheduler)
    if foresees_the_end():
        rank.scheduler.running -= by_length
    hand_over(rank, rank.scheduler.running, s.adapter)
    return Batch.DECODE if len(rank.scheduler.running) > 0 else Batch.NONE


def end_iteration(s: Server, rank: Process, kind: Batch, before: Set[Request], ends: Set[Request]) -> None:
    """Take the results that are due, and keep what the next iteration needs of this one's batch.

    In the overlap loop the results of the forward ``before`` are due: the rows in flight before this
    iteration's batch was formed, for a row that ends by length has left the active set by now.
    """
    due = before
    middle = {some(rank.scheduler.resumed)} if rank.scheduler.resumed is not None else set()
    rank.scheduler.waiting[:] = [r for r in rank.scheduler.waiting if r not in rank.scheduler.picks]
    rank.scheduler.last = rank.forward.rows if kind is Batch.PREFILL else set()
    if loop is Loop.OVERLAP:
        rank.scheduler.in_flight = kind
    else:
        due = rank.forward.rows
        middle = {some(rank.scheduler.chunk)} if rank.scheduler.chunk is not None else set()
    end_zeroing(rank.pool)
    rank.forward.results = (due - middle) - rank.scheduler.finished
    take_results(s, rank.scheduler, due - middle, ends)
    rank.scheduler.picks = set()
    rank.scheduler.resumed = None
    rank.scheduler.asked = None
    rank.scheduler.room = most_room


def launch(s: Server, rank: Process, ends: Set[Request], by_length: Set[Request]) -> None:
    """Launch a prefill of what the pass has picked, else a decode, and take the results that are due."""
    before = in_flight(rank.scheduler)
    kind = form_batch(s, rank, by_length)
    launch_forward(rank, s.adapter)
    end_iteration(s, rank, kind, before, ends)


def has_work(scheduler: Scheduler) -> bool:
    """Whether an iteration would do anything."""
    return (
        len(scheduler.waiting) > 0
        or len(scheduler.running) > 0
        or len(scheduler.last) > 0
        or scheduler.in_flight is not Batch.NONE
    )


def due_rows(scheduler: Scheduler) -> Set[Request]:
    """Unfinished rows among whose results an iteration takes.

    In the normal loop this names every candidate as well; those that do not get into the batch have none.
    """
    if loop is Loop.OVERLAP:
        return in_flight(scheduler) - scheduler.finished
    rows = scheduler.running | scheduler.last | queued(scheduler)
    return rows - scheduler.finished


def may_end(scheduler: Scheduler) -> Set[Request]:
    """Requests whose last token can be among the results that an iteration takes; an aborted row ends by
    itself."""
    return due_rows(scheduler) - scheduler.to_finish


def ends_as_it_must(s: Server, scheduler: Scheduler, ends: Set[Request], by_length: Set[Request]) -> bool:
    """Whether these can be the last tokens among the results that are due, and which end by length.

    Length matters only where it is foreseen; an aborted row ends by itself, but may have come to its length
    too. The warm-up of a prompt with several samples asks for no token: its first result ends it by length.
    """
    warm = {r for r in due_rows(scheduler) if s.tokenizer.warm_up == r}
    aborted = due_rows(scheduler) & scheduler.to_finish
    if not ends <= may_end(scheduler) or not warm <= ends | aborted or not by_length <= ends | aborted:
        return False
    return warm <= by_length if foresees_the_end() else len(by_length) == 0


def at_ingest(s: Server) -> bool:
    """Whether every scheduler is at the top of its loop."""
    return all(s.ranks[k].scheduler.asked is None for k in Rank)


def is_under_way(s: Server, r: Request) -> bool:
    """Whether any part of the server still knows the request."""
    return (
        r in s.tokenizer.open
        or r in s.replies.outputs
        or r in s.replies.echoes
        or r in s.tokenizer.looked_up
        or s.tokenizer.promised == r
        or any(holds(s.ranks[k].scheduler, r) or in_decode_queues(s.ranks[k].decode, r) for k in Rank)
    )


def tidy(s: Server, rank: Process) -> None:
    """Forget what is said of requests that have left: such fields would tell states apart that are one."""
    rows = {r for r in Request if is_row(rank.scheduler, r)}
    rank.scheduler.finished &= rows
    put_out = {r for r in Request if r in rank.decode.retracted or r in rank.scheduler.waiting}
    rank.scheduler.to_finish &= rows | put_out
    if drainer:
        forget(rank.drainer, rank.scheduler)
    for r in Request:
        if not is_under_way(s, r):
            s.adapter[r] = BASE


@action(actor="scheduler", source="managers/scheduler.py: Scheduler.get_next_batch_to_run")
def schedule(
    s: Server,
    k: Rank,
    ends: Set[Request],
    by_length: Set[Request],
    room: Annotated[int, Range(least_room, most_room)],
) -> None:
    """The scheduler goes once through its loop.

    It asks the gate about the queue, which ``room`` half prompts fit into, launches a batch, and takes the
    results that are due: the last tokens among them are those of ``ends``, of these ``by_length`` by length.
    """
    require(role is Role.SINGLE and not data_parallel)
    require(s.ranks[k].scheduler.asked is None)
    require(has_work(s.ranks[k].scheduler))
    require(ends_as_it_must(s, s.ranks[k].scheduler, ends, by_length))
    begin_iteration(s, s.ranks[k], room)
    if ask_queue(s.ranks[k], s.adapter):
        launch(s, s.ranks[k], ends, by_length)
    tidy(s, s.ranks[k])


@action(actor="scheduler", source="managers/scheduler.py: Scheduler._get_new_batch_prefill_raw")
def go_on(
    s: Server,
    k: Rank,
    ends: Set[Request],
    by_length: Set[Request],
) -> None:
    """The scheduler goes on with its pass over the queue.

    It asks about the candidates that the gate has not answered, and then launches as in ``schedule``.
    """
    require(loading is Loading.BACKGROUND)
    require(s.ranks[k].scheduler.asked is not None)
    require(ends_as_it_must(s, s.ranks[k].scheduler, ends, by_length))
    if ask_queue(s.ranks[k], s.adapter):
        launch(s, s.ranks[k], ends, by_length)
    tidy(s, s.ranks[k])


@action(
    actor="load stream", source="lora/lora_overlap_loader.py: LoRAOverlapLoader.lora_to_overlap_load_event"
)
def copy_ends(s: Server, k: Rank, a: Adapter) -> None:
    """The load stream ends the copy of {a} into its slot."""
    require(loading is Loading.BACKGROUND)
    require(len(s.ranks[k].loader.copies) > 0)
    require(s.ranks[k].loader.copies[0] == a)
    end_copy(s.ranks[k].loader)
