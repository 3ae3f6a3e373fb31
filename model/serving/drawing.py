"""How the server is drawn over time: gate and streams, slots, copies, requests, use counts, metadata."""

from __future__ import annotations

from slotproof.model.language import Map, Set
from slotproof.model.language.drawing import Bar, Group, Texture
from slotproof.model.serving.decode import gate_on_reservation
from slotproof.model.serving.decode_queues import DecodeQueues
from slotproof.model.serving.front import use_count
from slotproof.model.serving.layers import targets
from slotproof.model.serving.loader import Loader
from slotproof.model.serving.phrases import layers, own, verb
from slotproof.model.serving.scheduler import Scheduler, in_flight
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import (
    BASE,
    Adapter,
    Loading,
    Rank,
    Request,
    Role,
    data_parallel,
    loading,
    pinned,
    role,
    slots,
    unloadable,
)


def picture(s: Server) -> list[Group]:
    """Everything that is drawn of one state."""
    groups = []
    for k in Rank:
        groups.append(streams(s, k))
        groups.append(slots_of(s, k))
        if loading is Loading.BACKGROUND:
            groups.append(table(s, k))
        if data_parallel:
            groups.append(metadata(s, k))
    groups.append(requests_of(s))
    if len(unloadable) > 0:
        groups.append(registry(s))
    return groups


def of_rank(title: str, k: Rank) -> str:
    """A title that says which rank, where there are several."""
    return f"{title}, {k}" if len(Rank) > 1 else title


def listed(items: Set[Request] | Set[Adapter]) -> str:
    """The elements of a set in their order, as a phrase."""
    return " ".join(str(x) for x in sorted(items, key=lambda x: x.index))


# -- gate and streams ------------------------------------------------------------------------------------


def streams(s: Server, k: Rank) -> Group:
    """What the gate answers in this step, the copies on the load stream, and the forwards."""
    rank = s.ranks[k]
    asks = role is not Role.DECODE or gate_on_reservation()
    rows = ["gate"] if asks else []
    rows += ["forward"] if loading is Loading.SYNCHRONOUS else ["load stream", "compute stream"]
    bars = gate(rank)
    if loading is Loading.BACKGROUND:
        bars += copies(rank.loader, rank.gate.overwritten)
    bars += forward(s, rank, rows[-1])
    return Group(
        of_rank("Gate and streams" if asks else "Streams", k), bars, tuple(rows), legend=STREAM_LEGEND
    )


STREAM_LEGEND = (
    (Texture.STRIPES, "a copy under way"),
    (Texture.OUTLINE, "launched before, result not taken"),
)


def gate(rank: Process) -> list[Bar]:
    """Whom the gate keeps in the queue: those for whom the fit test has no slot, and those whose adapter is
    being copied."""
    if len(rank.gate.refused) == 0:
        return []
    counted = {a for r in Request for a in Adapter if a in rank.gate.counted[r]}
    no_slot = {r for r in rank.gate.refused if len(rank.gate.counted[r]) > 0}
    others = rank.gate.refused - no_slot
    keeps = "lets {} wait for its copy" if len(others) == 1 else "lets {} wait for their copies"
    words = [f"refuses {listed(no_slot)}"] if no_slot else []
    if others:
        words.append(
            keeps.format(listed(others)) if loading is Loading.BACKGROUND else f"refuses {listed(others)}"
        )
    mark = f"the fit test counts {listed(counted)}" if counted else ""
    return [Bar("gate", ", ".join(words), mark=mark, passing=True)]


def copies(loader: Loader, overwritten: Set[Adapter]) -> list[Bar]:
    """The copy that the load stream is at, and those behind it."""
    if len(loader.copies) == 0:
        return []
    first, *others = list(loader.copies)
    text = f"copies {first}" + "".join(f", then {a}" for a in others)
    mark = f"begins to write over {listed(overwritten)}" if overwritten else ""
    return [Bar("load stream", text, first.index, Texture.STRIPES, mark)]


def forward(s: Server, rank: Process, row: str) -> list[Bar]:
    """The forward that this step launches, else the one whose result is still to be taken."""
    launched = rank.forward
    stale = rank.routing.stale
    reads = verb(1 if targets <= stale else len(stale), "reads", "read")
    stale_words = f"{layers(stale)} {reads} batch metadata of an earlier forward" if stale else ""
    if len(launched.rows) > 0:
        marks = [stale_words] if stale else []
        if len(launched.handed) > slots:
            marks.append(f"{len(launched.handed)} adapters for {slots} slot{'s' if slots != 1 else ''}")
        if len(launched.misrouted) > 0:
            marks.append(f"{listed(launched.misrouted)} computed with another adapter")
        if len(launched.evicted) > 0:
            marks.append(f"evicts {listed(launched.evicted)}")
        text = f"{listed(launched.rows)} with {listed(launched.handed)}"
        hues = [a.index for a in Adapter if a in launched.handed]
        return [Bar(row, text, hues[0] if len(hues) == 1 else 0, mark="; ".join(marks), passing=True)]
    if data_parallel and any(len(s.ranks[j].forward.rows) > 0 for j in Rank):
        return [Bar(row, "idle forward", texture=Texture.DOTS, mark=stale_words, passing=True)]
    rows = in_flight(rank.scheduler)
    if len(rows) > 0:
        return [Bar(row, f"{listed(rows)} in flight", texture=Texture.OUTLINE)]
    return []


# -- slots -----------------------------------------------------------------------------------------------


SLOT_LEGEND = (
    (Texture.STRIPES, "its weights are still being copied"),
    (Texture.CROSS, "unloaded, and still in its slot"),
)


def slots_of(s: Server, k: Rank) -> Group:
    """The device slots of a rank: who is in them, and which rows read them in this step."""
    rank = s.ranks[k]
    bars = []
    for a in Adapter:
        if a in rank.pool.resident:
            texture = Texture.PLAIN
            if a in rank.manager.gone:
                texture = Texture.CROSS
            if a in rank.loader.filling:
                texture = Texture.STRIPES
            text = f"{a} (pinned)" if a in pinned else str(a)
            gone = a in rank.manager.gone
            mark = read_by(s.adapter, rank, a)
            bars.append(Bar(str(a), f"{text}, unloaded" if gone else text, a.index, texture, mark, odd=gone))
    names = tuple(f"slot {i}" for i in range(slots))
    return Group(of_rank("Slots", k), bars, names, places=True, legend=SLOT_LEGEND)


def read_by(adapter: Map[Request, Adapter], rank: Process, a: Adapter) -> str:
    """Which rows of the forward that is launched, or in flight, read the adapter's slot."""
    readers = rank.forward.launched | in_flight(rank.scheduler)
    own = {r for r in readers if adapter[r] == a}
    return f"read by {listed(own)}" if own else ""


# -- copies ----------------------------------------------------------------------------------------------


TABLE_LEGEND = (
    (Texture.STRIPES, "its copy is under way"),
    (Texture.CROSS, "its copy has ended, and the gate still counts it"),
)


def table(s: Server, k: Rank) -> Group:
    """The loader's table: an adapter with an entry counts as occupying a slot until the entry is reaped."""
    rank, bars = s.ranks[k], []
    for a in Adapter:
        if a in rank.loader.pending:
            names_it = own(s, rank, a)
            whose = f"for {listed(names_it)}" if names_it else "no request names it"
            if a in rank.loader.copies:
                bars.append(Bar(str(a), f"copying, {whose}", a.index, Texture.STRIPES))
            else:
                text = f"copied, still counted, {whose}"
                bars.append(Bar(str(a), text, a.index, Texture.CROSS, odd=not names_it))
    rows = tuple(str(a) for a in Adapter if a != BASE)
    return Group(of_rank("The loader's table of copies", k), bars, rows, legend=TABLE_LEGEND)


# -- requests --------------------------------------------------------------------------------------------


REQUEST_LEGEND = (
    (Texture.OUTLINE, "in a queue"),
    (Texture.STRIPES, "on the way into a batch"),
    (Texture.PLAIN, "a row of a batch"),
    (Texture.CROSS, "finished, still a row"),
    (Texture.DOTS, "left the scheduler, not answered yet"),
)


def requests_of(s: Server) -> Group:
    """Each request's adapter and the stage that it is in."""
    bars = []
    for r in Request:
        found = stage(s, r)
        if found is not None:
            words, texture = found
            text = f"{s.adapter[r]}: {words}"
            bars.append(
                Bar(str(r), text, s.adapter[r].index, texture, news(s, r), odd=texture is Texture.CROSS)
            )
    return Group("Requests", bars, tuple(str(r) for r in Request), legend=REQUEST_LEGEND)


def stage(s: Server, r: Request) -> tuple[str, Texture] | None:
    """Where a request is; ``None`` if no part of the server knows it."""
    for k in Rank:
        found = in_queues(s.ranks[k].decode, r) or in_process(s.ranks[k].scheduler, r)
        if found is not None:
            return found
    if r in s.replies.outputs:
        return "answer on its way", Texture.DOTS
    if r in s.replies.echoes:
        return "abort echo on its way", Texture.DOTS
    if r in s.tokenizer.looked_up:
        return "adapter looked up", Texture.OUTLINE
    if r in s.tokenizer.open or s.tokenizer.promised == r:
        return "known to the tokenizer alone", Texture.DOTS
    return None


def in_queues(decode: DecodeQueues, r: Request) -> tuple[str, Texture] | None:
    """Its stage before the active set of the decode role."""
    broken = ", broken off" if r in decode.broken else ""
    if r in decode.reserving:
        return f"waits for a reservation{broken}", Texture.OUTLINE
    if r in decode.transferring:
        return f"KV transfer{broken}", Texture.STRIPES
    return ("retracted", Texture.OUTLINE) if r in decode.retracted else None


def in_process(scheduler: Scheduler, r: Request) -> tuple[str, Texture] | None:
    """Its stage in a scheduler process."""
    aborted = ", abort marked" if r in scheduler.to_finish else ""
    if r in scheduler.picks:
        return "picked for the batch", Texture.STRIPES
    if r in scheduler.waiting:
        return f"waiting{aborted}", Texture.OUTLINE
    if scheduler.chunk == r or scheduler.resumed == r:
        return f"partial prompt{aborted}", Texture.PLAIN
    if r in scheduler.finished:
        return "finished, not swept", Texture.CROSS
    if r in scheduler.running:
        return f"running{aborted}", Texture.PLAIN
    return (f"prefill{aborted}", Texture.PLAIN) if r in scheduler.last else None


def news(s: Server, r: Request) -> str:
    """What happens to a request in this step."""
    found = []
    for k in Rank:
        if r in s.ranks[k].gate.refused:
            found.append("refused" if len(s.ranks[k].gate.counted[r]) > 0 else "kept in the queue")
        if r in s.ranks[k].gate.unasked:
            found.append("the gate is not asked")
        if r in s.ranks[k].forward.results:
            found.append("gets a token")
    return ", ".join(found)


# -- use counts ------------------------------------------------------------------------------------------


REGISTRY_LEGEND = (
    (Texture.DOTS, "its unload waits for the count 0"),
    (Texture.CROSS, "no client can name it"),
)


def registry(s: Server) -> Group:
    """The use count of each adapter that may be unloaded, and how far its unload is."""
    bars = []
    for a in Adapter:
        if a in unloadable:
            texture, words = Texture.PLAIN, f"use count {use_count(s, a)}"
            if a in s.registry.absent:
                texture = Texture.CROSS
                gone = all(a in s.ranks[k].manager.gone for k in Rank)
                words = "unloaded" if gone else f"unload given up, use count {use_count(s, a)}"
            if a in s.registry.unloading:
                texture, words = Texture.DOTS, f"unload waits, use count {use_count(s, a)}"
            off = s.registry.drift[a]
            mark = f"{abs(off)} too {'high' if off > 0 else 'low'}" if off else ""
            bars.append(Bar(str(a), f"{words}, {mark}" if mark else words, a.index, texture, odd=off != 0))
    rows = tuple(str(a) for a in Adapter if a in unloadable)
    return Group("Registry: what can be unloaded", bars, rows, legend=REGISTRY_LEGEND)


# -- batch metadata --------------------------------------------------------------------------------------


def metadata(s: Server, k: Rank) -> Group:
    """The per-batch blocks that a rank's backend holds, and whether this step's forward prepared them."""
    routing = s.ranks[k].routing
    bars = []
    if len(routing.held) > 0:
        names = ", ".join(block.value for block in sorted(routing.held, key=lambda b: b.value))
        forwards = any(len(s.ranks[j].forward.rows) > 0 for j in Rank)
        left = routing.held - routing.prepared
        mark = "left over from an earlier forward" if forwards and left else ""
        texture = Texture.STRIPES if mark else Texture.PLAIN
        bars.append(Bar("held", names, texture=texture, mark=mark, odd=bool(mark)))
    legend = ((Texture.STRIPES, "a forward ran that did not prepare it"),)
    return Group(of_rank("Batch metadata", k), bars, ("held",), legend=legend)
