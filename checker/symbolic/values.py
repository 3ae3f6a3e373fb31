"""Symbolic values: what a cell or an expression can be, and under which condition.

- a bool is a literal;
- a number (int, enum member, element, optional) is a mapping from each possible value to the literal
  that says so: exactly one of them is true, so that nothing can wrap and no width is ever chosen;
- a set is one literal an element; an optional set has one more in front, which says that it is some.

Values are those of the IR: an int is itself, not its code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal as Word

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Literal
from slotproof.model.language.types import BoolType, OptionalType, ScalarType, SetType

Number = Mapping[int, Literal]
Bits = tuple[Literal, ...]
Value = Literal | Number | Bits

Kind = Word["bool", "number", "set", "optional set"]


def kind(type_: ScalarType) -> Kind:
    """How values of a type are represented."""
    match type_:
        case BoolType():
            return "bool"
        case SetType():
            return "set"
        case OptionalType(SetType()):
            return "optional set"
        case _:
            return "number"


def frozen(value: Value) -> Hashable:
    """A value as a key."""
    return tuple(value.items()) if isinstance(value, Mapping) else value


def are_alike(left: Value, right: Value) -> bool:
    """Whether two values are represented alike: one can stand in the other's place."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right)
    return isinstance(left, Mapping) == isinstance(right, Mapping) and not (
        isinstance(left, tuple) or isinstance(right, tuple)
    )


def constant(type_: ScalarType, value: int) -> Value:
    """A known value, given as the IR gives it."""
    match type_:
        case BoolType():
            return TRUE if value else FALSE
        case SetType():
            return _mask(value, type_.item.size)
        case OptionalType(SetType(item)):
            return (TRUE, *_mask(value - 1, item.size)) if value else (FALSE,) * (item.size + 1)
        case _:
            return {value: TRUE}


def _mask(value: int, size: int) -> Bits:
    return tuple(TRUE if value >> i & 1 else FALSE for i in range(size))


class Values:
    """Computes with symbolic values."""

    def __init__(self, booleans: Booleans) -> None:
        self.booleans = booleans

    def choose(self, condition: Literal, then: Value, otherwise: Value) -> Value:
        """``then`` if ``condition`` else ``otherwise``; both of one type."""
        if then is otherwise or condition == TRUE:
            return then
        if condition == FALSE:
            return otherwise
        choose = self.booleans.choose
        if isinstance(then, int):
            assert isinstance(otherwise, int)
            return choose(condition, then, otherwise)
        if isinstance(then, tuple):
            assert isinstance(otherwise, tuple)
            return tuple(choose(condition, a, b) for a, b in zip(then, otherwise, strict=True))
        assert isinstance(otherwise, Mapping)
        if then == otherwise:
            return then
        made = {}
        for value in then.keys() | otherwise.keys():
            literal = choose(condition, then.get(value, FALSE), otherwise.get(value, FALSE))
            if literal != FALSE:
                made[value] = literal
        return made

    def select(self, choices: Sequence[tuple[Literal, Value]]) -> Value:
        """The value whose condition is true; exactly one of them is."""
        if len(choices) == 1:
            return choices[0][1]
        conj, any_ = self.booleans.conj, self.booleans.any
        first = choices[0][1]
        if isinstance(first, int):
            return any_([conj(c, v) for c, v in choices if isinstance(v, int)])
        if isinstance(first, tuple):
            columns = zip(*([conj(c, x) for x in v] for c, v in choices if isinstance(v, tuple)), strict=True)
            return tuple(any_(column) for column in columns)
        cases: dict[int, list[Literal]] = {}
        for condition, chosen in choices:
            assert isinstance(chosen, Mapping)
            for value, literal in chosen.items():
                cases.setdefault(value, []).append(conj(condition, literal))
        return self._number(cases)

    def _number(self, cases: Mapping[int, Sequence[Literal]]) -> Number:
        joined = {value: self.booleans.any(literals) for value, literals in cases.items()}
        return {value: literal for value, literal in joined.items() if literal != FALSE}

    def number(self, value: Value) -> Number:
        """A bool or number as a number."""
        if isinstance(value, int):
            return {v: x for v, x in ((0, value ^ 1), (1, value)) if x != FALSE}
        assert isinstance(value, Mapping)
        return value

    def convert(self, value: Value, type_: ScalarType) -> Value:
        """The same number as a value of another type (a bool as an int, or the other way)."""
        if kind(type_) == "bool" and isinstance(value, Mapping):
            return value.get(1, FALSE)
        if kind(type_) == "number" and isinstance(value, int):
            return self.number(value)
        return value

    def equal(self, left: Value, right: Value) -> Literal:
        """Whether two values of one representation are equal."""
        if isinstance(left, int) and isinstance(right, int):
            return self.booleans.same(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple):
            return self.booleans.all([self.booleans.same(a, b) for a, b in zip(left, right, strict=True)])
        a, b = self.number(left), self.number(right)
        return self.booleans.any([self.booleans.conj(a[v], b[v]) for v in a.keys() & b.keys()])

    def less(self, left: Number, right: Number, or_equal: bool) -> Literal:
        """Whether ``left < right``, or ``left <= right``."""
        parts = []
        for value, literal in left.items():
            above = [x for v, x in right.items() if v > value or (or_equal and v == value)]
            parts.append(self.booleans.conj(literal, self.booleans.any(above)))
        return self.booleans.any(parts)

    def combine(self, operation: Callable[[int, int], int], left: Number, right: Number) -> Number:
        """An operation on each pair of possible values."""
        cases: dict[int, list[Literal]] = {}
        for a, x in left.items():
            for b, y in right.items():
                literal = self.booleans.conj(x, y)
                if literal != FALSE:
                    cases.setdefault(operation(a, b), []).append(literal)
        return self._number(cases)

    def count(self, bits: Bits) -> Number:
        """How many of these are true.

        Made of what grows with the bits, that at least so many are true: of two sets of which one is part of
        the other a solver sees at once which has more elements.
        """
        conj, disj = self.booleans.conj, self.booleans.disj
        least = [TRUE]
        for bit in bits:
            more = [conj(below, bit) for below in least]
            least = [TRUE, *map(disj, least[1:], more), more[-1]]
        cases = {n: conj(x, y ^ 1) for n, (x, y) in enumerate(zip(least, [*least[1:], FALSE], strict=True))}
        return {number: literal for number, literal in cases.items() if literal != FALSE}
