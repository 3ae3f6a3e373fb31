"""Helpers: violations of scenarios, and replays of their traces on the reference."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from slotproof.checker.explicit.engine import explore
from slotproof.checker.verdict import Violated
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.counterexamples.replay.run import Replay, replay
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS


@cache
def program_of(scenario: str, name: str) -> Program:
    """A scenario of a release at its quick size, compiled."""
    return compile_system(SCENARIOS[scenario].system(release(name)))


@cache
def violations(scenario: str, name: str) -> dict[str, tuple[Trace, ...]]:
    """The shortest traces of what a release violates, by property."""
    program = program_of(scenario, name)
    found = explore(program, program.choices(release(name).names())).verdicts()
    return {
        property: tuple(replace(trace, release=name) for trace in verdict.traces)
        for property, verdict in found.items()
        if isinstance(verdict, Violated)
    }


def replayed(scenario: str, name: str, trace: Trace, device: str = "cpu") -> Replay:
    """A trace on the reference."""
    return replay(trace, program_of(scenario, name), ReferenceTarget(device), scenario)
