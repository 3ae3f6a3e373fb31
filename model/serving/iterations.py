"""What an iteration of a scheduler did, in words: the gate's answers, the forward, the results."""

from __future__ import annotations

from slotproof.model.language import Set
from slotproof.model.language.telling import Happened
from slotproof.model.serving.decode import gate_on_reservation
from slotproof.model.serving.manager import pinned_count
from slotproof.model.serving.phrases import enumerated, layers, rows_with, these, verb, why_counted
from slotproof.model.serving.scheduler import Batch, queued
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import (
    Adapter,
    Loading,
    Loop,
    Rank,
    Request,
    least_room,
    loading,
    loop,
    most_room,
    slots,
)

RUNS_LAYERS = (None, "lm-head-row-count", "sgemm-info-missing")
"""How a joint step ends in which the layers of the forward ran."""


def iteration(h: Happened[Server], k: Rank) -> list[str]:
    """A pass over the queue, or the rest of one, and what is launched and processed after it."""
    before, after = h.before.ranks[k], h.after.ranks[k]
    found = []
    if least_room < most_room and h.action == "schedule":
        found.append(f"Its pass has room for {half_prompts(h.arguments['room'])}.")
    found += [*drained(before, after), *asked(h, before, after), *left(h, before, after)]
    if h.crash is not None:
        return [*found, *handed(h, after)]
    if after.scheduler.asked is not None:
        between = "The pass is between two candidates: the copy under way may end before the next is asked."
        return [*found, between]
    return [*found, *launched(h, after), *results(h, before, after)]


def half_prompts(count: int) -> str:
    """The room of a pass: a prompt takes two, the last piece of a partial prompt one."""
    prompts = f"{count // 2} prompt{'s' if count // 2 != 1 else ''}" if count > 1 else ""
    return f"{prompts} and a half" if count % 2 and prompts else prompts or "half a prompt"


def left(h: Happened[Server], before: Process, after: Process) -> list[str]:
    """Rows that are none any more."""
    found = []
    torn = after.forward.discarded
    if torn:
        found.append(f"The partial prompt of {these(torn)}, which was aborted, is torn down.")
    swept = before.scheduler.running & before.scheduler.finished - after.scheduler.running
    if swept:
        found.append(
            f"{these(swept)}, finished before, {verb(len(swept), 'is no row', 'are no rows')} any more."
        )
    by_length = (
        h.arguments.get("by_length", set()) & before.scheduler.running - after.scheduler.running - swept
    )
    if by_length:
        found.append(
            f"{these(by_length)} {verb(len(by_length), 'leaves', 'leave')} the active set, for the"
            " result that is due ends it by length."
        )
    return found


def drained(before: Process, after: Process) -> list[str]:
    """Adapters that make room for another from now on, or no longer."""
    found = []
    for a in Adapter:
        was, now = before.drainer.drains_for[a], after.drainer.drains_for[a]
        if now is not None and now != was:
            found.append(f"{now} has waited too long: {a} drains for it.")
        elif was is not None and now is None:
            found.append(f"{a} has no rows any more, so that it drains no longer; its slot is anyone's.")
    return found


def asked(h: Happened[Server], before: Process, after: Process) -> list[str]:
    """What the gate answers, the copies that it starts, and whom it is not asked about."""
    found = []
    prefill = after.forward.rows | after.scheduler.picks
    passed = (queued(before.scheduler) & prefill) - before.scheduler.picks
    if passed:
        found.append(f"The gate lets {rows_with(passed, h.before.adapter)} pass.")
    for a in after.loader.copies:
        if a not in before.loader.copies:
            found.append(f"The gate starts the copy of {a} into {place(after)}.")
    refused = [r for r in Request if r in after.gate.refused]
    found += [refusal(h, before, after, r) for r in refused]
    if after.gate.unasked:
        found.append(f"The gate is not asked about {these(after.gate.unasked)}.")
    return found


def place(rank: Process) -> str:
    """The slot that a copy begins to write, by what it held, if it held anything."""
    return f"the slot that held {these(rank.gate.overwritten)}" if rank.gate.overwritten else "a slot"


def refusal(h: Happened[Server], before: Process, after: Process, r: Request) -> str:
    """Why the gate keeps a candidate in the queue."""
    a = h.before.adapter[r]
    if after.gate.counted[r]:
        counted = [why_counted(h.before, before, after, b) for b in Adapter if b in after.gate.counted[r]]
        return (
            f"The gate refuses {r} ({a}), which stays in the queue: the fit test counts"
            f" {'; and '.join(counted)}. With {a} that is too much for {room(after)}."
        )
    if after.drainer.drains_for[a] is not None:
        return f"The gate keeps {r} ({a}) in the queue, for {a} drains."
    if a in after.loader.copies:
        return f"The gate keeps {r} ({a}) in the queue until the copy of {a} has ended."
    return f"The gate keeps {r} ({a}) in the queue."


def room(rank: Process) -> str:
    """The slots that the fit test has to give."""
    count = pinned_count(rank.manager)
    there = f"{slots} slot{'s' if slots != 1 else ''}"
    return (
        f"{there}, {count} of which {verb(count, 'is', 'are')} kept for a pinned adapter" if count else there
    )


def handed(h: Happened[Server], rank: Process) -> list[str]:
    """The batch of a forward that the process did not live to launch."""
    rows = rank.forward.rows
    return [f"The batch of {rows_with(rows, h.before.adapter)} is handed to the forward."] if rows else []


def launched(h: Happened[Server], rank: Process) -> list[str]:
    """The forward that is launched, and what its rows read."""
    rows = rank.forward.launched
    if not rows:
        return ["Nothing is launched."]
    kind = "prefill" if rows == rank.scheduler.last else "decode"
    found = [f"A {kind} of {rows_with(rows, h.before.adapter)} is launched."]
    part = rank.scheduler.chunk
    if part is not None and part in rows:
        found.append(f"It computes the prompt of {part} only in part.")
    evicted = rank.forward.evicted
    if evicted:
        found.append(f"{these(evicted)} {verb(len(evicted), 'loses its slot', 'lose their slots')} to it.")
    return found + misread(h, rank)


def misread(h: Happened[Server], rank: Process) -> list[str]:
    """What the rows of the launched forward read in the place of their adapter's weights."""
    found = []
    absent = {r for r in rank.forward.misrouted if h.before.adapter[r] not in rank.pool.resident}
    if absent:
        found.append(
            f"No slot holds the adapter of {rows_with(absent, h.before.adapter)}: slot 0 is read, whoever"
            " is in it."
        )
    if rank.forward.wiped:
        found.append(
            f"The slot of {rows_with(rank.forward.wiped, h.before.adapter)} was zeroed after the copy"
            " into it had begun."
        )
    if loading is Loading.BACKGROUND:
        early = {r for r in rank.forward.launched if h.before.adapter[r] in rank.loader.filling}
        if early:
            found.append(f"The copy into the slot of {rows_with(early, h.before.adapter)} has not ended.")
    return found


def results(h: Happened[Server], before: Process, after: Process) -> list[str]:
    """Who gets a token of the forward that is processed in this step."""
    kind = "prefill" if before.scheduler.in_flight is Batch.PREFILL else "decode"
    whose = f"Of the {kind} before, " if loop is Loop.OVERLAP else ""
    got = after.forward.results
    ended_by_abort = got & before.scheduler.to_finish
    last = got & h.arguments["ends"] - ended_by_abort
    more = got - ended_by_abort - last
    found = []
    for who, what in ((more, "a token"), (last, "the last token")):
        if who:
            found.append(f"{these(who)} {verb(len(who), 'gets', 'get')} {what}")
    if ended_by_abort:
        found.append(
            f"{these(ended_by_abort)} {verb(len(ended_by_abort), 'ends', 'end')}, as the abort asked for"
        )
    return [f"{whose}{enumerated(found)}."] if found else []


# -- data-parallel ranks ---------------------------------------------------------------------------------


def joint_iteration(h: Happened[Server]) -> list[str]:
    """An iteration of all ranks, rank by rank."""
    found = []
    forward = any(len(h.after.ranks[k].forward.rows) > 0 for k in Rank)
    for k in Rank:
        before, after = h.before.ranks[k], h.after.ranks[k]
        own = [*asked(h, before, after), *left(h, before, after)]
        if forward and h.crash in RUNS_LAYERS:
            own += joint_forward(h, after)
        else:
            own += handed(h, after)
        if h.crash is None:
            own += results(h, before, after)
        found += [f"{k}: {' '.join(own)}"] if own else []
    return found if forward else [*found, "No rank has a batch, and no forward is run."]


def joint_forward(h: Happened[Server], rank: Process) -> list[str]:
    """What one rank does in a forward of all."""
    rows, found = rank.forward.rows, []
    if rows:
        found.append(f"It runs a forward of {rows_with(rows, h.before.adapter)}.")
    else:
        found.append("It has no rows, and runs an idle forward.")
    if rank.routing.joined:
        found.append("It joins in the exchange of adapter ids.")
    if rank.forward.evicted:
        found.append(f"Evicted for it: {these(rank.forward.evicted)}.")
    if rank.routing.stale:
        found.append(
            f"The batch metadata that {layers(rank.routing.stale)} reads is left over from an earlier"
            " forward."
        )
    if rank.routing.bypassed:
        found.append(f"There is no batch metadata, and {layers(rank.routing.bypassed)} takes the base path.")
    if rank.forward.misrouted:
        found.append(
            f"In a layer, {rows_with(rank.forward.misrouted, h.before.adapter)} is computed with other"
            " weights than its own."
        )
    return found


# -- the decode role -------------------------------------------------------------------------------------


def decode_iteration(h: Happened[Server], k: Rank) -> list[str]:
    """Reservations, arrivals, the batch and its results."""
    before, after = h.before.ranks[k], h.after.ranks[k]
    found = [*failed(before, after), *resumed(before, after), *reserved(h, before, after)]
    found += [*arrived(h, before, after), *left_decode(h, before, after)]
    if h.crash is not None:
        return [*found, *handed(h, after)]
    if after.forward.rows:
        found += [*launched(h, after), *results(h, before, after)]
    return found or ["Nothing moves."]


def failed(before: Process, after: Process) -> list[str]:
    """Requests that were broken off."""
    out = before.decode.broken - after.decode.broken
    return [f"{these(out)}, broken off, {verb(len(out), 'leaves', 'leave')} with an error."] if out else []


def resumed(before: Process, after: Process) -> list[str]:
    """Rows for which there is KV again."""
    back = {r for r in before.decode.retracted if r not in after.decode.retracted}
    return [f"There is KV again for {these(back)}."] if back else []


def reserved(h: Happened[Server], before: Process, after: Process) -> list[str]:
    """Reservations, and whom the gate refuses one if there is a gate."""
    got = {r for r in before.decode.reserving if r in after.decode.transferring}
    found = []
    if got and gate_on_reservation():
        found.append(f"The gate lets {rows_with(got, h.before.adapter)} pass, and KV is reserved.")
    elif got:
        found.append(
            f"KV is reserved for {rows_with(got, h.before.adapter)}: memory alone decides, whatever the"
            " adapters."
        )
    return found + [refusal(h, before, after, r) for r in Request if r in after.gate.refused]


def arrived(h: Happened[Server], before: Process, after: Process) -> list[str]:
    """KV that has arrived, and what becomes of the requests that it was for."""
    waiting, found = queued(before.scheduler), []
    there = {
        r for r in before.decode.transferring if r not in after.decode.transferring
    } - before.decode.broken
    rows, still = after.forward.rows, queued(after.scheduler)
    at_once = (there | waiting) - rows - after.scheduler.running - still if h.crash is None else set()
    complete = there & (after.decode.complete | at_once) - before.scheduler.to_finish
    if there - complete:
        found.append(f"The KV of {these(there - complete)} has arrived.")
    if complete:
        found.append(f"The KV of {these(complete)} has arrived, and the last token with it.")
    new = (there | waiting | set(before.decode.retracted)) & rows
    if new:
        found.append(f"{these(new)} {verb(len(new), 'becomes a row', 'become rows')} of the batch.")
    if still:
        found.append(f"{these(still)} {verb(len(still), 'waits', 'wait')} for a free row.")
    for who, why in (
        (at_once - before.scheduler.to_finish, ""),
        (at_once & before.scheduler.to_finish, ", aborted,"),
    ):
        if who:
            found.append(f"{these(who)}{why} {verb(len(who), 'leaves', 'leave')} without a decode.")
    return found


def left_decode(h: Happened[Server], before: Process, after: Process) -> list[str]:
    """Rows that leave the active set of the decode role."""
    out: Set[Request] = {r for r in after.decode.retracted if r not in before.decode.retracted}
    found = left(h, before, after)
    if out:
        found.append(f"{these(out)} {verb(len(out), 'is', 'are')} put out for want of KV.")
    return found
