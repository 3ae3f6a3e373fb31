"""The whole graph of a finished search: every step, what every state owes, and what is fair there.

search = Search(program, choices, limits)
if search.run() is None:
    graph = Graph(search)
    graph.build()
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from slotproof.checker.explicit import edge_registers as reg
from slotproof.checker.explicit.context import SHIFT, TABLE
from slotproof.checker.explicit.judgement import fair_sets_of, judgement, obligations_of
from slotproof.checker.explicit.native import native_loop
from slotproof.checker.explicit.registers import BUCKET, NO_PARENT
from slotproof.checker.explicit.search import Search

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint64]

ROUND = 1 << 14
"""States between two looks at the clock and at signals."""

PREMISE, GOAL = np.uint64(1), np.uint64(2)


class Stuck(Exception):
    """A model error in a progress property or a fairness condition, at a state or a step from it."""

    def __init__(self, state: int) -> None:
        super().__init__(f"state {state}")
        self.state = state


class Graph:
    """States by their number in the search, steps by theirs: those of state i are ``first[i]`` to
    ``first[i + 1] - 1``, in the order of native code.

    ``targets`` are the states that steps lead to, ``sources`` those where they begin. ``fair`` has for each
    step a row of words, in which bit b of word w stands for fair set 64 w + b. A state after a crash is not
    ``alive``. No states are stored twice, and none is left out: the search has to be complete.
    """

    first: Numbers
    targets: NDArray[np.uint32]
    sources: NDArray[np.uint32]
    fair: Bits
    alive: Flags
    enabled: Bits
    """Of each state the fair sets of which a step is possible there, crashing ones included."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.obligations = obligations_of(search.program)
        self.fair_sets = fair_sets_of(search.program)
        self.strengths = [search.program.fairness[f.sets].strength for f in self.fair_sets]
        self.words = max(-(-len(self.fair_sets) // 64), 1)
        self.size = search.states
        self.steps = search.transitions
        self._judged: Bits = np.zeros((0, 0), np.uint64)

    @property
    def memory(self) -> int:
        """Bytes that the graph and the work on it take."""
        a_step = 4 + 4 + 8 * self.words + 24
        return self.steps * a_step + self.size * (8 * len(self.obligations) + 16 * self.words + 64)

    def build(self, look: Callable[[], None] = lambda: None) -> None:
        """Expand every state; ``look`` is called a few times a second. Raises ``Stuck``."""
        search, code, store = self.search, self.search.native, self.search.store
        self.first = np.zeros(self.size + 1, np.int64)
        self.targets = np.empty(self.steps, np.uint32)
        self.fair = np.zeros((self.steps, self.words), np.uint64)
        self._judged = np.zeros((self.size, len(self.obligations)), np.uint64)
        crashed = np.zeros(self.size, np.uint64)
        out = np.empty(code.most * code.stride, np.uint64)
        context = code.slots.fresh(search.choices)
        context[TABLE], context[SHIFT] = search.context[TABLE], search.context[SHIFT]
        judge = judgement(search.program)
        registers = np.zeros(reg.REGISTERS, np.int64)
        for register, value in {
            reg.EXPAND: code.code.address("expand"),
            reg.JUDGE: judge.address("judge"),
            reg.CLASSIFY: judge.address("classify"),
            reg.CONTEXT: context.ctypes.data,
            reg.ARENA: store.arena.ctypes.data,
            reg.TABLE: store.table.ctypes.data,
            reg.SHIFT: store.shift,
            reg.LAST_BUCKET: len(store.table) // BUCKET - 1,
            reg.WORDS: store.words,
            reg.STRIDE: code.stride,
            reg.OUT: out.ctypes.data,
            reg.TARGETS: self.targets.ctypes.data,
            reg.FAIR: self.fair.ctypes.data,
            reg.FAIR_WORDS: self.words,
            reg.JUDGED: self._judged.ctypes.data,
            reg.OBLIGATIONS: len(self.obligations),
            reg.FIRST: self.first.ctypes.data,
            reg.CRASHED: crashed.ctypes.data,
        }.items():
            registers[register] = value
        for until in range(ROUND, self.size + ROUND, ROUND):
            answer = native_loop().edges(registers.ctypes.data, min(until, self.size))
            if answer == reg.BROKEN:
                raise Stuck(int(registers[reg.STATE]))
            if answer == reg.UNKNOWN:
                raise RuntimeError("internal error: a step leads to a state that the search has not stored")
            look()
        self.sources = np.repeat(np.arange(self.size, dtype=np.uint32), np.diff(self.first))
        self.alive = crashed == 0
        self.enabled = np.zeros((self.size, self.words), np.uint64)
        busy = np.flatnonzero(np.diff(self.first))
        if len(busy):
            self.enabled[busy] = np.bitwise_or.reduceat(self.fair, self.first[busy], axis=0)

    def premise(self, obligation: int) -> Flags:
        """The states that meet the premise of an obligation; none after a crash."""
        met: Flags = (self._judged[:, obligation] & PREMISE) != 0
        return met & self.alive

    def goal(self, obligation: int) -> Flags:
        """The states that meet the goal of an obligation; none after a crash."""
        met: Flags = (self._judged[:, obligation] & GOAL) != 0
        return met & self.alive

    def depths(self) -> Numbers:
        """How many steps each state is from the nearest initial one."""
        parents = self.search.store.parents[: self.size]
        depths = np.zeros(self.size, np.int64)
        # States are stored level by level, each behind its parent, which is in the level before.
        start, depth = int(np.count_nonzero(parents == NO_PARENT)), 0
        while start < self.size:
            depth += 1
            end = start + int(np.count_nonzero(parents[start:] < start))
            assert end > start, "a state without a parent in the level before"
            depths[start:end] = depth
            start = end
        return depths

    def is_in(self, fair_set: int, rows: Bits) -> Flags:
        """Of which rows of words the bit of a fair set is set."""
        word, bit = divmod(fair_set, 64)
        found: Flags = (rows[:, word] >> np.uint64(bit)) & np.uint64(1) != 0
        return found
