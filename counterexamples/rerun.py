"""Steps as text, ``arrive(k=rank0, r=r1, a=A)``, and a system that takes them one after the other.

That is how a trace is written as a test and in the explorer's address: by action names and arguments, so
that it stays right when the state of the model changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slotproof.counterexamples.encoding import label
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Step
from slotproof.counterexamples.verify import call, numbers_of
from slotproof.model.language.columns import Valuation
from slotproof.model.language.compile import compile_system
from slotproof.model.language.errors import ModelError
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.ir import Action
from slotproof.model.language.program import DEADLOCK, NO_CRASH, Program, no_crash
from slotproof.model.language.system import System
from slotproof.model.language.types import OptionalType, ScalarType, SetType
from slotproof.model.near import near_or_all

LONGEST = 4000
"""Letters of a step's text; more is none."""


def parsed(text: str, known: Sequence[Action]) -> Step:
    """The step that a text names; ``TraceError`` says what is wrong with it."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text[:LONGEST], re.S)
    if found is None:
        raise TraceError(f"'{text[:80]}' is no step; write it as action(parameter=value, …)")
    name, inside = found[1], found[2] or ""
    action = next((a for a in known if a.name == name), None)
    if action is None:
        raise TraceError(f"there is no action '{name}'{near_or_all(name, [a.name for a in known], 'it has')}")
    given: dict[str, str] = {}
    for part in _split(inside):
        key, equals, value = part.partition("=")
        if not equals:
            raise TraceError(f"{name}: '{part.strip()}' is no argument; write parameter=value")
        given[key.strip()] = value.strip()
    types = {p.name: p.type for p in action.parameters}
    for key in given:
        if key not in types:
            raise TraceError(f"{name} has no parameter '{key}'{near_or_all(key, types, 'it has')}")
    for key in types:
        if key not in given:
            raise TraceError(f"{name}: parameter '{key}' is missing")
    return Step(name, {key: _value(type_, given[key], f"{name}: {key}") for key, type_ in types.items()})


def _split(text: str) -> Iterator[str]:
    """The parts between commas that stand in no braces."""
    part, inside = "", 0
    for letter in text:
        inside += (letter == "{") - (letter == "}")
        if letter == "," and inside == 0:
            yield part
            part = ""
        else:
            part += letter
    if part.strip():
        yield part


def _value(type_: ScalarType, text: str, where: str) -> Any:
    if isinstance(type_, OptionalType) and text == "None":
        return None
    inner = type_.item if isinstance(type_, OptionalType) else type_
    if isinstance(inner, SetType):
        if not (text.startswith("{") and text.endswith("}")):
            raise TraceError(f"{where}: '{text}' is no set; write {{…}}")
        items = (item.strip() for item in text[1:-1].split(","))
        return frozenset(_value(inner.item, item, where) for item in items if item)
    for code in range(inner.size):
        value = inner.decode(code)
        if label(value) == text:
            return value
    names = [label(inner.decode(code)) for code in range(min(inner.size, 12))]
    hint = near_or_all(text, names, "it is one of")
    raise TraceError(f"{where}: '{text}' is no {type_}{hint}")


@dataclass
class Rerun:
    """A system under its own choices, and where it has come to."""

    program: Program
    interpreter: Interpreter
    start: Step | None
    steps: list[Step]
    states: list[Valuation]
    crash: str | None = None

    def take(self, step: Step | str) -> None:
        """Take one more step; ``TraceError`` says which condition of its guard is false."""
        if isinstance(step, str):
            step = parsed(step, self.program.actions)
        where = f"step {len(self.steps) + 1}, {call(step)},"
        if self.crash is not None:
            raise TraceError(f"{where} follows a crash ({self.crash}); nothing can happen after it")
        number = [a.name for a in self.program.actions].index(step.action)
        numbers = numbers_of(self.program.actions[number], step)
        try:
            blocked = self.interpreter.blocked(self.states[-1], number, numbers)
            if blocked:
                raise TraceError(f"{where} cannot happen: {blocked[0].site.text} is false")
            outcome = self.interpreter.step(self.states[-1], number, numbers)
        except ModelError as error:
            raise TraceError(f"{where} is a model error: {error}") from None
        self.steps.append(step)
        self.states.append(outcome.state)
        self.crash = outcome.crash

    def violates(self, name: str) -> bool:
        """Whether the last state, or the step to it, violates this property."""
        if name.startswith(NO_CRASH):
            return self.crash is not None and name == no_crash(self.crash)
        if name == DEADLOCK:
            last = self.states[-1]
            stuck = self.crash is None and next(self.interpreter.successors(last), None) is None
            return stuck and not self.interpreter.final(last)
        known = [p.name for p in self.program.properties]
        if name not in known:
            raise TraceError(
                f"{self.program.name} has no property '{name}'{near_or_all(name, known, 'it has')}"
            )
        prop = self.program.properties[known.index(name)]
        if prop.over == "state":
            results = (
                []
                if self.crash is not None
                else self.interpreter.holds(known.index(name), None, (), self.states[-1])
            )
            return not all(results)
        if not self.steps:
            return False
        step = self.steps[-1]
        number = [a.name for a in self.program.actions].index(step.action)
        if prop.actions is not None and number not in prop.actions:
            return False
        numbers = numbers_of(self.program.actions[number], step) if prop.parameters else ()
        return not all(self.interpreter.holds(known.index(name), self.states[-2], numbers, self.states[-1]))


def begun(program: Program, choices: tuple[int, ...], start: Step | str | None = None) -> Rerun:
    """A system in its initial state: the one that ``start`` makes, else the first of its initial states."""
    interpreter = Interpreter(program, choices)
    if isinstance(start, str):
        start = parsed(start, program.initial)
    if start is not None:
        number = [a.name for a in program.initial].index(start.action)
        try:
            state = interpreter.start(number, numbers_of(program.initial[number], start))
        except ModelError as error:
            raise TraceError(f"{call(start)} is a model error: {error}") from None
        return Rerun(program, interpreter, start, [], [state])
    first, numbers, state = interpreter.initial()[0]
    if first is not None:
        action = program.initial[first]
        start = Step(action.name, interpreter.arguments(action, numbers))
    return Rerun(program, interpreter, start, [], [state])


def rerun(
    system: System,
    steps: Sequence[str],
    start: str | None = None,
    decisions: Mapping[str, str] | None = None,
) -> Rerun:
    """A system after these steps; ``TraceError`` names the first that cannot happen.

    ``decisions`` names alternatives that are other than the system's own.
    """
    program = compile_system(system)
    named = {**system.choices, **(decisions or {})}
    walk = begun(program, program.choices(named), start)
    for step in steps:
        walk.take(step)
    return walk
