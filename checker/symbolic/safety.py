"""A question about all runs, as a system of Boolean variables: what induction and PDR work on.

The variables stand for a stored state, the inputs for a step from it. Everything that must not happen,
model errors included, is one term over both: ``wrong``. Nothing here rests on a state having a
successor: a state without any is asked like every other, and where no run begins there is no proof.

Terms mean what they say on states whose variables stand for values (``valid``): of each number's
variables exactly one is true. Initial states are such states, and steps lead to such states; a
certificate shows that instead of taking it as known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotproof.checker.symbolic.booleans import Literal, Variable
from slotproof.checker.symbolic.relation import Relation, relation
from slotproof.model.language.program import Program


@dataclass(frozen=True, slots=True)
class Start:
    """The initial states: ``values`` of the variables where ``possible``; ``error`` is a model error."""

    values: tuple[Literal, ...]
    possible: Literal
    error: Literal


@dataclass(frozen=True, slots=True)
class Safety:
    """Whether ``properties`` hold in all runs.

    ``after`` is what each of the ``variables`` is after a step, where the step is ``possible``: neither
    an error nor a crash. ``wrong`` is a state or step that one of the properties forbids.
    """

    relation: Relation
    properties: tuple[str, ...]
    variables: tuple[Literal, ...]
    inputs: tuple[Literal, ...]
    valid: Literal
    start: Start
    possible: Literal
    after: tuple[Literal, ...]
    wrong: Literal


def safety(program: Program, choices: Sequence[int], properties: Sequence[str]) -> Safety:
    """The question whether these properties hold; ``KeyError`` for one that the program does not have."""
    return of_relation(relation(program, choices), properties)


def of_relation(made: Relation, properties: Sequence[str]) -> Safety:
    """The same question of a relation that is there already: its terms are shared."""
    b = made.booleans
    kept = [(c, v) for c, v, s in zip(made.state, made.after, made.stored, strict=True) if s and c.variables]
    begun = [v for c, v, s in zip(made.state, made.init_state, made.stored, strict=True) if s and c.variables]
    variables = tuple(x for c, _ in kept for x in c.variables)
    after = tuple(t for c, v in kept for t in c.terms(b, v))
    first = tuple(t for (c, _), v in zip(kept, begun, strict=True) for t in c.terms(b, v))
    taken, started = made.valid(made.moves), made.valid(made.initial_moves)
    clean = b.conj(taken, made.enabled, made.error ^ 1)
    bads = [bad for name in properties for bad in made.bads(name, before=True)]
    states = [
        x for bad in bads if bad.over == "state" for x in (b.conj(bad.literal, bad.error ^ 1), bad.error)
    ]
    steps = [x for bad in bads if bad.over == "step" for x in (b.conj(bad.literal, bad.error ^ 1), bad.error)]
    wrong = b.any([*states, b.conj(taken, made.error), b.conj(clean, b.any(steps))])
    possible = b.conj(clean, made.crash ^ 1)
    terms = (*after, possible, wrong, *first, made.init_enabled, made.init_error, started)
    known = set(variables)
    inputs = tuple(
        2 * p for p in b.reachable(terms) if isinstance(b.node(2 * p), Variable) and 2 * p not in known
    )
    return Safety(
        made,
        tuple(properties),
        variables,
        inputs,
        made.state_valid([c for c, _ in kept]),
        Start(
            first,
            b.conj(started, made.init_enabled, made.init_error ^ 1, made.init_crash ^ 1),
            b.conj(started, made.init_error),
        ),
        possible,
        after,
        wrong,
    )
