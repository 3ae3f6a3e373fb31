"""The drainer: an adapter whose requests wait too long makes another one drain (``lora/lora_drainer.py``).

The gate asks it first. It is off unless ``lora_drain_wait_threshold`` is set (here, parameter ``drainer``).

A pass over a queue that is not empty begins with an update. With all slots in use, each adapter that starves
and that nobody drains for yet gets one of the running adapters as its victim: the one whose rows have the
fewest tokens left. A marked adapter takes no request that would outlast its rows by more than a fifth, until
it has no rows; then its mark is gone, whoever takes the slot. It is the same code from 0.5.12 to 0.5.23, and
only ``_get_new_batch_prefill_raw`` calls it: on the decode role no adapter ever gets a mark.

Time and tokens are three facts that steps of their own bring about. A request of the queue becomes *overdue*,
those in front of it first. All requests ask for equally many tokens; a row becomes *far on* when it has made
more than a sixth of them, for until then a new request is within the tolerance of 1.2. And one of the running
adapters is *nearest* to its end; of several victims in one pass the choice is free for the first alone.
"""

from __future__ import annotations

# mypy: disable-error-code="type-abstract"
from slotproof.model.language import Map, Record, Set, decision, field, parameter, some
from slotproof.model.serving.scheduler import Scheduler, queued
from slotproof.model.serving.vocabulary import BASE, Adapter, Request, slots

drainer = parameter("drainer", bool, False, "a wait makes an adapter drain (lora_drain_wait_threshold)")


class Drainer(Record):
    """``LoRADrainer`` of one process, and what it is told of time and tokens."""

    drains_for: Map[Adapter, Adapter | None] = field(None, "the adapter it makes room for (is_draining_for)")
    overdue: Set[Request] = field(set(), "requests of the queue that have waited longer than the threshold")
    far_on: Set[Request] = field(set(), "rows that a new request would outlast by more than a fifth")
    nearest: Adapter = field(BASE, "of adapters that are equally far on the one with the fewest tokens left")


@decision
def drainer_allows(marks: Drainer, running: Set[Request], adapter: Map[Request, Adapter], r: Request) -> bool:
    """Whether a candidate may join the rows of its adapter (``LoRADrainer.can_schedule``)."""
    raise NotImplementedError


def unless_it_outlasts_them(
    marks: Drainer, running: Set[Request], adapter: Map[Request, Adapter], r: Request
) -> bool:
    """Unless the adapter drains and the candidate needs over 1.2 times the tokens left to its rows (0.5.12).

    Which it does not as long as one of them has been admitted a short while ago.
    """
    joined = {q for q in running if adapter[q] == adapter[r]}
    return marks.drains_for[adapter[r]] is None or not joined <= marks.far_on


def nobody_joins_a_drain(
    marks: Drainer, running: Set[Request], adapter: Map[Request, Adapter], r: Request
) -> bool:
    """Unless the adapter drains (no release)."""
    return marks.drains_for[adapter[r]] is None


@decision
def base_can_starve() -> bool:
    """Whether an adapter drains for requests of the base model."""
    raise NotImplementedError


def its_name_means_nobody() -> bool:
    """No: its id is ``None``, and so is the mark of an adapter that drains for nobody (0.5.12)."""
    return False


def like_any_adapter() -> bool:
    """Yes (no release)."""
    return True


def victim(
    marks: Drainer, running: Set[Request], adapter: Map[Request, Adapter], among: Set[Adapter]
) -> Adapter:
    """The adapter among these whose rows have the fewest tokens left."""
    behind = {adapter[q] for q in running - marks.far_on}
    first = among - behind if len(among - behind) > 0 else among
    if marks.nearest in first:
        return marks.nearest
    return next(a for a in Adapter if a in first)


def update_marks(marks: Drainer, scheduler: Scheduler, adapter: Map[Request, Adapter]) -> None:
    """``update_draining_state``, told the queue and ``running_batch``: unswept finished rows, too.

    An adapter in a slot can starve and can drain for itself. A victim for the base model gets no mark, and no
    other adapter starts to drain in its place.
    """
    running = {adapter[r] for r in scheduler.running}
    if len(running) >= slots:
        served = {some(marks.drains_for[b]) for b in Adapter if marks.drains_for[b] is not None}
        eligible = {b for b in running if marks.drains_for[b] is None}
        for r in scheduler.waiting:
            if r in marks.overdue and adapter[r] not in served and len(eligible) > 0:
                b = victim(marks, scheduler.running, adapter, eligible)
                if adapter[r] != BASE or base_can_starve():
                    marks.drains_for[b] = adapter[r]
                eligible -= {b}
                served |= {adapter[r]}
    for b in Adapter:
        if b not in running:
            marks.drains_for[b] = None


def forget(marks: Drainer, scheduler: Scheduler) -> None:
    """Say nothing of requests that have left the queue or the active set."""
    marks.overdue &= queued(scheduler)
    marks.far_on &= scheduler.running
