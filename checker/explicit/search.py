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

from slotproof.checker.explicit import loop
from slotproof.checker.explicit.context import CURRENT, SHIFT, SITE, TABLE, WHERE, Context
from slotproof.checker.explicit.native import Native, native
from slotproof.checker.explicit.store import Store, default_memory
from slotproof.checker.verdict import Limits
from slotproof.model.language.program import Program

NO_LIMIT = 1 << 62
LOOK_UP = 0.1
"""Seconds between looks at the clock, at signals and at the progress display."""


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


class Search:
    """Breadth-first search over the whole graph of a program under one release's choices."""

    def __init__(self, program: Program, choices: tuple[int, ...], limits: Limits) -> None:
        self.started = time.monotonic()
        self.program = program
        self.choices = choices
        self.limits = limits
        self.native: Native = native(program)
        self.store = Store(self.native.layout.words, limits.memory or default_memory())
        self.context: Context = self.native.slots.fresh(choices)
        self.registers = np.zeros(loop.REGISTERS, np.int64)
        rows = loop.BATCH + self.native.most
        self.out = np.empty(rows * self.native.stride, np.uint64)
        self.places = np.empty(rows, np.uint64)
        self.counts = np.empty(loop.BATCH, np.int64)
        self.functions = np.array([self.native.expand, self.native.check, self.native.final], np.int64)
        self.broken: Broken | None = None

    @property
    def states(self) -> int:
        """Distinct states so far."""
        return int(self.registers[loop.TAIL])

    @property
    def transitions(self) -> int:
        """Steps so far, those to known states included."""
        return int(self.registers[loop.TRANSITIONS])

    @property
    def depth(self) -> int:
        """The depth of the deepest state so far."""
        deeper = self.registers[loop.TAIL] > self.registers[loop.LEVEL_END]
        return max(int(self.registers[loop.LEVEL]) + int(deeper), 0)

    def progress(self) -> Progress:
        """Where the search is now."""
        head = max(int(self.registers[loop.HEAD]), 0)
        return Progress(self.states, self.transitions, self.depth, self.states - head, self.seconds)

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self.started

    def run(self, report: Report | None = None) -> str | None:
        """Search to the end: ``None``, or the limit that came first (``broken`` after a model error)."""
        with _signals() as received:
            return self._run(report, received)

    def _run(self, report: Report | None, received: list[str]) -> str | None:
        store, registers = self.store, self.registers
        self._point()
        count = loop.run_initial(self.native.initial, self.context, self.out)
        if count < 0:
            return self._break()
        registers[loop.HEAD] = registers[loop.LEVEL] = -1
        registers[loop.PENDING] = self.counts[0] = count
        registers[loop.BATCH_STATES] = 1
        registers[loop.MOST_DEPTH] = NO_LIMIT if self.limits.depth is None else self.limits.depth
        rounds = 1
        while True:
            self._bound()
            before = time.monotonic()
            answer = loop.advance(
                self.functions,
                self.context,
                self.native.slots.deadlock,
                registers,
                store.words,
                self.native.stride,
                store.arena,
                store.parents,
                store.table,
                store.shift,
                self.out,
                self.places,
                self.counts,
                rounds,
            )
            match answer:
                case loop.DONE:
                    return None
                case loop.FULL_TABLE:
                    if not store.grow_table(self.states):
                        return self._memory()
                    self._point()
                case loop.FULL_STORE:
                    if self.limits.states is not None and self.states >= self.limits.states:
                        return f"limit of {self.limits.states} states reached"
                    return self._memory()
                case loop.TOO_DEEP:
                    return f"limit of depth {self.limits.depth} reached"
                case loop.BROKEN:
                    return self._break()
            now = time.monotonic()
            if answer == loop.AGAIN:
                # So many batches that the next look comes in time.
                faster = LOOK_UP / max(now - before, LOOK_UP / 4)
                rounds = max(min(int(rounds * faster), 1 << 20), 1)
            if received:
                return f"interrupted by {received[0]}"
            if self.limits.seconds is not None and now - self.started >= self.limits.seconds:
                return f"limit of {self.limits.seconds:g} seconds reached"
            if report is not None:
                report(self.progress())

    def _point(self) -> None:
        """Tell generated code where the table is, so that it asks for its lines."""
        self.context[TABLE] = self.store.table.ctypes.data
        self.context[SHIFT] = self.store.shift

    def _bound(self) -> None:
        most = self.store.most_states()
        if self.limits.states is not None:
            most = min(most, self.limits.states)
        self.registers[loop.MOST_STATES] = most
        self.registers[loop.MOST_FILLED] = self.store.most_filled

    def _memory(self) -> str:
        return f"limit of {self.store.memory / 2**20:.0f} MiB of memory reached"

    def _break(self) -> str:
        context = self.context
        self.broken = Broken(int(context[CURRENT]), int(context[SITE]) - 1, int(context[WHERE]))
        return "model error"


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
