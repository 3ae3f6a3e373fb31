"""One search: its memory, its limits, and how far it has come."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import numpy as np

from slotproof.checker.explicit import registers as reg
from slotproof.checker.explicit.context import CURRENT, SHIFT, SITE, TABLE, WHERE, Context
from slotproof.checker.explicit.native import Native, Rows, native, native_loop
from slotproof.checker.explicit.store import Store, default_memory
from slotproof.checker.explicit.team import Team
from slotproof.checker.verdict import Limits
from slotproof.model.language.program import Program

NO_LIMIT = 1 << 62
LOOK_UP = 0.1
"""Seconds between looks at the clock, at signals and at the progress display."""
FEW = 32
"""Batches until the next look whether the level is worth several workers."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: ``queue`` counts states that are not expanded, ``seconds`` run from its start."""

    states: int
    transitions: int
    depth: int
    queue: int
    seconds: float


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Broken:
    """A model error: the state where it came up, and the step's label (or why there is none)."""

    state: int
    site: int
    where: int


@dataclass(frozen=True, slots=True)
class Functions:
    """The addresses of the native functions that the loop calls (``module.py`` says what they do)."""

    expand: int
    check: int
    final: int


class NativeSearch:
    """Breadth-first search over the whole graph that native functions span.

    ``initial`` writes the initial states behind each other and gives their number, ``most`` is the
    greatest number of successors of a state, ``stride`` are the words from one to the next, and
    ``deadlock`` is the word of the context where the first state without successors is kept.
    """

    def __init__(
        self,
        functions: Functions,
        initial: Callable[[Context, Rows], int],
        context: Context,
        *,
        words: int,
        stride: int,
        most: int,
        deadlock: int,
        limits: Limits,
    ) -> None:
        self.started = time.monotonic()
        self.limits = limits
        self.loop = native_loop()
        self.initial = initial
        self.store = Store(words, limits.memory or default_memory())
        self.context = context
        self.registers = np.zeros(reg.REGISTERS, np.int64)
        rows = reg.BATCH + most
        self.out = np.empty(rows * stride, np.uint64)
        self.guesses = np.empty(rows, np.int64)
        self.counts = np.empty(reg.BATCH, np.int64)
        store = self.store
        for register, value in {
            reg.EXPAND: functions.expand,
            reg.CHECK: functions.check,
            reg.FINAL: functions.final,
            reg.CONTEXT: self.context.ctypes.data,
            reg.DEADLOCK: deadlock,
            reg.ARENA: store.arena.ctypes.data,
            reg.PARENTS: store.parents.ctypes.data,
            reg.OUT: self.out.ctypes.data,
            reg.GUESSES: self.guesses.ctypes.data,
            reg.COUNTS: self.counts.ctypes.data,
            reg.WORDS: store.words,
            reg.STRIDE: stride,
            reg.MOST_STEPS: most,
            reg.MOST_DEPTH: NO_LIMIT if limits.depth is None else min(limits.depth, NO_LIMIT),
        }.items():
            self.registers[register] = value
        self.broken: Broken | None = None
        self.team: Team | None = None

    @property
    def states(self) -> int:
        """Distinct states so far."""
        return int(self.registers[reg.TAIL])

    @property
    def transitions(self) -> int:
        """Steps so far, those to known states included."""
        return int(self.registers[reg.TRANSITIONS])

    @property
    def depth(self) -> int:
        """The depth of the deepest state so far."""
        deeper = self.registers[reg.TAIL] > self.registers[reg.LEVEL_END]
        return max(int(self.registers[reg.LEVEL]) + int(deeper), 0)

    def progress(self) -> Progress:
        """Where the search is now."""
        head = max(int(self.registers[reg.HEAD]), 0)
        return Progress(self.states, self.transitions, self.depth, self.states - head, self.seconds)

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self.started

    def run(self, report: Report | None = None) -> str | None:
        """Search to the end: ``None``, or the limit that came first (``broken`` after a model error)."""
        with _signals() as received:
            try:
                stopped = self._run(report, received)
            finally:
                if self.team is not None:
                    self.team.close()
        if stopped is not None and self.broken is None:
            return self._rest(stopped)
        return stopped

    def _rest(self, stopped: str) -> str:
        """Evaluate what a limit has left unexpanded: a violation there is one all the same."""
        return self._break() if self.loop.check_rest(self.registers.ctypes.data) == reg.BROKEN else stopped

    def _run(self, report: Report | None, received: list[str]) -> str | None:
        registers = self.registers
        self._point()
        count = self.initial(self.context, self.out)
        if count < 0:
            return self._break()
        if count == 0:  # every guard of the initial actions is false
            return None
        registers[reg.HEAD] = registers[reg.LEVEL] = -1
        registers[reg.PENDING] = self.counts[0] = count
        registers[reg.BATCH_STATES] = 1
        rounds = 1
        looked = time.monotonic()
        while True:
            self._bound()
            before = time.monotonic()
            team = self.team if self.team is not None and not self.team.tired else None
            if team is not None and team.wanted():
                team.round()
                answer = self.loop.advance(registers.ctypes.data, 0)
            else:
                answer = self.loop.advance(registers.ctypes.data, rounds if team is None else FEW)
            match answer:
                case reg.DONE:
                    return None
                case reg.FULL_TABLE:
                    if not self.grow():
                        return self._memory()
                case reg.FULL_STORE:
                    if self.limits.states is not None and self.states >= self.limits.states:
                        return f"limit of {self.limits.states} states reached"
                    return self._memory()
                case reg.TOO_DEEP:
                    return f"limit of depth {self.limits.depth} reached"
                case reg.BROKEN:
                    return self._break()
            now = time.monotonic()
            if answer == reg.AGAIN and team is None:
                # So many batches that the next look comes in time.
                faster = LOOK_UP / max(now - before, LOOK_UP / 4)
                rounds = max(min(int(rounds * faster), 1 << 20), 1)
            if received:
                return f"interrupted by {received[0]}"
            if self.limits.seconds is not None and now - self.started >= self.limits.seconds:
                return f"limit of {self.limits.seconds:g} seconds reached"
            if report is not None and now - looked >= LOOK_UP / 2:
                looked = now
                report(self.progress())

    def grow(self) -> bool:
        """Make the table larger; false if there is no room for that, or for more states in it."""
        if not self.store.grow_table(self.states):
            return False
        self._point()
        self._bound()
        return True

    def _point(self) -> None:
        """Tell the loop and generated code, which asks for lines of it, where the table is."""
        table, shift = self.store.table, self.store.shift
        self.context[TABLE] = self.registers[reg.TABLE] = table.ctypes.data
        self.context[SHIFT] = self.registers[reg.SHIFT] = shift
        self.registers[reg.LAST_BUCKET] = len(table) // reg.BUCKET - 1

    def _bound(self) -> None:
        most = self.store.most_states()
        if self.limits.states is not None:
            most = min(most, self.limits.states)
        self.registers[reg.MOST_STATES] = most
        self.registers[reg.MOST_FILLED] = self.store.most_filled

    def _memory(self) -> str:
        return f"limit of {self.store.memory / 2**20:.0f} MiB of memory reached"

    def _break(self) -> str:
        context = self.context
        self.broken = Broken(int(context[CURRENT]), int(context[SITE]) - 1, int(context[WHERE]))
        return "model error"


class Search(NativeSearch):
    """The search of a program under one release's choices."""

    def __init__(
        self,
        program: Program,
        choices: tuple[int, ...],
        limits: Limits,
        workers: int = 1,
        *,
        symmetric: bool = False,
    ) -> None:
        started = time.monotonic()
        self.program = program
        self.choices = choices
        self.symmetric = symmetric
        self.native: Native = native(program, symmetric)
        code = self.native
        super().__init__(
            Functions(*(code.code.address(name) for name in ("expand", "check", "final"))),
            code.initial,
            code.slots.fresh(choices),
            words=code.layout.words,
            stride=code.stride,
            most=code.most,
            deadlock=code.slots.deadlock,
            limits=limits,
        )
        self.started = started  # compilation counts
        self.team = Team(self, workers) if workers > 1 else None


@contextmanager
def _signals() -> Iterator[list[str]]:
    """Collect SIGINT and SIGTERM instead of dying of them; a second one finds the old handlers again."""
    received: list[str] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    old = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in old.items():
            if handler is not None:
                signal.signal(number, handler)

    def receive(number: int, frame: FrameType | None) -> None:
        received.append(signal.Signals(number).name)
        restore()

    for number in old:
        signal.signal(number, receive)
    try:
        yield received
    finally:
        restore()
