"""Native code for progress: which obligations a state opens and meets, and to which fair sets a step belongs.

A module of its own, beside ``module.py``: a search for safety does without it. An *obligation* is a
progress property at one value of each of its parameters, a *fair set* likewise; both are numbered in the
order of declaration, the first parameter varying slowest. Exported, all ``i64``:

- ``judge(context, state, out)`` writes a word for each obligation, 1 if the state meets the premise, 2 if
  it meets the goal, 3 if both: 0, or -2 after a model error;
- ``classify(context, state, label, out)`` sets the bits of the fair sets that a step from the state is in,
  in words that are 0: 0, or -2 after a model error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from slotproof.checker.explicit.context import LABEL_BITS, Slots, slots_of
from slotproof.checker.explicit.expressions import Unit
from slotproof.checker.explicit.machine import Code, machine_code, parse
from slotproof.checker.explicit.module import PRELUDE, with_outputs
from slotproof.checker.explicit.statements import Statements, helper
from slotproof.model.language.errors import LanguageError
from slotproof.model.language.ir import Action, FairSets, Local, Progress
from slotproof.model.language.layout import Layout, layout_of
from slotproof.model.language.program import Program

T = TypeVar("T")

EXPORTS = ("judge", "classify")
WORD_BITS = 64
MOST = 1024
"""Obligations, and fair sets, of one program."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A progress property, by its number, at these values of its parameters (as the IR represents them)."""

    progress: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FairSet:
    """One of the sets that a declaration of fairness makes, by its number, at these values."""

    sets: int
    values: tuple[int, ...]


def obligations_of(program: Program) -> list[Obligation]:
    """Every obligation, in order; ``LanguageError`` if there are too many."""
    found = [Obligation(i, v) for i, p in enumerate(program.progress) for v in _values(p.parameters)]
    return _few(found, f"system {program.name}: its progress properties are about {len(found):,} values")


def fair_sets_of(program: Program) -> list[FairSet]:
    """Every fair set, in order; ``LanguageError`` if there are too many."""
    found = [FairSet(i, v) for i, f in enumerate(program.fairness) for v in _values(f.instances)]
    return _few(found, f"system {program.name}: its fairness makes {len(found):,} sets of steps")


def _few(found: list[T], what: str) -> list[T]:
    if len(found) > MOST:
        raise LanguageError(f"{what}; at most {MOST:,}, so make the domains smaller")
    return found


def _values(parameters: Sequence[Local]) -> list[tuple[int, ...]]:
    return list(product(*(range(p.type.low, p.type.high + 1) for p in parameters)))


def judgement(program: Program) -> Code:
    """The machine code for a program's progress properties and fairness."""
    text = module_text(program, layout_of(program), slots_of(program))
    return machine_code([text], EXPORTS, lambda: parse(text))


def module_text(program: Program, layout: Layout, slots: Slots) -> str:
    """The module's text."""
    unit = Unit(program, layout, slots)
    functions = [helper(unit, i) for i in range(len(program.functions))]
    functions += [_progress(unit, i, p) for i, p in enumerate(program.progress)]
    functions += [_fair(unit, i, a) for i, a in enumerate(program.actions)]
    functions += [_judge(unit), _classify(unit)]
    return "\n\n".join([PRELUDE, *unit.globals, *functions]) + "\n"


def _progress(unit: Unit, number: int, progress: Progress) -> str:
    emitter = Statements(unit, {"state": "%state"})
    asm = emitter.asm
    for i, parameter in enumerate(progress.parameters):
        asm.store(f"%a{i}", emitter.variable(parameter))
    emitter.block(progress.setup)
    premise = asm.wide(emitter.truth(progress.premise.condition))
    goal = asm.wide(emitter.truth(progress.goal.condition))
    asm.store(asm.get(f"or i64 {premise}, {asm.get(f'shl i64 {goal}, 1')}"), emitter.result)
    own = "".join(f", i64 %a{i}" for i in range(len(progress.parameters)))
    signature = f"@progress{number}(ptr noalias %ctx, ptr noalias readonly %state{own})"
    return emitter.closed(f"internal i64 {signature} noinline nounwind")


def _judge(unit: Unit) -> str:
    emitter = Statements(unit, {})
    asm = emitter.asm
    asm.store("0", emitter.result)
    state = with_outputs(unit, emitter, "%state")
    for i, obligation in enumerate(obligations_of(unit.program)):
        own = "".join(f", i64 {v}" for v in obligation.values)
        answer = asm.get(f"call i64 @progress{obligation.progress}(ptr %ctx, ptr {state}{own})")
        fine = asm.label("fine")
        asm.branch(asm.get(f"icmp slt i64 {answer}, 0"), emitter.unwind, fine)
        asm.place(fine)
        asm.store(answer, asm.at("%out", i))
    return emitter.closed("i64 @judge(ptr noalias %ctx, ptr %state, ptr noalias %out) nounwind")


def _fair(unit: Unit, number: int, action: Action) -> str:
    """The function of an action: decode the arguments, then try every fair set that it may be in."""
    emitter = Statements(unit, {"state": "%state"})
    asm = emitter.asm
    asm.store("0", emitter.result)
    rest = "%number"
    for parameter in reversed(action.parameters):
        size = parameter.type.size
        code = asm.get(f"urem i64 {rest}, {size}")
        rest = asm.get(f"udiv i64 {rest}, {size}")
        asm.store(asm.get(f"add i64 {code}, {parameter.type.low}"), emitter.variable(parameter))
    base = 0
    for sets in unit.program.fairness:
        if number in sets.actions:
            _sets(emitter, action, sets, base)
        base += len(_values(sets.instances))
    signature = f"@fair{number}(ptr noalias %ctx, ptr noalias readonly %state, i64 %number, ptr noalias %out)"
    return emitter.closed(f"internal i64 {signature} noinline nounwind")


def _sets(emitter: Statements, action: Action, sets: FairSets, base: int) -> None:
    """Set the bits of the sets that the step is in; of the instances those in ``each`` are known."""
    asm = emitter.asm
    given = {p.name: p for p in action.parameters}
    for name, instance in zip(sets.each, sets.instances, strict=False):
        asm.store(asm.load(emitter.variable(given[name])), emitter.variable(instance))

    def bind(free: Sequence[Local], skip: str) -> None:
        if free:
            code = asm.variable()
            with asm.loop(free[0].type.size, code) as following:
                value = asm.get(f"add i64 {asm.load(code)}, {free[0].type.low}")
                asm.store(value, emitter.variable(free[0]))
                bind(free[1:], following)
            return
        emitter.block(sets.setup)
        inside = asm.label("inside")
        asm.branch(emitter.truth(sets.condition), inside, skip)
        asm.place(inside)
        index = "0"
        for instance in sets.instances:
            code = asm.get(f"sub i64 {asm.load(emitter.variable(instance))}, {instance.type.low}")
            index = asm.get(f"add i64 {asm.get(f'mul i64 {index}, {instance.type.size}')}, {code}")
        index = asm.get(f"add i64 {index}, {base}")
        place = asm.at("%out", asm.get(f"lshr i64 {index}, 6"))
        bit = asm.get(f"shl i64 1, {asm.get(f'and i64 {index}, 63')}")
        asm.store(asm.get(f"or i64 {asm.load(place)}, {bit}"), place)

    after = asm.label("after")
    bind(sets.instances[len(sets.each) :], after)
    asm.place(after)


def _classify(unit: Unit) -> str:
    emitter = Statements(unit, {})
    asm = emitter.asm
    asm.store("0", emitter.result)
    state = with_outputs(unit, emitter, "%state")
    number = asm.get(f"and i64 %label, {(1 << LABEL_BITS) - 1}")
    labels = [asm.label("action") for _ in unit.program.actions]
    asm.switch(asm.get(f"lshr i64 %label, {LABEL_BITS}"), [*labels, emitter.finish])
    for i, label in enumerate(labels):
        asm.place(label)
        answer = asm.get(f"call i64 @fair{i}(ptr %ctx, ptr {state}, i64 {number}, ptr %out)")
        asm.store(answer, emitter.result)
        asm.jump(emitter.finish)
    header = "i64 @classify(ptr noalias %ctx, ptr %state, i64 %label, ptr noalias %out) nounwind"
    return emitter.closed(header)
