"""The lemmas that a property needs, found from what goes wrong without them.

No lemma is taken at first. Where something wrong is possible in a step, the state before it is an example;
a lemma that is false there is needed, and whether it is kept is asked in the same way. So lemmas that have
nothing to do with a property are never asked about. An example in which all lemmas are true ends it: of the
property, nothing is shown; a lemma is not kept, and it is begun again without it. What is hard to say is put
off until all others have been answered. Then the lemmas that have been taken are stated, which lets a solver
do more with them, and the action is gone through with what is hard of it (``through.Step``). If the
question itself is hard then, nothing is shown here: it may be easier with all lemmas, of which
``strengthening.py`` asks.

The strategy is that of relevance by counterexamples (Bradley and Manna: Property-directed incremental
invariant generation, FAC 2008), over lemmas that a person has written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from slotproof.checker.symbolic.asking import Asked, Reply, can_be
from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.checker.symbolic.strengthening import (
    before_step,
    ends_well,
    is_wrong_without_actions,
    moves_of,
    of_lemmas,
)
from slotproof.checker.symbolic.through import Step

CONFLICTS = 100_000
"""Conflicts that the question itself may cost when an action has been gone through, before it is called hard:
some seconds, up to half a minute."""

DIRECTLY = 5000
"""Conflicts that any may cost before it is put off: a second or two."""


def show(
    question: Safety, lemmas: Sequence[str], budget: Budget, asked: Asked | None = None
) -> Invariant | None:
    """The invariant of the lemmas that a question needs; ``None`` if they do not show it, or not easily.

    Of several that would help the first is taken. Raises ``Stopped`` when the budget ends it, ``KeyError``
    for a property that the program does not have.
    """
    search = _Search(question, lemmas, budget, asked or (lambda _: None))
    return search.invariant()


@dataclass(frozen=True, slots=True)
class _Asked:
    """Whether an action, by its number, breaks a lemma; or whether something wrong happens in it."""

    action: int
    lemma: str | None


class _Hard(Exception):
    """A question has not been answered within its conflicts."""


class _NotShown(Exception):
    """Something wrong is possible, whatever lemmas are true."""


class _NotKept(Exception):
    """A lemma is not kept, whatever other lemmas are true."""


class _Search:
    def __init__(self, question: Safety, lemmas: Sequence[str], budget: Budget, asked: Asked) -> None:
        self._question, self._asked, self._budget = question, asked, budget
        made = self._made = question.relation
        self._formulas = Formulas(made.booleans)
        self._can_be = partial(can_be, self._formulas, budget, asked)
        self._true = {name: made.holds_in(name, made.before) for name in lemmas}
        self._moves = {m.number: m for m in moves_of(made)}
        self._lost: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self._taken: list[str] = []
        self._used: dict[_Asked, tuple[Literal, ...]] = {}  # what the answers rest on
        self._facts: dict[_Asked, list[Literal]] = {}  # and what was found on the way to them
        self._put_off: list[_Asked] = []
        self._apart = {number: self._step(number, ()) for number in self._moves}
        self._together: dict[int, Step] = {}
        self._with_fewer: dict[int, Step] = {}  # when fewer lemmas had been taken

    def _step(self, number: int, known: Sequence[Literal], before: Step | None = None) -> Step:
        move = self._moves[number]
        here = [*before_step(self._question, move), *known]
        return Step(self._made, move, here, self._formulas, self._budget, self._asked, before)

    def invariant(self) -> Invariant | None:
        """What ``show`` says."""
        if self._can_be("an initial action fails", [self._question.start.error]):
            return None
        if is_wrong_without_actions(self._question, (), self._can_be):
            return None
        while True:
            try:
                self._show_all()
                return self._made_of_needed()
            except (_Hard, _NotShown):
                return None
            except _NotKept as found:
                self._lost.add(str(found))
                self._begin()

    def _show_all(self) -> None:
        """Show that nothing goes wrong, and that all lemmas that have been taken for that are kept."""
        open_ = [_Asked(number, None) for number in self._moves]
        lemmas = 0  # that have been asked about
        while True:
            for one in open_:
                if not self._show(one, self._quickly):
                    self._put_off.append(one)
            if lemmas < len(self._taken):
                open_ = [_Asked(number, self._taken[lemmas]) for number in self._moves]
                lemmas += 1
            elif self._put_off:
                open_ = []
                if not self._show(self._put_off[-1], self._with_patience):
                    raise _Hard
                self._put_off.pop()
            else:
                return

    def _show(self, one: _Asked, ask: Callable[[_Asked, str, list[Literal]], Reply]) -> bool:
        """Exclude what is asked about, after as many lemmas have been taken as that needs; ``False`` if it is
        too hard to say."""
        about, wanted = self._worded(one)
        while True:
            reply = ask(one, about, wanted)
            if reply.possible is None:
                return False
            if not reply.possible:
                self._used[one] = reply.used
                return True
            helping = self._false_in(reply.true)
            if helping is None:
                raise _NotShown if one.lemma is None else _NotKept(one.lemma)
            self._taken.append(helping)
            self._with_fewer |= self._together
            self._together.clear()

    def _worded(self, one: _Asked) -> tuple[str, list[Literal]]:
        move = self._moves[one.action]
        if one.lemma is None:
            return f"{', '.join(self._question.properties)} in {move.action.name}", [self._question.wrong]
        after = self._made.holds_in(one.lemma, self._made.stored_of(move.result.after))
        return f"{one.lemma} after {move.action.name}", [*ends_well(self._made, move), after ^ 1]

    def _quickly(self, one: _Asked, about: str, wanted: list[Literal]) -> Reply:
        """With each lemma as something that may be used or not, so that it is seen which are."""
        given = [self._true[name] for name in self._taken]
        return self._apart[one.action].quickly(about, wanted, given, DIRECTLY)

    def _with_patience(self, one: _Asked, about: str, wanted: list[Literal]) -> Reply:
        """With all lemmas that have been taken, and with what they say on the way."""
        known = [self._true[name] for name in self._taken]
        step = self._together.get(one.action)
        if step is None:
            before = self._with_fewer.get(one.action)
            step = self._together[one.action] = self._step(one.action, known, before)
        hard = [x.lemma for x in self._put_off if x.action == one.action]
        lemmas = [name for name in self._taken if name in hard]
        if None in hard:
            lemmas += self._question.properties
        alike = [x for x in (self._with_fewer | self._together).values() if x is not step]
        reply = step.patiently(about, wanted, lemmas, CONFLICTS if one.lemma is None else None, alike)
        self._facts[one] = step.facts()
        return replace(reply, used=(*reply.used, *known))

    def _false_in(self, true: frozenset[Literal]) -> str | None:
        """The first lemma that is false in an example, and true at the start."""
        open_ = {n: x for n, x in self._true.items() if n not in self._taken and n not in self._lost}
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
        needed: dict[str | None, None] = {None: None}
        todo: list[str | None] = [None]
        for name in todo:  # it grows
            terms = {x for number in self._moves for x in self._used[_Asked(number, name)]}
            more = [n for n in self._taken if self._true[n] in terms and n not in needed]
            needed.update(dict.fromkeys(more))
            todo += more
        lemmas = {name: x for name, x in self._true.items() if name in needed}
        # A fact rests on all lemmas that were taken then: it is one here where an answer needs them too. Of
        # the same action those found later begin with those found earlier.
        facts: dict[int, list[Literal]] = {}
        for one, found in self._facts.items():
            if one.lemma in needed and len(found) > len(facts.get(one.action, ())):
                facts[one.action] = found
        return of_lemmas(self._made, self._question.properties, lemmas, facts)
