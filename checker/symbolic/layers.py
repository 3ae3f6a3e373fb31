"""The reachable states of a tiny system, layer by layer, read out of the relation one by one.

For tests: what the solver says of one step, compared with what other engines do.
"""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.relation import Encoding, Relation, relation
from slotproof.checker.symbolic.solving import Budget, Formula, Formulas, Solver
from slotproof.model.language.columns import Valuation
from slotproof.model.language.program import Program


def layers(
    program: Program, choices: Sequence[int], max_depth: int, encoding: Encoding = "one-hot"
) -> list[set[Valuation]]:
    """The states first reached by 0, 1, … steps, without their outputs and without crash states.

    Ends with the last layer that is not empty, at ``max_depth`` at the latest. Model errors are not
    looked for: a step that meets one leads nowhere.
    """
    made = relation(program, choices, encoding)
    found = [set(_Images(made, initial=True).of([]))]
    images = _Images(made, initial=False)
    images.block(found[0])
    while len(found) <= max_depth:
        fresh = set(images.of(sorted(found[-1])))
        if not fresh:
            break
        found.append(fresh)
    return found


class _Images:
    """All states that one step leads to and that were not asked for before."""

    def __init__(self, relation: Relation, *, initial: bool) -> None:
        r = self._relation = relation
        b = r.booleans
        self._initial = initial
        self._formulas = Formulas(b)
        self._solver = Solver(self._formulas, Budget(None, None))
        moves, enabled, error, crash, after = (
            (r.initial_moves, r.init_enabled, r.init_error, r.init_crash, r.init_state)
            if initial
            else (r.moves, r.enabled, r.error, r.crash, r.after)
        )
        self._cells = [c for c, stored in zip(r.next_state, r.stored, strict=True) if stored]
        known = [r.state_valid(r.state), r.state_valid(r.next_state)]
        equal = r.equals(r.next_state, after, outputs=False)
        self._solver.add(*self._formulas.of([*known, r.valid(moves), enabled, error ^ 1, crash ^ 1, equal]))
        self._variables: dict[Literal, Formula] = {
            x: self._formulas.of([x])[0] for c in self._cells for x in c.variables
        }
        self._asked = 0

    def block(self, states: set[Valuation]) -> None:
        """Do not give these states any more."""
        r = self._relation
        self._solver.refuse(
            *self._formulas.of(
                [r.equals(r.next_state, r.symbolic(self._full(s)), outputs=False) for s in states]
            )
        )

    def of(self, states: Sequence[Valuation]) -> list[Valuation]:
        """The new states that one step from these, or an initial action, leads to."""
        r = self._relation
        self._asked += 1
        assumptions = []
        if not self._initial:
            source = self._formulas.named(f"from {self._asked}")
            before = [r.equals(r.state, r.symbolic(self._full(s)), outputs=False) for s in states]
            self._solver.add_under(source, self._formulas.of(before))
            assumptions.append(source)
        found = []
        while self._solver.check(*assumptions) == "sat":
            true = self._solver.true(self._variables)
            state = tuple(c.code(true.__contains__) for c in self._cells)
            found.append(state)
            self.block({state})
        return found

    def _full(self, state: Valuation) -> Valuation:
        """A valuation again, its outputs at their initial values."""
        codes = iter(state)
        start = self._relation.program.start
        return tuple(next(codes) if s else start[i] for i, s in enumerate(self._relation.stored))
