"""The decisions to blame are those whose other answers make the interpreter's same steps end well."""

from __future__ import annotations

import pytest

from slotproof.checker.commands.explain import program_of_file
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.otherwise import Otherwise, otherwise
from slotproof.counterexamples.rerun import Rerun, begun
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import choices_of
from slotproof.model.language.program import Program
from tests.counterexamples.explorer.conftest import GALLERY

FOUR = {
    "overlap-cancel.no-slot-leak.0.5.12.post1": {"reap_first": {"reap_all_ended"}},
    "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1": {
        "occupied_on_prefill": {"unfinished_rows"},
        "sweep_before_the_pass": {"sweeps_every_step"},
    },
    "idle-rank.fresh-batch-info.0.5.16": {
        "idle_metadata": {"clears_metadata"},
        "ranks_exchange_adapters": {"all_ranks_together"},
    },
    "decode-admission.slot-capacity.0.5.19": {"gate_on_reservation": {"gate_decides"}},
}


def of(trace: Trace, program: Program) -> list[Otherwise]:
    choices = choices_of(trace, program)
    return otherwise(program, choices, trace.states, trace.steps, trace.property)


def take(walk: Rerun, trace: Trace) -> None:
    for step in trace.steps:
        walk.take(step)


@pytest.mark.parametrize("name", sorted(FOUR))
def test_what_each_pull_request_changes_is_to_blame(name: str) -> None:
    file = read(GALLERY / f"{name}.itf.json")
    program = program_of_file(file, None)
    trace = file.trace(program)
    found = of(trace, program)
    blamed: dict[str, set[str]] = {}
    for other in found:
        if not other.ends:
            blamed.setdefault(other.decision, set()).add(other.alternative)
    assert blamed == FOUR[name]
    for other in found:  # and the interpreter says the same of each
        chosen = {**trace.choices, other.decision: other.alternative}
        walk = begun(program, program.choices(chosen), trace.start)
        if other.ends:
            with pytest.raises(TraceError) as caught:
                take(walk, trace)
            assert str(caught.value) == other.ends
        else:
            take(walk, trace)
            assert not walk.violates(trace.property)
            assert (walk.crash or "") == other.dies


def test_an_answer_that_keeps_a_step_from_happening_says_which(
    traces: dict[str, Trace], program: Program
) -> None:
    trace = traces["no-crash-third-of-a-kind"]
    (found,) = of(trace, program)
    assert (found.decision, found.alternative) == ("may_order", "only_new")
    assert "cannot happen: may_order(s, a) is false" in found.ends


def test_a_decision_that_changes_nothing_is_not_blamed(traces: dict[str, Trace], program: Program) -> None:
    assert of(traces["room-for-more"], program) == []


def test_of_a_standstill_nothing_is_told(standstill: tuple[Program, Trace]) -> None:
    program, trace = standstill
    assert of(trace, program) == []
