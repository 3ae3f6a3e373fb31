"""Runs a generated model in a peer that is a Python library; the program of a process of its own.

    python library.py PEER MODEL

It needs the peer and nothing of this project, so that it can be run by another interpreter where the peer
needs one. What it prints is JSON: ``states``, ``seconds`` of wall time and ``cpu`` seconds of the search
alone, ``peak`` in bytes of the process.
"""

from __future__ import annotations

import json
import resource
import runpy
import sys
import time
from collections.abc import Callable
from typing import Any

Model = dict[str, Any]
MOST = 1 << 40
"""More states than any search meets: neither library is to stop early."""


def musil(model: Model) -> Callable[[], int]:
    """A search by musil: ``check`` of a ``Model`` of guarded actions."""
    from musil.core import Action, check
    from musil.core import Model as Musil

    actions = [Action(name, guard, effect) for name, guard, effect in model["ACTIONS"]]
    system = Musil(init=[model["INITIAL"]], actions=actions, invariants=model["INVARIANTS"])

    def search() -> int:
        result = check(system, max_states=MOST)
        if not result.ok or result.truncated:
            raise SystemExit(f"musil: {result}")
        return int(result.states_explored)

    return search


def minicheck(model: Model) -> Callable[[], int]:
    """A search by minicheck: ``check_safety`` of a ``Protocol`` with one function of all transitions."""
    from minicheck import Protocol, check_safety

    steps = model["ACTIONS"]

    def over_fields(invariant: Callable[[Any], Any]) -> Callable[[dict[str, int]], bool]:
        return lambda fields: bool(invariant(tuple(fields.values())))

    protocol = Protocol(
        name="generated",
        candidate=False,
        fields=tuple(f"c{i}" for i in range(len(model["INITIAL"]))),
        initial=model["INITIAL"],
        transitions=lambda s: [(name, effect(s)) for name, guard, effect in steps if guard(s)],
        invariants={name: over_fields(p) for name, p in model["INVARIANTS"].items()},
    )

    def search() -> int:
        result = check_safety(protocol, max_states=MOST)
        if not result["exhaustive"] or not all(p["holds"] for p in result["properties"].values()):
            raise SystemExit(f"minicheck: {result}")
        return int(result["reachable_states"])

    return search


def main(peer: str, path: str) -> None:
    """Search once."""
    search = {"musil": musil, "minicheck": minicheck}[peer](runpy.run_path(path))
    start, cpu = time.perf_counter(), time.process_time()
    states = search()
    found = {
        "states": states,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
