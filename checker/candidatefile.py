"""Candidates: ``--candidate FILE``, a Python file that starts from a release and changes it.

The file is run as a script is run; at its top level stands ``candidate = release("…").replace(…)``.
Whatever is wrong in it is reported at its own line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slotproof.checker.systemfile import must_exist, run_file
from slotproof.checker.usage import UsageProblem
from slotproof.model.near import near_or_all

if TYPE_CHECKING:
    from slotproof.model.releases import Release

NAME = "candidate"

LONGEST = 60
"""Letters of a candidate's label, so that names of files and columns of tables stay readable."""


def load_candidate(given: str) -> Release:
    """The candidate that a file defines, called after it; ``UsageProblem`` says at which line it is none."""
    path = Path(given)
    must_exist(path, "the candidate")
    from slotproof.model.releases import Release

    module = vars(run_file(path))
    if NAME not in module:
        others = [name for name, value in module.items() if isinstance(value, Release)]
        remedy = (
            f"rename '{others[0]}' to '{NAME}'"
            if others
            else f"write '{NAME} = release(\"0.5.23\").replace(…)' at its top level"
        )
        raise UsageProblem(f"{path}: no {NAME} is in it; {remedy}")
    candidate = module[NAME]
    if not isinstance(candidate, Release):
        what = type(candidate).__name__
        raise UsageProblem(
            f"{path}:{_line(path)}: {NAME} is a {what}; write '{NAME} = release(\"0.5.23\").replace(…)'"
        )
    _check_actions(candidate, path)
    return candidate.called(label_of([path.stem]))


def label_of(parts: Sequence[str]) -> str:
    """What tells a candidate apart, from parts of its path, in letters for file names and headings."""
    plain = re.sub(r"[^\w.-]+", "-", "-".join(parts))
    return plain[:LONGEST].strip(".-")


def labels_apart(one: str, other: str) -> tuple[str, str]:
    """Labels of two files: the second's name, and as much of the first's path as is not the second's."""
    first, second = ([*path.parent.parts, path.stem] for path in (Path(one), Path(other)))
    tails = [(first[-n:], second[-n:]) for n in range(1, max(len(first), len(second)) + 1)]
    mine, others = next((t for t in tails if label_of(t[0]) != label_of(t[1])), tails[0])
    short = label_of(others[-1:])
    return label_of(mine), short if short != label_of(mine) else label_of(others)


def replaced(given: str) -> list[str]:
    """What a candidate changes, by name: decisions that it answers otherwise, actions, the state it adds."""
    from slotproof.model.releases import release

    candidate = load_candidate(given)
    names = candidate.otherwise(release(candidate.base))
    state = [] if candidate.state is None else [candidate.state.__name__]
    return [*names, *candidate.actions, *state] or ["nothing"]


def _check_actions(candidate: Release, path: Path) -> None:
    """Each action has to take the place of one of some scenario."""
    from slotproof.properties import SCENARIOS

    known = dict.fromkeys(a.name for s in SCENARIOS.values() for a in s.actions)
    for name, action in candidate.actions.items():
        if name not in known:
            code = action.function.__code__
            raise UsageProblem(
                f"{code.co_filename}:{code.co_firstlineno}: no scenario has an action '{name}' to replace"
                f"{near_or_all(name, known)}"
            )


def _line(path: Path) -> int:
    """The line at which the candidate is assigned last."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [n for n, text in enumerate(lines, 1) if text.startswith(NAME)]
    return found[-1] if found else 1
