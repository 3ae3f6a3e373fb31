"""The background loader (``lora/lora_overlap_loader.py: LoRAOverlapLoader``).

Copies run on a load stream of their own and end at any moment; the table holds an event for each until it
is reaped. An adapter is

    absent    in no slot, no event
    copying   in a slot, event incomplete
    copied    in a slot, event complete, not reaped
    ready     in a slot, no event
"""

from __future__ import annotations

import enum

from slotproof.model.language import Record, Set, decision, field
from slotproof.model.serving.pool import Pool
from slotproof.model.serving.vocabulary import Adapter


class Status(enum.Enum):
    """``LoRAOverlapLoadStatus``."""

    ABSENT = "NOT_LOADED"
    COPYING = "LOADING"
    READY = "LOADED"


class Loader(Record):
    """``LoRAOverlapLoader``: the table of copies."""

    pending: Set[Adapter] = field(set(), "adapters with an entry in the event table")
    copying: Set[Adapter] = field(set(), "adapters whose copy has not ended")


@decision
def reap_first(loader: Loader) -> None:
    """Which ended copies leave the table before the loader looks at an adapter."""
    raise NotImplementedError


def reap_nothing(loader: Loader) -> None:
    """None: a copy leaves when a request of its own adapter asks again (up to 0.5.12)."""


def reap_all_ended(loader: Loader) -> None:
    """Every ended one, whoever asks (0.5.13, #25413)."""
    loader.pending &= loader.copying


@decision
def copy_status(loader: Loader, pool: Pool, a: Adapter) -> Status:
    """How the loader tells whether an adapter can be used."""
    raise NotImplementedError


def by_its_event(loader: Loader, pool: Pool, a: Adapter) -> Status:
    """By its event alone, reaped if complete; a resident without an event counts as absent (up to 0.5.12)."""
    if a not in loader.pending:
        return Status.ABSENT
    if a in loader.copying:
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
