"""A prompt with several samples (n > 1): its warm-up, its samples, and who owns which reference.

All n references are taken at the start. The prompt is then computed once for the prefix cache, by a request
of its own that asks for no token and carries the adapter (``max_new_tokens = 0``); the tokenizer waits for
it. After that the samples are sent one by one, and each owns one of the references. Here n is 2: the
request ``r`` stands for the warm-up first and for the first sample then, ``q`` for the second one. The
samples start once the warm-up's row has been swept: until then ``r`` cannot stand for another request.
"""

from __future__ import annotations

from slotproof.model.language import action, require, some
from slotproof.model.serving.front import abort_in_scheduler, close, enqueue
from slotproof.model.serving.registry import (
    leak_reference,
    may_release_without_owner,
    release_without_owner,
)
from slotproof.model.serving.scheduler import holds
from slotproof.model.serving.server import Server
from slotproof.model.serving.step import at_ingest, is_under_way
from slotproof.model.serving.tokenizer import undispatched_failure_releases, warm_up_releases
from slotproof.model.serving.vocabulary import BASE, Adapter, Rank, Request, names, parallel


@action(actor="client", source="managers/tokenizer_manager.py: TokenizerManager._handle_batch_request")
def arrive_for_two(s: Server, k: Rank, r: Request, q: Request, a: Adapter) -> None:
    """A client asks for two samples with {a}: two references are taken, and the prompt is sent as {r}."""
    require(parallel)
    require(at_ingest(s))
    require(r < q)
    require(a in names[r] and a in names[q])
    require(a not in s.registry.absent)
    require(not is_under_way(s, r) and not is_under_way(s, q))
    require(s.tokenizer.warm_up is None and s.tokenizer.promised is None)
    s.adapter[r] = a
    s.adapter[q] = a
    s.tokenizer.open |= {r}
    s.tokenizer.warm_up = r
    s.tokenizer.promised = q
    enqueue(s.ranks[k], r)


@action(actor="tokenizer", source="managers/tokenizer_manager.py: TokenizerManager._handle_batch_request")
def start_sampling(s: Server, k: Rank, r: Request) -> None:
    """The prompt of {r} has been computed: its first sample is sent."""
    require(at_ingest(s))
    require(s.tokenizer.warm_up == r and s.tokenizer.promised is not None)
    require(r in s.replies.outputs)
    require(not holds(s.ranks[k].scheduler, r))
    require(may_release_without_owner(s.registry, s.adapter[r]) or not warm_up_releases())
    if warm_up_releases():
        release_without_owner(s.registry, s.adapter[r])
    s.replies.outputs -= {r}
    s.tokenizer.warm_up = None
    enqueue(s.ranks[k], r)


@action(actor="tokenizer", source="managers/tokenizer_manager.py: TokenizerManager._handle_batch_request")
def send_second_sample(s: Server, k: Rank, q: Request) -> None:
    """The second sample is sent as {q}."""
    require(at_ingest(s))
    require(s.tokenizer.warm_up is None and s.tokenizer.promised == q)
    s.tokenizer.promised = None
    s.tokenizer.open |= {q}
    enqueue(s.ranks[k], q)


@action(actor="client", source="managers/tokenizer_manager.py: _release_req_states_on_failure")
def fail_warm_up(s: Server, r: Request) -> None:
    """The client goes while the prompt of {r} is computed: the samples' states are dropped, and an abort
    is sent for the warm-up, whose state stays until the scheduler answers.

    From 0.5.22 both references are given back at once, though the scheduler still has the warm-up; up to
    0.5.21 both are lost.
    """
    require(at_ingest(s))
    require(s.tokenizer.warm_up == r and s.tokenizer.promised is not None)
    if not undispatched_failure_releases():
        leak_reference(s.registry, s.adapter[r])
        leak_reference(s.registry, s.adapter[r])
    q = some(s.tokenizer.promised)
    s.tokenizer.promised = None
    s.adapter[q] = BASE
    for k in Rank:
        abort_in_scheduler(s, s.ranks[k], r)


@action(actor="client", source="managers/tokenizer_manager.py: TokenizerManager._handle_batch_request")
def fail_before_second_sample(s: Server, q: Request) -> None:
    """The handler fails before it has sent {q}: the reference kept for it is lost."""
    require(at_ingest(s))
    require(s.tokenizer.warm_up is None and s.tokenizer.promised == q)
    leak_reference(s.registry, s.adapter[q])
    s.tokenizer.promised = None
    s.adapter[q] = BASE


@action(actor="tokenizer", source="managers/tokenizer_manager.py: TokenizerManager._handle_batch_output")
def end_failed_warm_up(s: Server, r: Request) -> None:
    """The scheduler's answer to a warm-up whose client has gone arrives; it owns no reference."""
    require(at_ingest(s))
    require(s.tokenizer.warm_up == r and s.tokenizer.promised is None)
    require(r in s.replies.outputs or r in s.replies.echoes)
    require(may_release_without_owner(s.registry, s.adapter[r]))
    if r in s.replies.outputs and warm_up_releases():
        release_without_owner(s.registry, s.adapter[r])
    s.tokenizer.warm_up = None
    close(s, r)
