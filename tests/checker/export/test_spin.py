"""Spin counts the states, transitions and depth of every exported system as the native search does."""

from collections.abc import Collection
from pathlib import Path

import pytest

from slotproof.checker.explicit.engine import explore
from slotproof.checker.export.promela import promela
from slotproof.checker.runs import names_of
from slotproof.checker.verdict import Violated
from slotproof.model.language import System
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.releases import RELEASES, release
from slotproof.properties import SCENARIOS
from tests.checker.export.counting import both_counts, initial_steps, needs_spin, spin_counts
from tests.checker.symbolic import gym
from tests.checker.symbolic.test_proving import ending
from tests.checker.symbolic.test_relation import choices_of
from tests.zoo.known import DEEP, LARGE, SMALL, Known

pytestmark = needs_spin

# A hundred beans are 5,151 initial steps, which Spin takes two minutes to compile.
SLOW = [known for known in LARGE if known.name == "coffee-can[beans=100]"]
# Translating and compiling takes longer than searching: the default run takes every fourth small system.
QUICK = SMALL[::4]
REST = [known for known in SMALL + LARGE if known not in SLOW + QUICK]
SOME_RELEASES = [list(RELEASES)[i] for i in (0, len(RELEASES) // 2, -1)]


@pytest.mark.parametrize("known", QUICK, ids=lambda k: k.name)
def test_spin_agrees_on_the_zoo(known: Known, tmp_path: Path) -> None:
    spin, ours = both_counts(known.sized, tmp_path)
    assert spin == ours


def test_spin_agrees_on_a_can_of_few_beans(tmp_path: Path) -> None:
    spin, ours = both_counts(SLOW[0].system.with_parameters(beans=10), tmp_path)
    assert spin == ours


def check_verdicts(
    program: Program, choices: tuple[int, ...], violated: Collection[str], folder: Path
) -> None:
    """Spin finds nothing wrong with what holds, counts as before, and finds each that does not hold wrong."""
    names = names_of(program)
    holding = spin_counts(program, choices, folder, properties=[n for n in names if n not in violated])
    assert holding.errors == 0
    coverage = explore(program, choices).coverage
    counts = holding.corrected(initial_steps(program, choices))
    assert counts == (coverage.states, coverage.transitions, coverage.depth)
    for name in violated:
        assert spin_counts(program, choices, folder, properties=[name]).errors == 1


@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_spin_agrees_with_every_verdict_on_the_zoo(known: Known, tmp_path: Path) -> None:
    program = compile_system(known.sized)
    check_verdicts(program, program.choices(known.system.choices), known.violations, tmp_path)


BOXES = pytest.param(gym.boxes, marks=pytest.mark.deep)
"""It has tens of thousands of states, and outputs that a step is judged by."""


@pytest.mark.parametrize("system", [ending, gym.fuse, gym.stopping_fuse, BOXES], ids=lambda s: s.name)
def test_spin_agrees_on_crashes_deadlocks_and_steps(system: System, tmp_path: Path) -> None:
    program = compile_system(system)
    choices = choices_of(system, program)
    found = {n for n, v in explore(program, choices).verdicts().items() if isinstance(v, Violated)}
    assert found
    check_verdicts(program, choices, found, tmp_path)


def test_a_property_that_there_is_not() -> None:
    with pytest.raises(KeyError):
        promela(compile_system(ending), (), ["never-seven"])


FEW_BEANS = Known(SLOW[0].system, {"beans": 10})


@pytest.mark.deep
@pytest.mark.parametrize("known", [FEW_BEANS, *(k for k in LARGE if k not in SLOW)], ids=lambda k: k.name)
def test_spin_agrees_with_every_verdict_on_large_systems_of_the_zoo(known: Known, tmp_path: Path) -> None:
    program = compile_system(known.sized)
    check_verdicts(program, program.choices(known.system.choices), known.violations, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("known", REST + SLOW + DEEP, ids=lambda k: k.name)
def test_spin_agrees_on_large_systems_of_the_zoo(known: Known, tmp_path: Path) -> None:
    optimize = "-O0" if known in SLOW else "-O2"
    spin, ours = both_counts(known.sized, tmp_path, optimize)
    assert spin == ours


@pytest.mark.deep
def test_spin_agrees_on_a_scenario(tmp_path: Path) -> None:
    spin, ours = both_counts(SCENARIOS["idle-rank"].system(release("0.5.16")), tmp_path)
    assert spin == ours


@pytest.mark.deep
@pytest.mark.parametrize("name", SOME_RELEASES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_spin_agrees_on_every_scenario(scenario: str, name: str, tmp_path: Path) -> None:
    spin, ours = both_counts(SCENARIOS[scenario].system(release(name)), tmp_path)
    assert spin == ours
