"""Symbolic execution: what an action or property of the IR computes, for all states at once.

Statements run on symbolic cells. Where a condition is not known both branches run and their cells
are joined (``paths.py``); loops run for each element; expressions become values (``evaluation.py``). What
follows a model error is of no meaning, so that a user of the results asks about errors first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Literal
from slotproof.checker.symbolic.evaluation import Evaluation
from slotproof.checker.symbolic.paths import DEAD, Cells, Exits, Locals, Pending, Stop, nothing
from slotproof.checker.symbolic.values import Value, are_alike, constant
from slotproof.model.language import ir
from slotproof.model.language.columns import Column
from slotproof.model.language.types import IntType


@dataclass(frozen=True, slots=True)
class Result:
    """What an action does: ``after`` is also the state that a crash leaves.

    ``error`` is the condition of a model error, also one of the guard. ``crashes`` has the condition
    of each cause, given that the action is enabled and meets no model error. ``stops`` are places on the
    way: after each round of a loop and each statement outside of loops, and where a path ends early.
    """

    enabled: Literal
    error: Literal
    crashes: Mapping[int, Literal]
    after: Cells
    stops: tuple[Stop, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A conjunct of a property: ``violated`` where it is the first that is false; ``error`` as above."""

    violated: Literal
    error: Literal


class Execution(Evaluation):
    """Runs one action or property. ``cells`` are those of root ``state``; ``roots`` those of the others."""

    # Whole actions and properties

    def action(self, action: ir.Action, arguments: Sequence[Value]) -> Result:
        """Run an action with these arguments."""
        conditions = self._guard(action, arguments)
        self._context, self._path = tuple(conditions), ()
        self._stops = []
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
        begun: list[list[Stop]] = []
        reached: list[tuple[Literal, Cells, Locals]] = []
        for chosen, action in actions:
            self._cells, self._errors, self._context, self._path = cells, [], (), ()
            self._stops = None
            conditions = self._guard(action, arguments)
            guards.append(self._booleans.all(conditions))
            self._context, self._path = tuple(conditions), ()
            self._stops = []
            exits = self._effect(action.effect[: len(action.effect) - shared])
            if exits.returns or self._crashes or self._path:
                return None
            own.append(self._errors)
            begun.append(self._stops)
            reached.append((chosen, self._cells, self._locals))
        _, self._cells, joined = reached[-1]
        for chosen, written, locals_ in reversed(reached[:-1]):
            self._cells = self._choose_cells(chosen, written, self._cells)
            # What is of another kind in another action is none that they share.
            same = (n for n in joined if n in locals_ and are_alike(locals_[n], joined[n]))
            joined = {n: choose(chosen, locals_[n], joined[n]) for n in same}
        self._locals = dict(joined)
        running = [self._booleans.conj(c, g) for (c, _), g in zip(actions, guards, strict=True)]
        self._context, self._path, self._errors, self._stops = (self._booleans.any(running),), (), [], []
        last = actions[0][1].effect
        ended = self._ended(TRUE, self._effect(last[len(last) - shared :]))
        return [
            replace(
                ended,
                enabled=guard,
                error=self._booleans.any([*errors, ended.error]),
                stops=(*stops, *ended.stops),
            )
            for guard, errors, stops in zip(guards, own, begun, strict=True)
        ]

    def _guard(self, action: ir.Action, arguments: Sequence[Value]) -> list[Literal]:
        self._locals = {p.name: v for p, v in zip(action.parameters, arguments, strict=True)}
        conditions: list[Literal] = []
        for conjunct in action.guard:
            conditions.append(self._literal(conjunct.condition))
            self._path = (*self._path, conditions[-1])
        return conditions

    def _effect(self, block: ir.Block) -> Exits:
        exits = Exits()
        self._block(block, exits)
        return exits

    def _ended(self, enabled: Literal, exits: Exits) -> Result:
        """What the paths that have come to their end add up to."""
        ends = [*exits.returns, Pending(self._all(self._path), self._cells, {})]
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
            tuple(self._stops or ()),
        )

    def conjuncts(
        self, setup: ir.Block, conjuncts: Sequence[ir.Expr], arguments: Mapping[str, Value]
    ) -> list[Part]:
        """Run a property: each conjunct is asked only where those before it hold."""
        self._locals = dict(arguments)
        self._block(setup, Exits())
        parts = []
        for conjunct in conjuncts:
            holds = self._literal(conjunct)
            violated = self._booleans.conj(*self._path, holds ^ 1)
            parts.append(Part(violated, self._booleans.any(self._errors)))
            self._path = (*self._path, holds)
        return parts

    # Paths

    # Statements

    def _block(self, block: ir.Block, exits: Exits) -> None:
        for statement in block:
            if self._dead:
                return
            before = self._cells
            self._statement(statement, exits)
            if self._cells is not before and not self._looping:
                self._stop(statement)

    def _statement(self, statement: ir.Statement, exits: Exits) -> None:
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
            case ir.For():
                self._for(statement, exits)
            case ir.Break():
                self._jump(statement, exits.breaks)
                self._broken += 1
            case ir.Continue():
                self._jump(statement, exits.continues)
                self._broken += 1
            case ir.Return(value):
                self._jump(statement, exits.returns, None if value is None else self._value(value))
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

    def _for(self, loop: ir.For, exits: Exits) -> None:
        breaks: list[Pending] = []
        variable, body = loop.variable, loop.body
        rounds = list(self._rounds(variable, loop.source))
        path, left, broken = self._path, self._left, self._broken
        outside = self._looping
        for number, element in rounds:
            if self._dead:
                break
            before = self._cells
            self._looping = (*outside, number)
            self._branch(element, partial(self._round, variable, number, body, exits, breaks), nothing)
            if self._cells is not before:
                self._stop(loop)
        self._looping = outside
        self._rejoin(breaks, path if self._left == left else None)
        self._broken = broken

    def _round(
        self, variable: ir.Local, number: Value, body: ir.Block, exits: Exits, breaks: list[Pending]
    ) -> None:
        continues: list[Pending] = []
        path, jumps, broken = self._path, (self._left, len(breaks)), self._broken
        self._locals = {**self._locals, variable.name: number}
        self._block(body, Exits(exits.returns, breaks, continues))
        contained = jumps == (self._left, len(breaks))
        self._rejoin(continues, path if contained else None)
        if contained:
            self._broken = broken

    def _write(self, statement: ir.Write) -> None:
        column = self._program.columns[statement.column]
        places = self._places(column.dims, statement.indices)
        value = self._converted(statement.value, column.type)
        if isinstance(column.type, IntType):
            value = self._inside(value, column.type, statement.site)
        if isinstance(value, Mapping):
            value = {v: x for v, x in value.items() if column.type.low <= v <= column.type.high}
        if self._dead:
            return
        cells = list(self._cells)
        for place, condition in places:
            at = column.offset + place
            cells[at] = self._values.choose(condition, value, cells[at])
        self._cells = tuple(cells)


def column_cells(columns: Sequence[Column]) -> Iterator[tuple[Column, int]]:
    """Each cell of a valuation: its column and its place within it."""
    for column in columns:
        for place in range(column.cells):
            yield column, place


def initial_cells(columns: Sequence[Column]) -> Cells:
    """The declared initial values."""
    return tuple(constant(c.type, c.initial[i] + c.type.low) for c, i in column_cells(columns))
