"""Several workers on one search, a level of the graph at a time, with the answers of one.

The level is handed out in chunks. A worker expands its chunk and sorts out the successors that are known,
which most are, while others do the same with theirs; what is left it stores when all chunks before its own
are stored, in the order in which one worker alone would have met it. So every state has the same number,
parent and depth for any number of workers. Who looks up successors while another worker stores some may
not find those; a state is looked up once more before it is stored. Where a chunk meets something out of
the ordinary (a limit, a model error, too many new states), what comes before it is accepted and the
chunks behind it are done again; near a limit the search goes on with one worker.
"""

from __future__ import annotations

import threading
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
LEAST_CHUNK = 256
MOST_CHUNK = 1 << 17
KEPT_ROWS = 1 << 16
CHUNK = 0.001
"""Seconds that a chunk should take: long beside handing it out. In a longer one more successors are met
again before they are stored."""
ROUND = 0.1
"""Seconds until the search looks up."""


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
        self.chunk = LEAST_CHUNK
        self.tired = False
        """Whether one worker has to go on alone to the end, as a limit is near."""
        self._changed = threading.Condition()
        self._next = self._end = 0  # the first state that is not handed out, and the level's end
        self._until = 0.0
        self._scanning = 0
        self._halted = False  # nothing more is handed out, and what is not stored yet is dropped
        self._growing = False

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
        r = self.search.registers
        self._next, self._end = int(r[reg.HEAD]), int(r[reg.LEVEL_END])
        self._until = time.monotonic() + ROUND
        self._halted = False
        others = [self.threads.submit(self._work, worker) for worker in self.workers[1:]]
        try:
            self._work(self.workers[0])
        finally:
            for other in others:
                other.result()

    def _work(self, worker: Worker) -> None:
        """Take chunks until none is left, the time is up or a chunk was cut short."""
        try:
            while (first := self._take(worker)) is not None:
                start = time.monotonic()
                answer = self.search.loop.scan(worker.registers.ctypes.data)
                faster = CHUNK / max(time.monotonic() - start, CHUNK / 4)
                if not self._waits_for_its_turn(first):
                    return
                self._store(worker, answer, faster)
        except BaseException:
            with self._changed:
                self._halted = True
                self._changed.notify_all()
            raise

    @property
    def _head(self) -> int:
        """The first state whose successors are not stored: whose chunk's turn it is."""
        return int(self.search.registers[reg.HEAD])

    def _take(self, worker: Worker) -> int | None:
        """The first state of the next chunk, for which the worker is made ready."""
        with self._changed:
            self._changed.wait_for(lambda: not self._growing)
            if self._halted or self._next >= self._end or time.monotonic() >= self._until:
                return None
            first, self._next = self._next, min(self._next + self.chunk, self._end)
            worker.ready(self.search, first, self._next)
            self._scanning += 1
            return first

    def _waits_for_its_turn(self, first: int) -> bool:
        """Wait until all before the chunk is stored; false if the chunk is dropped."""
        with self._changed:
            self._scanning -= 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._halted or self._head == first)
            return not self._halted

    def _store(self, worker: Worker, answer: int, faster: float) -> None:
        """Take over a chunk whose turn it is, while others scan theirs."""
        fits = self._make_room(int(worker.registers[reg.KEPT_COUNT]))
        if fits:
            self._settle(worker)
        with self._changed:
            if not fits or answer == reg.BROKEN:
                self._halted = self.tired = True
            elif answer == reg.DONE:
                self.chunk = max(min(int(self.chunk * faster), MOST_CHUNK), LEAST_CHUNK)
            else:  # what comes behind is not next
                self._halted = True
                self.chunk = max(self.chunk // 2, LEAST_CHUNK)
            if fits:
                merge(self.search.native.slots, self.search.context, worker.context)
                self.search.registers[reg.HEAD] = worker.registers[reg.HEAD]
            self._changed.notify_all()

    def _settle(self, worker: Worker) -> None:
        r, w = self.search.registers, worker.registers
        r[reg.KEPT], r[reg.KEPT_COUNT] = w[reg.KEPT], w[reg.KEPT_COUNT]
        self.search.loop.settle(r.ctypes.data)
        r[reg.CHECKED] = w[reg.HEAD]
        r[reg.TRANSITIONS] += w[reg.TRANSITIONS]

    def _make_room(self, kept: int) -> bool:
        """Make the table large enough for so many more states; false if a limit may be near."""
        r = self.search.registers
        if int(r[reg.TAIL]) + kept > int(r[reg.MOST_STATES]):
            return False
        while int(r[reg.TAIL]) + kept > int(r[reg.MOST_FILLED]):
            with self._changed:
                self._growing = True  # nobody begins to look up in the old table
                self._changed.wait_for(lambda: self._scanning == 0 or self._halted)  # halted: one has failed
                try:
                    grown = not self._halted and self.search.grow()
                finally:
                    self._growing = False
                    self._changed.notify_all()
            if not grown:
                return False
        return True


def merge(slots: Slots, into: Context, found: Context) -> None:
    """Add what was found in states that come after those of ``into``."""
    into[slots.premises : slots.fired] |= found[slots.premises : slots.fired]
    into[slots.fired : slots.violations] += found[slots.fired : slots.violations]
    first = into[slots.violations :].reshape(-1, 2)  # of violations and witnesses: a word that is 0 for none
    news = first[:, 0] == 0
    first[news] = found[slots.violations :].reshape(-1, 2)[news]
