"""Every engine finds what is known of the systems of the zoo."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker.explicit.engine import Exploration, explore
from slotproof.checker.explicit.engine import layers as native_layers
from slotproof.checker.symbolic.engine import check_bounded
from slotproof.checker.symbolic.engine import layers as symbolic_layers
from slotproof.checker.verdict import Holds, Limits, Unknown, Violated
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from tests.model.language.interpreted import explored
from tests.zoo import allocator, queens
from tests.zoo.known import DEEP, LARGE, QUEENS_BY_ROW, SMALL, Known

BOUNDED_DEPTH = 12
"""A solver finds the traces of the zoo up to this length in seconds."""


def compiled(known: Known) -> tuple[Program, tuple[int, ...]]:
    program = compile_system(known.sized)
    return program, program.choices(known.system.choices)


def check_counts(known: Known, states: int, transitions: int, depth: int) -> None:
    """Compare with what is known, as far as anything is."""
    found = {"states": states, "transitions": transitions, "depth": depth}
    expected = {name: getattr(known, name) for name in found if getattr(known, name) is not None}
    assert {name: found[name] for name in expected} == expected


def check_explicit(known: Known) -> Exploration:
    """Search with the native engine, and compare counts and verdicts."""
    exploration = explore(*compiled(known))
    coverage = exploration.coverage
    assert coverage.complete
    check_counts(known, coverage.states, coverage.transitions, coverage.depth)
    for name, verdict in exploration.verdicts().items():
        if name in known.violations:
            assert isinstance(verdict, Violated), name
            assert len(verdict.trace) == known.violations[name], name
        else:
            assert isinstance(verdict, Holds), verdict
    return exploration


@pytest.mark.parametrize("known", SMALL + LARGE, ids=lambda k: k.name)
def test_native_search_has_the_known_counts_and_verdicts(known: Known) -> None:
    check_explicit(known)


@pytest.mark.deep
@pytest.mark.parametrize("known", DEEP, ids=lambda k: k.name)
def test_native_search_has_the_known_counts_of_a_million_states(known: Known) -> None:
    check_explicit(known)


@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_interpreter_has_the_known_counts_and_violations(known: Known) -> None:
    found = explored(*compiled(known))
    check_counts(known, found.states, found.transitions, found.depth)
    assert found.violations == known.violations
    assert not found.errors


@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_interpreter_native_search_and_solver_agree_on_every_layer(known: Known) -> None:
    program, choices = compiled(known)
    layers = explored(program, choices).layers
    assert [set(layer) for layer in native_layers(program, choices)] == layers
    assert symbolic_layers(program, choices, len(layers)) == layers


@pytest.mark.parametrize(
    "known",
    [k for k in SMALL + LARGE if k.violations and max(k.violations.values()) <= BOUNDED_DEPTH],
    ids=lambda k: k.name,
)
def test_bounded_search_finds_the_known_shortest_traces(known: Known) -> None:
    program, choices = compiled(known)
    depth = max(known.violations.values())
    verdicts = check_bounded(program, choices, limits=Limits(depth=depth))
    for name, verdict in verdicts.items():
        if name in known.violations:
            assert isinstance(verdict, Violated), name
            assert len(verdict.trace) == known.violations[name], name
        else:
            assert isinstance(verdict, Unknown), name
            assert verdict.coverage.depth == depth


@pytest.mark.parametrize("known", [k for k in SMALL if not k.violations], ids=lambda k: k.name)
def test_bounded_search_finds_nothing_where_nothing_is(known: Known) -> None:
    program, choices = compiled(known)
    verdicts = check_bounded(program, choices, limits=Limits(depth=8))
    assert all(isinstance(v, Unknown) for v in verdicts.values())


@pytest.mark.parametrize("known", [k for k in SMALL + LARGE if k.violations], ids=lambda k: k.name)
def test_traces_of_native_search_are_runs_of_the_interpreter(known: Known) -> None:
    program, choices = compiled(known)
    interpreter = Interpreter(program, choices)
    verdicts = explore(program, choices).verdicts()
    actions = {a.name: i for i, a in enumerate(program.actions)}
    starts = {a.name: i for i, a in enumerate(program.initial)}
    for name in known.violations:
        verdict = verdicts[name]
        assert isinstance(verdict, Violated)
        trace = verdict.trace
        first: tuple[int | None, tuple[int, ...]] = (None, ())
        if trace.start is not None:
            number = starts[trace.start.action]
            arguments = interpreter.numbers(program.initial[number], dict(trace.start.arguments))
            first = (number, arguments)
        path = []
        for step in trace.steps:
            number = actions[step.action]
            path.append((number, interpreter.numbers(program.actions[number], dict(step.arguments))))
        states, crash = interpreter.walk(first, path)
        assert tuple(states) == trace.states
        assert crash is None


def test_queens_are_placed_row_by_row_as_knuth_counts() -> None:
    program = compile_system(queens.eight_queens.with_parameters(queens=8))
    assert [len(layer) for layer in native_layers(program, ())] == QUEENS_BY_ROW


def check_by_command(file: Path, **sizes: int) -> list[dict[str, Any]]:
    """What ``slotproof check --system FILE --set … --format json`` prints."""
    settings = [f"--set={name}={value}" for name, value in sizes.items()]
    command = [sys.executable, "-m", "slotproof.checker", "check", "--system", str(file), *settings]
    result = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def check_allocator_by_command(requests: int, states: int, transitions: int, depth: int) -> None:
    lines = check_by_command(Path(allocator.__file__), requests=requests, adapters=3, slots=2)
    assert {line["property"] for line in lines} == {
        "no-adapter-twice",
        "running-is-resident",
        "active-fit",
        "deadlock",
    }
    for line in lines:
        assert (line["scenario"], line["engine"], line["verdict"]) == ("allocator", "explicit", "holds")
        assert (line["states"], line["transitions"], line["depth"]) == (states, transitions, depth)
        assert line["complete"]


def test_command_line_reports_the_allocators_counts() -> None:
    check_allocator_by_command(6, 96_508, 908_832, 26)


@pytest.mark.deep
def test_command_line_reports_the_allocators_counts_of_a_million_states() -> None:
    check_allocator_by_command(8, 1_383_250, 16_675_150, 32)
