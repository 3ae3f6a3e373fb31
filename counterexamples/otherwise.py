"""Which decision is to blame: what the same steps come to where one decision is answered otherwise.

Each decision that the steps ask is answered by each of its other alternatives in turn, and the steps are
taken again in the IR. Where the property then holds, the decision is one that these steps fail by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotproof.counterexamples.evidence import Found
from slotproof.counterexamples.origins import Flow, fresh
from slotproof.counterexamples.trace import Step
from slotproof.counterexamples.verify import action_index, call, numbers_of
from slotproof.model.language import ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError
from slotproof.model.language.program import DEADLOCK, Program, no_crash


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A decision with another answer, under which the same steps do not violate the property.

    ``dies`` names the crash that they end in instead, if they do; ``ends`` says which step cannot happen,
    and why, where they do not get so far.
    """

    decision: str
    alternative: str
    dies: str = ""
    ends: str = ""


def otherwise(
    program: Program, choices: tuple[int, ...], states: Sequence[Valuation], steps: Sequence[Step], name: str
) -> list[Otherwise]:
    """The single decisions without which ``steps`` from ``states[0]`` do not violate property ``name``.

    ``states[i + 1]`` is what step ``i`` leads to under ``choices``. Answers that change nothing about the
    violation are left out, and so are those that lead out of the model. Of a deadlock nothing is told: other
    steps may be possible there.
    """
    if name == DEADLOCK:
        return []
    walked = zip(states, steps, strict=False)
    asked = [_asked(program, choices, state, step, name) for state, step in walked]
    found = []
    for number, point in enumerate(program.decisions):
        first = next((i for i, points in enumerate(asked) if number in points), None)
        if first is None:
            continue
        for other, alternative in enumerate(point.alternatives):
            if other != choices[number]:
                changed = (*choices[:number], other, *choices[number + 1 :])
                try:
                    violated, dies, ends = _again(program, changed, states, steps, first, name)
                except ModelError:
                    continue
                if not violated:
                    found.append(Otherwise(point.name, alternative, dies, ends))
    return sorted(found, key=lambda o: bool(o.ends))


def _asked(program: Program, choices: tuple[int, ...], state: Valuation, step: Step, name: str) -> set[int]:
    """The decisions that a step asks, by number, and the property after it."""
    action, numbers = _action(program, step)
    flow = _flow(program, choices, state)
    try:
        _blocked(flow, action, numbers)
        flow.run(action, numbers)
        _false(flow, name, step)
    except ModelError:
        pass
    return flow.asked


def _again(
    program: Program,
    choices: tuple[int, ...],
    states: Sequence[Valuation],
    steps: Sequence[Step],
    first: int,
    name: str,
) -> tuple[bool, str, str]:
    """The steps from number ``first`` on: whether the last one violates the property, what crash it ends in,
    and what keeps a step from happening."""
    state, crash = states[first], ""
    for at, step in enumerate(steps[first:], first + 1):
        if crash:
            return False, "", f"step {at - 1} ends in the crash {crash}"
        action, numbers = _action(program, step)
        flow = _flow(program, choices, state)
        blocked = _blocked(flow, action, numbers)
        if blocked is not None:
            return False, "", f"step {at}, {call(step)}, cannot happen: {blocked.site.text} is false"
        flow.run(action, numbers)
        state, crash = tuple(flow.after), flow.crash
    return name == no_crash(crash) or _false(flow, name, steps[-1]), crash, ""


def _action(program: Program, step: Step) -> tuple[ir.Action, tuple[int, ...]]:
    action = program.actions[action_index(program, step.action)]
    return action, numbers_of(action, step)


def _flow(program: Program, choices: tuple[int, ...], state: Valuation) -> Flow:
    return Flow(program, choices, {"before": fresh(program, state)})


def _blocked(flow: Flow, action: ir.Action, numbers: tuple[int, ...]) -> ir.Conjunct | None:
    """The first conjunct of a guard that is false."""
    local = {p.name: Found(v) for p, v in zip(action.parameters, numbers, strict=True)}
    return next((c for c in action.guard if not flow.value(c.condition, local).value), None)


def _false(flow: Flow, name: str, step: Step) -> bool:
    """Whether a property is false of the step, or of the state after it."""
    index = action_index(flow.program, step.action)
    prop = next((p for p in flow.program.properties if p.name == name), None)
    if prop is None or (flow.crash and prop.over == "state"):
        return False
    if prop.actions is not None and index not in prop.actions:
        return False
    numbers = numbers_of(flow.program.actions[index], step) if prop.parameters else ()
    return not all(f.value for f in flow.conjuncts(prop, numbers))
