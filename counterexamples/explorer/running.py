"""On from where a person stands: the shortest way to the next violation, or to a witness.

The native search runs on the program with the present state as its initial one.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from dataclasses import replace

from slotproof.checker.explicit.engine import explore
from slotproof.checker.explicit.paths import Paths
from slotproof.checker.explicit.search import Progress, Search
from slotproof.checker.verdict import Limits
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Step
from slotproof.model.language.columns import Valuation
from slotproof.model.language.program import Program

SECONDS = 20.0
"""How long a search from here may take."""

VIOLATION = "violation"


def from_here(program: Program, state: Valuation) -> Program:
    """The program that starts in this state; outputs start as they are declared."""
    columns = tuple(
        c if c.output else replace(c, initial=tuple(state[c.offset : c.offset + c.cells]))
        for c in program.columns
    )
    here = hashlib.sha256(f"{program.digest} {state}".encode()).hexdigest()[:16]
    return replace(program, columns=columns, initial=(), digest=here)


def next_steps(
    program: Program, choices: tuple[int, ...], state: Valuation, target: str, seconds: float = SECONDS
) -> tuple[Step, ...]:
    """The steps to the nearest violation (``violation``, or a property by name) or to a witness by name.

    ``TraceError`` where there is none, or none was found in time.
    """
    here = from_here(program, state)
    witnesses = [w.name for w in program.witnesses]
    if target in witnesses:
        return _to_witness(here, choices, witnesses.index(target), seconds)
    return _to_violation(here, choices, target, seconds)


def _to_violation(
    program: Program, choices: tuple[int, ...], target: str, seconds: float
) -> tuple[Step, ...]:
    """Deeper and deeper, so that a near violation is found at once in a large graph."""
    ends = time.monotonic() + seconds
    depth = 4
    while True:
        left = max(ends - time.monotonic(), 0.1)
        found = explore(program, choices, limits=Limits(depth=depth, seconds=left))
        wanted = [v.trace for v in found.violations if target in (VIOLATION, v.property) and len(v.trace)]
        if wanted:
            return min(wanted, key=len).steps
        if found.coverage.complete:
            what = "no violation" if target == VIOLATION else f"no violation of {target}"
            raise TraceError(f"{what} can be reached from here ({found.coverage.states} states searched)")
        if time.monotonic() >= ends:
            raise TraceError(
                f"none found in {seconds:g} seconds: {found.coverage.states} states, to depth"
                f" {found.coverage.depth}; go on by hand, or run slotproof check"
            )
        depth *= 2


class _Met(Exception):
    """The witness has been met."""


def _to_witness(program: Program, choices: tuple[int, ...], number: int, seconds: float) -> tuple[Step, ...]:
    search = Search(program, choices, Limits(seconds=seconds))
    slot = search.native.slots.witness(number)
    name = program.witnesses[number].name

    def look(now: Progress) -> None:
        if search.context[slot]:
            raise _Met

    stopped = None
    with contextlib.suppress(_Met):
        stopped = search.run(look)
    if not search.context[slot]:
        how = f"not found: {stopped}" if stopped else "cannot be reached from here"
        raise TraceError(f"{name}: {how} ({search.states} states searched)")
    trace = Paths(search).trace(name, name, int(search.context[slot + 1]))
    if not trace.steps:
        raise TraceError(f"{name} is here already")
    return trace.steps
