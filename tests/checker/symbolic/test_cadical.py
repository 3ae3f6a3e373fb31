"""CaDiCaL is ended by what ends a search, and answers within the conflicts that it is given."""

from __future__ import annotations

import os
import signal
import subprocess
from itertools import combinations

import pytest

from slotproof.checker.symbolic.cadical import Cadical, has_cadical
from slotproof.checker.symbolic.solving import Budget, Stopped, until_interrupted

pytestmark = pytest.mark.skipif(not has_cadical(), reason="needs slotproof[prove]")


def pigeons(count: int, budget: Budget) -> Cadical:
    """A pigeon more than there are holes, each in a hole of its own: hard to refute (Haken 1985)."""
    solver = Cadical(budget)
    for pigeon in range(count + 1):
        solver.add(*(pigeon * count + hole + 1 for hole in range(count)))
    for hole in range(count):
        for one, other in combinations(range(count + 1), 2):
            solver.add(-(one * count + hole + 1), -(other * count + hole + 1))
    return solver


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_question(number: signal.Signals) -> None:
    """In the main thread, where python-sat would take an interrupt for itself and jump out of the solver."""
    budget = Budget(None, None)
    solver = pigeons(16, budget)
    # From another process: a thread of this one would wait for the solver before it sends anything.
    kill = ["sh", "-c", f"sleep 0.3; kill -{number.value} {os.getpid()}"]
    told = pytest.raises(Stopped, match=f"interrupted by {number.name}")
    with until_interrupted(budget), subprocess.Popen(kill), told:
        solver.possible([])
    with pytest.raises(Stopped):
        solver.possible([1])


def test_a_limit_of_time_ends_a_question() -> None:
    with pytest.raises(Stopped, match="time limit"):
        pigeons(16, Budget(0.3, None)).possible([])


def test_so_many_conflicts_and_no_more() -> None:
    budget = Budget(None, None)
    assert pigeons(16, budget).possible([], conflicts=100) is None
    assert pigeons(4, budget).possible([], conflicts=10_000) is False


def test_an_example_and_what_excludes_one_another() -> None:
    solver = Cadical(Budget(None, None))
    solver.add(-1, 2)
    solver.add(3, -4)
    assert solver.possible([1, -3])
    assert {1, 2} <= solver.true()
    assert solver.possible([1, -2, 4]) is False
    assert solver.excluding() == [1, -2]
