"""Which known name somebody may have meant, for the messages of the whole project."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 15
"""How many names a message lists."""


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


def near_or_all(name: str, known: Iterable[str], these: str = "there are") -> str:
    """``; did you mean …?``, or which names ``these`` are: ``; there are: …``, ``; it has: …``."""
    known = list(known)
    listed = [*known[:MOST], "…"] if len(known) > MOST else known
    return near(name, known) or f"; {these}: {', '.join(listed) or 'none'}"
