"""The native module of a program: its functions as one text of LLVM IR.

Exported, all ``i64`` and with the context as first argument:

- ``expand(context, state, out)`` writes all successors of a state: their number, -1 for a crash state
  (which has none), -2 after a model error;
- ``check(context, state)`` evaluates invariants and witnesses of a new state: 0, or -2;
- ``final(context, state)`` says whether the system may stop here: 0 or 1, or -2;
- ``initial(context, out)`` writes the initial states, as ``expand`` does;
- ``canonical`` (see ``canonical.py``) where the module is one of orbits.
"""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.explicit.actions import FOUND, HASH, ActionFunction, hash_of
from slotproof.checker.explicit.canonical import canonical_text
from slotproof.checker.explicit.context import CURRENT, DEPTH, IN_STATE, SITE, STRIDE_EXTRA, WHERE, Slots
from slotproof.checker.explicit.expressions import Unit
from slotproof.checker.explicit.statements import Statements, helper
from slotproof.model.language.ir import Property, Root, Witness
from slotproof.model.language.layout import Layout
from slotproof.model.language.program import Program
from slotproof.model.language.symmetry import Permutation

EXPORTS = ("expand", "check", "final", "initial")

PRELUDE = """declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
!0 = !{}"""


def module_text(
    program: Program, layout: Layout, slots: Slots, permutations: Sequence[Permutation] = ()
) -> str:
    """The module's text. With permutations every state that is written is the least of its images."""
    unit = Unit(program, layout, slots, symmetric=bool(permutations))
    functions = [helper(unit, i) for i in range(len(program.functions))]
    functions += [_property(unit, i, p) for i, p in enumerate(program.properties)]
    functions += [_witness(unit, i, w) for i, w in enumerate(program.witnesses)]
    functions += [ActionFunction(unit, i).text() for i in range(len(program.actions))]
    functions += [ActionFunction(unit, i, initial=True).text() for i in range(len(program.initial))]
    functions += [_expand(unit), _check(unit), _final(unit), _initial(unit)]
    if permutations:
        functions.append(canonical_text(program, layout, permutations))
    return "\n\n".join([PRELUDE, HASH, FOUND, *unit.globals, *functions]) + "\n"


def _answer(emitter: Statements, header: str) -> str:
    """End a function that keeps its answer in ``result``; an early end answers minus the error's site."""
    asm, overflow = emitter.asm, emitter.unit.overflow
    asm.place(emitter.finish)
    asm.ret(f"i64 {asm.load(emitter.result)}")
    asm.place(emitter.unwind)
    status = asm.load(emitter.status)
    # A crash has no place in a property: answer as for an error past the last site.
    crash = asm.get(f"icmp sgt i64 {status}, 0")
    asm.ret(f"i64 {asm.get(f'select i1 {crash}, i64 {-overflow - 2}, i64 {status}')}")
    return asm.function(header)


def _property(unit: Unit, number: int, property_: Property) -> str:
    """Keeps the first violation of each conjunct; 0, or minus the site of an error.

    As in Python, what can end in an error is not evaluated where an earlier conjunct is false.
    """
    names: tuple[Root, ...] = ("state",) if property_.over == "state" else ("before", "after")
    emitter = Statements(unit, {name: f"%{name}" for name in names})
    asm = emitter.asm
    asm.store("0", emitter.result)
    for i, parameter in enumerate(property_.parameters):
        asm.store(f"%a{i}", emitter.variable(parameter))
    emitter.block(property_.setup)
    so_far = asm.variable("i1")
    asm.store("true", so_far, "i1")
    for i, conjunct in enumerate(property_.conjuncts):
        after = asm.label("after")
        if i and unit.failing.expression(conjunct.condition):
            evaluate = asm.label("evaluate")
            asm.branch(asm.load(so_far, "i1"), evaluate, after)
            asm.place(evaluate)
        fails = asm.label("fails")
        asm.branch(emitter.truth(conjunct.condition), after, fails)
        asm.place(fails)
        asm.do(f"call void @found(ptr %ctx, i64 {unit.slots.part(number, i)}, i64 %label)")
        asm.store("false", so_far, "i1")
        asm.place(after)
    states = ", ".join(f"ptr noalias readonly %{name}" for name in names)
    own = "".join(f", i64 %a{i}" for i in range(len(property_.parameters)))
    signature = f"@property{number}(ptr noalias %ctx, {states}, i64 %label{own})"
    return _answer(emitter, f"internal i64 {signature} noinline nounwind")


def _witness(unit: Unit, number: int, witness: Witness) -> str:
    emitter = Statements(unit, {"state": "%state"})
    emitter.block(witness.setup)
    emitter.asm.store(emitter.asm.wide(emitter.truth(witness.condition)), emitter.result)
    return _answer(
        emitter,
        f"internal i64 @witness{number}(ptr noalias %ctx, ptr noalias readonly %state) noinline nounwind",
    )


def with_outputs(unit: Unit, emitter: Statements, source: str | None) -> str:
    """A copy of a stored state (or of the declared initial one) with its outputs behind it."""
    asm, layout = emitter.asm, unit.layout
    copy = asm.variable(f"[{layout.total} x i64]")
    start = [int(w) for w in layout.pack(unit.program.start)]
    for word in range(layout.total):
        known = source is None or word >= layout.words
        value = str(start[word]) if known else asm.load(asm.at(source or "", word))
        asm.store(value, asm.at(copy, word))
    return copy


def _crash_code(unit: Unit, emitter: Statements, state: str) -> str:
    return emitter.read(unit.layout.crash, state, 0)


def _emitter(unit: Unit) -> Statements:
    return Statements(unit, {})


def _all(unit: Unit, emitter: Statements, symbols: list[str], source: str, counted: bool) -> None:
    """Run action functions one behind the other; ends in ``finish`` or ``unwind``."""
    asm = emitter.asm
    stride = unit.layout.total + STRIDE_EXTRA
    asm.store("0", emitter.result)
    for i, symbol in enumerate(symbols):
        sum_ = asm.load(emitter.result)
        place = asm.at("%out", asm.get(f"mul i64 {sum_}, {stride}"))
        count = asm.get(f"call i64 {symbol}(ptr %ctx, ptr {source}, ptr {place})")
        fine = asm.label("fine")
        asm.branch(asm.get(f"icmp slt i64 {count}, 0"), emitter.unwind, fine)
        asm.place(fine)
        asm.store(asm.get(f"add i64 {sum_}, {count}"), emitter.result)
        if counted:
            word = asm.at("%ctx", unit.slots.fired + i)
            asm.store(asm.get(f"add i64 {asm.load(word)}, {count}"), word)


def _expand(unit: Unit) -> str:
    emitter = _emitter(unit)
    asm = emitter.asm
    state = with_outputs(unit, emitter, "%state")
    if unit.layout.crash.width:
        alive = asm.label("alive")
        asm.store("-1", emitter.result)
        asm.branch(asm.narrow(_crash_code(unit, emitter, state)), emitter.finish, alive)
        asm.place(alive)
    _all(unit, emitter, [f"@action{i}" for i in range(len(unit.program.actions))], state, counted=True)
    return emitter.closed("i64 @expand(ptr noalias %ctx, ptr %state, ptr noalias %out) nounwind")


def _initial(unit: Unit) -> str:
    emitter = _emitter(unit)
    asm = emitter.asm
    if unit.program.initial:
        state = with_outputs(unit, emitter, None)
        symbols = [f"@initial{i}" for i in range(len(unit.program.initial))]
        _all(unit, emitter, symbols, state, counted=False)
    else:
        total = unit.layout.total
        for word, value in enumerate(unit.layout.pack(unit.program.start)):
            asm.store(str(int(value)), asm.at("%out", word))
        if unit.symmetric:
            asm.do("call i64 @canonical(ptr %ctx, ptr %out)")
        asm.store(hash_of(unit, emitter, "%out"), asm.at("%out", total))
        asm.store("0", asm.at("%out", total + 1))
        asm.store("1", emitter.result)
    return emitter.closed("i64 @initial(ptr noalias %ctx, ptr noalias %out) nounwind")


def _failure(emitter: Statements, answer: str) -> None:
    """Keep an error of an invariant, a witness or the final condition and leave."""
    asm = emitter.asm
    with asm.when(asm.get(f"icmp slt i64 {answer}, 0")):
        asm.store(asm.get(f"sub i64 0, {answer}"), asm.at("%ctx", SITE))
        asm.store(str(IN_STATE), asm.at("%ctx", WHERE))
        asm.jump(emitter.unwind)


def _check(unit: Unit) -> str:
    emitter = _emitter(unit)
    asm, slots = emitter.asm, unit.slots
    asm.store("0", emitter.result)
    state = with_outputs(unit, emitter, "%state")
    if unit.layout.crash.width:
        code = _crash_code(unit, emitter, state)
        with asm.when(asm.narrow(code)):
            slot = asm.get(f"add i64 {asm.get(f'shl i64 {code}, 1')}, {slots.crash(0) - 2}")
            asm.do(f"call void @found(ptr %ctx, i64 {slot}, i64 {IN_STATE})")
            asm.jump(emitter.finish)
    for i, property_ in enumerate(unit.program.properties):
        if property_.over == "state":
            _failure(emitter, asm.get(f"call i64 @property{i}(ptr %ctx, ptr {state}, i64 {IN_STATE})"))
    for i in range(len(unit.program.witnesses)):
        word = asm.at("%ctx", slots.witness(i))
        with asm.when(asm.get(f"icmp eq i64 {asm.load(word)}, 0")):
            answer = asm.get(f"call i64 @witness{i}(ptr %ctx, ptr {state})")
            _failure(emitter, answer)
            with asm.when(asm.narrow(answer)):
                depth = asm.load(asm.at("%ctx", DEPTH))
                asm.store(asm.get(f"add i64 {depth}, 1"), word)
                asm.store(asm.load(asm.at("%ctx", CURRENT)), asm.at("%ctx", slots.witness(i) + 1))
    return emitter.closed("i64 @check(ptr noalias %ctx, ptr %state) nounwind")


def _final(unit: Unit) -> str:
    emitter = _emitter(unit)
    asm = emitter.asm
    asm.store("0", emitter.result)
    final = unit.program.final
    if final is not None:
        state = with_outputs(unit, emitter, "%state")
        emitter.roots = {"state": state}
        ordinary, emitter.unwind = emitter.unwind, asm.label("broken")
        asm.store(asm.wide(emitter.truth(final)), emitter.result)
        asm.jump(emitter.finish)
        asm.place(emitter.unwind)
        emitter.unwind = ordinary
        _failure(emitter, asm.load(emitter.status))
    return emitter.closed("i64 @final(ptr noalias %ctx, ptr %state) nounwind")
