"""Induction with lemmas: those that are kept by every step together, and what they show.

A property rarely follows from itself: the step before its violation starts in a state that no run reaches.
Lemmas, invariants that a person has named, say what such states are. Which of them are true in the initial
states, and kept by each action as long as all of them hold, is asked of a SAT solver, one action and one
lemma at a time; a lemma that is not kept is left out, and the others are asked again without it. What is
left is an invariant. The property is shown if nothing wrong happens in its states, or in a step from them.

Flanagan and Leino: Houdini, an annotation assistant for ESC/Java, FME 2001, find a largest such set so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

from slotproof.checker.symbolic.asking import Asked, Questions, Reply, can_be, is_trivial, questions
from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Choice, Conjunction, Literal, Variable
from slotproof.checker.symbolic.containers import Container, containers
from slotproof.checker.symbolic.paths import Stop
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.relation import Move, Relation
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.solving import Budget, Formulas

FEW = 1000
"""Conflicts that a question may cost before it is looked at what happens on the way. One that costs more is
hard for whoever checks the certificate, whose solver may be slower."""

SOME = 10_000
"""Conflicts that it may cost to show a fact on the way: a second or two."""

PATIENCE = 8
"""How many facts about one lemma may turn out hard, before containers are followed."""

MANY = 200_000
"""Conflicts that a fact may cost where containers are followed: up to half a minute, for few of them."""


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
        if self._errs:
            return None
        facts: dict[int, list[Literal]] = {}
        for move in moves_of(self._made):
            step = self._step(move)
            about = f"{', '.join(question.properties)} in {move.action.name}"
            reply = step.ask(about, [question.wrong], self.kept)
            if reply.possible:
                return None
            facts[move.number] = step.facts(reply.used)
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
                (name,),
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


class Step:
    """The questions about one action, under conditions on the state before it, and what is found on the way.

    A question that is hard for the step as a whole is easy for each piece of it. A *fact* is that a lemma
    holds at a stop on the way (``execution.Result``), wherever that is passed; each is shown with those
    before it, and one that is not shown is not used. ``before`` are the questions about the same action under
    some of the conditions, whose facts are facts here.
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
        self._conditions = conditions
        self._make = partial(questions, formulas, budget, conditions)
        self._solver: Questions | None = None
        self._shown_by: dict[Literal, tuple[Literal, ...]] = {} if before is None else dict(before._shown_by)
        self._needed: set[Literal] = set() if before is None else set(before._needed)
        self._tried: dict[Literal, int] = {}
        self._followed: bool = before is not None and before._followed

    def possible(self, about: str, wanted: Sequence[Literal], lemmas: Sequence[str]) -> bool:
        """Whether this can happen, all of it; ``lemmas`` are looked at on the way if that is hard to say."""
        reply = self.ask(about, wanted, lemmas)
        self._needed.update(reply.used)
        return bool(reply.possible)

    def ask(
        self,
        about: str,
        wanted: Sequence[Literal],
        lemmas: Sequence[str],
        given: Sequence[Literal] = (),
        conflicts: int | None = None,
    ) -> Reply:
        """The same where further terms are true; the facts that the reply uses are not kept in mind.

        With ``conflicts`` the question may cost other than ``FEW`` before it is called hard.
        """
        term = self._made.booleans.all(wanted)
        reply = self.quickly(about, wanted, given, FEW if conflicts is None else conflicts)
        if reply.possible is not None:
            return reply
        for name in lemmas:
            if not self._go_along(name, given):
                self._follow(given)
                self._go_along(name, given, outside=True)
        reply = self._reply(term, given, None)
        # A solver that has shown a fact knows it from then on, and does not say that it has used it.
        return reply if reply.possible else replace(reply, used=tuple({*reply.used, *self._shown_by}))

    def quickly(
        self, about: str, wanted: Sequence[Literal], given: Sequence[Literal], conflicts: int
    ) -> Reply:
        """The same by the question alone, while so many conflicts last."""
        if is_trivial([*self._conditions, *wanted]):
            return Reply(False)
        if is_trivial([*given, *wanted]):
            return Reply(False, tuple(x for x in given if x ^ 1 in wanted))
        self._asked(about)
        return self._reply(self._made.booleans.all(wanted), given, conflicts)

    def rests_on(self, used: Iterable[Literal]) -> set[Literal]:
        """These terms, and what those of them that are facts have been shown with."""
        wanted = set(used)
        for fact in reversed(self._shown_by):
            if fact in wanted:
                wanted.update(self._shown_by[fact])
        return wanted

    def facts(self, more: Iterable[Literal] = ()) -> list[Literal]:
        """The facts that have been used, each after those that show it; and those that these further ones
        rest on."""
        wanted = self.rests_on([*self._needed, *more])
        return [fact for fact in self._shown_by if fact in wanted]

    def _go_along(self, name: str, given: Sequence[Literal], *, outside: bool = False) -> bool:
        """Show what a lemma says at each stop, or at those outside of loops; whether that is not too hard."""
        made, hard = self._made, 0
        for stop in self._move.result.stops:
            if hard == PATIENCE:
                return False
            if not (outside and stop.loops):
                self._asked(f"{name} on the way through {self._move.action.name}")
                holds = made.holds_in(name, made.stored_of(stop.cells))
                hard += self._try(stop, holds, given, MANY if outside else SOME) is None
        return True

    def _try(self, stop: Stop, holds: Literal, given: Sequence[Literal], conflicts: int) -> bool | None:
        """Whether a term is always true at a stop; ``None`` if that is too hard to say."""
        b, error = self._made.booleans, self._move.result.error
        fact = b.any([*(x ^ 1 for x in stop.path), error, holds])
        if fact == TRUE or fact in self._shown_by:
            return True
        if self._tried.get(fact, 0) >= conflicts:
            return False
        reply = self._reply(fact ^ 1, given, conflicts)
        self._tried[fact] = conflicts if reply.possible is None else MANY
        if reply.possible is False:
            self._shown_by[fact] = reply.used
        return None if reply.possible is None else not reply.possible

    def _follow(self, given: Sequence[Literal]) -> None:
        """Show where the elements of queues come from, from one stop outside of loops to the next.

        Looked at are queues and what has no element in common with one of them before the step. What may have
        become more since the last stop has elements of other ones; those that had none in common still have
        none; and a queue holds each element once.
        """
        if self._followed:
            return
        self._followed = True
        made, b = self._made, self._made.booleans
        pairs = self._kept_apart(given)
        among = list(dict.fromkeys(x for pair in pairs for x in pair))
        before = {x: x.holds(made, made.before) for x in among}
        for stop in self._move.result.stops:
            cells = made.stored_of(stop.cells)
            now = {x: before[x] if stop.loops else x.holds(made, cells) for x in among}
            for one in among:
                if now[one] == before[one]:
                    continue
                self._asked(f"what is in {one.name} on the way through {self._move.action.name}")
                others = [x for x in among if x.type == one.type and x != one]
                for sources in ([], others, *([x] for x in others)):
                    came = [
                        b.any([x ^ 1, before[one][n], *(before[other][n] for other in sources)])
                        for n, x in enumerate(now[one])
                    ]
                    shown = self._try_each(stop, came, given)
                    if shown == (not sources) and len(sources) != 1:
                        break  # it is no more than it was, or is not known to come from these
                for pair in pairs:
                    if one in pair:
                        both = zip(now[pair[0]], now[pair[1]], strict=True)
                        self._try_each(stop, [b.conj(x, y) ^ 1 for x, y in both], given)
                self._try(stop, one.each_once(made, cells), given, MANY)
            before = now

    def _kept_apart(self, given: Sequence[Literal]) -> list[tuple[Container, Container]]:
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
            if shared != FALSE and self._reply(shared, given, FEW).possible is False:
                found.append((one, other))
        return found

    def _try_each(self, stop: Stop, terms: Sequence[Literal], given: Sequence[Literal]) -> bool:
        """Whether all of these are true at a stop, tried together and then one by one."""
        shown = self._try(stop, self._made.booleans.all(terms), given, FEW)
        if shown is None:
            each = [self._try(stop, x, given, MANY) for x in terms]
            shown = all(each)
        return shown

    def _reply(self, wanted: Literal, given: Sequence[Literal], conflicts: int | None) -> Reply:
        if self._solver is None:
            self._solver = self._make()
        return self._solver.ask(wanted, [*given, *self._shown_by], conflicts)


def moves_of(made: Relation) -> list[Move]:
    """The actions that can happen at all, small ones first."""

    def size(move: Move) -> int:
        b, cells = made.booleans, zip(made.state, move.result.after, strict=True)
        return len(b.reachable([x for cell, value in cells for x in cell.terms(b, value)]))

    able = (m for m in made.moves if (m.result.enabled, m.result.error) != (FALSE, FALSE))
    return sorted(able, key=size)


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


def smtlib(booleans: Booleans, conjuncts: Sequence[Literal], defined: int = 0) -> str:
    """The conjunction of terms in SMT-LIB, over the names of their variables; shared parts have names.

    With ``defined`` it is over the names that a certificate gives to the first so many nodes at step 0.
    """
    places = [p for p in booleans.reachable(conjuncts)[1:] if p >= defined]
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
        depth[place] = 1 + max(depth.get(x >> 1, 0) for x in parts)
        text = f"(t{place} ({operator} {' '.join(_named(booleans, x, defined) for x in parts)}))"
        levels.setdefault(depth[place], []).append(text)
    lines = [f"(let ({' '.join(levels[level])})" for level in sorted(levels)]
    whole = f"(and true {' '.join(_named(booleans, x, defined) for x in conjuncts)}){')' * len(lines)}"
    return "\n".join([*lines, whole])


def _named(booleans: Booleans, literal: Literal, defined: int) -> str:
    if literal in (TRUE, FALSE):
        return "true" if literal == TRUE else "false"
    node = booleans.node(literal)
    name = f"|{node.name}|" if isinstance(node, Variable) else f"t{literal >> 1}"
    if literal >> 1 < defined:
        name = f"|{node.name}@0|" if isinstance(node, Variable) else f"{name}@0"
    return f"(not {name})" if literal & 1 else name
