"""What is true in the middle of an action: loop invariants, which ``slotproof prove`` tries on its way.

Each speaks of variables of an action, or of the functions that it calls, and is tried wherever all of them
are known. None is believed, and none has to be true everywhere: where one is not, it is of no use there.
"""

from __future__ import annotations

from slotproof.model.language import Set, on_the_way
from slotproof.model.language.surface import Property
from slotproof.model.serving.decode import occupied_slots
from slotproof.model.serving.gate import Answer
from slotproof.model.serving.pool import can_be_victim
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, slots
from slotproof.properties.lemmas import each_adapter_once, is_ready, runs_or_is_picked

# Reservations of the decode role


@on_the_way
def reserved_occupy(s: Server, occupied: Set[Adapter], reserved: Set[Request]) -> bool:
    """While candidates are asked about, those that have a reservation and all that hold slots are among the
    occupied adapters, and these number at most the slots."""
    return len(occupied) <= slots and all(
        occupied_slots(s.ranks[k], s.adapter) <= occupied and {s.adapter[r] for r in reserved} <= occupied
        for k in Rank
    )


@on_the_way
def reserved_fit(s: Server, reserved: Set[Request]) -> bool:
    """Until reserved requests enter the transfer queue, there is a slot for each of their adapters too."""
    return all(
        len(occupied_slots(s.ranks[k], s.adapter) | {s.adapter[r] for r in reserved}) <= slots for k in Rank
    )


# A slot for one more adapter, with background loading


@on_the_way
def rows_need_their_slots(s: Server, needed: Set[Adapter], missing: Set[Adapter]) -> bool:
    """While a candidate's adapter gets a slot, those of all rows and picks are needed and have theirs."""
    return all(
        all(
            s.adapter[r] in needed and s.adapter[r] not in missing
            for r in Request
            if runs_or_is_picked(s, k, r)
        )
        for k in Rank
    )


@on_the_way
def one_is_missing(s: Server, needed: Set[Adapter], missing: Set[Adapter]) -> bool:
    """One adapter alone has no slot yet, and no copy of it is under way."""
    return (
        len(missing) <= 1
        and len(needed) <= slots
        and missing <= needed
        and all(
            needed - missing <= s.ranks[k].pool.resident
            and s.ranks[k].loader.pending <= needed - missing
            and all(a not in s.ranks[k].loader.copies for a in missing)
            for k in Rank
        )
    )


@on_the_way
def who_passes_is_ready(s: Server, r: Request, answer: Answer) -> bool:
    """The adapter of a candidate that the gate lets pass is in a slot, and no copy of it is under way."""
    return answer is not Answer.PASS or all(is_ready(s, k, s.adapter[r]) for k in Rank)


# The order of use


@on_the_way
def unmarked_keep_their_order(s: Server, adapters: Set[Adapter]) -> bool:
    """While adapters are marked as used, the others keep their places in the order."""
    return all(
        all(a in s.ranks[k].pool.recency for a in s.ranks[k].pool.resident - adapters if can_be_victim(a))
        and all(can_be_victim(a) for a in s.ranks[k].pool.recency)
        and each_adapter_once(s.ranks[k].pool.recency)
        for k in Rank
    )


@on_the_way
def marked_in_order(s: Server, adapters: Set[Adapter], a: Adapter) -> bool:
    """Those up to one stand in the order again, and none of those behind it."""
    return all(
        all((b in s.ranks[k].pool.recency) == (b <= a) for b in adapters if can_be_victim(b)) for k in Rank
    )


OF_DECODE: tuple[Property, ...] = (reserved_occupy, reserved_fit)

OF_BACKGROUND_LOADING: tuple[Property, ...] = (
    rows_need_their_slots,
    one_is_missing,
    who_passes_is_ready,
    unmarked_keep_their_order,
    marked_in_order,
)
