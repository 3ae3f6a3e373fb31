"""Verdicts at any depth: a property is proven, stage by stage, or a shortest violation is looked for.

    verdict, proof = prove(program, choices, "active-fit", "pdr", lemmas=["running-is-resident"])

A lemma is a property like any other. It is proven by itself first, and taken for granted from there on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal as Word

from slotproof.checker.symbolic.asking import Asked
from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.engine import Progress, Report, check_bounded
from slotproof.checker.symbolic.induction import find_depth
from slotproof.checker.symbolic.needed import show as needed_lemmas
from slotproof.checker.symbolic.pdr import find_invariant
from slotproof.checker.symbolic.proof import Invariant, NotConverged, Proof, Stage
from slotproof.checker.symbolic.relation import Relation, relation
from slotproof.checker.symbolic.safety import Safety, of_relation
from slotproof.checker.symbolic.solving import Budget, Stopped, satisfiable, until_interrupted
from slotproof.checker.symbolic.strengthening import Lemmas, strengthen
from slotproof.checker.verdict import Coverage, Holds, Limits, Unknown, Verdict
from slotproof.model.language.ir import Property
from slotproof.model.language.program import Program

Method = Word["induction", "pdr"]
METHODS: tuple[Method, ...] = ("induction", "pdr")

SHALLOW = 3
"""How deep induction goes where the method is left open, before PDR takes over."""

DEEPEST = 10**6
"""A violation is known to exist when its trace is looked for: no limit but the user's."""


@dataclass(frozen=True, slots=True)
class Helped:
    """A system with lemmas among its properties; those of them that are kept together help with proofs.

    The ``costly`` ones of them are asked about only where the others do not show a property.
    """

    program: Program
    choices: Sequence[int]
    lemmas: Sequence[str]
    costly: Collection[str] = ()


def check_unbounded(
    program: Program,
    choices: Sequence[int] = (),
    properties: Sequence[str] = (),
    method: Method = "pdr",
    *,
    helped: Helped | None = None,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> dict[str, Verdict]:
    """A verdict on each property, one after the other; seconds of ``limits`` are for all of them.

    Proofs are looked for in ``helped``, the same system with lemmas; traces are of ``program``.
    """
    limits = limits or Limits()
    budget = Budget(limits.seconds, limits.memory)
    verdicts: dict[str, Verdict] = {}
    with until_interrupted(budget):
        search = _Search(program, choices, limits, budget, helped=helped)
        for number, name in enumerate(properties):
            if progress:
                progress(Progress(0, len(properties) - number, budget.seconds))
            verdicts[name], _ = search.prove(name, method, ())
    return verdicts


def prove(
    program: Program,
    choices: Sequence[int],
    property: str,
    method: Method | None = None,
    *,
    lemmas: Sequence[str] = (),
    helpers: Sequence[str] = (),
    costly: Collection[str] = (),
    limits: Limits | None = None,
    asked: Asked | None = None,
) -> tuple[Verdict, Proof]:
    """The verdict on a property, with the proof if it holds: its lemmas' stages, and its own.

    Without a method each of them is tried by induction to a small depth, then by PDR. ``helpers`` are lemmas
    over states that are tried first, all together (``strengthening.py``): those of them that are not kept
    do no harm. The ``costly`` ones are left out at first. Where they show the property the proof is one
    invariant, else the other methods may use them.
    ``asked`` is told of each question about them.

    ``Violated`` comes with a shortest trace, which bounded search finds; ``Unknown`` says how deep the
    search was, or which lemma it failed at. Raises ``ModelError`` if a run leaves the model, ``KeyError``
    for a property that the program does not have.
    """
    limits = limits or Limits()
    budget = Budget(limits.seconds, limits.memory)
    helped = Helped(program, choices, helpers, costly) if helpers else None
    with until_interrupted(budget):
        return _Search(program, choices, limits, budget, helped=helped, asked=asked).prove(
            property, method, lemmas
        )


class _Search:
    """Proves one property after the other: relation and lemmas are made once."""

    def __init__(
        self,
        program: Program,
        choices: Sequence[int],
        limits: Limits,
        budget: Budget,
        *,
        helped: Helped | None = None,
        asked: Asked | None = None,
    ) -> None:
        self._program, self._choices = program, choices
        self._limits, self._budget, self._asked = limits, budget, asked
        self._helped = helped or Helped(program, choices, ())
        self._everyday: Lemmas | None = None
        self._every: Lemmas | None = None
        self._found: Lemmas | None = None

    def prove(self, property: str, method: Method | None, lemmas: Sequence[str]) -> tuple[Verdict, Proof]:
        """The verdict and the proof."""
        try:
            return self._prove(property, method, lemmas)
        except Stopped as stopped:  # before there was a question to ask
            return self._unknown(property, self._not_converged(str(stopped), method, 0), 0), ()

    @cached_property
    def _made(self) -> Relation:
        return relation(self._helped.program, self._helped.choices, look=self._budget.check)

    def _prove(self, property: str, method: Method | None, lemmas: Sequence[str]) -> tuple[Verdict, Proof]:
        question = of_relation(self._made, [property])
        try:
            if not _begins(question, self._budget):
                return self._unknown(property, "vacuous: there is no initial state", 0, complete=True), ()
            shown = self._by_helpers(question)
        except (Stopped, NotConverged) as stopped:
            reason = f"{stopped}; its lemmas have not been shown, nothing is known of it"
            if not self._helped.lemmas:
                reason = self._not_converged(str(stopped), method, 0)
            return self._unknown(property, reason, 0), ()
        if shown is not None:
            return Holds(property, _covered(self._program, shown.depth, self._budget)), (shown,)
        return self._by_method(property, method, lemmas)

    def _by_helpers(self, question: Safety) -> Invariant | None:
        """The proof that lemmas make together, with the property if it is one of states itself."""
        if not self._helped.lemmas:
            return None
        own = [p.name for p in self._properties(question) if p.over == "state"]
        in_order = sorted(self._helped.lemmas, key=lambda name: name in self._helped.costly)
        names = dict.fromkeys([*in_order, *own])
        needed = needed_lemmas(question, list(names), self._budget, self._asked)
        if needed is not None:
            return needed
        for found in self._kept_lemmas(question):
            self._found = found
            shown = found.show(question)
            if shown is None and own:
                shown = strengthen(question, found.kept, self._budget, self._asked, found).invariant
            if shown is not None:
                return shown
        return None

    def _kept_lemmas(self, question: Safety) -> Iterator[Lemmas]:
        """Those lemmas that are kept: first without the costly ones, then with them."""
        if self._everyday is None:
            names = [name for name in self._helped.lemmas if name not in self._helped.costly]
            self._everyday = Lemmas(question, names, self._budget, self._asked)
        yield self._everyday
        if set(self._helped.lemmas) & set(self._helped.costly):
            if self._every is None:
                every, granted = self._helped.lemmas, self._everyday
                self._every = Lemmas(question, every, self._budget, self._asked, granted)
            yield self._every

    def _properties(self, question: Safety) -> list[Property]:
        return [p for p in self._helped.program.properties if p.name in question.properties]

    def _by_method(
        self, property: str, method: Method | None, lemmas: Sequence[str]
    ) -> tuple[Verdict, Proof]:
        known: list[Literal] = []
        proof: list[Stage] = []
        if self._found is not None and self._found.kept:
            # A stage by itself, if no step from their states meets a model error.
            together = of_relation(self._made, self._found.kept)
            stage = self._found.show(together)
            if stage is not None:
                proof.append(stage)
                known.append(together.wrong ^ 1)
        for name in (*lemmas, property):
            question = of_relation(self._made, [name])
            of = "" if name == property else f"lemma {name}: "
            try:
                found = _stage(method, question, self._budget, known, self._limits)
            except NotConverged as stopped:
                reason = of + self._not_converged(str(stopped), method, stopped.depth)
                return self._unknown(property, reason, stopped.depth), tuple(proof)
            if found is None:
                return self._violated(name, property), ()
            proof.append(found)
            known.append(question.wrong ^ 1)
        depth = max(s.depth for s in proof)
        return Holds(property, _covered(self._program, depth, self._budget)), tuple(proof)

    @staticmethod
    def _not_converged(reason: str, method: Method | None, depth: int) -> str:
        return f"{reason}; {method or 'pdr'} did not converge, nothing wrong to depth {depth}"

    def _unknown(self, property: str, reason: str, depth: int, *, complete: bool = False) -> Unknown:
        covered = _covered(self._program, depth, self._budget, None if complete else reason)
        return Unknown(property, reason, covered)

    def _violated(self, name: str, property: str) -> Verdict:
        """A shortest trace of what is known to be violated; of a lemma only that it is false."""
        limits, choices = self._limits, self._choices
        left = None if limits.seconds is None else max(limits.seconds - self._budget.seconds, 0.0)
        limits = replace(limits, seconds=left, depth=limits.depth or DEEPEST)
        found = check_bounded(self._program, choices, [name], limits=limits)[name]
        if name == property:
            return found
        return Unknown(property, f"lemma {name} does not hold; check it by itself", found.coverage)


def _stage(
    method: Method | None, question: Safety, budget: Budget, known: Sequence[Literal], limits: Limits
) -> Stage | None:
    if method == "induction":
        return find_depth(question, budget, known, limits.depth)
    if method is None:
        with suppress(NotConverged):
            return find_depth(question, budget, known, SHALLOW)
    return find_invariant(question, budget, known)


def _begins(question: Safety, budget: Budget) -> bool:
    """Whether there is an initial state, or an error on the way to one."""
    start = question.start
    try:
        return satisfiable(question.relation.booleans, [start.possible, start.error], budget)
    except Stopped as stopped:
        raise NotConverged(str(stopped), 0) from None


def _covered(program: Program, depth: int, budget: Budget, stopped: str | None = None) -> Coverage:
    """All states at once, none of them counted."""
    return Coverage(
        states=0,
        transitions=0,
        depth=depth,
        seconds=budget.seconds,
        complete=stopped is None,
        stopped=stopped,
        fired={},
        premises=(False,) * len(program.premises),
        witnesses={},
    )
