"""Verdicts at any depth: a property is proven, stage by stage, or a shortest violation is looked for.

    verdict, proof = prove(program, choices, "active-fit", "pdr", lemmas=["running-is-resident"])

A lemma is a property like any other. It is proven by itself first, and taken for granted from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal as Word

from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.engine import Progress, Report, check_bounded
from slotproof.checker.symbolic.induction import find_depth
from slotproof.checker.symbolic.pdr import find_invariant
from slotproof.checker.symbolic.proof import NotConverged, Proof, Stage
from slotproof.checker.symbolic.relation import relation
from slotproof.checker.symbolic.safety import Safety, of_relation
from slotproof.checker.symbolic.solving import Budget, Formulas, Solver, Stopped, until_interrupted
from slotproof.checker.symbolic.strengthening import Asked, strengthen
from slotproof.checker.verdict import Coverage, Holds, Limits, Unknown, Verdict
from slotproof.model.language.program import Program

Method = Word["induction", "pdr"]
METHODS: tuple[Method, ...] = ("induction", "pdr")

SHALLOW = 3
"""How deep induction goes where the method is left open, before PDR takes over."""

DEEPEST = 10**6
"""A violation is known to exist when its trace is looked for: no limit but the user's."""


def check_unbounded(
    program: Program,
    choices: Sequence[int] = (),
    properties: Sequence[str] = (),
    method: Method = "pdr",
    *,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> dict[str, Verdict]:
    """A verdict on each property, one after the other; seconds of ``limits`` are for all of them."""
    limits = limits or Limits()
    budget = Budget(limits.seconds, limits.memory)
    verdicts: dict[str, Verdict] = {}
    with until_interrupted(budget):
        for number, name in enumerate(properties):
            if progress:
                progress(Progress(0, len(properties) - number, budget.seconds))
            verdicts[name], _ = _prove(program, choices, name, method, (), limits, budget)
    return verdicts


def prove(
    program: Program,
    choices: Sequence[int],
    property: str,
    method: Method | None = None,
    *,
    lemmas: Sequence[str] = (),
    helpers: Sequence[str] = (),
    limits: Limits | None = None,
    asked: Asked | None = None,
) -> tuple[Verdict, Proof]:
    """The verdict on a property, with the proof if it holds: its lemmas' stages, and its own.

    Without a method each of them is tried by induction to a small depth, then by PDR. ``helpers`` are lemmas
    over states that are tried first, all together (``strengthening.py``): those of them that are not kept
    do no harm. Where they show the property the proof is one invariant. ``asked`` is told of each question
    about them.

    ``Violated`` comes with a shortest trace, which bounded search finds; ``Unknown`` says how deep the
    search was, or which lemma it failed at. Raises ``ModelError`` if a run leaves the model, ``KeyError``
    for a property that the program does not have.
    """
    limits = limits or Limits()
    budget = Budget(limits.seconds, limits.memory)
    with until_interrupted(budget):
        if helpers and method != "pdr":
            verdict, proof = _by_helpers(program, choices, property, helpers, budget, asked)
            if verdict is not None:
                return verdict, proof
        return _prove(program, choices, property, method, lemmas, limits, budget)


def _by_helpers(
    program: Program,
    choices: Sequence[int],
    property: str,
    helpers: Sequence[str],
    budget: Budget,
    asked: Asked | None,
) -> tuple[Verdict | None, Proof]:
    """The proof that lemmas make together; no verdict where they do not show the property."""
    question = of_relation(relation(program, choices), [property])
    try:
        if not _begins(question, budget):
            return None, ()
        found = strengthen(question, helpers, budget, asked)
    except (Stopped, NotConverged) as stopped:
        reason = f"{stopped}; its lemmas have not been shown, nothing is known of it"
        return Unknown(property, reason, _covered(program, 0, budget, reason)), ()
    if found.invariant is None:
        return None, ()
    return Holds(property, _covered(program, found.invariant.depth, budget)), (found.invariant,)


def _prove(
    program: Program,
    choices: Sequence[int],
    property: str,
    method: Method | None,
    lemmas: Sequence[str],
    limits: Limits,
    budget: Budget,
) -> tuple[Verdict, Proof]:
    made = relation(program, choices)
    known: list[Literal] = []
    proof: list[Stage] = []
    for name in (*lemmas, property):
        question = of_relation(made, [name])
        of = "" if name == property else f"lemma {name}: "
        try:
            if not proof and not _begins(question, budget):
                return Unknown(
                    property, "vacuous: there is no initial state", _covered(program, 0, budget)
                ), ()
            stage = _stage(method, question, budget, known, limits)
        except NotConverged as stopped:
            reason = (
                f"{of}{stopped}; {method or 'pdr'} did not converge, nothing wrong to depth {stopped.depth}"
            )
            return Unknown(property, reason, _covered(program, stopped.depth, budget, reason)), tuple(proof)
        if stage is None:
            return _violated(program, choices, name, property, limits, budget), ()
        proof.append(stage)
        known.append(question.wrong ^ 1)
    depth = max(s.depth for s in proof)
    return Holds(property, _covered(program, depth, budget)), tuple(proof)


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
    formulas = Formulas(question.relation.booleans)
    solver = Solver(formulas, budget)
    solver.add_any(formulas.of([question.start.possible, question.start.error]))
    try:
        return solver.check() == "sat"
    except Stopped as stopped:
        raise NotConverged(str(stopped), 0) from None


def _violated(
    program: Program, choices: Sequence[int], name: str, property: str, limits: Limits, budget: Budget
) -> Verdict:
    """A shortest trace of what is known to be violated; of a lemma only that it is false."""
    left = None if limits.seconds is None else max(limits.seconds - budget.seconds, 0.0)
    found = check_bounded(
        program, choices, [name], limits=replace(limits, seconds=left, depth=limits.depth or DEEPEST)
    )[name]
    if name == property:
        return found
    return Unknown(property, f"lemma {name} does not hold; check it by itself", found.coverage)


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
