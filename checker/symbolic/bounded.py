"""Bounded search: is there a run of exactly n steps to a violation, for n = 0, 1, 2, …?

The first one found is shortest, for each property by itself. All properties are asked in one unrolled
relation: first whether any of them fails at a depth, then which.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Literal
from slotproof.checker.symbolic.paths import Cells
from slotproof.checker.symbolic.relation import Bad, Move, Relation
from slotproof.checker.symbolic.solving import Budget, Formula, Formulas, OneShot, Template

Codes = tuple[int | None, ...]
"""A valuation in which the outputs that no property reads are ``None``."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An action's place in the program, and its arguments as numbers of the IR."""

    action: int
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A run that the solver found; ``start`` is the initial action, if the program has any.

    The state after the last step is missing if that step meets a model error.
    """

    start: Choice | None
    steps: tuple[Choice, ...]
    states: tuple[Codes, ...]


class Unrolling:
    """The relation for steps 1, 2, …, one after the other.

    ``extend`` adds a step, ``run`` asks about runs that end with it, ``close`` keeps the negative
    answers. Each question is solved from the beginning: what Z3 does to a whole formula before its
    search saves more than what it would remember of the last question (measured on the server, 8 steps:
    a third of the time).
    """

    def __init__(self, relation: Relation, bads: Sequence[Bad], budget: Budget) -> None:
        self.depth = -1
        self._relation = relation
        self._bads = bads
        self._formulas = Formulas(relation.booleans)
        self._solver = OneShot(self._formulas, budget)
        asked = self._formulas.variables([x for bad in bads for x in (bad.literal, bad.error)])
        read = set(asked)
        self._needed = [
            stored or not read.isdisjoint(cell.variables)
            for stored, cell in zip(relation.stored, relation.next_state, strict=True)
        ]
        self._next = [
            x for c, n in zip(relation.next_state, self._needed, strict=True) if n for x in c.variables
        ]
        self._before = {
            old: new
            for before, after, stored in zip(
                relation.state, relation.next_state, relation.stored, strict=True
            )
            if stored and before.variables
            for old, new in zip(before.variables, after.variables, strict=True)
        }
        r = relation
        self._first = self._template(
            r.initial_moves, r.init_enabled, r.init_error, r.init_crash, r.init_state, ("state",)
        )
        self._step = self._template(r.moves, r.enabled, r.error, r.crash, r.after, ("state", "step"))
        self._states: list[dict[Literal, Formula]] = []
        self._inputs: list[dict[Literal, Formula]] = []

    def _template(
        self,
        moves: Sequence[Move],
        enabled: Literal,
        error: Literal,
        crash: Literal,
        after: Cells,
        over: Collection[str],
    ) -> Template:
        booleans, relation = self._relation.booleans, self._relation
        clean = booleans.conj(enabled, error ^ 1)
        alive = booleans.conj(clean, crash ^ 1)
        asked, errors = [], [error]
        for bad in self._bads:
            reached = FALSE if bad.over not in over else alive if bad.over == "state" else clean
            asked.append(booleans.conj(reached, bad.literal, bad.error ^ 1))
            errors.append(booleans.conj(reached, bad.error))
        rules = [relation.valid(moves)]
        for cell, value, needed in zip(relation.next_state, after, self._needed, strict=True):
            if needed:
                rules.extend(map(booleans.same, cell.variables, cell.terms(booleans, value)))
        return Template(self._formulas, [alive, booleans.any(errors), *asked, *rules])

    def extend(self) -> None:
        """Add a step (the first time: the initial state)."""
        self.depth += 1
        template = self._step if self.depth else self._first
        fresh = {x: self._formulas.fresh(x, str(self.depth)) for x in self._next}
        before = {old: self._states[-1][new] for old, new in self._before.items()} if self.depth else {}
        inputs = {
            x: self._formulas.fresh(x, str(self.depth))
            for x in template.variables
            if x not in fresh and x not in before
        }
        self._alive, self._error, *rest = template.at({**fresh, **before, **inputs})
        self._asked, rules = rest[: len(self._bads)], rest[len(self._bads) :]
        self._solver.add(*rules)
        self._states.append(fresh)
        self._inputs.append(inputs)

    def run(self, bads: Sequence[int], *, errors: bool) -> tuple[Run, list[int]] | None:
        """A run of this length that ends with some of these violations, and which they are.

        With ``errors`` it may end with a model error and none of them.
        """
        asked = [self._asked[i] for i in bads]
        if self._solver.check([*asked, *([self._error] if errors else [])]) == "unsat":
            return None
        found = [i for i, literal in zip(bads, asked, strict=True) if self._solver.holds(literal)]
        return self._run(complete=bool(found)), found

    def close(self, bads: Sequence[int]) -> None:
        """Assert that no run of this length ends with a model error or these violations, or with a crash."""
        self._solver.add(self._alive)
        self._solver.refuse(self._error, *(self._asked[i] for i in bads))

    def _run(self, complete: bool = True) -> Run:
        start: Choice | None = None
        steps: list[Choice] = []
        states: list[Codes] = []
        for depth in range(self.depth + 1):
            moves = self._relation.moves if depth else self._relation.initial_moves
            if moves:
                choice = _choice(moves, self._solver.true(self._inputs[depth]))
                if depth:
                    steps.append(choice)
                else:
                    start = choice
            if complete or depth < self.depth:
                states.append(self._codes(self._solver.true(self._states[depth])))
        return Run(start, tuple(steps), tuple(states))

    def _codes(self, true: set[Literal]) -> Codes:
        cells = zip(self._relation.next_state, self._needed, strict=True)
        return tuple(cell.code(true.__contains__) if needed else None for cell, needed in cells)


def _choice(moves: Sequence[Move], true: set[Literal]) -> Choice:
    move = next(m for m in moves if m.chosen == TRUE or m.chosen in true)
    return Choice(move.number, tuple(a.code(true.__contains__) + a.type.low for a in move.arguments))
