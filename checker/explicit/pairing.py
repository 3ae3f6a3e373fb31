"""The successor function of two systems side by side, written in numba for the search loop.

A state is a pair: the words of the first system's state, then those of the second's. From a pair both
systems are expanded by their own native functions. A step of one and a step of the other are the same if
action and arguments are, and if they lead to the same: to equal values of every field that both have,
outputs included, and to a crash of the same cause or none. Steps that are the same lead to a pair; of
those that are not, the first of each kind is kept.

Successors of a state come in the order of their labels, and labels of the first system are translated to
those of the second in the same order: the two lists are merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from slotproof.checker.explicit.context import CURRENT, LABEL_BITS
from slotproof.checker.explicit.intrinsics import call3, compiled, load, store
from slotproof.checker.explicit.pairs import (
    CELLS,
    CELLS_END,
    CRASHES,
    FIRST,
    KINDS,
    LABELS,
    MIX,
    MOVE,
    ONE_SIDED,
    OTHERWISE,
    SECOND,
)

EXPAND, CONTEXT, OUT, WORDS, STRIDE, CRASH_WORD, CRASH_SHIFT, CRASH_MASK = range(8)

_ARGUMENTS = (1 << LABEL_BITS) - 1

signed: Any = np.int64
unsigned: Any = np.uint64


@compiled
def _get(context: int, word: int) -> Any:
    return signed(load(context + word * 8))


@compiled
def _keep(context: int, kind: int, label: int) -> Any:
    """Keep a difference if it is the first of its kind: the pair's number from 1, and the label."""
    place = context + (KINDS + 2 * kind) * 8
    if load(place) == unsigned(0):
        store(place, load(context + CURRENT * 8) + unsigned(1))
        store(place + 8, unsigned(label))
    return 0


@compiled
def _crash(context: int, side: int, row: int) -> Any:
    """The code of the crash that made a state, 0 for none."""
    word = load(row + _get(context, side + CRASH_WORD) * 8)
    return signed(word >> load(context + (side + CRASH_SHIFT) * 8) & load(context + (side + CRASH_MASK) * 8))


@compiled
def _alike(context: int, a: int, b: int) -> Any:
    """Whether two states with outputs agree in all that both systems have."""
    crash = _crash(context, FIRST, a)
    if signed(load(_get(context, CRASHES) + crash * 8)) != _crash(context, SECOND, b):
        return False
    move = _get(context, CELLS)
    while move < _get(context, CELLS_END):
        x, y = _get(move, 0), _get(move, 2)
        mask = load(move + 4 * 8)
        left = load(a + x * 8) >> load(move + 1 * 8) & mask if x >= 0 else load(move + 5 * 8)
        right = load(b + y * 8) >> load(move + 3 * 8) & mask if y >= 0 else load(move + 5 * 8)
        if left != right:
            return False
        move += MOVE * 8
    return True


@compiled
def _pair(context: int, a: int, b: int, out: int) -> Any:
    """Write the pair of two successors: the states, a hash, the label of the first."""
    at = out
    for offset in range(0, _get(context, FIRST + WORDS) * 8, 8):
        store(at, load(a + offset))
        at += 8
    for offset in range(0, _get(context, SECOND + WORDS) * 8, 8):
        store(at, load(b + offset))
        at += 8
    x = load(a + (_get(context, FIRST + STRIDE) - 2) * 8)
    y = load(b + (_get(context, SECOND + STRIDE) - 2) * 8)
    turned = (y << unsigned(17)) | (y >> unsigned(47))
    store(at, x ^ (turned * unsigned(MIX)))
    store(at + 8, load(a + (_get(context, FIRST + STRIDE) - 1) * 8))
    return at + 16


@compiled
def _side(context: int, side: int, state: int) -> Any:
    """Expand one system; the number of successors, below -1 after a model error."""
    return call3(
        _get(context, side + EXPAND), _get(context, side + CONTEXT), state, _get(context, side + OUT)
    )


@compiled
def expand(context: int, state: int, out: int) -> Any:
    """Write the pairs that follow a pair; their number, or -2: after a model error, or where no more can
    be learned because each side has had a step that the other has not."""
    m = _side(context, FIRST, state)
    n = _side(context, SECOND, state + _get(context, FIRST + WORDS) * 8)
    if m < -1 or n < -1:
        store(context + ONE_SIDED * 8, unsigned(1 if m < -1 else 2))
        return -2
    a, b = _get(context, FIRST + OUT), _get(context, SECOND + OUT)
    step_a, step_b = _get(context, FIRST + STRIDE) * 8, _get(context, SECOND + STRIDE) * 8
    end_a, end_b = a + max(m, 0) * step_a, b + max(n, 0) * step_b
    start = out
    count = 0
    while a < end_a or b < end_b:
        label_a = label_b = mine = -1
        if a < end_a:
            label_a = signed(load(a + step_a - 8))
            other = _get(_get(context, LABELS), label_a >> LABEL_BITS)
            mine = other << LABEL_BITS | (label_a & _ARGUMENTS)
            if other < 0:  # an action that the second system does not have
                _keep(context, 0, label_a)
                a += step_a
                continue
        if b < end_b:
            label_b = signed(load(b + step_b - 8))
        if b >= end_b or (a < end_a and mine < label_b):
            _keep(context, 0, label_a)
            a += step_a
        elif a >= end_a or label_b < mine:
            _keep(context, 1, label_b)
            b += step_b
        else:
            if _alike(context, a, b):
                start = _pair(context, a, b, start)
                count += 1
            else:
                _keep(context, OTHERWISE, label_a)
            a += step_a
            b += step_b
    found = load(context + (KINDS + 2 * OTHERWISE) * 8) != unsigned(0)
    if found or (load(context + KINDS * 8) != unsigned(0) and load(context + (KINDS + 2) * 8) != unsigned(0)):
        return -2
    return count


SIGNATURE = (types.int64,) * 3


def text() -> tuple[str, str]:
    """The LLVM IR of ``expand``: the symbol of its function, of numba's convention, and the module."""
    expand.compile(SIGNATURE)
    compiled_ = expand.overloads[SIGNATURE]
    return compiled_.fndesc.mangled_name, compiled_.library.get_llvm_str()
