"""The segmented LoRA product: for each segment of rows, x · Aᵀ · Bᵀ with the weights of the segment's slot.

Two forms with equal results: plain torch (here) and Triton (``kernel_triton.py``), which is taken on CUDA.
A segment that reaches beyond the rows of ``x`` is not computed and leaves its number in ``faults``: the host
sees it when it synchronises and raises ``SegmentError``, as with an assertion on the device.
"""

from __future__ import annotations

from functools import cache

import torch

from slotproof.counterexamples.reference.metadata import Segments


class SegmentError(IndexError):
    """A kernel was given a segment of rows that its input does not have."""


def segmented_lora(
    x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, block: Segments, faults: torch.Tensor
) -> torch.Tensor:
    """What the adapters add to a layer's output.

    ``x``: (rows, inputs). ``a``: (slots, most ranks, inputs), ``b``: (slots, outputs, most ranks), the
    stacked weights of the layer. ``faults``: one whole number, set to the number (from 1) of a segment that
    is out of range. Returns (rows, outputs), zero where no segment reaches.
    """
    if x.is_cuda and has_triton():
        from slotproof.counterexamples.reference.kernel_triton import launch

        return launch(x, a, b, block, faults)
    return segmented_lora_torch(x, a, b, block, faults)


def segmented_lora_torch(
    x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, block: Segments, faults: torch.Tensor
) -> torch.Tensor:
    """``segmented_lora`` in plain torch."""
    rows = x.shape[0]
    out = x.new_zeros(rows, b.shape[1])
    for i, slot in enumerate(block.slots):
        start, end = block.starts[i], block.starts[i + 1]
        if end > rows:
            faults.fill_(i + 1)
            continue
        rank = block.ranks[slot]
        if rank and end > start:
            product = (x[start:end] @ a[slot, :rank].T) @ b[slot, :, :rank].T
            out[start:end] = product * block.scalings[slot]
    return out


@cache
def has_triton() -> bool:
    """Whether Triton can be imported."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
