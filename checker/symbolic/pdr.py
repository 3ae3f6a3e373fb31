"""The engine ``pdr``: property-directed reachability, by Z3's Spacer.

Spacer looks for a set of states that contains the initial ones, is closed under steps and contains
nothing wrong. If it finds one the property holds at any depth, and the set is what a certificate holds.

Komuravelli, Gurfinkel and Chaki: SMT-based model checking for recursive programs, CAV 2014; the idea is
Bradley's: SAT-based model checking without unrolling, VMCAI 2011.
"""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.symbolic.booleans import Literal
from slotproof.checker.symbolic.proof import Invariant, NotConverged
from slotproof.checker.symbolic.safety import Safety
from slotproof.checker.symbolic.solving import Budget, Formulas, Horn, Stopped


def find_invariant(question: Safety, budget: Budget, known: Sequence[Literal] = ()) -> Invariant | None:
    """An invariant that shows the properties, ``None`` if one is violated.

    ``known`` are terms over the variables and inputs that are true wherever a run can come. Raises
    ``NotConverged`` when the budget ends the search.
    """
    start, given = question.start, [question.valid, *known]
    horn = Horn(Formulas(question.relation.booleans), budget, question.variables)
    horn.rules(
        question.inputs,
        (start.values, [start.possible]),
        (question.after, [*given, question.possible]),
        [*given, question.wrong],
    )
    try:
        if horn.check() == "sat":
            return None
    except Stopped as stopped:
        raise NotConverged(str(stopped), horn.level) from None
    return Invariant(question.properties, horn.invariant(), horn.level)
