"""A model error ends the search with the interpreter's words; a disagreement is loud."""

import pytest

from slotproof.checker.explicit import paths
from slotproof.checker.explicit.engine import explore
from slotproof.checker.verdict import Violated
from slotproof.counterexamples.verify import verify
from slotproof.model.language import ModelError, System
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter, Outcome
from tests.checker.explicit import small


def message(system: System, needle: str) -> str:
    """The error of a search; it has to point at the line of the system's own file with this text."""
    with pytest.raises(ModelError) as caught:
        explore(compile_system(system))
    assert caught.value.site is not None
    assert caught.value.site.file == small.__file__
    with open(small.__file__) as file:
        assert needle in file.readlines()[caught.value.site.line - 1]
    return str(caught.value)


def test_a_number_that_leaves_its_range() -> None:
    assert "leaves the range 0..3" in message(small.overflow, "s.steps += 1")


def test_an_empty_optional_in_a_guard() -> None:
    assert "empty optional" in message(small.careless_guard, "require(some(s.held) > 7)")


def test_an_empty_optional_in_a_property() -> None:
    assert "empty optional" in message(small.careless_judge, "return some(s.held) == 2")


def test_what_is_certain_before_a_model_error_is_kept() -> None:
    """A violation of an earlier state, and one by an earlier step of the state itself; nothing else."""
    program = compile_system(small.ending)
    with pytest.raises(ModelError):
        explore(program)
    found = explore(program, partial=True)
    assert "leaves the range 0..3" in str(found.error)
    assert (found.coverage.complete, found.coverage.stopped) == (False, "model error")
    verdicts = found.verdicts()
    assert {name: len(v.trace) for name, v in verdicts.items() if isinstance(v, Violated)} == {
        "early": 3,
        "never-falls": 4,
    }
    assert len(verdicts) == 2
    for verdict in verdicts.values():
        assert isinstance(verdict, Violated)
        verify(verdict.trace, program)


def test_a_step_behind_a_model_error_is_not_judged() -> None:
    assert list(explore(compile_system(small.ending_first), partial=True).verdicts()) == ["early"]


def test_a_disagreement_with_the_interpreter_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_system(small.counter)
    step = Interpreter.step

    def wrong(self: Interpreter, *arguments: object) -> Outcome:
        outcome: Outcome = step(self, *arguments)  # type: ignore[arg-type]
        return Outcome((outcome.state[0] ^ 1, *outcome.state[1:]), outcome.crash)

    monkeypatch.setattr(Interpreter, "step", wrong)
    with pytest.raises(paths.Disagreement, match="internal error, please report it"):
        explore(program)
