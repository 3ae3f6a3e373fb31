"""A run's event log in the trace format, so that it is read, told and compared like any trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from slotproof.counterexamples.itf import write
from slotproof.counterexamples.replay.run import Replay
from slotproof.counterexamples.replay.states import Flat
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.program import Program


def as_trace(replayed: Replay, trace: Trace, program: Program, engine: str = "reference") -> Trace:
    """The run as a trace: its steps, with the states that the target showed after them.

    Variables that it does not show have their initial values. A run that ended early gives a trace that
    ends there; a step that died ends in the state that was seen last.
    """
    flat = Flat(program)
    states = [flat.valuation(seen, program.start) for seen in replayed.log]
    if replayed.died is not None:
        states.append(states[-1])
    steps = trace.steps[: len(states) - 1]
    crash = replayed.died.cause if replayed.died is not None else None
    return replace(trace, engine=engine, steps=steps, states=tuple(states), crash=crash)


def write_log(replayed: Replay, trace: Trace, program: Program, path: Path, scenario: str) -> None:
    """Write the log of a run to a file."""
    write(as_trace(replayed, trace, program), program, path, scenario)
