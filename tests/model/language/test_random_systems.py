"""Random systems mean the same to the interpreter, to native code and to the solver."""

import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, event, given, note, settings

from slotproof.checker.explicit import team
from slotproof.checker.explicit.engine import explore
from slotproof.checker.explicit.engine import layers as native_layers
from slotproof.checker.explicit.search import Search
from slotproof.checker.explicit.symmetry import orbit_sizes
from slotproof.checker.symbolic.engine import check_bounded
from slotproof.checker.symbolic.engine import layers as symbolic_layers
from slotproof.checker.verdict import Limits, Violated
from slotproof.model.language import Alike, LanguageError, ModelError
from slotproof.model.language.program import Program
from slotproof.model.language.symmetry import group
from slotproof.model.language.types import IndexType
from tests.model.language.interpreted import Found, TooLarge, explored
from tests.model.language.test_model_errors import compile_file
from tests.model.language.texts import systems

MOST = 600
"""Transitions that the interpreter and the solver take in a second."""


def check(text: str) -> None:
    """Compare the engines on a random text."""
    note(text)
    found = compare(text)
    event("too large" if found is None else f"states: {min(found.states // 5 * 5, 50)}")
    if found is not None:
        event("model error" if found.errors else "violation" if found.violations else "holds")


def compare(text: str) -> Found | None:
    """Demand that all engines agree on the system of a text; ``None`` if it is too large."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_system.py"
        path.write_text(text)
        program = compile_file(path)
        choices = program.choices(program.system.choices)
        try:
            found = explored(program, choices, MOST)
        except TooLarge:
            return None
        compare_native(program, choices, found)
        compare_slices(program, choices, found)
        compare_orbits(program, choices, found)
        compare_layers(program, choices, found)
        compare_bounded(program, choices, found)
        return found


def compare_native(program: Program, choices: tuple[int, ...], found: Found) -> None:
    if found.errors:
        with pytest.raises(ModelError) as error:
            explore(program, choices)
        assert str(error.value) in found.errors
        return
    exploration = explore(program, choices)
    coverage = exploration.coverage
    assert coverage.complete
    counts = (coverage.states, coverage.transitions, coverage.depth)
    assert counts == (found.states, found.transitions, found.depth)
    with patch.object(team, "LEAST_STATES", 1):
        shared = explore(program, choices, workers=2)
    assert replace(shared.coverage, seconds=coverage.seconds) == coverage
    assert shared.violations == exploration.violations
    violated = {n: len(v.trace) for n, v in exploration.verdicts().items() if isinstance(v, Violated)}
    assert violated == found.violations
    assert [set(layer) for layer in native_layers(program, choices) if layer] == found.layers


def compare_slices(program: Program, choices: tuple[int, ...], found: Found) -> None:
    """What is asked for alone has the verdict that it has among all."""
    if found.errors:
        return
    verdicts = explore(program, choices).verdicts()
    for name in {next(iter(verdicts)), next(reversed(verdicts))}:  # compiling all takes too long
        verdict = verdicts[name]
        sliced = explore(program, choices, asked=[name])
        (only,) = sliced.verdicts().values()
        assert type(only) is type(verdict)
        if isinstance(verdict, Violated) and isinstance(only, Violated):
            assert [len(t) for t in only.traces] == [len(t) for t in verdict.traces]


def compare_orbits(program: Program, choices: tuple[int, ...], found: Found) -> None:
    """Where the elements of a domain are found to be alike, their orbits have all states as members."""
    if found.errors:
        return
    keys = {k.cls for c in program.columns for k in c.keys if isinstance(k, IndexType)}
    for domain in keys:
        system = replace(program.system, interchangeable=[Alike(domain)])
        declared = replace(program, system=system)
        try:
            exploration = explore(declared, choices, symmetric=True)
        except LanguageError:
            continue  # they differ
        violated = {n: len(v.trace) for n, v in exploration.verdicts().items() if isinstance(v, Violated)}
        assert violated == found.violations
        search = Search(declared, choices, Limits(), symmetric=True)
        search.run()
        assert sum(orbit_sizes(declared, search, group(declared))) == found.states


def compare_layers(program: Program, choices: tuple[int, ...], found: Found) -> None:
    outputs = [c.offset + i for c in program.columns if c.output for i in range(c.cells)]
    layers = [{without(state, outputs) for state in layer} for layer in found.layers]
    assert [layer for layer in symbolic_layers(program, choices, len(layers)) if layer] == layers


def without(state: tuple[int, ...], cells: list[int]) -> tuple[int, ...]:
    return tuple(code for i, code in enumerate(state) if i not in cells)


def compare_bounded(program: Program, choices: tuple[int, ...], found: Found) -> None:
    stopped: str | None = None
    try:
        verdicts = check_bounded(program, choices, limits=Limits(depth=found.depth + 1))
    except ModelError as error:
        stopped = str(error)
    if stopped is not None:
        assert stopped in found.errors
        return
    violated = {n: len(v.trace) for n, v in verdicts.items() if isinstance(v, Violated)}
    assert violated == found.violations
    if found.error_depth is not None:  # the search ends before it when nothing is left to find
        assert set(violated) == set(verdicts)
        assert max(violated.values()) < found.error_depth


UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=30, suppress_health_check=UNHURRIED, print_blob=False)
@given(systems())
def test_engines_agree_on_random_systems(text: str) -> None:
    check(text)


@pytest.mark.deep
@settings(max_examples=3000, derandomize=False, deadline=None, suppress_health_check=UNHURRIED)
@given(systems())
def test_engines_agree_on_many_random_systems(text: str) -> None:
    check(text)
