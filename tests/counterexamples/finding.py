"""Shortest traces by the interpreter alone, for tests of what is done with a trace."""

from __future__ import annotations

from collections.abc import Mapping

from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter, Outcome
from slotproof.model.language.program import Program


def find(program: Program, wanted: str, chosen: Mapping[str, str]) -> Trace:
    """The first trace that violates a property, breadth-first in the order of declaration."""
    interpreter = Interpreter(program, program.choices(chosen))
    paths: list[tuple[Step | None, tuple[Step, ...], tuple[Valuation, ...]]] = []
    for number, numbers, state in interpreter.initial():
        action = None if number is None else program.initial[number]
        start = None if action is None else Step(action.name, interpreter.arguments(action, numbers))
        paths.append((start, (), (state,)))
    seen = {interpreter.stored(states[0]) for _, _, states in paths}

    def trace(
        start: Step | None,
        steps: tuple[Step, ...],
        states: tuple[Valuation, ...],
        part: str = "",
        crash: str | None = None,
    ) -> Trace:
        return Trace(
            system=program.name,
            digest=program.digest,
            parameters=program.parameters,
            release=None,
            choices=dict(chosen),
            property=wanted,
            engine="interpreter",
            start=start,
            steps=steps,
            states=states,
            part=part,
            crash=crash,
        )

    while paths:
        longer = []
        for start, steps, states in paths:
            following = list(interpreter.successors(states[-1]))
            if not following and wanted == "deadlock":
                return trace(start, steps, states)
            for number, numbers, outcome in following:
                action = program.actions[number]
                step = Step(action.name, interpreter.arguments(action, numbers))
                path = (start, (*steps, step), (*states, outcome.state))
                if outcome.crash is not None and wanted == f"no-crash-{outcome.crash}":
                    return trace(*path, crash=outcome.crash)
                part = _violated(program, interpreter, wanted, states[-1], number, numbers, outcome)
                if part is not None:
                    return trace(*path, part=part, crash=outcome.crash)
                if outcome.crash is None and interpreter.stored(outcome.state) not in seen:
                    seen.add(interpreter.stored(outcome.state))
                    longer.append(path)
        paths = longer
    raise AssertionError(f"{wanted} holds")


def _violated(
    program: Program,
    interpreter: Interpreter,
    wanted: str,
    before: Valuation,
    number: int,
    numbers: tuple[int, ...],
    outcome: Outcome,
) -> str | None:
    for index, prop in enumerate(program.properties):
        if prop.name != wanted or (prop.over == "state" and outcome.crash is not None):
            continue
        if prop.actions is not None and number not in prop.actions:
            continue
        parts = interpreter.holds(index, before, numbers, outcome.state)
        if not all(parts):
            return prop.conjuncts[parts.index(False)].site.text
    return None
