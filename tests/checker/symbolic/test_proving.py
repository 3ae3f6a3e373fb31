"""Proofs at any depth: what holds is proven, what does not is not, and nothing is proven by accident."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from slotproof.checker.symbolic import certificate, rechecking
from slotproof.checker.symbolic.cadical import has_cadical
from slotproof.checker.symbolic.certificate import Refused
from slotproof.checker.symbolic.engine import check_bounded
from slotproof.checker.symbolic.proof import Induction, Invariant, Proof
from slotproof.checker.symbolic.proving import METHODS, Method, check_unbounded, prove
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.verdict import Holds, Limits, Unknown, Violated
from slotproof.model.language import (
    Annotated,
    ModelError,
    Range,
    State,
    System,
    action,
    field,
    initial,
    invariant,
    require,
    step_invariant,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.zoo import allocator, jugs
from tests.zoo.known import SMALL, Known

no_limit = Budget(None, None)


class Ring(State):
    """Two numbers in step."""

    x: Annotated[int, Range(0, 7)] = field(0, "one")
    y: Annotated[int, Range(0, 7)] = field(0, "the other")


@action
def turn(s: Ring) -> None:
    """Both go on by two; of eight."""
    s.x = (s.x + 2) % 8
    s.y = s.x


@action
def stop(s: Ring) -> None:
    """From a state that is never reached to one without successors."""
    require(s.x == 5)
    s.y = 0
    s.x = 7


@action
def leave(s: Ring) -> None:
    """Out of the range after four steps."""
    s.x += 2


@action
def only_to_four(s: Ring) -> None:
    """Ends there."""
    require(s.x < 4)
    s.x += 1


@invariant
def in_step(s: Ring) -> bool:
    """Holds."""
    return s.x == s.y


@invariant
def never_three(s: Ring) -> bool:
    """Holds, but not of a step from anywhere: one is never reached either."""
    return s.x != 3


@invariant
def never_six(s: Ring) -> bool:
    """False after three steps."""
    return s.x != 6


@invariant
def never_four(s: Ring) -> bool:
    """False in the state without successors."""
    return s.x != 4


@step_invariant
def even_steps(before: Ring, after: Ring) -> bool:
    """Holds in the ring."""
    return (after.x - before.x) % 2 == 0


ring = System("ring", Ring, actions=[turn], properties=[in_step, never_three, never_six, even_steps])
ending = System("ending", Ring, actions=[only_to_four], properties=[never_four, never_six])
leaving = System("leaving", Ring, actions=[leave], properties=[never_three])


@initial
def impossible(s: Ring) -> None:
    """Never."""
    require(s.x == 1)


nowhere = System("nowhere", Ring, initial=[impossible], actions=[turn], properties=[never_six])


def proven(program: Program, name: str, method: Method | None) -> Proof:
    verdict, proof = prove(program, (), name, method)
    assert isinstance(verdict, Holds), verdict
    assert proof
    return proof


def certified(program: Program, proof: Proof) -> str:
    return certificate.written(program, (), proof, {})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("known", SMALL, ids=lambda k: k.name)
def test_proofs_agree_with_what_is_known_of_the_zoo(known: Known, method: Method) -> None:
    program = compile_system(known.sized)
    choices = program.choices(known.system.choices)
    names = [p.name for p in program.properties] + ["deadlock"]
    for name, verdict in check_unbounded(program, choices, names, method).items():
        if name in known.violations:
            assert isinstance(verdict, Violated), verdict
            assert len(verdict.trace) == known.violations[name]
        else:
            assert isinstance(verdict, Holds), verdict


@pytest.mark.parametrize("method", [*METHODS, None])
def test_verdicts_on_a_ring(method: Method | None) -> None:
    program = compile_system(ring)
    for name in ("in-step", "never-three", "even-steps", "deadlock"):
        proven(program, name, method)
    verdict, proof = prove(program, (), "never-six", method)
    assert isinstance(verdict, Violated)
    assert (len(verdict.trace), proof) == (3, ())


@pytest.mark.parametrize("method", [*METHODS, None])
def test_a_state_without_successors_proves_nothing(method: Method | None) -> None:
    program = compile_system(ending)
    verdicts = {name: prove(program, (), name, method)[0] for name in ("never-four", "deadlock", "never-six")}
    assert isinstance(verdicts["never-four"], Violated)
    assert isinstance(verdicts["deadlock"], Violated)
    assert len(verdicts["deadlock"].trace) == 4
    assert isinstance(verdicts["never-six"], Holds)


@pytest.mark.parametrize("method", [*METHODS, None])
def test_where_no_run_begins_nothing_is_proven(method: Method | None) -> None:
    verdict, proof = prove(compile_system(nowhere), (), "never-six", method)
    assert isinstance(verdict, Unknown)
    assert (verdict.reason, proof) == ("vacuous: there is no initial state", ())


@pytest.mark.parametrize("method", [*METHODS, None])
def test_a_model_error_is_no_proof(method: Method | None) -> None:
    with pytest.raises(ModelError, match="leaves the range"):
        prove(compile_system(leaving), (), "never-three", method)


def test_a_lemma_is_proven_first_and_then_helps() -> None:
    program = compile_system(ring)
    verdict, proof = prove(program, (), "never-three", "induction", lemmas=["even-steps", "in-step"])
    assert isinstance(verdict, Holds)
    assert [s.properties for s in proof] == [("even-steps",), ("in-step",), ("never-three",)]
    assert all(isinstance(s, Induction) for s in proof)
    list(recheck(certified(program, proof), program, (), no_limit))


def test_a_lemma_that_is_false_proves_nothing() -> None:
    verdict, proof = prove(compile_system(ring), (), "in-step", lemmas=["never-six"])
    assert isinstance(verdict, Unknown)
    assert verdict.reason.startswith("lemma never-six does not hold")
    assert proof == ()


def test_a_proof_that_does_not_converge_says_how_deep_it_came() -> None:
    verdict, _ = prove(compile_system(ring), (), "never-three", "induction", limits=Limits(depth=0))
    assert isinstance(verdict, Unknown)
    assert "depth limit of 0; induction did not converge, nothing wrong to depth 0" in verdict.reason
    verdict, _ = prove(compile_system(ring), (), "never-three", "pdr", limits=Limits(seconds=0))
    assert isinstance(verdict, Unknown)
    assert "time limit of 0 s" in verdict.reason
    assert not verdict.coverage.complete


# Certificates

SIZES = {"requests": 3, "adapters": 3, "slots": 2}


@pytest.mark.parametrize("method", METHODS)
def test_a_certificate_is_right(method: Method) -> None:
    program = compile_system(allocator.allocator.with_parameters(**SIZES))
    lines = list(recheck(certified(program, proven(program, "active-fit", method)), program, (), no_limit))
    others = [line.split()[0] for line in lines if "answers unsat to all" in line]
    assert others == ["CaDiCaL", "Z3", "cvc5"][not has_cadical() :]
    assert lines[-1].startswith("the invariant") == (method == "pdr")


def test_the_allocator_of_eight_requests_is_proven_and_certified() -> None:
    program = compile_system(allocator.allocator.with_parameters(requests=8, adapters=6, slots=4))
    for name in ("active-fit", "running-is-resident", "no-adapter-twice"):
        list(recheck(certified(program, proven(program, name, None)), program, (), no_limit))


def test_no_solver_but_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rechecking, "find_spec", lambda _: None)
    monkeypatch.setattr(rechecking, "has_cadical", lambda: False)
    program = compile_system(ring)
    lines = list(recheck(certified(program, proven(program, "in-step", "pdr")), program, (), no_limit))
    assert lines[0].startswith("Z3")
    assert "cvc5 is not installed" in lines[1]
    assert lines[2] == "the invariant is true in all 4 states that the interpreter reaches"


@pytest.mark.parametrize(
    "formula",
    [
        "true",
        "false",
        "|s.x.0=0|",
        "(not |s.x.0=0|)",
        "(or |s.x.0=0| |s.x.0=2| |s.x.0=6|)",
        "(not |s.x.0=6|)",
    ],
)
def test_a_wrong_invariant_is_refused(formula: str) -> None:
    program = compile_system(ring)
    wrong = certified(program, (Invariant(("never-three",), formula, 1),))
    with pytest.raises(Refused, match="answers sat where it has to be unsat"):
        list(recheck(wrong, program, (), no_limit))


def test_an_induction_that_is_not_deep_enough_is_refused() -> None:
    program = compile_system(ring)
    with pytest.raises(Refused, match="answers sat"):
        list(recheck(certified(program, (Induction(("never-three",), 0),)), program, (), no_limit))


@pytest.mark.parametrize(
    "formula",
    [
        "true)(assert false",
        "true) (define-fun f () Bool true",
        "",
        "true false",
        "|s.x.0=0|(assert)",
        "(true",
    ],
)
def test_what_is_more_or_less_than_a_formula_is_refused(formula: str) -> None:
    program = compile_system(ring)
    wrong = certified(program, (Invariant(("never-three",), formula, 1),))
    with pytest.raises(Refused):
        list(recheck(wrong, program, (), no_limit))


@pytest.mark.parametrize("formula", ["(and nothing |s.x.0=0|)", "|act.turn|", "t5@0"])
def test_a_formula_over_other_names_is_refused(formula: str) -> None:
    program = compile_system(ring)
    wrong = certified(program, (Invariant(("never-three",), formula, 1),))
    with pytest.raises(Refused, match="proves nothing"):
        list(recheck(wrong, program, (), no_limit))


def test_an_invariant_that_an_interpreter_contradicts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If all solvers were wrong, or the relation."""
    monkeypatch.setattr(rechecking, "_unsat", lambda _, answers: len(list(answers)))
    program = compile_system(ring)
    wrong = certified(program, (Invariant(("never-three",), "(not |s.x.0=6|)", 1),))
    with pytest.raises(Refused, match="false in the reachable state"):
        list(recheck(wrong, program, (), no_limit))


def test_a_certificate_of_another_system_is_refused() -> None:
    program = compile_system(allocator.allocator.with_parameters(**SIZES))
    text = certified(program, proven(program, "active-fit", "pdr"))
    larger = compile_system(allocator.allocator.with_parameters(**{**SIZES, "requests": 4}))
    with pytest.raises(Refused, match="is of another system"):
        list(recheck(text, larger, (), no_limit))


def test_every_changed_byte_is_refused() -> None:
    program = compile_system(ring)
    text = certified(program, proven(program, "in-step", "pdr"))
    for at in range(0, len(text), 7):
        changed = text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]
        with pytest.raises(Refused):
            list(recheck(changed, program, (), no_limit))


def test_a_changed_question_is_refused_though_its_check_sum_is_right() -> None:
    program = compile_system(ring)
    text = certified(program, proven(program, "in-step", "pdr"))
    body, _, _ = text.rpartition(certificate.SEAL)
    forged = body.replace("(assert ", "(assert (and false ", 1).replace("\n(check-sat)", ")\n(check-sat)", 1)
    sealed = f"{forged}{certificate.SEAL}{hashlib.sha256(forged.encode()).hexdigest()}\n"
    with pytest.raises(Refused, match="does not state the relation or the questions"):
        list(recheck(sealed, program, (), no_limit))


# The command

Run = Callable[..., Result]


def test_the_command_proves_and_checks(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "proof.smt2"
    system = str(Path(allocator.__file__))
    sizes = [x for k, v in SIZES.items() for x in ("--set", f"{k}={v}")]
    done = run("prove", "--system", system, *sizes, "--property", "active-fit", "--out", str(out))
    assert done.exit_code == 0
    assert "active-fit: holds at any depth, for allocator (requests=3, slots=2, adapters=3)" in done.output
    again = run("prove", "--check", str(out))
    assert again.exit_code == 0
    assert "active-fit: proven at any depth, for allocator" in again.output
    out.write_text(out.read_text().replace("unsat", "unsaT", 1))
    refused = run("prove", "--check", str(out))
    assert refused.exit_code == 1
    assert "refused: it was changed after it was written" in refused.output


def test_the_command_says_unknown_and_violated(run: Run) -> None:
    system = str(Path(allocator.__file__))
    unknown = run("prove", "--system", system, "--engine", "pdr", "--timeout", "0.001")
    assert unknown.exit_code == 3
    assert "did not converge" in unknown.output
    violated = run("prove", "--system", str(Path(jugs.__file__)), "--property", "never-four-gallons")
    assert violated.exit_code == 1
    assert "violated after 6 steps" in violated.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "bounded"], "there is no engine 'bounded'"),
        (["--property", "active-fitt"], "active-fit"),
        (["--lemma", "nothing"], "there are: "),
        (["--out", "x.smt2"], "name it with --property"),
        (["--check", "missing.smt2"], "missing.smt2: cannot be read"),
    ],
)
def test_wrong_use_is_one_line(run: Run, arguments: list[str], said: str) -> None:
    done = run("prove", "--system", str(Path(allocator.__file__)), *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_check_has_the_engines(run: Run) -> None:
    system = str(Path(allocator.__file__))
    done = run("check", "--system", system, "--engine", "pdr", "--engine", "induction", "--format", "json")
    assert done.exit_code == 0
    assert done.output.count('"verdict": "holds"') == 8


def test_a_limit_ends_the_making_of_a_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relation over large domains takes as long as an answer: it does not get as far as Z3."""

    def answer(*_: object) -> list[object]:
        raise AssertionError("the limit came too late")

    monkeypatch.setattr(Formulas, "of", answer)
    program = compile_system(allocator.allocator)
    limits = Limits(seconds=0)
    name = program.properties[0].name
    verdicts = [
        prove(program, (), name, limits=limits)[0],
        check_bounded(program, (), [name], limits=limits)[name],
        *(check_unbounded(program, (), [name], method, limits=limits)[name] for method in METHODS),
    ]
    for verdict in verdicts:
        assert isinstance(verdict, Unknown)
        assert "time limit of 0 s" in verdict.reason
