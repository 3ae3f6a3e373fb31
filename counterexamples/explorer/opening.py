"""A trace file as a walk, also where the model has changed since: what differs is said, not refused."""

from __future__ import annotations

from dataclasses import dataclass

from slotproof.counterexamples.encoding import EncodingError
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.explorer.walk import Finding, Walk, trace_of, walk_of
from slotproof.counterexamples.itf import TraceFile
from slotproof.counterexamples.trace import Step
from slotproof.counterexamples.verify import (
    action_index,
    call,
    conjuncts,
    numbers_of,
    verify,
)
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError, NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import NO_CRASH, Program, no_crash


@dataclass(frozen=True)
class Opened:
    """A walk with what it is shown for, and what the reader has to be told about the file."""

    walk: Walk
    finding: Finding | None
    notices: tuple[str, ...]


def opened(file: TraceFile, program: Program, known: str = "") -> Opened:
    """The walk of a trace file. ``TraceError`` if it is none, and the model is not to blame for that."""
    changed = file.digest != program.digest
    try:
        trace = file.trace(program)
        verify(trace, program)
    except TraceError as error:
        if not changed:
            raise TraceError(
                f"{file.path}: {error}" if str(file.path) not in str(error) else str(error)
            ) from None
        what = str(error).removeprefix(f"{file.path}: ")
        return _as_far_as_it_goes(file, program, what)
    finding = Finding(trace.property, trace.part, trace.kind, trace.engine, known)
    notices: tuple[str, ...] = ()
    if changed:
        notices = (
            "The model has changed since this trace was found. Every step was checked again and is still"
            " one of the model, and the end is still what the trace says.",
        )
    return Opened(walk_of(trace, program), finding, notices)


def _as_far_as_it_goes(file: TraceFile, program: Program, what: str) -> Opened:
    """Take the steps of the file by name in the present model, until one is none."""
    choices = _choices(file, program)
    interpreter = Interpreter(program, choices)
    start, state = _start(file, program, interpreter)
    steps: list[Step] = []
    states = [state]
    crash = ended = None
    for i in range(1, len(file.document["states"])):
        if crash is not None:
            ended = f"step {i} would follow a crash ({crash})"
            break
        try:
            step = file.step(i, program)
            index = action_index(program, step.action)
            numbers = numbers_of(program.actions[index], step)
            blocked = interpreter.blocked(states[-1], index, numbers)
            if blocked:
                ended = f"step {i}, {call(step)}, cannot happen: {blocked[0].site.text} is false"
                break
            outcome = interpreter.step(states[-1], index, numbers)
        except (EncodingError, TraceError, ModelError) as error:
            ended = f"step {i} cannot be taken: {error}"
            break
        steps.append(step)
        states.append(outcome.state)
        crash = outcome.crash
    walk = Walk(program, choices, start, tuple(steps), tuple(states), crash, None, file.release or "")
    notices = [
        "This trace was found with another version of the model, and is none of the present one."
        f" What differs first: {what}.",
        f"Shown are its steps as the present model takes them: {len(steps)} of"
        f" {len(file.document['states']) - 1}{f'; {ended}' if ended else ''}.",
    ]
    if ended is None:
        notices.append(_end(file, program, interpreter, walk))
    return Opened(walk, None, tuple(notices))


def _choices(file: TraceFile, program: Program) -> tuple[int, ...]:
    """The file's decisions, and the present model's own where the file names none of its alternatives."""
    named = {}
    for point in program.decisions:
        chosen = file.decisions.get(point.name, "")
        own = program.system.choices.get(point.name, point.alternatives[0])
        named[point.name] = chosen if chosen in point.alternatives else own
    return program.choices(named)


def _start(file: TraceFile, program: Program, interpreter: Interpreter) -> tuple[Step | None, Valuation]:
    """The file's initial state as the present model makes it, else the first that the model has."""
    try:
        step = file.start(program)
        if step is not None:
            known = [a.name for a in program.initial]
            number = known.index(step.action)
            return step, interpreter.start(number, numbers_of(program.initial[number], step))
    except (EncodingError, NotEnabled, ModelError):
        pass
    number_, numbers_, state = interpreter.initial()[0]
    if number_ is None:
        return None, state
    action = program.initial[number_]
    return Step(action.name, interpreter.arguments(action, numbers_)), state


def _end(file: TraceFile, program: Program, interpreter: Interpreter, walk: Walk) -> str:
    """Whether the present model's end of these steps still shows what the file says."""
    name = file.property
    if name.startswith(NO_CRASH):
        still = walk.crash is not None and name == no_crash(walk.crash)
    elif name in [p.name for p in program.properties] and walk.crash is None:
        try:
            still = not all(conjuncts(trace_of(walk, name), program, interpreter))
        except (TraceError, ModelError):
            still = False
    else:
        return f"The file says that its end shows {name}."
    return f"Its end {'still violates' if still else 'no longer violates'} {name}."
