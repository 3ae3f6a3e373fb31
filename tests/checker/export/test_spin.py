"""Spin counts the states, transitions and depth of every exported system as the native search does."""

from pathlib import Path

import pytest

from slotproof.model.releases import RELEASES, release
from slotproof.properties import SCENARIOS
from tests.checker.export.counting import both_counts, needs_spin
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
