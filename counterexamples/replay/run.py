"""Walk a trace through a target, and compare the two after each step.

Of a lasso the stem and the loop are taken, and then the loop again: that nothing comes of it is seen where
every round ends in the states of the one before, and somebody waits in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slotproof.counterexamples.replay.driver import Died, Plain, Symptom, Target
from slotproof.counterexamples.replay.states import Flat, plain_arguments, setting_of
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.program import Program

ROUNDS = 2
"""How often the loop of a lasso is gone through again."""


@dataclass(frozen=True)
class Difference:
    """Where model and target part: after step ``step`` (0: at the start), in ``variable``."""

    step: int
    action: str
    variable: str
    model: Plain
    target: Plain

    def __str__(self) -> str:
        return (
            f"step {self.step}, {self.action}: {self.variable} is {shown(self.model)} in the model"
            f" and {shown(self.target)} in the target"
        )


@dataclass
class Replay:
    """What came of a replay. It *happened* if no state differs and the symptom was seen at the end."""

    steps: int = 0
    difference: Difference | None = None
    died: Died | None = None
    symptom: Symptom | None = None
    compared: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    log: list[Mapping[str, Plain]] = field(default_factory=list)

    @property
    def happened(self) -> bool:
        """Whether the trace happens on the target."""
        return self.difference is None and self.symptom is not None


def shown(value: Plain) -> str:
    """A plain value in a line of text."""
    match value:
        case frozenset():
            return "{" + ", ".join(sorted(value)) + "}"
        case tuple():
            return "[" + ", ".join(map(str, value)) + "]"
        case None:
            return "none"
    return str(value)


def first_difference(
    step: int, action: str, model: Mapping[str, Plain], target: Mapping[str, Plain]
) -> Difference | None:
    """The first variable, in the model's order, in which a target's state differs.

    A variable that the model has not is a fault of the target's mapping, and differs.
    """
    for name in target:
        if name not in model:
            return Difference(step, action, name, "not a variable", target[name])
    for name, value in model.items():
        if name in target and target[name] != value:
            return Difference(step, action, name, value, target[name])
    return None


def replay(trace: Trace, program: Program, target: Target, scenario: str) -> Replay:
    """Take every step of the trace on the target. ``Mismatch`` and ``Refused`` go to the caller."""
    found, flat = Replay(), Flat(program)
    target.begin(setting_of(trace, scenario))
    found.difference = _compared(found, flat, trace, target, 0)
    for i, step in enumerate(trace.steps, 1):
        if found.difference is not None:
            return found
        try:
            target.step(step.action, plain_arguments(step))
        except Died as died:
            found.died = died
        found.steps = i
        last = i == len(trace)
        expected = trace.crash if last else None
        if found.died is None and expected is None:
            found.difference = _compared(found, flat, trace, target, i)
        elif found.died is None:
            found.difference = Difference(i, step.action, "crash", expected, "no exception")
        elif not last or (expected is not None and found.died.cause != expected):
            found.difference = Difference(i, step.action, "crash", expected or "no crash", str(found.died))
    if found.difference is None and trace.loop is not None and trace.loop < len(trace):
        found.symptom = _goes_round(found, flat, trace, target, trace.loop)
    elif found.difference is None:
        found.symptom = target.symptom(trace.property, found.died)
    return found


def waiting(seen: Mapping[str, Plain]) -> frozenset[str]:
    """Who waits, as a target's state shows it: requests in a queue, and unloads."""
    found = {f"the unload of {a}" for a in seen.get("registry.unloading", ())}
    for name, queue in seen.items():
        if name.endswith((".scheduler.waiting", ".decode.reserving")):
            found |= {f"{r} with adapter {seen[f'adapter[{r}]']}" for r in queue}
    return frozenset(found)


def _goes_round(found: Replay, flat: Flat, trace: Trace, target: Target, loop: int) -> Symptom | None:
    """The loop again; the symptom is who waits all the time."""
    still = frozenset.intersection(*map(waiting, found.log[loop:]))
    for _ in range(ROUNDS):
        for i, step in enumerate(trace.steps[loop:], loop + 1):
            try:
                target.step(step.action, plain_arguments(step))
            except Died as died:
                found.difference = Difference(i, step.action, "crash", "no crash", str(died))
                return None
            seen = target.observe()
            found.difference = first_difference(i, step.action, flat(trace.states[i]), seen)
            if found.difference is not None:
                return None
            still &= waiting(seen)
    if not still:
        return None
    rounds = f"{ROUNDS + 1} rounds of a loop of {len(trace) - loop} steps"
    return Symptom("hang", f"{' and '.join(sorted(still))} waits through {rounds}")


def _compared(found: Replay, flat: Flat, trace: Trace, target: Target, step: int) -> Difference | None:
    model, seen = flat(trace.states[step]), target.observe()
    found.log.append(seen)
    found.compared |= set(seen)
    found.unseen |= set(model) - set(seen)
    action = trace.steps[step - 1].action if step else "start"
    return first_difference(step, action, model, seen)
