"""A trace that the model cannot take names the step and the condition that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import verify
from slotproof.model.language.columns import Valuation, decode, encode
from slotproof.model.language.program import Program
from tests.counterexamples.shop import Good, Mode


@pytest.mark.parametrize("name", ["room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind"])
def test_a_trace_of_the_model_is_one(name: str, traces: dict[str, Trace], program: Program) -> None:
    verify(traces[name], program)


def test_a_standstill_is_one(standstill: tuple[Program, Trace]) -> None:
    verify(standstill[1], standstill[0])


def _mode(program: Program, state: Valuation, mode: Mode) -> Valuation:
    changed = decode(program.state, state)
    changed.mode = mode
    return encode(program.state, changed)


def _with_step(trace: Trace, number: int, step: Step) -> Trace:
    return replace(trace, steps=(*trace.steps[:number], step, *trace.steps[number + 1 :]))


Change = Callable[[Trace, Program], Trace]

CHANGES: list[tuple[str, Change, str]] = [
    (
        "a step too early",
        lambda t, p: _with_step(t, 0, Step("buy", {})),
        r"step 1, buy\(\), is no step of the model: its guard is false: s\.mode == Mode\.BUSY \(.*shop\.py:",
    ),
    (
        "another argument",
        lambda t, p: _with_step(t, 0, Step("order", {"a": Good(1), "urgent": False})),
        r"step 1, order\(a=B, urgent=False\), is no step of the model: queue\[0\]\.good is B in the model, "
        r"the trace says A",
    ),
    (
        "an edited state",
        lambda t, p: replace(t, states=(*t.states[:2], _mode(p, t.states[2], Mode.IDLE), *t.states[3:])),
        r"step 2, order\(.*\), is no step of the model: mode is BUSY in the model, the trace says IDLE",
    ),
    (
        "an edited beginning",
        lambda t, p: replace(t, states=(_mode(p, t.states[0], Mode.BUSY), *t.states[1:])),
        r"states\[0\] is not what opens\(a=A\) makes: mode is IDLE in the model, the trace says BUSY",
    ),
    (
        "a decision gone",
        lambda t, p: replace(t, choices={}),
        "#meta.decisions: no alternative is named for decision 'may_order'",
    ),
    (
        "an unknown alternative",
        lambda t, p: replace(t, choices={"may_order": "alway"}),
        r"decision may_order has no alternative 'alway'; did you mean always\?",
    ),
    (
        "another decision",
        lambda t, p: replace(t, property="buys-news", choices={"may_order": "only_new"}),
        "the end of the trace does not violate buys-news",
    ),
    (
        "an unknown property",
        lambda t, p: replace(t, property="room-for-mor"),
        r"shop has no property 'room-for-mor'; did you mean room-for-more\?",
    ),
    (
        "cut short",
        lambda t, p: replace(t, steps=t.steps[:-1], states=t.states[:-1]),
        "does not violate room-for-more",
    ),
    (
        "a false crash",
        lambda t, p: replace(t, crash="fire"),
        "step 4: the model does not crash, the trace says fire",
    ),
    (
        "another crash",
        lambda t, p: replace(t, property="no-crash-fire"),
        "no-crash-fire, but the crash is none",
    ),
    (
        "no standstill",
        lambda t, p: replace(t, property="deadlock"),
        r"is no deadlock: order\(a=A, urgent=False\) can happen",
    ),
    (
        "no such action",
        lambda t, p: _with_step(t, 0, Step("oder", {})),
        r"shop has no action 'oder'; did you mean order\?",
    ),
]


@pytest.mark.parametrize(("change", "message"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_a_changed_trace_says_where_it_fails(
    change: Change, message: str, traces: dict[str, Trace], program: Program
) -> None:
    with pytest.raises(TraceError, match=message) as error:
        verify(change(traces["room-for-more"], program), program)
    assert "\n" not in str(error.value)


def test_nothing_follows_a_crash(traces: dict[str, Trace], program: Program) -> None:
    crash = traces["no-crash-third-of-a-kind"]
    longer = replace(crash, steps=(*crash.steps, Step("buy", {})), states=(*crash.states, crash.states[-1]))
    with pytest.raises(TraceError, match=r"step 7, buy\(\), follows a crash \(third-of-a-kind\)"):
        verify(longer, program)
