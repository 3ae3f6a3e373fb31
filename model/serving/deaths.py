"""Where a server process dies and of what, in words: one phrase for each cause of a crash."""

from __future__ import annotations

from slotproof.model.language import Set
from slotproof.model.language.telling import Happened
from slotproof.model.serving.phrases import enumerated, own, rows_with, these, verb
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import BASE, Adapter, Rank, Request, pinned, slots


def died(h: Happened[Server]) -> list[str]:
    """The sentence about the death of the process in which the step ended, if it did."""
    if h.crash is None:
        return []
    reasons = dict.fromkeys(reason for k in Rank for reason in death(h, k))
    return [f"There the process dies ({h.crash}): {enumerated(list(reasons))}."]


def death(h: Happened[Server], k: Rank) -> list[str]:
    """What killed it, if it can have been this process."""
    match h.crash:
        case "fit-test-unknown-adapter":
            return unknown_to_fit_test(h, k)
        case "fit-test-pinned-count":
            return ["the fit test counts more pinned adapters than the process knows"]
        case "make-resident-too-many":
            needed = wanted(h, k)
            what = these(needed) if needed else "more adapters than there are slots"
            return [f"{what} have to be in slots at once, and there {there_are(slots)}"]
        case "make-resident-no-victim":
            return ["an adapter needs a slot, and every one that is in a slot is needed or pinned"]
        case "make-resident-unknown-adapter":
            return unknown_to_slots(h, k)
        case "metadata-unknown-adapter":
            return unknown_to_metadata(h, k)
        case "sgemm-info-missing":
            return ["a layer's kernels ask for batch metadata, and there is none"]
        case "lm-head-row-count" if len(h.after.ranks[k].forward.rows) == 0:
            return [f"the lm-head of {k}, which has no rows, runs with the row counts of an earlier forward"]
        case "global-batch-too-many":
            ranks = h.after.ranks
            union = {h.before.adapter[r] for r in Request if any(r in ranks[j].forward.rows for j in Rank)}
            return [f"{these(union)} have to be in slots of every rank, and there {there_are(slots)}"]
    return []


def there_are(count: int) -> str:
    """How many slots there are."""
    return f"is {count} slot" if count == 1 else f"are {count} slots"


def at(k: Rank) -> str:
    """Which process, where there are several."""
    return f" of {k}" if len(Rank) > 1 else ""


def lost(h: Happened[Server], k: Rank) -> Set[Adapter]:
    """The adapters that have left the catalogue of a process."""
    return {a for a in Adapter if a != BASE and a in h.after.ranks[k].manager.gone}


def wanted(h: Happened[Server], k: Rank) -> Set[Adapter]:
    """The adapters of the batch that was handed over, if one was: they were to be made resident."""
    return h.after.ranks[k].forward.handed


def still_named(h: Happened[Server], k: Rank, a: Adapter) -> str:
    """An adapter with the requests that still name it."""
    rank = h.before.ranks[k]
    holders = own(h.before, rank, a)
    if not holders:
        return str(a)
    finished = ", finished and not swept," if holders <= rank.scheduler.finished else ""
    return f"{a}, which {these(holders)}{finished} still {verb(len(holders), 'names', 'name')}"


def unknown_to_fit_test(h: Happened[Server], k: Rank) -> list[str]:
    """``validate_lora_batch`` asks whether each adapter is pinned, of its entry in the catalogue."""
    rank = h.before.ranks[k]
    named = [a for a in Adapter if a in lost(h, k) and (own(h.before, rank, a) or a in rank.loader.pending)]
    if not named:
        return []
    known = pinned - rank.manager.gone
    return [
        f"because {these(known)} {verb(len(known), 'is', 'are')} pinned, the fit test looks each one up that"
        f" it counts, and {enumerated([still_named(h, k, a) for a in named])}, has left the catalogue{at(k)}"
    ]


def unknown_to_slots(h: Happened[Server], k: Rank) -> list[str]:
    """``load_lora_weight_to_buffer`` asserts that the adapter is in the catalogue."""
    rank = h.before.ranks[k]
    named = [a for a in Adapter if a in lost(h, k) and (a in wanted(h, k) or own(h.before, rank, a))]
    if not named:
        return []
    which = enumerated([still_named(h, k, a) for a in named])
    return [f"a slot{at(k)} is to be filled with {which}, and it has left the catalogue"]


def unknown_to_metadata(h: Happened[Server], k: Rank) -> list[str]:
    """The look-up of a row's slot, or of its adapter's rank and scaling among the loaded ones."""
    rank = h.after.ranks[k]
    gone = {r for r in rank.forward.rows if h.before.adapter[r] in lost(h, k)}
    found = []
    if gone:
        found.append(
            f"the batch metadata looks up the adapter of {rows_with(gone, h.before.adapter)}, which has left"
            f" the catalogue{at(k)}"
        )
    absent = {r for r in rank.forward.rows - gone if h.before.adapter[r] not in rank.pool.resident | {BASE}}
    if absent:
        found.append(
            f"the batch metadata looks up the slot of {rows_with(absent, h.before.adapter)}, whose adapter"
            f" is in no slot{at(k)}"
        )
    return found
