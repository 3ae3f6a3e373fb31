"""One native function an action: all its successors of one state.

Signature ``i64 (context, source, out)``: the number of successors, or -1 after a model error. The
source has its outputs behind it. Successors are written one after another, each its words, its
outputs, its hash and its label.
"""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.explicit.context import (
    CURRENT,
    IN_GUARD,
    LABEL_BITS,
    SHIFT,
    SITE,
    STRIDE_EXTRA,
    TABLE,
    WHERE,
    applies,
)
from slotproof.checker.explicit.expressions import Unit
from slotproof.checker.explicit.failing import Failing, locals_of
from slotproof.checker.explicit.registers import BUCKET
from slotproof.checker.explicit.statements import Statements
from slotproof.model.language.ir import Action, Conjunct

HASH = """define internal i64 @mix(i64 %a, i64 %b) alwaysinline nounwind {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %z = mul nuw i128 %x, %y
  %h = lshr i128 %z, 64
  %u = trunc i128 %z to i64
  %v = trunc i128 %h to i64
  %r = xor i64 %u, %v
  ret i64 %r
}"""

# Odd numbers without structure (digits of pi), as multipliers of the hash.
KEYS = (0x243F6A8885A308D3, 0x13198A2E03707345)

FOUND = f"""define internal void @found(ptr %ctx, i64 %slot, i64 %label) noinline cold nounwind {{
  %place = getelementptr inbounds i64, ptr %ctx, i64 %slot
  %known = load i64, ptr %place, align 8
  %first = icmp eq i64 %known, 0
  br i1 %first, label %keep, label %end
keep:
  %current = getelementptr inbounds i64, ptr %ctx, i64 {CURRENT}
  %state = load i64, ptr %current, align 8
  %number = add i64 %state, 1
  store i64 %number, ptr %place, align 8
  %next = getelementptr inbounds i64, ptr %place, i64 1
  store i64 %label, ptr %next, align 8
  br label %end
end:
  ret void
}}"""


def levels(action: Action, failing: Failing) -> list[list[Conjunct]]:
    """The conjuncts of a guard by the number of parameters that have to be bound before.

    A conjunct is tested as early as its parameters allow, unless someone could tell: what can end in
    an error is not moved before an earlier conjunct, and nothing is moved before it.
    """
    names = [p.name for p in action.parameters]
    placed: list[list[Conjunct]] = [[] for _ in range(len(names) + 1)]
    deepest = deepest_failing = 0
    for conjunct in action.guard:
        read = set(locals_of(conjunct.condition))
        level = max((i + 1 for i, name in enumerate(names) if name in read), default=0)
        level = max(level, deepest_failing)
        if failing.expression(conjunct.condition):
            level = deepest_failing = max(level, deepest)
        deepest = max(deepest, level)
        placed[level].append(conjunct)
    return placed


class ActionFunction:
    """Emits the function of action ``number`` (among the initial ones if ``initial``)."""

    def __init__(self, unit: Unit, number: int, *, initial: bool = False) -> None:
        self.unit = unit
        self.number = number
        self.initial = initial
        self.action = (unit.program.initial if initial else unit.program.actions)[number]
        self.emitter = Statements(unit, {"state": "%src"})
        self.asm = self.emitter.asm
        self.out = self.asm.variable("ptr")
        self.where = self.asm.variable()
        self.failed = self.asm.label("failed")

    @property
    def symbol(self) -> str:
        """The function's name in the module."""
        return f"@{'initial' if self.initial else 'action'}{self.number}"

    def text(self) -> str:
        """The whole function."""
        asm = self.asm
        asm.store("%out", self.out, "ptr")
        asm.store(str(IN_GUARD), self.where)
        self.end = asm.label("exit")
        self._bind(levels(self.action, self.unit.failing), 0, self.end)
        asm.place(self.end)
        bytes_ = asm.get(f"sub i64 {self._address(asm.load(self.out, 'ptr'))}, {self._address('%out')}")
        asm.ret(f"i64 {asm.get(f'sdiv exact i64 {bytes_}, {8 * self._stride}')}")
        asm.place(self.failed)
        site = asm.get(f"sub i64 0, {asm.load(self.emitter.status)}")
        # A crash has no place in a guard: report it as an error past the last site.
        in_guard = asm.get(f"icmp slt i64 {site}, 0")
        asm.store(
            asm.get(f"select i1 {in_guard}, i64 {self.unit.overflow + 2}, i64 {site}"), asm.at("%ctx", SITE)
        )
        asm.store(asm.load(self.where), asm.at("%ctx", WHERE))
        asm.ret("i64 -1")
        return asm.function(
            f"internal i64 {self.symbol}(ptr noalias %ctx, ptr noalias readonly %src, ptr noalias %out)"
            " noinline nounwind"
        )

    @property
    def _stride(self) -> int:
        return self.unit.layout.total + STRIDE_EXTRA

    def _address(self, pointer: str) -> str:
        return self.asm.get(f"ptrtoint ptr {pointer} to i64")

    def _bind(self, placed: Sequence[Sequence[Conjunct]], bound: int, skip: str) -> None:
        """Test the conjuncts of this level and go on to the next parameter; ``skip`` is the way out."""
        asm, emitter = self.asm, self.emitter
        emitter.roots = {"state": "%src"}
        emitter.unwind = self.failed
        for conjunct in placed[bound]:
            holds = asm.label("holds")
            asm.branch(emitter.truth(conjunct.condition), holds, skip)
            asm.place(holds)
        if bound == len(self.action.parameters):
            self._step()
            return
        parameter = self.action.parameters[bound]
        low = parameter.type.low
        code = asm.variable()
        with asm.loop(parameter.type.size, code) as following:
            asm.store(asm.get(f"add i64 {asm.load(code)}, {low}"), emitter.variable(parameter))
            self._bind(placed, bound + 1, following)

    def _step(self) -> None:
        asm, emitter, layout = self.asm, self.emitter, self.unit.layout
        target = asm.load(self.out, "ptr")
        label = self._label()
        asm.store(label, self.where)
        for word in range(layout.total):
            asm.store(asm.load(asm.at("%src", word)), asm.at(target, word))
        emitter.roots = {"state": target}
        emitter.unwind, emitter.finish = asm.label("broken"), asm.label("done")
        emitter.block(self.action.effect)
        asm.jump(emitter.finish)
        if self.unit.failing.block(self.action.effect):
            self._crash(target)
        asm.place(emitter.finish)
        if not self.initial:
            self._properties(target, label)
        self._record(target, label)
        asm.store(str(IN_GUARD), self.where)

    def _label(self) -> str:
        """This step's label: the action and the number of its arguments."""
        asm = self.asm
        number = str(self.number << LABEL_BITS)
        factor = 1
        for p in reversed(self.action.parameters):
            low = p.type.low
            code = asm.get(f"sub i64 {asm.load(self.emitter.variable(p))}, {low}")
            number = asm.get(f"add i64 {number}, {asm.get(f'mul i64 {code}, {factor}')}")
            factor *= p.type.size
        return number

    def _crash(self, target: str) -> None:
        """Come here from an early end of the effect: an error leaves, a crash goes on as a step."""
        asm, place = self.asm, self.unit.layout.crash
        asm.place(self.emitter.unwind)
        status = asm.load(self.emitter.status)
        crashed = asm.label("crashed")
        asm.branch(asm.get(f"icmp sgt i64 {status}, 0"), crashed, self.failed)
        asm.place(crashed)
        if place.width:
            word = asm.at(target, place.word)
            asm.store(
                asm.get(f"or i64 {asm.load(word)}, {asm.get(f'shl i64 {status}, {place.shift}')}"), word
            )

    def _properties(self, target: str, label: str) -> None:
        asm, program = self.asm, self.unit.program
        for i, property_ in enumerate(program.properties):
            if applies(property_, self.number):
                own = self.action.parameters if property_.actions is not None else ()
                arguments = "".join(f", i64 {asm.load(self.emitter.variable(p))}" for p in own)
                answer = asm.get(
                    f"call i64 @property{i}(ptr %ctx, ptr %src, ptr {target}, i64 {label}{arguments})"
                )
                fine, error = asm.label("fine"), asm.label("error")
                asm.branch(asm.get(f"icmp eq i64 {answer}, 0"), fine, error)
                asm.place(error)
                asm.store(answer, self.emitter.status)
                asm.jump(self.failed)
                asm.place(fine)

    def _record(self, target: str, label: str) -> None:
        asm, total = self.asm, self.unit.layout.total
        if self.unit.symmetric:
            asm.do(f"call i64 @canonical(ptr %ctx, ptr {target})")
        value = hash_of(self.unit, self.emitter, target)
        asm.store(value, asm.at(target, total))
        asm.store(label, asm.at(target, total + 1))
        shift = asm.load(asm.at("%ctx", SHIFT), constant=True)
        table = asm.load(asm.at("%ctx", TABLE), "ptr", constant=True)
        bucket = asm.get(f"lshr i64 {value}, {shift}")
        line = asm.get(f"getelementptr inbounds [{BUCKET} x i64], ptr {table}, i64 {bucket}")
        asm.do(f"call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 3, i32 1)")
        asm.store(asm.at(target, self._stride), self.out, "ptr")


def hash_of(unit: Unit, emitter: Statements, state: str) -> str:
    """The hash of a state's words; its upper bits are the good ones."""
    asm = emitter.asm
    value = str(KEYS[0])
    for word in range(unit.layout.words):
        mixed = asm.get(f"xor i64 {value}, {asm.load(asm.at(state, word))}")
        value = asm.get(f"call i64 @mix(i64 {mixed}, i64 {KEYS[1]})")
    # Small states are small numbers: one more round spreads them over the upper bits.
    return asm.get(f"call i64 @mix(i64 {asm.get(f'xor i64 {value}, {KEYS[0]}')}, i64 {KEYS[1]})")
