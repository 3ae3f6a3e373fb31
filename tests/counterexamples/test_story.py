"""The story of a trace: the action's words, what changed, and why the property is false."""

from __future__ import annotations

import enum
from dataclasses import replace

import pytest

from slotproof.counterexamples.encoding import in_words
from slotproof.counterexamples.story import story
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.compile import compile_system
from slotproof.model.language.errors import LanguageError
from slotproof.model.language.program import Program
from slotproof.model.language.telling import Happened
from tests.counterexamples import shop
from tests.counterexamples.shop import Shop


def test_a_story_of_a_state_property(traces: dict[str, Trace], program: Program) -> None:
    told = story(replace(traces["room-for-more"], release="0.5.13"), program, scenario="market")
    assert told.startswith(
        "market on 0.5.13: room-for-more is violated after 4 steps.\nFound by the engine 'interpreter'.\n"
    )
    assert "Decisions: may_order = always.\n" in told
    assert (
        "At the start: The shop opens after A was sold; {not_a_parameter} stays as it is.\n"
        "       store.last: None -> A\n"
    ) in told
    assert (
        "  1. A client orders A (urgent: False).\n"
        "     [order(a=A, urgent=False); by client; client.Client.order]\n"
        "       mode: IDLE -> BUSY\n"
        "       queue: [] -> [Order(good=A, urgent=False)]\n"
    ) in told
    assert (
        "  4. The shop buys what the first order names.\n"
        "     [buy(); by shop]\n"
        "       store.held: {A} -> {A, B}\n"
        "       store.last: A -> B\n"
        "       store.left: 0 -> -1\n"
        "       store.bought: {A} -> {A, B}\n"
        "       store.seen[B]: 0 -> 1\n"
        "       queue: [Order(good=B, urgent=False)] -> []\n"
        "       shown: store.moved: B\n"
    ) in told
    ending = told[told.index("Why room-for-more") :]
    assert ending.startswith(
        "Why room-for-more is false\n"
        "  It says: The shop never has everything while nobody waits.\n"
        "  In the last state this part of it is false:\n"
        "      not (len(s.queue) == 0 and all((a in s.store.held for a in Good)))\n"
        "      (tests/counterexamples/shop.py:"
    )
    assert ending.endswith("  because:\n      len(queue) = 0\n      store.held = {A, B}\n")


def test_a_story_of_a_step_property_shows_both_states(traces: dict[str, Trace], program: Program) -> None:
    told = story(traces["buys-news"], program)
    assert "      len(after.store.held) > len(before.store.held)\n" in told
    assert told.endswith("  because:\n      after: store.held = {A}\n      before: store.held = {A}\n")


def test_the_failing_instance_alone_is_shown(traces: dict[str, Trace], program: Program) -> None:
    told = story(traces["few-of-each"], program)
    assert told.endswith("  because:\n      a = A\n      store.held = {A}\n      store.seen[A] = 2\n")


def test_a_story_of_a_crash(traces: dict[str, Trace], program: Program) -> None:
    told = story(traces["no-crash-third-of-a-kind"], program)
    assert "     Here the modelled program dies: third-of-a-kind.\n" in told
    assert (
        "  The last step ends in the crash 'third-of-a-kind' of the modelled program.\n"
        "      buy finds s.store.seen[good] == 3, with s.store.seen[good] = 3, good = "
    ) in told


def test_a_story_of_a_standstill_says_what_blocks_each_action(standstill: tuple[Program, Trace]) -> None:
    program, trace = standstill
    told = story(trace, program)
    ending = told[told.index("Why deadlock is false") :]
    assert "No action can happen in the last state" in ending
    assert (
        "      order: s.store.seen[a] < 1 is false" in ending
        or "order: s.store.seen[a] < counts is false" in ending
    )
    assert "      buy: len(s.queue) > 0 is false\n" in ending


def test_a_lasso_says_where_it_goes_on(traces: dict[str, Trace], program: Program) -> None:
    assert "From here it goes on as after step 1, again and again." in story(
        replace(traces["room-for-more"], loop=1), program
    )


@pytest.mark.parametrize("name", ["room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind"])
def test_a_story_fits_80_columns(name: str, traces: dict[str, Trace], program: Program) -> None:
    lines = story(traces[name], program).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)


def shop_says(h: Happened[Shop]) -> list[str]:
    """What a shop tells of its steps."""
    if h.crash is not None:
        return [f"It closes for good ({h.crash})."]
    return [f"It has {len(h.after.store.held)} kinds now."] if h.action == "buy" else []


def test_what_a_system_tells_follows_the_words_of_its_actions(traces: dict[str, Trace]) -> None:
    program = compile_system(replace(shop.shop, telling=shop_says))
    told = " ".join(story(traces["room-for-more"], program, width=200).split())
    assert "4. The shop buys what the first order names. It has 2 kinds now. [buy(); by shop]" in told
    crash = story(traces["no-crash-third-of-a-kind"], program, width=200)
    assert crash.count("It closes for good (third-of-a-kind).") == 1
    assert program.digest == compile_system(shop.shop).digest


def test_a_telling_that_is_none_is_refused() -> None:
    with pytest.raises(LanguageError, match="telling is 'much'; write a function of the step without a mark"):
        replace(shop.shop, telling="much")  # type: ignore[arg-type]


def test_a_set_of_every_name_is_said_as_that() -> None:
    layer = enum.Enum("layer", "a b c d e")
    few = enum.Enum("few", "a b")
    assert in_words(frozenset(layer)) == "every layer (5)"
    assert in_words(frozenset({layer.b, layer.a})) == "{a, b}"
    assert in_words(frozenset(few)) == "{a, b}"
