"""A target in a process of its own, forked from the one that has imported the release.

A walk needs a fresh server, and a release keeps its configuration and its process groups in globals. So each
server lives in a fork, which takes one call after the other over a pipe and ends when the pipe is closed.
"""

from __future__ import annotations

import multiprocessing.connection
import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from slotproof.counterexamples.replay.driver import (
    Died,
    Mismatch,
    OutOfReach,
    Plain,
    Refused,
    Setting,
    Symptom,
    Target,
)

_TOLD = (Mismatch, Refused, OutOfReach)
"""Exceptions that a target tells its caller something by; any other is a fault of the harness."""


class HarnessFault(Exception):
    """The harness in the fork failed; ``steps`` are those that it had taken, the failing one last."""

    def __init__(self, text: str, steps: list[str]) -> None:
        self.steps = steps
        way = f"; the steps: {', '.join(steps)}" if steps else ""
        super().__init__(text + way)


class ForkedTarget:
    """A target of ``make`` in a fork; the one before it in ``Forks`` has ended."""

    def __init__(self, make: Callable[[], Target], name: str) -> None:
        self.name = name
        self.steps: list[str] = []
        ours, theirs = multiprocessing.connection.Pipe()
        self._child = os.fork()
        if self._child == 0:
            ours.close()
            try:
                _serve(theirs, make)
            finally:
                os._exit(0)  # threads of the process group would hold the exit up
        theirs.close()
        self._pipe = ours

    def end(self) -> None:
        """End the fork."""
        self._pipe.close()
        os.waitpid(self._child, 0)

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            self._pipe.send((method, arguments))
            how, value = self._pipe.recv()
        except (EOFError, OSError):
            raise HarnessFault("the process of the server ended by itself", self.steps) from None
        match how:
            case "value":
                return value
            case "died":
                raise Died(*value)
            case "harness":
                raise HarnessFault(value, self.steps)
        raise next(kind for kind in _TOLD if kind.__name__ == how)(value)

    def begin(self, setting: Setting) -> None:
        """As the target does it."""
        self._ask("begin", setting)

    def step(self, action: str, arguments: Mapping[str, Plain]) -> None:
        """As the target does it."""
        self.steps.append(f"{action}({', '.join(f'{n}={_short(v)}' for n, v in arguments.items())})")
        self._ask("step", action, arguments)

    def observe(self) -> Mapping[str, Plain]:
        """As the target does it."""
        seen: Mapping[str, Plain] = self._ask("observe")
        return seen

    def unexpected(self, clean: frozenset[str]) -> tuple[str, Plain, Plain] | None:
        """As the target does it."""
        found: tuple[str, Plain, Plain] | None = self._ask("unexpected", clean)
        return found

    def beyond(self) -> bool:
        """As the target does it."""
        return bool(self._ask("beyond"))

    def symptom(self, property: str, died: Died | None) -> Symptom | None:
        """As the target does it."""
        found: Symptom | None = self._ask("symptom", property, died)
        return found


class Forks:
    """Makes targets, each in a fork of its own, one at a time."""

    def __init__(self, make: Callable[[], Target], name: str) -> None:
        self._make, self._name = make, name
        self._last: ForkedTarget | None = None

    def __call__(self) -> Target:
        """A fresh one; the last one ends."""
        self.end()
        self._last = ForkedTarget(self._make, self._name)
        return self._last

    def end(self) -> None:
        """End the last one."""
        if self._last is not None:
            self._last.end()
            self._last = None


def _short(value: Plain) -> str:
    return "{" + ", ".join(sorted(value)) + "}" if isinstance(value, frozenset) else str(value)


def _serve(pipe: Any, make: Callable[[], Target]) -> None:
    target = make()
    while True:
        try:
            method, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(target, method, arguments))


def _answer(target: Target, method: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "value", getattr(target, method)(*arguments)
    except Died as died:
        return "died", (died.cause, died.function, died.error)
    except _TOLD as told:
        return type(told).__name__, str(told)
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}, {frame.name}"
        return "harness", f"{type(error).__name__}: {' '.join(str(error).split())} ({where})"
