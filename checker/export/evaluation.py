"""Expressions that need statements: what has to be done before the value is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from slotproof.checker.export.build import (
    FALSE,
    TRUE,
    can_fail,
    contains,
    negated,
    rebuilt,
)
from slotproof.checker.export.failure import failure
from slotproof.checker.export.pure import NotPure
from slotproof.checker.export.shared import Shared
from slotproof.checker.export.writer import Writer
from slotproof.model.language.ir import (
    And,
    Block,
    Call,
    Choose,
    Const,
    Decide,
    Elements,
    Expr,
    Fold,
    Implies,
    Local,
    Or,
    Source,
    Span,
    subexpressions,
)
from slotproof.model.language.types import BoolType, IntType, SetType
from slotproof.model.language.walk import expressions_of

INLINE = 40
"""Calls and folds are written out in an expression of at most so many nodes."""


class Evaluation(Writer):
    """Writes what an expression needs. A subclass writes the bodies of helpers."""

    def __init__(self, shared: Shared, scope: str, fixed: Mapping[str, str] | None = None) -> None:
        super().__init__(shared, scope, fixed)
        self.result: str | None = None
        self._leaves = False
        self._loops: list[list[str | None]] = []
        self._labels = 0

    def function(self, body: Block) -> list[str]:
        """The lines of a whole body, its end included."""
        raise NotImplementedError

    def value(self, e: Expr) -> Expr:
        """Write what has to be done first; an expression that gives the value and cannot fail."""
        return self._sure(self._prepared(e))

    def _sure(self, e: Expr) -> Expr:
        if can_fail(e):
            failing = failure(e)
            if failing != FALSE:
                self.write(f"assert({self._bare(negated(failing))}); {self._sites(e)}")
        return e

    def _sites(self, e: Expr) -> str:
        found = [getattr(x, "site", None) for x in expressions_of(e)]
        sites = self.shared.program.sites
        return next((self.shared.place(sites[x]) for x in found if isinstance(x, int)), "")

    def _written_out(self, e: Expr) -> Expr | None:
        try:
            return self.shared.pure.expression(e, self._bound, INLINE)
        except NotPure:
            return None

    def _prepared(self, e: Expr) -> Expr:
        pure = self._written_out(e)
        if pure is not None:
            return pure
        match e:
            case And() | Or():
                return self._in_order(e)
            case Choose():
                return self._chosen(e)
            case Fold():
                return self._fold(e)
            case Call() | Decide():
                result = self._call(e)
                assert result is not None
                return result
            case Implies():
                premise, conclusion = self._operands([e.premise, e.conclusion])
                return rebuilt(Or(e.type, (premise, conclusion)), [negated(premise), conclusion])
            case _:
                return rebuilt(e, self._operands(tuple(subexpressions(e))))

    def _operands(self, operands: Sequence[Expr]) -> list[Expr]:
        """The operands' values; those before a call that writes are taken before it."""
        ready: list[Expr] = []
        for i, operand in enumerate(operands):
            later = any(self._has_effect(x) for x in operands[i + 1 :])
            ready.append(self._capture(self.value(operand)) if later else self.value(operand))
        return ready

    def _has_effect(self, e: Expr) -> bool:
        calls = (x for x in expressions_of(e) if isinstance(x, Call | Decide))
        return any(self.shared.writes(self.shared.pure.callee(x)) for x in calls)

    def _capture(self, e: Expr) -> Expr:
        if isinstance(e, Const):
            return e
        local = self._temporary(e.type)
        self._set(self._names[local.name], e)
        return local

    def _in_order(self, e: And | Or) -> Expr:
        """Items are evaluated until one decides; those that need no statement are tested as they are."""
        local = self._temporary(e.type)
        target = self._names[local.name]
        self._items(e, 0, local, target)
        return local

    def _items(self, e: And | Or, start: int, local: Local, target: str) -> None:
        self._set(target, self.value(e.items[start]))
        if start + 1 < len(e.items):
            with self._choice(local if isinstance(e, And) else negated(local)):
                self._items(e, start + 1, local, target)

    def _chosen(self, e: Choose) -> Expr:
        condition = self.value(e.condition)
        if isinstance(condition, Const):
            return self._prepared(e.then if condition.value else e.otherwise)
        local = self._temporary(e.type)
        target = self._names[local.name]
        with self._choice(condition):
            self._set(target, self.value(e.then))
            self._otherwise()
            self._set(target, self.value(e.otherwise))
        return local

    def _fold(self, e: Fold) -> Expr:
        result = self._temporary(e.type)
        target = self._names[result.name]
        some = self._temporary(BoolType()) if e.kind in ("min", "max", "first") else None
        start = TRUE if e.kind == "all" else Const(e.type, 0)
        self._set(target, start)
        if some is not None:
            self._set(self._names[some.name], FALSE)
        with self._loop(e.variable, e.source):
            if e.condition is None:
                self._round(e, result, some)
            else:
                with self._choice(self.value(e.condition)):
                    self._round(e, result, some)
        if some is not None:
            with self._choice(negated(some)):
                if e.default is None:
                    site = self.shared.place(self.shared.program.sites[e.site]) if e.site is not None else ""
                    self.write(f"assert(false); {site}")
                else:
                    self._set(target, self.value(e.default))
        return result

    def _round(self, e: Fold, result: Local, some: Local | None) -> None:
        target = self._names[result.name]
        body = self.value(e.body)
        value, text = self.text.of(body), self._bare(body)
        match e.kind:
            case "any" | "all":
                with self._choice(body if e.kind == "any" else negated(body)):
                    self._set(target, TRUE if e.kind == "any" else FALSE)
                    self.write("break;")
            case "sum":
                self.write(f"{target} = {target} + {value};")
            case "set":
                self.write(f"{target} = {target} | (1 << {value});")
            case "first":
                assert some is not None
                self.write(f"{target} = {text};")
                self._set(self._names[some.name], TRUE)
                self.write("break;")
            case _:
                assert some is not None
                sign = "<" if e.kind == "min" else ">"
                self.write("if")
                self.write(f":: !{self._names[some.name]} || {value} {sign} {target} -> {target} = {text};")
                self.write(":: else")
                self.write("fi;")
                self._set(self._names[some.name], TRUE)

    def _call(self, e: Call | Decide) -> Expr | None:
        number = self.shared.pure.callee(e)
        function = self.shared.program.functions[number]
        arguments = self._operands(e.arguments)
        name = self._inline(number)
        for parameter, argument in zip(self.shared.parameters[name], arguments, strict=True):
            self._set(parameter, argument)
        self.write(f"{name}();")
        if self.shared.dies(number):
            self.write(f"if :: crash -> goto end_{self.scope}; :: else fi;")
            self._leaves = True
        if function.returns is None:
            return None
        result = self._temporary(function.returns)
        self.write(f"{self._names[result.name]} = {self.shared.results[name]};")
        return result

    def _inline(self, number: int) -> str:
        """The name of the ``inline`` for a function; it is written on first use."""
        if number not in self.shared.inlines:
            function = self.shared.program.functions[number]
            name = self.shared.names.fresh(function.name)
            self.shared.inlines[number] = (name, [])
            emitter = type(self)(self.shared, name)
            self.shared.parameters[name] = [emitter.variable(p) for p in function.parameters]
            if function.returns is not None:
                emitter.result = self.shared.results[name] = self.shared.hide(
                    f"{name}__result", function.returns
                )
            text = emitter.function(function.body)
            del self.shared.inlines[number]  # callees come first
            self.shared.inlines[number] = (name, text)
        return self.shared.inlines[number][0]

    def _rounds(self, source: Source) -> int:
        if isinstance(source, Span):
            return max(source.high - source.low, 0)
        assert isinstance(source.set.type, SetType)
        return source.set.type.item.size

    @contextmanager
    def _loop(self, variable: Local, source: Source) -> Iterator[None]:
        set_ = self._capture(self.value(source.set)) if isinstance(source, Elements) else None
        low, high = (source.low, source.high) if isinstance(source, Span) else (0, self._rounds(source))
        if variable.name not in self._names:
            hidden = self.shared.hide(
                f"{self.scope}__{variable.name}", IntType(low, max(high, low)), loop=True
            )
            self._names[variable.name] = hidden
        self.write(f"for ({self._names[variable.name]} : {low} .. {high - 1}) {{")
        self._loops.append([None])
        with self._inside():
            if set_ is None:
                yield
            else:
                with self._choice(contains(set_, variable)):
                    yield
            label = self._loops.pop()[0]
            if label is not None:
                self.write(f"{label}: skip")
        self.write("};")

    def _finish(self) -> None:
        self._leaves = True
        self.write(f"goto end_{self.scope};")
