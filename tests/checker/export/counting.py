"""Runs the real Spin on an exported system, and compares what it counts with the native search."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from slotproof.checker.benchmarks.spin import Counts, Verifier, missing
from slotproof.checker.explicit.engine import explore
from slotproof.checker.export.promela import promela
from slotproof.model.language import System
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program

needs_spin = pytest.mark.skipif(missing() is not None, reason=missing() or "")

Figures = tuple[int, int, int]
"""States, transitions and depth."""


def spin_counts(
    program: Program,
    choices: tuple[int, ...],
    folder: Path,
    optimize: str = "-O0",
    properties: Sequence[str] = (),
) -> Counts:
    """What Spin finds; the counts do not depend on the compiler's work, which takes most of the time."""
    return Verifier(promela(program, choices, properties), folder, optimize).run()


def initial_steps(program: Program, choices: tuple[int, ...]) -> int | None:
    """How many initial steps there are; ``None`` where the declared values are the initial state."""
    return len(Interpreter(program, choices).initial()) if program.initial else None


def both_counts(system: System, folder: Path, optimize: str = "-O0") -> tuple[Figures, Figures]:
    """Spin's figures as the engines count, and the native search's."""
    program = compile_system(system)
    choices = program.choices(system.choices)
    spin = spin_counts(program, choices, folder, optimize)
    assert spin.errors == 0
    coverage = explore(program, choices).coverage
    assert coverage.complete
    ours = (coverage.states, coverage.transitions, coverage.depth)
    return spin.corrected(initial_steps(program, choices)), ours
