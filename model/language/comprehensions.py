"""Generators and set comprehensions: folds over a domain, a set or a sequence."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, cast

from slotproof.model.language.bind import BoundMap
from slotproof.model.language.conversions import Conversions
from slotproof.model.language.domains import Domain
from slotproof.model.language.ir import (
    Const,
    Elements,
    Expr,
    Fold,
    Local,
    Source,
    Span,
)
from slotproof.model.language.operands import (
    BOOL,
    FALSE,
    TRUE,
    EmptySet,
    Nothing,
    Operand,
    Place,
    choice,
    clamp,
    comparison,
    conjunction,
    disjunction,
    evaluated,
    member,
    negation,
    number,
    safe,
)
from slotproof.model.language.types import (
    EnumType,
    IndexType,
    IntType,
    MapType,
    ScalarType,
    SeqType,
    SetType,
)


class Comprehensions(Conversions):
    """Compiles ``any``, ``all``, ``sum``, ``min``, ``max``, ``next`` and ``{x for x in …}``."""

    def source(self, node: ast.expr, name: str) -> tuple[Local, Source, Expr | None, Operand]:
        """What a loop ranges over: its variable, source, an extra condition, and what the name stands for."""
        over = self.module_value(node) if isinstance(node, ast.Name) else None
        if isinstance(over, type) and issubclass(over, Domain | enum.Enum):
            key = (
                EnumType(over)
                if issubclass(over, enum.Enum)
                else IndexType(over, self.compiler.binding.size(over))
            )
            variable = Local(key, self.fresh(name))
            return variable, Span(0, key.size), None, variable
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            bounds = [self.integer(a) for a in node.args]
            if not all(isinstance(b, Const) for b in bounds) or not 1 <= len(bounds) <= 2:
                raise self.error(
                    node, "range() of something that is not known; its bounds have to be constants"
                )
            low, high = (
                (0, cast(Const, bounds[0]).value)
                if len(bounds) == 1
                else (cast(Const, b).value for b in bounds)
            )
            variable = Local(IntType(low, max(low, high - 1)), self.fresh(name))
            return variable, Span(low, max(low, high)), None, variable
        operand = self.operand(node)
        if isinstance(operand, Place) and isinstance(operand.type, MapType):
            variable = Local(operand.type.key, self.fresh(name))
            return variable, Span(0, operand.type.key.size), None, variable
        if isinstance(operand, Place) and isinstance(operand.type, SeqType):
            position = self.position(operand)
            inside = comparison("<", position, self.length(operand))
            return position, Span(0, operand.type.capacity), inside, self.item(operand, position)
        if isinstance(operand, BoundMap):
            variable = Local(operand.type.key, self.fresh(name))
            return variable, Span(0, operand.type.key.size), None, variable
        if isinstance(operand, EmptySet):
            raise self.error(node, "a loop over an empty set; leave it out")
        if isinstance(operand, Nothing | Place) or not isinstance(operand.type, SetType):
            raise self.error(
                node,
                f"a loop over {self.describe(operand)}; write a domain, an enum, a set, a map or a sequence",
            )
        variable = Local(operand.type.item, self.fresh(name))
        if operand.type.item.size == 1 or operand == Const(operand.type, operand.type.size - 1):
            extra = None if isinstance(operand, Const) else member(variable, operand)
            return variable, Span(0, operand.type.item.size), extra, variable
        return variable, Elements(operand), None, variable

    @contextmanager
    def generator(
        self, node: ast.GeneratorExp | ast.SetComp | ast.ListComp
    ) -> Iterator[tuple[Local, Source, list[Expr], list[Expr]]]:
        """The one ``for`` of a comprehension: variable, source, the source's own condition, the filters."""
        if len(node.generators) != 1:
            raise self.error(node, "a comprehension with two 'for'; nest any(any(…)) or write a loop")
        part = node.generators[0]
        if not isinstance(part.target, ast.Name) or part.is_async:
            raise self.error(node, "a comprehension whose variable is no plain name; write 'for x in …'")
        variable, source, inside, meaning = self.source(part.iter, part.target.id)
        meaning = self.only(variable, source, meaning)
        with self.bound(part.target.id, meaning):
            filters = [self.condition(test) for test in part.ifs]
            yield variable, source, [] if inside is None else [inside], filters

    def only(self, variable: Local, source: Source, meaning: Operand) -> Operand:
        """The value of a loop's variable where there is just one: a domain of one element."""
        single = isinstance(source, Span) and source.high - source.low == 1
        return Const(variable.type, source.low) if single and meaning is variable else meaning  # type: ignore[union-attr]

    def set_comprehension(self, node: ast.SetComp) -> Operand:
        """``{x for x in … if …}``."""
        with self.generator(node) as (variable, source, inside, filters):
            body = self.scalar(node.elt)
            if not isinstance(body.type, IndexType | EnumType) or body.type.size > 64:
                raise self.error(
                    node, f"a set of {self.describe(body)}; sets hold at most 64 elements of a domain or enum"
                )
            condition = conjunction(inside + filters)
            type_ = SetType(body.type)
            if never(source, condition):
                return Const(type_, 0)
            kept = None if condition == TRUE else condition
            if body == variable and isinstance(source, Elements) and kept is None:
                return source.set
            if (
                body == variable
                and kept is None
                and isinstance(source, Span)
                and source.high == body.type.size
            ):
                return Const(type_, type_.size - 1)
            return Fold(type_, "set", variable, source, kept, body, None, None, None)

    def fold(self, kind: Literal["any", "all", "sum", "min", "max", "first"], node: ast.Call) -> Expr:
        """``any``, ``all``, ``sum``, ``min``, ``max`` and ``next`` of a generator, and of a set."""
        argument = node.args[0]
        if not isinstance(argument, ast.GeneratorExp):
            inner = ast.GeneratorExp(elements(argument).elt, elements(argument).generators)
            if kind not in ("min", "max"):
                raise self.error(
                    node, f"{kind}() of something that is no generator; write '{kind}(… for x in …)'"
                )
            argument = ast.fix_missing_locations(ast.copy_location(inner, argument))
        default_node = self.default_of(kind, node)
        with self.generator(argument) as (variable, source, inside, filters):
            match kind:
                case "any" | "all":
                    return self.quantified(kind, argument, node, variable, source, inside, filters)
                case "sum":
                    body = self.integer(argument.elt)
                case _:
                    body = self.scalar(argument.elt)
        condition = conjunction(inside + filters)
        kept = None if condition == TRUE else condition
        if kind == "sum":
            times = (
                source.high - source.low
                if isinstance(source, Span)
                else cast(SetType, source.set.type).item.size
            )
            body_type = cast(IntType, body.type)
            type_: ScalarType = clamp(min(0, times * body_type.low), max(0, times * body_type.high))
            return (
                number(0)
                if never(source, condition)
                else Fold(type_, kind, variable, source, kept, body, None, None, None)
            )
        if kind in ("min", "max") and not isinstance(body.type, IntType | IndexType):
            raise self.error(node, f"{kind}() of {body.type}; ints and elements of a domain have an order")
        if default_node is None:
            return Fold(body.type, kind, variable, source, kept, body, None, self.site(node), None)
        body_, default = self.unified(body, self.operand(default_node), node)
        if never(source, condition):
            return default
        common = body_.type
        if isinstance(common, IntType) and isinstance(default.type, IntType):
            common = IntType(min(common.low, default.type.low), max(common.high, default.type.high))
        found = Fold(common, kind, variable, source, kept, body_, default, None, None)
        checks = evaluated(default)  # Python evaluates it first, needed or not
        return choice(conjunction(checks), found, default) if checks else found

    def default_of(self, kind: str, node: ast.Call) -> ast.expr | None:
        """The default of ``min``, ``max`` and ``next``."""
        if kind == "first":
            if len(node.args) > 2 or node.keywords:
                raise self.error(node, "next() takes a generator and a default: next((x for x in …), None)")
            return node.args[1] if len(node.args) == 2 else None
        for keyword in node.keywords:
            if keyword.arg != "default" or kind not in ("min", "max"):
                raise self.error(node, f"{kind}() with '{keyword.arg}=' is not in the language")
        if len(node.args) != 1:
            raise self.error(node, f"{kind}() takes one generator: {kind}(… for x in …)")
        return node.keywords[0].value if node.keywords else None

    def quantified(
        self,
        kind: Literal["any", "all"],
        argument: ast.GeneratorExp,
        node: ast.Call,
        variable: Local,
        source: Source,
        inside: list[Expr],
        filters: list[Expr],
    ) -> Expr:
        """``any`` and ``all``; a filter of an ``all`` in a property is a premise."""
        body = self.condition(argument.elt)
        condition = conjunction(inside + filters)
        neutral = FALSE if kind == "any" else TRUE
        if never(source, condition) or (body == neutral and harmless(source, condition)):
            return neutral
        single = isinstance(source, Span) and source.high - source.low == 1
        counted = kind == "all" and bool(filters) and self.property_name is not None
        if single and not counted and not uses(variable, [condition, body]):
            return (
                conjunction([condition, body]) if kind == "any" else disjunction([negation(condition), body])
            )
        premise = self.compiler.premise(self.property_name, self.text.site(node)) if counted else None
        kept = None if condition == TRUE else condition
        return Fold(BOOL, kind, variable, source, kept, body, None, None, premise)


def harmless(source: Source, condition: Expr) -> bool:
    """Whether going through a source under a condition cannot fail."""
    return safe(condition) and (isinstance(source, Span) or safe(source.set))


def never(source: Source, condition: Expr) -> bool:
    """Whether a comprehension is known to be of nothing."""
    return condition == FALSE and harmless(source, condition)


def elements(node: ast.expr) -> ast.SetComp:
    """``{element for element in node}``."""
    generator = ast.comprehension(ast.Name("element", ast.Store()), node, [], 0)
    return ast.SetComp(ast.Name("element", ast.Load()), [generator])


def uses(variable: Local, expressions: list[Expr]) -> bool:
    """Whether a variable occurs in one of the expressions."""
    from slotproof.model.language.ir import subexpressions

    return any(e == variable or uses(variable, list(subexpressions(e))) for e in expressions)
