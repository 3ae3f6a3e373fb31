"""What must happen in the end, if the server's own steps are fair (``serving/fairness.py``)."""

from __future__ import annotations

from slotproof.model.language import eventually, leads_to
from slotproof.model.serving.decode_queues import in_decode_queues
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request


def waits(s: Server, r: Request) -> bool:
    """Whether the request is in a queue before the active set."""
    return any(r in s.ranks[k].scheduler.waiting or in_decode_queues(s.ranks[k].decode, r) for k in Rank)


@eventually
def progress(s: Server, r: Request) -> bool:
    """A waiting request is admitted in the end, or aborted."""
    return leads_to(waits(s, r), not waits(s, r))


def is_open(s: Server, r: Request) -> bool:
    """Whether the client of the request still waits for its answer."""
    return r in s.tokenizer.open or r in s.tokenizer.looked_up or s.tokenizer.promised == r


@eventually
def unload_completes(s: Server, a: Adapter) -> bool:
    """An unload ends once the requests that name its adapter have ended; no new ones can come."""
    return leads_to(
        a in s.registry.unloading and not any(s.adapter[r] == a for r in Request if is_open(s, r)),
        a not in s.registry.unloading,
    )
