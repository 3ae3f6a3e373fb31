"""The breadth-first loop over any program, written once in numba and cached on disk.

It knows a program only by the addresses of its native functions and the number of words of a state.
Successors come in batches. The generated code has already asked for the table's line of each; the
loop then asks for the states that look alike, and only then compares: it waits for memory once a
batch and not once a successor.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

from slotproof.checker.explicit import cache
from slotproof.checker.explicit.context import CURRENT, DEPTH

# Words of the loop's own state.
HEAD = 0  # the first state that is not expanded
TAIL = 1  # the number of states
LEVEL_END = 2  # the first state of the next level
LEVEL = 3  # the depth of the states that are expanded
TRANSITIONS = 4
PENDING = 5  # successors of the batch that still have to be stored
BATCH_STATES = 6  # the states that they come from
MOST_STATES = 7
MOST_DEPTH = 8
MOST_FILLED = 9  # states that the table takes before it has to grow
REGISTERS = 10

DONE, AGAIN, FULL_TABLE, FULL_STORE, TOO_DEEP, BROKEN = range(6)

BATCH = 512
NO_PARENT = 0xFFFFFFFF
INDEX_BITS = 32

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LOW = np.uint64((1 << INDEX_BITS) - 1)
_TAG = np.uint64(((1 << 64) - 1) ^ ((1 << INDEX_BITS) - 1))


def _call_of(count: int) -> Any:
    """An intrinsic that calls the function at an address with ``count`` addresses; it gives an int64."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = ir.FunctionType(word, [word] * count).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), list(arguments[1:]))

    if count == 2:

        @intrinsic
        def call2(typingctx: Any, address: Any, a: Any, b: Any) -> Any:
            return types.int64(types.int64, types.int64, types.int64), codegen

        return call2

    @intrinsic
    def call3(typingctx: Any, address: Any, a: Any, b: Any, c: Any) -> Any:
        return types.int64(types.int64, types.int64, types.int64, types.int64), codegen

    return call3


_call2 = _call_of(2)
_call3 = _call_of(3)


@intrinsic
def _prefetch_line(typingctx: Any, address: Any) -> Any:
    """Ask for a line of memory."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        declared = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], declared)
        operands = [ir.Constant(flag, 0), ir.Constant(flag, 3), ir.Constant(flag, 1)]
        builder.call(function, [builder.inttoptr(arguments[0], byte), *operands])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


_prefetch: Any = _prefetch_line


def _compiled(function: Any) -> Any:
    """Compile with numba; the result is kept in this project's cache folder, if there is one."""
    folder = cache.directory()
    settings: Any = config
    before = settings.CACHE_DIR
    # The folder is chosen when a function is decorated; the package's own may be read-only.
    settings.CACHE_DIR = before or (str(folder / "numba") if folder else "")
    try:
        return numba.njit(cache=bool(settings.CACHE_DIR), error_model="numpy")(function)
    finally:
        settings.CACHE_DIR = before


@_compiled
def advance(
    functions: Any,  # addresses: expand, check, final
    context: Any,
    deadlock: int,
    registers: Any,
    words: int,
    stride: int,
    arena: Any,
    parents: Any,
    table: Any,
    shift: int,
    out: Any,
    places: Any,
    counts: Any,
    rounds: int,
) -> int:
    """Go on with a search for at most ``rounds`` batches; why it returned."""
    expand, check, final = functions[0], functions[1], functions[2]
    hash_at = stride - 2
    context_at, arena_at, out_at = context.ctypes.data, arena.ctypes.data, out.ctypes.data
    head, tail = registers[HEAD], registers[TAIL]
    level_end, level = registers[LEVEL_END], registers[LEVEL]
    pending, batch_states = registers[PENDING], registers[BATCH_STATES]
    transitions = registers[TRANSITIONS]
    mask = np.uint64(table.size - 1)
    right = np.uint64(shift)
    answer = AGAIN
    while answer == AGAIN:
        if pending == 0:
            if rounds == 0:
                break
            rounds -= 1
            if head == level_end:
                if tail == level_end:
                    answer = DONE
                    break
                if level + 1 >= registers[MOST_DEPTH]:
                    answer = TOO_DEEP
                    break
                level += 1
                level_end = tail
            # Expand states until the batch is full.
            batch_states = 0
            while pending < BATCH and batch_states < BATCH and head + batch_states < level_end:
                state = head + batch_states
                state_at = arena_at + state * words * 8
                context[CURRENT] = state
                count = _call3(expand, context_at, state_at, out_at + pending * stride * 8)
                if count == 0 and context[deadlock] == 0:
                    stops = _call2(final, context_at, state_at)
                    if stops == 0:
                        context[deadlock] = state + 1
                    elif stops < 0:
                        count = -2
                if count < -1:
                    answer = BROKEN
                    break
                if count < 0:
                    count = 0
                counts[batch_states] = count
                pending += count
                batch_states += 1
            transitions += pending
            if answer != AGAIN:
                break
        if tail + pending > registers[MOST_FILLED]:
            answer = FULL_TABLE
            break
        # Ask for the stored states that may equal the successors.
        for i in range(pending):
            hash_ = out[i * stride + hash_at]
            tag = hash_ & _TAG
            place = hash_ >> right
            entry = table[place]
            while entry != _ZERO and (entry & _TAG) != tag:
                place = (place + _ONE) & mask
                entry = table[place]
            places[i] = place
            if entry != _ZERO:
                _prefetch(arena_at + (np.int64(entry & _LOW) - 1) * words * 8)
        # Compare, and store what is new.
        context[DEPTH] = level + 1
        i = 0
        for j in range(batch_states):
            if answer != AGAIN:
                break
            for _ in range(counts[j]):
                at = i * stride
                tag = out[at + hash_at] & _TAG
                place = places[i]
                i += 1
                known = False
                while True:
                    entry = table[place]
                    if entry == _ZERO:
                        break
                    if (entry & _TAG) == tag:
                        start = (np.int64(entry & _LOW) - 1) * words
                        same = True
                        for w in range(words):
                            if arena[start + w] != out[at + w]:
                                same = False
                                break
                        if same:
                            known = True
                            break
                    place = (place + _ONE) & mask
                if known:
                    continue
                if tail >= registers[MOST_STATES]:
                    answer = FULL_STORE
                    break
                for w in range(words):
                    arena[tail * words + w] = out[at + w]
                parents[tail] = head + j
                table[place] = tag | np.uint64(tail + 1)
                context[CURRENT] = tail
                tail += 1
                if _call2(check, context_at, out_at + at * 8) != 0:
                    answer = BROKEN
                    break
        pending = 0
        if answer == AGAIN:
            head += batch_states
    registers[HEAD], registers[TAIL] = head, tail
    registers[LEVEL_END], registers[LEVEL] = level_end, level
    registers[PENDING], registers[BATCH_STATES] = pending, batch_states
    registers[TRANSITIONS] = transitions
    return answer


@_compiled
def rehash(old: Any, new: Any, shift: int) -> None:
    """Move all entries to a table of another size.

    A tag holds the upper bits of the hash, so that no state has to be read, and places keep their
    order, so that both tables are walked from front to end.
    """
    mask = np.uint64(new.size - 1)
    right = np.uint64(shift)
    for entry in old:
        if entry != _ZERO:
            place = (entry & _TAG) >> right
            while new[place] != _ZERO:
                place = (place + _ONE) & mask
            new[place] = entry


@_compiled
def run_initial(address: int, context: Any, out: Any) -> Any:
    """Write the initial states to ``out``; their number, or less than 0."""
    return _call2(address, context.ctypes.data, out.ctypes.data)


@_compiled
def run_expand(address: int, context: Any, state: Any, out: Any) -> Any:
    """Write the successors of one state to ``out``; their number, or less than 0."""
    return _call3(address, context.ctypes.data, state.ctypes.data, out.ctypes.data)
