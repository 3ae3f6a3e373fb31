"""The engine ``temporal`` finds what is known of progress in the zoo, and networkx finds the same."""

import pytest

from slotproof.checker.temporal import check_progress
from slotproof.checker.verdict import Holds, Violated
from slotproof.counterexamples.verify import verify
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.checker.independent import violated
from tests.zoo.known_liveness import LARGE, SMALL, KnownRuns


def compiled(known: KnownRuns) -> tuple[Program, tuple[int, ...]]:
    program = compile_system(known.sized)
    return program, program.choices(known.system.choices)


@pytest.mark.parametrize("known", SMALL + LARGE, ids=lambda k: k.name)
def test_progress_has_the_known_verdicts(known: KnownRuns) -> None:
    program, choices = compiled(known)
    verdicts = check_progress(program, choices).verdicts
    assert set(verdicts) == {*known.holds, *known.fails}
    for name, verdict in verdicts.items():
        assert isinstance(verdict, Holds if name in known.holds else Violated), verdict
        if isinstance(verdict, Violated):
            verify(verdict.trace, program)


@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_networkx_finds_the_same_on_the_interpreters_graph(known: KnownRuns) -> None:
    program, choices = compiled(known)
    assert violated(program, choices) == {p.name: p.name in known.fails for p in program.progress}
