"""Batch metadata: which rows of a batch read which slot, with which rank and scaling.

One set of blocks per backend and rank of the server (``Blocks``). ``prepare`` replaces them for a forward,
``reset`` drops them; a layer that finds a block reads it, whoever it was made for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LAYERS = (
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
)
"""The wrapped layer kinds, in the order in which a forward meets them."""

GATHERED = ("MERGED_COLUMN", "DOWN", "MOE")
"""Layers that are cut over all data-parallel ranks and run on the rows of all of them."""


@dataclass(frozen=True)
class Segments:
    """Rows of a batch, cut into segments that each read one slot.

    ``starts`` has one entry more than there are segments: segment i is rows ``starts[i]`` to
    ``starts[i + 1]``, and reads slot ``slots[i]``. ``ranks`` and ``scalings`` have one entry per slot; a
    slot of rank 0 changes nothing. ``forward`` is the number of the forward that the block was made for.
    """

    forward: int
    starts: tuple[int, ...]
    slots: tuple[int, ...]
    ranks: tuple[int, ...]
    scalings: tuple[float, ...]

    @property
    def rows(self) -> int:
        """How many rows the segments cover."""
        return self.starts[-1]

    def slot_of(self, row: int) -> int | None:
        """The slot that a row reads; ``None`` beyond the last segment."""
        for i, slot in enumerate(self.slots):
            if self.starts[i] <= row < self.starts[i + 1]:
                return slot
        return None


def segments(
    forward: int,
    lengths: Sequence[int],
    slots: Sequence[int],
    ranks: Sequence[int],
    scalings: Sequence[float],
) -> Segments:
    """One segment for each request: its number of rows and its slot."""
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return Segments(forward, tuple(starts), tuple(slots), tuple(ranks), tuple(scalings))


def merged(block: Segments) -> Segments:
    """The same with neighbouring segments of one slot joined."""
    starts: list[int] = [0]
    slots: list[int] = []
    for i, slot in enumerate(block.slots):
        if slots and slots[-1] == slot:
            starts[-1] = block.starts[i + 1]
        else:
            slots.append(slot)
            starts.append(block.starts[i + 1])
    return Segments(block.forward, tuple(starts), tuple(slots), block.ranks, block.scalings)


class Blocks:
    """The per-batch blocks of one rank's LoRA backend; each is ``None`` or was made for some forward."""

    def __init__(self) -> None:
        self.rows: Segments | None = None
        self.merged: Segments | None = None
        self.lm_head: Segments | None = None
        self.everyone: Segments | None = None
        self.everyone_merged: Segments | None = None

    def prepare(self, block: Segments, prefill: bool) -> None:
        """Set the blocks of the rank's own rows for a forward.

        A prefill computes logits of one row for each request alone, a decode merges its segments. The
        blocks for the rows of all ranks are dropped.
        """
        self.rows = block
        self.merged = None if prefill else merged(block)
        ones = [1] * len(block.slots)
        self.lm_head = (
            segments(block.forward, ones, block.slots, block.ranks, block.scalings) if prefill else None
        )
        self.everyone = self.everyone_merged = None

    def prepare_everyone(self, block: Segments, idle: bool) -> None:
        """Set the blocks for the rows of all ranks; an idle rank drops that of its own rows."""
        self.everyone = block
        self.everyone_merged = merged(block)
        if idle:
            self.rows = None

    def reset(self) -> None:
        """Drop every block: no forward is prepared."""
        self.rows = self.merged = self.lm_head = self.everyone = self.everyone_merged = None

    def present(self, layer: str) -> bool:
        """Whether there is batch metadata for the layer."""
        return self.rows is not None or (layer in GATHERED and self.everyone is not None)

    def read_by(self, layer: str) -> Segments:
        """The block that the layer's kernel reads; an assertion fails when there is none."""
        block = self.rows
        if layer in GATHERED and self.everyone is not None:
            block = self.everyone if layer == "MOE" else self.everyone_merged or self.everyone
        elif layer == "LM_HEAD" and self.lm_head is not None:
            block = self.lm_head
        elif self.merged is not None and layer not in ("EMBEDDING", "MOE"):
            block = self.merged
        return sgemm_info(block, layer)

    def names(self) -> dict[str, Segments]:
        """The blocks that are present, by name."""
        found = {
            "ROWS": self.rows,
            "MERGED": self.merged,
            "LM_HEAD": self.lm_head,
            "GLOBAL": self.everyone,
            "GLOBAL_MERGED": self.everyone_merged,
        }
        return {name: block for name, block in found.items() if block is not None}


def sgemm_info(block: Segments | None, layer: str) -> Segments:
    """The segments that a kernel needs; an assertion fails when no batch was prepared."""
    assert block is not None, f"{layer}: no batch metadata was prepared"
    return block
