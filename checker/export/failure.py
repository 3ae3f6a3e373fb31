"""When the evaluation of an expression is a model error, as an expression of its own."""

from __future__ import annotations

from slotproof.checker.export.build import BOOL, FALSE, both, chosen, compared, either, limits, negated
from slotproof.model.language.ir import (
    And,
    Checked,
    Choose,
    Compare,
    Const,
    Expr,
    Or,
    Unwrap,
    Wrap,
    subexpressions,
)
from slotproof.model.language.types import IntType, OptionalType

Facts = frozenset[Expr]


def failure(e: Expr, facts: Facts = frozenset()) -> Expr:
    """The condition under which evaluation fails, if all of ``facts`` hold.

    The expression has no calls and no folds. What is known from operands to the left is used, so that
    ``x is not None and y[x]`` never fails.
    """
    match e:
        case And():
            return _in_order(e.items, facts, stop=False)
        case Or():
            return _in_order(e.items, facts, stop=True)
        case Choose():
            then = failure(e.then, facts | _facts(e.condition))
            otherwise = failure(e.otherwise, facts | _facts(negated(e.condition)))
            branches = either([both([e.condition, then]), both([negated(e.condition), otherwise])])
            return either([failure(e.condition, facts), _unless_known(branches, facts)])
        case Unwrap():
            own = _empty(e.item)
        case Checked():
            own = _outside(e.item, *limits(e.type))
        case Wrap() if e.site is not None:
            assert isinstance(e.type, OptionalType)
            assert isinstance(e.type.item, IntType)
            own = _outside(e.item, *limits(e.type.item))
        case _:
            own = FALSE
    return either([*(failure(x, facts) for x in subexpressions(e)), _unless_known(own, facts)])


def _empty(optional: Expr) -> Expr:
    """Whether an optional is ``None``."""
    match optional:
        case Wrap():
            return FALSE
        case Choose():
            then, otherwise = _empty(optional.then), _empty(optional.otherwise)
            return chosen(BOOL, optional.condition, then, otherwise)
        case _:
            return compared("==", optional, Const(optional.type, 0))


def _unless_known(e: Expr, facts: Facts) -> Expr:
    """The condition, or false where the facts say so."""
    if isinstance(e, Or):
        return either(_unless_known(x, facts) for x in e.items)
    parts = e.items if isinstance(e, And) else (e,)
    return FALSE if any(negated(x) in facts for x in parts) else e


def _outside(item: Expr, low: int, high: int) -> Expr:
    below, above = (compared(o, item, Const(item.type, end)) for o, end in (("<", low), (">", high)))
    return either([below, above])


def _in_order(items: tuple[Expr, ...], facts: Facts, *, stop: bool) -> Expr:
    failures = []
    before: list[Expr] = []
    for item in items:
        own = failure(item, facts)
        if own != FALSE:
            failures.append(both([*before, own]))
        passed = negated(item) if stop else item
        before.append(passed)
        facts = facts | _facts(passed)
    return either(failures)


def _facts(e: Expr) -> Facts:
    """What is known once ``e`` is: its parts, and that what equals a value is a value."""
    if isinstance(e, And):
        return frozenset().union(*(_facts(x) for x in e.items))
    found: set[Expr] = {e}
    if isinstance(e, Compare) and e.operator == "==" and isinstance(e.left.type, OptionalType):
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(other, Wrap) or (isinstance(other, Const) and other.value):
                found.add(compared("!=", one, Const(one.type, 0)))
    return frozenset(found)
