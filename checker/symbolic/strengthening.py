"""Induction with lemmas: those that are kept by every step together, and what they show.

A property rarely follows from itself: the step before its violation starts in a state that no run reaches.
Lemmas, invariants that a person has named, say what such states are. Which of them are true in the initial
states, and kept by each action as long as all of them hold, is asked of a SAT solver, one action and one
lemma at a time; a lemma that is not kept is left out, and the others are asked again without it. What is
left is an invariant. The property is shown if nothing wrong happens in its states, or in a step from them.

Flanagan and Leino: Houdini, an annotation assistant for ESC/Java, FME 2001, find a largest such set so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
    question: Safety,
    lemmas: Sequence[str],
    budget: Budget,
    asked: Asked | None = None,
    granted: Collection[str] = (),
) -> Strengthening:
    """Look for an invariant of these lemmas, properties of states all of them, that answers a question.

    A property of states that is asked about is tried as one of them. Raises ``Stopped`` when the budget ends
    it, ``KeyError`` for a property that the program does not have.
    """
    made = question.relation
    own = [p for p in question.properties if p not in lemmas and _is_of_states(made, p)]
    found = Lemmas(question, (*lemmas, *own), budget, asked, granted)
    return Strengthening(found.kept, found.lost, found.show(question))


class Lemmas:
    """Those of some lemmas that are true at the start and kept by every step together; see ``Strengthening``.

    Any question about the relation of the system will do. None is kept if an initial action meets an error.
    ``granted`` are those of them that are known to be kept together, and so beside any others.
    """

    def __init__(
        self,
        question: Safety,
        names: Sequence[str],
        budget: Budget,
        asked: Asked | None = None,
        granted: Collection[str] = (),
    ) -> None:
        self._question = question
        self._budget = budget
        self._asked = asked or (lambda _: None)
        self._granted = granted
        made = self._made = question.relation
        self._formulas = Formulas(made.booleans)
        self._true = {name: made.holds_in(name, made.before) for name in names}
        self._after: dict[tuple[str, int], Literal] = {}
        self._errs = self._possible("an initial action fails", [question.start.error])
        self.kept: tuple[str, ...] = () if self._errs else tuple(names)
        self.lost: dict[str, str] = {}
        self._keep()

    def known(self) -> list[Literal]:
        """What is true wherever a run can come, as terms over the variables of the state before a step."""
        return [self._true[name] for name in self.kept]

    def show(self, question: Safety) -> Invariant | None:
        """The invariant of the kept lemmas if nothing wrong happens in its states, or in a step from them."""
        if self._errs or any(self._goes_wrong(question, move) for move in self._moves()):
            return None
        formulas = [smtlib(self._made.booleans, [x]) for x in self.known()]
        formula = "\n".join(["(and", *formulas, ")"]) if formulas else "true"
        return Invariant(question.properties, formula, 1, self.kept)

    def _keep(self) -> None:
        """Leave lemmas out until the others are kept."""
        start, started = self._question.start, self._made.stored_of(self._made.init_state)
        self._leave_out(
            name
            for name in self._open()
            if self._possible(
                f"{name} at the start", [start.possible, self._made.holds_in(name, started) ^ 1]
            )
        )
        # What small actions break is left out before the large ones are asked about.
        moves = sorted(self._moves(), key=self._size)
        while any(self._breaks(move) for move in moves):
            pass

    def _open(self) -> Iterator[str]:
        return (name for name in self.kept if name not in self._granted)

    def _moves(self) -> Iterator[Move]:
        return (m for m in self._made.moves if (m.result.enabled, m.result.error) != (FALSE, FALSE))

    def _size(self, move: Move) -> int:
        b, cells = self._made.booleans, zip(self._made.state, move.result.after, strict=True)
        return len(b.reachable([x for cell, value in cells for x in cell.terms(b, value)]))

    def _here(self, move: Move) -> list[Literal]:
        kept = [self._true[name] for name in self.kept]
        return [self._question.valid, *kept, self._made.valid(self._made.moves), move.chosen]

    def _breaks(self, move: Move) -> bool:
        """Whether the action breaks a lemma; those that it breaks are left out then."""
        result, b = move.result, self._made.booleans
        steps = [result.enabled, result.error ^ 1, b.any(result.crashes.values()) ^ 1]
        lost = [
            name
            for name in self._open()
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

    def _goes_wrong(self, question: Safety, move: Move) -> bool:
        return self._possible(
            f"{', '.join(question.properties)} in {move.action.name}",
            [*self._here(move), question.wrong],
        )

    def _leave_out(self, names: Iterator[str] | Sequence[str], action: str = "") -> None:
        for name in list(names):
            self.lost[name] = action
        self.kept = tuple(n for n in self.kept if n not in self.lost)

    def _possible(self, about: str, conditions: Sequence[Literal]) -> bool:
        stated = set(conditions)
        if FALSE in stated or any(x ^ 1 in stated for x in conditions):
            return False  # such as a lemma about what the action does not touch
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
