"""Questions about one step: whoever is asked, the answer is the same, and what it rests on suffices."""

from collections.abc import Callable, Sequence
from itertools import combinations, product

import pytest

from slotproof.checker.symbolic.asking import OfCadical, OfZ3, Questions, Reply, is_trivial
from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Literal
from slotproof.checker.symbolic.cadical import has_cadical
from slotproof.checker.symbolic.solving import Budget, Formulas, Stopped
from slotproof.checker.symbolic.values import Values

Asking = Callable[[Booleans, Budget, Sequence[Literal]], Questions]

no_limit = Budget(None, None)


def of_z3(booleans: Booleans, budget: Budget, conditions: Sequence[Literal]) -> Questions:
    return OfZ3(Formulas(booleans), budget, conditions)


SOLVERS = [
    of_z3,
    pytest.param(OfCadical, marks=pytest.mark.skipif(not has_cadical(), reason="needs slotproof[prove]")),
]


def pigeons(booleans: Booleans, holes: int) -> list[Literal]:
    """One more than there are holes, each in a hole of its own: impossible, and hard to see."""
    sits = [[booleans.variable(f"{i} in {j}") for j in range(holes)] for i in range(holes + 1)]
    alone = [
        booleans.conj(one[j], other[j]) ^ 1 for one, other in combinations(sits, 2) for j in range(holes)
    ]
    return [*map(booleans.any, sits), *alone]


@pytest.mark.parametrize("asking", SOLVERS)
def test_every_answer_is_that_of_a_truth_table(asking: Asking) -> None:
    b = Booleans()
    x, y, z = (b.variable(name) for name in "xyz")
    terms = [x, y ^ 1, b.conj(x, y), b.choose(x, y, z), b.same(y, z), b.disj(x, b.conj(y, z)), TRUE, FALSE]
    terms += [t ^ 1 for t in terms]
    for condition, given, wanted in product(terms[:8], terms[:8], terms):
        reply = asking(b, no_limit, [condition]).ask(wanted, [given])
        rows = (
            b.value([condition, given, wanted], {v for v, t in zip((x, y, z), row, strict=True) if t})
            for row in product((False, True), repeat=3)
        )
        assert reply.possible == any(map(all, rows))


@pytest.mark.parametrize("asking", SOLVERS)
def test_what_it_is_told_to_know_is_one_more_condition(asking: Asking) -> None:
    """Of what is asked later, and whether it has seen the term before or not."""
    b = Booleans()
    x, y, z = (b.variable(name) for name in "xyz")
    terms = [x, y ^ 1, b.conj(x, y), b.choose(x, y, z), b.same(y, z), b.disj(x, b.conj(y, z)) ^ 1]
    for condition, known, wanted in product(terms, terms, terms):
        asked = asking(b, no_limit, [condition])
        before, under = asked.ask(wanted, ()), asking(b, no_limit, [condition, known])
        asked.know(known)
        assert before.possible == asking(b, no_limit, [condition]).ask(wanted, ()).possible
        assert asked.ask(wanted, ()).possible == under.ask(wanted, ()).possible
        assert asked.ask(wanted ^ 1, [x]).possible == under.ask(wanted ^ 1, [x]).possible


@pytest.mark.parametrize("asking", SOLVERS)
def test_what_an_answer_rests_on_is_enough_for_it(asking: Asking) -> None:
    b = Booleans()
    x, y, z = (b.variable(name) for name in "xyz")
    asked = asking(b, no_limit, [b.disj(x ^ 1, y)])
    assert asked.ask(z, [x]).possible
    reply = asked.ask(y ^ 1, [z, x])
    assert reply.possible is False
    assert x in reply.used
    assert asking(b, no_limit, [b.disj(x ^ 1, y)]).ask(y ^ 1, reply.used).possible is False
    assert asked.ask(y ^ 1, [z]).possible  # what was given once is not known from then on


@pytest.mark.parametrize("asking", SOLVERS)
def test_a_question_that_costs_too_much_has_no_answer(asking: Asking) -> None:
    b = Booleans()
    asked = asking(b, no_limit, pigeons(b, 9))
    assert asked.ask(TRUE, (), 20) == Reply(None)
    few = Booleans()
    assert asking(few, no_limit, pigeons(few, 4)).ask(TRUE, ()).possible is False


@pytest.mark.parametrize("asking", SOLVERS)
def test_a_budget_ends_a_question(asking: Asking) -> None:
    b = Booleans()
    asked = asking(b, Budget(1.0, None), pigeons(b, 12))
    with pytest.raises(Stopped, match="time limit of 1 s"):
        asked.ask(TRUE, ())


def test_terms_that_exclude_each_other_are_not_asked_about() -> None:
    b = Booleans()
    x, y = b.variable("x"), b.variable("y")
    assert is_trivial([x, y, x ^ 1])
    assert is_trivial([FALSE])
    assert not is_trivial([x, y ^ 1, TRUE])


@pytest.mark.parametrize("size", range(6))
def test_a_count_is_how_many_are_true(size: int) -> None:
    b = Booleans()
    bits = tuple(b.variable(str(i)) for i in range(size))
    counted = Values(b).count(bits)
    for row in product((False, True), repeat=size):
        true = {x for x, t in zip(bits, row, strict=True) if t}
        values = dict(zip(counted, b.value(list(counted.values()), true), strict=True))
        assert [n for n, holds in values.items() if holds] == [sum(row)]
