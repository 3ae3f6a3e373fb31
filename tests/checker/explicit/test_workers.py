"""Any number of workers finds the same states in the same order, and all else with them."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from slotproof.checker.explicit import store, team
from slotproof.checker.explicit.engine import explore
from slotproof.checker.explicit.search import Search
from slotproof.checker.verdict import Limits
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.checker.explicit import small
from tests.zoo.allocator import allocator
from tests.zoo.known import LARGE, SMALL, Known


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds from the first state on, of chunks so short that all that can interrupt one does."""
    monkeypatch.setattr(team, "LEAST_STATES", 1)
    monkeypatch.setattr(team, "LEAST_CHUNK", 1)
    monkeypatch.setattr(team, "KEPT_ROWS", 1)


def answers(program: Program, choices: tuple[int, ...], workers: int, limits: Limits) -> tuple[Any, ...]:
    """All that a search says, but for the time it took."""
    found = explore(program, choices, workers=workers, limits=limits, partial=True)
    search = Search(program, choices, limits, workers)
    search.run()
    numbers = search.store.arena[: search.states * search.store.words].tobytes()
    parents = search.store.parents[: search.states].tobytes()
    return replace(found.coverage, seconds=0.0), found.violations, numbers, parents, str(found.error)


def assert_equal(program: Program, choices: tuple[int, ...], limits: Limits | None = None) -> None:
    one, *more = (answers(program, choices, n, limits or Limits()) for n in (1, 2, 3))
    for other in more:
        assert other == one


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(
    "known", [k for k in SMALL + LARGE if (k.states or 0) < 20_000], ids=lambda k: k.name
)
def test_workers_agree_on_the_zoo(known: Known) -> None:
    system = known.sized
    program = compile_system(system)
    assert_equal(program, program.choices(system.choices))


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("name", ["counter", "idle", "holder", "stuck", "stops", "vacuous"])
def test_workers_agree_on_crashes_deadlocks_and_errors(name: str) -> None:
    program = compile_system(getattr(small, name))
    assert_equal(program, ())


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("states", [1, 2, 50, 51, 52, 700, 701, 10**6])
def test_workers_stop_at_the_same_state(states: int) -> None:
    program = compile_system(allocator.with_parameters(requests=3))
    assert_equal(program, (), Limits(states=states))


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("depth", [0, 1, 7])
def test_workers_stop_at_the_same_depth(depth: int) -> None:
    program = compile_system(allocator.with_parameters(requests=3))
    assert_equal(program, (), Limits(depth=depth))


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_agree_on_a_scenario_with_violations(workers: int) -> None:
    old = release("0.5.12.post1")
    system = SCENARIOS["overlap-cancel"].system(old)
    program = compile_system(system)
    choices = program.choices(system.choices)
    one = answers(program, choices, 1, Limits())
    assert one[1], "nothing is violated, so nothing is compared"
    assert answers(program, choices, workers, Limits()) == one


def test_rounds_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    original = team.Team.round

    def counted(self: team.Team) -> None:
        taken.append(self)
        original(self)

    monkeypatch.setattr(team.Team, "round", counted)
    program = compile_system(allocator.with_parameters(requests=6))
    assert explore(program, workers=2).coverage.states == 96_508
    assert taken


@pytest.mark.parametrize("run", range(4))
def test_many_chunks_at_once_and_a_table_that_grows_beneath_them(
    run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers look up in the table while one of them stores; it is made larger while nobody does."""
    monkeypatch.setattr(team, "LEAST_STATES", 1)
    monkeypatch.setattr(team, "LEAST_CHUNK", 7 + run)
    monkeypatch.setattr(team, "CHUNK", 1e-6)
    program = compile_system(allocator.with_parameters(requests=5 + run % 2))
    one = answers(program, (), 1, Limits())
    assert answers(program, (), 4, Limits()) == one


@pytest.mark.parametrize("function", ["grow", "_settle", "ready"])
def test_an_error_in_a_worker_ends_the_search(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, and nobody waits for the worker for ever."""

    def fail(*_: object) -> None:
        raise MemoryError("no more")

    owner = {"grow": Search, "_settle": team.Team, "ready": team.Worker}[function]
    monkeypatch.setattr(team, "LEAST_STATES", 1)
    program = compile_system(allocator.with_parameters(requests=6))
    search = Search(program, (), Limits(), 3)
    monkeypatch.setattr(owner, function, fail)
    with pytest.raises(MemoryError, match="no more"):
        search.run()


def test_an_error_while_the_table_has_to_grow_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes it larger waits until nobody looks up in it, and not for whoever has failed meanwhile."""
    monkeypatch.setattr(team, "LEAST_STATES", 1)
    monkeypatch.setattr(team, "LEAST_CHUNK", 20)
    monkeypatch.setattr(store, "FIRST_TABLE_BITS", 4)
    search = Search(compile_system(allocator.with_parameters(requests=6)), (), Limits(), 3)
    together, native = search.team, search.loop
    assert together is not None

    def scan(registers: int) -> int:
        end = time.monotonic() + 0.01
        while not together._growing and time.monotonic() < end:
            time.sleep(0.0001)
        if together._growing:
            raise MemoryError("no more")
        return native.scan(registers)

    search.loop = replace(native, scan=scan)
    told: list[BaseException] = []

    def run() -> None:
        try:
            search.run()
        except MemoryError as error:
            told.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert [str(error) for error in told] == ["no more"]
