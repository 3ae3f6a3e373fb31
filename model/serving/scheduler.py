"""One scheduler process: its queue, its rows, and which of them are swept (``managers/scheduler.py``).

What one process holds between two iterations of its loop. The helpers here only move requests between
the containers; the order of an iteration is in ``step.py``, the gate in ``gate.py``.
"""

from __future__ import annotations

import enum

from slotproof.model.language import Annotated, Range, Record, Seq, Set, decision, field
from slotproof.model.serving.vocabulary import Loop, Request, least_room, loop, most_room, requests


class Batch(enum.Enum):
    """What a step launched (``last_batch.forward_mode``)."""

    NONE = "nothing"
    PREFILL = "a prefill (extend)"
    DECODE = "a decode of the active set"


class Scheduler(Record):
    """``Scheduler`` of one process.

    A row stays in ``running`` after it has finished, until a sweep (``filter_batch``). In the overlap loop
    ``in_flight`` says which forward has been launched and not processed: a decode's rows are those of
    ``running`` (nothing joins or leaves the active set between a decode's launch and the next iteration),
    a prefill's rows are ``last``. ``asked``, ``room``, ``picks`` and ``resumed`` are used while an
    iteration stands between two candidates of its pass over the queue.
    """

    waiting: Seq[Request] = field([], "waiting_queue, first come first served")
    running: Set[Request] = field(set(), "rows of running_batch, finished ones included until swept")
    last: Set[Request] = field(set(), "rows of the last prefill batch, not merged into the active set yet")
    in_flight: Batch = field(Batch.NONE, "overlap loop: the forward whose result is not processed yet")
    finished: Set[Request] = field(set(), "rows with a finished_reason")
    to_finish: Set[Request] = field(set(), "rows with to_finish: an abort ends them with their next result")
    chunk: Request | None = field(None, "chunked_req: the request whose prompt is computed only in part")
    asked: Annotated[int, Range(0, requests)] | None = field(
        None, "within a pass over the queue: how many candidates the gate has answered"
    )
    room: Annotated[int, Range(least_room, most_room)] = field(
        most_room, "half prompts that this pass has room for (PrefillAdder's token budget)"
    )
    picks: Set[Request] = field(set(), "requests that this pass has admitted from the queue (can_run_list)")
    resumed: Request | None = field(None, "the partial prompt that this pass goes on with (can_run_list)")


def is_row(scheduler: Scheduler, r: Request) -> bool:
    """Whether the request is a row of a batch, finished or not, or its prompt is computed in part."""
    return r in scheduler.running or r in scheduler.last or scheduler.chunk == r or scheduler.resumed == r


def holds(scheduler: Scheduler, r: Request) -> bool:
    """Whether the process still has the request, a finished row included."""
    return r in scheduler.waiting or is_row(scheduler, r)


def queued(scheduler: Scheduler) -> Set[Request]:
    """The requests of the waiting queue, without their order."""
    return {r for r in Request if r in scheduler.waiting}


def in_flight(scheduler: Scheduler) -> Set[Request]:
    """The rows of the forward whose result is not processed yet, those with a discarded output included."""
    if loop is Loop.OVERLAP and scheduler.in_flight is Batch.DECODE:
        return scheduler.running
    if loop is Loop.OVERLAP and scheduler.in_flight is Batch.PREFILL:
        return scheduler.last
    return set()


def merge(scheduler: Scheduler) -> None:
    """Move the last prefill's rows into the active set, finished rows and the partial prompt left out.

    In the overlap loop ``last`` stays as it was: it still names the rows of the forward in flight.
    """
    scheduler.running |= {r for r in scheduler.last if r not in scheduler.finished and scheduler.chunk != r}
    if loop is Loop.NORMAL:
        scheduler.last = set()


def sweep(scheduler: Scheduler) -> None:
    """Drop the finished rows of the active set (``ScheduleBatch.filter_batch``)."""
    scheduler.running -= scheduler.finished


@decision
def sweep_before_the_pass(scheduler: Scheduler) -> None:
    """What is done with the finished rows of the active set before new requests are looked at."""
    raise NotImplementedError


def leaves_finished_rows(scheduler: Scheduler) -> None:
    """Nothing: only a decode sweeps, and no decode runs while prefills keep coming (up to 0.5.22)."""


def sweeps_every_step(scheduler: Scheduler) -> None:
    """They leave at every step (0.5.23)."""
    sweep(scheduler)


@decision
def foresees_the_end() -> bool:
    """Whether a decode leaves out rows whose queued result will end them by length."""
    raise NotImplementedError


def decodes_until_finished() -> bool:
    """Every row that has not finished takes part (up to 0.5.21)."""
    return False


def leaves_out_finishing_rows() -> bool:
    """They leave the active set before they finish, in the overlap loop (0.5.22)."""
    return loop is Loop.OVERLAP


@decision
def tears_down_partial_prompt() -> bool:
    """What an abort does to the request whose prompt is computed only in part."""
    raise NotImplementedError


def finishes_the_prompt_first() -> bool:
    """It only sets ``to_finish``, so that the prompt is computed to its end (up to 0.5.13)."""
    return False


def at_the_next_step() -> bool:
    """It is torn down at the top of the next step, with an echo (0.5.14)."""
    return True
