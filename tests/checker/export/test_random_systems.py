"""Random systems mean the same to Spin, model errors included."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, reject, settings

from slotproof.checker.export.errors import ExportError
from slotproof.checker.runs import names_of
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.checker.export.counting import initial_steps, needs_spin, spin_counts
from tests.model.language.interpreted import TooLarge, explored
from tests.model.language.test_model_errors import compile_file
from tests.model.language.texts import systems

pytestmark = needs_spin

MOST = 3000
"""Transitions that the interpreter takes in a second."""


def check(text: str) -> None:
    """Compare Spin with the interpreter on the system of a text."""
    note(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_system.py"
        path.write_text(text)
        whole = compile_file(path)
        # Without properties the exported model has the steps alone, and errors in those are none of it.
        system = whole.system
        program = compile_system(replace(system, properties=(), witnesses=(), final=None))
        choices = program.choices(program.system.choices)
        try:
            found = explored(program, choices, MOST)
            spin = spin_counts(program, choices, Path(folder))
        except (TooLarge, ExportError):
            reject()
        assert bool(spin.errors) == bool(found.errors)
        if not found.errors:
            ours = (found.states, found.transitions, found.depth)
            assert spin.corrected(initial_steps(program, choices)) == ours
        check_verdicts(whole, Path(folder))


def check_verdicts(program: Program, folder: Path) -> None:
    """Spin finds something wrong, of all that can be asked, where the interpreter does."""
    choices = program.choices(program.system.choices)
    found = explored(program, choices, MOST)
    wrong = [*found.violations] or names_of(program)
    try:
        spin = spin_counts(program, choices, folder, properties=wrong)
    except ExportError:
        return
    assert bool(spin.errors) == bool(found.violations or found.errors)


UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=5, suppress_health_check=UNHURRIED, print_blob=False)
@given(systems())
def test_spin_agrees_on_random_systems(text: str) -> None:
    check(text)


@pytest.mark.deep
@settings(max_examples=300, derandomize=False, deadline=None, suppress_health_check=UNHURRIED)
@given(systems())
def test_spin_agrees_on_many_random_systems(text: str) -> None:
    check(text)
