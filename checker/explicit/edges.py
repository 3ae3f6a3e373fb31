"""The second pass over a search's states, written once in numba: every step, its target and its fair sets.

A search keeps states and one way to each. Progress needs every step: this pass expands each state again,
looks its successors up in the finished table, and writes the graph row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from slotproof.checker.explicit.edge_registers import (
    ARENA,
    BROKEN,
    CLASSIFY,
    CONTEXT,
    CRASHED,
    EXPAND,
    FAIR,
    FAIR_WORDS,
    FINE,
    FIRST,
    JUDGE,
    JUDGED,
    LAST_BUCKET,
    OBLIGATIONS,
    OUT,
    SHIFT,
    STATE,
    STEP,
    STRIDE,
    TABLE,
    TARGETS,
    UNKNOWN,
    WORDS,
)
from slotproof.checker.explicit.entries import ALL, INDEX, NONE, TAG, next_bucket, same, signed
from slotproof.checker.explicit.intrinsics import (
    call3,
    call4,
    compiled,
    equal,
    load,
    lowest,
    store,
    store_half,
)
from slotproof.checker.explicit.registers import LINE


@compiled
def edges(r: Any, until: int) -> Any:
    """Go on to state ``until``; what became of it."""
    words, step = r[WORDS] * 8, r[STRIDE] * 8
    shift = np.uint64(r[SHIFT])
    while r[STATE] < until:
        state = r[STATE]
        address = r[ARENA] + state * words
        count = call3(r[EXPAND], r[CONTEXT], address, r[OUT])
        if count < -1:
            return BROKEN
        if count == -1:
            store(r[CRASHED] + state * 8, np.uint64(1))
            count = 0
        elif r[OBLIGATIONS] > 0:
            place = r[JUDGED] + state * r[OBLIGATIONS] * 8
            if call3(r[JUDGE], r[CONTEXT], address, place) != 0:
                return BROKEN
        successor = r[OUT]
        for _ in range(count):
            hash_ = load(successor + step - 16)
            line = r[TABLE] + signed(hash_ >> shift) * LINE
            target = -1
            while target < 0:
                alike = equal(line, TAG, hash_ & TAG)
                while alike != 0 and target < 0:
                    number = signed(load(line + lowest(alike) * 8) & INDEX) - 1
                    alike &= alike - 1
                    if number >= 0 and same(r[ARENA] + number * words, successor, words):
                        target = number
                if target < 0 and equal(line, ALL, NONE) != 0:
                    return UNKNOWN
                line = next_bucket(line, r[TABLE], r[LAST_BUCKET])
            store_half(r[TARGETS] + r[STEP] * 4, target)
            fair = r[FAIR] + r[STEP] * r[FAIR_WORDS] * 8
            if r[FAIR_WORDS] > 0:
                label = signed(load(successor + step - 8))
                if call4(r[CLASSIFY], r[CONTEXT], address, label, fair) != 0:
                    return BROKEN
            r[STEP] += 1
            successor += step
        r[STATE] += 1
        store(r[FIRST] + r[STATE] * 8, np.uint64(r[STEP]))
    return FINE


pointer_to: Any = types.CPointer

SIGNATURES = {"edges": (edges, (pointer_to(types.int64), types.int64))}
