"""A forward: what is handed to it, and from which slots its rows read (``ForwardBatch.init_new``)."""

from __future__ import annotations

from slotproof.model.language import Map, Set, crash, decision
from slotproof.model.serving.pool import make_resident, zeroed_behind_their_copy
from slotproof.model.serving.server import Process
from slotproof.model.serving.vocabulary import BASE, Adapter, Loading, Request, loading


@decision
def adapter_without_slot() -> bool:
    """Whether batch metadata refuses a row whose adapter is in no slot."""
    raise NotImplementedError


def reads_slot_zero() -> bool:
    """No: the row reads slot 0, whoever is in it (up to 0.5.20)."""
    return False


def is_an_error() -> bool:
    """Yes: the look-up of its slot fails, unless it is a row of the base model (0.5.21)."""
    return True


def hand_over(rank: Process, rows: Set[Request], adapter: Map[Request, Adapter]) -> None:
    """The scheduler hands a batch of these rows to the forward."""
    rank.forward.rows = rows
    rank.forward.handed = {adapter[r] for r in rows}


def fetch(rank: Process) -> None:
    """With synchronous loading the forward makes its adapters resident, on its own stream, behind the
    forward before it. With background loading nothing is fetched here."""
    if loading is Loading.SYNCHRONOUS:
        rank.forward.evicted = make_resident(rank.pool, rank.forward.handed, rank.manager.gone)


def look_up_slots(rank: Process, adapter: Map[Request, Adapter]) -> None:
    """The metadata looks up each row's slot, and its adapter's rank and scaling among the loaded ones."""
    for r in rank.forward.rows:
        if adapter[r] not in rank.pool.resident:
            if adapter[r] != BASE and adapter_without_slot():
                crash("metadata-unknown-adapter")
            rank.forward.misrouted |= {r}
        elif adapter[r] != BASE and adapter[r] in rank.manager.gone:
            crash("metadata-unknown-adapter")
    if loading is Loading.BACKGROUND:
        lost = zeroed_behind_their_copy(rank.pool)
        rank.forward.wiped = {r for r in rank.forward.rows if adapter[r] in lost}
    rank.forward.launched = rank.forward.rows


def launch_forward(rank: Process, adapter: Map[Request, Adapter]) -> None:
    """Launch the batch that was handed over."""
    fetch(rank)
    look_up_slots(rank, adapter)
