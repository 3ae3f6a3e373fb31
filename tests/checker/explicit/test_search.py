"""What the search counts, judges and finds."""

from typing import Any

import pytest

from slotproof.checker.explicit.engine import Exploration, explore, layers, reached
from slotproof.checker.verdict import Holds, Unknown, Violated
from slotproof.counterexamples.trace import Trace
from slotproof.model.language import System
from slotproof.model.language.compile import compile_system
from tests.checker.explicit import small


def explored(system: System, **parameters: Any) -> Exploration:
    return explore(compile_system(system.with_parameters(**parameters)))


def steps(trace: Trace) -> list[str]:
    return [str(s) for s in trace.steps]


def violated(exploration: Exploration, name: str) -> Violated:
    verdict = exploration.verdicts()[name]
    assert isinstance(verdict, Violated)
    return verdict


def test_counts_include_duplicates_self_loops_and_crash_states() -> None:
    coverage = explored(small.counter).coverage
    # 0 to 5, and the crash state of 4.
    assert coverage.states == 7
    assert coverage.fired == {"up": 9, "down": 2, "stay": 1, "die": 1}
    assert coverage.transitions == 13
    assert coverage.depth == 3
    assert coverage.complete
    assert coverage.stopped is None


def test_layers_are_the_shortest_distances() -> None:
    found = layers(compile_system(small.counter))
    assert [sorted(state[0] for state in layer) for layer in found] == [[0], [1, 2], [3, 4], [5]]


def test_a_crash_state_keeps_what_was_written_and_is_terminal() -> None:
    outcomes = [o for layer in reached(compile_system(small.counter)) for o in layer if o.crash]
    assert [(o.state[:2], o.crash) for o in outcomes] == [((4, 1), "four")]


def test_an_invariant_has_a_shortest_trace_for_the_part_that_fails() -> None:
    verdict = violated(explored(small.counter), "small-and-off")
    assert [t.part for t in verdict.traces] == ["s.n < 3"]
    assert steps(verdict.trace) == ["up(by=1)", "up(by=2)"]


def test_a_step_property_judges_crashing_steps_and_sees_outputs() -> None:
    trace = violated(explored(small.counter), "moves-little").trace
    assert steps(trace) == ["up(by=2)", "up(by=2)", "die()"]
    assert trace.crash == "four"


def test_a_step_property_judges_steps_to_known_states_with_their_arguments() -> None:
    trace = violated(explored(small.counter), "never-to-five-by-one").trace
    assert steps(trace) == ["up(by=2)", "up(by=2)", "up(by=1)"]


def test_each_crash_cause_is_a_property_of_its_own() -> None:
    trace = violated(explored(small.counter), "no-crash-four").trace
    assert steps(trace) == ["up(by=2)", "up(by=2)", "die()"]
    assert (trace.crash, trace.part) == ("four", "crash('four')")


def test_premises_and_witnesses_are_reported() -> None:
    exploration = explored(small.counter)
    premises = {
        p.property: met
        for p, met in zip(exploration.program.premises, exploration.coverage.premises, strict=True)
    }
    assert premises == {"premise-met": True, "premise-not-met": False}
    assert exploration.coverage.witnesses == {"reaches-four": 2}


def test_a_premise_is_met_also_where_what_it_stands_in_does_not_matter() -> None:
    """Python evaluates both sides of an implication."""
    exploration = explored(small.noting)
    premises = zip(exploration.program.premises, exploration.coverage.premises, strict=True)
    assert [met for _, met in sorted((p.site.line, met) for p, met in premises)] == [False, True]


def test_a_premise_that_is_never_met_makes_unknown_of_holds() -> None:
    verdicts = explored(small.counter).verdicts()
    assert isinstance(verdicts["premise-met"], Holds)
    unmet = verdicts["premise-not-met"]
    assert isinstance(unmet, Unknown)
    assert unmet.reason.startswith("vacuous: premise 's.on' at ")


def test_a_witness_that_is_never_met_makes_unknown_of_every_holds() -> None:
    verdicts = explored(small.vacuous).verdicts()
    assert {type(v) for v in verdicts.values()} == {Unknown}
    unmet = verdicts["premise-met"]
    assert isinstance(unmet, Unknown)
    assert unmet.reason == "vacuous: witness 'switches-on' was never reached"


def test_a_property_of_steps_that_never_happen_is_vacuous() -> None:
    assert isinstance(explored(small.idle).verdicts()["staying-keeps"], Holds)
    never = explored(small.idle, top=1).verdicts()["staying-keeps"]
    assert isinstance(never, Unknown)
    assert "was ever taken" in never.reason


def test_a_state_without_successors_is_a_deadlock_unless_it_is_final() -> None:
    trace = violated(explored(small.stuck), "deadlock").trace
    assert steps(trace) == ["up(by=1)", "up(by=2)", "up(by=2)"]
    assert isinstance(explored(small.stops).verdicts()["deadlock"], Holds)


def test_a_condition_that_can_fail_is_not_tested_before_those_that_protect_it() -> None:
    exploration = explored(small.holder)
    assert exploration.coverage.complete
    assert exploration.coverage.fired["guarded"] == 9


def test_a_part_that_can_fail_is_not_judged_where_an_earlier_one_is_false() -> None:
    exploration = explored(small.holder)
    verdict = violated(exploration, "judged-part-by-part")
    assert [t.part for t in verdict.traces] == ["s.held is not None"]


@pytest.mark.parametrize("bits", [1, 7, 15])
def test_a_graph_of_known_size_is_counted(bits: int) -> None:
    coverage = explored(small.switches, bits=bits).coverage
    assert (coverage.states, coverage.transitions, coverage.depth) == (2**bits, bits * 2**bits, bits)


def test_two_runs_find_the_same() -> None:
    first, second = explored(small.counter), explored(small.counter)
    assert first.violations == second.violations
    assert first.verdicts().keys() == second.verdicts().keys()
    for name in ("states", "transitions", "depth", "fired", "premises", "witnesses"):
        assert getattr(first.coverage, name) == getattr(second.coverage, name)
