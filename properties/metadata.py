"""What must hold of the batch metadata that a forward's layers read (``lora/layers.py``)."""

from __future__ import annotations

from slotproof.model.language import step_invariant
from slotproof.model.serving.routing import Layer
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Rank


@step_invariant
def fresh_batch_info(before: Server, after: Server) -> bool:
    """Every batch metadata that a forward's kernels read was prepared for that forward (#32707)."""
    return all(len(after.ranks[k].routing.stale) == 0 for k in Rank)


@step_invariant
def metadata_cleared(before: Server, after: Server) -> bool:
    """What a rank holds after a forward was prepared for it: no part of the metadata is left over."""
    return all(after.ranks[k].routing.held <= after.ranks[k].routing.prepared for k in Rank) or all(
        len(after.ranks[k].forward.rows) == 0 for k in Rank
    )


@step_invariant
def no_layer_skipped(before: Server, after: Server) -> bool:
    """A forward with rows has metadata: none of its layers takes the base path for want of it."""
    return all(
        len(after.ranks[k].forward.rows) == 0 or len(after.ranks[k].routing.bypassed) == 0 for k in Rank
    )


@step_invariant
def all_ranks_join(before: Server, after: Server) -> bool:
    """What one rank does together with the others, all do: none waits for another that does not take part.

    That is the exchange of adapter ids, and the second all-reduce of a row-parallel layer that is cut over
    all ranks: a rank on the adapter path adds up the adapter's part in it, a rank on the base path has none
    (``RowParallelLinearWithLoRA.forward``).
    """
    return all(after.ranks[k].routing.joined == after.ranks[Rank(0)].routing.joined for k in Rank) and all(
        (Layer.DOWN in after.ranks[k].routing.bypassed)
        == (Layer.DOWN in after.ranks[Rank(0)].routing.bypassed)
        for k in Rank
    )
