"""What a user sees of a violation on the reference: an exception, a wrong token, a refusal that stays.

The trace ends where the property is false. What comes of it may need the server to go on: then it does so
by itself, without any further client, until the symptom is there or nothing moves any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from slotproof.counterexamples.reference.decode import DecodeScheduler
from slotproof.counterexamples.reference.ranks import step_together
from slotproof.counterexamples.replay.driver import Died, Symptom
from slotproof.counterexamples.replay.lengths import LastTokens

if TYPE_CHECKING:
    from slotproof.counterexamples.replay.reference import ReferenceTarget

ROUNDS = 12
"""Iterations after the trace's end; a request needs three at most when nothing is in its way."""


def symptom(target: ReferenceTarget, property: str, died: Died | None) -> Symptom | None:
    """The symptom of a property's violation on a target that stands at the trace's end."""
    if died is not None:
        return _exception(died)
    if property.startswith("no-crash"):
        return None  # the server lives
    look = LOOKS.get(property)
    if look is None:
        raise NotImplementedError(f"no symptom is known for property {property}")
    return look(target)


def _exception(died: Died) -> Symptom:
    kind = "hang" if died.function == "all_reduce" else "exception"
    verb = "never returns" if kind == "hang" else "raises"
    return Symptom(kind, f"{died.function} {verb}: {died.error}")


def go_on(target: ReferenceTarget, ends: bool) -> Died | None:
    """One more round: copies end, every scheduler goes through its loop, replies are delivered.

    ``ends``: each result is the last of its request.
    """
    server = target.server
    target.new_step()
    for scheduler in server.schedulers:
        scheduler.budget = lambda chunk: 10**6
        while scheduler.loader is not None and scheduler.loader.stream.closed():
            scheduler.loader.stream.release()
    names = target.names if ends else []
    try:
        with LastTokens(target.requests(), names):
            if target.data_parallel:
                step_together(server.forwards, server.schedulers)
            else:
                for k, scheduler in enumerate(server.schedulers):
                    if isinstance(scheduler, DecodeScheduler):
                        server.peer.ready = set(server.requests)
                        server.peer.resumable, server.peer.short = set(server.requests), []
                    for _ in target.passes.pop(k, None) or scheduler.iteration():
                        while scheduler.loader is not None and scheduler.loader.stream.closed():
                            scheduler.loader.stream.release()
    except Exception as error:
        return target.died(error)
    finally:
        target.check_tokens()
    warm = target.warm
    if warm is not None and warm.rid in server.tokenizer.channels.outputs:
        start = target.do_start_sampling if target.promised else target.do_end_failed_warm_up
        start({"r": warm.name, "k": "rank0"})
    elif warm is None and target.promised is not None:
        target.do_send_second_sample({"q": target.promised, "k": "rank0"})
    for rid in [*server.tokenizer.channels.outputs]:
        server.tokenizer.handle_output(rid)
    for rid in [*server.tokenizer.channels.echoes]:
        server.tokenizer.handle_echo(rid)
    return None


def wrong_token(target: ReferenceTarget) -> Symptom | None:
    """A token that differs from that of the same request run alone."""
    for _ in range(ROUNDS):
        if target.wrong:
            rid, place, token, expected = target.wrong[0]
            r = target.server.requests[rid]
            return Symptom(
                "token",
                f"token {place + 1} of {r.name} with adapter {r.adapter} is {token};"
                f" the same request run alone gives {expected}",
            )
        died = go_on(target, ends=False)
        if died is not None:
            return _exception(died)
    return None


def refused(target: ReferenceTarget) -> Symptom | None:
    """A refusal for an adapter that nobody uses: a request that never gets in, or a slot that stays taken.

    Where both pass by, the refusal of the trace's last step is what the client sees: it waits for nothing.
    """
    now = [
        (scheduler, target.server.requests[rid], sorted(counted))
        for scheduler in target.server.schedulers
        for rid, counted in scheduler.gate.counted.items()
    ]
    for _ in range(ROUNDS):
        died = go_on(target, ends=True)
        if died is not None:
            return _exception(died)
    for scheduler, r, counted in now:
        who = f"{r.name} with adapter {r.adapter} is refused for {', '.join(counted)}"
        if r in scheduler.waiting and r.rid in scheduler.gate.refused:
            return Symptom(
                "refused", f"{who}, and still after {ROUNDS} iterations, with no other request left"
            )
        for uid in counted:
            if scheduler.loader is not None and uid in scheduler.loader.events:
                what = f"the ended copy of {uid} is still counted, and no request names it"
                return Symptom("refused", f"{who}; after {ROUNDS} iterations {what}")
    for _, r, counted in now:
        who = f"{r.name} with adapter {r.adapter} is refused for {', '.join(counted)}"
        return Symptom("refused", f"{who}, of which no request is left, in this pass")
    return None


def unload_waits(target: ReferenceTarget) -> Symptom | None:
    """An unload that waits although no request is open, or that would go through under an open one."""
    server = target.server
    for uid, first in target.marks.off.items():
        if first == 0:
            continue
        open_requests = [s.rid for s in server.tokenizer.states.values() if s.adapter == uid and s.owns]
        if first < 0 and open_requests and server.tokenizer.registry.counts[uid] == 0:
            name = target.server.requests[open_requests[0]].name
            return Symptom("leftover", f"the use count of {uid} is 0 while {name} is open")
        for _ in range(ROUNDS):
            died = go_on(target, ends=True)
            if died is not None:
                return _exception(died)
        count = server.tokenizer.registry.counts[uid]
        if count != 0 and not server.tokenizer.states:
            return Symptom(
                "hang", f"an unload of {uid} waits for ever: its use count is {count}, and no request is open"
            )
    return None


def unload_breaks(target: ReferenceTarget) -> Symptom | None:
    """A request whose adapter has left under it."""
    return wrong_token(target) or leftover(target)


def leftover(target: ReferenceTarget) -> Symptom | None:
    """An adapter that has left the catalogue and still holds a slot or an entry of the loader."""
    for k, scheduler in enumerate(target.server.schedulers):
        known = scheduler.part.manager.weights
        for uid, slot in scheduler.part.pool.slot_of.items():
            if uid != "base" and uid not in known:
                return Symptom("leftover", f"slot {slot} of rank{k} still holds {uid}, which was unloaded")
        for uid in scheduler.loader.events if scheduler.loader is not None else ():
            if uid != "base" and uid not in known:
                return Symptom("leftover", f"the loader of rank{k} still counts {uid}, which was unloaded")
        absent = set(target.adapters) - set(target.server.tokenizer.registry.names)
        for uid in absent - target.server.tokenizer.unloading - target.server.tokenizer.incomplete:
            if uid in known:
                return Symptom("leftover", f"rank{k} still has {uid}, which no client can name or unload")
    return None


def left_behind(target: ReferenceTarget) -> Symptom | None:
    """A request that was not asked about, although its adapter would fit."""
    for scheduler in target.server.schedulers:
        for r in scheduler.waiting:
            if r.rid in scheduler.gate.unasked:
                return Symptom(
                    "refused", f"{r.name} with adapter {r.adapter} is left behind a refused request"
                )
    return None


def stale_blocks(target: ReferenceTarget) -> Symptom | None:
    """Batch metadata that is left of an earlier forward."""
    for k, scheduler in enumerate(target.server.schedulers):
        for name, block in scheduler.part.blocks.names().items():
            if block.forward != target.server.forwards.number:
                return Symptom("leftover", f"block {name} of rank{k} is left of forward {block.forward}")
    return None


LOOKS: dict[str, Callable[[ReferenceTarget], Symptom | None]] = {
    "slot-capacity": wrong_token,
    "no-slot-leak": refused,
    "fresh-batch-info": wrong_token,
    "metadata-cleared": stale_blocks,
    "no-layer-skipped": wrong_token,
    "all-ranks-join": wrong_token,
    "resident-at-launch": wrong_token,
    "stable-in-flight": wrong_token,
    "right-adapter": wrong_token,
    "progress": refused,
    "unload-completes": unload_waits,
    "split-equals-single": wrong_token,
    "use-count": unload_waits,
    "unload-safe": unload_breaks,
    "unload-clears": leftover,
    "work-conserving": left_behind,
    "refused-waits": left_behind,
}
"""How the symptom of each property is looked for."""
