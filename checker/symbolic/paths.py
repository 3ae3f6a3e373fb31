"""The paths that symbolic execution is on: how they part, what ends them, and how they meet again.

A path is the conditions that have all been met on the way. A jump (return, break, continue) leaves it with
its cells and locals, to be joined where the jump ends. A model error is recorded with the condition under
which it is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Literal
from slotproof.checker.symbolic.values import Value, Values
from slotproof.model.language import ir
from slotproof.model.language.program import Program
from slotproof.model.language.sequences import is_of_filter

Cells = tuple[Value, ...]
Locals = Mapping[str, Value]
Path = tuple[Literal, ...]
"""Conditions that have all been met on the way here."""

DEAD: Path = (FALSE,)


@dataclass(slots=True)
class Pending:
    """A path that left its block early, and waits where its jump ends."""

    condition: Literal
    cells: Cells
    locals: Locals
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """A place on the way through an action: the conditions under which it is passed, the cells there, the
    rounds of the loops that it is in, and the variables that are known there, those of the callers too.

    ``place`` is the same for the stops after the rounds of one loop. ``filtering``: a filter has not come to
    its end, and one of the sequences holds what means nothing.
    """

    path: Path
    cells: Cells
    rounds: tuple[Value, ...]
    locals: Locals
    place: int
    filtering: bool

    @property
    def loops(self) -> int:
        """In how many loops it is."""
        return len(self.rounds)


@dataclass(slots=True)
class Exits:
    """Where the jumps of a block go."""

    returns: list[Pending] = field(default_factory=list)
    breaks: list[Pending] = field(default_factory=list)
    continues: list[Pending] = field(default_factory=list)


class Paths:
    """Cells, locals and conditions of the path that is run now."""

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
        self._callers: tuple[Locals, ...] = ()  # their locals, outermost first
        self._context: Path = ()  # on the way to the call that runs now
        self._path: Path = ()  # since then
        self._left = 0  # how many paths have left a function or the action so far
        self._broken = 0  # how many have left a loop
        self._errors: list[Literal] = []
        self._crashes: list[tuple[Literal, int, Cells]] = []
        self._pure: dict[int, bool] = {}
        self._looping: tuple[Value, ...] = ()  # the rounds of the loops that it is in
        self._of_filter: dict[int, bool] = {}  # which statements are loops of a filter
        self._stops: list[Stop] | None = None  # of the action that is run, if they are wanted

    def _stop(self, statement: ir.Statement) -> None:
        """Note the cells as they are after a statement or a round of it, if they are not as they were; once
        outside of a loop rather than in its last round."""
        if self._stops is None or self._dead:
            return
        if self._stops and self._stops[-1].cells is self._cells:
            if self._stops[-1].loops <= len(self._looping):
                return
            self._stops.pop()
        known = {name: value for own in (*self._callers, self._locals) for name, value in own.items()}
        path, place = (*self._context, *self._path), id(statement)
        if place not in self._of_filter:
            self._of_filter[place] = isinstance(statement, ir.For) and is_of_filter(statement)
        filtering = self._of_filter[place]
        self._stops.append(Stop(path, self._cells, self._looping, known, place, filtering))

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
            for name in (n for n in then if n in otherwise):  # in an order that no run changes
                joined[name] = self._values.choose(condition, then[name], otherwise[name])
        return joined

    def _joined(self, ends: Sequence[Pending]) -> Cells:
        """The cells where paths meet of which exactly one is taken."""
        alive = [e for e in ends if e.condition != FALSE]
        if not alive:
            return self._cells
        cells = alive[-1].cells
        for end in reversed(alive[:-1]):
            cells = self._choose_cells(end.condition, end.cells, cells)
        return cells

    def _rejoin(self, pending: Sequence[Pending], path: Path | None) -> None:
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

    def _jump(self, statement: ir.Statement, pending: list[Pending], value: Value | None = None) -> None:
        self._stop(statement)
        if not self._dead:  # the value's expression may have ended in a crash
            pending.append(Pending(self._all(self._path), self._cells, self._locals, value))
        self._path = DEAD


def nothing() -> None:
    """The other side of a condition that has only one."""
