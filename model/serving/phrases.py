"""Phrases for what is told of a step (``telling.py``) and drawn of a state (``drawing.py``)."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from slotproof.model.language import Map, Set
from slotproof.model.serving.decode import occupied_on_decode
from slotproof.model.serving.decode_queues import in_decode_queues
from slotproof.model.serving.gate import occupied_on_prefill, partial_prompt_occupies
from slotproof.model.serving.layers import targets
from slotproof.model.serving.routing import Layer
from slotproof.model.serving.scheduler import holds, in_flight, merge, queued, sweep_before_the_pass
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import Adapter, Request, Role, role


def enumerated(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def in_order(items: Iterable[Request] | Iterable[Adapter]) -> list[str]:
    """The names of some elements of a domain, in its order."""
    return [str(x) for x in sorted(items, key=lambda x: x.index)]


def these(items: Iterable[Request] | Iterable[Adapter]) -> str:
    """Some elements of a domain as a phrase."""
    return enumerated(in_order(items))


def rows_with(rows: Set[Request], adapter: Map[Request, Adapter]) -> str:
    """Requests, each with the adapter that it names: ``r1 (A) and r2 (base)``."""
    return enumerated([f"{r} ({adapter[r]})" for r in Request if r in rows])


def verb(count: int, one: str, several: str) -> str:
    """The form of a verb that goes with so many."""
    return one if count == 1 else several


def layers(some_of: Set[Layer]) -> str:
    """Layers as a phrase; ``every layer`` where all that the adapters change are meant."""
    if targets <= some_of:
        return "every layer"
    names = [layer.value for layer in Layer if layer in some_of]
    return f"the layer{'s' if len(names) != 1 else ''} {enumerated(names)}"


def own(s: Server, rank: Process, a: Adapter) -> Set[Request]:
    """The requests of a process, rows in flight included, that name the adapter."""
    held = {
        r
        for r in Request
        if holds(rank.scheduler, r) or in_decode_queues(rank.decode, r) or r in in_flight(rank.scheduler)
    }
    return {r for r in held if s.adapter[r] == a}


def why_counted(s: Server, before: Process, after: Process, a: Adapter) -> str:
    """For whom or for what the gate counts an adapter as occupying a slot, in a step of a process."""
    if a in after.loader.copies:
        return f"{a}, whose copy is under way"
    rows = {r for r in counted_requests(before, after) if s.adapter[r] == a}
    if rows:
        finished = rows <= before.scheduler.finished
        return f"{a} of {these(rows)}{', finished and not swept' if finished else ''}"
    if a in after.loader.pending:
        return f"{a}, {copy_left(own(s, before, a))}"
    return str(a)


def copy_left(waiting: Set[Request]) -> str:
    """A copy that has ended and that nobody has taken out of the loader's table."""
    ended = "whose copy has ended but is still in the loader's table"
    if not waiting:
        return f"{ended}, though no request names it any more"
    return f"{ended}, for which {these(waiting)} {verb(len(waiting), 'waits', 'wait')}"


def counted_requests(before: Process, after: Process) -> Set[Request]:
    """The requests whose adapters a gate counts in this step, the picks of its pass included."""
    if role is Role.DECODE:
        reserved = {r for r in Request if r in after.decode.transferring or r in before.decode.transferring}
        return occupied_on_decode(before.scheduler) | reserved | queued(before.scheduler)
    scheduler = copy.deepcopy(before.scheduler)
    merge(scheduler)
    sweep_before_the_pass(scheduler)
    rows = occupied_on_prefill(scheduler) | before.scheduler.picks
    rows |= queued(before.scheduler) & (after.forward.rows | after.scheduler.picks)
    middle = before.scheduler.chunk if before.scheduler.resumed is None else before.scheduler.resumed
    if middle is not None and partial_prompt_occupies():
        rows |= {middle}
    return rows
