"""What is hoped for in the middle of an action is true there: none of it is a dead letter."""

import pytest

from slotproof.checker.symbolic.booleans import TRUE
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import of_relation
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.symbolic.strengthening import before_step
from slotproof.checker.symbolic.through import Step
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS

NEWEST = release("0.5.23")


@pytest.mark.parametrize(
    ("scenario", "action"), [("overlap-cancel", "schedule"), ("decode-admission", "decode_step")]
)
def test_each_is_true_at_some_place_of_a_pass_and_says_something_there(scenario: str, action: str) -> None:
    """Where the lemmas are true before the step, as a proof takes for granted."""
    program = compile_system(SCENARIOS[scenario].system(NEWEST, lemmas=True))
    decided = NEWEST.names()
    made = relation(program, program.choices({p.name: decided[p.name] for p in program.decisions}))
    move = next(m for m in made.moves if m.action.name == action)
    lemmas = [x for x in SCENARIOS[scenario].lemmas if x not in SCENARIOS[scenario].costly]
    before = [made.holds_in(x.name, made.before) for x in lemmas]
    conditions = [*before_step(of_relation(made, [lemmas[0].name]), move), *before]
    step = Step(made, move, conditions, Formulas(made.booleans), Budget(None, None), lambda _: None, None)
    dead = {x.name for x in SCENARIOS[scenario].on_the_way}
    assert dead
    for stop in move.result.stops:
        for name, holds in made.on_the_way(stop):
            if name not in dead or holds == TRUE or stop.filtering:
                continue
            wrong = [move.result.enabled, move.result.error ^ 1, *stop.path, holds ^ 1]
            if step.quickly(name, wrong, (), 100_000).possible is False:
                dead -= {name}
    assert not dead
