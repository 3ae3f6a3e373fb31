"""The actions of a trace on another release, as far as they exist there.

A fix is shown by taking the steps that led to the fault on the release that has the fix: each step that the
model of that release allows is taken; one that it does not allow is left out and named. Where the release
cuts an iteration at another place, ``schedule`` and ``go_on`` stand for each other, and a pass that stands
between two questions is ended before the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slotproof.counterexamples.replay.run import ROUNDS
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.compile import compile_system
from slotproof.model.language.errors import NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.releases import base_of, release
from slotproof.properties import SCENARIOS

SWAPPED = {"schedule": "go_on", "go_on": "schedule"}


def on_release(trace: Trace, scenario: str, version: str) -> tuple[Trace, Program, tuple[str, ...]]:
    """The trace's actions on the model of another release, with its program and the steps left out.

    The loop of a lasso is gone through as often as in a replay.
    """
    there = release(version)
    chosen = SCENARIOS[scenario]
    before = chosen.parameters(release=release(base_of(trace.release))) if trace.release else {}
    after = chosen.parameters(release=there)
    kept = {n: v for n, v in trace.parameters.items() if before.get(n) == after.get(n)}
    system = chosen.system(there).with_parameters(**kept)
    program = compile_system(system)
    interpreter = Interpreter(program, program.choices(there.names()))
    state = program.start
    if trace.start is not None:
        number = next(i for i, a in enumerate(program.initial) if a.name == trace.start.action)
        state = interpreter.start(
            number, interpreter.numbers(program.initial[number], dict(trace.start.arguments))
        )
    states, steps, skipped, crash = [state], [], [], None
    again = trace.steps[trace.loop :] * ROUNDS if trace.loop is not None else ()
    for step in (*trace.steps, *again):
        if crash is not None:
            break
        taken = _first_enabled(interpreter, state, step)
        if taken is None:
            rest = _rest_of_the_pass(interpreter, state)
            later = None if rest is None or rest[2] else _first_enabled(interpreter, rest[1], step)
            if rest is None or later is None:
                skipped.append(str(step))
                continue
            steps.append(rest[0])
            states.append(rest[1])
            taken = later
        made, state, crash = taken
        steps.append(made)
        states.append(state)
    moved = replace(
        trace,
        release=version,
        choices=there.names(),
        parameters=program.parameters,
        digest=program.digest,
        steps=tuple(steps),
        states=tuple(states),
        crash=crash,
        loop=None,
    )
    return moved, program, tuple(skipped)


def _first_enabled(interpreter: Interpreter, state: Any, step: Step) -> tuple[Step, Any, str | None] | None:
    for name in (step.action, SWAPPED.get(step.action)):
        number = next((i for i, a in enumerate(interpreter.program.actions) if a.name == name), None)
        if name is None or number is None:
            continue
        action = interpreter.program.actions[number]
        if any(p.name not in step.arguments for p in action.parameters):
            continue
        arguments: Mapping[str, Any] = {p.name: step.arguments[p.name] for p in action.parameters}
        try:
            outcome = interpreter.step(state, number, interpreter.numbers(action, dict(arguments)))
        except NotEnabled:
            continue
        return Step(name, arguments), outcome.state, outcome.crash
    return None


def _rest_of_the_pass(interpreter: Interpreter, state: Any) -> tuple[Step, Any, str | None] | None:
    """``go_on`` from where the scheduler stands, with no last token, if it stands within a pass."""
    number = next((i for i, a in enumerate(interpreter.program.actions) if a.name == "go_on"), None)
    if number is None:
        return None
    action = interpreter.program.actions[number]
    for numbers in interpreter.all_arguments(action):
        try:
            outcome = interpreter.step(state, number, numbers)
        except NotEnabled:
            continue
        return Step("go_on", interpreter.arguments(action, numbers)), outcome.state, outcome.crash
    return None
