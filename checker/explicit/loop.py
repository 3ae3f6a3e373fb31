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
from slotproof.checker.explicit.entries import ALL, INDEX, NONE, TAG, next_bucket, same, signed
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
    CHECKED,
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
    KEPT,
    KEPT_COUNT,
    KEPT_MOST,
    LAST_BUCKET,
    LEVEL,
    LEVEL_END,
    LINE,
    MOST_DEPTH,
    MOST_FILLED,
    MOST_STATES,
    MOST_STEPS,
    OUT,
    PARENTS,
    PENDING,
    SEEN,
    SEEN_BITS,
    SHIFT,
    STRIDE,
    TABLE,
    TAIL,
    TOO_DEEP,
    TRANSITIONS,
    WORDS,
)

_SEEN = np.uint64((1 << SEEN_BITS) - 1)


@compiled
def advance(r: Any, rounds: int) -> Any:
    """Go on with a search for at most ``rounds`` batches; why it returned."""
    while True:
        if r[PENDING] == 0:
            if r[HEAD] == r[LEVEL_END]:
                if r[TAIL] == r[LEVEL_END]:
                    return DONE
                if r[LEVEL] + 1 >= r[MOST_DEPTH]:
                    return TOO_DEEP
                r[LEVEL] += 1
                r[LEVEL_END] = r[TAIL]
            if rounds == 0:
                return AGAIN
            rounds -= 1
            if not _expand(r):
                return BROKEN
        if r[TAIL] + r[PENDING] > r[MOST_FILLED]:
            return FULL_TABLE
        _guess(r, r[OUT], r[PENDING])
        answer = _insert(r)
        r[PENDING] = 0
        if answer != AGAIN:
            return answer
        r[HEAD] += r[BATCH_STATES]


@compiled
def scan(r: Any) -> Any:
    """Expand the states of a worker's range, and keep the successors that are not known for sure.

    The range is from the head to the level's end in the worker's own registers. Nothing is stored, so
    that workers do not get into each other's way. Returns early if there is no room to keep more.
    """
    while r[HEAD] < r[LEVEL_END]:
        if r[KEPT_COUNT] + BATCH + r[MOST_STEPS] > r[KEPT_MOST]:
            return AGAIN
        if not _expand(r):
            return BROKEN
        _guess(r, r[OUT], r[PENDING])
        _keep(r)
        r[PENDING] = 0
        r[HEAD] += r[BATCH_STATES]
    return DONE


@compiled
def settle(r: Any) -> Any:
    """Store those of the kept successors that are new, in their order."""
    step = r[STRIDE] * 8
    first, rest = r[KEPT], r[KEPT_COUNT]
    while rest > 0:
        count = min(rest, BATCH)
        _guess(r, first, count)
        guess = r[GUESSES]
        for _ in range(count):
            if not _guessed(r, guess, first):
                answer = _admit(r, first, signed(load(first + step - 8)))
                if answer != AGAIN:
                    return answer
            first += step
            guess += 8
        rest -= count
    return DONE


@compiled
def check_rest(r: Any) -> Any:
    """Evaluate the invariants and witnesses of the states that a limit has left unexpanded."""
    while r[CHECKED] < r[TAIL]:
        depth = r[LEVEL] if r[CHECKED] < r[LEVEL_END] else r[LEVEL] + 1
        if not _check(r, r[CHECKED], depth):
            return BROKEN
    return DONE


@compiled
def _check(r: Any, state: int, depth: int) -> Any:
    """Evaluate the invariants and witnesses of a state; false after a model error."""
    store(r[CONTEXT] + CURRENT * 8, np.uint64(state))
    store(r[CONTEXT] + DEPTH * 8, np.uint64(depth))
    if call2(r[CHECK], r[CONTEXT], r[ARENA] + state * r[WORDS] * 8) != 0:
        return False
    r[CHECKED] = state + 1
    return True


@compiled
def _expand(r: Any) -> Any:
    """Write the successors of the next states until the batch is full; false after a model error.

    What is found does not depend on the batches: an error of a state ends the batch before it, and near
    the limit of states a batch has one state.
    """
    states = pending = 0
    near = r[TAIL] + BATCH + r[MOST_STEPS] > r[MOST_STATES]
    most = min(r[LEVEL_END] - r[HEAD], 1 if near else BATCH)
    while pending < BATCH and states < most:
        state = r[HEAD] + states
        count = -2
        if state < r[CHECKED] or _check(r, state, r[LEVEL]):
            count = _steps(r, state, r[OUT] + pending * r[STRIDE] * 8)
        if count < -1:
            if states == 0:
                return False
            break
        count = max(count, 0)
        store(r[COUNTS] + states * 8, np.uint64(count))
        pending += count
        states += 1
    r[PENDING] = pending
    r[BATCH_STATES] = states
    r[TRANSITIONS] += pending
    return True


@compiled
def _steps(r: Any, state: int, out: int) -> Any:
    """Write the successors of a state: their number, or as ``expand`` of ``module.py`` says."""
    address = r[ARENA] + state * r[WORDS] * 8
    store(r[CONTEXT] + CURRENT * 8, np.uint64(state))
    count = call3(r[EXPAND], r[CONTEXT], address, out)
    deadlock = r[CONTEXT] + r[DEADLOCK] * 8
    if count == 0 and load(deadlock) == NONE:
        stops = call2(r[FINAL], r[CONTEXT], address)
        if stops == 0:
            store(deadlock, np.uint64(state + 1))
        elif stops < 0:
            count = -2
    return count


@compiled
def _guess(r: Any, first: int, count: int) -> Any:
    """Ask for the stored states that may equal successors, and note which they are."""
    table, arena, guess, words = r[TABLE], r[ARENA], r[GUESSES], r[WORDS] * 8
    step = r[STRIDE] * 8
    shift = np.uint64(r[SHIFT])
    hash_at = first + step - 16
    for _ in range(count):
        hash_ = load(hash_at)
        line = table + signed(hash_ >> shift) * LINE
        alike = equal(line, TAG, hash_ & TAG)
        number = 0
        if alike != 0:
            number = signed(load(line + lowest(alike) * 8) & INDEX)
            prefetch(arena + (number - 1) * words)
        store(guess, np.uint64(number))
        hash_at += step
        guess += 8


@compiled
def _guessed(r: Any, guess: int, successor: int) -> Any:
    """Whether a successor is the state that was guessed."""
    number = signed(load(guess))
    words = r[WORDS] * 8
    return number != 0 and same(r[ARENA] + (number - 1) * words, successor, words)


@compiled
def _insert(r: Any) -> Any:
    """Store the successors of the batch that are new."""
    step = r[STRIDE] * 8
    successor, guess = r[OUT], r[GUESSES]
    for source in range(r[BATCH_STATES]):
        for _ in range(signed(load(r[COUNTS] + source * 8))):
            if not _guessed(r, guess, successor):
                answer = _admit(r, successor, r[HEAD] + source)
                if answer != AGAIN:
                    return answer
            successor += step
            guess += 8
    return AGAIN


@compiled
def _keep(r: Any) -> Any:
    """Put the successors of the batch that are not as guessed to the others, each with its source.

    Most of them come again and again; what is among the last that were kept is not kept once more.
    """
    step = r[STRIDE] * 8
    words = r[WORDS] * 8
    successor, guess = r[OUT], r[GUESSES]
    count = r[KEPT_COUNT]
    for source in range(r[BATCH_STATES]):
        for _ in range(signed(load(r[COUNTS] + source * 8))):
            if not _guessed(r, guess, successor):
                hash_ = load(successor + step - 16)
                place = r[SEEN] + signed((hash_ >> np.uint64(32)) & _SEEN) * 8
                last = signed(load(place))  # it may be of an earlier round
                if last >= count or not same(r[KEPT] + last * step, successor, words):
                    store(place, np.uint64(count))
                    kept = r[KEPT] + count * step
                    for offset in range(0, step - 8, 8):
                        store(kept + offset, load(successor + offset))
                    store(kept + step - 8, np.uint64(r[HEAD] + source))  # in the place of the label
                    count += 1
            successor += step
            guess += 8
    r[KEPT_COUNT] = count


@compiled
def _admit(r: Any, successor: int, source: int) -> Any:
    """Store a successor if it is new: the guess was wrong, or it came earlier in this batch."""
    table, arena, words = r[TABLE], r[ARENA], r[WORDS] * 8
    hash_ = load(successor + r[STRIDE] * 8 - 16)
    line = table + signed(hash_ >> np.uint64(r[SHIFT])) * LINE
    while True:
        alike = equal(line, TAG, hash_ & TAG)
        while alike != 0:
            number = signed(load(line + lowest(alike) * 8) & INDEX)
            alike &= alike - 1
            if number != 0 and same(arena + (number - 1) * words, successor, words):
                return AGAIN
        free = equal(line, ALL, NONE)
        if free != 0:
            break
        line = next_bucket(line, table, r[LAST_BUCKET])
    tail = r[TAIL]
    if tail >= r[MOST_STATES]:
        return FULL_STORE
    for offset in range(0, words, 8):
        store(arena + tail * words + offset, load(successor + offset))
    store_half(r[PARENTS] + tail * 4, source)
    store(line + lowest(free) * 8, (hash_ & TAG) | np.uint64(tail + 1))
    r[TAIL] = tail + 1
    return AGAIN


@compiled
def rehash(old: int, size: int, new: int, last_bucket: int, shift: int) -> Any:
    """Move all entries to a table of another size; ``size`` is the old one's in bytes.

    A tag holds the upper bits of the hash, so that no state has to be read, and places keep their
    order, so that both tables are walked from front to end.
    """
    for place in range(old, old + size, 8):
        entry = load(place)
        if entry != NONE:
            line = new + signed((entry & TAG) >> np.uint64(shift)) * LINE
            free = equal(line, ALL, NONE)
            while free == 0:
                line = next_bucket(line, new, last_bucket)
                free = equal(line, ALL, NONE)
            store(line + lowest(free) * 8, entry)
    return 0


pointer_to: Any = types.CPointer
POINTER = pointer_to(types.int64)

SIGNATURES = {
    "advance": (advance, (POINTER, types.int64)),
    "scan": (scan, (POINTER,)),
    "settle": (settle, (POINTER,)),
    "check_rest": (check_rest, (POINTER,)),
    "rehash": (rehash, (types.int64,) * 5),
}


def texts(signatures: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The LLVM IR of a file's functions that are called from outside: their symbols and modules.

    A symbol's function has numba's convention: it takes the address of its result, the address of an
    exception (never used) and the arguments, and returns a status that is 0.
    """
    found = {}
    for name, (function, signature) in signatures.items():
        function.compile(signature)
        compiled = function.overloads[signature]
        found[name] = (compiled.fndesc.mangled_name, compiled.library.get_llvm_str())
    return found
