"""A circuit in AIGER has the states of its system, and is bad where a property is violated, when it is."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, reject, settings

from slotproof.checker.export.aiger import BEGUN, MODEL_ERROR, Circuit, aiger
from slotproof.checker.export.errors import ExportError
from slotproof.checker.runs import names_of
from slotproof.model.language import (
    Annotated,
    Range,
    State,
    System,
    action,
    field,
    initial,
    invariant,
    require,
    some,
    step_invariant,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.language.surface import Property
from tests.checker.export.circuits import reached, read
from tests.checker.symbolic import gym
from tests.checker.symbolic.test_proving import ending, leaving, nowhere
from tests.checker.symbolic.test_relation import choices_of
from tests.model.language.interpreted import TooLarge, explored
from tests.model.language.test_model_errors import compile_file
from tests.model.language.texts import systems
from tests.zoo.known import SMALL, Known

MOST = 600
"""Transitions that the interpreter and a circuit take in a second."""


def circuit_of(program: Program, choices: Sequence[int]) -> Circuit:
    return aiger(program, choices, names_of(program))


def check(program: Program, choices: Sequence[int], most: int = 10**6) -> None:
    """Compare all runs of the circuit with those of the interpreter."""
    found = explored(program, choices, most)
    if not found.layers and not found.errors:
        with pytest.raises(ExportError, match="no initial state"):
            circuit_of(program, choices)
        return
    circuit = read(circuit_of(program, choices).binary())
    assert (BEGUN in circuit.latches) == bool(program.initial)
    run = reached(circuit, program)
    strayed = run.bads.pop(MODEL_ERROR, None)
    assert strayed == found.error_depth
    assert run.layers == found.layers
    assert run.bads == found.violations


@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_a_circuit_has_the_states_and_violations_of_the_zoo(known: Known) -> None:
    program = compile_system(known.sized)
    check(program, program.choices(known.system.choices))


@pytest.mark.parametrize(
    "system",
    [gym.numbers, gym.sets, gym.queues, gym.fuse, gym.stopping_fuse, gym.kitchen, gym.cleaned_kitchen],
    ids=lambda s: s.name,
)
def test_a_circuit_has_every_construct_of_the_language(system: System) -> None:
    program = compile_system(system)
    check(program, choices_of(system, program))


UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def check_text(text: str) -> None:
    """Compare on the system of a random text."""
    note(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_system.py"
        path.write_text(text)
        program = compile_file(path)
        try:
            check(program, program.choices(program.system.choices), MOST)
        except TooLarge:
            reject()


@settings(max_examples=15, suppress_health_check=UNHURRIED, print_blob=False)
@given(systems())
def test_circuits_of_random_systems(text: str) -> None:
    check_text(text)


@pytest.mark.deep
@settings(max_examples=1000, derandomize=False, deadline=None, suppress_health_check=UNHURRIED)
@given(systems())
def test_circuits_of_many_random_systems(text: str) -> None:
    check_text(text)


def test_where_no_run_begins_nothing_is_written() -> None:
    """Else whatever is asked of the circuit would hold."""
    with pytest.raises(ExportError, match="no initial state"):
        aiger(compile_system(nowhere), (), ["never-six"])


def test_a_property_that_there_is_not() -> None:
    with pytest.raises(KeyError):
        aiger(compile_system(ending), (), ["never-seven"])


@pytest.mark.parametrize("system", [ending, leaving], ids=lambda s: s.name)
def test_runs_that_end_are_asked_about_to_their_end(system: System) -> None:
    check(compile_system(system), ())


class Awkward(State):
    """Names of one's own that the circuit has uses for, and a number of more values than are listed."""

    begun: bool = field(False, "whether it has begun")
    stray: Annotated[int, Range(-20, 20)] = field(-20, "a number of many values")


@initial
def begin(s: Awkward, n: Annotated[int, Range(-20, 12)]) -> None:
    """At any number that is large enough."""
    require(n > 3)
    s.stray = n


@action
def grow(s: Awkward, by: Annotated[int, Range(1, 18)]) -> None:
    """A parameter of many values, not a power of two of them."""
    require(s.stray + by < 21 or by == 18)
    s.stray += by
    s.begun = not s.begun


@action
def jump(s: Awkward, to: Annotated[int, Range(-3, 14)]) -> None:
    """From the first number to any of eighteen, and to no other that the bits of such a number could mean."""
    require(s.stray == 4)
    s.stray = to


@invariant
def not_twelve(s: Awkward) -> bool:
    """False at once."""
    return s.stray != 12


@step_invariant(on=grow)
def small_steps(before: Awkward, after: Awkward, by: Annotated[int, Range(1, 18)]) -> bool:
    """False after one step."""
    return by < 17 or before.begun


def test_names_and_numbers_of_every_kind() -> None:
    check(
        compile_system(
            System(
                "awkward",
                Awkward,
                initial=[begin],
                actions=[grow, jump],
                properties=[not_twelve, small_steps],
            )
        ),
        (),
    )


@action
def toggle(s: Awkward) -> None:
    """There and back."""
    s.begun = not s.begun


@invariant
def nothing_is_small(s: Awkward) -> bool:
    """Leaves the model where it has not begun, after an even number of steps."""
    return some(None if not s.begun else s.stray) > -30


@step_invariant
def grows(before: Awkward, after: Awkward) -> bool:
    """Leaves the model where a step leads back to where none has begun: the second one."""
    return some(None if not after.begun else after.stray) > before.stray


@pytest.mark.parametrize("asked", [nothing_is_small, grows], ids=lambda p: p.name)
def test_a_question_that_leaves_the_model(asked: Property) -> None:
    program = compile_system(System("lost", Awkward, initial=[begin], actions=[toggle], properties=[asked]))
    assert explored(program).error_depth == (0 if asked is nothing_is_small else 2)
    check(program, ())


def test_a_property_that_is_named_twice_is_asked_once() -> None:
    circuit = aiger(compile_system(ending), (), ["deadlock", "never-six", "deadlock"])
    assert [bad.name for bad in circuit.bads] == ["deadlock", "never-six"]


@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_both_formats_hold_the_same_circuit(known: Known) -> None:
    program = compile_system(known.sized)
    circuit = circuit_of(program, program.choices(known.system.choices))
    assert read(circuit.ascii().encode()) == read(circuit.binary())
