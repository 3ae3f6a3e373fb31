"""A false condition in one phrase: the comparison that decides it, with the values of both sides.

``evidence.py`` lists every cell that a condition rests on; here the way goes down through ``all``, ``and``
and helpers to what is compared, so that a person reads first what is too much, missing or wrong::

    ranks[rank0].gate.counted[r3] = {A, B} is not within accounted_for(k=rank0) = {B, C}: A is not in it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slotproof.counterexamples.evidence import Evidence, Found, cell, shown
from slotproof.model.language import ir
from slotproof.model.language.errors import ModelError
from slotproof.model.language.types import BoolType

Locals = dict[str, Found]

MOST = 4
"""Phrases that one condition gives at most."""

_FALSE = {
    "==": "is not",
    "!=": "is",
    "<": "is not below",
    "<=": "is more than",
    ">": "is not above",
    ">=": "is less than",
}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True)
class Reason:
    """Finds the comparisons that decide a condition; ``evidence`` has the states and choices."""

    evidence: Evidence

    def of_property(self, prop: ir.Property, conjunct: int, arguments: tuple[int, ...]) -> tuple[str, ...]:
        """Why a conjunct of a property is false; nothing where its setup is more than its last line."""
        if prop.setup:
            return ()
        local = {p.name: Found(v) for p, v in zip(prop.parameters, arguments, strict=True)}
        return self.of(prop.conjuncts[conjunct].condition, local)

    def of(self, condition: ir.Expr, local: Locals) -> tuple[str, ...]:
        """Why a condition is false."""
        try:
            found = list(dict.fromkeys(self._why(condition, local, False)))
        except ModelError:
            return ()
        return tuple(found[:MOST])

    def _why(self, e: ir.Expr, local: Locals, truth: bool) -> Iterator[str]:
        """The comparisons that give ``e`` the value ``truth``, which it has."""
        match e:
            case ir.Not():
                yield from self._why(e.item, local, not truth)
            case ir.And() | ir.Or():
                deciding = isinstance(e, ir.Or)
                for item in e.items:
                    if truth != deciding:
                        yield from self._why(item, local, truth)
                    elif bool(self._value(item, local)) == deciding:
                        yield from self._why(item, local, truth)
                        return
            case ir.Implies() if not truth:
                yield from self._why(e.premise, local, True)
                yield from self._why(e.conclusion, local, False)
            case ir.Fold(kind="all" | "any"):
                yield from self._fold(e, local, truth)
            case ir.Call() | ir.Decide():
                yield from self._call(e, local, truth)
            case ir.Compare() | ir.Subset() | ir.Member() | ir.Read():
                yield self._phrase(e, local, truth)
            case ir.Choose():
                taken = e.then if self._value(e.condition, local) else e.otherwise
                yield from self._why(taken, local, truth)

    def _fold(self, e: ir.Fold, local: Locals, truth: bool) -> Iterator[str]:
        numbers, _ = self.evidence.source(e.source, local)
        if truth == (e.kind == "all"):
            return  # every instance says so, none decides
        for number in numbers:
            inner = {**local, e.variable.name: Found(number)}
            if e.condition is not None and not self._value(e.condition, inner):
                continue
            if bool(self._value(e.body, inner)) == truth:
                yield from self._why(e.body, inner, truth)
                return

    def _call(self, e: ir.Call | ir.Decide, local: Locals, truth: bool) -> Iterator[str]:
        called = self._called(e)
        inner = {
            p.name: Found(self._value(a, local)) for p, a in zip(called.parameters, e.arguments, strict=True)
        }
        if (
            len(called.body) == 1
            and isinstance(called.body[0], ir.Return)
            and called.body[0].value is not None
        ):
            inside = list(self._why(called.body[0].value, inner, truth))
            if inside:
                yield from inside
                return
        yield f"{self._term(e, local)} is {truth}"

    def _called(self, e: ir.Call | ir.Decide) -> ir.Function:
        number = e.function if isinstance(e, ir.Call) else e.functions[self.evidence.choices[e.point]]
        return self.evidence.program.functions[number]

    def _value(self, e: ir.Expr, local: Locals) -> int:
        return self.evidence.value(e, local).value

    # -- words ---------------------------------------------------------------------------------------

    def _phrase(self, e: ir.Compare | ir.Subset | ir.Member | ir.Read, local: Locals, truth: bool) -> str:
        match e:
            case ir.Read():
                return f"{self._term(e, local)} is {truth}"
            case ir.Member():
                element, not_ = self._named(e.element, local), "" if truth else "not "
                return f"{element} is {not_}in {self._named(e.set, local)}"
            case ir.Subset():
                text = f"{self._named(e.left, local)} is {'' if truth else 'not '}within"
                text += f" {self._named(e.right, local)}"
                if truth:
                    return text
                more = self._value(e.left, local) & ~self._value(e.right, local)
                names = shown(e.left.type, more).strip("{}")
                return f"{text}: {names} {'is' if more.bit_count() == 1 else 'are'} not in it"
        return self._comparison(e, local, truth)

    def _comparison(self, e: ir.Compare, local: Locals, truth: bool) -> str:
        left, right = e.left, e.right
        if isinstance(left.type, BoolType) and not isinstance(right, ir.Const):
            verb = "as" if (e.operator == "==") == truth else "and not as"
            return f"{self._named(left, local)}, {verb} {self._named(right, local)}"
        if isinstance(left, ir.Count) and isinstance(right, ir.Const) and right.value == 0:
            empty = (e.operator in ("==", "<=")) == truth
            return f"{self._named(left.set, local)} is {'' if empty else 'not '}empty"
        operator = _OPPOSITE[e.operator] if truth else e.operator
        if isinstance(left, ir.Count):
            many = self._value(left, local)
            text = f"{self._named(left.set, local)} has {many} element{'s' if many != 1 else ''}"
            return f"{text}, and that {_FALSE[operator]} {self._named(right, local)}"
        return f"{self._named(left, local)}, and that {_FALSE[operator]} {self._named(right, local)}"

    def _named(self, e: ir.Expr, local: Locals) -> str:
        """``name = value``, or the value alone where the expression has no short name."""
        value = shown(e.type, self._value(e, local))
        if isinstance(e, ir.Local | ir.Const) or (isinstance(e, ir.SetOf) and len(e.elements) < 2):
            return value
        term = self._term(e, local)
        return f"{term} = {value}" if term else value

    def _term(self, e: ir.Expr, local: Locals) -> str:
        match e:
            case ir.Read():
                where = {"before": " before the step", "after": "", "state": ""}[e.root]
                column = self.evidence.program.columns[e.column]
                return cell(column, [self._value(i, local) for i in e.indices]) + where
            case ir.Call() | ir.Decide():
                called = self._called(e)
                given = [
                    f"{p.name.split('.')[0]}={shown(p.type, self._value(a, local))}"
                    for p, a in zip(called.parameters, e.arguments, strict=True)
                ]
                return f"{called.name.split('.')[-1]}({', '.join(given)})"
            case ir.Count():
                inner = self._term(e.set, local)
                return f"len({inner})" if inner else ""
            case ir.SetOperation():
                left, right = self._term(e.left, local), self._term(e.right, local)
                return f"{left} {e.operator} {right}" if left and right else ""
            case ir.Member():
                return f"{self._named(e.element, local)} in {self._term(e.set, local)}"
            case ir.Unwrap() | ir.Wrap() | ir.Checked() | ir.Retyped():
                return self._term(e.item, local)
        return ""
