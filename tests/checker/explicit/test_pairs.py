"""Two systems side by side, against a search of their pairs in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from slotproof.checker.explicit.pairs import Kind, Pairs, compare_runs
from slotproof.checker.verdict import Limits
from slotproof.counterexamples.verify import verify
from slotproof.model.language import (
    Alternatives,
    Annotated,
    Domain,
    ModelError,
    Range,
    Set,
    State,
    System,
    action,
    crash,
    decision,
    field,
    initial,
    output,
    require,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.language.surface import Action


class Item(Domain, size=2, names="i{n}"):
    """What can be held."""


class Shelf(State):
    """A counter and what is held."""

    n: Annotated[int, Range(0, 4)] = field(0, "how many")
    held: Set[Item] = field(frozenset(), "what is held")
    moved: bool = output(False, "whether something was put down")


@decision
def enough(s: Shelf) -> bool:
    """Whether nothing more fits."""
    raise NotImplementedError


def at_four(s: Shelf) -> bool:
    """At four."""
    return s.n >= 4


def at_three(s: Shelf) -> bool:
    """At three."""
    return s.n >= 3


def when_all_are_held(s: Shelf) -> bool:
    """At four, and when everything is held."""
    return s.n >= 4 or all(i in s.held for i in Item)


def never(s: Shelf) -> bool:
    """Never, which leaves the range."""
    return False


@decision
def put_down(s: Shelf, i: Item) -> None:
    """What putting down does."""
    raise NotImplementedError


def quietly(s: Shelf, i: Item) -> None:
    """It is no longer held."""
    s.held -= {i}


def showing(s: Shelf, i: Item) -> None:
    """The same, and it shows."""
    s.held -= {i}
    s.moved = True


def counting(s: Shelf, i: Item) -> None:
    """It counts down too."""
    s.held -= {i}
    if s.n == 3:
        s.n -= 1


def breaking(s: Shelf, i: Item) -> None:
    """At three it breaks."""
    s.held -= {i}
    if s.n == 3:
        crash("broken")


def falling(s: Shelf, i: Item) -> None:
    """At three it falls."""
    s.held -= {i}
    if s.n == 3:
        crash("fallen")


@action
def take(s: Shelf, i: Item) -> None:
    """{i} is taken."""
    require(not enough(s))
    require(i not in s.held)
    s.held |= {i}
    s.n += 1


@action
def put(s: Shelf, i: Item) -> None:
    """{i} is put down."""
    require(i in s.held)
    put_down(s, i)


class Counted(Shelf):
    """A shelf that remembers more."""

    before: Annotated[int, Range(0, 2)] = field(0, "how often the first was taken, at most twice")


def remembering() -> Action[Any]:
    """An action that takes the place of ``take`` and remembers, without consequence."""

    @action
    def take(s: Counted, i: Item) -> None:
        require(not enough(s))
        require(i not in s.held)
        s.held |= {i}
        s.n += 1
        if i == Item(0) and s.before < 2:
            s.before += 1

    return take


def stubborn() -> Action[Any]:
    """One that refuses by what it remembers."""

    @action
    def take(s: Counted, i: Item) -> None:
        require(not enough(s))
        require(i not in s.held and (s.before < 2 or i != Item(0)))
        s.held |= {i}
        s.n += 1
        if i == Item(0) and s.before < 2:
            s.before += 1

    return take


def starting_late() -> Action[Any]:
    """An initial action with other states."""

    @initial
    def starts(s: Shelf, n: Annotated[int, Range(0, 1)]) -> None:
        s.n = n + 1

    return starts


@action
def take_two(s: Shelf, i: Item, j: Item) -> None:
    """{i} and {j} are taken."""
    require(i not in s.held and j not in s.held)
    s.held |= {i, j}


@initial
def starts(s: Shelf, n: Annotated[int, Range(0, 1)]) -> None:
    """It starts with {n}."""
    s.n = n


ENOUGH = (at_four, at_three, when_all_are_held)
PUT = (quietly, showing, counting, breaking, falling)
shelf = System(
    "shelf",
    Shelf,
    actions=[take, put],
    decisions=[Alternatives(enough, *ENOUGH, never), Alternatives(put_down, *PUT)],
)
CHOICES = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 4)]


@pytest.fixture(scope="module")
def plain() -> Program:
    return compile_system(shelf)


def _observed(program: Program, common: list[str], state: tuple[int, ...], cause: str | None) -> object:
    fields = [
        (c.name, state[c.offset : c.offset + c.cells])
        for c in program.columns
        if c.name in common and c.cells
    ]
    return sorted(fields), cause


def by_hand(
    one: Program, its: tuple[int, ...], two: Program, others: tuple[int, ...]
) -> tuple[int | None, int | None, int]:
    """The lengths of the shortest differences, and the number of pairs if all of them are looked at."""
    sides = Interpreter(one, its), Interpreter(two, others)
    common = [c.name for c in one.columns if c.name in {d.name for d in two.columns}]
    programs = one, two

    def steps(side: int, state: tuple[int, ...], cause: str | None) -> dict[object, tuple[object, object]]:
        if cause is not None:
            return {}
        found: dict[object, tuple[object, object]] = {}
        for number, numbers, outcome in sides[side].successors(state):
            key = (programs[side].actions[number].name, numbers)
            seen = _observed(programs[side], common, outcome.state, outcome.crash)
            found[key] = (seen, (sides[side].stored(outcome.state), outcome.crash))
        return found

    starts = [{(n, a): sides[i].stored(s) for n, a, s in sides[i].initial()} for i in (0, 1)]
    level = [((starts[0][k], None), (starts[1][k], None)) for k in starts[0] if k in starts[1]]
    seen = set(level)
    lengths: list[int | None] = [None, None]
    depth = 0
    while level:
        depth += 1
        following = []
        for a, b in level:
            mine, theirs = steps(0, *a), steps(1, *b)
            for i, (own, other) in enumerate(((mine, theirs), (theirs, mine))):
                if any(k not in other or other[k][0] != own[k][0] for k in own) and lengths[i] is None:
                    lengths[i] = depth
            for key in mine:
                if key in theirs and mine[key][0] == theirs[key][0]:
                    pair = (mine[key][1], theirs[key][1])
                    if pair not in seen:
                        seen.add(pair)  # type: ignore[arg-type]
                        following.append(pair)
        level = following  # type: ignore[assignment]
    return lengths[0], lengths[1], len(seen)


def agree(one: Program, its: tuple[int, ...], two: Program, others: tuple[int, ...]) -> Pairs:
    """Compare, and demand what the plain search says."""
    found = compare_runs(one, its, two, others)
    lengths = [None if d is None else d.length for d in (found.first_can, found.second_can)]
    first, second, pairs = by_hand(one, its, two, others)
    assert lengths == [first, second]
    if None in lengths:
        assert found.pairs == pairs
    for divergence in (found.first_can, found.second_can):
        if divergence is not None:
            verify(divergence.first, one)
            verify(divergence.second, two)
            assert divergence.reasons
    return found


def test_every_two_choices_of_a_program_differ_where_a_plain_search_says(plain: Program) -> None:
    relations = set()
    for one, other in product(CHOICES, CHOICES):
        found = agree(plain, one, plain, other)
        relations.add((found.first_can is None, found.second_can is None))
        assert (found.first_can is None and found.second_can is None) >= (one == other)
    assert relations == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize("other", [remembering, stubborn])
def test_state_that_one_side_adds_is_not_compared(plain: Program, other: Callable[[], Action[Any]]) -> None:
    mine = compile_system(System("shelf", Counted, [other(), put], decisions=shelf.decisions))
    found = agree(plain, (0, 0), mine, (0, 0))
    assert found.only_second == ("before",)
    assert found.second_can is None
    if other is remembering:
        assert found.first_can is None
    else:
        assert found.first_can is not None
        assert found.first_can.kind is Kind.ONLY_FIRST
        assert [str(s) for s in found.first_can.first.steps][-1] == "take(i=i1)"
        assert found.first_can.reasons == ("s.before < 2 or i != Item(0)",)
    for choice in CHOICES:
        agree(plain, choice, mine, (0, 0))
        agree(mine, (0, 0), plain, choice)


def test_crashes_are_told_apart_by_cause_and_not_by_number(plain: Program) -> None:
    """Two programs number their causes differently."""
    turned = compile_system(
        System(
            "shelf", Shelf, [take, put], decisions=[shelf.decisions[0], Alternatives(put_down, *PUT[::-1])]
        )
    )
    assert turned.crashes == plain.crashes[::-1]
    for i, j in product(range(len(PUT)), repeat=2):
        agree(plain, (0, i), turned, (0, j))
    found = agree(plain, (0, 3), turned, (0, 0))
    assert found.first_can is not None
    assert found.first_can.kind is Kind.OTHERWISE
    assert found.first_can.reasons[0] == "it ends in broken and in fallen"


def test_actions_are_the_same_by_name_and_parameters(plain: Program) -> None:
    @action
    def put(s: Shelf, i: Item, j: Item) -> None:
        require(i in s.held)
        put_down(s, i)

    wide = compile_system(System("shelf", Shelf, [take, put], decisions=shelf.decisions))
    found = compare_runs(plain, (0, 0), wide, (0, 0))
    assert found.first_can is not None
    assert found.second_can is not None
    assert found.first_can.kind is Kind.ONLY_FIRST
    assert found.first_can.reasons == ("put has the parameters (i, j)",)
    assert found.second_can.reasons == ("put has the parameters (i)",)
    more = compile_system(System("shelf", Shelf, [take, put, take_two], decisions=shelf.decisions))
    found = compare_runs(wide, (0, 0), more, (0, 0))
    assert found.first_can is None
    assert found.second_can is not None
    assert found.second_can.reasons == ("there is no take_two",)


def test_starts_are_compared_by_their_arguments(plain: Program) -> None:
    one = compile_system(System("shelf", Shelf, [take, put], initial=[starts], decisions=shelf.decisions))
    assert not compare_runs(one, (0, 0), one, (0, 0)).start
    agree(one, (0, 0), one, (1, 2))
    found = compare_runs(one, (0, 0), plain, (0, 0))
    assert (found.first_starts, found.second_starts) == (True, True)
    assert found.start[0] == "only the first can start with starts(0,)"
    assert found.pairs == 0
    late = compile_system(
        System("shelf", Shelf, [take, put], initial=[starting_late()], decisions=shelf.decisions)
    )
    found = compare_runs(one, (0, 0), late, (0, 0))
    assert found.start == ("n: 0 and 1", "n: 1 and 2")
    assert (found.first_starts, found.second_starts) == (True, True)


def test_a_limit_is_told_and_a_model_error_is_raised_as_the_interpreter_words_it(plain: Program) -> None:
    found = compare_runs(plain, (0, 0), plain, (0, 0), limits=Limits(depth=2))
    assert found.stopped == "limit of depth 2 reached"
    found = compare_runs(plain, (0, 0), plain, (0, 0), limits=Limits(states=3))
    assert found.stopped == "limit of 3 states reached"
    for one, other in (((3, 0), (0, 0)), ((0, 0), (3, 0))):
        with pytest.raises(ModelError, match=r"test_pairs\.py:\d+: 5 leaves"):
            compare_runs(plain, one, plain, other)
