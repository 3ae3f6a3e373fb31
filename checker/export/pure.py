"""Calls and folds written out, so that an expression needs no statement to be evaluated.

A guard has to be one expression: Spin's deterministic steps can begin with one, but must not stop
in their middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from slotproof.checker.export.build import (
    BOOL,
    FALSE,
    TRUE,
    as_number,
    both,
    can_fail,
    chosen,
    collected,
    computed,
    contains,
    either,
    joined,
    limits,
    negated,
    rebuilt,
    size,
)
from slotproof.checker.export.failure import failure
from slotproof.model.language.ir import (
    Assign,
    Block,
    Break,
    Call,
    Compare,
    Const,
    Continue,
    Decide,
    Expr,
    Fold,
    For,
    If,
    Implies,
    Local,
    Read,
    Return,
    Span,
    Statement,
    Table,
    Unwrap,
    Wrap,
    subexpressions,
)
from slotproof.model.language.program import Program
from slotproof.model.language.types import OptionalType, SetType
from slotproof.model.language.walk import statements_of

Bindings = Mapping[str, Expr]
Goal = Callable[[Bindings], Expr]
"""What the rest of a function returns, for values of its local variables."""


class NotPure(Exception):
    """The expression needs statements, or would become too long."""


class Pure:
    """Writes out expressions of one program under one choice at each decision point."""

    def __init__(
        self, program: Program, choices: Sequence[int], constant: Mapping[int, tuple[int, ...]]
    ) -> None:
        self.program = program
        self.choices = choices
        self.constant = constant
        """Values of the columns that nothing writes, by number."""
        self._budget = 0

    def expression(self, e: Expr, bindings: Bindings, budget: int) -> Expr:
        """The expression without calls and folds, of at most about ``budget`` nodes; else ``NotPure``."""
        self._budget = 20 * budget
        result = self._of(e, bindings)
        if size(result) > budget:
            raise NotPure
        return result

    def judged(self, setup: Block, conditions: Sequence[Expr], budget: int) -> Expr:
        """Whether conditions hold after a setup without effects, as one expression; else ``NotPure``."""
        self._budget = 20 * budget
        result = self._run(setup, {}, lambda b: both([self._of(c, b) for c in conditions]), None)
        if size(result) > budget:
            raise NotPure
        return result

    def callee(self, e: Call | Decide) -> int:
        """The number of the function that a call runs."""
        return e.function if isinstance(e, Call) else e.functions[self.choices[e.point]]

    def _of(self, e: Expr, bindings: Bindings) -> Expr:
        self._budget -= 1
        if self._budget < 0:
            raise NotPure
        match e:
            case Const():
                return e
            case Local():
                return bindings.get(e.name, e)
            case Fold():
                return self._fold(e, bindings)
            case Call() | Decide():
                return self._call(e, bindings)
            case Implies():
                return either([negated(self._of(e.premise, bindings)), self._of(e.conclusion, bindings)])
            case _:
                made = rebuilt(e, [self._of(x, bindings) for x in subexpressions(e)])
        return self._known(made) if isinstance(made, Read) else made

    def _known(self, e: Read) -> Expr:
        codes = self.constant.get(e.column)
        if codes is None:
            return e
        low = e.type.low
        values = [code + low for code in codes]
        if len(set(values)) == 1:
            return Const(e.type, values[0])
        cell = 0
        for index, extent in zip(e.indices, self.program.columns[e.column].dims, strict=True):
            if not isinstance(index, Const):
                return Table(e.type, tuple(values), self.program.columns[e.column].dims, e.indices)
            cell = cell * extent + index.value
        return Const(e.type, values[cell])

    # ------------------------------------------------------------------ folds

    def _fold(self, e: Fold, bindings: Bindings) -> Expr:
        rounds = [(c, b) for c, b in self._rounds(e, bindings) if c != FALSE]
        match e.kind:
            case "any":
                return either(both([c, self._of(e.body, b)]) for c, b in rounds)
            case "all":
                return both(either([negated(c), self._of(e.body, b)]) for c, b in rounds)
            case "sum":
                total: Expr = Const(e.type, 0)
                for c, b in rounds:
                    body = self._of(e.body, b)
                    part = as_number(c) if body == Const(body.type, 1) and c != TRUE else body
                    if part is body:
                        part = chosen(e.type, c, body, Const(e.type, 0))
                    total = computed(e.type, "+", total, part)
                return total
            case "set":
                conditions: dict[Expr, list[Expr]] = {}
                for c, b in rounds:
                    conditions.setdefault(collected(e.type, [self._of(e.body, b)]), []).append(c)
                result: Expr = Const(e.type, 0)
                for one, some in conditions.items():
                    part = chosen(e.type, either(some), one, Const(e.type, 0))
                    result = joined(e.type, "|", result, part)
                return result
            case _:
                return self._selection(e, rounds, bindings)

    def _rounds(self, e: Fold, bindings: Bindings) -> list[tuple[Expr, Bindings]]:
        """The condition of each round, and the bindings for its body."""
        condition = TRUE if e.condition is None else e.condition
        if isinstance(e.source, Span):
            numbers = range(e.source.low, e.source.high)
            each = [{**bindings, e.variable.name: Const(e.variable.type, i)} for i in numbers]
            return [(self._of(condition, b), b) for b in each]
        found: list[tuple[Expr, Bindings]] = []
        set_ = self._of(e.source.set, bindings)
        assert isinstance(set_.type, SetType)
        for i in range(set_.type.item.size):
            b: Bindings = {**bindings, e.variable.name: Const(e.variable.type, i)}
            inside = contains(set_, Const(set_.type.item, i))
            if inside != FALSE:
                found.append((both([inside, self._of(condition, b)]), b))
        return found

    def _selection(self, e: Fold, rounds: Sequence[tuple[Expr, Bindings]], bindings: Bindings) -> Expr:
        """``first``, and ``min`` and ``max`` where the order of the candidates is known."""
        bodies = [self._of(e.body, b) for _, b in rounds]
        candidates = [(c, body) for (c, _), body in zip(rounds, bodies, strict=True)]
        if e.kind != "first":
            if not all(isinstance(body, Const) for body in bodies):
                raise NotPure
            candidates.sort(key=lambda x: x[1].value, reverse=e.kind == "max")  # type: ignore[union-attr]
        if e.default is not None:
            result = self._of(e.default, bindings)
            for c, body in reversed(candidates):
                result = chosen(e.type, c, body, result)
            return result
        if e.site is None or isinstance(e.type, OptionalType):
            raise NotPure
        found: Expr = Const(OptionalType(e.type), 0)
        for c, body in reversed(candidates):
            some = rebuilt(Wrap(found.type, body, None), [body])
            found = chosen(found.type, c, some, found)
        return rebuilt(Unwrap(e.type, found, e.site), [found])

    # ------------------------------------------------------------------ calls

    def _call(self, e: Call | Decide, bindings: Bindings) -> Expr:
        function = self.program.functions[self.callee(e)]
        if function.returns is None:
            raise NotPure
        arguments = [self._of(a, bindings) for a in e.arguments]
        inner = {p.name: a for p, a in zip(function.parameters, arguments, strict=True)}
        return self._run(function.body, inner, _nothing, None)

    def _run(self, block: Block, bindings: Bindings, rest: Goal, loop: tuple[Goal, Goal] | None) -> Expr:
        """What a function returns from here; ``loop`` is where ``break`` and ``continue`` go on."""
        if not block:
            return rest(bindings)
        statement, *others = block
        following = tuple(others)
        match statement:
            case Assign():
                value = self._of(statement.value, bindings)
                returned = self._run(following, {**bindings, statement.local.name: value}, rest, loop)
                return _after(value, returned)
            case Return():
                assert statement.value is not None
                return self._of(statement.value, bindings)
            case If():
                return self._if(statement, following, bindings, rest, loop)
            case For():
                return self._for(statement, bindings, lambda b: self._run(following, b, rest, loop))
            case Break() if loop is not None:
                return loop[0](bindings)
            case Continue() if loop is not None:
                return loop[1](bindings)
            case _:
                raise NotPure

    def _if(
        self, s: If, following: Block, bindings: Bindings, rest: Goal, loop: tuple[Goal, Goal] | None
    ) -> Expr:
        condition = self._of(s.condition, bindings)
        if isinstance(condition, Const):
            return self._run(
                (*(s.then if condition.value else s.otherwise), *following), bindings, rest, loop
            )
        if not any(_leaves(x) for x in statements_of((*s.then, *s.otherwise))):
            joined_ = self._assigned(condition, s, bindings)
            if joined_ is not None:
                return self._run(following, joined_, rest, loop)
        then = self._run((*s.then, *following), bindings, rest, loop)
        otherwise = self._run((*s.otherwise, *following), bindings, rest, loop)
        return chosen(then.type, condition, then, otherwise)

    def _assigned(self, condition: Expr, s: If, bindings: Bindings) -> Bindings | None:
        """The variables after two branches that only assign."""
        if not all(isinstance(x, Assign) for x in (*s.then, *s.otherwise)):
            return None
        ends: list[dict[str, Expr]] = []
        for branch in (s.then, s.otherwise):
            end = dict(bindings)
            for x in branch:
                assert isinstance(x, Assign)
                end[x.local.name] = self._of(x.value, end)
                if can_fail(end[x.local.name]):
                    return None
            ends.append(end)
        then, otherwise = ends
        merged = dict(bindings)
        for name in then.keys() & otherwise.keys():
            merged[name] = chosen(then[name].type, condition, then[name], otherwise[name])
        return merged

    def _for(self, s: For, bindings: Bindings, rest: Goal) -> Expr:
        set_: Expr | None = None
        if isinstance(s.source, Span):
            numbers = range(s.source.low, s.source.high)
        else:
            set_ = self._of(s.source.set, bindings)
            assert isinstance(set_.type, SetType)
            numbers = range(set_.type.item.size)

        def go_on(position: int, b: Bindings) -> Expr:
            if position == len(numbers):
                return rest(b)
            element = Const(s.variable.type, numbers[position])

            def following(after: Bindings) -> Expr:
                return go_on(position + 1, after)

            inside = TRUE if set_ is None else contains(set_, element)
            if inside == FALSE:
                return following(b)
            entered = self._run(s.body, {**b, s.variable.name: element}, following, (rest, following))
            return entered if inside == TRUE else chosen(entered.type, inside, entered, following(b))

        return go_on(0, bindings)


def _leaves(s: Statement) -> bool:
    return not isinstance(s, Assign | If | For)


def _after(value: Expr, returned: Expr) -> Expr:
    """What is returned, but a failure if the value fails, which may not be used on every path."""
    if not can_fail(value) or failure(value) == FALSE:
        return returned
    evaluated = Compare(BOOL, "==", value, value)
    return chosen(returned.type, evaluated, returned, Const(returned.type, limits(returned.type)[0]))


def _nothing(_: Bindings) -> Expr:
    raise NotPure
