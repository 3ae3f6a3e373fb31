"""The progress bar of long searches: on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from slotproof.checker.runs import Search, Status


@dataclass(frozen=True, eq=False)
class Titled:
    """What a line is about, if that is no search of a plan."""

    title: str


class SearchProgress:
    """One line for each running search: states, states a second, depth, queue, and what is left at least.

    Nobody knows how many states are still to be found, so the estimate is a bound: each state in the queue
    has to be expanded yet, and so far that went at a certain rate.
    """

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._tasks: dict[int, TaskID] = {}
        self._begun: dict[int, float] = {}

    def __call__(self, search: Search | Titled, status: Status) -> None:
        """Show where a search stands. The bar begins with the first call: after processes are forked."""
        if self._bar is None:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                _Numbers(),
                TimeElapsedColumn(),
                console=Console(file=sys.stderr),
                transient=True,
            )
            self._bar.start()
        key = id(search)
        if key not in self._tasks:
            self._tasks[key] = self._bar.add_task(search.title, total=None)
            self._begun[key] = time.monotonic()
        seconds = max(time.monotonic() - self._begun[key], 1e-3)
        rate = status.states / seconds
        self._bar.update(
            self._tasks[key],
            states=status.states,
            rate=rate,
            depth=status.depth,
            queue=status.queue,
            left=status.queue * seconds / max(status.states - status.queue, 1),
        )

    def ended(self, search: Search | Titled) -> None:
        """Take the line of a search away."""
        if self._bar is not None and id(search) in self._tasks:
            self._bar.remove_task(self._tasks.pop(id(search)))

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def shown_questions() -> Iterator[Callable[[str], None]]:
    """On a terminal, a line that says which question a solver has before it."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("looking for a proof") as status:
        yield lambda about: status.update(escape(f"asking whether it can be: {about}"))


@contextmanager
def shown_work(about: str) -> Iterator[None]:
    """On a terminal, a line that says what is being done."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield
        return
    with console.status(escape(about)):
        yield


class _Numbers(ProgressColumn):
    def render(self, task: Task) -> Text:
        """The numbers of one search."""
        fields = task.fields
        return Text(
            f"{fields.get('states', 0):,} states, {fields.get('rate', 0):,.0f}/s, "
            f"depth {fields.get('depth', 0)}, queue {fields.get('queue', 0):,}, "
            f"at least {fields.get('left', 0):,.0f} s left"
        )
