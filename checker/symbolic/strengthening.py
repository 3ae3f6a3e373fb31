"""Induction with lemmas: those that are kept by every step together, and what they show.

A property rarely follows from itself: the step before its violation starts in a state that no run reaches.
Lemmas, invariants that a person has named, say what such states are. Which of them are true in the initial
states, and kept by each action as long as all of them hold, is asked of a SAT solver, one action and one
lemma at a time; a lemma that is not kept is left out, and the others are asked again without it. What is
left is an invariant. The property is shown if nothing wrong happens in its states, or in a step from them.

Flanagan and Leino: Houdini, an annotation assistant for ESC/Java, FME 2001, find a largest such set so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from slotproof.checker.symbolic.asking import Asked, can_be
from slotproof.checker.symbolic.booleans import FALSE, Literal
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.relation import Move, Relation
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.smtlib import smtlib
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.symbolic.through import Step


@dataclass(slots=True)
class Strengthening:
    """The lemmas that are kept together, and those that are not with the action that breaks them first
    (``""``: they are false at the start). ``invariant`` is there if they show the property."""

    kept: tuple[str, ...]
    lost: dict[str, str] = field(default_factory=dict)
    invariant: Invariant | None = None


def strengthen(
    question: Safety,
    lemmas: Sequence[str],
    budget: Budget,
    asked: Asked | None = None,
    granted: Lemmas | None = None,
) -> Strengthening:
    """Look for an invariant of these lemmas, properties of states all of them, that answers a question.

    A property of states that is asked about is tried as one of them. Raises ``Stopped`` when the budget ends
    it, ``KeyError`` for a property that the program does not have.
    """
    made = question.relation
    own = [p for p in question.properties if p not in lemmas and is_of_states(made, p)]
    found = Lemmas(question, (*lemmas, *own), budget, asked, granted)
    return Strengthening(found.kept, found.lost, found.show(question))


class Lemmas:
    """Those of some lemmas that are true at the start and kept by every step together; see ``Strengthening``.

    Any question about the relation of the system will do. None is kept if an initial action meets an error.
    ``granted`` are lemmas of the same relation that are known to be kept together, and so beside any others.
    """

    def __init__(
        self,
        question: Safety,
        names: Sequence[str],
        budget: Budget,
        asked: Asked | None = None,
        granted: Lemmas | None = None,
    ) -> None:
        self._question = question
        self._budget = budget
        self._asked = asked or (lambda _: None)
        self._granted = granted
        made = self._made = question.relation
        self._formulas = Formulas(made.booleans)
        self._can_be = partial(can_be, self._formulas, budget, self._asked)
        self._true = {name: made.holds_in(name, made.before) for name in names}
        self._after: dict[tuple[str, int], Literal] = {}
        self._errs = self._can_be("an initial action fails", [question.start.error])
        self.kept: tuple[str, ...] = () if self._errs else tuple(names)
        self.lost: dict[str, str] = {}
        self._steps: dict[int, Step] = {}
        self._keep()

    def known(self) -> list[Literal]:
        """What is true wherever a run can come, as terms over the variables of the state before a step."""
        return [self._true[name] for name in self.kept]

    def show(self, question: Safety) -> Invariant | None:
        """The invariant of the kept lemmas if nothing wrong happens in its states, or in a step from them."""
        if self._errs or is_wrong_without_actions(question, self.known(), self._can_be):
            return None
        facts: dict[int, list[Literal]] = {}
        for move in moves_of(self._made):
            step = self._step(move)
            about = f"{', '.join(question.properties)} in {move.action.name}"
            if step.possible(about, [question.wrong], (*question.properties, *self.kept)):
                return None
            facts[move.number] = step.facts()
        kept = {name: self._true[name] for name in self.kept}
        return of_lemmas(self._made, question.properties, kept, facts)

    def _keep(self) -> None:
        """Leave lemmas out until the others are kept."""
        start, started = self._question.start, self._made.stored_of(self._made.init_state)
        self._leave_out(
            name
            for name in self._open()
            if self._can_be(f"{name} at the start", [start.possible, self._made.holds_in(name, started) ^ 1])
        )
        # What small actions break is left out before the large ones are asked about.
        moves = moves_of(self._made)
        while any(self._breaks(move) for move in moves):
            pass

    def _open(self) -> Iterator[str]:
        granted = () if self._granted is None else self._granted.kept
        return (name for name in self.kept if name not in granted)

    def _step(self, move: Move) -> Step:
        """The questions about an action from a state in which the lemmas hold that are kept now."""
        step = self._steps.get(move.number)
        if step is None:
            here = [*before_step(self._question, move), *self.known()]
            before = None if self._granted is None else self._granted._step(move)
            step = Step(self._made, move, here, self._formulas, self._budget, self._asked, before)
            self._steps[move.number] = step
        return step

    def _breaks(self, move: Move) -> bool:
        """Whether the action breaks a lemma; those that it breaks are left out then."""
        step = self._step(move)
        lost = [
            name
            for name in self._open()
            if step.possible(
                f"{name} after {move.action.name}",
                [*ends_well(self._made, move), self._holds_after(name, move) ^ 1],
                self.kept,
            )
        ]
        self._leave_out(lost, move.action.name)
        return bool(lost)

    def _holds_after(self, name: str, move: Move) -> Literal:
        key = (name, move.number)
        if key not in self._after:
            after = self._made.stored_of(move.result.after)
            self._after[key] = self._made.holds_in(name, after)
        return self._after[key]

    def _leave_out(self, names: Iterator[str] | Sequence[str], action: str = "") -> None:
        for name in list(names):
            self.lost[name] = action
            self._steps.clear()  # it may have been used
        self.kept = tuple(n for n in self.kept if n not in self.lost)


def moves_of(made: Relation) -> list[Move]:
    """The actions that can happen at all, small ones first; all if none can: of each it is asked whether
    something is wrong before it, too."""

    def size(move: Move) -> int:
        b, cells = made.booleans, zip(made.state, move.result.after, strict=True)
        return len(b.reachable([x for cell, value in cells for x in cell.terms(b, value)]))

    able = [m for m in made.moves if (m.result.enabled, m.result.error) != (FALSE, FALSE)]
    return sorted(able or made.moves, key=size)


def is_wrong_without_actions(
    question: Safety, known: Sequence[Literal], can_be: Callable[[str, Sequence[Literal]], bool]
) -> bool:
    """Whether something can be wrong in a system that has no action, about which it could be asked."""
    about = f"{', '.join(question.properties)} where nothing happens"
    return not question.relation.moves and can_be(about, [question.valid, *known, question.wrong])


def before_step(question: Safety, move: Move) -> list[Literal]:
    """That the variables stand for a state and a step of this action."""
    made = question.relation
    return [question.valid, made.valid(made.moves), move.chosen]


def ends_well(made: Relation, move: Move) -> list[Literal]:
    """That an action happens and leads to a state."""
    result = move.result
    return [result.enabled, result.error ^ 1, made.booleans.any(result.crashes.values()) ^ 1]


def of_lemmas(
    made: Relation,
    properties: tuple[str, ...],
    lemmas: Mapping[str, Literal],
    facts: Mapping[int, Sequence[Literal]],
) -> Invariant:
    """The invariant that all of these lemmas are true, with the facts that have shown it, by action."""
    b = made.booleans
    formulas = [smtlib(b, [x]) for x in lemmas.values()]
    formula = "\n".join(["(and", *formulas, ")"]) if formulas else "true"
    hints = {
        place: tuple(smtlib(b, [x], made.size) for x in found) for place, found in facts.items() if found
    }
    return Invariant(properties, formula, 1, tuple(lemmas), hints)


def is_of_states(made: Relation, name: str) -> bool:
    return any(p.name == name and p.over == "state" for p in made.program.properties)
