"""Walks over IR blocks: every statement, every expression."""

from __future__ import annotations

from collections.abc import Iterator

from slotproof.model.language.ir import (
    Assign,
    Block,
    Do,
    Elements,
    Expr,
    For,
    If,
    Return,
    Statement,
    Write,
    subexpressions,
)


def statements_of(block: Block) -> Iterator[Statement]:
    """Every statement of a block, nested ones included."""
    for statement in block:
        yield statement
        match statement:
            case If():
                yield from statements_of(statement.then)
                yield from statements_of(statement.otherwise)
            case For():
                yield from statements_of(statement.body)


def expressions_of(item: Statement | Expr) -> Iterator[Expr]:
    """Every expression that a statement itself evaluates, or an expression with its operands."""
    match item:
        case Assign():
            yield from expressions_of(item.value)
        case Write():
            for index in item.indices:
                yield from expressions_of(index)
            yield from expressions_of(item.value)
        case If():
            yield from expressions_of(item.condition)
        case For():
            if isinstance(item.source, Elements):
                yield from expressions_of(item.source.set)
        case Return():
            if item.value is not None:
                yield from expressions_of(item.value)
        case Do():
            yield from expressions_of(item.call)
        case _ if hasattr(item, "type"):
            yield item  # type: ignore[misc]
            for part in subexpressions(item):  # type: ignore[arg-type]
                yield from expressions_of(part)
