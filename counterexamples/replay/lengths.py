"""Lengths of prompts and answers: the model counts half prompts and last tokens, the server counts tokens."""

from __future__ import annotations

from collections.abc import Iterable

from slotproof.counterexamples.reference.network import PROMPT
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.scheduler import PAGE


def tokens_for(units: int) -> int:
    """A budget of so many half prompts: whole prompts, and a page for half of one or less than a page."""
    if units <= 0:
        return 0
    return units // 2 * PROMPT + (PAGE if units % 2 else PAGE - 1)


class LastTokens:
    """Within it the next results of these requests are their last: by a stop word, or by length.

    ``imported``: requests whose first token comes with their keys and values in this step; the last one of
    those that end is computed behind it. ``at_once``: those of them whose first token is the last.
    """

    def __init__(
        self,
        requests: list[Request],
        ends: Iterable[str],
        by_length: Iterable[str] = (),
        imported: Iterable[str] = (),
        at_once: Iterable[str] = (),
    ) -> None:
        self.requests = [r for r in requests if r.finished is None]
        self.ends, self.by_length = frozenset(ends), frozenset(by_length)
        self.imported, self.at_once = frozenset(imported), frozenset(at_once)

    def __enter__(self) -> None:
        for r in self.requests:
            coming = 2 if r.name in self.imported else len(r.output) + 1
            if r.name in self.by_length:
                r.max_new_tokens = coming
            elif r.name in self.at_once:
                r.stop_at = 1
            elif r.name in self.ends:
                r.stop_at = coming

    def __exit__(self, *_: object) -> None:
        for r in self.requests:
            if r.finished is None and not r.has_come_to_its_end:
                r.max_new_tokens = r.stop_at = None
