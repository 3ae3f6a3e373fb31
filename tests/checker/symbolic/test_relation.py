"""The relation leads where the interpreter leads, for every construct of the language."""

from collections.abc import Sequence

import pytest

from slotproof.checker.symbolic.booleans import Variable
from slotproof.checker.symbolic.engine import layers, relation
from slotproof.checker.symbolic.relation import Encoding
from slotproof.model.language import System
from slotproof.model.language.columns import Valuation
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from tests.checker.symbolic import gym

SYSTEMS = [gym.numbers, gym.sets, gym.boxes, gym.queues, gym.fuse, gym.kitchen, gym.given]


def stored(program: Program, state: Valuation) -> Valuation:
    return tuple(x for c in program.columns if not c.output for x in state[c.offset : c.offset + c.cells])


def interpreted(program: Program, choices: Sequence[int], depth: int) -> list[set[Valuation]]:
    interpreter = Interpreter(program, choices)
    layer = {stored(program, s): s for _, _, s in interpreter.initial()}
    seen = set(layer)
    found = [set(layer)]
    while len(found) <= depth and layer:
        following = {}
        for state in layer.values():
            for _, _, outcome in interpreter.successors(state):
                key = stored(program, outcome.state)
                if outcome.crash is None and key not in seen:
                    following[key] = outcome.state
        seen |= set(following)
        layer = following
        if layer:
            found.append(set(layer))
    return found


def choices_of(system: System, program: Program) -> tuple[int, ...]:
    return program.choices({p.name: system.choices.get(p.name, p.alternatives[0]) for p in program.decisions})


@pytest.mark.parametrize("encoding", ["one-hot", "binary"])
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_layers_are_those_of_the_interpreter(system: System, encoding: Encoding) -> None:
    program = compile_system(system)
    choices = choices_of(system, program)
    depth = 2 if system is gym.boxes else 4
    assert layers(program, choices, depth, encoding) == interpreted(program, choices, depth)


def test_another_alternative_gives_other_states() -> None:
    program = compile_system(gym.boxes)
    red, linked = program.choices({"wanted": "wants_red"}), program.choices({"wanted": "wants_linked"})
    found = layers(program, linked, 2)
    assert found == interpreted(program, linked, 2)
    assert found != interpreted(program, red, 2)


@pytest.mark.parametrize("encoding", ["one-hot", "binary"])
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_each_variable_has_a_name_of_its_own(system: System, encoding: Encoding) -> None:
    """What two variables have in common in Z3 and in certificates is their name."""
    program = compile_system(system)
    booleans = relation(program, choices_of(system, program), encoding).booleans
    nodes = [booleans.node(2 * place) for place in range(len(booleans))]
    names = [node.name for node in nodes if isinstance(node, Variable)]
    assert len(names) == len(set(names))


def test_outputs_have_no_variables_before_a_step() -> None:
    made = relation(compile_system(gym.boxes), (0,))
    for cell, is_stored in zip(made.state, made.stored, strict=True):
        assert bool(cell.variables) == is_stored


def test_a_large_range_is_binary_in_any_encoding() -> None:
    made = relation(compile_system(gym.numbers), (), "one-hot")
    assert [len(c.variables) for c in made.state] == [8, 5]
    assert [len(c.variables) for c in relation(compile_system(gym.numbers), (), "binary").state] == [3, 3]


def test_unknown_property() -> None:
    with pytest.raises(KeyError):
        relation(compile_system(gym.fuse), ()).bads("no-crash-later")


def test_statements_at_the_end_of_several_actions_are_run_once() -> None:
    made = relation(compile_system(gym.kitchen), ())
    warm, fill = (m.result for m in made.moves)
    assert warm.after is fill.after
    assert warm.enabled != fill.enabled


def test_a_beginning_that_may_return_is_run_with_its_end() -> None:
    made = relation(compile_system(gym.cleaned_kitchen), ())
    assert len({id(m.result.after) for m in made.moves}) == len(made.moves)
