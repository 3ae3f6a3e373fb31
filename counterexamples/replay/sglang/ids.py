"""Adapter ids, chosen so that the release makes the model's choice where it has none of its own.

Upstream an adapter's id is random, and up to 0.5.15 the slot pool goes through a Python set of ids, whose
order follows from their hashes. The model goes through adapters in the order of its domain, one of the
possible orders. So ids are picked whose hashes put them in that order in a set of any small size, and which
sort by it as strings too (the pool's order from 0.5.16).
"""

from __future__ import annotations

from collections.abc import Sequence

BASE = "base"


def choose_ids(names: Sequence[str]) -> dict[str, str]:
    """An id for each adapter but the base model.

    A set of fewer than 20 ids has a table of 8, 16 or 32 places, and an id stands at its hash modulo that
    size; ``None``, the base model's id, has a hash of its own whose place is left free.
    """
    places = [p for p in range(8) if p != hash(None) % 8]
    found = {}
    for name, place in zip((n for n in names if n != BASE), places, strict=False):
        number = 0
        while hash(f"{name}.{number}") % 32 != place:
            number += 1
        found[name] = f"{name}.{number}"
    return found


def adapter_name(uid: str | None) -> str:
    """The model's name of an adapter id."""
    return BASE if uid is None else uid.partition(".")[0]
