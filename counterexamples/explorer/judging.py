"""What is to be said of each property at each step: whether it holds, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from slotproof.counterexamples.evidence import Evidence
from slotproof.counterexamples.reason import Reason
from slotproof.counterexamples.words import place
from slotproof.model.language import ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError, Site
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program

Status = Literal["holds", "false", "not asked"]


@dataclass(frozen=True, slots=True)
class FalsePart:
    """A conjunct that is false: its source, the comparisons that decide it, and every value that it read."""

    text: str
    place: str
    why: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A property at one step; ``note`` says why it is not asked, or what went wrong."""

    name: str
    status: Status
    parts: tuple[FalsePart, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step by numbers, as the IR has it: the action's number and its arguments."""

    action: int
    numbers: tuple[int, ...]


def judgements(
    program: Program,
    interpreter: Interpreter,
    choices: tuple[int, ...],
    before: Valuation | None,
    taken: Taken | None,
    after: Valuation,
    crash: str | None,
) -> list[Judgement]:
    """Every property of the program in the state ``after``, and of the step to it, crashes last."""
    found = []
    for number, prop in enumerate(program.properties):
        why_not = _not_asked(program, prop, taken, crash)
        if why_not:
            found.append(Judgement(prop.name, "not asked", note=why_not))
            continue
        numbers = taken.numbers if taken is not None and prop.parameters else ()
        states: dict[ir.Root, Valuation] = {"state": interpreter.fresh(after)}
        if prop.over == "step":
            assert before is not None
            states = {"before": interpreter.fresh(before), "after": after}
        try:
            results = interpreter.holds(number, before, numbers, after)
        except ModelError as error:
            found.append(Judgement(prop.name, "false", note=f"model error: {error.message}"))
            continue
        evidence = Evidence(program, choices, states)
        found.append(_judged(prop, results, evidence, numbers))
    for run in program.progress:
        found.append(Judgement(run.name, "not asked", note="of a whole run"))
    if crash is not None:
        found.append(Judgement("no-crash", "false", note=f"The modelled program dies: {crash}."))
    elif program.crashes:
        found.append(Judgement("no-crash", "holds"))
    return found


def _not_asked(program: Program, prop: ir.Property, taken: Taken | None, crash: str | None) -> str:
    if prop.over == "state":
        return "of a state that is no crash" if crash else ""
    if taken is None:
        return "of a step, and none has happened yet"
    if prop.actions is not None and taken.action not in prop.actions:
        return f"of steps of {', '.join(program.actions[a].name for a in prop.actions)}"
    return ""


def _judged(
    prop: ir.Property, results: Sequence[bool], evidence: Evidence, numbers: tuple[int, ...]
) -> Judgement:
    if all(results):
        return Judgement(prop.name, "holds")
    facts = evidence.conjuncts(prop, numbers)
    parts = tuple(
        false_part(c.site, Reason(evidence).of_property(prop, i, numbers), found.facts)
        for i, (c, found, held) in enumerate(zip(prop.conjuncts, facts, results, strict=True))
        if not held
    )
    return Judgement(prop.name, "false", parts)


def false_part(site: Site, why: tuple[str, ...], facts: tuple[str, ...]) -> FalsePart:
    """A conjunct with its place as a person looks for it."""
    return FalsePart(site.text, place(site), why, facts)
