"""From statements and functions of the IR to LLVM IR."""

from __future__ import annotations

from slotproof.checker.explicit.expressions import ROOTS, Expressions, Unit
from slotproof.model.language.ir import (
    Assign,
    Block,
    Break,
    Continue,
    Die,
    Do,
    Fail,
    For,
    If,
    Return,
    Root,
    Statement,
    Write,
)
from slotproof.model.language.layout import WORD
from slotproof.model.language.types import IntType


class Statements(Expressions):
    """Emits statements; ``finish`` is the block where a ``return`` goes, ``result`` what it sets."""

    def __init__(self, unit: Unit, roots: dict[Root, str], context: str = "%ctx") -> None:
        super().__init__(unit, roots, context)
        self.finish = self.asm.label("finish")
        self.result = self.asm.variable()
        self._loops: list[tuple[str, str]] = []

    def closed(self, header: str) -> str:
        """The text of a function whose answer is in ``result``, or -2 if it ends early."""
        asm = self.asm
        asm.place(self.finish)
        asm.ret(f"i64 {asm.load(self.result)}")
        asm.place(self.unwind)
        asm.ret("i64 -2")
        return asm.function(header)

    def block(self, block: Block) -> None:
        """Emit statements in order."""
        for s in block:
            self._statement(s)

    def _statement(self, s: Statement) -> None:
        asm = self.asm
        match s:
            case Assign():
                asm.store(self.number(s.value), self.variable(s.local))
            case Write():
                self._write(s)
            case If():
                self._if(s)
            case For():

                def body(following: str, after: str) -> None:
                    self._loops.append((following, after))
                    self.block(s.body)
                    self._loops.pop()

                self.each(s.source, s.variable, body)
            case Break():
                asm.jump(self._loops[-1][1])
            case Continue():
                asm.jump(self._loops[-1][0])
            case Return():
                if s.value is not None:
                    asm.store(self.number(s.value), self.result)
                asm.jump(self.finish)
            case Do():
                self.call(s.call)
            case Die():
                self.end(s.cause + 1)
            case Fail():
                self.end(-s.site - 1)

    def _if(self, s: If) -> None:
        asm = self.asm
        condition = self.truth(s.condition)
        then, otherwise, after = asm.label("then"), asm.label("else"), asm.label("fi")
        asm.branch(condition, then, otherwise)
        asm.place(then)
        self.block(s.then)
        asm.jump(after)
        asm.place(otherwise)
        self.block(s.otherwise)
        asm.place(after)

    def _write(self, s: Write) -> None:
        asm = self.asm
        column = self.unit.layout.columns[s.column]
        place = self.unit.layout.places[s.column]
        value = self.number(s.value)
        cell = self._linear(s.indices, column.dims)
        if isinstance(column.type, IntType):
            if s.site is not None:
                self._inside(value, column.type.low, column.type.high, s.site)
            value = self._plus(value, -column.type.low)
        if not place.width:
            return
        pointer, bit = self.address(place, self.roots["state"], cell)
        if place.width == WORD:
            asm.store(value, pointer)
            return
        hole = asm.get(f"xor i64 {asm.get(f'shl i64 {place.mask}, {bit}')}, -1")
        kept = asm.get(f"and i64 {asm.load(pointer)}, {hole}")
        asm.store(asm.get(f"or i64 {kept}, {asm.get(f'shl i64 {value}, {bit}')}"), pointer)


def helper(unit: Unit, number: int) -> str:
    """The text of a function of the model."""
    function = unit.program.functions[number]
    kind, fails = unit.signature(number)
    emitter = Statements(unit, {r: f"%{r}" for r in ROOTS})
    asm = emitter.asm
    asm.store("0", emitter.result)
    for i, parameter in enumerate(function.parameters):
        asm.store(f"%a{i}", emitter.variable(parameter))
    emitter.block(function.body)
    asm.place(emitter.finish)
    _return(emitter, kind, fails, "0")
    asm.place(emitter.unwind)
    _return(emitter, kind, fails, asm.load(emitter.status))
    states = [f"ptr noalias %{r}" for r in ROOTS]
    parameters = ", ".join(
        ["ptr noalias %ctx", *states, *(f"i64 %a{i}" for i in range(len(function.parameters)))]
    )
    return asm.function(f"internal {kind} @f{number}({parameters}) nounwind")


def _return(emitter: Statements, kind: str, fails: bool, status: str) -> None:
    asm = emitter.asm
    if not fails:
        asm.ret("void" if kind == "void" else f"i64 {asm.load(emitter.result)}")
    elif kind == "i64":
        asm.ret(f"i64 {status}")
    else:
        pair = asm.get(f"insertvalue {kind} poison, i64 {asm.load(emitter.result)}, 0")
        asm.ret(f"{kind} {asm.get(f'insertvalue {kind} {pair}, i64 {status}, 1')}")
