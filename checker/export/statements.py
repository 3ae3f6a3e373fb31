"""Effects and helper functions of the model as Promela's statements.

A helper becomes an ``inline``; its parameters, its local variables and its result are hidden variables,
which are no part of a state. They carry nothing from one step to the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from slotproof.checker.export.build import (
    bounds,
    compared,
    negated,
)
from slotproof.checker.export.evaluation import Evaluation
from slotproof.model.language.errors import Site
from slotproof.model.language.ir import (
    Assign,
    Block,
    Break,
    Call,
    Const,
    Continue,
    Decide,
    Die,
    Do,
    Expr,
    Fail,
    Fold,
    For,
    If,
    Return,
    Span,
    Statement,
    Write,
)
from slotproof.model.language.types import IntType
from slotproof.model.language.walk import expressions_of, statements_of

UNROLLED = 40
"""Loops are written out while that gives no more statements than this."""

LONG = 12
"""A call counts as so many statements; Spin's limit for one step is 2,048 of its own."""


class Emitter(Evaluation):
    """Writes the statements of one function or effect."""

    def function(self, body: Block) -> list[str]:
        """The lines of a whole body, its end included."""
        self.block(body)
        if self._leaves:
            self.write(f"end_{self.scope}: skip")
        return self.lines or ["  skip"]

    def block(self, block: Block) -> None:
        """Write statements in order."""
        for s in block:
            self._statement(s)

    def _statement(self, s: Statement) -> None:
        match s:
            case Assign():
                self._set(self.variable(s.local), self.value(s.value))
            case Write():
                self._write(s)
            case If():
                self._if(s)
            case For():
                self._for(s)
            case Break():
                self.write("break;")
            case Continue():
                self._continue()
            case Return():
                if s.value is not None:
                    assert self.result is not None
                    self._set(self.result, self.value(s.value))
                self._finish()
            case Do():
                self._call(s.call)
            case Die():
                self.write(f"crash = {s.cause + 1}; /* {self.shared.program.crashes[s.cause]} */")
                self._finish()
            case Fail():
                self.write(f"assert(false); {self.shared.place(self.shared.program.sites[s.site])}")

    def _write(self, s: Write) -> None:
        column = self.shared.program.columns[s.column]
        *indices, value = self._operands([*s.indices, s.value])
        if isinstance(column.type, IntType) and s.site is not None:
            self._assert_range(value, column.type, self.shared.program.sites[s.site])
        if s.column in self.shared.kept:
            self._set(self.text.cell(s.column, indices), value)

    def _assert_range(self, value: Expr, type_: IntType, site: Site) -> None:
        low, high = bounds(value)
        tests = [compared(">=", value, Const(type_, type_.low))] if low < type_.low else []
        tests += [compared("<=", value, Const(type_, type_.high))] if high > type_.high else []
        if tests:
            test = " && ".join(self._bare(t) for t in tests)
            self.write(f"assert({test}); {self.shared.place(site)}")

    def _if(self, s: If) -> None:
        condition = self.value(s.condition)
        if isinstance(condition, Const):
            self.block(s.then if condition.value else s.otherwise)
            return
        then, otherwise = s.then, s.otherwise
        if not then:
            condition, then, otherwise = negated(condition), otherwise, then
        with self._choice(condition):
            self.block(then)
            if otherwise:
                self._otherwise()
                self.block(otherwise)

    def _for(self, s: For) -> None:
        rounds = self._rounds(s.source)
        jumps = any(isinstance(x, Break | Continue) for x in _own(s.body))
        if not jumps and isinstance(s.source, Span) and rounds * _statements(s.body) <= UNROLLED:
            for i in range(s.source.low, s.source.high):
                self._bound[s.variable.name] = Const(s.variable.type, i)
                self.block(s.body)
            self._bound.pop(s.variable.name, None)
            return
        with self._loop(s.variable, s.source):
            self.block(s.body)

    def _continue(self) -> None:
        if self._loops[-1][0] is None:
            self._labels += 1
            self._loops[-1][0] = f"next_{self.scope}_{self._labels}"
        self.write(f"goto {self._loops[-1][0]};")


def _own(block: Block) -> Iterator[Statement]:
    """Statements that a ``break`` of the block's own loop can be among."""
    for s in block:
        yield s
        if isinstance(s, If):
            yield from _own(s.then)
            yield from _own(s.otherwise)


def _statements(block: Block) -> int:
    """How many statements a block has, with those that its expressions will need."""
    total = 0
    for s in statements_of(block):
        total += 1
        for e in expressions_of(s):
            total += LONG if isinstance(e, Call | Decide) else 3 if isinstance(e, Fold) else 0
    return total
