"""What must hold of use counts and of unloading."""

from __future__ import annotations

from slotproof.model.language import Set, invariant, step_invariant
from slotproof.model.serving.front import unload
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request
from slotproof.properties.slots import is_held


@invariant
def use_count(s: Server) -> bool:
    """A use count is the number of references that open states own: none lost, none returned twice."""
    return all(s.registry.drift[a] <= 0 for a in Adapter) and all(s.registry.drift[a] >= 0 for a in Adapter)


@step_invariant(on=unload)
def unload_safe(before: Server, after: Server, a: Adapter) -> bool:
    """No adapter leaves while a request that a scheduler holds and has not finished names it."""
    return all(
        all(
            before.adapter[r] != a or r in before.ranks[k].scheduler.finished
            for r in Request
            if is_held(before, k, r)
        )
        for k in Rank
    )


def unloaded(s: Server) -> Set[Adapter]:
    """Adapters that are not registered and have no update running or to be repeated."""
    return (s.registry.absent - s.registry.unloading) - s.registry.incomplete


@invariant
def unload_clears(s: Server) -> bool:
    """An unloaded adapter is in no slot, no loader entry and no catalogue; registry and catalogues agree."""
    return (
        all(len(s.ranks[k].pool.resident & s.ranks[k].manager.gone) == 0 for k in Rank)
        and all(len(s.ranks[k].loader.pending & s.ranks[k].manager.gone) == 0 for k in Rank)
        and all(s.ranks[k].manager.gone == unloaded(s) for k in Rank)
    )
