"""The server's words that stories and pages use, each by what declares it."""

from __future__ import annotations

from collections.abc import Mapping

from slotproof.model.serving import drainer, front, gate, loader, manager, routing
from slotproof.model.serving.decode_queues import DecodeQueues
from slotproof.model.serving.pool import Pool
from slotproof.model.serving.scheduler import Scheduler, sweep
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, pinned, slots

WORDS: Mapping[str, object] = {
    "active set": Scheduler.running,
    "adapter": Adapter,
    "base": Adapter,
    "batch metadata": routing,
    "catalogue": manager.Manager,
    "decode": "A forward that computes the next token of each row of the active set.",
    "drain": drainer,
    "echo": "The scheduler's message that it has aborted a request.",
    "evict": "Take the slot of an adapter for another one.",
    "fit test": manager.has_room,
    "forward": "One run of the model's layers over the rows of a batch.",
    "gate": gate,
    "idle forward": "A forward of a rank that has no rows, because the ranks share each forward.",
    "KV": "The attention's keys and values of a request's tokens so far.",
    "lm-head": "The last layer, which makes the scores of the next token.",
    "load stream": "A stream of the device that copies weights into slots, beside the forwards.",
    "loader's table": loader.Loader.pending,
    "partial prompt": Scheduler.chunk,
    "pinned": pinned,
    "prefill": "A forward that computes a request's prompt and its first token.",
    "queue": Scheduler.waiting,
    "rank": Rank,
    "reference": "What a request takes of its adapter on arrival, and gives back at its end.",
    "request": Request,
    "reservation": "Room for a request's KV on a decode server, taken before the KV is sent.",
    "resident": Pool.resident,
    "retract": DecodeQueues.retracted,
    "row": "A request's place in a batch.",
    "slot": slots,
    "swept": sweep,
    "unload": "An operator takes an adapter out of the server.",
    "use count": front.use_count,
}
"""A word as it begins in a text; endings such as a plural's do not matter."""
