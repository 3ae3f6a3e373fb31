"""Conformance, from the model to the code: walks of the model, driven on a target, compared after each step.

A walk takes steps that no walk has taken, and where there is none it goes to the nearest state that has one:
so the edges of the graph are covered one by one. It ends at a crash, where the target cannot follow any
further, or when it is long enough; the next one starts anew.
Steps that violate a property are steps like others.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from slotproof.counterexamples.encoding import plain
from slotproof.counterexamples.replay.drive import Drive
from slotproof.counterexamples.replay.driver import OutOfReach, Setting, Target
from slotproof.counterexamples.replay.run import Difference
from slotproof.counterexamples.replay.shorter import Shorter, Way
from slotproof.counterexamples.replay.states import plain_arguments
from slotproof.counterexamples.replay.walker import Walker
from slotproof.counterexamples.trace import Step
from slotproof.model.language.program import Program

LONGEST = 60
"""Steps of a walk."""


@dataclass
class Conformance:
    """What walks have shown: steps compared, edges covered, the first difference and a short way to it.

    ``shortest``: no shorter way leads to a difference, see ``Shorter``.
    """

    steps: int = 0
    walks: int = 0
    edges: int = 0
    actions: dict[str, int] = field(default_factory=dict)
    difference: Difference | None = None
    path: list[Step] = field(default_factory=list)
    shortest: bool = False


def conform(
    program: Program,
    names: Mapping[str, str],
    scenario: str,
    release: str | None,
    target: Callable[[], Target],
    steps: int,
    seed: int,
    longest: int = LONGEST,
    without: Container[str] = (),
) -> Conformance:
    """Walk ``steps`` steps of the model on fresh targets; stops at the first difference.

    ``names``: the alternative in force at each decision, by name. ``seed`` makes the walks the same again.
    ``without``: actions that the target cannot take; no walk takes them.
    """
    walker = Walker(program, program.choices(names), seed, without)
    used = {p.name: names[p.name] for p in program.decisions}
    starts = []
    for number, numbers, state in walker.initial:
        start = None
        if number is not None:
            action = program.initial[number]
            start = Step(action.name, walker.interpreter.arguments(action, numbers))
        starts.append((setting_for(program, used, scenario, release, start), state))
    found = Conformance()
    while found.steps < steps and found.difference is None:
        found.walks += 1
        walker.start_afresh()
        setting, state = start_of_walk = walker.random.choice(starts)
        found.path = []
        run = Drive(program, setting, target())
        found.difference = run.compare(state, "start")
        while found.difference is None and found.steps < steps and len(found.path) < longest:
            choice = walker.choose(state)
            if choice is None:
                break
            step = walker.step_of(choice)
            found.actions[step.action] = found.actions.get(step.action, 0) + 1
            found.path.append(step)
            found.steps += 1
            try:
                found.difference = run.take(step, state, choice.after, choice.crash)
            except OutOfReach:
                break
            state = choice.after
            if choice.crash is not None or run.target.beyond():
                break
        if not found.path and found.difference is None:
            break  # nothing that the target can take is possible
        if found.difference is not None:
            walker.forget_last()
            way = Way(*start_of_walk, tuple(found.path), found.difference)
            shortest = Shorter(walker, starts, target).of(way)
            found.path, found.difference = list(shortest.way.path), shortest.way.difference
            found.shortest = shortest.proven
    found.edges = walker.edges
    return found


def setting_for(
    program: Program, names: Mapping[str, str], scenario: str, release: str | None, start: Step | None
) -> Setting:
    """What a target has to be for a walk."""
    parameters = {name: plain(value) for name, value in program.parameters.items()}
    first = None if start is None else (start.action, plain_arguments(start))
    return Setting(scenario, release, parameters, dict(names), first)
