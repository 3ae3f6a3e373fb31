"""The memory that generated code and the search loop share: one array of 64-bit numbers.

Fixed words come first, then the release's choices, then what the search finds out: premises met,
steps of each action, first violations, witnesses. Every worker of a search has a context of its own;
their findings are merged by taking the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotproof.model.language.ir import Action, Property
from slotproof.model.language.program import Program

CURRENT = 0  # the state that is expanded or checked: its number in the store
DEPTH = 1  # the depth of the state that is checked
SITE = 2  # of a model error, from 1; OVERFLOW for a number that leaves every range
WHERE = 3  # label of the step that ends in the error, or one of the following
TABLE = 4  # address of the store's table, for prefetching
SHIFT = 5  # a state's bucket in the table is its hash shifted right by this
FIXED = 6

IN_GUARD = -1  # WHERE: no step yet
IN_STATE = -2  # WHERE: an invariant, a witness or the final condition

LABEL_BITS = 40  # a label is an action's number above this many bits, a number of its arguments below
STRIDE_EXTRA = 2  # a successor is its words, its outputs, its hash and its label

Context = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """A slot that keeps the first violation of a conjunct of a property."""

    property: int
    conjunct: int


@dataclass(frozen=True, slots=True)
class Slots:
    """Where a program's own words stand in a context.

    A violation slot has two words: the number of the state (from 1; 0 for none) and, for a step, its
    label. Slots: every conjunct of every property, every crash cause, then the deadlock. A witness
    has two words: its depth (from 1; 0 for never met) and the number of the state.
    """

    parts: tuple[Part, ...]
    choices: int
    premises: int
    fired: int
    violations: int
    witnesses: int
    size: int

    def part(self, property_: int, conjunct: int) -> int:
        """The word of a conjunct's slot."""
        return self.violations + 2 * self.parts.index(Part(property_, conjunct))

    def crash(self, cause: int) -> int:
        """The word of a crash cause's slot."""
        return self.violations + 2 * (len(self.parts) + cause)

    @property
    def deadlock(self) -> int:
        """The word of the deadlock's slot."""
        return self.witnesses - 2

    def witness(self, number: int) -> int:
        """The word of a witness."""
        return self.witnesses + 2 * number

    def fresh(self, choices: tuple[int, ...]) -> Context:
        """A context at the start of a search."""
        context = np.zeros(self.size, np.int64)
        context[self.choices : self.choices + len(choices)] = choices
        return context


def slots_of(program: Program) -> Slots:
    """The words that a program needs."""
    parts = tuple(Part(i, j) for i, p in enumerate(program.properties) for j in range(len(p.conjuncts)))
    premises = FIXED + len(program.decisions)
    fired = premises + len(program.premises)
    violations = fired + len(program.actions)
    witnesses = violations + 2 * (len(parts) + len(program.crashes) + 1)
    size = witnesses + 2 * len(program.witnesses)
    return Slots(parts, FIXED, premises, fired, violations, witnesses, size)


def combinations(action: Action) -> int:
    """How many combinations of arguments an action has."""
    count = 1
    for p in action.parameters:
        count *= p.type.size
    return count


def arguments_of(action: Action, number: int) -> tuple[int, ...]:
    """The arguments (as the IR represents them) of the combination of that number, in order."""
    values = []
    for p in reversed(action.parameters):
        number, code = divmod(number, p.type.size)
        values.append(code + p.type.low)
    return tuple(reversed(values))


def applies(property_: Property, action: int) -> bool:
    """Whether a property is about the steps of an action."""
    return property_.over == "step" and (property_.actions is None or action in property_.actions)
