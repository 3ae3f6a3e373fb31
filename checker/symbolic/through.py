"""Questions about one action, and what is found to be true on the way through it.

A question that is hard for a step as a whole is easy for each piece of it. What a lemma says is shown from
one stop to the next (``paths.Stop``): outside of loops first, and within a loop where that is hard. Where it
still is, the elements of queues are followed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

from slotproof.checker.symbolic.asking import Asked, Questions, Reply, is_trivial, questions
from slotproof.checker.symbolic.booleans import FALSE, TRUE, Literal
from slotproof.checker.symbolic.containers import Container, containers
from slotproof.checker.symbolic.paths import Stop
from slotproof.checker.symbolic.relation import Move, Relation
from slotproof.checker.symbolic.solving import Budget, Formulas
from slotproof.model.language.sequences import counts_kept

FEW = 1000
"""Conflicts that a question may cost before it is looked at what happens on the way. One that costs more is
hard for whoever checks the certificate, whose solver may be slower."""

SOME = 10_000
"""Conflicts that it may cost to show a fact on the way: a second or two."""

MANY = 100_000
"""Conflicts that a fact may cost outside of loops, when queues have been followed: some ten seconds."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """That something holds where a path passes, if nothing fails; ``term`` says all of it."""

    term: Literal
    holds: Literal
    path: frozenset[Literal]


class Step:
    """The questions about one action, under conditions on the state before it, and what is found on the way.

    A *fact* is that a lemma holds at a stop on the way (``execution.Result``), wherever that is passed; each
    is shown with those before it, and one that is not shown is not used. ``before`` are the questions about
    the same action under some of the conditions, whose facts are facts here.
    """

    def __init__(
        self,
        made: Relation,
        move: Move,
        conditions: Sequence[Literal],
        formulas: Formulas,
        budget: Budget,
        asked: Asked,
        before: Step | None,
    ) -> None:
        self._made, self._move, self._asked = made, move, asked
        self._conditions = frozenset(conditions)
        self._make = partial(questions, formulas, budget, conditions)
        # The way is asked of a solver of its own: one that knows the whole action is slow at its first piece.
        self._of_the_whole: Questions | None = None
        self._of_the_way: Questions | None = None
        self._walked: set[str] = set()
        self._alike: list[Step] = []
        self._tried_of: dict[int, int] = {}  # how many facts of each of these
        self._false: set[Literal] = set()
        self._hard: dict[Literal, int] = {}  # after so many conflicts
        self._costly_at: set[tuple[int, str]] = set()  # at which places what was not easy
        self._hard_at: set[tuple[int, str]] = set()  # and what was hard before it was looked inside
        self._followed = 0  # how many stops
        self._last_followed: Stop | None = None
        self._facts: list[_Fact] = []
        self._known = 0  # how many of them the solver of the way knows
        self._paths: dict[Literal, list[frozenset[Literal]]] = {}  # on which it is known to be true
        self._excluded: bool = before is not None and before._excluded  # whether something is, by facts
        if before is not None:
            for fact in before._facts:
                self._add(fact)

    @property
    def shown(self) -> list[Literal]:
        """The facts, each after those that show it."""
        return [fact.term for fact in self._facts]

    def possible(self, about: str, wanted: Sequence[Literal], lemmas: Sequence[str]) -> bool:
        """Whether this can happen, all of it; ``lemmas`` are looked at on the way if that is hard to say."""
        reply = self.quickly(about, wanted, (), FEW)
        if reply.possible is None:
            reply = self.patiently(about, wanted, lemmas)
        return bool(reply.possible)

    def quickly(
        self, about: str, wanted: Sequence[Literal], given: Sequence[Literal], conflicts: int
    ) -> Reply:
        """The same by the question alone, where further terms are true, while so many conflicts last."""
        if is_trivial([*self._conditions, *wanted]):
            return Reply(False)
        if is_trivial([*given, *wanted]):
            return Reply(False, tuple(x for x in given if x ^ 1 in wanted))
        self._asked(about)
        if self._of_the_whole is None:
            self._of_the_whole = self._make()
        return self._of_the_whole.ask(self._made.booleans.all(wanted), given, conflicts)

    def patiently(
        self,
        about: str,
        wanted: Sequence[Literal],
        lemmas: Sequence[str],
        conflicts: int | None = None,
        alike: Sequence[Step] = (),
    ) -> Reply:
        """The same after the action has been gone through, once for each of these lemmas.

        With ``conflicts`` the reply may be unknown, when it has cost so many then. What was found of actions
        that end ``alike`` is tried first where they do.
        """
        names = [name for name in lemmas if name not in self._walked]
        self._walked.update(names)
        if names:
            own = set(map(id, self._move.result.stops))
            self._alike = [x for x in alike if any(id(stop) in own for stop in x._move.result.stops)]
            for other in self._alike:
                self._costly_at |= other._costly_at
                self._hard_at |= other._hard_at
            self._walk(names, self._move.result.stops, 0)
        self._asked(about)
        term = self._made.booleans.all(wanted)
        reply = self._ask(term, conflicts)
        if reply.possible is False:
            self._excluded = True
        return reply

    def facts(self) -> list[Literal]:
        """The facts that have been shown, each after those that show it, if anything was excluded by them.

        A solver that has shown a fact knows it from then on, and does not say that it has used it.
        """
        return self.shown if self._excluded else []

    def _add(self, fact: _Fact) -> None:
        self._facts.append(fact)
        self._paths.setdefault(fact.holds, []).append(fact.path)

    def _try_what_was_found(self, other: Step) -> None:
        """Try facts about the same stops, and do not try again what was none."""
        known, first = set(self.shown), self._tried_of.get(id(other), 0)
        self._tried_of[id(other)] = len(other._facts)
        for fact in other._facts[first:]:
            if fact.term not in known and self._ask(fact.term ^ 1, SOME).possible is False:
                self._add(fact)
        self._hard |= dict.fromkeys(other._false, MANY) | other._hard

    def _walk(self, names: Sequence[str], stops: Sequence[Stop], loops: int) -> None:
        """Show what lemmas say at each stop within so many loops, and within more where that is hard.

        Before a filter has come to its end they mean nothing of what it filters.
        """
        inside: list[Stop] = []
        for stop in stops:
            if stop.filtering:
                continue
            if stop.loops > loops:
                inside.append(stop)
                continue
            for other in [x for x in self._alike if any(stop is y for y in x._move.result.stops)]:
                self._alike.remove(other)
                self._try_what_was_found(other)
            # A round of a loop is worth more: within it there are many stops.
            hard = self._hard_to_say(names, stop, SOME if loops or not inside else FEW, bool(inside))
            if hard and inside:
                self._walk(hard, inside, loops + 1)
                hard = self._hard_to_say(hard, stop, SOME)
            if not loops and not self._walked.isdisjoint(hard):
                self.follow(stop)
                self._hard_to_say(hard, stop, MANY)
            inside = []

    def _hard_to_say(
        self, names: Sequence[str], stop: Stop, conflicts: int, inside: bool = False
    ) -> list[str]:
        """What of these, and of what is hoped for there, is too hard to say; what is easy is shown first.

        One round of a loop is like another: what was hard after one is not asked about at first after the
        next, if there are stops ``inside``, and what was not easy is not taken for easy.
        """
        made, move = self._made, self._move
        hoped = dict(made.on_the_way(stop))
        hard = [*hoped, *(name for name in names if name not in hoped)]
        for limit in (FEW, conflicts):
            for name in list(hard):
                here = stop.place, name
                if (inside and here in self._hard_at) or (limit < conflicts and here in self._costly_at):
                    continue
                holds = hoped[name] if name in hoped else made.holds_at(name, move, stop)
                if self._says(name, stop, holds, min(limit, SOME) if name in hoped else limit) is not None:
                    hard.remove(name)
                else:
                    self._costly_at.add(here)
        if inside:
            self._hard_at.update((stop.place, name) for name in hard)
        return hard

    def _says(self, name: str, stop: Stop, holds: Literal, conflicts: int) -> bool | None:
        self._asked(f"{name} on the way through {self._move.action.name}")
        return self._try(stop, holds, conflicts)

    def _try(self, stop: Stop, holds: Literal, conflicts: int) -> bool | None:
        """Whether a term is always true at a stop; ``None`` if that is too hard to say."""
        if holds in self._conditions:
            return True
        b, error = self._made.booleans, self._move.result.error
        fact = b.any([*(x ^ 1 for x in stop.path), error, holds])
        path = frozenset(stop.path)
        if fact == TRUE or any(x <= path for x in self._paths.get(holds, ())):
            return True
        if fact in self._false:
            return False
        if self._hard.get(fact, -1) >= conflicts:
            return None
        reply = self._ask(fact ^ 1, conflicts)
        if reply.possible is None:
            self._hard[fact] = conflicts
        elif reply.possible:
            self._false.add(fact)
        else:
            self._add(_Fact(fact, holds, path))
        return None if reply.possible is None else not reply.possible

    def follow(self, until: Stop) -> None:
        """Show up to a stop where the elements of queues come from.

        Looked at are queues and what has no element in common with one of them before the step. What may have
        become more since the last stop has elements of other ones; those that had none in common still have
        none; and a queue holds each element once.
        """
        stops: list[Stop] = []
        for stop in self._move.result.stops[self._followed :]:
            stops.append(stop)
            if stop is until:
                break
        pairs, last_followed = self._kept_apart, self._last_followed
        self._followed, self._last_followed = self._followed + len(stops), until
        among = list(dict.fromkeys(x for pair in pairs for x in pair))

        def show(last: Stop | None, stop: Stop, conflicts: int) -> bool:
            if conflicts == SOME and not stop.loops:
                conflicts = MANY
            easy = [self._came(one, among, last, stop, conflicts) for one in among]
            easy += [self._still_apart(pair, last, stop, conflicts) for pair in pairs]
            return all(easy)

        _from_stop_to_stop(stops, show, 0, last_followed)

    def _came(
        self,
        one: Container,
        among: Sequence[Container],
        last: Stop | None,
        stop: Stop,
        conflicts: int,
    ) -> bool:
        """Show of which containers the elements of one have come since the last stop, and that none is there
        twice; ``False`` if something is too hard to say."""
        b = self._made.booleans
        now, before = self._held_by(one, stop), self._held_by(one, last)
        if now == before:
            return True
        self._asked(f"what is in {one.name} on the way through {self._move.action.name}")
        others = [x for x in among if x.type == one.type and x != one]
        easy = True
        for sources in ([], others, *([x] for x in others)):
            there = [before, *(self._held_by(x, last) for x in sources)]
            came = [b.any([x ^ 1, *(held[n] for held in there)]) for n, x in enumerate(now)]
            shown = self._try_each(stop, came, conflicts)
            easy = easy and shown is not None
            if bool(shown) == (not sources) and len(sources) != 1:
                break  # it is no more than it was, or is not known to come from these
        if one.capacity:
            easy = self._each_once(one, stop, conflicts) and easy
        return easy

    def _each_once(self, one: Container, stop: Stop, conflicts: int) -> bool:
        """Show that nothing is twice in a queue; of one that is filtered, that what is kept is there once,
        and which sets of the action have nothing of it."""
        made, cells = self._made, self._made.stored_of(stop.cells)
        kept = [
            value
            for name, value in stop.locals.items()
            if counts_kept(name) and not isinstance(value, tuple)  # that would be a user's set
        ]
        # A loop that filters goes over the places; what comes after it leaves nothing to look at.
        last = list(made.values.number(stop.rounds[-1])) if kept and stop.rounds else []
        once = [one.each_once(made, cells), *(one.kept_once(made, cells, kept[-1], n) for n in last)]
        if kept:
            once.append(one.kept_once(made, cells, kept[-1], one.capacity))
        easy = [self._try(stop, term, conflicts) is not None for term in reversed(once)]
        for value in stop.locals.values() if kept else ():
            if isinstance(value, tuple) and len(value) == one.type.size:
                self._try(stop, one.has_none_of(made, cells, value, kept[-1] if last else None), FEW)
        return all(easy)

    def _still_apart(
        self,
        pair: tuple[Container, Container],
        last: Stop | None,
        stop: Stop,
        conflicts: int,
    ) -> bool:
        """Show that two containers have no element in common; ``False`` if that is too hard to say."""
        now = [self._held_by(x, stop) for x in pair]
        if now == [self._held_by(x, last) for x in pair]:
            return True
        both = map(self._made.booleans.conj, *now)
        return self._try_each(stop, [x ^ 1 for x in both], conflicts) is not None

    def _held_by(self, container: Container, stop: Stop | None) -> list[Literal]:
        """What a container holds at a stop, or before the step."""
        cells = self._made.before if stop is None else self._made.stored_of(stop.cells)
        return container.holds(self._made, cells)

    @cached_property
    def _kept_apart(self) -> list[tuple[Container, Container]]:
        """Queues, each with what has no element in common with it before the step, which changes one."""
        made, b = self._made, self._made.booleans
        after = made.stored_of(self._move.result.after)
        found: list[tuple[Container, Container]] = []
        for one, other in combinations(containers(made), 2):
            if one.type != other.type or not (one.capacity or other.capacity):
                continue
            held = [x.holds(made, made.before) for x in (one, other)]
            if held == [x.holds(made, after) for x in (one, other)]:
                continue
            shared = b.any(map(b.conj, *held))
            if shared != FALSE and self._ask(shared, FEW).possible is False:
                found.append((one, other))
        return found

    def _try_each(self, stop: Stop, terms: Sequence[Literal], conflicts: int) -> bool | None:
        """Whether all of these are true at a stop, tried together and then one by one; see ``_try``."""
        shown = self._try(stop, self._made.booleans.all(terms), FEW)
        if shown is None and conflicts > FEW:
            for term in terms:
                shown = self._try(stop, term, conflicts)
                if not shown:
                    break
        return shown

    def _ask(self, wanted: Literal, conflicts: int | None) -> Reply:
        if self._of_the_way is None:
            self._of_the_way = self._make()
        for fact in self._facts[self._known :]:
            self._of_the_way.know(fact.term)
        self._known = len(self._facts)
        return self._of_the_way.ask(wanted, (), conflicts)


def _from_stop_to_stop(
    stops: Sequence[Stop],
    show: Callable[[Stop | None, Stop, int], bool],
    loops: int,
    last: Stop | None,
) -> None:
    """Show something at each stop within so many loops, and at those within more where that is hard.

    ``show`` gets the stop before, ``last`` at first, and how many conflicts it may cost; it says whether
    that was enough.
    """
    inside: list[Stop] = []
    for stop in stops:
        if stop.loops > loops:
            inside.append(stop)
            continue
        if not show(last, stop, FEW if inside else SOME) and inside:
            _from_stop_to_stop(inside, show, loops + 1, last)
            show(last, stop, SOME)
        last, inside = stop, []
