"""One walk of the model on one target: a step at a time, the two compared after each."""

from __future__ import annotations

from collections.abc import Mapping

from slotproof.counterexamples.replay.driver import Died, Plain, Refused, Setting, Target
from slotproof.counterexamples.replay.run import Difference, first_difference
from slotproof.counterexamples.replay.states import Flat, plain_arguments
from slotproof.counterexamples.trace import Step
from slotproof.model.language.columns import Valuation
from slotproof.model.language.program import Program


class Drive:
    """One walk on one target."""

    def __init__(self, program: Program, setting: Setting, target: Target) -> None:
        self.flat = Flat(program)
        self.target = target
        target.begin(setting)
        self.steps = 0
        self.tainted: set[str] = set()

    def compare(self, state: Valuation, action: str) -> Difference | None:
        """The first difference between the model's state and the target's."""
        return first_difference(self.steps, action, self.flat(state), self.target.observe())

    def take(self, step: Step, before: Valuation, after: Valuation, crash: str | None) -> Difference | None:
        """Take the model's step on the target, and compare."""
        self.steps += 1
        try:
            self.target.step(step.action, plain_arguments(step))
        except Refused as refused:
            return Difference(self.steps, step.action, "the step", "possible", f"refused: {refused}")
        except Died as died:
            if crash is not None and died.cause == crash:
                return None
            return Difference(self.steps, step.action, "crash", crash or "no crash", str(died))
        if crash is not None:
            return Difference(self.steps, step.action, "crash", crash, "no exception")
        model, was = self.flat(after), self.flat(before)
        different = first_difference(self.steps, step.action, model, self.target.observe())
        if different is not None:
            return different
        self.tainted = tainted(self.tainted, was, model)
        requests = {name[len("adapter[") : -1] for name in model if name.startswith("adapter[")}
        wrong = self.target.unexpected(frozenset(requests - self.tainted))
        return None if wrong is None else Difference(self.steps, step.action, *wrong)


def tainted(known: set[str], before: Mapping[str, Plain], after: Mapping[str, Plain]) -> set[str]:
    """Requests of which the model says that a forward may have read wrong weights or metadata.

    ``before`` and ``after`` are a step's states, with the outputs of the step in ``after``. A request that
    is sent anew starts clean.
    """
    found = set(known)
    for name, value in after.items():
        process, _, variable = name.partition("].")
        loading, scheduler = f"{process}].loader.", f"{process}].scheduler."
        if variable in ("forward.misrouted", "forward.wiped"):
            found |= value
        elif variable == "forward.launched":
            filling = before[loading + "filling"] | after[loading + "filling"]
            found |= {
                r for r in value if after[f"adapter[{r}]"] in filling or before[f"adapter[{r}]"] in filling
            }
        elif variable == "gate.overwritten":
            flying = before[scheduler + "running"] | before[scheduler + "last"]
            found |= {r for r in flying if before[f"adapter[{r}]"] in value}
    new = {r for r in after["tokenizer.open"] if r not in before["tokenizer.open"]}
    return found - new
