"""What a drainer is told of time and tokens, on any target: the facts that a trace's steps bring about.

Every request asks for ``WANTED`` tokens. The numbers are such that a drainer's own comparisons come out as
the steps say: with its tolerance of 1.2, a row that is not far on lets another request join, and one that is
does not; adapters that are equally far on have distinct numbers, in their order, the nearest one the fewest.
"""

from __future__ import annotations

from collections.abc import Sequence

WANTED = 1200
LEFT, LEFT_FAR_ON = 1100, 600
THRESHOLD = 1e3
LONG = 1e6


class Waits:
    """Facts about requests by their ids; ``adapters`` are the names in their order."""

    def __init__(self, adapters: Sequence[str]) -> None:
        self.adapters = adapters
        self.nearest = adapters[0]
        self._said = 0
        self._overdue: dict[str, int] = {}
        self._far_on: set[str] = set()

    def is_overdue(self, rid: str) -> None:
        """The request has waited longer than the threshold from now on."""
        self._said += 1
        self._overdue[rid] = self._said

    def is_far_on(self, rid: str) -> None:
        """The row has made more than a sixth of its tokens from now on."""
        self._far_on.add(rid)

    def forget(self, rid: str) -> None:
        """The id is used again, for another request."""
        self._overdue.pop(rid, None)
        self._far_on.discard(rid)

    def waited(self, rid: str) -> float:
        """Seconds in the queue: the sooner it was overdue the more."""
        return LONG - self._overdue[rid] if rid in self._overdue else 0.0

    def left(self, rid: str, adapter: str) -> int:
        """Tokens that a row still has to make."""
        place = -1 if adapter == self.nearest else self.adapters.index(adapter)
        return (LEFT_FAR_ON if rid in self._far_on else LEFT) + place
