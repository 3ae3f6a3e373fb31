"""Native code does what the interpreter does, construct by construct."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotproof.checker.explicit.engine import reached, successors
from slotproof.model.language import ModelError
from slotproof.model.language.columns import decode, encode
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter, Outcome
from slotproof.model.language.layout import layout_of
from slotproof.model.language.program import Program
from tests.checker.explicit.constructs import everything

PROGRAM = compile_system(everything.with_parameters(items=2))
CHOICES = [(0,), (1,)]


def interpreted_layers(program: Program, choices: tuple[int, ...], depth: int) -> list[set[Outcome]]:
    """The same as ``reached``, by the interpreter and a set."""
    interpreter = Interpreter(program, choices)
    layer = {Outcome(interpreter.fresh(state), None) for _, _, state in interpreter.initial()}
    seen = set(layer)
    layers = [layer]
    while layer and len(layers) <= depth:
        following = set()
        for outcome in layer:
            if outcome.crash is None:
                for _, _, after in interpreter.successors(outcome.state):
                    following.add(Outcome(interpreter.fresh(after.state), after.crash))
        layer = following - seen
        seen |= layer
        if layer:
            layers.append(layer)
    return layers


@pytest.mark.parametrize("choices", CHOICES)
def test_every_construct_gives_the_same_states_layer_by_layer(choices: tuple[int, ...]) -> None:
    expected = interpreted_layers(PROGRAM, choices, 2)
    assert [set(layer) for layer in reached(PROGRAM, choices, depth=2)] == expected


@pytest.mark.parametrize("choices", CHOICES)
def test_every_construct_gives_the_same_steps_from_reached_states(choices: tuple[int, ...]) -> None:
    interpreter = Interpreter(PROGRAM, choices)
    outcomes = [o for layer in reached(PROGRAM, choices, depth=4) for o in layer if o.crash is None]
    taken = set()
    for outcome in random.Random(0).sample(outcomes, 100):
        native = successors(PROGRAM, choices, outcome.state)
        assert native == list(interpreter.successors(outcome.state))
        taken |= {PROGRAM.actions[number].name for number, _, _ in native}
    assert taken == {a.name for a in PROGRAM.actions}


def valuations(program: Program) -> st.SearchStrategy[tuple[int, ...]]:
    """Any codes for what steps write; sequences may hold anything behind their end."""
    places = layout_of(program).places
    cells: list[st.SearchStrategy[int]] = []
    for column, place in zip(program.columns, places, strict=True):
        for initial in column.initial:
            free = place.width and not column.output
            cells.append(st.integers(0, column.type.size - 1) if free else st.just(initial))
    return st.tuples(*cells)


def steps(call: Any) -> Any:
    """The steps that a call gives, or that one of them is a model error."""
    try:
        return list(call())
    except ModelError:
        return "model error"


@given(state=valuations(PROGRAM), choices=st.sampled_from(CHOICES))
def test_every_construct_gives_the_same_steps_from_any_state(
    state: tuple[int, ...], choices: tuple[int, ...]
) -> None:
    interpreter = Interpreter(PROGRAM, choices)
    # What lies behind a sequence's end is no part of its value: let the interpreter tidy it first.
    state = encode(PROGRAM.state, decode(PROGRAM.state, state))
    expected = steps(lambda: interpreter.successors(state))
    assert steps(lambda: successors(PROGRAM, choices, state)) == expected
