"""What is told of the server's steps: true of what they did, and enough to tell them apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from slotproof.checker.explicit.engine import reached, successors
from slotproof.counterexamples.rerun import rerun
from slotproof.counterexamples.trace import Step
from slotproof.counterexamples.words import declared, sentence, told
from slotproof.model.language import System
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter
from tests.model.serving.runs import RANK0, compiled, system_of

SOME = [
    ("overlap-cancel", "0.5.23"),
    ("partial-prompt", "0.5.12.post1"),
    ("finish-unload", "0.5.13.post1"),
    ("use-counts", "0.5.22"),
    ("idle-rank", "0.5.16"),
    ("decode-admission", "0.5.19"),
    ("decode-admission-pinned", "0.5.21"),
    ("whole-server", "0.5.23"),
]
DEPTH, MOST = 7, 25


class Told(NamedTuple):
    """A step, what came of it, and all that is said of it."""

    source: Valuation
    step: Step
    stored: Valuation
    after: Any
    crash: str | None
    text: str


def steps_of(system: System, depth: int = DEPTH, most: int = MOST) -> Iterator[Told]:
    """The steps from states of the first layers, taken evenly from all of them."""
    program = compiled(system)
    choices = program.choices(system.choices)
    interpreter = Interpreter(program, choices)
    found = [o.state for layer in reached(program, choices, depth=depth) for o in layer if o.crash is None]
    for source in found[:: len(found) // most + 1]:
        for number, numbers, outcome in successors(program, choices, source):
            action = program.actions[number]
            step = Step(action.name, interpreter.arguments(action, numbers))
            said = told(interpreter, source, step, outcome.state, outcome.crash)
            text = " ".join([sentence(declared(program, step.action), step), *said])
            after = interpreter.object(outcome.state)
            yield Told(source, step, interpreter.stored(outcome.state), after, outcome.crash, text)


@pytest.mark.parametrize(("scenario", "of"), SOME)
def test_a_text_says_what_came_of_the_step(scenario: str, of: str) -> None:
    texts: dict[tuple[Valuation, str], Valuation] = {}
    for t in steps_of(system_of(scenario, of)):
        where = (t.step, t.text)
        assert ("the process dies" in t.text) == (t.crash is not None), where
        if t.crash is not None:
            assert f"dies ({t.crash}): " in t.text, where
            assert not t.text.endswith(": ."), where
            assert "launched" not in t.text, where
        assert not set("{}<>") & set(t.text), where
        assert texts.setdefault((t.source, t.text), t.stored) == t.stored, where
        for k in t.after.ranks:
            rank = t.after.ranks[k]
            if t.crash is None and rank.forward.launched and t.step.action != "step_together":
                assert "is launched." in t.text, where
            for r in rank.gate.refused:
                assert f"refuses {r}" in t.text or f"keeps {r}" in t.text, where
            for r in rank.forward.results if t.crash is None else ():
                assert str(r) in t.text.partition("launched.")[2] + t.text.partition("runs ")[2], where


def test_where_no_gate_is_asked_none_is_named() -> None:
    before, after = (
        [t.text for t in steps_of(system_of("decode-admission", of))] for of in ("0.5.19", "0.5.20")
    )
    assert any("KV is reserved" in text for text in before)
    assert not any("gate" in text for text in before)
    assert any("The gate lets" in text for text in after)
    assert any("The gate refuses" in text for text in after)


WALKS = {
    "echo": ["arrive(k=rank0, r=r1, a=A)", "abort(r=r1)", "echo(r=r1)"],
    "unload": [
        "arrive(k=rank0, r=r1, a=A)",
        "schedule(k=rank0, ends={}, by_length={}, room=6)",
        "schedule(k=rank0, ends={r1}, by_length={}, room=6)",
        "answer(r=r1)",
        "unregister(a=A)",
        "unload(a=A)",
    ],
}


@pytest.mark.parametrize(
    ("walk", "decision", "words"),
    [
        (
            "echo",
            {"echo_releases": "only_outputs_release"},
            "The reference of A is not released: it is lost.",
        ),
        ("echo", {"echo_releases": "every_end_releases"}, "The reference of A is released."),
        ("unload", {"unload_and_slot": "slot_kept"}, "A stays in its slot."),
        ("unload", {"unload_and_slot": "slot_cleared"}, "Its slot is zeroed and is free."),
    ],
)
def test_the_text_follows_the_decision(walk: str, decision: dict[str, str], words: str) -> None:
    end = rerun(system_of("finish-unload", "0.5.13.post1"), WALKS[walk], decisions=decision)
    assert words in told(end.interpreter, end.states[-2], end.steps[-1], end.states[-1], end.crash)


def test_ranks_are_told_one_by_one() -> None:
    for t in steps_of(system_of("idle-rank", "0.5.16")):
        if t.step.action == "step_together" and t.after.ranks[RANK0].routing.stale:
            assert "rank0: It has no rows, and runs an idle forward." in t.text
            assert "every layer reads is left over from an earlier forward" in t.text
            break
    else:
        raise AssertionError("no idle forward with the metadata of another")
