"""The segmented LoRA product in Triton: one program for each segment. See ``kernel.py``."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from slotproof.counterexamples.reference.metadata import Segments


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def _segment(  # type: ignore[no-untyped-def]
    x, a, b, out, starts, slots, ranks, scalings, faults, rows, inputs, outputs, most,
    INPUTS: tl.constexpr, OUTPUTS: tl.constexpr,
):  # fmt: skip
    segment = tl.program_id(0)
    start = tl.load(starts + segment)
    end = tl.load(starts + segment + 1)
    slot = tl.load(slots + segment)
    rank = tl.load(ranks + slot)
    scaling = tl.load(scalings + slot)
    if end > rows:
        tl.atomic_max(faults, segment + 1)
    else:
        column = tl.arange(0, INPUTS)
        line = tl.arange(0, OUTPUTS)
        for row in range(start, end):
            values = tl.load(x + row * inputs + column, mask=column < inputs, other=0.0)
            total = tl.zeros((OUTPUTS,), dtype=values.dtype)
            for r in range(0, rank):
                down = tl.load(a + (slot * most + r) * inputs + column, mask=column < inputs, other=0.0)
                up = tl.load(b + (slot * outputs + line) * most + r, mask=line < outputs, other=0.0)
                total += tl.sum(values * down, axis=0) * up
            tl.store(out + row * outputs + line, total * scaling, mask=line < outputs)


def launch(
    x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, block: Segments, faults: torch.Tensor
) -> torch.Tensor:
    """``segmented_lora`` on a CUDA device, or on a CPU in Triton's interpreter (``TRITON_INTERPRET=1``)."""

    def on_device(values: tuple[Any, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype).to(x.device, non_blocking=True)

    out = x.new_zeros(x.shape[0], b.shape[1])
    if block.slots:
        _segment[(len(block.slots),)](
            x.contiguous(), a, b, out,
            on_device(block.starts, torch.int32), on_device(block.slots, torch.int32),
            on_device(block.ranks, torch.int32), on_device(block.scalings, x.dtype),
            faults, x.shape[0], x.shape[1], b.shape[1], a.shape[1],
            INPUTS=triton.next_power_of_2(x.shape[1]), OUTPUTS=triton.next_power_of_2(b.shape[1]),
        )  # fmt: skip
    return out
