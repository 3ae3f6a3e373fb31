"""A certificate is right or refused: of the systems of the zoo, of runs that end, with any byte changed."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import pytest
import z3
from hypothesis import example, given
from hypothesis import strategies as st

from slotproof.checker.runs import names_of
from slotproof.checker.symbolic import certificate, rechecking
from slotproof.checker.symbolic.certificate import HEADER, SEAL, Refused
from slotproof.checker.symbolic.proof import Induction, Invariant, Proof
from slotproof.checker.symbolic.proving import METHODS, Method, prove
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.solving import Budget, Stopped
from slotproof.checker.verdict import Holds
from slotproof.model.language import Range, System, action, implies, require
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


@pytest.mark.parametrize("method", METHODS)
def test_arguments_of_all_kinds_have_one(method: Method) -> None:
    program = compile_system(gym.given)
    _, proof = prove(program, (), "rarely", method)
    assert checked(certificate.written(program, (), proof, {}), program)


# Actions that are never possible


@action
def set_out(s: Ring, to: Annotated[int, Range(0, 2)]) -> None:
    """Begin where all is well."""
    s.x = to
    s.y = to


@action
def never_begun(s: Ring, to: Annotated[int, Range(0, 2)]) -> None:
    """Nobody begins so."""
    require(implies(s.x >= s.x, False))
    s.x = 2 - to


@action
def never_happens(s: Ring, to: Annotated[int, Range(0, 2)]) -> None:
    """Nothing leads here."""
    require(implies(s.x >= s.x, False))
    s.x = 2 - to


@action
def go(s: Ring, to: Annotated[int, Range(0, 2)]) -> None:
    """Both go there."""
    s.x = to
    s.y = to


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["in-step", "never-three"])
def test_an_action_that_is_never_possible_is_no_hindrance(name: str, method: Method) -> None:
    """That it is not is known at sight, and terms say less then of inputs that stand for no step."""
    program = compile_system(
        System(
            "stuck",
            Ring,
            actions=[never_happens, go],
            initial=[never_begun, set_out],
            properties=[in_step, never_three],
        )
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


# Terms that are more than that

PIECES = ["|", "#|", "|#", "\\", ";", '"', "\n", "\r", "\0", "\x0b", "\u2028", " ", "(", ")", "((", "))"]
PIECES += [
    "true",
    "x",
    "#",
    "(and ",
    "(assert false)",
    "\n(check-sat)\n",
    "\n(push 1)\n",
    "\n(pop 1)\n",
    ":named n",
    "!",
]
BEHIND = "(let ((a true)) a)"


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join))
@example("|\\| true) (| true)\n)\n(assert false)\n(define-fun z () Bool (and\n; |\ntrue)")
@example("(and true #| | y |#)\n)\n(assert false)\n(define-fun z () Bool (and\n; |\ntrue)")
@example("(and true |\n(check-sat)\n|)")
@example("(! true :named n)")
def test_what_passes_for_a_term_is_one_to_a_solver_and_leaves_the_rest_alone(term: str) -> None:
    if not certificate.is_one_term(term):
        return
    lines = ["(declare-const x Bool)", "(define-fun f () Bool", *term.split("\n"), ")", f"(assert {BEHIND})"]
    assert not {"(check-sat)", "(push 1)", "(pop 1)"} & {*lines}
    assert sum(line.startswith("(assert ") for line in lines) == 1
    with suppress(z3.Z3Exception):  # it may be no term of Boolean variables
        assert len(z3.parse_smt2_string("\n".join(lines), ctx=z3.Context())) == 1


@pytest.mark.parametrize("at", ["formula", "hint"])
@pytest.mark.parametrize(
    "term",
    [
        "(and true #| | y |#)\n)\n(assert false)\n(define-fun z{} () Bool (and\n; |\ntrue)",
        "(let ((|\\| true) (| true)) true)\n)\n(assert false)\n(define-fun z{} () Bool (or\n; | 1))\ntrue)",
        "(and true |\n(check-sat)\n|)",
        "(and true |\n(push 1)\n(pop 1)\n|)",
        "true)(assert false)(define-fun z{} () Bool true",
        "true\0",
        "(! true :named z{})",
        "(or true |a\rb|)",
        '(and true "")',
    ],
)
def test_a_term_that_brings_more_with_it_is_refused(
    at: str, term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever Z3 makes of it alone: ``never-four`` is violated, and the questions would be about nothing."""
    monkeypatch.setattr(rechecking, "find_spec", lambda _: None)  # cvc5 may read less than others
    program = compile_system(ending)
    hints = {i: (term.format(i),) for i in range(len(program.actions) + 2)}
    stage = Invariant(("never-four",), "true", 1, hints=hints)
    if at == "formula":
        stage = Invariant(("never-four",), term.format(""), 1)
    with pytest.raises(Refused, match=r"has a hint that is no term|has no invariant|without an end"):
        checked(certificate.written(program, (), (stage,), {}), program)


@pytest.mark.parametrize(
    "stages",
    [
        [{"properties": ["never-four"], "by": "induction", "depth": -1}] * 2,
        [{"properties": ["never-four"], "by": "induction", "depth": d} for d in (-1, 0)],
        *(
            [{"properties": ["never-four"], "by": "induction", "depth": d}]
            for d in (True, 0.5, 1e999, "1", None)
        ),
        [{"properties": ["never-four"], "by": "induction", "depth": 10**12}],
        *(
            [{"properties": p, "by": "induction", "depth": 1}]
            for p in ([], "never-four", ["none"], [1], None)
        ),
        [{"properties": ["never-four"], "by": "faith", "depth": 1}],
        [],
        ["never-four"],
        None,
    ],
    ids=repr,
)
def test_a_head_that_promises_other_stages_is_refused(stages: object) -> None:
    program = compile_system(ending)
    body = opened(certificate.written(program, (), (Induction(("never-four",), 0),), {}))
    first, *rest = body.splitlines()
    head = json.loads(first.removeprefix(HEADER).removesuffix(")").strip('"').replace('""', '"'))
    told = json.dumps({**head, "stages": stages}, sort_keys=True).replace('"', '""')
    assert refused(sealed("\n".join([f'{HEADER}"{told}")', *rest, ""])), program)


@pytest.mark.parametrize(
    "head", ["[" * 100_000, "{}", "[]", "9" * 5000, "null", '{"version": 4}'], ids=lambda h: h[:9]
)
def test_a_head_that_is_none_is_refused(head: str) -> None:
    told = head.replace('"', '""')
    assert refused(sealed(f'{HEADER}"{told}")\n'), compile_system(ending))


def test_a_limit_is_looked_at_before_the_first_question() -> None:
    """To write the relation again can be the longest part."""
    with pytest.raises(Stopped, match="time limit"):
        list(recheck(TEXT, RING, (), Budget(1e-9, None)))


def test_nothing_stands_between_the_questions_and_the_check_sum() -> None:
    body = opened(TEXT)
    for more in ("(assert false)\n", f"{SEAL}0\n(assert false)\n", f"{SEAL}0\n"):
        assert refused(sealed(body + more), RING)


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


@pytest.mark.parametrize("key", ["scenario", "release", "file", "settings", "candidate"])
@pytest.mark.parametrize("told", [3, [1], [None], {"a": 1}, True], ids=repr)
def test_the_command_refuses_what_names_no_system(key: str, told: object, run: Run, tmp_path: Path) -> None:
    named: dict[str, object] = {
        "scenario": None,
        "release": None,
        "full": False,
        "file": None,
        "settings": [],
        "candidate": None,
    }
    program = compile_system(ending)
    out = tmp_path / "proof.smt2"
    stage = Induction(("never-six",), 1)
    out.write_text(certificate.written(program, (), (stage,), {**named, "full": False, key: told}))
    done = run("prove", "--check", str(out))
    assert (done.exit_code, "does not say which system it is of" in done.output) == (1, True)


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
