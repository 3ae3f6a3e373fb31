"""A trace as a numbered story in the words of the system that it runs through.

Each step is its action's own sentence with the arguments filled in and what the system tells of it, then
what it changed; the end says
why the property is false, down to the part that is and the values that it read.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slotproof.counterexamples.crash import crash_site
from slotproof.counterexamples.encoding import in_words, label, names
from slotproof.counterexamples.evidence import Evidence, Facts
from slotproof.counterexamples.lasso import every, standings, waiting
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import action_index, call, choices_of, numbers_of
from slotproof.counterexamples.words import declared, place, sentence, step_in_words
from slotproof.model.language.columns import Valuation, decode
from slotproof.model.language.errors import Site
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.ir import Root
from slotproof.model.language.program import DEADLOCK, Program, no_crash
from slotproof.model.language.types import MapType, RecordType, ScalarType, SeqType, ValueType
from slotproof.model.language.values import Record

MOST_FACTS = 24


def story(trace: Trace, program: Program, *, scenario: str = "", width: int = 80) -> str:
    """The whole story as text of at most ``width`` columns."""
    lines = [*_heading(trace, scenario or trace.system, width), "", *_beginning(trace, program, width)]
    interpreter = Interpreter(program, choices_of(trace, program))
    for number, step in enumerate(trace.steps, 1):
        if trace.loop == number - 1:
            lines += ["", *_wrapped(f"Here begins a loop of {_steps(len(trace) - trace.loop)}.", width)]
        lines += ["", *_step(number, step, trace, interpreter, width)]
    if trace.loop is not None:
        lines += ["", *_wrapped(_goes_on(trace, trace.loop), width)]
    lines += ["", *_ending(trace, interpreter, width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _steps(number: int) -> str:
    return f"{number} step{'s' if number != 1 else ''}"


def _goes_on(trace: Trace, loop: int) -> str:
    if loop == len(trace):
        return "Here the run may stop for good: nothing has to happen any more."
    return f"From here it goes on as after step {loop}, again and again."


def _heading(trace: Trace, scenario: str, width: int) -> list[str]:
    release = f" on {trace.release}" if trace.release else ""
    told = {
        "violation": f"{trace.property} is violated after {_steps(len(trace))}",
        "witness": f"{trace.part} after {_steps(len(trace))}",
        "difference": f"a difference in the last of {_steps(len(trace))}",
    }
    first = f"{scenario}{release}: {told[trace.kind]}."
    if trace.loop is not None:
        end = f"a loop of {_steps(len(trace) - trace.loop)}" if trace.loop < len(trace) else "nothing more"
        first = f"{scenario}{release}: {trace.property} is violated by {_steps(trace.loop)} and then {end}."
    if trace.crash is not None and trace.property != no_crash(trace.crash):
        first = f"{first.removesuffix('.')}, and the program dies in the same step: {trace.crash}."
    given = {n: v for n, v in trace.parameters.items() if v is not False and v != frozenset()}
    sizes = ", ".join(f"{name} = {plainly(value)}" for name, value in given.items())
    lines = [*_wrapped(first, width), *_wrapped(f"Found by the engine '{trace.engine}'.", width)]
    if sizes:
        lines += _wrapped(f"Sizes, and what is on: {sizes}.", width)
    if trace.choices:
        chosen = ", ".join(f"{point} = {name}" for point, name in trace.choices.items())
        lines += _wrapped(f"Decisions: {chosen}.", width)
    return lines


def _beginning(trace: Trace, program: Program, width: int) -> list[str]:
    if trace.start is None:
        return ["At the start every field has its declared value."]
    action = declared(program, trace.start.action)
    lines = _wrapped(f"At the start: {sentence(action, trace.start)}", width)
    return lines + _changes(program, program.start, trace.states[0], width)


def _step(number: int, step: Step, trace: Trace, interpreter: Interpreter, width: int) -> list[str]:
    program = interpreter.program
    action = declared(program, step.action)
    lead = f"{number:>3}. "
    text = lead + step_in_words(trace, number, interpreter)
    lines = textwrap.wrap(text, width, subsequent_indent=" " * len(lead))
    about = [call(step), *([f"by {action.actor}"] if action and action.actor else [])]
    about += [action.source] if action and action.source else []
    lines += _wrapped(f"[{'; '.join(about)}]", width, len(lead))
    lines += _changes(program, trace.states[number - 1], trace.states[number], width)
    if trace.crash is not None and number == len(trace):
        lines += _wrapped(f"Here the modelled program dies: {trace.crash}.", width, len(lead))
    return lines


def _changes(program: Program, before: Valuation, after: Valuation, width: int) -> list[str]:
    old, new = decode(program.state, before), decode(program.state, after)
    fresh = decode(program.state, program.start)
    changed = [f"{path}: {a} -> {b}" for path, a, b in differences(program.state, old, new)]
    shows = [f"{path}: {b}" for path, _, b in differences(program.state, fresh, new, outputs=True)]
    lines = [line for text in changed for line in _wrapped(text, width, 7)]
    lines += [line for text in shows for line in _wrapped(f"shown: {text}", width, 7)]
    return lines or ["       (nothing that is stored changes)"]


def differences(
    type_: ValueType, old: Any, new: Any, path: str = "", *, outputs: bool = False, inside: bool = False
) -> Iterator[tuple[str, str, str]]:
    """The path, old and new value of each difference: of what is stored, or of the outputs alone."""
    match type_:
        case RecordType():
            for f in type_.fields:
                name = f"{path}.{f.name}" if path else f.name
                yield from differences(
                    f.type,
                    getattr(old, f.name),
                    getattr(new, f.name),
                    name,
                    outputs=outputs,
                    inside=inside or f.output,
                )
        case MapType():
            for key, name in zip(new, names(type_.key), strict=True):
                yield from differences(
                    type_.value, old[key], new[key], f"{path}[{name}]", outputs=outputs, inside=inside
                )
        case _ if old != new and inside == outputs:
            yield path, _value(type_, old), _value(type_, new)


def values_of(type_: ValueType, value: Any, path: str = "") -> dict[str, str]:
    """Every stored variable by its path, with its value in words; outputs are left out."""
    match type_:
        case RecordType():
            parts = [(f"{path}.{f.name}" if path else f.name, f) for f in type_.fields if not f.output]
            inner = [values_of(f.type, getattr(value, f.name), name) for name, f in parts]
        case MapType():
            inner = [
                values_of(type_.value, value[key], f"{path}[{name}]")
                for key, name in zip(value, names(type_.key), strict=True)
            ]
        case _:
            return {path: _value(type_, value)}
    return {name: text for values in inner for name, text in values.items()}


def _value(type_: ScalarType | SeqType, value: Any) -> str:
    if isinstance(type_, SeqType):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    return in_words(value)


def _item(item: Any) -> str:
    if isinstance(item, Record):
        fields = [(k, v) for k, v in vars(item).items() if not k.startswith("_")]
        return f"{type(item).__name__}({', '.join(f'{k}={label(v)}' for k, v in fields)})"
    return label(item)


def plainly(value: Any) -> str:
    """A parameter's value in words."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{label(k)}: {plainly(v)}" for k, v in value.items()) + "}"
    return in_words(value)


def _ending(trace: Trace, interpreter: Interpreter, width: int) -> list[str]:
    program = interpreter.program
    if trace.kind == "difference":
        return _wrapped(f"The step that makes the difference: {trace.part}", width)
    if trace.kind == "witness":
        return [*_wrapped(f"Why {trace.part} is true", width), *_witnessed(trace, program, width)]
    lines = [f"Why {trace.property} is false"]
    if trace.property == DEADLOCK:
        return lines + _deadlock(trace, interpreter, width)
    if trace.crash is not None and trace.property == no_crash(trace.crash):
        return lines + _death(trace, interpreter, width)
    judged = next((p for p in program.system.properties if p.name == trace.property), None)
    if judged is not None and judged.over == "run":
        return lines + _wrapped(f"It says: {judged.meaning}", width, 2) + _waits(trace, interpreter, width)
    prop = next((p for p in program.properties if p.name == trace.property), None)
    if prop is None:
        return lines + _wrapped(f"This part is false: {trace.part}", width, 2)
    if judged is not None and judged.meaning:
        lines += _wrapped(f"It says: {judged.meaning}", width, 2)
    states: dict[Root, Valuation] = {"state": trace.states[-1]}
    arguments: Sequence[int] = ()
    if prop.over == "step":
        states = {"before": trace.states[-2], "after": trace.states[-1]}
        action = program.actions[action_index(program, trace.steps[-1].action)]
        arguments = numbers_of(action, trace.steps[-1]) if prop.parameters else ()
    evidence = Evidence(program, choices_of(trace, program), states)
    where = "last step" if prop.over == "step" else "last state"
    false = [
        (c.site, found.facts)
        for c, found in zip(prop.conjuncts, evidence.conjuncts(prop, arguments), strict=True)
        if not found.value
    ]
    false.sort(key=lambda pair: pair[0].text != trace.part)  # the part that the trace is about comes first
    for site, facts in false:
        lines += _false_part(site, facts, where, width)
    if trace.crash is not None:
        lines += ["", "Why the program dies", *_death(trace, interpreter, width)]
    return lines


def _death(trace: Trace, interpreter: Interpreter, width: int) -> list[str]:
    """The line at which the modelled program dies, and the condition that led there."""
    text = f"The last step ends in the crash '{trace.crash}' of the modelled program."
    lines = _wrapped(text, width, 2)
    step = trace.steps[-1]
    number = action_index(interpreter.program, step.action)
    numbers = numbers_of(interpreter.program.actions[number], step)
    site = crash_site(interpreter, trace.states[-2], number, numbers)
    if site is not None:
        lines += _wrapped(site.why or f"{site.function}: {site.condition}", width, 6)
        lines += _wrapped(f"({site.place})", width, 6)
    return lines


def _witnessed(trace: Trace, program: Program, width: int) -> list[str]:
    witness = next(w for w in program.witnesses if w.name == trace.property)
    facts = Evidence(program, choices_of(trace, program), {"state": trace.states[-1]}).witness(witness).facts
    lines = [line for fact in facts[:MOST_FACTS] for line in _wrapped(fact, width, 2)]
    if len(facts) > MOST_FACTS:
        lines += _wrapped(f"(and {len(facts) - MOST_FACTS} more values that it read)", width, 2)
    return lines


def _waits(trace: Trace, interpreter: Interpreter, width: int) -> list[str]:
    """What a lasso waits for in vain, and how its loop is fair."""
    program = interpreter.program
    wait = waiting(trace, program, interpreter)
    premise, goal = wait.progress.premise.site, wait.progress.goal.site
    about = f", for {wait.about}" if wait.about else ""
    lines = _wrapped(f"After step {wait.since} its premise is true{about}:", width, 2)
    lines += _wrapped(premise.text, width, 6) + _wrapped(f"({place(premise)})", width, 6)
    lines += _wrapped("From there on its goal never is:", width, 2)
    lines += _wrapped(goal.text, width, 6) + _wrapped(f"({place(goal)})", width, 6)
    lines += _wrapped("The run is fair. Of what the system assumes to be fair, in the loop:", width, 2)
    for standing in standings(trace, program, interpreter):
        lines += _wrapped(str(standing), width, 6)
    return lines


def _false_part(site: Site, facts: Facts, where: str, width: int) -> list[str]:
    lines = _wrapped(f"In the {where} this part of it is false:", width, 2)
    lines += _wrapped(site.text, width, 6)
    lines += _wrapped(f"({place(site)})", width, 6)
    if facts:
        lines += _wrapped("because:", width, 2)
    lines += [line for fact in facts[:MOST_FACTS] for line in _wrapped(fact, width, 6)]
    if len(facts) > MOST_FACTS:
        lines += _wrapped(f"(and {len(facts) - MOST_FACTS} more values that it read)", width, 6)
    return lines


def _deadlock(trace: Trace, interpreter: Interpreter, width: int) -> list[str]:
    text = "No action can happen in the last state, and the system does not call it final:"
    lines = _wrapped(text, width, 2)
    for index, action in enumerate(interpreter.program.actions):
        blocked: dict[str, None] = {}
        for numbers in every(action.parameters):
            for conjunct in interpreter.blocked(trace.states[-1], index, numbers)[:1]:
                blocked[conjunct.site.text] = None
        lines += _wrapped(f"{action.name}: {' or '.join(blocked)} is false", width, 6)
    return lines


def _wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    space = " " * indent
    return textwrap.wrap(
        text, width, initial_indent=space, subsequent_indent=space + "  ", break_on_hyphens=False
    ) or [space]
