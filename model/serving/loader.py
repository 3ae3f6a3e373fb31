"""The background loader (``lora/lora_overlap_loader.py: LoRAOverlapLoader``).

Copies run on a load stream of their own, one after the other, and end at any moment; the table holds an
event for each until it is reaped. An adapter is

    absent    in no slot, no event
    copying   in a slot, event incomplete
    copied    in a slot, event complete, not reaped
    ready     in a slot, no event

Up to 0.5.12 a ready adapter could be "copied" again, which copies nothing; ``filling`` tells the slots
whose weights are really under way.
"""

from __future__ import annotations

import enum

from slotproof.model.language import Annotated, Capacity, Record, Seq, Set, decision, field
from slotproof.model.serving.pool import Pool
from slotproof.model.serving.vocabulary import Adapter, stream


class Status(enum.Enum):
    """``LoRAOverlapLoadStatus``."""

    ABSENT = "NOT_LOADED"
    COPYING = "LOADING"
    READY = "LOADED"


class Loader(Record):
    """``LoRAOverlapLoader``: the table of copies."""

    pending: Set[Adapter] = field(set(), "adapters with an entry in the event table")
    copies: Annotated[Seq[Adapter], Capacity(stream)] = field(
        [], "copies on the load stream that have not ended, in their order"
    )
    filling: Set[Adapter] = field(set(), "adapters in a slot whose weights are not all there yet")


def begin_copy(loader: Loader, a: Adapter, missing: Set[Adapter], evicted: Set[Adapter]) -> None:
    """Put a copy of the missing adapters on the load stream, and an event for ``a`` behind them."""
    for other in Adapter:
        if other in missing and other != a:
            loader.copies.append(other)
    loader.copies.append(a)
    loader.filling = (loader.filling - evicted) | missing
    loader.pending |= {a}


def end_copy(loader: Loader) -> None:
    """The load stream is done with the first of its copies."""
    a = loader.copies.pop(0)
    if a not in loader.copies:
        loader.filling -= {a}


def wait_for_copy(loader: Loader, a: Adapter) -> None:
    """Wait for the event of ``a``, and with it for all that the load stream does before; drop the event."""
    for _turn in Adapter:
        if a in loader.copies:
            end_copy(loader)
    loader.pending -= {a}


@decision
def reap_first(loader: Loader) -> None:
    """Which ended copies leave the table before the loader looks at an adapter."""
    raise NotImplementedError


def reap_nothing(loader: Loader) -> None:
    """None: a copy leaves when a request of its own adapter asks again (up to 0.5.12)."""


def reap_all_ended(loader: Loader) -> None:
    """Every ended one, whoever asks (0.5.13, #25413)."""
    loader.pending = {a for a in loader.pending if a in loader.copies}


@decision
def copy_status(loader: Loader, pool: Pool, a: Adapter) -> Status:
    """How the loader tells whether an adapter can be used."""
    raise NotImplementedError


def by_its_event(loader: Loader, pool: Pool, a: Adapter) -> Status:
    """By its event alone, reaped if complete; a resident without an event counts as absent (up to 0.5.12)."""
    if a not in loader.pending:
        return Status.ABSENT
    if a in loader.copies:
        return Status.COPYING
    loader.pending -= {a}
    return Status.READY


def by_table_and_slots(loader: Loader, pool: Pool, a: Adapter) -> Status:
    """Copying with an entry in the table, else ready in a slot, else absent (0.5.13, #25413)."""
    if a in loader.pending:
        return Status.COPYING
    return Status.READY if a in pool.resident else Status.ABSENT


@decision
def looks_again() -> bool:
    """Whether the loader looks at once if the copy that it has just started has ended already."""
    raise NotImplementedError


def at_the_next_call() -> bool:
    """No: the adapter is reported as not ready (up to 0.5.19)."""
    return False


def right_after_the_start() -> bool:
    """Yes: it reaps again and reports an adapter ready whose copy has ended (0.5.20)."""
    return True
