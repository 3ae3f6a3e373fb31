"""Runs the planned searches: here if there is one, else in worker processes; an interrupt ends all in order.

A first SIGINT or SIGTERM asks every running search for what it has; a second one ends the command.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from slotproof.checker.runs import (
    Finding,
    Search,
    Status,
    load_engine,
    names_of,
    perform,
    program_of,
    status_of,
    unfinished,
)
from slotproof.checker.verdict import Limits

GRACE = 30.0
"""Seconds that an interrupted search has to say what it covered."""

Report = Callable[[Search, Status], None]
"""Called now and then with a search and how far it is."""


class Interrupt:
    """SIGINT and SIGTERM as one KeyboardInterrupt at a time, and whether there was one."""

    def __init__(self) -> None:
        self.happened = False
        self._deliver = True

    def _received(self, number: int, frame: object) -> None:
        if self.happened and not self._deliver:
            return
        self.happened = True
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def watching(self, *, repeat: bool) -> Iterator[Interrupt]:
        """Handle the signals inside; with ``repeat`` every signal counts, else the first alone."""
        self._deliver = repeat
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for number in before:
                signal.signal(number, self._received)
        except ValueError:  # not the main thread: signals go elsewhere
            before = {}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_all(
    searches: Sequence[Search], limits: Limits, workers: int, report: Report | None
) -> tuple[list[Finding], bool]:
    """The findings in the order of the searches, and whether an interrupt ended some of them early."""
    if workers > 1 and len(searches) > 1:
        return _Pool(searches, limits, min(workers, len(searches)), report).run()
    findings: list[Finding] = []
    with Interrupt().watching(repeat=False) as interrupt:
        for search in searches:
            findings.append(_here(search, limits, report, interrupt))
            # An engine may keep the signal for itself and end with what it has.
            interrupt.happened |= _interrupted(findings[-1])
    return findings, interrupt.happened


def _interrupted(finding: Finding) -> bool:
    stopped = None if finding.coverage is None else finding.coverage.stopped
    return stopped is not None and stopped.startswith("interrupt")


def _here(search: Search, limits: Limits, report: Report | None, interrupt: Interrupt) -> Finding:
    if interrupt.happened:
        return _never(search, "interrupted before its search began")
    try:
        progress = None if report is None else lambda raw: report(search, status_of(raw))
        return perform(search, limits, progress)
    except KeyboardInterrupt:
        return _never(search, "interrupted")


def _never(search: Search, reason: str) -> Finding:
    return unfinished(search, reason, names_of(program_of(search.subjects[0]), search.engine))


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    index: int | None = None
    """The place of the search that it is busy with."""


@dataclass(frozen=True)
class _Failed:
    """What a worker says that met an error of this program."""

    traceback: str


class WorkerError(Exception):
    """An error of this program in a worker process; its message is the traceback there."""


def _end_of(process: BaseProcess) -> str:
    status = process.exitcode or 0
    if status < 0:
        return f"its process was killed by {signal.Signals(-status).name}; was memory short?"
    return f"its process ended with status {status}"


class _Pool:
    """A few processes that each take the next search when they are free."""

    def __init__(
        self, searches: Sequence[Search], limits: Limits, workers: int, report: Report | None
    ) -> None:
        self.searches = searches
        self.limits = limits
        self.report = report
        self.wanted = workers
        self.findings: list[Finding | None] = [None] * len(searches)
        self.next = 0
        # Where processes can be forked, they inherit the compiled programs and the engines.
        methods = multiprocessing.get_all_start_methods()
        for engine in dict.fromkeys(search.engine for search in searches):
            load_engine(engine)
        context: Any = multiprocessing.get_context(
            "fork" if "fork" in methods and os.name == "posix" else None
        )
        self.workers = [self._start(context) for _ in range(workers)]

    def _start(self, context: Any) -> _Worker:
        ours, theirs = context.Pipe()
        share = min(len(self.searches), self.wanted)
        arguments = (ours, theirs, self.limits, share, self.report is not None)
        process = context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def run(self) -> tuple[list[Finding], bool]:
        """Every search, or as many as an interrupt leaves."""
        with Interrupt().watching(repeat=True) as interrupt:
            try:
                self._work()
            except KeyboardInterrupt:
                self._stop_early()
            finally:
                self._end()
        reason = "interrupted before its search ended" if interrupt.happened else "its process ended"
        findings = [f or _never(s, reason) for f, s in zip(self.findings, self.searches, strict=True)]
        return findings, interrupt.happened or any(map(_interrupted, findings))

    def _work(self) -> None:
        for worker in self.workers:
            self._give(worker)
        while busy := [w for w in self.workers if w.index is not None]:
            self._receive(busy, None)
            for worker in self.workers:
                if worker.index is None:
                    self._give(worker)

    def _give(self, worker: _Worker) -> None:
        if self.next < len(self.searches) and worker.process.is_alive():
            worker.index, self.next = self.next, self.next + 1
            worker.connection.send(self.searches[worker.index])

    def _receive(self, busy: Sequence[_Worker], timeout: float | None) -> None:
        ready = wait([w.connection for w in busy], timeout)
        for worker in busy:
            if worker.connection not in ready:
                continue
            assert worker.index is not None
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                worker.process.join(5)
                self.findings[worker.index] = _never(self.searches[worker.index], _end_of(worker.process))
                worker.index = None
                continue
            if isinstance(message, _Failed):
                raise WorkerError(message.traceback)
            if isinstance(message, Finding):
                self.findings[worker.index] = message
                worker.index = None
            elif self.report is not None:
                self.report(self.searches[worker.index], message)

    def _stop_early(self) -> None:
        for worker in self.workers:
            if worker.index is not None and worker.process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.process.pid, signal.SIGINT)
        deadline = time.monotonic() + GRACE
        with contextlib.suppress(KeyboardInterrupt):
            while busy := [w for w in self.workers if w.index is not None]:
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                self._receive(busy, left)

    def _end(self) -> None:
        for worker in self.workers:
            if worker.index is not None:
                worker.process.kill()
            with contextlib.suppress(OSError):
                worker.connection.send(None)
        for worker in self.workers:
            worker.process.join(5)


def _serve(parents: Connection, connection: Connection, limits: Limits, share: int, reporting: bool) -> None:
    """What a worker process does: one search after another, until it is told to end.

    Each of ``share`` workers takes its part of the memory.
    """
    parents.close()  # else it would never be seen closed when the parent has gone
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a worker without a search has nothing to interrupt
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # Ctrl-C reaches the command alone, which passes it on once
    if limits.memory is None:
        from slotproof.checker.explicit.store import default_memory

        limits = replace(limits, memory=default_memory() // share)
    while True:
        with Interrupt().watching(repeat=False):
            try:
                search = connection.recv()
                if search is None:
                    return
                try:
                    finding = perform(search, limits, _throttled(connection, reporting))
                except KeyboardInterrupt:
                    finding = _never(search, "interrupted")
                except Exception:
                    connection.send(_Failed(traceback.format_exc()))
                    return
                connection.send(finding)
            except (EOFError, OSError, KeyboardInterrupt):
                return


def _throttled(connection: Connection, reporting: bool) -> Callable[[Any], None]:
    last = 0.0

    def progress(raw: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 0.1:
            last = now
            parent = multiprocessing.parent_process()
            if parent is not None and not parent.is_alive():
                raise KeyboardInterrupt  # nobody is left to hear the answer
            if reporting:
                connection.send(status_of(raw))

    return progress
