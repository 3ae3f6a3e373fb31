"""Wrong use: one line that says what is wrong and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UsageProblem(Exception):
    """Ends the command with exit status 2; the message is one line."""


def near(name: str, known: Iterable[str]) -> str:
    """``; did you mean …?``, or nothing where no known name is near."""
    known = list(known)
    found = [k for k in known if name and k.startswith(name)][:3]
    if not found:
        found = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        best = max((_likeness(name, k) for k in found), default=0.0)
        found = [k for k in found if _likeness(name, k) > best - 0.1]
    return f"; did you mean {' or '.join(found)}?" if found else ""


def _likeness(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, b, a).ratio()


def near_or_all(name: str, known: Iterable[str]) -> str:
    """``did you mean …?``, or which names there are."""
    known = list(known)
    return near(name, known).removeprefix("; ") or f"there are: {', '.join(known) or 'none'}"


def one_of(kind: str, name: str, known: Iterable[str], remedy: str) -> str:
    """The name if it is known; else ``UsageProblem`` with the near ones and where all are listed."""
    known = list(known)
    if name not in known:
        raise UsageProblem(f"there is no {kind} '{name}'{near(name, known)} ({remedy})")
    return name
