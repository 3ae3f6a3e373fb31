"""Expressions of the IR, built so that known values disappear and large ones show their structure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from slotproof.model.language.ir import (
    And,
    Arithmetic,
    Checked,
    Choose,
    Compare,
    Const,
    Count,
    Expr,
    Local,
    Member,
    Not,
    Or,
    Read,
    Retyped,
    SetOf,
    SetOperation,
    Subset,
    Table,
    Unwrap,
    Wrap,
    subexpressions,
)
from slotproof.model.language.types import BoolType, IntType, OptionalType, ScalarType, SetType

BOOL = BoolType()
TRUE = Const(BOOL, 1)
FALSE = Const(BOOL, 0)
NUMBER = IntType(-(2**31), 2**31 - 1)
"""The numbers that C's ``int`` has."""

MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">=": "<=", "<=": ">=", ">": "<"}
WIDEST = 2**30
"""Variables without a range are kept within this, so that sums of two of them are numbers."""

SHORT = 8
"""An element of so many nodes may be repeated."""

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}


def size(e: Expr) -> int:
    """How many nodes an expression has."""
    return 1 + sum(size(x) for x in subexpressions(e))


def limits(type_: ScalarType) -> tuple[int, int]:
    """The least and greatest number that stands for a value of a type."""
    return type_.low, type_.high


def bounds(e: Expr) -> tuple[float, float]:
    """The least and greatest value that an expression can have, exact arithmetic taken for granted."""
    match e:
        case Const():
            return e.value, e.value
        case Retyped() | Checked():
            low, high = limits(e.type)
            a, b = bounds(e.item)
            return max(low, a), min(high, b)
        case Choose():
            (a, b), (c, d) = bounds(e.then), bounds(e.otherwise)
            return min(a, c), max(b, d)
        case Arithmetic():
            return _arithmetic_bounds(e)
        case _:
            return limits(e.type) if has_range(e.type) else (-WIDEST, WIDEST)


def has_range(type_: ScalarType) -> bool:
    """Whether a type's values are numbers of C's ``int`` by themselves."""
    low, high = limits(type_)
    return NUMBER.low <= low and high <= NUMBER.high


def _arithmetic_bounds(e: Arithmetic) -> tuple[float, float]:
    (a, b), (c, d) = bounds(e.left), bounds(e.right)
    match e.operator:
        case "+":
            return a + c, b + d
        case "-":
            return a - d, b - c
        case "*":
            ends = (a * c, a * d, b * c, b * d)
            return min(ends), max(ends)
        case "//":
            return (-inf if a == -inf else a // c), (inf if b == inf else b // c)
        case _:
            return (a, b) if a >= 0 and b < c else (0, c - 1)


def negated(e: Expr) -> Expr:
    """``not e``."""
    match e:
        case Const():
            return FALSE if e.value else TRUE
        case Not():
            return e.item
        case Compare():
            return Compare(BOOL, OPPOSITE[e.operator], e.left, e.right)  # type: ignore[arg-type]
        case _:
            return Not(BOOL, e)


def both(items: Iterable[Expr]) -> Expr:
    """``and``, from left to right."""
    return _joined(items, And, stop=FALSE)


def either(items: Iterable[Expr]) -> Expr:
    """``or``, from left to right."""
    return _joined(items, Or, stop=TRUE)


def _joined(items: Iterable[Expr], kind: type[And] | type[Or], stop: Const) -> Expr:
    kept: list[Expr] = []
    for item in _flat(items, kind):
        if isinstance(item, Const):
            if item.value == stop.value:
                return both_or_either(kind, [*kept, stop])
            continue
        if item not in kept:
            kept.append(item)
    return both_or_either(kind, kept) if kept else (TRUE if stop.value == 0 else FALSE)


def both_or_either(kind: type[And] | type[Or], items: Sequence[Expr]) -> Expr:
    """A join of these very items."""
    last = items[-1]
    if isinstance(last, Const) and not any(can_fail(x) for x in items[:-1]):
        return last
    return items[0] if len(items) == 1 else kind(BOOL, tuple(items))


def _flat(items: Iterable[Expr], kind: type[And] | type[Or]) -> Iterator[Expr]:
    for item in items:
        if isinstance(item, kind):
            yield from item.items
        else:
            yield item


def can_fail(e: Expr) -> bool:
    """Whether an expression without calls and folds can end in a model error."""
    return (
        isinstance(e, Unwrap | Checked)
        or (isinstance(e, Wrap) and e.site is not None)
        or any(can_fail(x) for x in subexpressions(e))
    )


def chosen(type_: ScalarType, condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """``then if condition else otherwise``."""
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    if then == otherwise and not can_fail(condition):
        return then
    if isinstance(type_, BoolType):
        if isinstance(then, Const):
            return either([condition, otherwise]) if then.value else both([negated(condition), otherwise])
        if isinstance(otherwise, Const):
            return either([negated(condition), then]) if otherwise.value else both([condition, then])
    return Choose(type_, condition, then, otherwise)


def compared(operator: str, left: Expr, right: Expr) -> Expr:
    """A comparison, in a form that equal conditions share."""
    left, right = (x.item if isinstance(x, Retyped) else x for x in (left, right))
    if isinstance(left, Const) and isinstance(right, Const):
        a, b = left.value, right.value
        outcome = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]
        return TRUE if outcome else FALSE
    if isinstance(left, Const):
        left, right, operator = right, left, MIRRORED[operator]
    if isinstance(right, Const) and isinstance(right.type, IntType):
        right = Const(NUMBER, right.value)
    if left == right and not can_fail(left):
        return TRUE if operator in ("==", "<=", ">=") else FALSE
    for one, other in ((left, right), (right, left)):
        if isinstance(one.type, BoolType) and isinstance(other, Const) and operator in ("==", "!="):
            return one if bool(other.value) == (operator == "==") else negated(one)
    if isinstance(left, Wrap) and isinstance(right, Wrap) and operator in ("==", "!="):
        return compared(operator, left.item, right.item)
    if not (can_fail(left) or can_fail(right)):
        (low, high), (least, most) = bounds(left), bounds(right)
        if high < least or most < low:
            if operator in ("==", "!="):
                return TRUE if operator == "!=" else FALSE
            return TRUE if (operator in ("<", "<=")) == (high < least) else FALSE
    return Compare(BOOL, operator, left, right)  # type: ignore[arg-type]


def computed(type_: ScalarType, operator: str, left: Expr, right: Expr) -> Expr:
    """Arithmetic."""
    if isinstance(left, Const) and isinstance(right, Const):
        a, b = left.value, right.value
        if operator in ("//", "%"):
            return Const(type_, a // b if operator == "//" else a % b)
        return Const(type_, {"+": a + b, "-": a - b, "*": a * b}[operator])
    if operator in ("+", "-") and right in (Const(right.type, 0),):
        return left
    if operator == "+" and left in (Const(left.type, 0),):
        return right
    return Arithmetic(type_, operator, left, right)  # type: ignore[arg-type]


def joined(type_: ScalarType, operator: str, left: Expr, right: Expr) -> Expr:
    """An operation on two sets."""
    if isinstance(left, Const) and isinstance(right, Const):
        a, b = left.value, right.value
        return Const(type_, {"|": a | b, "&": a & b, "-": a & ~b, "^": a ^ b}[operator])
    nothing = Const(type_, 0)
    if right == nothing and operator in ("|", "-", "^"):
        return left
    if left == nothing and operator in ("|", "^"):
        return right
    if (left == nothing and operator in ("&", "-") and not can_fail(right)) or (
        right == nothing and operator == "&" and not can_fail(left)
    ):
        return nothing
    return SetOperation(type_, operator, left, right)  # type: ignore[arg-type]


def collected(type_: ScalarType, elements: Iterable[Expr]) -> Expr:
    """The set of these elements."""
    elements = tuple(elements)
    if all(isinstance(x, Const) for x in elements):
        mask = 0
        for x in elements:
            assert isinstance(x, Const)
            mask |= 1 << x.value
        return Const(type_, mask)
    return SetOf(type_, elements)


def contains(set_: Expr, element: Expr) -> Expr:
    """Whether a set contains an element; looks into the set's structure unless the element is long."""
    if isinstance(element, Const) or (size(element) <= SHORT and not can_fail(set_)):
        match set_:
            case Const() if isinstance(element, Const):
                return TRUE if set_.value >> element.value & 1 else FALSE
            case Const() if set_.value.bit_count() <= 1:
                only = set_.value.bit_length() - 1
                return FALSE if only < 0 else compared("==", element, Const(element.type, only))
            case SetOf():
                return either(compared("==", x, element) for x in set_.elements)
            case Choose():
                then, otherwise = contains(set_.then, element), contains(set_.otherwise, element)
                return chosen(BOOL, set_.condition, then, otherwise)
            case SetOperation():
                left, right = contains(set_.left, element), contains(set_.right, element)
                match set_.operator:
                    case "|":
                        return either([left, right])
                    case "&":
                        return both([left, right])
                    case "-":
                        return both([left, negated(right)])
                    case _:
                        return compared("!=", left, right)
            case Retyped():
                return contains(set_.item, element)
            case _:
                pass
    return Member(BOOL, element, set_)


def counted(type_: ScalarType, set_: Expr) -> Expr:
    """The number of elements of a set."""
    assert isinstance(set_.type, SetType)
    if isinstance(set_, Const):
        return Const(type_, set_.value.bit_count())
    if isinstance(set_, Read | Local):
        return Count(type_, set_)
    total: Expr = Const(type_, 0)
    for i in range(set_.type.item.size):
        total = computed(type_, "+", total, as_number(contains(set_, Const(set_.type.item, i))))
    return total


def as_number(e: Expr) -> Expr:
    """A truth value as 0 or 1."""
    return Const(NUMBER, e.value) if isinstance(e, Const) else Retyped(IntType(0, 1), e)


def rebuilt(e: Expr, operands: Sequence[Expr]) -> Expr:
    """A node with other operands, in the order of ``subexpressions``; folds and calls are no matter here."""
    parts = tuple(operands)
    match e:
        case Const() | Local():
            return e
        case Read():
            return Read(e.type, e.root, e.column, parts)
        case Table():
            if all(isinstance(x, Const) for x in parts):
                return Const(e.type, e.values[_cell(parts, e.dims)])
            return Table(e.type, e.values, e.dims, parts)
        case Not():
            return negated(parts[0])
        case And():
            return both(parts)
        case Or():
            return either(parts)
        case Compare():
            return compared(e.operator, parts[0], parts[1])
        case Arithmetic():
            return computed(e.type, e.operator, parts[0], parts[1])
        case Choose():
            return chosen(e.type, *parts)
        case SetOf():
            return collected(e.type, parts)
        case SetOperation():
            return joined(e.type, e.operator, parts[0], parts[1])
        case Member():
            return contains(parts[1], parts[0])
        case Subset():
            return _within(parts[0], parts[1])
        case Count():
            return counted(e.type, parts[0])
        case Wrap():
            return _wrapped(e, parts[0])
        case Unwrap():
            return _unwrapped(e, parts[0])
        case Checked():
            low, high = limits(e.type)
            a, b = bounds(parts[0])
            if low <= a and b <= high:
                return retyped(e.type, parts[0])
            return Checked(e.type, parts[0], e.site)
        case Retyped():
            return retyped(e.type, parts[0])
        case _:
            raise AssertionError(f"{type(e).__name__} has operands of its own kind")


def _cell(indices: Sequence[Expr], dims: Sequence[int]) -> int:
    cell = 0
    for index, extent in zip(indices, dims, strict=True):
        assert isinstance(index, Const)
        cell = cell * extent + index.value
    return cell


def _within(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return FALSE if left.value & ~right.value else TRUE
    if isinstance(left, Const) and not can_fail(right):
        assert isinstance(left.type, SetType)
        item = left.type.item
        elements = [Const(item, i) for i in range(item.size) if left.value >> i & 1]
        return both(contains(right, x) for x in elements)
    return Subset(BOOL, left, right)


def retyped(type_: ScalarType, item: Expr) -> Expr:
    """The same number under another type."""
    if isinstance(item, Const):
        return Const(type_, item.value)
    return item if item.type == type_ else Retyped(type_, item)


def _wrapped(e: Wrap, item: Expr) -> Expr:
    assert isinstance(e.type, OptionalType)
    low, high = e.type.item.low, e.type.item.high
    a, b = bounds(item)
    site = None if low <= a and b <= high else e.site
    shift = 1 - low
    if isinstance(item, Const) and site is None:
        return Const(e.type, item.value + shift)
    return Wrap(e.type, item, site)


def _unwrapped(e: Unwrap, item: Expr) -> Expr:
    low = e.type.low
    if isinstance(item, Wrap):
        return item.item if item.site is None else Checked(e.type, item.item, item.site)
    if isinstance(item, Const) and item.value:
        return Const(e.type, item.value - 1 + low)
    if isinstance(item, Choose) and not can_fail(item):
        then, otherwise = _unwrapped(e, item.then), _unwrapped(e, item.otherwise)
        return chosen(e.type, item.condition, then, otherwise)
    return Unwrap(e.type, item, e.site)
