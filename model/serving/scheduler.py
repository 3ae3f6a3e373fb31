"""One scheduler process: the queue, the active set and the loop (``managers/scheduler.py``)."""

from __future__ import annotations

import enum

from slotproof.model.language import Record, Seq, Set, field
from slotproof.model.serving.vocabulary import Request


class Batch(enum.Enum):
    """What the last step launched (``last_batch.forward_mode``)."""

    NONE = "nothing"
    PREFILL = "a prefill (extend)"
    DECODE = "a decode of the active set"


class Scheduler(Record):
    """``Scheduler``: what one process holds, between two iterations of its loop.

    A row stays in ``running`` after it has finished, until a sweep (``filter_batch``).
    """

    waiting: Seq[Request] = field([], "waiting_queue, first come first served")
    running: Set[Request] = field(set(), "rows of running_batch, finished ones included until swept")
    last: Set[Request] = field(set(), "rows of the last prefill batch, not merged into the active set yet")
    in_flight: Batch = field(Batch.NONE, "overlap loop: the forward whose result is not processed yet")
    finished: Set[Request] = field(set(), "rows with a finished_reason")
    to_finish: Set[Request] = field(set(), "rows with to_finish: an abort ends them with their next result")
