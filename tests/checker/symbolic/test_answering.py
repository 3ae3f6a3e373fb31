"""The text of a certificate is read and answered: as Z3 reads and answers it, whatever it asks."""

import time
from collections.abc import Callable, Iterator
from itertools import combinations, product
from random import Random

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from slotproof.checker.symbolic import rechecking
from slotproof.checker.symbolic.answering import answers, in_cadical
from slotproof.checker.symbolic.booleans import Choice, Conjunction, Literal, Variable
from slotproof.checker.symbolic.cadical import has_cadical
from slotproof.checker.symbolic.certificate import Refused
from slotproof.checker.symbolic.reading import Asked, Gates, Scope, script
from slotproof.checker.symbolic.rechecking import in_cvc5, in_z3
from slotproof.checker.symbolic.solving import Budget, Stopped, in_thread

no_limit = Budget(None, None)
Ask = Callable[[str, Budget], Iterator[str]]
needs_cadical = pytest.mark.skipif(not has_cadical(), reason="needs slotproof[prove]")

NAMES = [f"|{name}|" for name in ("s.a.0", "s.b[].0=1", "act.turn@0", "n")]


def parts(term: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        term.map(lambda x: f"(not {x})"),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(term, min_size=1, max_size=4)).map(
            lambda x: f"({x[0]} {' '.join(x[1])})"
        ),
        st.tuples(st.sampled_from(["=>", "=", "xor", "distinct"]), term, term).map(
            lambda x: f"({' '.join(x)})"
        ),
        st.tuples(term, term, term).map(lambda x: f"(ite {' '.join(x)})"),
        st.tuples(term, term).map(lambda x: f"(let ((n {x[0]})) (and n {x[1]}))"),
    )


TERMS = st.recursive(st.sampled_from([*NAMES, "true", "false"]), parts, max_leaves=12)

COMMANDS = st.lists(
    st.one_of(
        TERMS.map(lambda x: f"(assert {x})"),
        st.just("(check-sat)"),
        TERMS.map(lambda x: f"(push 1)\n(assert {x})\n(check-sat)\n(pop 1)"),
    ),
    min_size=1,
    max_size=6,
)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    lines = [f"(declare-const {name} Bool)" for name in NAMES]
    lines.append(f"(define-fun f ((x Bool) (y Bool)) Bool (ite x {draw(TERMS)} (not y)))")
    lines += draw(st.lists(TERMS.map(lambda x: f"(assert (f {x} |n|))"), max_size=1))
    for scope in draw(st.lists(COMMANDS, min_size=1, max_size=3)):
        lines += ["(push 1)", *scope, "(check-sat)", "(pop 1)"]
    return "\n".join(lines)


@needs_cadical
@given(scripts())
def test_cadical_answers_as_z3_does_whatever_is_asked(text: str) -> None:
    read = script(text, no_limit)
    found = list(in_cadical(read, no_limit))
    assert found == list(in_z3(text, no_limit))
    assert len(found) == text.count("(check-sat)") == sum(scope.questions for scope in read.scopes)


VARIABLES = 5


def any_of_few(random: Random) -> tuple[Gates, Scope]:
    """Assertions and questions in turn, about the same few gates and what they are made of."""
    gates = Gates()
    gates.nodes += [Variable(name, 0) for name in "abcde"[:VARIABLES]]

    def some(most: int) -> tuple[Literal, ...]:
        return tuple(random.randrange(2, 2 * len(gates.nodes)) for _ in range(random.randint(1, most)))

    for _ in range(random.randint(2, 8)):
        choice = Choice(some(1)[0], some(1)[0], some(1)[0])
        gates.nodes.append(choice if random.random() < 0.3 else Conjunction(some(3)))
    items: list[Literal | Asked] = []
    for _ in range(random.randint(2, 9)):
        items.append(Asked(some(3)) if random.random() < 0.5 else some(1)[0])
    return gates, Scope(items)


def nested(random: Random) -> tuple[Gates, Scope]:
    """The same about gates within gates, some of which do not matter at first."""
    gates = Gates()
    gates.nodes += [Variable(name, 0) for name in "abcde"[:VARIABLES]]

    def some(most: int) -> tuple[Literal, ...]:
        return tuple(random.randrange(2, 2 * len(gates.nodes)) for _ in range(random.randint(1, most)))

    for _ in range(random.randint(2, 4)):
        gates.nodes.append(Conjunction((*some(2), 2 * len(gates.nodes) - 2)))
        if random.random() < 0.5:
            gates.nodes.append(Choice(2, some(1)[0], 2 * len(gates.nodes) - 2))
    inner = range(2 * VARIABLES + 2, 2 * len(gates.nodes))
    items: list[Literal | Asked] = [2, Asked((random.choice(inner),))]
    for _ in range(random.randint(1, 5)):
        one, kind = random.choice(inner), random.randrange(3)
        items.append(one if kind == 0 else Asked(some(3) if kind == 1 else (one, *some(2))))
    return gates, Scope(items)


def by_hand(gates: Gates, scope: Scope) -> list[str]:
    """The answers, by all valuations."""
    left = []
    for values in product([False, True], repeat=VARIABLES):
        known = [True, *values]

        def true(literal: Literal, known: list[bool] = known) -> bool:
            return known[literal >> 1] ^ bool(literal & 1)

        for node in gates.nodes[len(known) :]:
            if isinstance(node, Choice):
                known.append(true(node.then) if true(node.condition) else true(node.otherwise))
            elif isinstance(node, Conjunction):
                known.append(all(map(true, node.literals)))
        left.append(true)
    answers = []
    for item in scope.items:
        if isinstance(item, Asked):
            answers.append("sat" if any(all(map(true, item.wanted)) for true in left) else "unsat")
        else:
            left = [true for true in left if true(item)]
    return answers


@needs_cadical
@pytest.mark.parametrize(("made", "count"), [(any_of_few, 2000), (nested, 6000)])
def test_what_is_asserted_later_counts_for_what_was_looked_at_before(
    made: Callable[[Random], tuple[Gates, Scope]], count: int
) -> None:
    random = Random(0)
    for _ in range(count):
        asked = made(random)
        assert list(answers(*asked, no_limit)) == by_hand(*asked)


@needs_cadical
def test_a_part_that_is_false_later_makes_the_whole_false() -> None:
    """The second question looked at ``both`` without asking about it."""
    text = "\n".join(
        [
            *(f"(declare-const {name} Bool)" for name in "abcde"),
            "(define-fun both () Bool (and (and a b) c))",
            *("(push 1)", "(assert d)"),
            *("(push 1)", "(assert (ite d (and e c) both))", "(check-sat)", "(pop 1)"),
            "(assert (not (and a b)))",
            *("(push 1)", "(assert (not both))", "(assert c)", "(check-sat)", "(pop 1)"),
            *("(push 1)", "(assert both)", "(check-sat)", "(pop 1)", "(pop 1)"),
        ]
    )
    assert list(in_cadical(script(text, no_limit), no_limit)) == ["sat", "sat", "unsat"]


@given(scripts())
def test_cvc5_answers_as_z3_does(text: str) -> None:
    pytest.importorskip("cvc5")
    assert list(in_cvc5(f"(set-logic QF_UF)\n{text}", no_limit)) == list(in_z3(text, no_limit))


@needs_cadical
def test_what_a_scope_asserts_ends_with_it() -> None:
    text = "\n".join(
        [
            "(declare-const x Bool)",
            *("(push 1)", "(assert x)", "(push 1)", "(assert (not x))", "(check-sat)", "(pop 1)"),
            *("(check-sat)", "(assert (not x))", "(check-sat)", "(pop 1)"),
            *("(push 1)", "(assert (not x))", "(check-sat)", "(pop 1)", "(check-sat)"),
        ]
    )
    assert list(in_cadical(script(text, no_limit), no_limit)) == ["unsat", "sat", "unsat", "sat", "sat"]


@pytest.mark.parametrize(
    "lines",
    [
        ["(declare-const x Int)", "(assert (> x 0))"],
        ["(declare-const x Int)", "(declare-const y Int)", "(assert (= x y))"],
        ["(declare-fun f (Bool) Bool)", "(assert (f true))"],
        ["(assert (forall ((x Bool)) x))"],
        ["(declare-const x Bool)", "(assert x", ")", "(assert ", "x)"],
        ["(declare-const x Bool)", "(assert x)(assert x)"],
        ["(assert nothing)"],
    ],
    ids=lambda lines: " ".join(lines),
)
def test_what_is_more_than_boolean_terms_one_a_line_is_refused(lines: list[str]) -> None:
    try:
        read = script("\n".join([*lines, "(check-sat)"]), no_limit)
    except Refused:
        return
    # What spreads over lines still is what it says, or it is not read.
    assert all(isinstance(x, Asked) or x for scope in read.scopes for x in scope.items)
    assert [scope.questions for scope in read.scopes] == [1]


@pytest.mark.parametrize("ask", [in_z3, in_cvc5])
@pytest.mark.parametrize(
    "text", ["(assert nothing)", "(assert (", "(assert \\)", "(assert (and true 1))", "|"]
)
def test_what_a_solver_cannot_read_is_refused(ask: Ask, text: str) -> None:
    if ask is in_cvc5:
        pytest.importorskip("cvc5")
    with pytest.raises(Refused):
        list(ask(text + "\n(check-sat)", no_limit))


# Limits


def hard(holes: int) -> str:
    """One pigeon more than there are holes."""
    sits = [[f"|{i} in {j}|" for j in range(holes)] for i in range(holes + 1)]
    lines = [f"(declare-const {name} Bool)" for row in sits for name in row]
    lines += ["(push 1)", *(f"(assert (or {' '.join(row)}))" for row in sits)]
    for one, other in combinations(sits, 2):
        lines += [f"(assert (not (and {x} {y})))" for x, y in zip(one, other, strict=True)]
    return "\n".join([*lines, "(check-sat)", "(pop 1)"])


def test_a_further_solver_has_a_while_and_no_more() -> None:
    easy = "(push 1)\n(assert false)\n(check-sat)\n(pop 1)\n"
    for ask in (in_z3, in_cvc5):
        if ask is in_cvc5:
            pytest.importorskip("cvc5")
        text = easy + hard(18) + "\n" + easy  # cvc5 takes a second for 12, four times that for each more
        assert list(ask(text, Budget(None, None), 3.0)) == ["unsat"]
        assert list(ask(text, Budget(None, None), 0.0)) == []


@needs_cadical
def test_a_budget_ends_the_answers() -> None:
    with pytest.raises(Stopped, match="time limit of 1 s"):
        list(in_cadical(script(hard(18), no_limit), Budget(1.0, None)))


@pytest.mark.parametrize("answer", [z3.sat, z3.unsat, z3.unknown, z3.Z3Exception(b"canceled")], ids=repr)
def test_an_answer_that_comes_with_the_limit_is_none(answer: object) -> None:
    """The context has been told to stop by then: it has no model of what it has found."""
    budget = Budget(None, None)

    def ask() -> object:
        budget.interrupt("interrupted by SIGINT")
        time.sleep(0.3)
        return answer

    with pytest.raises(Stopped, match="interrupted by SIGINT"):
        in_thread(z3.Context(), budget, ask)


@needs_cadical
def test_one_question_that_is_not_answered_is_noticed() -> None:
    with pytest.raises(Refused, match="answers 1 questions of 2"):
        rechecking._all("CaDiCaL", iter(["unsat"]), 2)
    with pytest.raises(Refused, match="answers sat where it has to be unsat"):
        rechecking._some("cvc5", iter(["unsat", "sat"]), 3)
    assert rechecking._some("cvc5", iter(["unsat"]), 2) == (
        "cvc5 answers unsat to 1 of the 2 questions, was not asked the others: 40 s have gone"
    )
