"""Data-parallel attention: the ranks share a model and step together (``scheduler_dp_attn_mixin.py``).

Each rank has its own queue, rows, catalogue and slots. In every iteration they agree whether any of them has
a batch; if one has, all run a forward, those without rows an idle one, because the feed-forward part is cut
over all of them. So an iteration of all ranks is one step.

The result of a forward is taken at once (the normal loop): batch metadata is prepared and read when a
forward is launched, one forward after the other, so that a later result changes nothing about it.

Reductions: the adapters' layers are no state (``layers.py``); a message to all ranks, an abort or an unload,
is ingested by all in the same iteration (they share the control messages over the whole group), and which
rank gets a request is open. The order of rows within a rank's batch is open too.
"""

from __future__ import annotations

from slotproof.model.language import Set, action, crash, decision, initial, require
from slotproof.model.serving.forward import fetch, look_up_slots
from slotproof.model.serving.layers import gathers, replay_layers, run_layers, targets
from slotproof.model.serving.manager import fits
from slotproof.model.serving.pool import make_resident
from slotproof.model.serving.routing import (
    Block,
    Layer,
    graphs,
    idle_metadata,
    passes,
    prepare_global_metadata,
    prepare_metadata,
)
from slotproof.model.serving.scheduler import Batch, Scheduler
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.step import (
    ask_queue,
    begin_iteration,
    due_rows,
    end_iteration,
    form_batch,
    has_work,
    tidy,
)
from slotproof.model.serving.vocabulary import BASE, Rank, Request, data_parallel, most_room


@initial
def ranks_start(s: Server) -> None:
    """The ranks are idle. Where decode graphs were captured, the block of the last capture is still held."""
    for k in Rank:
        if graphs:
            s.ranks[k].routing.held = {Block.ROWS, Block.MERGED}


@decision
def ranks_exchange_adapters() -> bool:
    """Whether the ranks agree on the adapters of a forward before any of them prepares its metadata."""
    raise NotImplementedError


def each_rank_alone() -> bool:
    """No: a rank fetches and prepares for its own rows, an idle one for none (up to 0.5.20)."""
    return False


def all_ranks_together() -> bool:
    """Yes: every rank, idle ones included, joins in an exchange of adapter ids, fetches the union, and
    prepares a block for the rows of all ranks as well (0.5.21)."""
    return True


def fetch_union(s: Server) -> None:
    """``LoRAManager.prepare_lora_batch`` under DP attention: each rank makes the adapters of all resident."""
    union = {s.adapter[r] for r in Request if any(r in s.ranks[k].forward.rows for k in Rank)}
    for k in Rank:
        if not fits(s.ranks[k].manager, union):
            crash("global-batch-too-many")
        s.ranks[k].forward.evicted = make_resident(s.ranks[k].pool, union, s.ranks[k].manager.gone)


def prepare(rank: Process, prefill: bool, in_passes: bool) -> None:
    """``ForwardBatch.init_new`` and what it calls: this rank's batch metadata for the forward."""
    idle = len(rank.forward.rows) == 0
    if idle:
        idle_metadata(rank.routing)
    else:
        prepare_metadata(rank.routing, prefill, in_passes)
    if ranks_exchange_adapters():
        rank.routing.joined = True
        if idle:
            prepare_metadata(rank.routing, False, False)
        prepare_global_metadata(rank.routing, idle)


def reads_all_ranks(s: Server) -> bool:
    """Whether each rank's part of a layer that runs on the rows of all ranks knows all of their adapters."""
    return all(Block.GLOBAL in s.ranks[k].routing.prepared for k in Rank)


def reaches_others(s: Server, k: Rank) -> bool:
    """Whether segments of some rank's own block can fall on rows of this rank that are not theirs.

    A rank lays its segments over the gathered rows from the first one on, wherever its own rows begin: over
    those of the ranks before it, and shifted over its own. Row counts and the order of rows are open. What an
    idle rank has left over falls on anyone's rows.
    """
    own = any(s.adapter[r] != BASE for r in s.ranks[k].forward.rows)
    return (
        any(len(s.ranks[j].routing.stale) > 0 for j in Rank if j != k)
        or any(any(s.adapter[r] != BASE for r in s.ranks[j].forward.rows) for j in Rank if j > k)
        or (own and any(len(s.ranks[j].forward.rows) > 0 for j in Rank if j < k))
    )


def misroute(s: Server, k: Rank) -> None:
    """Note the rows of which some layer computes a part with another adapter than theirs, or without it.

    A layer that is cut over the ranks computes a row in parts, one on each rank; a rank that knows only its
    own rows does not apply the adapters of the others, and applies its own where it must not.
    """
    local = len(s.ranks[k].routing.bypassed | s.ranks[k].routing.stale) > 0
    cut = any(gathers(layer) and layer in targets for layer in Layer)
    alone = cut and not reads_all_ranks(s)
    if local or alone:
        s.ranks[k].forward.misrouted |= {r for r in s.ranks[k].forward.rows if s.adapter[r] != BASE}
    if alone and reaches_others(s, k):
        s.ranks[k].forward.misrouted |= s.ranks[k].forward.rows


def may_end(scheduler: Scheduler, r: Request) -> bool:
    """Whether the request's last token can be among the results of this iteration."""
    return r in due_rows(scheduler) and r not in scheduler.to_finish


@action(actor="ranks", source="managers/scheduler_dp_attn_mixin.py: prepare_mlp_sync_batch")
def step_together(s: Server, ends: Set[Request]) -> None:
    """All ranks go once through their loops.

    If any has a batch they run one forward together, a rank without rows an idle one. The last tokens are
    those of ``ends``.
    """
    require(data_parallel)
    require(any(has_work(s.ranks[k].scheduler) for k in Rank))
    require(all(any(may_end(s.ranks[k].scheduler, r) for k in Rank) for r in ends))
    prefills: Set[Rank] = set()
    decodes: Set[Rank] = set()
    for k in Rank:
        begin_iteration(s, s.ranks[k], most_room)
        if ask_queue(s.ranks[k], s.adapter):
            kind = form_batch(s, s.ranks[k], set())
            if kind is Batch.PREFILL:
                prefills |= {k}
            if kind is Batch.DECODE:
                decodes |= {k}
    if len(prefills | decodes) > 0:
        if ranks_exchange_adapters():
            fetch_union(s)
        for k in Rank:
            if not ranks_exchange_adapters():
                fetch(s.ranks[k])
            look_up_slots(s.ranks[k], s.adapter)
            prepare(s.ranks[k], k in prefills, passes and len(s.ranks[k].forward.rows) > 1)
        for k in Rank:
            if graphs and len(prefills) == 0:
                replay_layers(s.ranks[k].routing)
            else:
                run_layers(s.ranks[k].routing, len(s.ranks[k].forward.rows) == 0, passes and k in prefills)
        for k in Rank:
            misroute(s, k)
    for k in Rank:
        if k in prefills:
            end_iteration(s, s.ranks[k], Batch.PREFILL, set(), ends)
        else:
            end_iteration(s, s.ranks[k], Batch.DECODE, set(), ends)
        tidy(s, s.ranks[k])
