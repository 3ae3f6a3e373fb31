"""The model's layers that an adapter changes, and which batch metadata their kernels read.

Upstream ``lora/layers.py`` and ``lora/backend/triton_backend.py``. Under data-parallel attention each rank
runs the attention on the rows of its own batch and the feed-forward part, which is cut over all ranks,
on the rows of *all* batches, gathered (``layers/communicator.py: ScatterMode.FULL``). Nothing here is
state: what a forward read shows in the outputs of ``Routing``.

What is left out: row counts (an adapter's rows are one segment), the values of ranks and scalings, and
backends other than Triton, the only one that data-parallel attention may use from 0.5.21.
"""

# mypy: disable-error-code="type-abstract"

from __future__ import annotations

from slotproof.model.language import Set, crash, decision, parameter
from slotproof.model.serving.routing import Block, Layer, Routing

targets = parameter(
    "targets",
    Set[Layer],
    [
        "EMBEDDING",
        "QKV",
        "COLUMN",
        "REPLICATED",
        "ROW",
        "SIDE_STREAM",
        "MERGED_COLUMN",
        "DOWN",
        "MOE",
        "LM_HEAD",
    ],
    "the layer kinds that the adapters change",
)


@decision
def guarded_layers() -> Set[Layer]:
    """The layers that take the base path when their forward has no batch metadata (``lora_active``)."""
    raise NotImplementedError


def no_layer() -> Set[Layer]:
    """Each layer tests that its buffers are attached, which they always are (up to 0.5.16)."""
    return set()


def every_layer() -> Set[Layer]:
    """``lora_active``: buffers attached and batch metadata present (0.5.17, #32707)."""
    return {layer for layer in Layer if layer in targets}


def gathers(layer: Layer) -> bool:
    """Whether the layer runs on the rows of all ranks: the feed-forward part is cut over all of them."""
    return layer == Layer.MERGED_COLUMN or layer == Layer.DOWN or layer == Layer.MOE


def has_metadata(routing: Routing, layer: Layer) -> bool:
    """``get_batch_info() is not None`` in the layer's layout; without a global block, the local one."""
    return Block.ROWS in routing.held or (gathers(layer) and Block.GLOBAL in routing.held)


def block_read(routing: Routing, layer: Layer) -> Block:
    """The block that the layer's kernels read (``TritonLoRABackend._sgemm_info`` and its callers)."""
    if gathers(layer) and Block.GLOBAL in routing.held:
        if Block.GLOBAL_MERGED in routing.held and layer != Layer.MOE:
            return Block.GLOBAL_MERGED
        return Block.GLOBAL
    if layer == Layer.LM_HEAD and Block.PASS_INDEX in routing.held and Block.LM_HEAD_PASSES in routing.held:
        return Block.LM_HEAD_PASSES
    if layer == Layer.LM_HEAD and Block.LM_HEAD in routing.held:
        return Block.LM_HEAD
    if Block.MERGED in routing.held and layer != Layer.EMBEDDING and layer != Layer.MOE:
        return Block.MERGED
    return Block.ROWS


def run_layer(routing: Routing, layer: Layer, idle: bool) -> None:
    """One layer of a forward on one rank, launched eagerly; ``idle``: the rank has no rows of its own."""
    if layer in guarded_layers() and not has_metadata(routing, layer):
        routing.bypassed |= {layer}
        return
    block = block_read(routing, layer)
    if block not in routing.held:
        crash("sgemm-info-missing")
    if block not in routing.prepared:
        routing.stale |= {layer}
    if idle and (block == Block.LM_HEAD or block == Block.LM_HEAD_PASSES):
        crash("lm-head-row-count")


def run_layers(routing: Routing, idle: bool, in_passes: bool) -> None:
    """An eager forward on one rank. ``in_passes``: the logits are computed in several passes, each with
    its own block (``set_lm_head_pass`` … ``reset_lm_head_pass``: the index is none outside of them)."""
    for layer in Layer:
        if layer in targets:
            if layer == Layer.LM_HEAD and in_passes:
                routing.held |= {Block.PASS_INDEX}
                routing.prepared |= {Block.PASS_INDEX}
            run_layer(routing, layer, idle)
    routing.held = routing.held - {Block.PASS_INDEX}


def replay_layers(routing: Routing) -> None:
    """A decode graph on one rank. Its kernels were captured with the layers' adapter path and read the
    static block, whatever ``batch_info`` is now: it is this forward's only if this forward filled it."""
    if Block.ROWS not in routing.prepared:
        routing.stale |= targets
