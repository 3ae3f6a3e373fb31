"""Expressions of the IR on symbolic cells: each becomes a value for all states at once.

Where a part is evaluated under a condition, its model errors are recorded under that condition. A call runs
the statements of a function, which is ``execution.py``'s.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Literal
from slotproof.checker.symbolic.paths import DEAD, Exits, Path, Paths, Pending, nothing
from slotproof.checker.symbolic.values import Bits, Number, Value, constant
from slotproof.model.language import ir
from slotproof.model.language.types import IntType, OptionalType, ScalarType, SetType

ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}


class Evaluation(Paths):
    """Evaluates expressions."""

    @abstractmethod
    def _block(self, block: ir.Block, exits: Exits) -> None:
        """Run statements."""

    def _rounds(self, variable: ir.Local, source: ir.Source) -> Iterator[tuple[Value, Literal]]:
        """Each value of a loop's variable, and whether it is among the elements."""
        match source:
            case ir.Span(start, end):
                for number in range(start, end):
                    yield constant(variable.type, number), TRUE
            case ir.Elements(expression):
                for number, literal in enumerate(self._bits(expression)):
                    if literal != FALSE:
                        yield constant(variable.type, number), literal

    def _inside(self, value: Value, type_: IntType, site: int | None) -> Value:
        """An int that must be in a range."""
        number = self._values.number(value)
        if site is not None:
            self._error(
                self._booleans.any([x for v, x in number.items() if not type_.low <= v <= type_.high])
            )
        return {v: x for v, x in number.items() if type_.low <= v <= type_.high}

    def _literal(self, expression: ir.Expr) -> Literal:
        return self._truth(self._value(expression))

    def _truth(self, value: Value) -> Literal:
        return value if isinstance(value, int) else self._values.number(value).get(1, FALSE)

    def _number(self, expression: ir.Expr) -> Number:
        return self._values.number(self._value(expression))

    def _bits(self, expression: ir.Expr) -> Bits:
        value = self._value(expression)
        assert isinstance(value, tuple), expression
        return value

    def _converted(self, expression: ir.Expr, type_: ScalarType) -> Value:
        return self._values.convert(self._value(expression), type_)

    def _places(self, dims: Sequence[int], indices: Sequence[ir.Expr]) -> list[tuple[int, Literal]]:
        """The cells that indices can mean, each with its condition; row-major."""
        places = [(0, TRUE)]
        for size, index in zip(dims, indices, strict=True):
            cases = [(v, x) for v, x in self._number(index).items() if 0 <= v < size]
            made = []
            for place, condition in places:
                for value, literal in cases:
                    both = self._known(self._booleans.conj(condition, literal))
                    if both != FALSE:
                        made.append((place * size + value, both))
            places = [p for p in made if p[1] == TRUE] or made
        return places

    def _selected(
        self, places: Sequence[tuple[int, Literal]], cells: Sequence[Value], type_: ScalarType
    ) -> Value:
        if not places:  # behind a model error
            return constant(type_, type_.low)
        return self._values.select([(condition, cells[place]) for place, condition in places])

    def _under(self, condition: Literal, expression: ir.Expr) -> Value:
        """The value of an expression that is evaluated under a condition alone."""
        box: list[Value] = []

        def evaluate() -> None:
            box.append(self._value(expression))

        # A call inside may write or crash: both sides are joined as those of an ``if``.
        if self._is_pure(expression):
            path = self._path
            self._path = (*path, condition)
            evaluate()
            self._path = path
        else:
            self._branch(condition, evaluate, nothing)
        return box[0] if box else constant(expression.type, expression.type.low)

    def _is_pure(self, expression: ir.Expr) -> bool:
        known = self._pure.get(id(expression))
        if known is None:
            known = self._pure[id(expression)] = not isinstance(expression, ir.Call | ir.Decide) and all(
                map(self._is_pure, ir.subexpressions(expression))
            )
        return known

    def _value(self, expression: ir.Expr) -> Value:
        """The value of an expression."""
        values, booleans = self._values, self._booleans
        match expression:
            case ir.Const(type_, value):
                return constant(type_, value)
            case ir.Local(_, name):
                return self._locals[name]
            case ir.Read(type_, root, column, indices):
                place = self._program.columns[column]
                places = self._places(place.dims, indices)
                cells = self._cells if root == "state" else self._roots[root]
                return self._selected([(place.offset + p, c) for p, c in places], cells, type_)
            case ir.Table(type_, table, dims, indices):
                places = self._places(dims, indices)
                return self._selected(places, [constant(type_, v) for v in table], type_)
            case ir.Not(_, item):
                return self._literal(item) ^ 1
            case ir.And(_, items):
                return self._conjunction(items, stop=FALSE)
            case ir.Or(_, items):
                return self._conjunction(items, stop=TRUE)
            case ir.Implies(_, premise, conclusion):
                first = self._literal(premise)
                return booleans.disj(first ^ 1, self._literal(conclusion))
            case ir.Compare(_, sign, left, right):
                return self._comparison(sign, self._value(left), self._value(right))
            case ir.Arithmetic(_, sign, left, right):
                a = self._number(left)
                return values.combine(ARITHMETIC[sign], a, self._number(right))
            case ir.Choose(type_, test, then, otherwise):
                condition = self._known(self._literal(test))
                if condition == TRUE:
                    return self._converted(then, type_)
                if condition == FALSE:
                    return self._converted(otherwise, type_)
                yes = values.convert(self._under(condition, then), type_)
                return values.choose(
                    condition, yes, values.convert(self._under(condition ^ 1, otherwise), type_)
                )
            case ir.SetOf(type_, elements):
                assert isinstance(type_, SetType)
                members = [self._number(e) for e in elements]
                return tuple(booleans.any([m.get(i, FALSE) for m in members]) for i in range(type_.item.size))
            case ir.SetOperation(_, sign, left, right):
                pairs = list(zip(self._bits(left), self._bits(right), strict=True))
                match sign:
                    case "|":
                        return tuple(booleans.disj(a, b) for a, b in pairs)
                    case "&":
                        return tuple(booleans.conj(a, b) for a, b in pairs)
                    case "-":
                        return tuple(booleans.conj(a, b ^ 1) for a, b in pairs)
                    case "^":
                        return tuple(booleans.same(a, b) ^ 1 for a, b in pairs)
            case ir.Member(_, element, set_):
                number = self._number(element)
                bits = self._bits(set_)
                return booleans.any(
                    [booleans.conj(x, bits[v]) for v, x in number.items() if 0 <= v < len(bits)]
                )
            case ir.Subset(_, left, right):
                pairs = list(zip(self._bits(left), self._bits(right), strict=True))
                return booleans.all([booleans.disj(a ^ 1, b) for a, b in pairs])
            case ir.Count(_, set_):
                return values.count(self._bits(set_))
            case ir.Wrap():
                return self._wrapped(expression)
            case ir.Unwrap():
                return self._unwrapped(expression)
            case ir.Checked(type_, item, _):
                number = self._number(item)
                start = type_.low
                wrong = [x for v, x in number.items() if not start <= v < start + type_.size]
                self._error(booleans.any(wrong))
                inside = {v: x for v, x in number.items() if start <= v < start + type_.size}
                return values.convert(inside, type_)
            case ir.Retyped(type_, item):
                return self._converted(item, type_)
            case ir.Fold():
                return self._fold(expression)
            case ir.Call(_, function, arguments):
                return self._call(function, arguments)
            case ir.Decide(_, point, functions, arguments):
                return self._call(functions[self._choices[point]], arguments)
        raise AssertionError(f"{expression!r} is no expression of the IR")

    def _conjunction(self, items: Sequence[ir.Expr], stop: Literal) -> Literal:
        """``and`` (stops at false), or ``or`` (stops at true), whose later items may not be reached."""
        sign = stop ^ 1  # of TRUE and FALSE: an ``or`` is the negation of an ``and`` of negations
        met: list[Literal] = []
        path = self._path
        pure = True
        for item in items:
            if not pure or not self._is_pure(item):
                pure = False
                so_far = self._known(self._booleans.all(met))
                if so_far == FALSE:
                    return FALSE ^ sign
                value = self._under(so_far, item) if so_far != TRUE else self._value(item)
            else:
                self._path = (*path, *met)
                value = self._value(item)
                self._path = path
            literal = self._truth(value) ^ sign
            if literal == FALSE:
                return FALSE ^ sign
            if literal != TRUE:
                met.append(literal)
        return self._booleans.all(met) ^ sign

    def _comparison(self, sign: str, left: Value, right: Value) -> Literal:
        values = self._values
        match sign:
            case "==":
                return values.equal(left, right)
            case "!=":
                return values.equal(left, right) ^ 1
            case "<":
                return values.less(values.number(left), values.number(right), or_equal=False)
            case "<=":
                return values.less(values.number(left), values.number(right), or_equal=True)
            case ">":
                return values.less(values.number(right), values.number(left), or_equal=False)
            case _:
                return values.less(values.number(right), values.number(left), or_equal=True)

    def _wrapped(self, expression: ir.Wrap) -> Value:
        type_ = expression.type
        assert isinstance(type_, OptionalType)
        value = self._value(expression.item)
        if isinstance(type_.item, SetType):
            assert isinstance(value, tuple)
            return (TRUE, *value)
        if isinstance(type_.item, IntType):
            value = self._inside(value, type_.item, expression.site)
        start = type_.item.low
        return {v - start + 1: x for v, x in self._values.number(value).items()}

    def _unwrapped(self, expression: ir.Unwrap) -> Value:
        type_ = expression.item.type
        assert isinstance(type_, OptionalType)
        value = self._value(expression.item)
        if isinstance(value, tuple):
            self._error(value[0] ^ 1)
            return value[1:]
        number = self._values.number(value)
        self._error(number.get(0, FALSE))
        start = type_.item.low
        return self._values.convert({v - 1 + start: x for v, x in number.items() if v}, type_.item)

    def _fold(self, fold: ir.Fold) -> Value:
        booleans, values = self._booleans, self._values
        path = self._path
        stopped: list[Literal] = []  # whether an earlier element has ended the fold
        found: list[Literal] = []
        total: Value = {0: TRUE}
        bits: list[list[Literal]] = []
        if fold.kind == "set":
            assert isinstance(fold.type, SetType)
            bits = [[] for _ in range(fold.type.item.size)]
        best: Value | None = None
        pure = (fold.condition is None or self._is_pure(fold.condition)) and self._is_pure(fold.body)
        for number, element in list(self._rounds(fold.variable, fold.source)):
            reached = [element, *(x ^ 1 for x in stopped)]
            if FALSE in reached:
                break
            self._locals[fold.variable.name] = number
            taken = TRUE
            if fold.condition is not None:
                taken = self._truth(self._evaluated(fold.condition, reached, path, pure))
            if taken == FALSE:
                continue
            reached = [*reached, taken]
            body = self._evaluated(fold.body, reached, path, pure)
            chosen = booleans.conj(element, taken)
            match fold.kind:
                case "any":
                    stopped.append(booleans.conj(chosen, self._truth(body)))
                case "all":
                    stopped.append(booleans.conj(chosen, self._truth(body) ^ 1))
                case "sum":
                    added = values.choose(chosen, values.number(body), {0: TRUE})
                    total = values.combine(operator.add, values.number(total), values.number(added))
                case "set":
                    for value, literal in values.number(body).items():
                        if 0 <= value < len(bits):
                            bits[value].append(booleans.conj(chosen, literal))
                case "min" | "max" | "first":
                    body = values.convert(body, fold.type)
                    if best is None:
                        best = body
                    else:
                        some = booleans.any(found)
                        better = booleans.conj(
                            chosen, booleans.disj(some ^ 1, self._better(fold.kind, body, best))
                        )
                        best = values.choose(better, body, best)
                    found.append(chosen)
                    if fold.kind == "first":
                        stopped.append(chosen)
        match fold.kind:
            case "any":
                return booleans.any(stopped)
            case "all":
                return booleans.any(stopped) ^ 1
            case "sum":
                return total
            case "set":
                return tuple(map(booleans.any, bits))
        some = booleans.any(found)
        if fold.default is None:
            self._error(some ^ 1)
            return constant(fold.type, fold.type.low) if best is None else best
        if some == TRUE and best is not None:
            return best
        default = self._under(some ^ 1, fold.default) if some != FALSE else self._value(fold.default)
        default = values.convert(default, fold.type)
        return default if best is None else values.choose(some, best, default)

    def _better(self, kind_: str, body: Value, best: Value) -> Literal:
        if kind_ == "first":
            return FALSE
        a, b = self._values.number(body), self._values.number(best)
        return (
            self._values.less(a, b, or_equal=False)
            if kind_ == "min"
            else self._values.less(b, a, or_equal=False)
        )

    def _evaluated(self, expression: ir.Expr, reached: Sequence[Literal], path: Path, pure: bool) -> Value:
        """A part of a fold, for one element."""
        if not pure:
            condition = self._known(self._booleans.all(reached))
            return self._value(expression) if condition == TRUE else self._under(condition, expression)
        self._path = (*path, *reached)
        value = self._value(expression)
        self._path = path
        return value

    def _call(self, number: int, arguments: Sequence[ir.Expr]) -> Value:
        function = self._program.functions[number]
        given: dict[str, Value] = {}
        for parameter, argument in zip(function.parameters, arguments, strict=True):
            given[parameter.name] = self._converted(argument, parameter.type)
        locals_, context, path = self._locals, self._context, self._path
        callers = self._callers
        self._callers = (*callers, locals_)
        self._locals, self._context, self._path = given, (*context, *path), ()
        left, crashes, broken = self._left, len(self._crashes), self._broken
        exits = Exits()
        self._block(function.body, exits)
        ends = exits.returns
        if not self._dead:
            ends = [*ends, Pending(self._all(self._path), self._cells, {})]
        self._cells = self._joined(ends)
        value: Value | None = None
        if function.returns is not None:
            for end in reversed(ends):
                if end.value is not None:
                    result = self._values.convert(end.value, function.returns)
                    value = result if value is None else self._values.choose(end.condition, result, value)
            if value is None:
                value = constant(function.returns, function.returns.low)
        self._locals, self._context, self._path = locals_, context, path
        self._callers = callers
        self._left, self._broken = left, broken
        died = [condition for condition, _, _ in self._crashes[crashes:]]
        if died:
            self._left += 1
            # Relative to the call's own path a crash is certain if no way out is left.
            self._path = (*path, self._booleans.any(died) ^ 1) if ends else DEAD
        elif not ends:  # every way ends in a model error
            self._left += 1
            self._path = DEAD
        return TRUE if value is None else value
