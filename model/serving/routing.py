"""Batch metadata of one rank: which rows use which slot (``lora/backend/triton_backend.py`` and its base).

A backend holds one set of per-batch blocks at a time. ``prepare_metadata`` replaces them for a forward,
``clear_metadata`` drops them; a block that a forward finds was therefore prepared for this very forward or
is left over from an earlier one. So presence is all that is stored, and what this step prepared is an
output. No content is stored: a block is read by the forward that prepared it, or the read is a violation
by itself.

The statically allocated block of decode graphs needs no state either: it always exists, and its content is
that of the last forward that filled it.
"""

# mypy: disable-error-code="type-abstract"

from __future__ import annotations

import enum

from slotproof.model.language import Record, Set, decision, field, output, parameter


class Block(enum.Enum):
    """The per-batch attributes of ``TritonLoRABackend``; each is none or a block."""

    ROWS = "batch_info"
    MERGED = "sgemm_batch_info"
    LM_HEAD = "lm_head_batch_info"
    LM_HEAD_PASSES = "lm_head_pass_batch_infos"
    PASS_INDEX = "_lm_head_pass_idx"
    GLOBAL = "global_batch_info"
    GLOBAL_MERGED = "global_sgemm_batch_info"


class Layer(enum.Enum):
    """The wrapped layer kinds, in the order in which a forward meets them."""

    EMBEDDING = "embedding"  # VocabParallelEmbeddingWithLoRA
    QKV = "qkv"  # QKVParallelLinearWithLoRA
    COLUMN = "column"  # ColumnParallelLinearWithLoRA
    REPLICATED = "replicated"  # ReplicatedLinearWithLoRA
    ROW = "row"  # RowParallelLinearWithLoRA, the attention's output projection
    SIDE_STREAM = "side-stream"  # the attention's variants on a second stream (trtllm_lora_temp/attention.py)
    MERGED_COLUMN = "merged-column"  # MergedColumnParallelLinearWithLoRA, the feed-forward part's input
    DOWN = "down"  # RowParallelLinearWithLoRA, the feed-forward part's output projection
    MOE = "moe"  # FusedMoEWithLoRA
    LM_HEAD = "lm-head"  # ParallelLMHeadWithLoRA, on the rank's own rows (--enable-dp-lm-head)


class Routing(Record):
    """The per-batch blocks of one rank's backend, and what this step's forward did with them."""

    held: Set[Block] = field(set(), "per-batch blocks that are not none")
    prepared: Set[Block] = output(set(), "blocks that were prepared for this step's forward")
    stale: Set[Layer] = output(set(), "layers whose kernels read a block of an earlier forward")
    bypassed: Set[Layer] = output(set(), "layers that took the base path for want of metadata")
    joined: bool = output(False, "the rank took part in this step's exchange of adapter ids")


graphs = parameter("graphs", bool, False, "decode batches replay a captured graph (no --disable-cuda-graph)")
passes = parameter("passes", bool, False, "prefill logits of several rows are computed in several passes")


@decision
def cleared_blocks() -> Set[Block]:
    """The per-batch blocks that a reset sets to none (``reset_batch_state``)."""
    raise NotImplementedError


def every_block() -> Set[Block]:
    """Every one that the backend has (0.5.17; with the global ones from 0.5.21)."""
    return {
        Block.ROWS,
        Block.MERGED,
        Block.LM_HEAD,
        Block.LM_HEAD_PASSES,
        Block.PASS_INDEX,
        Block.GLOBAL,
        Block.GLOBAL_MERGED,
    }


@decision
def idle_metadata(routing: Routing) -> None:
    """What the idle branch of ``ForwardBatch.init_new`` does to the metadata of the forward before."""
    raise NotImplementedError


def keeps_metadata(routing: Routing) -> None:
    """Returns before any metadata is touched (up to 0.5.16)."""
    return


def clears_metadata(routing: Routing) -> None:
    """Calls ``LoRAManager.reset_lora_batch`` (0.5.17, #32707)."""
    clear_metadata(routing)


def clear_metadata(routing: Routing) -> None:
    """``reset_batch_state``: no forward is prepared."""
    routing.held = routing.held - cleared_blocks()


def prepare_metadata(routing: Routing, prefill: bool, in_passes: bool) -> None:
    """``TritonLoRABackend.prepare_lora_batch``: each block is set, to none if the batch has no use for it.

    Merged segments are for decode-like batches, the logits blocks for prefills (``get_lm_head_pruned_lens``);
    the global blocks are dropped, and the pass index is not touched.
    """
    if prefill:
        routing.prepared = {Block.ROWS, Block.LM_HEAD}
    else:
        routing.prepared = {Block.ROWS, Block.MERGED}
    if in_passes:
        routing.prepared |= {Block.LM_HEAD_PASSES}
    routing.held = routing.prepared | (routing.held & {Block.PASS_INDEX})


def prepare_global_metadata(routing: Routing, idle: bool) -> None:
    """``prepare_global_lora_batch`` (0.5.21): the block for the gathered rows of all ranks.

    An idle rank takes part in the exchange and then drops its local block, for it has no rows to adapt.
    """
    routing.held |= {Block.GLOBAL, Block.GLOBAL_MERGED}
    routing.prepared |= {Block.GLOBAL, Block.GLOBAL_MERGED}
    if idle:
        routing.held = routing.held - {Block.ROWS}
