"""What lemmas prove of random systems is true of all states and has a certificate, with patience or none."""

import tempfile
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from unittest.mock import patch

import pytest
from hypothesis import event, given, note, settings

from slotproof.checker.symbolic import certificate, needed, through
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import of_relation
from slotproof.checker.symbolic.solving import Budget
from slotproof.checker.symbolic.strengthening import strengthen
from slotproof.model.language import on_the_way
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.model.language.interpreted import TooLarge, explored
from tests.model.language.test_model_errors import compile_file
from tests.model.language.test_random_systems import MOST, UNHURRIED
from tests.model.language.texts import systems

no_limit = Budget(None, None)


def check(text: str, patience: int) -> None:
    """Compare what is proven with the states that the interpreter finds."""
    note(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_system.py"
        path.write_text(text)
        program = hoping(compile_file(path))
        choices = program.choices(program.system.choices)
        try:
            found = explored(program, choices, MOST)
        except TooLarge:
            event("too large")
            return
        if found.errors:
            event("model error")
            return
        lemmas = [p.name for p in program.properties if p.over == "state"]
        made = relation(program, choices)
        with (
            patch.object(through, "FEW", patience),
            patch.object(needed, "DIRECTLY", patience),
        ):
            for name in program.safety:
                question = of_relation(made, [name])
                for invariant in (
                    needed.show(question, lemmas, no_limit),
                    strengthen(question, lemmas, no_limit).invariant,
                ):
                    event(f"proven: {invariant is not None}, hints: {bool(invariant and invariant.hints)}")
                    if invariant is not None:
                        assert name not in found.violations
                        text = certificate.written(program, choices, (invariant,), {})
                        assert list(recheck(text, program, choices, no_limit))


def hoping(program: Program) -> Program:
    """The program whose invariants are hoped for on the way as well."""
    system = program.system
    hoped = []
    for declared in system.properties:
        if declared.over == "state":
            function = declared.function
            assert isinstance(function, FunctionType)
            named = FunctionType(function.__code__, function.__globals__, f"hoped_{function.__name__}")
            named.__annotations__ = function.__annotations__
            named.__doc__ = function.__doc__
            hoped.append(on_the_way(named))
    return compile_system(replace(system, on_the_way=hoped))


@settings(max_examples=30, suppress_health_check=UNHURRIED, print_blob=False, deadline=None)
@given(text=systems())
def test_proofs_of_random_systems_are_true(text: str) -> None:
    check(text, 0)


@pytest.mark.deep
@pytest.mark.parametrize("patience", [0, 5])
@settings(max_examples=1500, derandomize=False, deadline=None, suppress_health_check=UNHURRIED)
@given(text=systems())
def test_proofs_of_many_random_systems_are_true(text: str, patience: int) -> None:
    check(text, patience)
