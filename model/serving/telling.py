"""What a step of the server did, in the server's words (``model/language/telling.py``).

Everything is read from the states before and after the step and from what the step reports, and nothing
from which release it is: so that it is true of every release, and of a candidate that replaces an action.
"""

from __future__ import annotations

from slotproof.model.language.telling import Happened
from slotproof.model.serving.deaths import died
from slotproof.model.serving.front import use_count
from slotproof.model.serving.iterations import decode_iteration, iteration, joint_iteration
from slotproof.model.serving.phrases import enumerated, own, these, verb
from slotproof.model.serving.registry import remembers_given_up_unload
from slotproof.model.serving.scheduler import queued
from slotproof.model.serving.server import Server
from slotproof.model.serving.tokenizer import echo_releases
from slotproof.model.serving.vocabulary import (
    Adapter,
    Loading,
    Rank,
    Request,
    loading,
    unloadable,
)


def telling(h: Happened[Server]) -> list[str]:
    """What the step did, sentence by sentence; how the server died in it comes last."""
    match h.action:
        case "schedule" | "go_on":
            found = iteration(h, h.arguments["k"])
        case "step_together":
            found = joint_iteration(h)
        case "decode_step":
            found = decode_iteration(h, h.arguments["k"])
        case "abort" | "disconnect" | "fail_warm_up":
            found = aborted(h, h.arguments["r"])
        case "echo":
            found = echoed(h.before.adapter[h.arguments["r"]])
        case "answer_error":
            found = answered_twice(h)
        case "take_references":
            found = [*taken(h, h.before.adapter[h.arguments["r"]]), *queued_at(h)]
        case "unregister":
            found = [f"That is {use_count(h.after, h.arguments['a'])} now."]
        case "copy_ends":
            found = copied(h, h.arguments["k"], h.arguments["a"])
        case "unload":
            found = unloaded(h, h.arguments["a"])
        case "give_up_unload":
            found = given_up(h.arguments["a"])
        case _:
            found = queued_at(h)
    return [*found, *drifted(h), *died(h)]


# -- the tokenizer's side --------------------------------------------------------------------------------


def queued_at(h: Happened[Server]) -> list[str]:
    """Which process gets a new request, where there are several."""
    new = {k for k in Rank if queued(h.after.ranks[k].scheduler) - queued(h.before.ranks[k].scheduler)}
    return (
        [f"It is the scheduler of {enumerated([str(k) for k in Rank if k in new])}."]
        if new and len(Rank) > 1
        else []
    )


def aborted(h: Happened[Server], r: Request) -> list[str]:
    """What an abort of the request finds in the schedulers."""
    found = []
    for k in Rank:
        before, after = h.before.ranks[k], h.after.ranks[k]
        queued = r in before.scheduler.waiting or r in before.decode.retracted
        if queued and r not in after.scheduler.waiting and r not in after.decode.retracted:
            echo = " and sends an echo" if r in h.after.replies.echoes else ""
            found.append(f"The scheduler takes {r} out of its queue at once{echo}.")
        if r in after.scheduler.to_finish and r not in before.scheduler.to_finish:
            found.append(f"{r} is a row of a batch: it is marked, and will end with its next result.")
        if r in after.decode.broken and r not in before.decode.broken:
            found.append(f"Its KV is no longer waited for: {r} leaves when the scheduler polls next.")
        a = h.before.adapter[r]
        if loading is Loading.BACKGROUND and a in after.loader.pending and not own(h.after, after, a):
            ended = "has ended" if a not in after.loader.copies else "goes on"
            found.append(f"The copy of {a} {ended}, and no request names {a} any more.")
    return found


def echoed(a: Adapter) -> list[str]:
    """What becomes of the reference that the closed state owned."""
    return [f"The reference of {a} is {'released' if echo_releases() else 'not released: it is lost'}."]


def answered_twice(h: Happened[Server]) -> list[str]:
    """Who releases the reference of a request that ends with status 500."""
    a = h.before.adapter[h.arguments["r"]]
    if h.arguments["listens"]:
        return [f"The client's handler, which still waits, releases the reference of {a} a second time."]
    return [f"Nobody waits for the answer any more: the reference of {a} is released once."]


def taken(h: Happened[Server], a: Adapter) -> list[str]:
    """Whether the reference is one of an adapter that no client can name any more."""
    return [f"{a} is not registered any more, and nobody looks."] if a in h.before.registry.absent else []


def copied(h: Happened[Server], k: Rank, a: Adapter) -> list[str]:
    """Who waits for the copy that has ended."""
    named = own(h.after, h.after.ranks[k], a)
    if not named:
        return [f"No request names {a} any more."]
    waiting = named & queued(h.after.ranks[k].scheduler)
    return [f"{these(waiting)} {verb(len(waiting), 'waits', 'wait')} for it."] if waiting else []


def unloaded(h: Happened[Server], a: Adapter) -> list[str]:
    """What becomes of the adapter's slot, and who still names it."""
    found = []
    for k in Rank:
        before, after = h.before.ranks[k], h.after.ranks[k]
        where = f" on {k}" if len(Rank) > 1 else ""
        if a in before.loader.copies:
            found.append(f"It waits for the copy of {a}{where}.")
        if a in after.pool.resident:
            found.append(f"{a} stays in its slot{where}.")
        elif a in before.pool.resident:
            found.append(f"Its slot{where} is zeroed and is free.")
        if a in after.loader.pending:
            found.append(f"Its copy stays in the loader's table{where}.")
        finished = own(h.after, after, a) & after.scheduler.finished
        if finished:
            found.append(
                f"{these(finished)}, finished and not swept, {verb(len(finished), 'is', 'are')} still a row"
                f" of the active set{where} and {verb(len(finished), 'names', 'name')} {a}."
            )
        held = own(h.after, after, a) - after.scheduler.finished
        if held:
            found.append(
                f"The scheduler still has {these(held)}{where}, which {verb(len(held), 'names', 'name')} {a}."
            )
    return found


def given_up(a: Adapter) -> list[str]:
    """What the registry keeps of an unload that nobody waits for any more."""
    if remembers_given_up_unload():
        return ["The registry remembers the unload as incomplete: it can be asked for again."]
    return [f"The registry forgets it: nobody can name {a} any more, nor unload it."]


def drifted(h: Happened[Server]) -> list[str]:
    """Use counts that are no longer, or again, what the open requests own."""
    found = []
    for a in Adapter:
        if a in unloadable:
            was, is_ = h.before.registry.drift[a], h.after.registry.drift[a]
            if is_ != was:
                now = (
                    f"{abs(is_)} too {'high' if is_ > 0 else 'low'}" if is_ else "what the open requests own"
                )
                found.append(f"The use count of {a} is now {now}.")
    return found
