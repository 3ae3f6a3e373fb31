"""The facts that a story gives for a false property: right values, and facts that decide."""

import itertools
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import event, given, note, settings

from slotproof.checker.explicit.engine import reached, successors
from slotproof.counterexamples.evidence import Evidence, Found, cell, shown
from slotproof.model.language import ModelError, ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.language.types import IntType
from tests.model.language.interpreted import TooLarge, explored
from tests.model.language.test_model_errors import compile_file
from tests.model.language.test_random_systems import UNHURRIED
from tests.model.language.texts import systems
from tests.model.serving.runs import compiled, system_of


class Step(NamedTuple):
    """A step as a property of steps sees it."""

    before: Valuation
    action: int
    numbers: tuple[int, ...]


MOST = 300
"""Transitions of a random system."""


def cells(program: Program, state: Valuation) -> set[str]:
    """Every cell of a state in the words of a fact."""
    found = set()
    for column in program.columns:
        low = column.type.low if isinstance(column.type, IntType) else 0
        for i, at in enumerate(itertools.product(*map(range, column.dims))):
            found.add(f"{cell(column, at)} = {shown(column.type, state[column.offset + i] + low)}")
    return found


def until_false(values: list[Found]) -> list[Found]:
    """The conjuncts that Python evaluates: none after a false one."""
    false = [i for i, found in enumerate(values) if not found.value]
    return values[: false[0] + 1] if false else values


def check_facts(judged: str, said: list[tuple[list[Found], set[str]]]) -> None:
    """A value is the same in every state in which the facts hold that were given for it."""
    for (values, mine), (others, theirs) in itertools.permutations(said, 2):
        for found, other in zip(values, others, strict=False):
            if {fact for fact in found.facts if fact in mine} <= theirs:
                assert found.value == other.value, (judged, found.facts)


def check_property(
    program: Program, choices: tuple[int, ...], number: int, steps: list[tuple[Step | None, Valuation]]
) -> None:
    """The conjuncts of a property of states, or of the steps that led to these states."""
    interpreter, judged = Interpreter(program, choices), program.properties[number]
    said = []
    for step, after in steps:
        before, numbers = (None, ()) if step is None else (step.before, step.numbers)
        try:
            held = interpreter.holds(number, before, numbers, after)
        except ModelError:
            continue
        roots: dict[ir.Root, Valuation] = {"state": after}
        if before is not None:
            roots = {"before": before, "after": after}
        evidence = Evidence(program, choices, roots)
        values = until_false(evidence.conjuncts(judged, numbers if judged.parameters else ()))
        assert [bool(found.value) for found in values] == held[: len(values)]
        named = {f"{root}: " if before is not None else "": state for root, state in roots.items()}
        said.append(
            (values, {root + fact for root, state in named.items() for fact in cells(program, state)})
        )
    check_facts(judged.name, said)


def check_guards(program: Program, choices: tuple[int, ...], states: list[Valuation]) -> None:
    """The conjuncts of each action's guard, for some of its arguments."""
    interpreter = Interpreter(program, choices)
    for number, action in enumerate(program.actions):
        for numbers in itertools.islice(interpreter.all_arguments(action), 6):
            said = []
            for state in states:
                try:
                    blocked = interpreter.blocked(state, number, numbers)
                except ModelError:
                    continue
                evidence = Evidence(program, choices, {"state": state})
                local = {p.name: Found(v) for p, v in zip(action.parameters, numbers, strict=True)}
                values = []
                for conjunct in action.guard:
                    values.append(evidence.value(conjunct.condition, local))
                    if not values[-1].value:
                        assert blocked[0] == conjunct
                        break
                else:
                    assert not blocked
                said.append((values, cells(program, state)))
            check_facts(action.name, said)


@settings(max_examples=100, deadline=None, suppress_health_check=UNHURRIED, print_blob=False)
@given(systems())
def test_facts_decide_the_value_that_they_are_given_for(text: str) -> None:
    note(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_system.py"
        path.write_text(text)
        program = compile_file(path)
        choices = program.choices(program.system.choices)
        try:
            found = explored(program, choices, MOST)
        except TooLarge:
            event("too large")
            return
        states = [state for layer in found.layers for state in layer][:40]
        for number, judged in enumerate(program.properties):
            if judged.over == "state":
                check_property(program, choices, number, [(None, state) for state in states])
        check_guards(program, choices, states)


@pytest.mark.parametrize(
    ("scenario", "of"),
    [
        ("overlap-cancel", "0.5.12.post1"),
        ("finish-unload", "0.5.13.post1"),
        ("use-counts", "0.5.21"),
        ("idle-rank", "0.5.16"),
        ("decode-admission", "0.5.19"),
    ],
)
def test_facts_decide_what_is_said_of_the_server(scenario: str, of: str) -> None:
    """On states and steps of the first layers, taken evenly from all of them."""
    system = system_of(scenario, of)
    program = compiled(system)
    choices = program.choices(system.choices)
    found = [o.state for layer in reached(program, choices, depth=7) for o in layer if o.crash is None]
    states = found[:: len(found) // 40 + 1]
    steps: list[tuple[Step | None, Valuation]] = [
        (Step(state, action, numbers), outcome.state)
        for state in states
        for action, numbers, outcome in successors(program, choices, state)
    ]
    for number, judged in enumerate(program.properties):
        seen: list[tuple[Step | None, Valuation]] = [(None, state) for state in states]
        if judged.over == "step":
            seen = [x for x in steps if x[0] and (judged.actions is None or x[0].action in judged.actions)]
            seen = seen[:: len(seen) // 60 + 1]
        check_property(program, choices, number, seen)
    check_guards(program, choices, states)
