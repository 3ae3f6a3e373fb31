"""A certificate is right or refused: of the systems of the zoo, of runs that end, with any byte changed."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotproof.checker.runs import names_of
from slotproof.checker.symbolic import certificate
from slotproof.checker.symbolic.certificate import SEAL, Refused
from slotproof.checker.symbolic.proof import Induction, Invariant, Proof
from slotproof.checker.symbolic.proving import METHODS, Method, prove
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.solving import Budget
from slotproof.checker.verdict import Holds
from slotproof.model.language import System
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.checker.conftest import Run
from tests.checker.symbolic import gym
from tests.checker.symbolic.test_proving import Ring, ending, in_step, never_three, ring, stop, turn
from tests.model.language.interpreted import explored
from tests.zoo import allocator, jugs
from tests.zoo.known import SMALL, Known

no_limit = Budget(None, None)


def checked(text: str, program: Program, choices: tuple[int, ...] = ()) -> list[str]:
    return list(recheck(text, program, choices, no_limit))


def refused(text: str, program: Program, choices: tuple[int, ...] = ()) -> bool:
    with pytest.raises(Refused):
        checked(text, program, choices)
    return True


def sealed(body: str) -> str:
    """What someone writes who knows how the check sum is made."""
    return f"{body}{SEAL}{hashlib.sha256(body.encode()).hexdigest()}\n"


def opened(text: str) -> str:
    return text.rpartition(SEAL)[0]


# The zoo


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_what_holds_in_the_zoo_has_a_certificate(known: Known, method: Method) -> None:
    """It is right in Z3 and cvc5 and, if it is an invariant, in every state that is reached."""
    program = compile_system(known.sized)
    choices = program.choices(known.system.choices)
    name = next(n for n in names_of(program) if n not in known.violations)
    verdict, proof = prove(program, choices, name, method)
    assert isinstance(verdict, Holds)
    text = certificate.written(program, choices, proof, {})
    lines = checked(text, program, choices)
    assert "answers unsat to all" in lines[0]
    if method == "pdr":
        states = explored(program, choices).states
        assert lines[-1] == f"the invariant is true in all {states} states that the interpreter reaches"
    assert refused(text, compile_system(ring))
    assert all(refused(wrong, program, choices) for wrong in _wrong(program, choices, name, proof))


def _wrong(program: Program, choices: tuple[int, ...], name: str, proof: Proof) -> Iterator[str]:
    """Certificates of invariants that are none."""
    formulas = ["false", *(f"(not {s.formula})" for s in proof if isinstance(s, Invariant))]
    for formula in formulas:
        yield certificate.written(program, choices, (Invariant((name,), formula, 1),), {})


@pytest.mark.parametrize("known", [k for k in SMALL if k.violations], ids=lambda k: k.name)
def test_nothing_certifies_what_is_violated(known: Known) -> None:
    program = compile_system(known.sized)
    choices = program.choices(known.system.choices)
    for name, steps in known.violations.items():
        for stage in (Invariant((name,), "true", 1), Induction((name,), steps + 1)):
            assert refused(certificate.written(program, choices, (stage,), {}), program, choices)


# Runs that end


def test_a_state_without_successors_has_no_certificate() -> None:
    """No step leads out of the set of all states but that one, for none leads out of it; one leads to it."""
    program = compile_system(ending)
    for formula in ("true", "(not |s.x.0=4|)", "(or |s.x.0=0| |s.x.0=1| |s.x.0=2| |s.x.0=3|)"):
        assert refused(
            certificate.written(program, (), (Invariant(("never-four",), formula, 1),), {}), program
        )
    for name in ("never-four", "deadlock"):
        for depth in range(7):
            assert refused(certificate.written(program, (), (Induction((name,), depth),), {}), program)


@pytest.mark.parametrize("method", METHODS)
def test_what_holds_in_runs_that_end_has_one(method: Method) -> None:
    program = compile_system(ending)
    _, proof = prove(program, (), "never-six", method)
    assert checked(certificate.written(program, (), proof, {}), program)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["in-step", "never-three"])
def test_a_state_without_successors_that_is_never_reached_is_no_hindrance(name: str, method: Method) -> None:
    program = compile_system(
        System("stopping", Ring, actions=[turn, stop], properties=[in_step, never_three])
    )
    verdict, proof = prove(program, (), name, method)
    assert isinstance(verdict, Holds)
    assert checked(certificate.written(program, (), proof, {}), program)


# Other systems


def test_a_certificate_of_other_decisions_is_refused() -> None:
    program = compile_system(gym.boxes)
    red, linked = program.choices({"wanted": "wants_red"}), program.choices({"wanted": "wants_linked"})
    text = certificate.written(program, red, (Invariant(("deadlock",), "true", 1),), {})
    with pytest.raises(Refused, match="is of another system"):
        checked(text, program, linked)


def test_a_certificate_that_takes_the_name_of_another_system_is_refused() -> None:
    """The digest and the check sum are those that are asked for; the relation is not."""
    systems = [compile_system(allocator.allocator.with_parameters(requests=n)) for n in (2, 3)]
    small, large = systems
    _, proof = prove(small, (), "no-adapter-twice", "induction")
    body = opened(certificate.written(small, (), proof, {}))
    forged = body.replace(small.digest, large.digest).replace('""requests"": ""2""', '""requests"": ""3""')
    with pytest.raises(Refused, match="does not state the relation"):
        checked(sealed(forged), large)
    assert checked(sealed(body), small)


def test_a_certificate_of_one_property_is_none_of_another() -> None:
    program = compile_system(ring)
    _, proof = prove(program, (), "never-three", "pdr")
    body = opened(certificate.written(program, (), proof, {}))
    assert refused(sealed(body.replace("never-three", "never-six")), program)


# Changed files

RING = compile_system(ring)
TEXT = certificate.written(RING, (), prove(RING, (), "in-step", "pdr")[1], {})
DATA = TEXT.encode()


def test_the_certificate_is_right_as_it_is() -> None:
    assert checked(TEXT, RING)


def test_every_byte_matters() -> None:
    """White space and comments, too: the file has a check sum of itself."""
    for at in range(len(TEXT)):
        assert refused(f"{TEXT[:at]}{chr(ord(TEXT[at]) ^ 1)}{TEXT[at + 1 :]}", RING)
        assert refused(f"{TEXT[:at]}{TEXT[at + 1 :]}", RING)


@given(at=st.integers(0, len(DATA) - 1), byte=st.integers(0, 255))
def test_a_file_with_any_byte_changed_is_refused(at: int, byte: int) -> None:
    changed = DATA[:at] + bytes([byte]) + DATA[at + 1 :]
    try:
        text = changed.decode()
    except UnicodeDecodeError:
        return  # the command refuses what is no text
    if changed != DATA:
        assert refused(text, RING)


@pytest.mark.parametrize("more", [" ", "\n", "\r\n", "; a remark\n", TEXT], ids=repr)
def test_a_file_with_more_in_it_is_refused(more: str) -> None:
    assert refused(TEXT + more, RING)
    assert refused(more + TEXT, RING)
    assert refused(TEXT.replace("\n", "\r\n"), RING)


def test_the_command_refuses_every_change_with_exit_1(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "proof.smt2"
    system = f"--system={allocator.__file__}"
    assert (
        run("prove", system, "--property=no-adapter-twice", "--set=requests=2", f"--out={out}").exit_code == 0
    )
    right = out.read_bytes()
    for at in range(0, len(right), len(right) // 12):
        for byte in (right[at] ^ 1, 0xFF):
            out.write_bytes(right[:at] + bytes([byte]) + right[at + 1 :])
            done = run("prove", "--check", str(out))
            assert (done.exit_code, "refused: it" in done.output or "refused: is" in done.output) == (1, True)


# Proofs that do not end


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--engine=induction", "--max-depth=1"],
            "depth limit of 1; induction did not converge, nothing wrong to depth 1",
        ),
        (
            ["--engine=pdr", "--timeout=1e-9"],
            "time limit of 1e-09 s; pdr did not converge, nothing wrong to depth 0",
        ),
    ],
)
def test_a_proof_that_does_not_converge_is_unknown_with_its_depth(
    run: Run, arguments: list[str], said: str
) -> None:
    done = run("prove", f"--system={jugs.__file__}", "--property=never-four-gallons", *arguments)
    assert done.exit_code == 3
    assert "never-four-gallons: unknown, for jugs" in done.output
    assert said in done.output
    done = run(
        "check", f"--system={jugs.__file__}", "--property=never-four-gallons", "--no-baseline", *arguments
    )
    assert done.exit_code == 3


def test_a_certificate_is_the_same_whatever_order_sets_have_in_a_run(tmp_path: Path) -> None:
    """Sets of Python come in another order in every run: a parameter that is one must not tell."""
    asked = ["finish-unload", "--property", "no-crash-fit-test-unknown-adapter", "--set", "requests=1"]
    names = ["--set", "names={*: {base,A,B,C}}"]
    written = []
    for seed in ("1", "2", "3", "4"):
        out = tmp_path / f"{seed}.smt2"
        command = [sys.executable, "-m", "slotproof.checker", "prove", *asked, *names, "--out", str(out)]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        written.append(out.read_text())
    assert len(set(written)) == 1
    assert "frozenset" not in written[0]
