"""Symbolic execution: what an action or property of the IR computes, for all states at once.

Statements run on symbolic cells. Where a condition is not known both branches run and their cells
are joined; loops run for each element; a return, break or crash is kept with the condition under
which it happens and joined where the paths meet again. A site of a model error is recorded with the
condition under which it is reached; what follows it is of no meaning, so that a user of the results
asks about errors first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Literal
from slotproof.checker.symbolic.values import Bits, Number, Value, Values, constant, kind, low
from slotproof.model.language import ir
from slotproof.model.language.columns import Column
from slotproof.model.language.program import Program
from slotproof.model.language.types import IntType, OptionalType, ScalarType, SetType

Cells = tuple[Value, ...]
Locals = Mapping[str, Value]
Path = tuple[Literal, ...]
"""Conditions that have all been met on the way here."""

DEAD: Path = (FALSE,)

ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}


@dataclass(frozen=True, slots=True)
class Result:
    """What an action does: ``after`` is also the state that a crash leaves.

    ``error`` is the condition of a model error, also one of the guard. ``crashes`` has the condition
    of each cause, given that the action is enabled and meets no model error.
    """

    enabled: Literal
    error: Literal
    crashes: Mapping[int, Literal]
    after: Cells


@dataclass(frozen=True, slots=True)
class Part:
    """A conjunct of a property: ``violated`` where it is the first that is false; ``error`` as above."""

    violated: Literal
    error: Literal


@dataclass(slots=True)
class _Pending:
    """A path that left its block early, and waits where its jump ends."""

    condition: Literal
    cells: Cells
    locals: Locals
    value: Value | None = None


@dataclass(slots=True)
class _Exits:
    """Where the jumps of a block go."""

    returns: list[_Pending] = field(default_factory=list)
    breaks: list[_Pending] = field(default_factory=list)
    continues: list[_Pending] = field(default_factory=list)


class Execution:
    """Runs one action or property. ``cells`` are those of root ``state``; ``roots`` those of the others."""

    def __init__(
        self,
        values: Values,
        program: Program,
        choices: Sequence[int],
        cells: Cells,
        roots: Mapping[ir.Root, Cells] | None = None,
    ) -> None:
        self._values = values
        self._booleans = values.booleans
        self._program = program
        self._choices = choices
        self._cells = cells
        self._roots = roots or {}
        self._locals: dict[str, Value] = {}
        self._context: Path = ()  # on the way to the call that runs now
        self._path: Path = ()  # since then
        self._left = 0  # how many paths have left a function or the action so far
        self._broken = 0  # how many have left a loop
        self._errors: list[Literal] = []
        self._crashes: list[tuple[Literal, int, Cells]] = []
        self._pure: dict[int, bool] = {}

    # Whole actions and properties

    def action(self, action: ir.Action, arguments: Sequence[Value]) -> Result:
        """Run an action with these arguments."""
        conditions = self._guard(action, arguments)
        self._context, self._path = tuple(conditions), ()
        enabled = self._booleans.all(conditions)
        if enabled == FALSE:
            self._path = DEAD
        return self._ended(enabled, self._effect(action.effect))

    def together(
        self, actions: Sequence[tuple[Literal, ir.Action]], arguments: Sequence[Value], shared: int
    ) -> list[Result] | None:
        """Run actions of the same parameters whose effects end with the same ``shared`` statements.

        These are run once, from where the beginning of the action whose literal is true has led. ``None``
        if that cannot be done, for a beginning may return or crash.
        """
        cells, choose = self._cells, self._values.choose
        guards: list[Literal] = []
        own: list[list[Literal]] = []
        reached: list[tuple[Literal, Cells, Locals]] = []
        for chosen, action in actions:
            self._cells, self._errors, self._context, self._path = cells, [], (), ()
            conditions = self._guard(action, arguments)
            guards.append(self._booleans.all(conditions))
            self._context, self._path = tuple(conditions), ()
            exits = self._effect(action.effect[: len(action.effect) - shared])
            if exits.returns or self._crashes or self._path:
                return None
            own.append(self._errors)
            reached.append((chosen, self._cells, self._locals))
        _, self._cells, joined = reached[-1]
        for chosen, written, locals_ in reversed(reached[:-1]):
            self._cells = self._choose_cells(chosen, written, self._cells)
            joined = {n: choose(chosen, locals_[n], joined[n]) for n in joined.keys() & locals_.keys()}
        self._locals = dict(joined)
        running = [self._booleans.conj(c, g) for (c, _), g in zip(actions, guards, strict=True)]
        self._context, self._path, self._errors = (self._booleans.any(running),), (), []
        last = actions[0][1].effect
        ended = self._ended(TRUE, self._effect(last[len(last) - shared :]))
        return [
            replace(ended, enabled=guard, error=self._booleans.any([*errors, ended.error]))
            for guard, errors in zip(guards, own, strict=True)
        ]

    def _guard(self, action: ir.Action, arguments: Sequence[Value]) -> list[Literal]:
        self._locals = {p.name: v for p, v in zip(action.parameters, arguments, strict=True)}
        conditions: list[Literal] = []
        for conjunct in action.guard:
            conditions.append(self._literal(conjunct.condition))
            self._path = (*self._path, conditions[-1])
        return conditions

    def _effect(self, block: ir.Block) -> _Exits:
        exits = _Exits()
        self._block(block, exits)
        return exits

    def _ended(self, enabled: Literal, exits: _Exits) -> Result:
        """What the paths that have come to their end add up to."""
        ends = [*exits.returns, _Pending(self._all(self._path), self._cells, {})]
        cells = self._joined(ends)
        crashes: dict[int, list[Literal]] = {}
        for condition, cause, written in self._crashes:
            crashes.setdefault(cause, []).append(condition)
            cells = self._choose_cells(condition, written, cells)
        return Result(
            enabled,
            self._booleans.any(self._errors),
            {cause: self._booleans.any(conditions) for cause, conditions in crashes.items()},
            cells,
        )

    def conjuncts(
        self, setup: ir.Block, conjuncts: Sequence[ir.Expr], arguments: Mapping[str, Value]
    ) -> list[Part]:
        """Run a property: each conjunct is asked only where those before it hold."""
        self._locals = dict(arguments)
        self._block(setup, _Exits())
        parts = []
        for conjunct in conjuncts:
            holds = self._literal(conjunct)
            violated = self._booleans.conj(*self._path, holds ^ 1)
            parts.append(Part(violated, self._booleans.any(self._errors)))
            self._path = (*self._path, holds)
        return parts

    # Paths

    def _all(self, path: Path) -> Literal:
        return self._booleans.all(path)

    @property
    def _dead(self) -> bool:
        return FALSE in self._path

    def _known(self, condition: Literal) -> Literal:
        """The condition, or a constant where the path decides it."""
        if condition in self._path or condition in self._context:
            return TRUE
        if condition ^ 1 in self._path or condition ^ 1 in self._context:
            return FALSE
        return condition

    def _error(self, condition: Literal) -> None:
        reached = self._booleans.all([*self._context, *self._path, condition])
        if reached != FALSE:
            self._errors.append(reached)

    def _choose_cells(self, condition: Literal, then: Cells, otherwise: Cells) -> Cells:
        if then is otherwise:
            return then
        choose = self._values.choose
        return tuple(a if a is b else choose(condition, a, b) for a, b in zip(then, otherwise, strict=True))

    def _choose_locals(self, condition: Literal, then: Locals, otherwise: Locals) -> dict[str, Value]:
        joined = {**then, **otherwise}
        if then is not otherwise:
            for name in then.keys() & otherwise.keys():
                joined[name] = self._values.choose(condition, then[name], otherwise[name])
        return joined

    def _joined(self, ends: Sequence[_Pending]) -> Cells:
        """The cells where paths meet of which exactly one is taken."""
        alive = [e for e in ends if e.condition != FALSE]
        if not alive:
            return self._cells
        cells = alive[-1].cells
        for end in reversed(alive[:-1]):
            cells = self._choose_cells(end.condition, end.cells, cells)
        return cells

    def _rejoin(self, pending: Sequence[_Pending], path: Path | None) -> None:
        """Let paths that jumped here go on together with this one; on ``path``, if that is known."""
        for end in pending:
            if self._dead:
                self._cells, self._locals, self._path = end.cells, dict(end.locals), (end.condition,)
            else:
                self._cells = self._choose_cells(end.condition, end.cells, self._cells)
                self._locals = self._choose_locals(end.condition, end.locals, self._locals)
                if path is None:
                    self._path = (self._booleans.disj(end.condition, self._all(self._path)),)
        if path is not None:
            self._path = path

    def _branch(self, condition: Literal, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        condition = self._known(condition)
        if condition == TRUE:
            return then()
        if condition == FALSE:
            return otherwise()
        cells, locals_, path = self._cells, self._locals, self._path
        jumps = self._left, self._broken
        self._path = (*path, condition)
        then()
        then_cells, then_locals, then_path = self._cells, self._locals, self._path
        self._cells, self._locals, self._path = cells, locals_, (*path, condition ^ 1)
        otherwise()
        if self._dead:
            self._cells, self._locals, self._path = then_cells, then_locals, then_path
        elif FALSE not in then_path:
            self._cells = self._choose_cells(condition, then_cells, self._cells)
            if then_locals is not self._locals:
                self._locals = self._choose_locals(condition, then_locals, self._locals)
            if jumps == (self._left, self._broken):
                self._path = path
            else:
                self._path = (self._booleans.disj(self._all(then_path), self._all(self._path)),)
        return None

    # Statements

    def _block(self, block: ir.Block, exits: _Exits) -> None:
        for statement in block:
            if self._dead:
                return
            self._statement(statement, exits)

    def _statement(self, statement: ir.Statement, exits: _Exits) -> None:
        match statement:
            case ir.Assign(local, value):
                made = self._converted(value, local.type)
                self._locals = {**self._locals, local.name: made}
            case ir.Write():
                self._write(statement)
            case ir.If(condition, then, otherwise):
                self._branch(
                    self._literal(condition),
                    lambda: self._block(then, exits),
                    lambda: self._block(otherwise, exits),
                )
            case ir.For(variable, source, body):
                self._for(variable, source, body, exits)
            case ir.Break():
                self._jump(exits.breaks)
                self._broken += 1
            case ir.Continue():
                self._jump(exits.continues)
                self._broken += 1
            case ir.Return(value):
                self._jump(exits.returns, None if value is None else self._value(value))
                self._left += 1
            case ir.Do(call):
                self._value(call)
            case ir.Die(cause):
                reached = self._booleans.all([*self._context, *self._path])
                self._crashes.append((reached, cause, self._cells))
                self._path = DEAD
                self._left += 1
            case ir.Fail():
                self._error(TRUE)
                self._path = DEAD
                self._left += 1

    def _jump(self, pending: list[_Pending], value: Value | None = None) -> None:
        if not self._dead:  # the value's expression may have ended in a crash
            pending.append(_Pending(self._all(self._path), self._cells, self._locals, value))
        self._path = DEAD

    def _for(self, variable: ir.Local, source: ir.Source, body: ir.Block, exits: _Exits) -> None:
        breaks: list[_Pending] = []
        rounds = list(self._rounds(variable, source))
        path, left, broken = self._path, self._left, self._broken
        for number, element in rounds:
            if self._dead:
                break
            self._branch(element, partial(self._round, variable, number, body, exits, breaks), _nothing)
        self._rejoin(breaks, path if self._left == left else None)
        self._broken = broken

    def _round(
        self, variable: ir.Local, number: Value, body: ir.Block, exits: _Exits, breaks: list[_Pending]
    ) -> None:
        continues: list[_Pending] = []
        path, jumps, broken = self._path, (self._left, len(breaks)), self._broken
        self._locals = {**self._locals, variable.name: number}
        self._block(body, _Exits(exits.returns, breaks, continues))
        contained = jumps == (self._left, len(breaks))
        self._rejoin(continues, path if contained else None)
        if contained:
            self._broken = broken

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

    def _write(self, statement: ir.Write) -> None:
        column = self._program.columns[statement.column]
        places = self._places(column.dims, statement.indices)
        value = self._converted(statement.value, column.type)
        if isinstance(column.type, IntType):
            value = self._inside(value, column.type, statement.site)
        if isinstance(value, Mapping):
            value = {
                v: x for v, x in value.items() if low(column.type) <= v < low(column.type) + column.type.size
            }
        if self._dead:
            return
        cells = list(self._cells)
        for place, condition in places:
            at = column.offset + place
            cells[at] = self._values.choose(condition, value, cells[at])
        self._cells = tuple(cells)

    def _inside(self, value: Value, type_: IntType, site: int | None) -> Value:
        """An int that must be in a range."""
        number = self._values.number(value)
        if site is not None:
            self._error(
                self._booleans.any([x for v, x in number.items() if not type_.low <= v <= type_.high])
            )
        return {v: x for v, x in number.items() if type_.low <= v <= type_.high}

    # Expressions

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
            return constant(type_, low(type_))
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
            self._branch(condition, evaluate, _nothing)
        return box[0] if box else constant(expression.type, low(expression.type))

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
                start = low(type_)
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
        start = low(type_.item)
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
        start = low(type_.item)
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
            return constant(fold.type, low(fold.type)) if best is None else best
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
        self._locals, self._context, self._path = given, (*context, *path), ()
        left, crashes, broken = self._left, len(self._crashes), self._broken
        exits = _Exits()
        self._block(function.body, exits)
        ends = exits.returns
        if not self._dead:
            ends = [*ends, _Pending(self._all(self._path), self._cells, {})]
        self._cells = self._joined(ends)
        value: Value | None = None
        if function.returns is not None:
            for end in reversed(ends):
                if end.value is not None:
                    result = self._values.convert(end.value, function.returns)
                    value = result if value is None else self._values.choose(end.condition, result, value)
            if value is None:
                value = constant(function.returns, low(function.returns))
        self._locals, self._context, self._path = locals_, context, path
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


def column_cells(columns: Sequence[Column]) -> Iterator[tuple[Column, int]]:
    """Each cell of a valuation: its column and its place within it."""
    for column in columns:
        for place in range(column.cells):
            yield column, place


def initial_cells(columns: Sequence[Column]) -> Cells:
    """The declared initial values."""
    return tuple(constant(c.type, c.initial[i] + low(c.type)) for c, i in column_cells(columns))


def _nothing() -> None:
    """The other branch of a condition that has only one."""


__all__ = ["Cells", "Execution", "Part", "Result", "column_cells", "initial_cells", "kind"]
