"""A step in the words of the system: what its action says of itself, and what is told of this step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from slotproof.counterexamples.encoding import label
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import call
from slotproof.model.language import surface
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import Site
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.language.telling import Happened


def declared(program: Program, name: str) -> surface.Action[Any] | None:
    """The action, initial ones included, as it was declared."""
    every = (*program.system.actions, *program.system.initial)
    return next((a for a in every if a.name == name), None)


def sentence(action: surface.Action[Any] | None, step: Step) -> str:
    """What the action says of itself, with the arguments in the place of ``{name}``; other braces stay."""
    if action is None or not action.meaning:
        return f"{call(step)}."
    given = step.arguments

    def filled(match: re.Match[str]) -> str:
        return label(given[match[1]]) if match[1] in given else match[0]

    return re.sub(r"\{(\w+)\}", filled, action.meaning)


def told(
    interpreter: Interpreter, before: Valuation, step: Step, after: Valuation, crash: str | None
) -> list[str]:
    """What the system tells of a step besides its action's sentence; nothing if it has no telling."""
    telling = interpreter.program.system.telling
    if telling is None:
        return []
    happened: Happened[Any] = Happened(
        step.action,
        step.arguments,
        interpreter.object(interpreter.fresh(before)),
        interpreter.object(after),
        crash,
    )
    return list(interpreter.linker.function(telling)(happened))


def step_in_words(trace: Trace, number: int, interpreter: Interpreter) -> str:
    """All that is said of a step of a trace, the first being number 1, in one paragraph."""
    step = trace.steps[number - 1]
    crash = trace.crash if number == len(trace) else None
    before, after = trace.states[number - 1 : number + 1]
    action = declared(interpreter.program, step.action)
    return " ".join([sentence(action, step), *told(interpreter, before, step, after, crash)])


def place(site: Site) -> str:
    """A place in a source file, as short as it is clear from the current folder."""
    path = Path(site.file)
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    elif "slotproof" in path.parts:
        parts = path.parts
        path = Path(*parts[len(parts) - parts[::-1].index("slotproof") :])
    return f"{path}:{site.line}"
