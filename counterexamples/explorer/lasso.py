"""Why a progress property is false on a lasso: what waits, what never comes, and that the run is fair."""

from __future__ import annotations

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.lasso import standings, waiting
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program


def lasso_reasons(trace: Trace, program: Program, interpreter: Interpreter) -> tuple[list[str], list[str]]:
    """What waits in vain, and how the loop is fair; nothing for a loop that is about no progress property."""
    if trace.property not in [p.name for p in program.progress]:
        return [], []
    try:
        wait = waiting(trace, program, interpreter)
    except TraceError:  # a loop that does not wait is shown without reasons
        return [], []
    about = f" for {wait.about}" if wait.about else ""
    lines = [
        f"After step {wait.since} this is true{about}: {wait.progress.premise.site.text}",
        f"From there on this never is: {wait.progress.goal.site.text}",
    ]
    return lines, [str(standing) for standing in standings(trace, program, interpreter)]
