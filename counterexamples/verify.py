"""Whether a trace is one: every step is a step of the model, and the end is what the trace says.

Files are edited by hand and models change; the interpreter, which runs the model's own Python, is the
judge of both.
"""

from __future__ import annotations

from slotproof.counterexamples.encoding import label
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.evidence import different_cells
from slotproof.counterexamples.lasso import check_lasso
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError, NotEnabled, Site
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.ir import Action
from slotproof.model.language.program import DEADLOCK, NO_CRASH, Program, no_crash
from slotproof.model.language.types import ScalarType
from slotproof.model.near import near_or_all


def verify(trace: Trace, program: Program) -> None:
    """``TraceError`` says which step is none of the model's, and which guard conjunct is false."""
    interpreter = Interpreter(program, choices_of(trace, program))
    _check_start(trace, program, interpreter)
    crash = None
    for i, step in enumerate(trace.steps):
        where = f"step {i + 1}, {call(step)},"
        if crash is not None:
            raise TraceError(f"{where} follows a crash ({crash}); nothing can happen after it")
        crash = _check_step(where, step, trace.states[i], trace.states[i + 1], program, interpreter)
    if crash != trace.crash:
        said = f"crashes with '{crash}'" if crash else "does not crash"
        raise TraceError(f"step {len(trace)}: the model {said}, the trace says {trace.crash or 'no crash'}")
    check_end(trace, program, interpreter)


def choices_of(trace: Trace, program: Program) -> tuple[int, ...]:
    """The choice vector of a trace; ``TraceError`` for a decision or alternative that is not there."""
    for point in program.decisions:
        chosen = trace.choices.get(point.name)
        if chosen is None:
            raise TraceError(f"#meta.decisions: no alternative is named for decision '{point.name}'")
        if chosen not in point.alternatives:
            hint = near_or_all(chosen, point.alternatives, "it has")
            raise TraceError(f"#meta.decisions: decision {point.name} has no alternative '{chosen}'{hint}")
    return program.choices(trace.choices)


def numbers_of(action: Action, step: Step) -> tuple[int, ...]:
    """The arguments of a step as the IR represents them."""
    return tuple(_number(p.type, step.arguments[p.name]) for p in action.parameters)


def call(step: Step) -> str:
    """A step as a call of its action."""
    return f"{step.action}({', '.join(f'{k}={label(v)}' for k, v in step.arguments.items())})"


def action_index(program: Program, name: str) -> int:
    """The place of an action in the program; ``TraceError`` with near names if it has none."""
    known = [a.name for a in program.actions]
    if name not in known:
        raise TraceError(f"{program.name} has no action '{name}'{near_or_all(name, known, 'it has')}")
    return known.index(name)


def _number(type_: ScalarType, value: object) -> int:
    return type_.encode(value) + type_.low


def _check_start(trace: Trace, program: Program, interpreter: Interpreter) -> None:
    if trace.start is None:
        state, what = program.start, "the declared one"
    else:
        known = [a.name for a in program.initial]
        number = known.index(trace.start.action)
        numbers = numbers_of(program.initial[number], trace.start)
        try:
            state, what = interpreter.start(number, numbers), f"what {call(trace.start)} makes"
        except NotEnabled as error:
            guard = _guard(error.site)
            raise TraceError(
                f"states[0]: {call(trace.start)} makes no initial state: its guard is false: {guard}"
            ) from None
        except ModelError as error:
            raise TraceError(f"states[0]: {call(trace.start)} is a model error: {error}") from None
    if trace.states[0] != state:
        raise TraceError(f"states[0] is not {what}: {_difference(program, state, trace.states[0])}")


def _check_step(
    where: str, step: Step, before: Valuation, after: Valuation, program: Program, interpreter: Interpreter
) -> str | None:
    index = action_index(program, step.action)
    numbers = numbers_of(program.actions[index], step)
    try:
        blocked = interpreter.blocked(before, index, numbers)
        if blocked:
            guard = _guard(blocked[0].site)
            raise TraceError(f"{where} is no step of the model: its guard is false: {guard}")
        outcome = interpreter.step(before, index, numbers)
    except ModelError as error:
        raise TraceError(f"{where} is a model error: {error}") from None
    if outcome.state != after:
        raise TraceError(f"{where} is no step of the model: {_difference(program, outcome.state, after)}")
    return outcome.crash


def check_end(trace: Trace, program: Program, interpreter: Interpreter) -> None:
    """``TraceError`` if the end of a run is not what the trace says of it."""
    if trace.kind == "difference":
        return  # a run, and nothing more: what another system does instead is not in the file
    if trace.kind == "witness":
        _check_witness(trace, program, interpreter)
        return
    if trace.property == DEADLOCK:
        _check_deadlock(trace, program, interpreter)
        return
    if trace.property.startswith(NO_CRASH):
        if trace.crash is None or trace.property != no_crash(trace.crash):
            raise TraceError(f"#meta.property: {trace.property}, but the crash is {trace.crash or 'none'}")
        return
    if trace.property in [p.name for p in program.progress]:
        check_lasso(trace, program, interpreter)
        return
    known = [p.name for p in program.properties] + [p.name for p in program.progress]
    if trace.property not in known:
        hint = near_or_all(trace.property, known, "it has")
        raise TraceError(f"#meta.property: {program.name} has no property '{trace.property}'{hint}")
    if all(conjuncts(trace, program, interpreter)):
        raise TraceError(f"the end of the trace does not violate {trace.property}")


def _check_witness(trace: Trace, program: Program, interpreter: Interpreter) -> None:
    known = [w.name for w in program.witnesses]
    if trace.property not in known:
        hint = near_or_all(trace.property, known, "it has")
        raise TraceError(f"#meta.property: {program.name} has no witness '{trace.property}'{hint}")
    if not interpreter.witnessed(known.index(trace.property), trace.states[-1]):
        raise TraceError(f"the end of the trace is not {trace.property}: {trace.part} is false")


def _check_deadlock(trace: Trace, program: Program, interpreter: Interpreter) -> None:
    if trace.crash is not None:
        raise TraceError("the trace ends in a crash, so it is no deadlock")
    last = trace.states[-1]
    for number, numbers, _ in interpreter.successors(last):
        action = program.actions[number]
        possible = Step(action.name, interpreter.arguments(action, numbers))
        raise TraceError(f"the last state is no deadlock: {call(possible)} can happen")
    if interpreter.final(last):
        raise TraceError("the last state is no deadlock: the system calls it final")


def conjuncts(trace: Trace, program: Program, interpreter: Interpreter) -> list[bool]:
    """Whether each conjunct of the trace's property is true at its end."""
    index = [p.name for p in program.properties].index(trace.property)
    prop = program.properties[index]
    if prop.over == "state":
        return interpreter.holds(index, None, (), trace.states[-1])
    if not trace.steps:
        raise TraceError(f"#meta.property: {trace.property} is about a step, and the trace has none")
    action = action_index(program, trace.steps[-1].action)
    if prop.actions is not None and action not in prop.actions:
        last = trace.steps[-1].action
        raise TraceError(f"#meta.property: {trace.property} is not about {last}, the last step")
    numbers = numbers_of(program.actions[action], trace.steps[-1]) if prop.parameters else ()
    return interpreter.holds(index, trace.states[-2], numbers, trace.states[-1])


def _guard(site: Site) -> str:
    return f"{site.text} ({site})" if site.text else str(site)


def _difference(program: Program, model: Valuation, said: Valuation) -> str:
    """The first cell in which two states differ."""
    for column in program.columns:
        cells = slice(column.offset, column.offset + column.cells)
        for name, mine, given in different_cells(column, model[cells], said[cells]):
            return f"{name} is {mine} in the model, the trace says {given}"
    return "the states are equal"
