"""Why a condition is false, in one phrase: the comparison that decides it."""

from __future__ import annotations

import pytest

from slotproof.counterexamples.evidence import Evidence
from slotproof.counterexamples.reason import Reason
from slotproof.model.language import (
    Annotated,
    Domain,
    Map,
    Range,
    Set,
    State,
    System,
    action,
    field,
    implies,
    invariant,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program


class Good(Domain, size=3, names=("A", "B", "C")):
    """A kind of goods."""


class Store(State):
    """What is in the store."""

    held: Set[Good] = field({Good(0), Good(1)}, "goods in the store")
    wanted: Set[Good] = field({Good(1), Good(2)}, "goods that are wanted")
    count: Map[Good, Annotated[int, Range(0, 9)]] = field(4, "how many there are")
    last: Good | None = field(None, "the last that came")
    open: bool = field(False, "whether it is open")


@action
def sell(s: Store, a: Good) -> None:
    """Each variable can change: of one that cannot, the compiler leaves the value alone."""
    s.held -= {a}
    s.wanted -= {a}
    s.count[a] = 0
    s.last = a
    s.open = True


def few(s: Store, a: Good) -> bool:
    """Whether there are at most three."""
    return s.count[a] <= 3


def both(s: Store) -> Set[Good]:
    """What is there or wanted."""
    return s.held | {Good(2)}


@invariant
def wanted_is_held(s: Store) -> bool:
    """p"""
    return s.wanted <= s.held


@invariant
def few_of_each(s: Store) -> bool:
    """p"""
    return all(few(s, a) for a in Good if a in s.wanted)


@invariant
def never_both(s: Store) -> bool:
    """p"""
    return len(s.held) < 2 or Good(0) not in both(s)


@invariant
def something_came(s: Store) -> bool:
    """p"""
    return s.last is not None


@invariant
def open_if_held(s: Store) -> bool:
    """p"""
    return implies(len(s.held) > 0, s.open)


@invariant
def nothing_common(s: Store) -> bool:
    """p"""
    return not any(a in s.held and a in s.wanted for a in Good)


@invariant
def held_is_nothing(s: Store) -> bool:
    """p"""
    return len(s.held & s.wanted) == 0


PROPERTIES = [
    wanted_is_held,
    few_of_each,
    never_both,
    something_came,
    open_if_held,
    nothing_common,
    held_is_nothing,
]


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_system(System("store", Store, actions=[sell], properties=PROPERTIES))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("wanted-is-held", ["wanted = {B, C} is not within held = {A, B}: C is not in it"]),
        ("few-of-each", ["count[B] = 4, and that is more than 3"]),
        (
            "never-both",
            ["held = {A, B} has 2 elements, and that is not below 2", "A is in both() = {A, B, C}"],
        ),
        ("something-came", ["last = None, and that is None"]),
        ("open-if-held", ["held = {A, B} is not empty", "open is False"]),
        ("nothing-common", ["B is in held = {A, B}", "B is in wanted = {B, C}"]),
        ("held-is-nothing", ["held & wanted = {B} is not empty"]),
    ],
)
def test_the_comparison_that_decides_is_named(program: Program, name: str, why: list[str]) -> None:
    evidence = Evidence(program, (), {"state": program.start})
    prop = next(p for p in program.properties if p.name == name)
    assert [f.value for f in evidence.conjuncts(prop, ())] == [0]
    assert list(Reason(evidence).of_property(prop, 0, ())) == why
