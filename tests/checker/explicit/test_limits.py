"""A limit or a signal ends in an incomplete coverage that says why, never in an exception."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from slotproof.checker.explicit.engine import Exploration, Progress, explore
from slotproof.checker.verdict import Limits, Unknown
from slotproof.model.language.compile import compile_system
from tests.checker.explicit import small

PROGRAM = compile_system(small.switches)
ROOT = Path(__file__).parents[3]


def explored(limits: Limits) -> Exploration:
    exploration = explore(PROGRAM, limits=limits)
    assert not exploration.coverage.complete
    verdict = exploration.verdicts()["deadlock"]
    assert isinstance(verdict, Unknown)
    assert verdict.reason == exploration.coverage.stopped
    return exploration


def test_a_limit_of_states_is_exact() -> None:
    coverage = explored(Limits(states=1000)).coverage
    assert (coverage.states, coverage.stopped) == (1000, "limit of 1000 states reached")


def test_a_limit_of_states_that_is_just_met_is_no_limit() -> None:
    program = compile_system(small.switches.with_parameters(bits=4))
    assert explore(program, limits=Limits(states=16)).coverage.complete
    assert not explore(program, limits=Limits(states=15)).coverage.complete


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_limit_of_depth_covers_all_states_up_to_it(depth: int) -> None:
    coverage = explored(Limits(depth=depth)).coverage
    assert coverage.states == sum(len(list(choose(24, k))) for k in range(depth + 1))
    assert (coverage.depth, coverage.stopped) == (depth, f"limit of depth {depth} reached")


def choose(n: int, k: int) -> list[tuple[int, ...]]:
    from itertools import combinations

    return list(combinations(range(n), k))


def test_a_limit_of_depth_that_is_not_met_is_no_limit() -> None:
    program = compile_system(small.switches.with_parameters(bits=4))
    assert explore(program, limits=Limits(depth=5)).coverage.complete
    assert explore(program, limits=Limits(depth=10**30, states=10**30)).coverage.complete


def test_a_limit_of_time_ends_the_search() -> None:
    coverage = explored(Limits(seconds=0)).coverage
    assert coverage.stopped == "limit of 0 seconds reached"


def test_a_limit_of_memory_ends_the_search_near_it() -> None:
    coverage = explored(Limits(memory=8 << 20)).coverage
    assert coverage.stopped == "limit of 8 MiB of memory reached"
    # A state takes 8 bytes, 4 for its parent, and a table that could not be doubled any more.
    assert coverage.states > (8 << 20) / 40


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    explore(PROGRAM, limits=Limits(states=1_000_000), progress=seen.append)
    assert seen
    assert all(0 < p.states <= 1_000_000 and 0 <= p.queue <= p.states and p.seconds > 0 for p in seen)
    assert [p.states for p in seen] == sorted(p.states for p in seen)


def test_a_search_outside_the_main_thread_works() -> None:
    found: list[int] = []
    program = compile_system(small.switches.with_parameters(bits=6))
    thread = threading.Thread(target=lambda: found.append(explore(program).coverage.states))
    thread.start()
    thread.join()
    assert found == [64]


INTERRUPTED = """
import os, signal, sys
from slotproof.checker.explicit.engine import explore
from slotproof.model.language.compile import compile_system
from tests.checker.explicit import small

sent = []

def once(progress):
    if not sent:
        sent.append(True)
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))

coverage = explore(compile_system(small.switches.with_parameters(bits=40)), progress=once).coverage
print(coverage.stopped, coverage.states > 0, coverage.complete)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_search_with_what_was_covered(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"interrupted by {name} True False", "True"]
    assert done.returncode == 0


def test_handlers_of_signals_are_as_before() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    explore(PROGRAM, limits=Limits(states=10))
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
