"""A system as plain Python over tuples, for peers that are Python libraries.

    text = python(program, choices)

The text stands alone: ``INITIAL`` is the tuple of codes at the start, ``ACTIONS`` has a name, a guard and
an effect for each action with its arguments, ``INVARIANTS`` a function for each property over a state.
It is derived from the IR as all else, so that a peer searches the same system; and it is flat, with the
arguments written in, so that a peer is not slowed down by the way its model is written.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from slotproof.model.language.columns import Column
from slotproof.model.language.ir import (
    And,
    Arithmetic,
    Assign,
    Block,
    Break,
    Call,
    Checked,
    Choose,
    Compare,
    Const,
    Continue,
    Count,
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
    Member,
    Not,
    Or,
    Read,
    Return,
    Retyped,
    SetOf,
    SetOperation,
    Source,
    Span,
    Statement,
    Subset,
    Table,
    Unwrap,
    Wrap,
    Write,
)
from slotproof.model.language.program import Program
from slotproof.model.language.types import IntType, OptionalType, ScalarType

HEAD = '''"""Generated. A state is a tuple of codes."""


class Broken(Exception):
    """The model is left: its system is not one for this comparison."""


def some(value):
    if value == 0:
        raise Broken
    return value - 1


def inside(value, low, high):
    if not low <= value <= high:
        raise Broken
    return value


def members(mask):
    number = 0
    while mask:
        if mask & 1:
            yield number
        mask >>= 1
        number += 1


def union(numbers):
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
'''


class NotForPython(Exception):
    """The system has a part that the peers have no word for; the message names it."""


def python(program: Program, choices: Sequence[int] = ()) -> str:
    """The module's text. ``NotForPython`` for crashes, initial steps and properties of steps."""
    if program.initial:
        raise NotForPython("initial actions")
    if program.crashes:
        raise NotForPython("crashes")
    if any(p.over == "step" for p in program.properties):
        raise NotForPython("properties of steps")
    return "\n".join([HEAD, *_Writer(program, choices).lines()]) + "\n"


class _Writer:
    def __init__(self, program: Program, choices: Sequence[int]) -> None:
        self.program = program
        self.choices = choices
        self.bound: Mapping[str, int] = {}
        """The arguments that are written in, by the name of the parameter."""

    def lines(self) -> Iterator[str]:
        program = self.program
        for number, function in enumerate(program.functions):
            parameters = "".join(f", {_name(p)}" for p in function.parameters)
            yield f"\n\ndef f{number}(s{parameters}):"
            yield from self._block(function.body, 1)
        steps: list[str] = []
        for action in program.actions:
            for values in itertools.product(*(_values(p.type) for p in action.parameters)):
                self.bound = dict(zip((p.name for p in action.parameters), values, strict=True))
                i = len(steps)
                steps.append(f"    ({' '.join([action.name, *map(str, values)])!r}, g{i}, e{i}),")
                conjuncts = " and ".join(f"({self._expr(c.condition)})" for c in action.guard)
                yield f"\n\ndef g{i}(s):\n    return {conjuncts or True}"
                yield f"\n\ndef e{i}(s):\n    s = list(s)\n    effect{i}(s)\n    return tuple(s)"
                yield f"\n\ndef effect{i}(s):"
                yield from self._block(action.effect, 1)
        self.bound = {}
        for i, property_ in enumerate(program.properties):
            yield f"\n\ndef p{i}(s):"
            yield from self._block(property_.setup, 1)
            yield f"    return {' and '.join(f'({self._expr(c.condition)})' for c in property_.conjuncts)}"
        yield f"\n\nINITIAL = {program.start!r}\nACTIONS = [\n" + "\n".join(steps) + "\n]"
        named = (f"{p.name!r}: p{i}" for i, p in enumerate(program.properties))
        yield f"INVARIANTS = {{{', '.join(named)}}}"

    def _block(self, block: Block, depth: int) -> Iterator[str]:
        pad = "    " * depth
        yield f"{pad}pass"
        for s in block:
            yield from self._statement(s, pad, depth)

    def _statement(self, s: Statement, pad: str, depth: int) -> Iterator[str]:
        match s:
            case Assign():
                yield f"{pad}{_name(s.local)} = {self._expr(s.value)}"
            case Write():
                column = self.program.columns[s.column]
                value = self._expr(s.value)
                if isinstance(column.type, IntType):
                    if s.site is not None:
                        value = f"inside({value}, {column.type.low}, {column.type.high})"
                    value = _shifted(value, -column.type.low)
                yield f"{pad}s[{self._cell(column, s.indices)}] = {value}"
            case If():
                yield f"{pad}if {self._expr(s.condition)}:"
                yield from self._block(s.then, depth + 1)
                yield f"{pad}else:"
                yield from self._block(s.otherwise, depth + 1)
            case For():
                yield f"{pad}for {_name(s.variable)} in {self._source(s.source)}:"
                yield from self._block(s.body, depth + 1)
            case Break():
                yield f"{pad}break"
            case Continue():
                yield f"{pad}continue"
            case Return():
                yield f"{pad}return {'' if s.value is None else self._expr(s.value)}".rstrip()
            case Do():
                yield f"{pad}{self._expr(s.call)}"
            case Fail():
                yield f"{pad}raise Broken"
            case Die():
                raise NotForPython("crashes")

    def _source(self, source: Source) -> str:
        match source:
            case Span(low, high):
                return f"range({low}, {high})"
            case Elements(set_):
                return f"members({self._expr(set_)})"

    def _cell(self, column: Column, indices: Sequence[Expr]) -> str:
        return _linear(map(self._expr, indices), column.dims, column.offset)

    def _expr(self, e: Expr) -> str:
        match e:
            case Const():
                return str(e.value)
            case Local():
                return str(self.bound[e.name]) if e.name in self.bound else _name(e)
            case Read():
                column = self.program.columns[e.column]
                low = column.type.low
                return _shifted(f"s[{self._cell(column, e.indices)}]", low)
            case Table():
                return f"{e.values!r}[{_linear(map(self._expr, e.indices), e.dims, 0)}]"
            case Not():
                return f"(not {self._expr(e.item)})"
            case And():
                return f"({' and '.join(map(self._expr, e.items))})"
            case Or():
                return f"({' or '.join(map(self._expr, e.items))})"
            case Implies():
                return f"(not {self._expr(e.premise)} or {self._expr(e.conclusion)})"
            case Compare() | Arithmetic() | SetOperation():
                left, right = self._expr(e.left), self._expr(e.right)
                if isinstance(e, SetOperation) and e.operator == "-":
                    return f"({left} & ~{right})"
                return f"({left} {e.operator} {right})"
            case Choose():
                return f"({self._expr(e.then)} if {self._expr(e.condition)} else {self._expr(e.otherwise)})"
            case SetOf():
                return f"({' | '.join(f'1 << {self._expr(x)}' for x in e.elements) or 0})"
            case Member():
                return f"({self._expr(e.set)} >> {self._expr(e.element)} & 1)"
            case Subset():
                return f"({self._expr(e.left)} & ~{self._expr(e.right)} == 0)"
            case Count():
                return f"({self._expr(e.set)}).bit_count()"
            case Wrap():
                return self._wrap(e)
            case Unwrap():
                return _shifted(f"some({self._expr(e.item)})", e.type.low)
            case Checked():
                low, high = e.type.low, e.type.high
                return f"inside({self._expr(e.item)}, {low}, {high})"
            case Retyped():
                return self._expr(e.item)
            case Fold():
                return self._fold(e)
            case Call():
                return self._call(e.function, e.arguments)
            case Decide():
                return self._call(e.functions[self.choices[e.point]], e.arguments)

    def _wrap(self, e: Wrap) -> str:
        assert isinstance(e.type, OptionalType)
        inner, item = e.type.item, self._expr(e.item)
        if e.site is not None and isinstance(inner, IntType):
            item = f"inside({item}, {inner.low}, {inner.high})"
        return _shifted(item, 1 - inner.low)

    def _call(self, number: int, arguments: Sequence[Expr]) -> str:
        return f"f{number}({', '.join(['s', *map(self._expr, arguments)])})"

    def _fold(self, e: Fold) -> str:
        source = f"for {_name(e.variable)} in {self._source(e.source)}"
        if e.condition is not None:
            source += f" if {self._expr(e.condition)}"
        items = f"({self._expr(e.body)} {source})"
        if e.kind in ("any", "all", "sum"):
            return f"{e.kind}{items}"
        if e.kind == "set":
            return f"union{items}"
        if e.default is None:
            return f"next({items})" if e.kind == "first" else f"{e.kind}{items}"
        default = self._expr(e.default)
        return f"next({items}, {default})" if e.kind == "first" else f"{e.kind}({items}, default={default})"


def _name(local: Local) -> str:
    return "v_" + re.sub(r"\W", "_", local.name)


def _values(type_: ScalarType) -> range:
    return range(type_.low, type_.high + 1)


def _shifted(text: str, by: int) -> str:
    return text if by == 0 else f"({text} {'+' if by > 0 else '-'} {abs(by)})"


def _linear(indices: Iterator[str], dims: Sequence[int], offset: int) -> str:
    """The number of a cell, row-major."""
    terms, constant = [], offset
    factor = 1
    for index, size in reversed(list(zip(indices, dims, strict=True))):
        if index.isdigit():
            constant += int(index) * factor
        else:
            terms.append(index if factor == 1 else f"{index} * {factor}")
        factor *= size
    return " + ".join([*terms, str(constant)] if constant or not terms else terms)
