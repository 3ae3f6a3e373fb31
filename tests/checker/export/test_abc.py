"""ABC, a model checker of hardware that knows nothing of this project, agrees with its verdicts."""

from pathlib import Path
from typing import Any

import pytest

from slotproof.checker.explicit.engine import explore
from slotproof.checker.export.aiger import MODEL_ERROR, aiger
from slotproof.checker.runs import names_of
from slotproof.checker.verdict import Violated
from slotproof.model.language import System
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.checker.export.abc import needs_abc, proves, shortest, violated
from tests.checker.symbolic import gym
from tests.checker.symbolic.test_proving import ending, leaving
from tests.checker.symbolic.test_relation import choices_of
from tests.model.language.interpreted import explored
from tests.zoo import coffee_can
from tests.zoo.known import LARGE, SMALL, Known

pytestmark = needs_abc

# Of a hundred beans the 5,151 initial states alone are seconds of gates.
CAN = "coffee-can[beans=100]"
FEW_BEANS = Known(coffee_can.coffee_can, {"beans": 10})
SLOW = ["readers-writers", "networked-allocator", "dining-philosophers[philosophers=10]"]
QUICK = [FEW_BEANS, *(known for known in SMALL + LARGE if known.name not in (CAN, *SLOW))]
REST = [known for known in LARGE if known.name in SLOW]

DEEPEST = 12
"""Bounded search finds ways of so many steps in seconds."""


def check(known: Known, folder: Path) -> None:
    """PDR's verdict on every property is the known one; bounded search goes as deep as a shortest trace."""
    program = compile_system(known.sized)
    choices = program.choices(known.system.choices)
    names = names_of(program)
    found = violated(aiger(program, choices, names).binary(), folder)
    assert {names[i] for i in found if i < len(names)} == set(known.violations)
    assert len(found) == len(known.violations)  # no run leaves the model
    for name, steps in known.violations.items():
        if steps <= DEEPEST:
            assert shortest(aiger(program, choices, [name]).binary(), folder) == steps + bool(program.initial)


@pytest.mark.parametrize("known", QUICK, ids=lambda k: k.name)
def test_abc_agrees_on_the_zoo(known: Known, tmp_path: Path) -> None:
    check(known, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("known", REST, ids=lambda k: k.name)
def test_abc_agrees_on_large_systems_of_the_zoo(known: Known, tmp_path: Path) -> None:
    check(known, tmp_path)


# What has no successors


@pytest.mark.parametrize("system", [ending, gym.fuse, gym.stopping_fuse], ids=lambda s: s.name)
def test_a_state_without_successors_is_not_overlooked(system: System, tmp_path: Path) -> None:
    """A deadlock, a crash, a state in which a run may stop: ABC finds what is violated there and in time."""
    program = compile_system(system)
    choices = choices_of(system, program)
    known = explored(program, choices).violations
    assert known
    names = names_of(program)
    found = violated(aiger(program, choices, names).binary(), tmp_path)
    assert {names[i] for i in found} == set(known)
    for name, steps in known.items():
        assert shortest(aiger(program, choices, [name]).binary(), tmp_path) == steps + bool(program.initial)


def test_a_run_that_leaves_the_model_proves_nothing(tmp_path: Path) -> None:
    program = compile_system(leaving)
    circuit = aiger(program, (), ["never-three"])
    assert [bad.name for bad in circuit.bads] == ["never-three", MODEL_ERROR]
    assert violated(circuit.binary(), tmp_path) == {1}
    assert not proves(circuit.binary(), tmp_path)
    assert shortest(circuit.binary(), tmp_path) == 4


# The server

TWO = {"requests": 2, "names": {"r1": ["A"], "r2": ["B"]}}

PULL_REQUESTS = {
    "overlap-cancel": ("no-slot-leak", "0.5.12.post1", "0.5.13"),
    "finish-unload": ("no-crash-fit-test-unknown-adapter", "0.5.13.post1", "0.5.14"),
    "idle-rank": ("fresh-batch-info", "0.5.16", "0.5.17"),
    "decode-admission": ("slot-capacity", "0.5.19", "0.5.20"),
}
SMALL_SIZES: dict[str, dict[str, Any]] = {
    "overlap-cancel": {**TWO, "slots": 1, "adapters": 3, "unloadable": []},
    "finish-unload": TWO,
    "idle-rank": {"slots": 1, "adapters": 2, "names": {"r1": ["A"], "r2": ["base"]}},
    "decode-admission": {**TWO, "unloadable": []},
}


def check_pull_request(scenario: str, folder: Path, **sizes: Any) -> None:
    """Violated without the change, after as many steps as in the search; proven at any depth with it."""
    name, before, after = PULL_REQUESTS[scenario]
    program, choices = compiled(SCENARIOS[scenario].system(release(before)).with_parameters(**sizes))
    verdict = explore(program, choices, asked=[name]).verdicts()[name]
    assert isinstance(verdict, Violated)
    circuit = aiger(program, choices, [name]).binary()
    assert shortest(circuit, folder) == len(verdict.trace) + bool(program.initial)
    program, choices = compiled(SCENARIOS[scenario].system(release(after)).with_parameters(**sizes))
    assert proves(aiger(program, choices, [name]).binary(), folder)


def compiled(system: System) -> tuple[Program, tuple[int, ...]]:
    program = compile_system(system)
    return program, program.choices({p.name: system.choices[p.name] for p in program.decisions})


@pytest.mark.parametrize("scenario", PULL_REQUESTS)
def test_abc_agrees_on_the_pull_requests_at_small_sizes(scenario: str, tmp_path: Path) -> None:
    check_pull_request(scenario, tmp_path, **SMALL_SIZES[scenario])


@pytest.mark.deep
@pytest.mark.parametrize("scenario", ["finish-unload", "idle-rank", "decode-admission"])
def test_abc_agrees_on_the_pull_requests_at_quick_sizes(scenario: str, tmp_path: Path) -> None:
    check_pull_request(scenario, tmp_path)
