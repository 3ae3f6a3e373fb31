"""Of many lemmas those are taken that a property needs, and no others are asked about."""

from collections.abc import Sequence

import pytest

from slotproof.checker.symbolic import asking, certificate, needed, through
from slotproof.checker.symbolic.asking import Reply
from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.cadical import has_cadical
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.proving import prove
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import of_relation
from slotproof.checker.symbolic.through import Step
from slotproof.checker.verdict import Holds
from slotproof.model.language import Annotated, Range, State, System, action, field, invariant, require
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.properties import SCENARIOS
from tests.checker.symbolic.test_strengthening import (
    Hasty,
    Pair,
    compiled,
    die_together,
    no_limit,
    server,
)


def shown(
    program: Program, name: str, lemmas: Sequence[str], told: list[str] | None = None
) -> Invariant | None:
    question = of_relation(relation(program, ()), [name])
    return needed.show(question, lemmas, no_limit, None if told is None else told.append)


ORDERS = [("same", "even", "never-five"), ("even", "never-five", "same"), ("never-five", "same", "even")]


@pytest.fixture(params=["whatever there is", "Z3"], autouse=True)
def _solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "Z3":
        monkeypatch.setattr(asking, "has_cadical", lambda: False)


@pytest.mark.parametrize("order", ORDERS)
def test_what_a_property_needs_is_found_in_any_order(order: tuple[str, ...]) -> None:
    program = compiled()
    found = shown(program, "never-five", order)
    assert found is not None
    assert {"same", "even"} <= set(found.lemmas)
    text = certificate.written(program, (), (found,), {})
    assert f"to all {text.count('(check-sat)')} questions" in next(recheck(text, program, (), no_limit))


def test_a_lemma_that_a_property_does_not_need_is_not_asked_about() -> None:
    told: list[str] = []
    found = shown(compiled(), "same", ["even", "same", "never-five"], told)
    assert found is not None
    assert found.lemmas == ("same",)
    assert not any("never-five" in about for about in told)


def test_lemmas_that_are_not_kept_are_passed_over() -> None:
    """One is false at the start, one after three steps; both are false in what goes wrong first."""
    found = shown(compiled(), "never-five", ["above-zero", "below-six", "same", "even"])
    assert found is not None
    assert not {"above-zero", "below-six"} & set(found.lemmas)


@pytest.mark.parametrize("lemmas", [[], ["same"], ["even"]])
def test_too_few_lemmas_show_nothing(lemmas: list[str]) -> None:
    assert shown(compiled(), "never-five", lemmas) is None


def test_nothing_is_shown_of_what_is_violated_or_has_no_successor() -> None:
    every = ["same", "even", "never-five", "below-six", "above-zero"]
    assert shown(compiled(), "below-six", every) is None
    assert shown(compiled(), "above-zero", every) is None
    assert shown(compiled(die_together), "deadlock", every) is None


def test_where_a_question_is_hard_all_lemmas_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compiled()
    if not has_cadical():
        monkeypatch.setattr(asking, "OfZ3", Hasty)
    monkeypatch.setattr(needed, "CONFLICTS", 0)
    monkeypatch.setattr(needed, "DIRECTLY", 0)
    monkeypatch.setattr(through, "FEW", 0)
    assert shown(program, "never-five", ["same", "even"]) is None
    assert isinstance(prove(program, (), "never-five", helpers=["same", "even"])[0], Holds)


class Unread(State):
    """Numbers, of which ``wrong`` rests on ``v`` alone."""

    u: Annotated[int, Range(0, 3)] = field(0, "one")
    t: Annotated[int, Range(0, 3)] = field(0, "like it")
    v: Annotated[int, Range(0, 3)] = field(0, "one apart")
    wrong: bool = field(False, "whether something has gone wrong")


@action
def turn_both(s: Unread, n: Annotated[int, Range(0, 1)]) -> None:
    """Three times by none or two."""
    for _ in range(3):
        s.u = (s.u + 2 * n) % 4
        s.t = (s.t + 2 * n) % 4


@action
def go_wrong(s: Unread) -> None:
    """Where the other is one."""
    require(s.v == 1 or s.wrong)
    s.wrong = True


@action
def set_two(s: Unread) -> None:
    """It can be something."""
    s.v = 2


@invariant
def never_wrong(s: Unread) -> bool:
    """Needs ``v_even`` alone."""
    return not s.wrong


@invariant
def alike_and_even(s: Unread) -> bool:
    """Holds by itself, and is false in most of what goes wrong."""
    return s.u == s.t and s.u % 2 == 0


@invariant
def v_even(s: Unread) -> bool:
    """Holds by itself."""
    return s.v % 2 == 0


def test_what_a_lemma_that_is_not_needed_shows_on_the_way_is_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown by the lemma, which the certificate does not have."""
    quickly = Step.quickly

    def but_one(
        step: Step, about: str, wanted: Sequence[Literal], given: Sequence[Literal], conflicts: int
    ) -> Reply:
        hard = about == "alike-and-even after turn_both"
        return Reply(None) if hard else quickly(step, about, wanted, given, conflicts)

    monkeypatch.setattr(Step, "quickly", but_one)
    properties = [never_wrong, alike_and_even, v_even]
    program = compile_system(
        System("unread", Unread, actions=[turn_both, go_wrong, set_two], properties=properties)
    )
    found = shown(program, "never-wrong", ["alike-and-even", "v-even", "never-wrong"])
    assert found is not None
    text = certificate.written(program, (), (found,), {})
    assert f"to all {text.count('(check-sat)')} questions" in next(recheck(text, program, (), no_limit))


@action
def go_down(s: Pair) -> None:
    """Three times by two, as far as that goes."""
    for _ in range(3):
        if s.x >= 2:
            s.x -= 2
        if s.y >= 2:
            s.y -= 2


def test_what_is_hard_is_put_off_and_shown_by_what_holds_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that has shown a fact knows it, and does not name it: the certificate has it all the same."""
    if not has_cadical():
        monkeypatch.setattr(asking, "OfZ3", Hasty)
    monkeypatch.setattr(needed, "DIRECTLY", 0)
    monkeypatch.setattr(through, "FEW", 0)
    program = compiled(go_down, die_together)
    found = shown(program, "never-five", ["above-zero", "same", "even"])
    assert found is not None
    assert set(found.lemmas) == {"same", "even"}
    assert len(found.hints[0]) >= 2
    text = certificate.written(program, (), (found,), {})
    assert f"to all {text.count('(check-sat)')} questions" in next(recheck(text, program, (), no_limit))


def test_a_lemma_that_is_hard_and_not_kept_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_cadical():
        monkeypatch.setattr(asking, "OfZ3", Hasty)
    monkeypatch.setattr(needed, "DIRECTLY", 0)
    found = shown(compiled(), "never-five", ["above-zero", "below-six", "same", "even"])
    assert found is not None
    assert not {"above-zero", "below-six"} & set(found.lemmas)
    assert shown(compiled(), "below-six", ["above-zero", "same", "even", "never-five"]) is None


def test_stale_metadata_needs_no_lemma_about_use_counts() -> None:
    program, choices = server("idle-rank", {})
    question = of_relation(relation(program, choices), ["fresh-batch-info"])
    told: list[str] = []
    names = [x.name for x in SCENARIOS["idle-rank"].lemmas]
    found = needed.show(question, names, no_limit, told.append)
    assert found is not None
    assert "queued-once" in found.lemmas
    assert not any("use-count" in about for about in told)
