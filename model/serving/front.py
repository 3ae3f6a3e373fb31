"""Clients, the operator and the tokenizer: every step outside the schedulers.

These steps take place between two iterations of a scheduler, and what they send down is ingested in the
same step, so that the state has no channel down. That loses nothing. Both sides are sequential, and a
scheduler reads messages only at the top of its loop. Take any run of the server: each step of the tokenizer
can be moved to just before the next ingest without changing what anyone sees, for its messages are read no
earlier, and what it has received by then had been sent. A message that is still on its way at an ingest is
as good as sent after it, together with all that the tokenizer did later; the order of messages stays. The
tests compare it with a server that has the channel, state by state.

Upward the messages are kept: their delay decides when a reference is released, and with it when an unload
is sent.
"""

from __future__ import annotations

from slotproof.model.language import action, require, some
from slotproof.model.serving.decode_queues import awaits_kv, break_off, in_decode_queues
from slotproof.model.serving.manager import unload_adapter
from slotproof.model.serving.pool import end_zeroing
from slotproof.model.serving.registry import (
    leak_reference,
    may_release_without_owner,
    most_drift,
    release_without_owner,
    remembers_given_up_unload,
)
from slotproof.model.serving.routing import graphs
from slotproof.model.serving.scheduler import Batch, Scheduler
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.step import at_ingest, is_under_way, tidy
from slotproof.model.serving.tokenizer import (
    echo_releases,
    error_releases_twice,
    failing_handler_discards,
    undispatched_failure_releases,
)
from slotproof.model.serving.vocabulary import (
    BASE,
    Adapter,
    Rank,
    Request,
    Role,
    Traffic,
    aborts,
    batches,
    failures,
    give_up,
    names,
    role,
    traffic,
    unloadable,
)


def use_count(s: Server, a: Adapter) -> int:
    """``LoRARegistry``'s counter of the adapter: references to it that were taken and not released."""
    owned = sum(1 for r in s.tokenizer.open if s.adapter[r] == a and s.tokenizer.warm_up != r)
    return owned + held_for_samples(s, a) + s.registry.drift[a]


def held_for_samples(s: Server, a: Adapter) -> int:
    """References of a prompt with two samples that no sample owns yet."""
    if s.tokenizer.promised is None or s.adapter[some(s.tokenizer.promised)] != a:
        return 0
    return 2 if s.tokenizer.warm_up is not None else 1


def at_rest(s: Server) -> bool:
    """No request is under way."""
    return all(not is_under_way(s, r) for r in Request)


def close(s: Server, r: Request) -> None:
    """Close a request's state; its answer is no longer on its way."""
    s.tokenizer.open -= {r}
    s.replies.outputs -= {r}
    s.replies.errors -= {r}
    s.replies.echoes -= {r}
    if not is_under_way(s, r):
        s.adapter[r] = BASE


def enqueue(rank: Process, r: Request) -> None:
    """``_add_request_to_queue``."""
    if role is Role.DECODE:
        rank.decode.reserving.append(r)
    else:
        rank.scheduler.waiting.append(r)


def is_unfinished_row(scheduler: Scheduler, r: Request) -> bool:
    """Whether the request is a row of a batch that has not finished."""
    return (r in scheduler.running or r in scheduler.last) and r not in scheduler.finished


def abort_in_scheduler(s: Server, rank: Process, r: Request) -> None:
    """``abort_request``: out of the queue at once, with an echo; a row only gets a mark."""
    if role is Role.DECODE and awaits_kv(rank.decode, r):
        break_off(rank.decode, r)
    elif role is Role.DECODE and r in rank.decode.retracted:
        rank.decode.retracted[:] = [other for other in rank.decode.retracted if other != r]
        if r in s.tokenizer.open:
            s.replies.echoes |= {r}
    elif r in rank.scheduler.waiting:
        rank.scheduler.waiting[:] = [other for other in rank.scheduler.waiting if other != r]
        rank.scheduler.to_finish -= {r}
        rank.decode.complete -= {r}
        rank.drainer.overdue -= {r}
        if r in s.tokenizer.open:
            s.replies.echoes |= {r}
    elif is_unfinished_row(rank.scheduler, r):
        rank.scheduler.to_finish |= {r}


def fence_holds(scheduler: Scheduler) -> bool:
    """Whether the schedule stream waits for a whole forward at an ingest (``_apply_war_barrier``).

    It waits for the forward in flight; of a decode that replays a captured graph only for the part before
    the replay, which is over by then, because the result of the forward before it has been taken.
    """
    return scheduler.in_flight is Batch.PREFILL or (scheduler.in_flight is Batch.DECODE and not graphs)


def can_be_aborted(rank: Process, r: Request) -> bool:
    """Whether an abort changes anything in the scheduler."""
    if role is Role.DECODE and in_decode_queues(rank.decode, r):
        return r not in rank.decode.broken
    return r in rank.scheduler.waiting or (
        is_unfinished_row(rank.scheduler, r) and r not in rank.scheduler.to_finish
    )


@action(actor="client", source="managers/tokenizer_manager.py: TokenizerManager.generate_request")
def arrive(s: Server, k: Rank, r: Request, a: Adapter) -> None:
    """A client sends {r} for {a}: the tokenizer acquires {a}, and the scheduler queues {r}."""
    require(at_ingest(s))
    require(a in names[r])
    require(a not in s.registry.absent)
    require(not is_under_way(s, r))
    require(traffic is Traffic.ENDLESS or r not in s.tokenizer.sent)
    if traffic is Traffic.ONCE:
        s.tokenizer.sent |= {r}
    s.adapter[r] = a
    s.tokenizer.open |= {r}
    enqueue(s.ranks[k], r)


@action(actor="client", source="lora/lora_registry.py: LoRARegistry.acquire")
def look_up(s: Server, r: Request, a: Adapter) -> None:
    """{r} comes in a list: the tokenizer looks {a} up, and will take the references in tasks of their own."""
    require(batches)
    require(at_ingest(s))
    require(a in names[r])
    require(a not in s.registry.absent)
    require(not is_under_way(s, r))
    s.adapter[r] = a
    s.tokenizer.looked_up |= {r}


@action(actor="tokenizer", source="lora/lora_registry.py: LoRARegistry.acquire")
def take_references(s: Server, k: Rank, r: Request) -> None:
    """The reference of {r} is taken, and {r} is sent.

    Nobody looks whether its adapter is still registered.
    """
    require(at_ingest(s))
    require(r in s.tokenizer.looked_up)
    s.tokenizer.looked_up -= {r}
    s.tokenizer.open |= {r}
    enqueue(s.ranks[k], r)


@action(actor="client", source="managers/tokenizer_manager.py: TokenizerManager.abort_request")
def abort(s: Server, r: Request) -> None:
    """A client cancels {r}; the tokenizer waits for the scheduler's answer."""
    require(aborts)
    require(at_ingest(s))
    require(r in s.tokenizer.open and s.tokenizer.warm_up != r)
    require(any(can_be_aborted(s.ranks[k], r) for k in Rank))
    for k in Rank:
        abort_in_scheduler(s, s.ranks[k], r)


@action(actor="client", source="managers/tokenizer_manager.py: TokenizerManager._wait_one_response")
def disconnect(s: Server, r: Request) -> None:
    """The client of {r} is gone: the handler sends an abort, fails, and its state is dropped."""
    require(aborts)
    require(failing_handler_discards())
    require(at_ingest(s))
    require(r in s.tokenizer.open and s.tokenizer.warm_up != r)
    leak_reference(s.registry, s.adapter[r])
    close(s, r)
    for k in Rank:
        abort_in_scheduler(s, s.ranks[k], r)
        tidy(s, s.ranks[k])


@action(actor="client", source="managers/tokenizer_manager.py: TokenizerManager.generate_request")
def fail_before_sending(s: Server, a: Adapter) -> None:
    """A request acquires {a}, fails validation and is never sent; its reference is lost."""
    require(failures)
    require(not undispatched_failure_releases())
    require(at_ingest(s))
    require(a in unloadable and a not in s.registry.absent)
    require(s.registry.drift[a] < most_drift())
    leak_reference(s.registry, a)


@action(actor="tokenizer", source="managers/tokenizer_manager.py: TokenizerManager._handle_batch_output")
def answer(s: Server, r: Request) -> None:
    """The last output of {r} reaches the tokenizer: the client gets it, the reference is released."""
    require(at_ingest(s))
    require(r in s.replies.outputs and r not in s.replies.errors)
    require(s.tokenizer.warm_up != r)
    close(s, r)


@action(actor="tokenizer", source="managers/tokenizer_manager.py: TokenizerManager._wait_one_response")
def answer_error(s: Server, r: Request, listens: bool) -> None:
    """An output of {r} with abort status 500 reaches the tokenizer, which closes the state.

    ``listens``: the client's handler still waits for it.
    """
    require(at_ingest(s))
    require(r in s.replies.errors)
    require(not listens or error_releases_twice())
    require(not listens or may_release_without_owner(s.registry, s.adapter[r]))
    if listens:
        release_without_owner(s.registry, s.adapter[r])
    close(s, r)


@action(actor="tokenizer", source="managers/tokenizer_manager.py: TokenizerManager._handle_abort_req")
def echo(s: Server, r: Request) -> None:
    """The abort echo of {r} reaches the tokenizer, which closes the state."""
    require(at_ingest(s))
    require(r in s.replies.echoes)
    require(s.tokenizer.warm_up != r)
    if not echo_releases():
        leak_reference(s.registry, s.adapter[r])
    close(s, r)


@action(actor="operator", source="lora/lora_registry.py: LoRARegistry.unregister")
def unregister(s: Server, a: Adapter) -> None:
    """The operator unloads {a}: no client can name it any more, and the unload waits for its use count."""
    require(a in unloadable)
    require(at_ingest(s))
    require(a not in s.registry.absent)
    require(len(s.registry.unloading) == 0)
    s.registry.absent |= {a}
    s.registry.unloading |= {a}


@action(actor="operator", source="managers/tokenizer_control_mixin.py: _unload_lora_adapter_locked")
def give_up_unload(s: Server, a: Adapter) -> None:
    """The caller of the unload of {a} gives up while the unload waits for the use count."""
    require(give_up)
    require(at_ingest(s))
    require(a in s.registry.unloading)
    s.registry.unloading -= {a}
    if remembers_given_up_unload():
        s.registry.incomplete |= {a}


@action(actor="operator", source="managers/tokenizer_control_mixin.py: _unload_lora_adapter_locked")
def unload_again(s: Server, a: Adapter) -> None:
    """The operator repeats an unload of {a} that was given up."""
    require(at_ingest(s))
    require(a in s.registry.incomplete)
    require(len(s.registry.unloading) == 0)
    s.registry.incomplete -= {a}
    s.registry.unloading |= {a}


@action(actor="tokenizer", source="lora/lora_manager.py: LoRAManager.unload_lora_adapter")
def unload(s: Server, a: Adapter) -> None:
    """The use count of {a} is zero: every scheduler gets the unload and forgets {a}."""
    require(at_ingest(s))
    require(a in s.registry.unloading)
    require(use_count(s, a) == 0)
    forget(s, a)


def forget(s: Server, a: Adapter) -> None:
    """Every scheduler forgets the adapter; its slot is zeroed at once where no forward is in flight."""
    s.registry.unloading -= {a}
    for k in Rank:
        unload_adapter(s.ranks[k].manager, s.ranks[k].loader, s.ranks[k].pool, a)
        if not fence_holds(s.ranks[k].scheduler):
            end_zeroing(s.ranks[k].pool)
