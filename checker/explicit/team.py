"""Several workers on one search, a level of the graph at a time, with the answers of one.

A round gives each worker the same number of states of the level. The workers expand them at once and
sort out the successors that are known, which most are; what is left is stored by one of them, in the
order in which one worker alone would have met it. So every state has the same number, parent and depth
for any number of workers. Where a round meets something out of the ordinary (a limit, a model error,
too many new states), what comes before it is accepted and the search goes on with one worker.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slotproof.checker.explicit import registers as reg
from slotproof.checker.explicit.context import FIXED, SHIFT, TABLE, Context, Slots

if TYPE_CHECKING:
    from slotproof.checker.explicit.search import Search

LEAST_STATES = 4096
"""So few states a worker are not worth a round."""
KEPT_ROWS = 1 << 16
ROUND = 0.02
"""Seconds that a round should take: long beside the start of a thread's work, short beside a look-up."""
MOST_CHUNK = 1 << 17


class Worker:
    """The registers, the context and the buffers of one worker."""

    def __init__(self, search: Search) -> None:
        code = search.native
        self.registers: NDArray[np.int64] = search.registers.copy()
        self.context: Context = code.slots.fresh(search.choices)
        rows = reg.BATCH + code.most
        self._kept = np.empty((KEPT_ROWS + rows) * code.stride, np.uint64)
        self._buffers = (
            np.empty(rows * code.stride, np.uint64),
            np.empty(rows, np.int64),
            np.empty(reg.BATCH, np.int64),
            np.zeros(1 << reg.SEEN_BITS, np.int64),
        )
        out, guesses, counts, seen = self._buffers
        for register, value in {
            reg.CONTEXT: self.context.ctypes.data,
            reg.OUT: out.ctypes.data,
            reg.GUESSES: guesses.ctypes.data,
            reg.COUNTS: counts.ctypes.data,
            reg.SEEN: seen.ctypes.data,
            reg.KEPT: self._kept.ctypes.data,
            reg.KEPT_MOST: KEPT_ROWS + rows,
            reg.MOST_STATES: 1 << 62,  # a worker stores nothing
        }.items():
            self.registers[register] = value

    def ready(self, search: Search, first: int, end: int) -> None:
        """Give the worker a range of states, and all that has been found so far."""
        ours, theirs = self.registers, search.registers
        for register in (reg.TABLE, reg.SHIFT, reg.LAST_BUCKET, reg.LEVEL):
            ours[register] = theirs[register]
        ours[reg.HEAD] = ours[reg.CHECKED] = first
        ours[reg.LEVEL_END] = end
        ours[reg.KEPT_COUNT] = ours[reg.TRANSITIONS] = ours[reg.PENDING] = 0
        slots = search.native.slots
        self.context[FIXED:] = search.context[FIXED:]
        self.context[slots.fired : slots.violations] = 0
        self.context[TABLE], self.context[SHIFT] = search.context[TABLE], search.context[SHIFT]


class Team:
    """The workers of a search."""

    def __init__(self, search: Search, workers: int) -> None:
        self.search = search
        self.workers = [Worker(search) for _ in range(workers)]
        self.threads = ThreadPoolExecutor(workers - 1)
        self.chunk = LEAST_STATES
        self.tired = False
        """Whether one worker has to go on alone to the end, as a limit is near."""

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown()

    def wanted(self) -> bool:
        """Whether what is left of the level is worth a round."""
        r = self.search.registers
        left = int(r[reg.LEVEL_END] - r[reg.HEAD])
        return not self.tired and not r[reg.PENDING] and left >= LEAST_STATES * len(self.workers)

    def round(self) -> None:
        """Expand as much of the level as takes the time of a round."""
        search, r = self.search, self.search.registers
        start = time.monotonic()
        first, end = int(r[reg.HEAD]), int(r[reg.LEVEL_END])
        chunk = min(self.chunk, -(-(end - first) // len(self.workers)))
        for number, worker in enumerate(self.workers):
            worker.ready(search, min(first + number * chunk, end), min(first + (number + 1) * chunk, end))
        scan = search.loop.scan
        others = [self.threads.submit(scan, w.registers.ctypes.data) for w in self.workers[1:]]
        answers = [scan(self.workers[0].registers.ctypes.data), *(f.result() for f in others)]
        for worker, answer in zip(self.workers, answers, strict=True):
            if not self._accept(worker):
                self.tired = True
                return
            if answer != reg.DONE:  # what comes behind is not next
                self.tired |= answer == reg.BROKEN
                self.chunk = max(self.chunk // 2, LEAST_STATES // 4)
                return
        faster = ROUND / max(time.monotonic() - start, ROUND / 4)
        self.chunk = max(min(int(self.chunk * faster), MOST_CHUNK), LEAST_STATES)

    def _accept(self, worker: Worker) -> bool:
        """Store what a worker has kept and take over what it found; false if a limit may be near."""
        search, r, w = self.search, self.search.registers, worker.registers
        kept = int(w[reg.KEPT_COUNT])
        if int(r[reg.TAIL]) + kept > int(r[reg.MOST_STATES]):
            return False
        while int(r[reg.TAIL]) + kept > int(r[reg.MOST_FILLED]):
            if not search.grow():
                return False
        r[reg.KEPT], r[reg.KEPT_COUNT] = w[reg.KEPT], kept
        search.loop.settle(r.ctypes.data)
        r[reg.HEAD] = r[reg.CHECKED] = w[reg.HEAD]
        r[reg.TRANSITIONS] += w[reg.TRANSITIONS]
        merge(search.native.slots, search.context, worker.context)
        return True


def merge(slots: Slots, into: Context, found: Context) -> None:
    """Add what was found in states that come after those of ``into``."""
    into[slots.premises : slots.fired] |= found[slots.premises : slots.fired]
    into[slots.fired : slots.violations] += found[slots.fired : slots.violations]
    first = into[slots.violations :].reshape(-1, 2)  # of violations and witnesses: a word that is 0 for none
    news = first[:, 0] == 0
    first[news] = found[slots.violations :].reshape(-1, 2)[news]
