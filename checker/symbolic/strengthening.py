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

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Choice, Conjunction, Literal, Variable
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.relation import Move, Relation
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.solving import Budget, Formulas, OneShot

TACTIC = "qffd"

Asked = Callable[[str], None]
"""Called before each question, with what it is about."""


@dataclass(slots=True)
class Strengthening:
    """The lemmas that are kept together, and those that are not with the action that breaks them first
    (``""``: they are false at the start). ``invariant`` is there if they show the property."""

    kept: tuple[str, ...]
    lost: dict[str, str] = field(default_factory=dict)
    invariant: Invariant | None = None


def strengthen(
    question: Safety, lemmas: Sequence[str], budget: Budget, asked: Asked | None = None
) -> Strengthening:
    """Look for an invariant of these lemmas, properties of states all of them, that answers a question.

    Raises ``Stopped`` when the budget ends it, ``KeyError`` for a property that the program does not have.
    """
    return _Search(question, lemmas, budget, asked).run()


class _Search:
    def __init__(self, question: Safety, lemmas: Sequence[str], budget: Budget, asked: Asked | None) -> None:
        self._question = question
        self._budget = budget
        self._asked = asked or (lambda _: None)
        made = self._made = question.relation
        self._formulas = Formulas(made.booleans)
        own = [p for p in question.properties if p not in lemmas and _is_of_states(made, p)]
        self._found = Strengthening((*lemmas, *own))
        self._true = {name: made.holds_in(name, made.before) for name in self._found.kept}
        self._after: dict[tuple[str, int], Literal] = {}

    def run(self) -> Strengthening:
        """Leave lemmas out until the others are kept, and ask what they show."""
        if self._possible("an initial action fails", [self._question.start.error]):
            return self._found
        started = self._made.stored_of(self._made.init_state)
        self._leave_out(
            name
            for name in self._found.kept
            if self._possible(
                f"{name} at the start",
                [self._question.start.possible, self._made.holds_in(name, started) ^ 1],
            )
        )
        while any(self._breaks(move) for move in self._moves()):
            pass
        if any(self._goes_wrong(move) for move in self._moves()):
            return self._found
        b = self._made.booleans
        formula = smtlib(b, [self._true[name] for name in self._found.kept])
        self._found.invariant = Invariant(self._question.properties, formula, 1, self._found.kept)
        return self._found

    def _moves(self) -> Iterator[Move]:
        return (m for m in self._made.moves if (m.result.enabled, m.result.error) != (FALSE, FALSE))

    def _here(self, move: Move) -> list[Literal]:
        kept = [self._true[name] for name in self._found.kept]
        return [self._question.valid, *kept, self._made.valid(self._made.moves), move.chosen]

    def _breaks(self, move: Move) -> bool:
        """Whether the action breaks a lemma; those that it breaks are left out then."""
        result, b = move.result, self._made.booleans
        steps = [result.enabled, result.error ^ 1, b.any(result.crashes.values()) ^ 1]
        lost = [
            name
            for name in self._found.kept
            if self._possible(
                f"{name} after {move.action.name}",
                [*self._here(move), *steps, self._holds_after(name, move) ^ 1],
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

    def _goes_wrong(self, move: Move) -> bool:
        return self._possible(
            f"{', '.join(self._question.properties)} in {move.action.name}",
            [*self._here(move), self._question.wrong],
        )

    def _leave_out(self, names: Iterator[str] | Sequence[str], action: str = "") -> None:
        for name in list(names):
            self._found.lost[name] = action
        self._found.kept = tuple(n for n in self._found.kept if n not in self._found.lost)

    def _possible(self, about: str, conditions: Sequence[Literal]) -> bool:
        if FALSE in conditions:
            return False
        self._asked(about)
        solver = OneShot(self._formulas, self._budget, TACTIC)
        solver.add(*self._formulas.of(conditions))
        return solver.check(self._formulas.of([TRUE])) == "sat"


def _is_of_states(made: Relation, name: str) -> bool:
    return any(p.name == name and p.over == "state" for p in made.program.properties)


def smtlib(booleans: Booleans, conjuncts: Sequence[Literal]) -> str:
    """The conjunction of terms in SMT-LIB, over the names of their variables; shared parts have names."""
    places = booleans.reachable(conjuncts)[1:]
    depth: dict[int, int] = {0: 0}
    levels: dict[int, list[str]] = {}
    for place in places:
        node = booleans.node(2 * place)
        match node:
            case Variable():
                depth[place] = 0
                continue
            case Conjunction(literals):
                parts: Sequence[Literal] = literals
                operator = "and"
            case Choice(condition, then, otherwise):
                parts = (condition, then, otherwise)
                operator = "ite"
        depth[place] = 1 + max(depth[x >> 1] for x in parts)
        text = f"(t{place} ({operator} {' '.join(_named(booleans, x) for x in parts)}))"
        levels.setdefault(depth[place], []).append(text)
    lines = [f"(let ({' '.join(levels[level])})" for level in sorted(levels)]
    whole = f"(and true {' '.join(_named(booleans, x) for x in conjuncts)}){')' * len(lines)}"
    return "\n".join([*lines, whole])


def _named(booleans: Booleans, literal: Literal) -> str:
    if literal in (TRUE, FALSE):
        return "true" if literal == TRUE else "false"
    node = booleans.node(literal)
    name = f"|{node.name}|" if isinstance(node, Variable) else f"t{literal >> 1}"
    return f"(not {name})" if literal & 1 else name


def told(lost: Mapping[str, str]) -> str:
    """Which lemmas are not kept, in words."""
    return ", ".join(
        f"{name} is not kept by {action}" if action else f"{name} is false at the start"
        for name, action in lost.items()
    )
