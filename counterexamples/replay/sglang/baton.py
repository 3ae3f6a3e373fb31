"""Run a function of the release in a thread, and stop it where the trace has another step in between.

The server's iteration is one function call; the trace may end a copy between two of its questions. Only one
of the two threads ever runs: the function runs until it is done or ``pause`` is called within it, and then
waits for ``go_on``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Baton:
    """One call that can be stopped and gone on with."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._turn = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.done = False
        self.value: Any = None
        self.error: BaseException | None = None

    def _run(self) -> None:
        self._turn.acquire()
        try:
            self.value = self._call()
        except BaseException as error:
            self.error = error
        self.done = True
        self._back.release()

    def go_on(self) -> bool:
        """Run until the next pause or the end; whether it has ended. What the call raised is raised here."""
        if not self._thread.is_alive():
            self._thread.start()
        self._turn.release()
        self._back.acquire()
        if self.error is not None:
            raise self.error
        return self.done

    def pause(self) -> None:
        """Called from within: let the other thread run."""
        self._back.release()
        self._turn.acquire()
