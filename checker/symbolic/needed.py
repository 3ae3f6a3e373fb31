"""The lemmas that a property needs, found from what goes wrong without them.

No lemma is taken at first. Where something wrong is possible in a step, the state before it is an example;
a lemma that is false there is needed, and whether it is kept is asked in the same way. So lemmas that have
nothing to do with a property are never asked about. An example in which all lemmas are true ends it: of the
property, nothing is shown; a lemma is not kept, and it is begun again without it. Where it is hard to say
whether a lemma is kept, it is looked at on the way (``strengthening.Step``). If the question itself is hard,
nothing is shown here: it may be easier with all lemmas, of which ``strengthening.py`` asks.

The strategy is that of relevance by counterexamples (Bradley and Manna: Property-directed incremental
invariant generation, FAC 2008), over lemmas that a person has written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from slotproof.checker.symbolic.asking import Asked, can_be
from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.relation import Move
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.symbolic.strengthening import Step, before_step, ends_well, moves_of, of_lemmas

CONFLICTS = 100_000
"""Conflicts that a question may cost before it is called hard: some seconds, up to half a minute."""


def show(
    question: Safety, lemmas: Sequence[str], budget: Budget, asked: Asked | None = None
) -> Invariant | None:
    """The invariant of the lemmas that a question needs; ``None`` if they do not show it, or not easily.

    Of several that would help the first is taken. Raises ``Stopped`` when the budget ends it, ``KeyError``
    for a property that the program does not have.
    """
    search = _Search(question, lemmas, budget, asked or (lambda _: None))
    return search.invariant()


@dataclass(slots=True)
class _Shown:
    """What has been shown, and the terms that each answer rests on: of the question by the number of an
    action, of a lemma by its name as well."""

    taken: list[str] = field(default_factory=list)
    wrong: dict[int, tuple[Literal, ...]] = field(default_factory=dict)
    kept: dict[tuple[str, int], tuple[Literal, ...]] = field(default_factory=dict)


class _Hard(Exception):
    """A question has not been answered within its conflicts."""


class _NotKept(Exception):
    """A lemma is not kept, whatever other lemmas are true."""


class _Search:
    def __init__(self, question: Safety, lemmas: Sequence[str], budget: Budget, asked: Asked) -> None:
        self._question, self._asked, self._budget = question, asked, budget
        made = self._made = question.relation
        self._formulas = Formulas(made.booleans)
        self._can_be = partial(can_be, self._formulas, budget, asked)
        self._true = {name: made.holds_in(name, made.before) for name in lemmas}
        self._moves = moves_of(made)
        self._lost: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self._shown = _Shown()
        self._steps = {m.number: self._step(m) for m in self._moves}

    def _step(self, move: Move) -> Step:
        here = before_step(self._question, move)
        return Step(self._made, move, here, self._formulas, self._budget, self._asked, None)

    def invariant(self) -> Invariant | None:
        """What ``show`` says."""
        if self._can_be("an initial action fails", [self._question.start.error]):
            return None
        while True:
            try:
                return self._made_of_needed() if self._all_shown() else None
            except _Hard:
                return None
            except _NotKept as found:
                self._lost.add(str(found))
                self._begin()

    def _all_shown(self) -> bool:
        """Whether nothing goes wrong, and all lemmas that have been taken for that are kept."""
        shown, of = self._shown, ", ".join(self._question.properties)
        for move in self._moves:
            used = self._excluded(move, f"{of} in {move.action.name}", [self._question.wrong])
            if used is None:
                return False
            shown.wrong[move.number] = used
        for name in shown.taken:  # it grows
            for move in self._moves:
                used = self._excluded(
                    move, f"{name} after {move.action.name}", self._breaks(name, move), name
                )
                if used is None:
                    raise _NotKept(name)
                shown.kept[name, move.number] = used
        return True

    def _breaks(self, name: str, move: Move) -> list[Literal]:
        after = self._made.holds_in(name, self._made.stored_of(move.result.after))
        return [*ends_well(self._made, move), after ^ 1]

    def _excluded(
        self, move: Move, about: str, wanted: Sequence[Literal], lemma: str | None = None
    ) -> tuple[Literal, ...] | None:
        """What excludes this, after as many lemmas have been taken as it needs; ``None`` if nothing does."""
        while True:
            given = [self._true[name] for name in self._shown.taken]
            step = self._steps[move.number]
            if lemma is None:
                reply = step.quickly(about, wanted, given, CONFLICTS)
            else:
                reply = step.ask(about, wanted, (lemma,), given, CONFLICTS)
            if reply.possible is None:
                raise _Hard(about)
            if not reply.possible:
                return reply.used
            helping = self._false_in(reply.true)
            if helping is None:
                return None
            self._shown.taken.append(helping)

    def _false_in(self, true: frozenset[Literal]) -> str | None:
        """The first lemma that is false in an example, and true at the start."""
        open_ = {n: x for n, x in self._true.items() if n not in self._shown.taken and n not in self._lost}
        values = self._made.booleans.value(list(open_.values()), set(true))
        started = self._made.stored_of(self._made.init_state)
        for name, holds in zip(open_, values, strict=True):
            if holds:
                continue
            false = self._made.holds_in(name, started) ^ 1
            if not self._can_be(f"{name} at the start", [self._question.start.possible, false]):
                return name
            self._lost.add(name)
        return None

    def _made_of_needed(self) -> Invariant:
        """The invariant of those that the answers rest on; a lemma may have been taken and not be used."""
        shown = self._shown
        used: dict[int, set[Literal]] = {m.number: set(shown.wrong[m.number]) for m in self._moves}
        needed: set[str] = set()
        todo = self._named(used)
        while todo:
            needed |= todo
            for name in todo:
                for move in self._moves:
                    used[move.number].update(shown.kept[name, move.number])
            todo = self._named(used) - needed
        lemmas = {name: x for name, x in self._true.items() if name in needed}
        facts = {n: self._steps[n].facts(terms) for n, terms in used.items()}
        return of_lemmas(self._made, self._question.properties, lemmas, facts)

    def _named(self, used: Mapping[int, set[Literal]]) -> set[str]:
        terms = {x for number, found in used.items() for x in self._steps[number].rests_on(found)}
        return {name for name in self._shown.taken if self._true[name] in terms}
