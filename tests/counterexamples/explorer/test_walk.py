"""What the page's data says of a walk: what changed, what is false and why, and what else could happen."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from slotproof.counterexamples.explorer.alternatives import MOST_TRIED, Alternatives, call_of
from slotproof.counterexamples.explorer.walk import Finding, Teller, walk_of
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import choices_of
from slotproof.model.language import Domain, Set, State, System, action, field, require
from slotproof.model.language.compile import compile_system
from slotproof.model.language.drawing import Bar, Group
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from tests.counterexamples import shop

ENDS = ["room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind"]


def told(trace: Trace, program: Program) -> dict[str, Any]:
    teller = Teller(program, choices_of(trace, program))
    return teller.tell(walk_of(trace, program), Finding(trace.property, trace.part), title="shop")


@pytest.mark.parametrize("name", ENDS)
def test_the_finding_is_in_the_last_step_and_says_why(
    name: str, traces: dict[str, Trace], program: Program
) -> None:
    data = told(traces[name], program)
    assert data["finding"]["property"] == name
    assert data["finding"]["step"] == len(traces[name])
    assert data["finding"]["why"]
    last = {j["name"]: j["status"] for j in data["steps"][-1]["judgements"]}
    assert last["no-crash" if name.startswith("no-crash-") else name] == "false"


def test_a_walk_without_a_finding_finds_the_first_thing_that_is_false(
    traces: dict[str, Trace], program: Program
) -> None:
    for name in ENDS:
        trace = traces[name]
        teller = Teller(program, choices_of(trace, program))
        found = teller.tell(walk_of(trace, program))["finding"]
        assert found["step"] <= len(trace)
        assert found["headline"].endswith("is violated")


def test_a_crash_names_the_condition_and_what_it_read(traces: dict[str, Trace], program: Program) -> None:
    found = told(traces["no-crash-third-of-a-kind"], program)["finding"]
    assert found["why"] == [
        "The modelled program dies: third-of-a-kind.",
        f"buy finds s.store.seen[good] == 3, with s.store.seen[good] = 3, good = {found['why'][1][-1]}",
    ]
    assert found["words"] == [("buy", "The shop buys what the first order names.")]


def test_changes_carry_what_is_declared_of_the_variable(traces: dict[str, Trace], program: Program) -> None:
    step = told(traces["room-for-more"], program)["steps"][4]
    changed = {c["path"]: (c["old"], c["new"], c["meaning"]) for c in step["changes"]}
    assert changed["store.seen[B]"] == ("0", "1", "how often each was bought")
    assert changed["queue"] == ("[Order(good=B, urgent=False)]", "[]", "orders that wait")
    assert [(c["path"], c["new"]) for c in step["shown"]] == [("store.moved", "B")]


def test_a_standstill_says_what_blocks_each_action(standstill: tuple[Program, Trace]) -> None:
    program, trace = standstill
    found = told(trace, program)["finding"]
    assert found["headline"] == "deadlock is violated"
    assert "buy: len(s.queue) > 0 is false" in found["why"]


@pytest.mark.parametrize("name", ENDS)
def test_what_can_happen_is_what_the_interpreter_takes(
    name: str, traces: dict[str, Trace], program: Program
) -> None:
    trace = traces[name]
    choices = choices_of(trace, program)
    interpreter = Interpreter(program, choices)
    for state in trace.states[: len(trace.states) - (trace.crash is not None)]:
        state = interpreter.stored(state)
        calls = [call_of(program.actions[n], numbers) for n, numbers, _ in interpreter.successors(state)]
        found = Alternatives(program, choices).of(state)
        assert [call for choice in found for call in choice.enabled] == calls
        for number, choice in enumerate(found):
            for block in choice.blocked:
                numbers = next(
                    n
                    for n in interpreter.all_arguments(program.actions[number])
                    if call_of(program.actions[number], n) == block.example
                )
                assert interpreter.blocked(state, number, numbers)[0].site.text == block.text
            assert len(choice.enabled) + sum(b.count for b in choice.blocked) == choice.tried == choice.total


class Guest(Domain, size=13):
    """Someone who may come."""


class Party(State):
    """Who is there."""

    there: Set[Guest] = field(frozenset(), "who is there")


@action
def come(s: Party, these: Set[Guest], other: Guest) -> None:
    """{these} come, and {other}."""
    require(other not in s.there)
    s.there |= these | {other}


def test_where_there_are_too_many_arguments_it_is_said_how_many_were_looked_at() -> None:
    program = compile_system(System("party", Party, actions=[come]))
    (choice,) = Alternatives(program, ()).of(program.start)
    assert choice.total == 13 * 2**13 > MOST_TRIED
    assert choice.tried == 13 * 14
    assert len(choice.enabled) + choice.more == choice.tried


# -- drawings --------------------------------------------------------------------------------------------


def drawn(s: Party) -> list[Group]:
    """Everybody on a chair."""
    bars = [Bar(str(g), f"{g}", g.index) for g in Guest if g in s.there]
    return [Group("Chairs", bars, ("left", "right"), places=True), Group("Door", [], ("door",))]


@action
def go(s: Party, g: Guest) -> None:
    """{g} goes."""
    require(g in s.there)
    s.there -= {g}


def bands(*whole: set[int]) -> Any:
    from slotproof.counterexamples.explorer.picture import picture
    from slotproof.model.language.columns import encode

    program = compile_system(System("party", Party, actions=[come, go], drawing=drawn))
    states = []
    for there in whole:
        party = Interpreter(program, ()).object(program.start)
        party.there = {Guest(i) for i in there}
        states.append(encode(program.state, party))
    return picture(program, Interpreter(program, ()), states)


def test_what_takes_a_place_keeps_it_and_a_free_one_is_taken_first() -> None:
    chairs, door = bands({1}, {1, 2}, {2}, {0, 2})
    assert [row.name for row in chairs.rows] == ["left", "right"]
    left, right = ([(s.text, s.first, s.last) for s in row.segments] for row in chairs.rows)
    assert left == [("guest1", 0, 1), ("guest0", 3, 3)]
    assert right == [("guest2", 1, 3)]
    assert [row.name for row in door.rows] == ["door"]


def test_more_than_there_are_places_get_rows_of_their_own() -> None:
    chairs, _ = bands({1, 2, 3})
    assert [(row.name, [s.text for s in row.segments]) for row in chairs.rows] == [
        ("left", ["guest1"]),
        ("right", ["guest2"]),
        ("2", ["guest3"]),
    ]


def test_a_system_without_a_drawing_gets_a_row_for_each_variable_that_changes(
    traces: dict[str, Trace], program: Program
) -> None:
    assert shop.shop.drawing is None
    (band,) = told(traces["few-of-each"], program)["bands"]
    names = [row["name"] for row in band["rows"]]
    assert "queue" in names
    assert "store.seen[A]" in names
    assert "store.seen[B]" not in names
    for row, at in product(band["rows"], range(len(traces["few-of-each"]) + 1)):
        assert sum(s["first"] <= at <= s["last"] for s in row["segments"]) == 1
