"""Which scenarios ask a decision: those with a step that calls it, once the scenario's sizes are put in.

What a scenario leaves out has no step, and its decisions are then never asked: a candidate that answers one
of those otherwise changes nothing there.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence

from slotproof import model, properties
from slotproof.checker.explicit import cache
from slotproof.checker.identity import add_sources
from slotproof.checker.runs import Subject, chosen, decided, program_of
from slotproof.model.language.ir import Block, Call, Decide, Expr
from slotproof.model.language.program import Program
from slotproof.model.language.walk import expressions_of, statements_of

KIND = ".asked"
KEPT = 64


def decisions_asked(program: Program, choices: Sequence[int]) -> set[str]:
    """The decisions that some step of a program calls, with these alternatives in force."""
    found: set[int] = set()
    called: set[int] = set()
    waiting: list[Expr] = []

    def run(block: Block) -> None:
        waiting.extend(e for s in statements_of(block) for e in expressions_of(s))

    for action in (*program.initial, *program.actions):
        waiting.extend(e for conjunct in action.guard for e in expressions_of(conjunct.condition))
        run(action.effect)
    while waiting:
        match waiting.pop():
            case Call(function=number):
                pass
            case Decide() as item:
                found.add(item.point)
                number = item.functions[choices[item.point]]
            case _:
                continue
        if number not in called:
            called.add(number)
            run(program.functions[number].body)
    return {program.decisions[point].name for point in found}


def scenarios_asking(release: str) -> dict[str, list[str]]:
    """The scenarios, at their quick sizes, that ask each decision on a release.

    Every scenario is compiled for it, some seconds in all, and the answer is kept beside the compiled models.
    """
    from slotproof.checker.progress import shown_work
    from slotproof.properties import SCENARIOS

    key = _key(release, SCENARIOS)
    kept = cache.load(key, KIND)
    if kept is not None:
        found: dict[str, list[str]] = json.loads(kept)
        return found
    found = {}
    with shown_work("compiling the scenarios, to see which decisions each of them asks"):
        for scenario in SCENARIOS:
            subject = Subject(scenario, release, False, None, ())
            program = program_of(subject)
            for name in sorted(decisions_asked(program, program.choices(chosen(subject, program)))):
                found.setdefault(name, []).append(scenario)
    cache.store(key, json.dumps(found).encode(), KIND, KEPT)
    return found


def _key(release: str, scenarios: Iterable[str]) -> str:
    sha = hashlib.sha256(f"{platform.python_version()} {release} {' '.join(scenarios)};".encode())
    for package in (model, properties):
        add_sources(sha, package, "**/*.py")
    return sha.hexdigest()


def notes(sides: Mapping[str, tuple[Subject, Subject]], same: Iterable[str]) -> dict[str, list[str]]:
    """Of scenarios in which two sides do the same: whether what they answer otherwise comes up there at all.

    ``sides`` are those of every scenario that is compared. What comes up in none of them is told with the
    scenarios in which it does.
    """
    if not sides:
        return {}
    base, candidate = next(iter(sides.values()))
    decisions, actions = _differences(base, candidate)
    here = {name: _coming_up(*pair) for name, pair in sides.items()}
    anywhere = set[str]().union(*here.values())
    found: dict[str, list[str]] = {name: [] for name in same}
    for change in (*decisions, *actions):
        taken = "asked" if change in decisions else "a step"
        elsewhere = "" if change in anywhere else f"; {_where(change, candidate)}"
        for name, told in found.items():
            if change in here[name]:
                told.append(f"{change} is {taken} here, and in no order of events does it make a difference")
            else:
                told.append(f"{change} is not {taken} in this scenario{elsewhere}")
    return found


def _differences(base: Subject, candidate: Subject) -> tuple[list[str], list[str]]:
    """The decisions that two sides answer otherwise, and the actions that are not the same."""
    one, other = decided(base), decided(candidate)
    actions = dict.fromkeys([*one.actions, *other.actions])
    return other.otherwise(one), [n for n in actions if one.actions.get(n) is not other.actions.get(n)]


def _coming_up(*sides: Subject) -> set[str]:
    """The decisions that some side asks in a scenario, and the actions that are steps there."""
    found: set[str] = set()
    for side in sides:
        program = program_of(side)
        found |= decisions_asked(program, program.choices(chosen(side, program)))
        found |= {a.name for a in program.actions}
    return found


def _where(change: str, subject: Subject) -> str:
    """The scenarios in which a decision is asked, or that have an action."""
    from slotproof.model.releases import base_of
    from slotproof.properties import SCENARIOS

    asking = scenarios_asking(base_of(subject.release or "")).get(change, [])
    having = [name for name, s in SCENARIOS.items() if any(a.name == change for a in s.actions)]
    return f"it is in {', '.join(asking or having) or 'none at its quick size'}"
