"""Lemmas that are kept together: what they show, and that those which are not kept are left out."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from slotproof.checker.explicit.engine import explore
from slotproof.checker.symbolic import asking, certificate, needed, through
from slotproof.checker.symbolic.asking import OfZ3, Reply
from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.cadical import has_cadical
from slotproof.checker.symbolic.certificate import Refused
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.proving import prove
from slotproof.checker.symbolic.rechecking import in_z3, recheck
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import of_relation
from slotproof.checker.symbolic.smtlib import smtlib
from slotproof.checker.symbolic.solving import Budget
from slotproof.checker.symbolic.strengthening import Strengthening, strengthen
from slotproof.checker.verdict import Holds, Limits, Unknown, Violated
from slotproof.model.candidates import unload_sweeps_first
from slotproof.model.language import Annotated, Range, State, System, action, field, invariant, require
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.language.surface import Action, Property
from slotproof.model.releases import Release, release
from slotproof.properties import SCENARIOS
from slotproof.properties.lemmas import OF_CANDIDATES

no_limit = Budget(None, None)


class Pair(State):
    """Two numbers."""

    x: Annotated[int, Range(0, 7)] = field(0, "one")
    y: Annotated[int, Range(0, 7)] = field(0, "the other")


@action
def turn(s: Pair) -> None:
    """Both go on by two; of eight."""
    s.x = (s.x + 2) % 8
    s.y = (s.y + 2) % 8


@action
def die_together(s: Pair) -> None:
    """Into a state without successors of this action, where they differ."""
    require(s.x != s.y)
    s.x = 5


@invariant
def never_five(s: Pair) -> bool:
    """Holds, and needs the others."""
    return s.x != 5


@invariant
def same(s: Pair) -> bool:
    """Holds, by itself."""
    return s.x == s.y


@invariant
def even(s: Pair) -> bool:
    """Holds, only with ``same``."""
    return s.x % 2 == 0


@invariant
def below_six(s: Pair) -> bool:
    """False after three steps."""
    return s.x < 6


@invariant
def above_zero(s: Pair) -> bool:
    """False at the start."""
    return s.x > 0


ALL: list[Property] = [never_five, same, even, below_six, above_zero]


def compiled(*actions: Action[Pair]) -> Program:
    return compile_system(System("pair", Pair, actions=list(actions or (turn, die_together)), properties=ALL))


def strengthened(program: Program, name: str, *lemmas: str) -> Strengthening:
    return strengthen(of_relation(relation(program, ()), [name]), lemmas, no_limit)


def test_lemmas_show_together_what_none_shows_alone() -> None:
    program = compiled()
    assert strengthened(program, "never-five", "even").invariant is None
    found = strengthened(program, "never-five", "even", "same")
    assert found.lost == {}
    assert found.invariant is not None
    assert set(found.invariant.lemmas) == {"even", "same", "never-five"}


def test_a_lemma_that_is_not_kept_is_left_out_and_named() -> None:
    found = strengthened(compiled(), "never-five", "above-zero", "below-six", "even", "same")
    assert found.lost == {"above-zero": "", "below-six": "turn"}
    assert found.invariant is not None
    assert "below-six" not in found.invariant.lemmas


def test_lemmas_prove_nothing_that_is_violated() -> None:
    verdict, proof = prove(compiled(), (), "below-six", helpers=["same", "even", "never-five"])
    assert isinstance(verdict, Violated)
    assert (len(verdict.trace), proof) == (3, ())


def test_lemmas_prove_nothing_of_a_state_without_successors() -> None:
    program = compiled(die_together)
    verdict, proof = prove(program, (), "deadlock", helpers=["same", "even"])
    assert isinstance(verdict, Violated)
    assert proof == ()


@action
def never(s: Pair) -> None:
    """Two numbers are not below and above each other, which nobody sees before it is run."""
    require(s.x < s.y < s.x)
    s.x = 1


@action
def at_no_size(s: Pair) -> None:
    """Left out when it is compiled."""
    require(1 > 2)
    s.x = 1


@pytest.mark.parametrize("action", [never, at_no_size])
def test_lemmas_prove_nothing_that_is_false_where_nothing_happens(action: Action[Pair]) -> None:
    """There is no action about which it could be asked."""
    program = compiled(action)
    for name in ("above-zero", "deadlock"):
        verdict, proof = prove(program, (), name, helpers=["same", "even"])
        assert isinstance(verdict, Violated)
        assert proof == ()
    assert isinstance(prove(program, (), "same", helpers=["same", "even"])[0], Holds)


def test_the_certificate_of_lemmas_is_right_and_another_of_them_is_not() -> None:
    program = compiled()
    verdict, proof = prove(program, (), "never-five", helpers=["same", "even"])
    assert isinstance(verdict, Holds)
    (stage,) = proof
    assert isinstance(stage, Invariant)
    text = certificate.written(program, (), proof, {})
    assert f"to all {text.count('(check-sat)')} questions" in next(recheck(text, program, (), no_limit))
    weaker = strengthened(program, "same", "same").invariant
    assert weaker is not None
    wrong = certificate.written(program, (), (Invariant(("never-five",), weaker.formula, 1),), {})
    with pytest.raises(Refused, match="answers sat"):
        list(recheck(wrong, program, (), no_limit))


def test_a_certificate_asks_of_each_lemma_and_action_by_itself() -> None:
    program = compiled()
    _, proof = prove(program, (), "never-five", helpers=["same", "even"])
    (stage,) = proof
    assert isinstance(stage, Invariant)
    assert len(certificate.parts_of(stage.formula)) == len(stage.lemmas) == 2
    text = certificate.written(program, (), proof, {})
    cases = ("turn", "die_together")
    assert all(f"; with {name}\n" in text for name in cases)
    kept = len(stage.lemmas) + 1  # and that variables stand for values
    assert text.count("(check-sat)") == 2 + len(cases) * (1 + kept)


@pytest.mark.parametrize("part", range(2))
def test_a_lemma_that_is_not_kept_is_found_wherever_it_stands(part: int) -> None:
    program = compiled()
    _, proof = prove(program, (), "never-five", helpers=["same", "even"])
    (stage,) = proof
    assert isinstance(stage, Invariant)
    parts = certificate.parts_of(stage.formula)
    made = relation(program, ())
    parts[part] = smtlib(made.booleans, [made.holds_in("below-six", made.before)])
    formula = "\n".join(["(and", *parts, ")"])
    text = certificate.written(program, (), (Invariant(("never-five",), formula, 1),), {})
    with pytest.raises(Refused, match="answers sat"):
        list(recheck(text, program, (), no_limit))


# Hints


@action
def turn_in_pieces(s: Pair) -> None:
    """Three times on by two: between the two of a piece the numbers differ."""
    for _ in range(3):
        s.x = s.x + 2 if s.x < 6 else 0
        s.y = s.y + 2 if s.y < 6 else 0


def hinted(monkeypatch: pytest.MonkeyPatch) -> tuple[Program, Invariant, str]:
    """A proof that looks at every stop, and its certificate."""
    monkeypatch.setattr(through, "FEW", 0)
    monkeypatch.setattr(needed, "CONFLICTS", 0)
    monkeypatch.setattr(needed, "DIRECTLY", 0)
    monkeypatch.setattr(asking, "has_cadical", lambda: False)  # Z3 says of all facts that they are used
    monkeypatch.setattr(asking, "OfZ3", Hasty)
    program = compiled(turn_in_pieces, die_together)
    verdict, proof = prove(program, (), "never-five", helpers=["same", "even"])
    assert isinstance(verdict, Holds)
    (stage,) = proof
    assert isinstance(stage, Invariant)
    return program, stage, certificate.written(program, (), proof, {})


class Hasty(OfZ3):
    """Knows nothing where no conflict is allowed."""

    def ask(self, wanted: Literal, given: Sequence[Literal], conflicts: int | None = None) -> Reply:
        return Reply(None) if conflicts == 0 else super().ask(wanted, given, conflicts)


def test_what_holds_on_the_way_becomes_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    program, stage, text = hinted(monkeypatch)
    assert len(stage.hints[0]) >= 2
    assert text.count("; hint of stage 0 in action 0\n") == len(stage.hints[0])
    (kept,) = certificate.proof_of(text)
    assert isinstance(kept, Invariant)
    assert kept.hints == stage.hints
    found = list(recheck(text, program, (), no_limit))
    assert found[0].endswith(f"to all {text.count('(check-sat)')} questions")


def test_a_hint_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A false one would make everything true after it."""
    program, stage, _ = hinted(monkeypatch)
    false = replace(stage, hints={0: ("false",)})
    with pytest.raises(Refused, match="answers sat"):
        list(recheck(certificate.written(program, (), (false,), {}), program, (), no_limit))
    weaker = strengthened(program, "same", "same").invariant
    assert weaker is not None
    wrong = Invariant(("never-five",), weaker.formula, 1, hints={1: ("false",)})
    with pytest.raises(Refused, match="answers sat"):
        list(recheck(certificate.written(program, (), (wrong,), {}), program, (), no_limit))


COMMANDS = ["(and true\n(assert false)\n)", "(and true\n(check-sat)\n)", "(and true\n(push 1)\n)"]


@pytest.mark.parametrize("term", COMMANDS)
def test_a_command_is_no_hint_and_no_invariant(term: str) -> None:
    """Whoever reads a certificate line by line would take it for one."""
    program = compiled()
    for stage in (
        Invariant(("never-five",), "true", 1, hints={0: (term,)}),
        Invariant(("never-five",), term, 1),
    ):
        with pytest.raises(Refused, match=r"no term|no invariant"):
            list(recheck(certificate.written(program, (), (stage,), {}), program, (), no_limit))


def test_lemmas_that_run_out_of_time_are_unknown() -> None:
    verdict, proof = prove(compiled(), (), "never-five", helpers=["same"], limits=Limits(seconds=0))
    assert isinstance(verdict, Unknown)
    assert proof == ()


# The server's

NEWEST = release("0.5.23")


def server(
    scenario: str, sizes: dict[str, object], decided: Release = NEWEST
) -> tuple[Program, tuple[int, ...]]:

    system = SCENARIOS[scenario].system(decided, lemmas=True).with_parameters(**sizes)
    program = compile_system(system)
    return program, program.choices({p.name: decided.names()[p.name] for p in program.decisions})


def test_the_fit_test_of_a_small_server_is_proven() -> None:
    sizes: dict[str, object] = {
        "requests": 2,
        "adapters": 3,
        "names": {"r1": ["A", "B"], "r2": ["A", "base"]},
        "pinned": ["B"],
    }
    program, choices = server("finish-unload", sizes)
    lemmas = [x.name for x in SCENARIOS["finish-unload"].lemmas]
    verdict, proof = prove(program, choices, "no-crash-fit-test-unknown-adapter", helpers=lemmas)
    assert isinstance(verdict, Holds), verdict
    assert len(proof) == 1


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        ("finish-unload", "slot-capacity"),
        ("decode-admission", "slot-capacity"),
        ("idle-rank", "fresh-batch-info"),
    ],
)
def test_lemmas_show_what_holds_on_the_newest_release(scenario: str, name: str) -> None:
    program, choices = server(scenario, {})
    lemmas = [x.name for x in SCENARIOS[scenario].lemmas]
    verdict, proof = prove(program, choices, name, helpers=lemmas)
    assert isinstance(verdict, Holds), verdict
    assert len(proof) == 1


LARGE: dict[str, object] = {
    "requests": 8,
    "adapters": 6,
    "slots": 4,
    "names": {"*": ["base", "A", "B", "C", "D", "E"]},
}


@pytest.mark.deep
def test_eight_requests_six_adapters_and_four_slots_are_proven() -> None:
    program, choices = server("finish-unload", LARGE)
    lemmas = [x.name for x in SCENARIOS["finish-unload"].lemmas]
    costly = [x.name for x in SCENARIOS["finish-unload"].costly]
    verdict, proof = prove(
        program, choices, "no-crash-fit-test-unknown-adapter", helpers=lemmas, costly=costly
    )
    assert isinstance(verdict, Holds), verdict
    text = certificate.written(program, choices, proof, {})
    assert set(in_z3(text, no_limit)) == {"unsat"}


@pytest.mark.deep
@pytest.mark.skipif(not has_cadical(), reason="needs slotproof[prove]")
@pytest.mark.parametrize(
    ("scenario", "name", "decided"),
    [
        ("finish-unload", "slot-capacity", NEWEST),
        ("finish-unload-normal", "slot-capacity", NEWEST),
        ("partial-prompt", "slot-capacity", NEWEST),
        ("use-counts", "slot-capacity", NEWEST),
        ("idle-rank", "slot-capacity", NEWEST),
        ("idle-rank", "fresh-batch-info", NEWEST),
        ("finish-unload-normal", "no-crash-fit-test-unknown-adapter", NEWEST),
        ("partial-prompt", "no-crash-fit-test-unknown-adapter", NEWEST),
        ("use-counts", "no-crash-fit-test-unknown-adapter", NEWEST),
        ("idle-rank", "no-crash-fit-test-unknown-adapter", NEWEST),
        ("finish-unload", "no-crash-fit-test-unknown-adapter", unload_sweeps_first.candidate),
        ("finish-unload-normal", "no-crash-fit-test-unknown-adapter", unload_sweeps_first.candidate),
    ],
)
def test_more_is_proven_and_checked_at_that_size(scenario: str, name: str, decided: Release) -> None:
    program, choices = server(scenario, LARGE, decided)
    lemmas = [x.name for x in SCENARIOS[scenario].lemmas]
    costly = [x.name for x in SCENARIOS[scenario].costly]
    verdict, proof = prove(program, choices, name, helpers=lemmas, costly=costly)
    assert isinstance(verdict, Holds), verdict
    assert len(proof) == 1
    text = certificate.written(program, choices, proof, {})
    assert next(recheck(text, program, choices, Budget(None, None))).startswith(
        "CaDiCaL answers unsat to all"
    )


@pytest.mark.deep
@pytest.mark.parametrize("scenario", [n for n, s in SCENARIOS.items() if s.lemmas])
def test_lemmas_hold_in_every_reachable_state(scenario: str) -> None:
    program, choices = server(scenario, {})
    verdicts = explore(program, choices, asked=[x.name for x in SCENARIOS[scenario].lemmas]).verdicts()
    for lemma in SCENARIOS[scenario].lemmas:
        assert lemma in OF_CANDIDATES or not isinstance(verdicts[lemma.name], Violated), lemma.name


@pytest.mark.parametrize("scenario", ["finish-unload-normal", "decode-admission-pinned"])
def test_the_candidates_lemmas_hold_in_every_reachable_state_of_it_and_not_of_the_release(
    scenario: str,
) -> None:
    for decided, broken in ((NEWEST, True), (unload_sweeps_first.candidate, False)):
        program, choices = server(scenario, {}, decided)
        verdicts = explore(program, choices, asked=[x.name for x in OF_CANDIDATES]).verdicts()
        for lemma in OF_CANDIDATES:
            assert isinstance(verdicts[lemma.name], Violated) == broken, lemma.name


@pytest.mark.parametrize("scenario", ["finish-unload", "decode-admission-pinned"])
def test_the_candidate_that_sweeps_first_is_proven(scenario: str) -> None:
    """F10 and X-2: on the decode role the release itself is violated."""
    program, choices = server(scenario, {}, unload_sweeps_first.candidate)
    lemmas = [x.name for x in SCENARIOS[scenario].lemmas]
    verdict, proof = prove(program, choices, "no-crash-fit-test-unknown-adapter", helpers=lemmas)
    assert isinstance(verdict, Holds), verdict
    (stage,) = proof
    assert isinstance(stage, Invariant)
    assert "rows-are-loaded" in stage.lemmas
