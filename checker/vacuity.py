"""When "holds" says nothing: the one rule that all engines with full coverage use.

A property whose premise was never met, or that is about steps that never happen, holds for the wrong
reason. So does every property of a system that never reaches a state that its author named as a
witness: the scenario is then too small, or the model is broken.
"""

from __future__ import annotations

from slotproof.checker.verdict import Coverage, Holds, Unknown
from slotproof.model.language.program import Program


def judged(program: Program, property: str, coverage: Coverage) -> Holds | Unknown:
    """The verdict on a property without violation: ``holds`` if the search was complete and not vacuous."""
    if not coverage.complete:
        return Unknown(property, coverage.stopped or "not complete", coverage)
    reason = vacuous(program, property, coverage)
    return Holds(property, coverage) if reason is None else Unknown(property, f"vacuous: {reason}", coverage)


def vacuous(program: Program, property: str, coverage: Coverage) -> str | None:
    """Why a complete search without violation proves nothing about this property, if that is so."""
    if coverage.states == 0:
        return "there is no initial state"
    for premise, met in zip(program.premises, coverage.premises, strict=True):
        if premise.property == property and not met:
            return f"premise '{premise.site.text}' at {premise.site} was never met"
    for declared in program.properties:
        if declared.name == property and declared.actions is not None:
            names = [program.actions[a].name for a in declared.actions]
            if not any(coverage.fired[name] for name in names):
                return f"no step of {' or '.join(names) or 'its actions'} was ever taken"
    missing = [name for name, depth in coverage.witnesses.items() if depth is None]
    if missing:
        return f"witness '{missing[0]}' was never reached"
    return None
