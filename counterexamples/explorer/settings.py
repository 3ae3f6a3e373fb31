"""What a walk is taken under: sizes, switches and decisions with their meanings, and which are to blame."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slotproof.counterexamples.otherwise import otherwise
from slotproof.counterexamples.story import plainly
from slotproof.counterexamples.trace import Step
from slotproof.model.language.columns import Valuation
from slotproof.model.language.link import parameters_of
from slotproof.model.language.program import Program


@dataclass(frozen=True)
class History:
    """What is known of a system's decisions over its releases.

    ``newest`` names the newest release, ``chosen`` the alternative of each decision there. ``when`` says of a
    decision and an alternative in which releases it is, and where that is written; empty for one of none.
    """

    newest: str
    chosen: Mapping[str, str]
    when: Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter's value; ``size`` tells a number from a switch."""

    name: str
    value: str
    meaning: str
    size: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An alternative of a decision, with its docstring and the releases that have it."""

    name: str
    meaning: str
    when: str


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision in force; ``newest`` is the answer of the newest release where that is another one."""

    name: str
    meaning: str
    chosen: Answer
    newest: Answer | None


@dataclass(frozen=True, slots=True)
class Blamed:
    """A decision with an answer under which the same steps do not violate the property (``otherwise.py``)."""

    name: str
    chosen: Answer
    instead: Answer
    dies: str
    ends: str


def settings(program: Program) -> list[Setting]:
    """Every parameter that the program reads."""
    declared = parameters_of(program.system)
    return [
        Setting(name, _value(value), declared[name].meaning, type(value) is int)
        for name, value in program.parameters.items()
    ]


def _value(value: Any) -> str:
    said = value.value if isinstance(value, enum.Enum) and isinstance(value.value, str) else ""
    return f"{plainly(value)} ({said})" if said else plainly(value)


def decisions(program: Program, choices: Sequence[int], history: History | None) -> list[Decided]:
    """Every decision that the program asks; those that the newest release answers otherwise come first."""
    found = []
    for point, choice in zip(program.decisions, choices, strict=True):
        name = point.alternatives[choice]
        newest = history.chosen.get(point.name, name) if history is not None else name
        other = answer(program, point.name, newest, history) if newest != name else None
        meaning = next(d.point.meaning for d in program.system.decisions if d.point.name == point.name)
        found.append(Decided(point.name, meaning, answer(program, point.name, name, history), other))
    return sorted(found, key=lambda d: d.newest is None)


def answer(program: Program, decision: str, alternative: str, history: History | None) -> Answer:
    """An alternative as it is declared."""
    known = next(d for d in program.system.decisions if d.point.name == decision)
    function = next((f for f in known.functions if f.__name__ == alternative), None)
    meaning = " ".join((getattr(function, "__doc__", "") or "").split())
    return Answer(alternative, meaning, history.when(decision, alternative) if history is not None else "")


MOST_STEPS = 60
"""Steps of a walk that are taken again with other answers; of a longer one that takes seconds."""


def blamed(
    program: Program,
    choices: tuple[int, ...],
    states: Sequence[Valuation],
    steps: Sequence[Step],
    name: str,
    history: History | None,
) -> list[Blamed]:
    """The decisions that these steps violate the property by; where no other answer avoids that, those
    with an answer that keeps a step from happening. Of a long walk none is told."""
    if len(steps) > MOST_STEPS:
        return []
    found = otherwise(program, choices, states, steps, name)
    wanted = [o for o in found if not o.ends] or found
    chosen = {p.name: p.alternatives[c] for p, c in zip(program.decisions, choices, strict=True)}
    return [
        Blamed(
            o.decision,
            answer(program, o.decision, chosen[o.decision], history),
            answer(program, o.decision, o.alternative, history),
            o.dies,
            o.ends,
        )
        for o in wanted
    ]
