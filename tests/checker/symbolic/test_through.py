"""What is true on the way through an action is shown there, and what is hoped for where its variables are."""

from __future__ import annotations

import pytest

from slotproof.checker.symbolic import certificate, needed, through
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.proving import prove
from slotproof.checker.symbolic.rechecking import recheck
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import of_relation
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.symbolic.strengthening import before_step
from slotproof.checker.symbolic.through import Step
from slotproof.checker.verdict import Holds
from slotproof.model.language import (
    Annotated,
    Domain,
    Range,
    Seq,
    Set,
    State,
    System,
    action,
    field,
    invariant,
    on_the_way,
    require,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.language.surface import Property

no_limit = Budget(None, None)


class Guest(Domain, size=4, names="g{n}"):
    """Who comes."""


class Inn(State):
    """A house with two beds."""

    asked: Set[Guest] = field(set(), "who has asked for a bed")
    asleep: Set[Guest] = field(set(), "who has one")


def given_beds(s: Inn) -> Set[Guest]:
    """Beds are given while there are some; nobody sleeps yet."""
    taken: Set[Guest] = s.asleep
    for g in Guest:
        if g in s.asked and len(taken | {g}) <= 2:
            taken |= {g}
            s.asked -= {g}
    return taken


@action
def ask(s: Inn, who: Set[Guest]) -> None:
    """Some ask."""
    s.asked |= who - s.asleep


@action
def go_to_bed(s: Inn) -> None:
    """Those who get one go to bed."""
    inside = given_beds(s)
    s.asleep = inside


@action
def leave(s: Inn, g: Guest) -> None:
    """A guest goes."""
    s.asleep -= {g}


@invariant
def beds_last(s: Inn) -> bool:
    """There is one for each who sleeps."""
    return len(s.asleep) <= 2


@on_the_way
def taken_last(s: Inn, taken: Set[Guest]) -> bool:
    """While they are given, too."""
    return len(taken) <= 2 and s.asleep <= taken


@on_the_way
def nobody_is_inside(s: Inn, inside: Set[Guest]) -> bool:
    """False."""
    return len(inside) == 0


@on_the_way
def of_what_there_is_not(s: Inn, cellar: Set[Guest]) -> bool:
    """Of no variable of any action."""
    return len(cellar) <= 2


@on_the_way
def nothing_but_the_state(s: Inn) -> bool:
    """Looked at everywhere; false while beds are given."""
    return len(s.asked & s.asleep) == 0


HOPED = [taken_last, nobody_is_inside, of_what_there_is_not, nothing_but_the_state]


def inn() -> Program:
    return compile_system(
        System("inn", Inn, actions=[ask, go_to_bed, leave], properties=[beds_last], on_the_way=HOPED)
    )


def test_what_is_hoped_for_is_looked_at_where_its_variables_are_known() -> None:
    """Those of a function are known in it; those of its caller too."""
    made = relation(inn(), ())
    stops = made.moves[1].result.stops
    names = [{name for name, _ in made.on_the_way(stop)} for stop in stops]
    inside = [n for n, stop in enumerate(stops) if "taken" in stop.locals]
    assert len(inside) >= 4
    assert all(("taken-last" in names[n]) == (n in inside) for n in range(len(stops)))
    assert all("nothing-but-the-state" in found for found in names)
    assert not any("of-what-there-is-not" in found for found in names)
    assert "nobody-is-inside" in names[-1]
    assert "nobody-is-inside" not in names[0]


def test_what_is_true_of_it_becomes_a_fact_and_what_is_false_does_not() -> None:
    made = relation(inn(), ())
    question = of_relation(made, ["beds-last"])
    move = made.moves[1]
    conditions = [*before_step(question, move), made.holds_in("beds-last", made.before)]
    step = Step(made, move, conditions, Formulas(made.booleans), no_limit, lambda _: None, None)
    after = made.holds_in("beds-last", made.stored_of(move.result.after))
    assert step.patiently("beds-last", [move.result.enabled, after ^ 1], ["beds-last"]).possible is False
    b = made.booleans
    hoped: dict[str, list[int]] = {}
    for stop in move.result.stops:
        if not stop.loops:
            for name, holds in made.on_the_way(stop):
                fact = b.any([*(x ^ 1 for x in stop.path), move.result.error, holds])
                hoped.setdefault(name, []).append(fact)
    assert set(hoped["taken-last"]) <= set(step.shown)
    assert not set(hoped["nobody-is-inside"]) & set(step.shown)


def check_impatient(monkeypatch: pytest.MonkeyPatch, program: Program, name: str) -> None:
    """With no patience for whole questions every stop is looked at; the proof is certified."""
    monkeypatch.setattr(through, "FEW", 0)
    monkeypatch.setattr(needed, "DIRECTLY", 0)
    verdict, proof = prove(program, (), name, helpers=[name])
    assert isinstance(verdict, Holds)
    (stage,) = proof
    assert isinstance(stage, Invariant)
    text = certificate.written(program, (), proof, {})
    assert f"to all {text.count('(check-sat)')} questions" in next(recheck(text, program, (), no_limit))


def test_a_proof_that_needs_it_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    check_impatient(monkeypatch, inn(), "beds-last")


def test_facts_that_have_excluded_nothing_are_not_kept() -> None:
    made = relation(inn(), ())
    question = of_relation(made, ["beds-last"])
    move = made.moves[1]
    step = Step(
        made, move, before_step(question, move), Formulas(made.booleans), no_limit, lambda _: None, None
    )
    assert step.patiently("a step", [move.result.enabled], ["beds-last"]).possible
    assert step.facts() == []
    assert step.patiently("no step", [move.result.enabled, move.result.enabled ^ 1], []).possible is False
    assert step.facts() == step.shown


def test_what_is_hoped_for_belongs_to_what_a_program_is() -> None:
    """A certificate is of a system with it; and no other engine asks for it."""
    program = inn()
    without = compile_system(System("inn", Inn, actions=[ask, go_to_bed, leave], properties=[beds_last]))
    assert program.digest != without.digest
    assert program.safety == without.safety


@on_the_way
def number_taken(s: Inn, taken: Annotated[int, Range(0, 4)]) -> bool:
    """Of a number; what has this name is a set."""
    return taken <= 2


@on_the_way
def some_taken(s: Inn, taken: Set[Guest] | None) -> bool:
    """Of a set that may be none."""
    return taken is not None


@on_the_way
def guests_at_once(s: Inn, g: Set[Guest]) -> bool:
    """Of a set; what has this name is a guest."""
    return len(g) <= 2


@pytest.mark.parametrize("hoped", [number_taken, some_taken, guests_at_once])
def test_a_variable_of_another_kind_is_another_one(hoped: Property) -> None:
    program = compile_system(
        System("inn", Inn, actions=[ask, go_to_bed, leave], properties=[beds_last], on_the_way=[hoped])
    )
    made = relation(program, ())
    assert not [x for move in made.moves for stop in move.result.stops for x in made.on_the_way(stop)]


# Rounds and filters


class Queue(State):
    """Guests in a row."""

    row: Seq[Guest] = field([], "who waits, each once")
    served: Set[Guest] = field(set(), "who does not wait any more")


def is_patient(s: Queue, g: Guest) -> bool:
    """Whether a guest stays; a loop in the condition of a filter."""
    count = 0
    for other in Guest:
        if other in s.served:
            count += 1
    return count < 4 and g not in s.served


@action
def join(s: Queue, g: Guest) -> None:
    """A guest stands behind the others."""
    require(g not in s.row and g not in s.served)
    s.row.append(g)


@action
def serve(s: Queue, some: Set[Guest]) -> None:
    """Some are served and go; then the others are asked once more, one by one."""
    s.served |= some
    staying = {g for g in Guest if is_patient(s, g)}
    s.row[:] = [g for g in s.row if g in staying]
    for g in Guest:
        if g not in s.row:
            s.served |= {g}
    s.served = {g for g in s.served if g not in s.row}


@invariant
def waits_once(s: Queue) -> bool:
    """Nobody stands there twice."""
    return all(all(s.row[i] != s.row[j] for j in range(4) if j < i) for i in range(4) if i < len(s.row))


def queue() -> Program:
    return compile_system(System("queue", Queue, actions=[join, serve], properties=[waits_once]))


def test_a_stop_within_a_filter_is_told_from_those_around_it() -> None:
    """While a filter goes on, what is kept and what has been looked at stand side by side in the sequence."""
    stops = relation(queue(), ()).moves[1].result.stops
    within = [n for n, stop in enumerate(stops) if stop.filtering]
    assert within == list(range(within[0], within[-1] + 1))
    assert len(within) >= 4
    assert within[0] > 0
    assert within[-1] < len(stops) - 4
    assert {stops[n].loops for n in within} == {0, 1}


def test_the_rounds_of_a_loop_are_one_place_and_two_loops_are_two() -> None:
    stops = relation(queue(), ()).moves[1].result.stops
    after = [stop for stop in stops if stop.loops and not stop.filtering]
    assert len({stop.place for stop in after}) == 1
    assert not {stop.place for stop in after} & {stop.place for stop in stops if stop.filtering}


def test_a_filtered_sequence_is_proven_to_hold_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a question about the middle of the filter."""
    check_impatient(monkeypatch, queue(), "waits-once")
