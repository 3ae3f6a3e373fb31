"""What an expression of the language can stand for while it is compiled, and constant folding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from slotproof.model.language.bind import WIDE, BoundMap
from slotproof.model.language.ir import (
    And,
    Arithmetic,
    Choose,
    Compare,
    Const,
    Count,
    Expr,
    Member,
    Not,
    Or,
    Retyped,
    Root,
    SetOf,
    SetOperation,
    Subset,
    Table,
)
from slotproof.model.language.types import (
    BoolType,
    IntType,
    OptionalType,
    ScalarType,
    SetType,
    ValueType,
)

BOOL = BoolType()
TRUE = Const(BOOL, 1)
FALSE = Const(BOOL, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a state: a record, map or sequence, reached over ``indices`` from ``column`` on."""

    root: Root
    type: ValueType
    column: int
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """The literal ``None``."""


@dataclass(frozen=True, slots=True)
class EmptySet:
    """A set without elements, of whatever type is needed."""


Operand = Expr | Place | Nothing | EmptySet | BoundMap


def number(value: int) -> Const:
    """A known whole number."""
    return Const(IntType(value, value), value)


def boolean(value: bool) -> Const:
    """A known truth value."""
    return TRUE if value else FALSE


def negation(item: Expr) -> Expr:
    """``not item``."""
    match item:
        case Const():
            return boolean(not item.value)
        case Not():
            return item.item
        case Compare(operator="==") | Compare(operator="!="):
            return Compare(BOOL, "!=" if item.operator == "==" else "==", item.left, item.right)
        case _:
            return Not(BOOL, item)


def conjunction(items: list[Expr]) -> Expr:
    """``and`` of the items, known ones left out."""
    kept: list[Expr] = []
    for item in items:
        if isinstance(item, Const):
            if not item.value:
                kept.append(FALSE)
                break
            continue
        kept.extend(item.items if isinstance(item, And) else (item,))
    if kept == [FALSE] or (kept and kept[-1] == FALSE and all(safe(k) for k in kept)):
        return FALSE
    return TRUE if not kept else kept[0] if len(kept) == 1 else And(BOOL, tuple(kept))


def disjunction(items: list[Expr]) -> Expr:
    """``or`` of the items, known ones left out."""
    kept: list[Expr] = []
    for item in items:
        if isinstance(item, Const):
            if item.value:
                kept.append(TRUE)
                break
            continue
        kept.extend(item.items if isinstance(item, Or) else (item,))
    if kept == [TRUE] or (kept and kept[-1] == TRUE and all(safe(k) for k in kept)):
        return TRUE
    return FALSE if not kept else kept[0] if len(kept) == 1 else Or(BOOL, tuple(kept))


def safe(expression: Expr) -> bool:
    """Whether evaluation cannot fail, so that an operand before a known result may be dropped."""
    from slotproof.model.language.ir import Call, Checked, Decide, Fold, Unwrap, Wrap, subexpressions

    if isinstance(expression, Unwrap | Checked | Call | Decide):
        return False
    if isinstance(expression, Wrap) and expression.site is not None:
        return False
    if isinstance(expression, Fold) and expression.site is not None:
        return False
    return all(safe(e) for e in subexpressions(expression))


def evaluated(expression: Expr) -> list[Expr]:
    """Conditions that are true, and whose evaluation fails if the expression's does."""
    return [] if safe(expression) else [Compare(BOOL, "==", expression, expression)]


def choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """``then if condition else otherwise``."""
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    type_ = then.type
    if isinstance(then.type, IntType) and isinstance(otherwise.type, IntType):
        type_ = IntType(min(then.type.low, otherwise.type.low), max(then.type.high, otherwise.type.high))
    return Choose(type_, condition, then, otherwise)


def comparison(operator: str, left: Expr, right: Expr) -> Expr:
    """A comparison of two values of one representation."""
    op = cast(Literal["==", "!=", "<", "<=", ">", ">="], operator)
    if isinstance(left, Const) and isinstance(right, Const):
        a, b = left.value, right.value
        return boolean({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])
    if isinstance(left.type, IntType) and isinstance(right.type, IntType) and safe(left) and safe(right):
        a_type, b_type = left.type, right.type
        if op in ("<", "!=") and a_type.high < b_type.low:
            return TRUE
        if op == "<=" and a_type.high <= b_type.low:
            return TRUE
        if op in (">", "!=") and a_type.low > b_type.high:
            return TRUE
        if op == ">=" and a_type.low >= b_type.high:
            return TRUE
        if op in ("==", "<=") and a_type.low > b_type.high:
            return FALSE
        if op in ("==", ">=") and a_type.high < b_type.low:
            return FALSE
        if op == "<" and a_type.low >= b_type.high:
            return FALSE
        if op == ">" and a_type.high <= b_type.low:
            return FALSE
    return Compare(BOOL, op, left, right)


def clamp(low: int, high: int) -> IntType:
    """The range of a computed number, or the widest if it grows past it."""
    return IntType(low, high) if WIDE.low <= low and high <= WIDE.high else WIDE


def arithmetic(operator: str, left: Expr, right: Expr) -> Expr:
    """``left operator right`` of ints; the divisor of ``//`` and ``%`` is a positive ``Const``."""
    op = cast(Literal["+", "-", "*", "//", "%"], operator)
    a, b = left.type, right.type
    assert isinstance(a, IntType)
    assert isinstance(b, IntType)
    if isinstance(left, Const) and isinstance(right, Const):
        x, y = left.value, right.value
        return number(
            {"+": x + y, "-": x - y, "*": x * y, "//": x // y if y else 0, "%": x % y if y else 0}[op]
        )
    match op:
        case "+":
            type_ = clamp(a.low + b.low, a.high + b.high)
        case "-":
            type_ = clamp(a.low - b.high, a.high - b.low)
        case "*":
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            type_ = clamp(min(ends), max(ends))
        case "//":
            type_ = clamp(a.low // b.low, a.high // b.low)
        case "%":
            type_ = a if a.low >= 0 and a.high < b.low else IntType(0, b.low - 1)
    return Arithmetic(type_, op, left, right)


def set_operation(operator: str, left: Expr, right: Expr) -> Expr:
    """Union, intersection, difference or symmetric difference of sets of one type."""
    op = cast(Literal["|", "&", "-", "^"], operator)
    if isinstance(left, Const) and isinstance(right, Const):
        a, b = left.value, right.value
        return Const(left.type, {"|": a | b, "&": a & b, "-": a & ~b, "^": a ^ b}[op])
    if isinstance(right, Const) and right.value == 0 and op in "|-^":
        return left
    if isinstance(left, Const) and left.value == 0 and op in "|^":
        return right
    return SetOperation(left.type, op, left, right)


def set_of(type_: SetType, elements: list[Expr]) -> Expr:
    """The set of these elements."""
    if all(isinstance(e, Const) for e in elements):
        mask = 0
        for e in elements:
            mask |= 1 << cast(Const, e).value
        return Const(type_, mask)
    return SetOf(type_, tuple(elements))


def member(element: Expr, set_: Expr) -> Expr:
    """Whether an element is in a set."""
    if isinstance(set_, Const):
        if isinstance(element, Const):
            return boolean(bool(set_.value >> element.value & 1))
        if safe(element):
            if set_.value == 0:
                return FALSE
            if set_.value == set_.type.size - 1:
                return TRUE
    if isinstance(set_, SetOf) and len(set_.elements) == 1:
        return comparison("==", element, set_.elements[0])
    return Member(BOOL, element, set_)


def subset(left: Expr, right: Expr) -> Expr:
    """Whether the left set is contained in the right one."""
    if isinstance(left, Const) and isinstance(right, Const):
        return boolean(left.value & ~right.value == 0)
    return Subset(BOOL, left, right)


def count(set_: Expr) -> Expr:
    """The number of elements of a set."""
    if isinstance(set_, Const):
        return number(set_.value.bit_count())
    assert isinstance(set_.type, SetType)
    return Count(IntType(0, set_.type.item.size), set_)


def retyped(type_: ScalarType, item: Expr) -> Expr:
    """The same number under another type."""
    if isinstance(item, Const):
        return Const(type_, item.value)
    return item if item.type == type_ else Retyped(type_, item)


def table(
    type_: ScalarType, values: tuple[int, ...], dims: tuple[int, ...], indices: tuple[Expr, ...]
) -> Expr:
    """An entry of a constant table; a known number where all entries or the indices are."""
    if len(set(values)) == 1 and all(safe(i) for i in indices):
        return Const(type_, values[0])
    if all(isinstance(i, Const) for i in indices):
        at = 0
        for size, index in zip(dims, indices, strict=True):
            at = at * size + cast(Const, index).value
        return Const(type_, values[at])
    return Table(type_, values, dims, indices)


def from_code(type_: ScalarType, code: int) -> int:
    """The number that the IR computes with, of a column's code."""
    return code + type_.low


def to_code(type_: ScalarType, value: int) -> int:
    """The code that a column stores, of the number that the IR computes with."""
    return value - type_.low


def item_number(type_: OptionalType, code: int) -> int:
    """The number of an optional's item, of its code in the optional (at least 1)."""
    return from_code(type_.item, code - 1)
