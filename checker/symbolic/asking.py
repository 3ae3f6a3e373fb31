"""Many questions about one step, under the same conditions, to whichever SAT solver there is.

Z3 always is. With the extra ``[prove]`` it is CaDiCaL: one solver that learns from question to question,
several times as fast.
Who has answered makes no difference to what is believed: a proof ends in a certificate, whose text is
read and asked afresh (``rechecking.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slotproof.checker.symbolic.booleans import TRUE, Booleans, Literal
from slotproof.checker.symbolic.cadical import Cadical, has_cadical
from slotproof.checker.symbolic.solving import Budget, Formulas, GaveUp, OneShot

TACTIC = "qffd"

Asked = Callable[[str], None]
"""Called before each question, with what it is about."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Whether something is possible, ``None`` if nobody knows. If it is not, ``used`` are those of the given
    terms that exclude it; if it is, ``true`` are the variables that are true in an example."""

    possible: bool | None
    used: tuple[Literal, ...] = ()
    true: frozenset[Literal] = frozenset()


class Questions(ABC):
    """Questions under some conditions, which are all terms of one ``Booleans``."""

    @abstractmethod
    def ask(self, wanted: Literal, given: Sequence[Literal], conflicts: int | None = None) -> Reply:
        """Whether a term can be true where those given are; with a limit only as long as so many conflicts
        last. ``Stopped`` when the budget ends it."""

    @abstractmethod
    def know(self, term: Literal) -> None:
        """A term is true from now on, in what is asked later: one more condition."""


class OfZ3(Questions):
    """Each question by itself, simplified anew."""

    def __init__(self, formulas: Formulas, budget: Budget, conditions: Sequence[Literal]) -> None:
        self._formulas, self._budget, self._conditions = formulas, budget, list(conditions)

    def know(self, term: Literal) -> None:
        """See ``Questions``."""
        self._conditions.append(term)

    def ask(self, wanted: Literal, given: Sequence[Literal], conflicts: int | None = None) -> Reply:
        """See ``Questions``; of those given it says that all are used."""
        solver = OneShot(self._formulas, self._budget, TACTIC, conflicts)
        solver.add(*self._formulas.of([*self._conditions, *given]))
        try:
            answer = solver.check(self._formulas.of([wanted]))
        except GaveUp:
            if conflicts is None:
                raise
            return Reply(None)
        if answer == "unsat":
            return Reply(False, tuple(given))
        of = self._formulas.of
        variables = self._formulas.variables([*self._conditions, *given, wanted])
        return Reply(True, (), frozenset(solver.true(dict(zip(variables, of(variables), strict=True)))))


class OfCadical(Questions):
    """One solver for all questions; each node is given to it once."""

    def __init__(self, booleans: Booleans, budget: Budget, conditions: Sequence[Literal]) -> None:
        self._booleans = booleans
        self._solver = Cadical(budget)
        self._numbers: dict[int, int] = {}
        for condition in conditions:
            self.know(condition)

    def know(self, term: Literal) -> None:
        """See ``Questions``."""
        self._solver.add(self._number(term))

    def ask(self, wanted: Literal, given: Sequence[Literal], conflicts: int | None = None) -> Reply:
        """See ``Questions``."""
        named = {self._number(x): x for x in given}
        possible = self._solver.possible([*named, self._number(wanted)], conflicts)
        if possible is None:
            return Reply(None)
        if possible:
            true = self._solver.true()
            return Reply(True, (), frozenset(2 * p for p, n in self._numbers.items() if n in true))
        return Reply(False, tuple(named[x] for x in self._solver.excluding() if x in named))

    def _number(self, literal: Literal) -> int:
        """What the solver calls a term."""
        if literal >> 1 not in self._numbers:
            for place in self._new(literal >> 1):
                self._define(place)
        number = self._numbers[literal >> 1]
        return -number if literal & 1 else number

    def _new(self, root: int) -> list[int]:
        """The nodes that a node rests on and that the solver does not know, operands first."""
        found: set[int] = set()
        stack = [root]
        while stack:
            place = stack.pop()
            if place not in found and place not in self._numbers:
                found.add(place)
                stack.extend(x >> 1 for x in self._booleans.operands(place))
        return sorted(found)

    def _define(self, place: int) -> None:
        made = self._numbers[place] = len(self._numbers) + 1
        names = [self._number(x) for x in self._booleans.operands(place)]
        self._solver.define(made, self._booleans.node(2 * place), names)


def questions(formulas: Formulas, budget: Budget, conditions: Sequence[Literal]) -> Questions:
    """Questions under these conditions, to the fastest solver there is."""
    if has_cadical():
        return OfCadical(formulas.booleans, budget, conditions)
    return OfZ3(formulas, budget, conditions)


def can_be(
    formulas: Formulas, budget: Budget, asked: Asked, about: str, conditions: Sequence[Literal]
) -> bool:
    """Whether terms can be true together, asked by itself. ``Stopped`` when the budget ends it."""
    if is_trivial(conditions):
        return False
    asked(about)
    return bool(questions(formulas, budget, conditions).ask(TRUE, ()).possible)


def is_trivial(conditions: Sequence[Literal]) -> bool:
    """Whether terms exclude each other at sight, such as a lemma about what an action does not touch."""
    stated = set(conditions)
    return TRUE ^ 1 in stated or any(x ^ 1 in stated for x in stated)
