"""Proofs of the zoo's larger systems agree with what is known, or say that they came to no end."""

import pytest

from slotproof.checker.runs import names_of
from slotproof.checker.symbolic.proving import METHODS, Method, check_unbounded
from slotproof.checker.verdict import Holds, Limits, Unknown, Violated
from slotproof.model.language.compile import compile_system
from tests.zoo.known import LARGE, Known

LONGEST = 12
"""A trace of so many steps is found in seconds, once it is known that there is one."""

# Those that end within a second, with all that is asked about them.
ENDING = {
    "induction": ["termination[nodes=3]", "two-phase-commit[managers=3]", "eight-puzzle"],
    "pdr": ["termination[nodes=3]", "clean-forks", "eight-puzzle"],
}
ENDING_BOTH = ["dining-philosophers[philosophers=5]", "allocator[requests=6,adapters=3,slots=2]"]
CASES = [(k, m) for k in LARGE for m in METHODS if k.name in (*ENDING[m], *ENDING_BOTH)]
# A hundred beans are 5,151 initial steps, each with a term of its own.
REST = [(k, m) for k in LARGE for m in METHODS if (k, m) not in CASES and k.system.name != "coffee-can"]


def check(known: Known, method: Method, seconds: float | None) -> None:
    """Compare each verdict; without a limit there has to be one."""
    program = compile_system(known.sized)
    choices = program.choices(known.system.choices)
    for name in names_of(program):
        steps = known.violations.get(name)
        if steps is not None and steps > LONGEST:
            continue
        limits = Limits(seconds=seconds)
        verdict = check_unbounded(program, choices, [name], method, limits=limits)[name]
        match verdict:
            case Unknown():
                assert seconds is not None
                assert "time limit" in verdict.reason
            case Violated():
                assert len(verdict.trace) == steps
            case Holds():
                assert steps is None


@pytest.mark.parametrize(("known", "method"), CASES, ids=lambda x: getattr(x, "name", x))
def test_proofs_agree_with_what_is_known(known: Known, method: Method) -> None:
    check(known, method, None)


@pytest.mark.deep
@pytest.mark.parametrize(("known", "method"), REST, ids=lambda x: getattr(x, "name", x))
def test_proofs_that_may_not_end_never_disagree(known: Known, method: Method) -> None:
    check(known, method, 30)
