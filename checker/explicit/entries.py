"""What an entry of a search's table is made of, and where to look on (``loop.py`` says what the table is)."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotproof.checker.explicit.intrinsics import compiled, load
from slotproof.checker.explicit.registers import INDEX_BITS, LINE

NONE = np.uint64(0)
INDEX = np.uint64((1 << INDEX_BITS) - 1)
TAG = np.uint64(((1 << 64) - 1) ^ ((1 << INDEX_BITS) - 1))
ALL = np.uint64((1 << 64) - 1)

signed: Any = np.int64


@compiled
def next_bucket(line: int, table: int, last_bucket: int) -> Any:
    """The bucket after a full one; the first after the last."""
    return line + LINE if line < table + last_bucket * LINE else table


@compiled
def same(a: int, b: int, size: int) -> Any:
    """Whether two places of memory hold the same words; ``size`` in bytes."""
    offset = 0
    while offset < size and load(a + offset) == load(b + offset):
        offset += 8
    return offset == size
