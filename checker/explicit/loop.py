"""The breadth-first loop over any program, written once in numba.

It is compiled once for a machine and kept as object code (``native.py``): this file, and numba, are
imported only where that is not there yet.

It knows a program only by the addresses of its native functions and the number of words of a state.
Successors come in batches. The generated code has already asked for the table's line of each; the
loop then asks for the states that look alike, and only then compares: it waits for memory once a
batch and not once a successor.

The table is one of buckets, a line of memory each, whose 8 entries are compared at once. An entry is
0, or the upper 32 bits of a state's hash and the state's number from 1. Buckets fill from the front;
what finds a bucket full goes on to the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from slotproof.checker.explicit.context import CURRENT, DEPTH
from slotproof.checker.explicit.intrinsics import (
    call2,
    call3,
    compiled,
    equal,
    load,
    lowest,
    prefetch,
    store,
    store_half,
)
from slotproof.checker.explicit.registers import (
    AGAIN,
    ARENA,
    BATCH,
    BATCH_STATES,
    BROKEN,
    CHECK,
    CONTEXT,
    COUNTS,
    DEADLOCK,
    DONE,
    EXPAND,
    FINAL,
    FULL_STORE,
    FULL_TABLE,
    GUESSES,
    HEAD,
    INDEX_BITS,
    LAST_BUCKET,
    LEVEL,
    LEVEL_END,
    LINE,
    MOST_DEPTH,
    MOST_FILLED,
    MOST_STATES,
    OUT,
    PARENTS,
    PENDING,
    SHIFT,
    STRIDE,
    TABLE,
    TAIL,
    TOO_DEEP,
    TRANSITIONS,
    WORDS,
)

_NONE = np.uint64(0)
_INDEX = np.uint64((1 << INDEX_BITS) - 1)
_TAG = np.uint64(((1 << 64) - 1) ^ ((1 << INDEX_BITS) - 1))
_ALL = np.uint64((1 << 64) - 1)

signed: Any = np.int64


@compiled
def advance(r: Any, rounds: int) -> Any:
    """Go on with a search for at most ``rounds`` batches; why it returned."""
    while True:
        if r[PENDING] == 0:
            if rounds == 0:
                return AGAIN
            rounds -= 1
            if r[HEAD] == r[LEVEL_END]:
                if r[TAIL] == r[LEVEL_END]:
                    return DONE
                if r[LEVEL] + 1 >= r[MOST_DEPTH]:
                    return TOO_DEEP
                r[LEVEL] += 1
                r[LEVEL_END] = r[TAIL]
            if not _expand(r):
                return BROKEN
        if r[TAIL] + r[PENDING] > r[MOST_FILLED]:
            return FULL_TABLE
        _guess(r)
        answer = _insert(r)
        r[PENDING] = 0
        if answer != AGAIN:
            return answer
        r[HEAD] += r[BATCH_STATES]


@compiled
def _expand(r: Any) -> Any:
    """Write the successors of the next states until the batch is full; false after a model error."""
    states = pending = 0
    most = min(r[LEVEL_END] - r[HEAD], BATCH)
    while pending < BATCH and states < most:
        state = r[HEAD] + states
        address = r[ARENA] + state * r[WORDS] * 8
        store(r[CONTEXT] + CURRENT * 8, np.uint64(state))
        count = call3(r[EXPAND], r[CONTEXT], address, r[OUT] + pending * r[STRIDE] * 8)
        deadlock = r[CONTEXT] + r[DEADLOCK] * 8
        if count == 0 and load(deadlock) == _NONE:
            stops = call2(r[FINAL], r[CONTEXT], address)
            if stops == 0:
                store(deadlock, np.uint64(state + 1))
            elif stops < 0:
                count = -2
        if count < -1:
            return False
        count = max(count, 0)
        store(r[COUNTS] + states * 8, np.uint64(count))
        pending += count
        states += 1
    r[PENDING] = pending
    r[BATCH_STATES] = states
    r[TRANSITIONS] += pending
    return True


@compiled
def _guess(r: Any) -> Any:
    """Ask for the stored states that may equal the successors, and note which they are."""
    table, arena, guess, words = r[TABLE], r[ARENA], r[GUESSES], r[WORDS] * 8
    step = r[STRIDE] * 8
    shift = np.uint64(r[SHIFT])
    hash_at = r[OUT] + step - 16
    for _ in range(r[PENDING]):
        hash_ = load(hash_at)
        line = table + signed(hash_ >> shift) * LINE
        alike = equal(line, _TAG, hash_ & _TAG)
        number = 0
        if alike != 0:
            number = signed(load(line + lowest(alike) * 8) & _INDEX)
            prefetch(arena + (number - 1) * words)
        store(guess, np.uint64(number))
        hash_at += step
        guess += 8


@compiled
def _insert(r: Any) -> Any:
    """Store the successors that are new."""
    table, arena, words, step = r[TABLE], r[ARENA], r[WORDS] * 8, r[STRIDE] * 8
    shift = np.uint64(r[SHIFT])
    successor = r[OUT] - step
    guess = r[GUESSES]
    store(r[CONTEXT] + DEPTH * 8, np.uint64(r[LEVEL] + 1))
    for source in range(r[BATCH_STATES]):
        for _ in range(signed(load(r[COUNTS] + source * 8))):
            successor += step
            number = signed(load(guess))
            guess += 8
            if number != 0 and _same(arena + (number - 1) * words, successor, words):
                continue
            # The guess was wrong, or the state is new, or it came earlier in this batch.
            hash_ = load(successor + step - 16)
            line = table + signed(hash_ >> shift) * LINE
            known = False
            while True:
                alike = equal(line, _TAG, hash_ & _TAG)
                while alike != 0 and not known:
                    number = signed(load(line + lowest(alike) * 8) & _INDEX)
                    alike &= alike - 1
                    known = number != 0 and _same(arena + (number - 1) * words, successor, words)
                free = equal(line, _ALL, _NONE)
                if known or free != 0:
                    break
                line = line + LINE if line < table + r[LAST_BUCKET] * LINE else table
            if known:
                continue
            tail = r[TAIL]
            if tail >= r[MOST_STATES]:
                return FULL_STORE
            for offset in range(0, words, 8):
                store(arena + tail * words + offset, load(successor + offset))
            store_half(r[PARENTS] + tail * 4, r[HEAD] + source)
            store(line + lowest(free) * 8, (hash_ & _TAG) | np.uint64(tail + 1))
            store(r[CONTEXT] + CURRENT * 8, np.uint64(tail))
            r[TAIL] = tail + 1
            if call2(r[CHECK], r[CONTEXT], successor) != 0:
                return BROKEN
    return AGAIN


@compiled
def _same(a: int, b: int, size: int) -> Any:
    """Whether two places of memory hold the same words."""
    offset = 0
    while offset < size and load(a + offset) == load(b + offset):
        offset += 8
    return offset == size


@compiled
def rehash(old: int, size: int, new: int, last_bucket: int, shift: int) -> Any:
    """Move all entries to a table of another size; ``size`` is the old one's in bytes.

    A tag holds the upper bits of the hash, so that no state has to be read, and places keep their
    order, so that both tables are walked from front to end.
    """
    for place in range(old, old + size, 8):
        entry = load(place)
        if entry != _NONE:
            line = new + signed((entry & _TAG) >> np.uint64(shift)) * LINE
            free = equal(line, _ALL, _NONE)
            while free == 0:
                line = line + LINE if line < new + last_bucket * LINE else new
                free = equal(line, _ALL, _NONE)
            store(line + lowest(free) * 8, entry)
    return 0


pointer_to: Any = types.CPointer
POINTER = pointer_to(types.int64)

SIGNATURES = {
    "advance": (advance, (POINTER, types.int64)),
    "rehash": (rehash, (types.int64,) * 5),
}


def texts() -> dict[str, tuple[str, str]]:
    """The LLVM IR of this file's functions that are called from outside: their symbols and modules.

    A symbol's function has numba's convention: it takes the address of its result, the address of an
    exception (never used) and the arguments, and returns a status that is 0.
    """
    found = {}
    for name, (function, signature) in SIGNATURES.items():
        function.compile(signature)
        compiled = function.overloads[signature]
        found[name] = (compiled.fndesc.mangled_name, compiled.library.get_llvm_str())
    return found
