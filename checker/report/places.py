"""Where in whose source a verdict belongs: the line that a person would change."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from slotproof.checker.candidatefile import NAME, load_candidate
from slotproof.checker.results import Cell
from slotproof.checker.runs import Subject, program_of
from slotproof.checker.verdict import Violated
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import verify
from slotproof.model.language.errors import Site
from slotproof.model.language.program import Program
from slotproof.model.language.source import definitions


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; ``path`` is relative to ``base`` and written with ``/``."""

    path: str
    line: int
    in_repository: bool
    """Whether the path starts at the repository's root; otherwise where this package is installed."""


def place_of(cell: Cell) -> Place:
    """The line for a verdict.

    Of a candidate that violates: its first rule without which the trace would not end so, else its first
    action on the way, else the line that makes it. Otherwise the property's own line, and for a crash or a
    deadlock that of the last step's action.
    """
    return as_place(_site(cell))


def as_place(site: Site) -> Place:
    """A site from the repository's root, or from where the package is installed."""
    path = Path(os.path.realpath(site.file))
    for root in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
        if root and path.is_relative_to(folder := os.path.realpath(root)):
            return Place(path.relative_to(folder).as_posix(), site.line, True)
    parts = Path(site.file).parts
    if "slotproof" in parts:
        parts = parts[len(parts) - 1 - parts[::-1].index("slotproof") :]
        return Place("/".join(parts), site.line, False)
    return Place(path.as_posix(), site.line, False)


def step_site(program: Program, step: Step) -> Site:
    """Where the action of a step is written."""
    every = (*program.system.actions, *program.system.initial)
    return next(_function_site(a.function) for a in every if a.name == step.action)


def _site(cell: Cell) -> Site:
    program = program_of(cell.subject)
    trace = cell.verdict.trace if isinstance(cell.verdict, Violated) else None
    if cell.subject.candidate is not None:
        return _in_candidate(cell.subject.candidate, cell.subject, program, trace)
    declared = next((p for p in program.system.properties if p.name == cell.name), None)
    if declared is not None:
        return _function_site(declared.function)
    if trace is not None and trace.steps:
        return step_site(program, trace.steps[-1])
    return _function_site(program.system.actions[0].function)


def _function_site(function: Callable[..., Any]) -> Site:
    """The line of ``def``; a function's code begins at its first decorator."""
    code = function.__code__
    node = definitions("".join(_lines(code.co_filename))).get(code.co_firstlineno)
    return Site(code.co_filename, code.co_firstlineno if node is None else node.lineno)


def _lines(file: str) -> list[str]:
    return linecache.getlines(os.path.realpath(file))


def _tree(file: str) -> ast.Module:
    return _parsed("".join(_lines(file)))


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _in_candidate(file: str, subject: Subject, program: Program, trace: Trace | None) -> Site:
    if trace is not None:
        for site in (*_rules(file, program, trace), *_actions(file, program, trace)):
            return site
    return Site(file, _assigned(file))


def _rules(file: str, program: Program, trace: Trace) -> Iterator[Site]:
    """The candidate's rules without which the trace is none, or does not end in the violation."""
    from slotproof.model.releases import release

    candidate = load_candidate(file)
    base = release(candidate.base)
    for point, function in candidate.choices.items():
        usual = base.choices[point]
        if function is usual or point not in trace.choices:
            continue
        try:
            verify(replace(trace, choices={**trace.choices, point: usual.__name__}), program)
        except TraceError:
            site = _function_site(function)
            here = os.path.realpath(file)
            yield (
                site
                if os.path.realpath(site.file) == here
                else Site(file, _keyword(file, point) or _assigned(file))
            )


def _actions(file: str, program: Program, trace: Trace) -> Iterator[Site]:
    """The candidate's actions that the trace takes, the last first."""
    for step in reversed(trace.steps):
        site = step_site(program, step)
        if os.path.realpath(site.file) == os.path.realpath(file):
            yield site


def _keyword(file: str, name: str) -> int | None:
    """The line of ``name=…`` in a call."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.keyword) and node.arg == name:
            return node.lineno
    return None


def _assigned(file: str) -> int:
    """The line of the last ``candidate = …``."""
    lines = [
        node.lineno
        for node in _tree(file).body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == NAME for target in node.targets)
    ]
    return lines[-1] if lines else 1
