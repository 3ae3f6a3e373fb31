"""The engine ``induction``: k-induction, with different states on the way.

The properties hold if, for some k, no run of fewer than k steps comes to anything wrong, and no k
different states in a row in which all is well lead on to one in which something is wrong. That the
states differ makes it complete: a shortest way to something wrong repeats none.

Sheeran, Singh and Stålmarck: Checking safety properties using induction and a SAT-solver, FMCAD 2000.
"""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.proof import Induction, NotConverged
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.solving import Budget, Formula, Formulas, Solver, Stopped, Template


def find_depth(
    question: Safety, budget: Budget, known: Sequence[Literal] = (), deepest: int | None = None
) -> Induction | None:
    """The depth at which induction shows the properties, ``None`` if one is violated.

    ``known`` are terms over the variables and inputs that are true wherever a run can come. Raises
    ``NotConverged`` at depth ``deepest``, and when the budget ends the search.
    """
    depth = 0
    try:
        runs = _Chain(question, budget, known, begun=True)
        ways = _Chain(question, budget, known, begun=False)
        if runs.begins_wrong():
            return None
        while True:
            if not ways.goes_wrong():
                return Induction(question.properties, depth)
            if runs.goes_wrong():
                return None
            if depth == deepest:
                raise NotConverged(f"depth limit of {deepest}", depth)
            runs.extend()
            ways.extend()
            depth += 1
    except Stopped as stopped:
        raise NotConverged(str(stopped), depth) from None


class _Chain:
    """States in a row, from the start or from anywhere; in all but the last nothing is wrong."""

    def __init__(self, question: Safety, budget: Budget, known: Sequence[Literal], *, begun: bool) -> None:
        q = self._question = question
        formulas = self._formulas = Formulas(q.relation.booleans)
        self._solver = Solver(formulas, budget)
        self._begun = begun
        self._step = Template(formulas, [q.wrong, q.possible, *q.after, q.valid, *known])
        self._states: list[list[Formula]] = [self._fresh(q.variables, "0")]
        (self._error,) = formulas.of([q.start.error])
        if begun:
            possible, *values = formulas.of([q.start.possible, *q.start.values])
            self._solver.add(possible, *self._equal(self._states[0], values))
        self._ask()

    def begins_wrong(self) -> bool:
        """Whether an initial action meets a model error."""
        alone = Solver(self._formulas, self._solver.budget)
        alone.add(self._error)
        return alone.check() == "sat"

    def goes_wrong(self) -> bool:
        """Whether something can be wrong in the last state, or in a step from it."""
        return self._solver.check(self._wrong) == "sat"

    def extend(self) -> None:
        """Nothing is wrong in the last state, and a step leads on, to a state that is not among these."""
        state = self._fresh(self._question.variables, str(len(self._states)))
        self._solver.refuse(self._wrong)
        self._solver.add(self._possible, *self._equal(state, self._after))
        if not self._begun:
            for earlier in self._states:
                self._solver.add_any([x != y for x, y in zip(earlier, state, strict=True)])
        self._states.append(state)
        self._ask()

    def _ask(self) -> None:
        """Name what the step from the last state does."""
        q, state = self._question, self._states[-1]
        inputs = [x for x in self._step.variables if x not in set(q.variables)]
        names = dict(zip(q.variables, state, strict=True))
        names |= dict(zip(inputs, self._fresh(inputs, str(len(self._states) - 1)), strict=True))
        self._wrong, self._possible, *rest = self._step.at(names)
        self._after, always = rest[: len(q.after)], rest[len(q.after) :]
        self._solver.add(*always)

    def _fresh(self, variables: Sequence[Literal], mark: str) -> list[Formula]:
        return [self._formulas.fresh(x, mark) for x in variables]

    @staticmethod
    def _equal(left: Sequence[Formula], right: Sequence[Formula]) -> list[Formula]:
        return [x == y for x, y in zip(left, right, strict=True)]
