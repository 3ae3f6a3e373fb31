"""Which expressions and blocks can end a step early, which cost something, and which leave a note behind.

Generated code tests for an early end only where there can be one, and the conditions of a guard are
moved out of parameter loops only as far as nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slotproof.model.language.bind import WIDE
from slotproof.model.language.ir import (
    Arithmetic,
    Assign,
    Block,
    Call,
    Checked,
    Decide,
    Die,
    Do,
    Elements,
    Expr,
    Fail,
    Fold,
    For,
    If,
    Implies,
    Local,
    Return,
    Span,
    Statement,
    Unwrap,
    Wrap,
    Write,
    subexpressions,
)
from slotproof.model.language.program import Program
from slotproof.model.language.types import IntType
from slotproof.model.language.walk import expressions_of


def interval(expression: Expr) -> tuple[int, int]:
    """Bounds of an int: those of its type, and for arithmetic those of the exact result."""
    type_ = expression.type
    assert isinstance(type_, IntType)
    if not isinstance(expression, Arithmetic):
        return type_.low, type_.high
    left, right = expression.left.type, expression.right.type
    (a, b), (c, d) = (left.low, left.high), (right.low, right.high)
    match expression.operator:
        case "+":
            return a + c, b + d
        case "-":
            return a - d, b - c
        case "*":
            ends = (a * c, a * d, b * c, b * d)
            return min(ends), max(ends)
        case _:
            return type_.low, type_.high


def overflows(expression: Expr) -> bool:
    """Whether a sum, difference or product can leave the numbers that engines compute with."""
    if isinstance(expression, Fold):
        count = source_size(expression)
        low, high = expression.body.type.low, expression.body.type.high
        return expression.kind == "sum" and (low * count < WIDE.low or high * count > WIDE.high)
    if not isinstance(expression, Arithmetic):
        return False
    low, high = interval(expression)
    return low < WIDE.low or high > WIDE.high


def source_size(fold: Fold | For) -> int:
    """The most rounds of a loop."""
    match fold.source:
        case Span(low, high):
            return max(high - low, 0)
        case Elements(set_):
            return (set_.type.size - 1).bit_length()


def notes(e: Expr) -> bool:
    """Whether evaluation notes that a premise was met, which a report tells; only properties have such."""
    return any(isinstance(x, Implies | Fold) and x.premise_id is not None for x in expressions_of(e))


class Failing:
    """Answers for one program; each answer is computed once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._expressions: dict[int, bool] = {}
        self._costly: dict[int, bool] = {}
        self._functions: dict[int, bool] = {}

    def expression(self, e: Expr) -> bool:
        """Whether evaluation can end in an error or a crash."""
        return self._remember(self._expressions, e, self._can_fail)

    def costly(self, e: Expr) -> bool:
        """Whether evaluation loops or calls: worth a jump around it."""
        return self._remember(
            self._costly,
            e,
            lambda e: isinstance(e, Fold | Call | Decide) or any(self.costly(x) for x in subexpressions(e)),
        )

    @staticmethod
    def _remember(known: dict[int, bool], e: Expr, answer: Callable[[Expr], bool]) -> bool:
        if id(e) not in known:  # nodes live as long as the program, so that an id stays theirs
            known[id(e)] = answer(e)
        return known[id(e)]

    def _can_fail(self, e: Expr) -> bool:
        match e:
            case Unwrap() | Checked():
                return True
            case Wrap() if e.site is not None:
                return True
            case Arithmetic() if overflows(e):
                return True
            case Fold() if e.kind in ("min", "max", "first") and e.default is None:
                return True
            case Fold() if overflows(e):
                return True
            case Call():
                if self.function(e.function):
                    return True
            case Decide():
                if any(self.function(f) for f in e.functions):
                    return True
            case _:
                pass
        return any(self.expression(x) for x in subexpressions(e))

    def function(self, number: int) -> bool:
        """Whether a call of this function can end in an error or a crash."""
        if number not in self._functions:
            self._functions[number] = self.block(self._program.functions[number].body)
        return self._functions[number]

    def block(self, block: Block) -> bool:
        """Whether running a block can end in an error or a crash."""
        return any(self._statement(s) for s in block)

    def _statement(self, s: Statement) -> bool:
        match s:
            case Die() | Fail():
                return True
            case Write() if s.site is not None:
                return True
            case If():
                return self.expression(s.condition) or self.block(s.then) or self.block(s.otherwise)
            case For():
                inner = isinstance(s.source, Elements) and self.expression(s.source.set)
                return inner or self.block(s.body)
            case _:
                return any(self.expression(e) for e in operands(s))


def operands(s: Statement) -> Iterator[Expr]:
    """The expressions of a statement itself, not of blocks inside it."""
    match s:
        case Assign():
            yield s.value
        case Write():
            yield from s.indices
            yield s.value
        case If():
            yield s.condition
        case For():
            if isinstance(s.source, Elements):
                yield s.source.set
        case Return():
            if s.value is not None:
                yield s.value
        case Do():
            yield s.call
        case _:
            pass


def locals_of(e: Expr) -> Iterator[str]:
    """The names of parameters and variables that an expression reads (its own bound ones included)."""
    if isinstance(e, Local):
        yield e.name
    for inner in subexpressions(e):
        yield from locals_of(inner)
