"""Wrong use: one line that says what is wrong and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

from slotproof.model.near import near


class UsageProblem(Exception):
    """Ends the command with exit status 2; the message is one line."""


def one_of(kind: str, name: str, known: Iterable[str], remedy: str) -> str:
    """The name if it is known; else ``UsageProblem`` with the near ones and where all are listed."""
    known = list(known)
    if name not in known:
        raise UsageProblem(f"there is no {kind} '{name}'{near(name, known)} ({remedy})")
    return name
