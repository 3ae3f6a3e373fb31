"""What the reference's state means in the model's words: one function for each component.

Each takes the reference's objects and gives the variables of one record of the model under their names
below the record (``waiting``, ``resident``, …). Where the model forgets what can no longer matter, the
function says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slotproof.counterexamples.reference.decode import DecodeScheduler
from slotproof.counterexamples.reference.forward import ForwardReport
from slotproof.counterexamples.reference.pool import BASE
from slotproof.counterexamples.reference.registry import Tokenizer
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.scheduler import Scheduler
from slotproof.counterexamples.replay.driver import Plain

Variables = dict[str, Plain]

CRASHES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("validate_lora_batch", "AssertionError"): {
        "is not loaded": "fit-test-unknown-adapter",
        "more pinned adapters": "fit-test-pinned-count",
    },
    ("fetch_new_loras", "AssertionError"): {"adapters for": "make-resident-too-many"},
    ("choose_victim", "ValueError"): {"no slot can be freed": "make-resident-no-victim"},
    ("load_lora_weight", "AssertionError"): {"not loaded on the host": "make-resident-unknown-adapter"},
    ("look_up_slot", "KeyError"): {"": "metadata-unknown-adapter"},
    ("fetch_union", "ValueError"): {"do not fit together": "global-batch-too-many"},
    ("sgemm_info", "AssertionError"): {"no batch metadata": "sgemm-info-missing"},
    ("apply_lm_head", "RuntimeError"): {"the logits have": "lm-head-row-count"},
}
"""What the model calls a failure: by the function that raises, the exception, and words of its message."""


def cause_of(function: str, kind: str, message: str) -> str | None:
    """The model's name for an exception of a function; ``None`` if it has none."""
    for words, cause in CRASHES.get((function, kind), {}).items():
        if words in message:
            return cause
    return None


def name_of(rid: str) -> str:
    """The client's name of a request: an id is the name and the number of the sending."""
    return rid.partition("#")[0]


def names_of(requests: Iterable[Request | str]) -> frozenset[str]:
    """The clients' names of requests."""
    return frozenset(name_of(r if isinstance(r, str) else r.rid) for r in requests)


def is_held(scheduler: Scheduler, r: Request) -> bool:
    """Whether a scheduler has the request in one of its containers, finished rows included."""
    held = r in scheduler.waiting or r in scheduler.rows()
    if isinstance(scheduler, DecodeScheduler):
        queues = (scheduler.reserving, scheduler.transferring, scheduler.retracted)
        held = held or any(r in queue for queue in queues)
    return held


def map_scheduler(scheduler: Scheduler) -> Variables:
    """``Scheduler``. Within a pass of the normal loop the last batch has been merged and counts as empty;
    what is said of rows is forgotten when they leave."""
    adder, last = scheduler.adder, scheduler.last
    merged = scheduler.merged and not scheduler.overlap
    last_rows = [r for r in last.requests if not r.torn_down] if last is not None and last.prefill else []
    partial = [r for r in (scheduler.chunk, adder.resumed if adder is not None else None) if r is not None]
    rows = [*scheduler.running, *([] if merged else last_rows), *partial]
    put_out = scheduler.retracted if isinstance(scheduler, DecodeScheduler) else []
    marked = [*rows, *put_out, *scheduler.waiting]
    flying = scheduler.results[-1].prefill if scheduler.results else None
    return {
        "waiting": tuple(name_of(r.rid) for r in scheduler.waiting),
        "running": names_of(scheduler.running),
        "last": frozenset() if merged else names_of(last_rows),
        "in_flight": "NONE" if flying is None else "PREFILL" if flying else "DECODE",
        "finished": names_of(r for r in rows if r.finished is not None),
        "to_finish": names_of(r for r in marked if r.to_finish),
        "chunk": name_of(scheduler.chunk.rid) if scheduler.chunk is not None else None,
        "asked": adder.answered if adder is not None else None,
        "picks": names_of(adder.picks) if adder is not None else frozenset(),
        "resumed": name_of(adder.resumed.rid) if adder is not None and adder.resumed is not None else None,
    }


def map_decode(scheduler: Scheduler) -> Variables:
    """``DecodeQueues``; a failure is remembered for requests that are still in a queue."""
    if not isinstance(scheduler, DecodeScheduler):
        return {}
    queued = [*scheduler.reserving, *scheduler.transferring]
    return {
        "reserving": tuple(name_of(r.rid) for r in scheduler.reserving),
        "transferring": tuple(name_of(r.rid) for r in scheduler.transferring),
        "broken": names_of(r for r in queued if r.rid in scheduler.peer.failed),
        "retracted": tuple(name_of(r.rid) for r in scheduler.retracted),
        "complete": names_of(r for r in scheduler.waiting if r.has_come_to_its_end),
        "rows": scheduler.max_rows,
    }


def map_drainer(scheduler: Scheduler, adapters: Iterable[str]) -> Variables:
    """``Drainer``: its marks; times and tokens are told it (``waits.py``)."""
    drainer = scheduler.drainer
    if drainer is None:
        return {}
    return {f"drains_for[{a}]": drainer.drains_for.get(a) for a in adapters}


def map_gate(scheduler: Scheduler, names: Iterable[str]) -> Variables:
    """``GateReport``: what the gate did in this step."""
    gate = scheduler.gate
    counted = {name_of(rid): frozenset(adapters) for rid, adapters in gate.counted.items()}
    overwritten = scheduler.loader.overwritten if scheduler.loader is not None else ()
    return {
        "refused": names_of(gate.refused),
        **{f"counted[{name}]": counted.get(name, frozenset()) for name in names},
        "overwritten": frozenset(overwritten),
        "unasked": names_of(gate.unasked),
    }


def map_manager(scheduler: Scheduler, adapters: Iterable[str]) -> Variables:
    """``Manager``: told by the adapters that left."""
    return {"gone": frozenset(a for a in adapters if a != BASE and a not in scheduler.part.manager.weights)}


def map_loader(scheduler: Scheduler) -> Variables:
    """``Loader``: a closed gate on the load stream is a copy that has not ended."""
    loader = scheduler.loader
    if loader is None:
        return {}
    pool = scheduler.part.pool
    return {
        "pending": frozenset(loader.events),
        "copies": loader.stream.closed(),
        "filling": frozenset(uid for uid in pool.slot_of if pool.is_filling(uid)),
    }


def map_pool(scheduler: Scheduler, kept: frozenset[str], late: bool) -> Variables:
    """``Pool``: slots without their numbers. ``kept`` are pinned adapters that can never be victims: the
    model has no place for them in the order of use. Slots that are zeroed behind a forward are seen if
    forwards are as ``late`` as in the model, and copies run in the background."""
    pool = scheduler.part.pool
    found: Variables = {
        "resident": frozenset(pool.slot_of),
        "recency": tuple(uid for uid in pool.recency if uid not in kept),
    }
    if late and scheduler.loader is not None:
        awaited = [slot for slot in range(pool.slots) if pool.awaits_zeroing(slot)]
        overtaken = frozenset(uid for uid, slot in pool.slot_of.items() if slot in awaited)
        found["zeroing"] = sum(pool.holders[slot] is None for slot in awaited)
        found["overtaken"] = overtaken
        found["wiped"] = frozenset(pool.overtaking) - overtaken - {BASE}
    return found


def map_forward(scheduler: Scheduler, single: bool) -> Variables:
    """``ForwardReport``. With several ranks, which rows were computed with a part of another adapter is
    seen by their tokens, not here."""
    report: ForwardReport = scheduler.part.report
    found: Variables = {
        "rows": names_of(report.rows),
        "handed": frozenset(report.handed),
        "evicted": frozenset(report.evicted),
        "launched": names_of(report.launched),
        "discarded": names_of(scheduler.discarded),
        "results": names_of(scheduler.processed),
    }
    if single:
        found["misrouted"] = names_of(report.misrouted)
    return found


def map_routing(scheduler: Scheduler) -> Variables:
    """``Routing``: which per-batch blocks are there, and what this step's forward did with them."""
    report = scheduler.part.report
    return {
        "held": frozenset(scheduler.part.blocks.names()),
        "prepared": frozenset(report.prepared),
        "stale": frozenset(report.stale),
        "bypassed": frozenset(report.bypassed),
        "joined": report.joined,
    }


def map_tokenizer(
    tokenizer: Tokenizer, looked_up: Iterable[str], warm: Request | None, promised: str | None
) -> Variables:
    """``Tokenizer``: open states by the clients' names."""
    return {
        "open": names_of(tokenizer.states),
        "looked_up": frozenset(looked_up),
        "warm_up": name_of(warm.rid) if warm is not None else None,
        "promised": promised,
    }


def map_replies(tokenizer: Tokenizer) -> Variables:
    """``Replies``: what is on its way up to a state that is open."""
    outputs = tokenizer.channels.outputs
    return {
        "outputs": names_of(outputs),
        "errors": names_of(rid for rid, output in outputs.items() if output.error),
        "echoes": names_of(tokenizer.channels.echoes),
    }


def map_registry(tokenizer: Tokenizer, adapters: Iterable[str], drift: Mapping[str, int]) -> Variables:
    """``Registry``; ``drift`` says how far the counts are off (``Marks``)."""
    registered = tokenizer.registry.names
    return {
        "absent": frozenset(a for a in adapters if a not in registered),
        "unloading": frozenset(tokenizer.unloading),
        "incomplete": frozenset(tokenizer.incomplete),
        **{f"drift[{a}]": drift.get(a, 0) for a in adapters},
    }


class Marks:
    """How far use counts are off, of adapters that may be unloaded.

    The model follows them up to ``most`` references lost, and leaves the number there for good.
    """

    def __init__(self, watched: Iterable[str], most: int) -> None:
        self.most = most
        self.off = dict.fromkeys(watched, 0)
        self.actual = dict.fromkeys(watched, 0)

    def update(self, tokenizer: Tokenizer, held: Mapping[str, int]) -> None:
        """After a step: compare counts with the references owned. ``held``: owned outside of states."""
        for uid in self.off:
            owned = sum(1 for s in tokenizer.states.values() if s.owns and s.adapter == uid)
            self.actual[uid] = tokenizer.registry.counts[uid] - owned - held.get(uid, 0)
            if self.off[uid] < self.most:
                self.off[uid] = min(self.actual[uid], self.most)

    @property
    def beyond(self) -> bool:
        """Whether a count has come down again from where the model leaves it."""
        return any(self.actual[uid] < off for uid, off in self.off.items())
