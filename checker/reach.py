"""States that a person asks for: an expression over ``s``, compiled as a witness, and the way to it.

The names that it may use are those of the files of the system (its types, its helpers), and the elements of
its domains by the names that traces print: ``r2 in s.ranks[rank0].scheduler.waiting``.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any

from slotproof.checker.explicit.context import Context
from slotproof.checker.explicit.paths import Paths
from slotproof.checker.explicit.search import Progress, Search
from slotproof.checker.usage import UsageProblem
from slotproof.checker.verdict import Limits
from slotproof.counterexamples.trace import Trace
from slotproof.model import language
from slotproof.model.language.bind import Binding
from slotproof.model.language.compile import compile_system
from slotproof.model.language.domains import Domain
from slotproof.model.language.errors import LanguageError, ModelError, Site
from slotproof.model.language.program import Program
from slotproof.model.language.surface import Action, Property, Witness
from slotproof.model.language.system import System
from slotproof.model.language.values import State

NAME = "reach"
FILE = "--reach"


def with_expression(system: System, expression: str) -> System:
    """The system with the expression as its last witness.

    The others stay, as what is asked may be the only thing that reads a parameter.
    """
    others = tuple(w for w in system.witnesses if w.name != NAME)
    return system.with_properties(system.properties, (*others, _witness(system, expression)))


def compiled(system: System, expression: str) -> Program:
    """The program; ``UsageProblem`` names the column at which the expression is wrong."""
    try:
        return compile_system(with_expression(system, expression))
    except (LanguageError, ModelError) as error:
        if error.site is None or not of_expression(error.site):
            raise
        raise UsageProblem(located(expression, error.site, error.message)) from None


def of_expression(site: Site) -> bool:
    """Whether a place is in the expression."""
    return site.file.endswith(FILE)


def located(expression: str, site: Site, message: str) -> str:
    """A message with the expression and the place in it."""
    column = f"column {site.column}: " if site.column else ""
    return f"--reach '{one_line(expression)}': {column}{message}"


def one_line(expression: str) -> str:
    """The expression as it is compiled: columns are counted in this text."""
    return " ".join(line.strip() for line in expression.strip().splitlines())


def _witness(system: System, expression: str) -> Witness:
    """The expression as a function of the state, whose source the language can read."""
    text = one_line(expression)
    if not text:
        raise UsageProblem(
            "--reach: there is no expression; write one over s, such as 'r1 in s.tokenizer.open'"
        )
    try:
        ast.parse(text, mode="eval")
    except SyntaxError as error:
        column = error.offset or len(text) + 1
        site = Site(FILE, error.lineno or 1, "", column)
        raise UsageProblem(located(expression, site, error.msg)) from None
    except ValueError as error:
        raise UsageProblem(f"--reach: is no expression: {error}") from None
    source = f"def {NAME}(s: State_) -> bool:\n    return (\n{text}\n    )\n"
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    scope = {**_scope(system), "State_": system.state, "__name__": "slotproof_reach"}
    exec(compile(source, FILE, "exec"), scope)
    function: FunctionType = scope[NAME]
    return Witness(function)


def _scope(system: System) -> dict[str, Any]:
    """The names of the system's files, then the language's words, then elements by their names."""
    files = [vars(sys.modules[base.__module__]) for base in system.state.__mro__ if _declares(base)]
    marked: tuple[Witness | Property | Action[Any], ...] = (
        *system.witnesses,
        *system.properties,
        *system.actions,
    )
    files += [item.function.__globals__ for item in marked]
    scope: dict[str, Any] = {}
    for names in files:
        for name, value in names.items():
            if not name.startswith("__"):
                scope.setdefault(name, value)
    scope |= {name: getattr(language, name) for name in language.__all__}
    binding = Binding(system.name, system.parameters)
    elements: dict[str, list[Domain]] = {}
    for domain in {id(d): d for d in scope.values() if _is_domain(d)}.values():
        for index in range(binding.size(domain)):
            elements.setdefault(domain.name_of(index), []).append(domain(index))
    for name, found in elements.items():
        if len(found) == 1:
            scope.setdefault(name, found[0])
    return scope


def _declares(base: type[Any]) -> bool:
    return issubclass(base, State) and base is not State


def _is_domain(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Domain) and value is not Domain


def _error(paths: Paths, program: Program) -> None:
    """Raise the model error that ended a search; one of the expression with its column."""
    broken = paths.search.broken
    assert broken is not None
    try:
        paths.error(broken)
    except ModelError as error:
        if 0 <= broken.site < len(program.sites) and of_expression(program.sites[broken.site]):
            raise ModelError(error.message, program.sites[broken.site]) from None
        raise


class _Reached(Exception):
    """The state has been met, so that nothing is left to search."""


def shortest_way(
    program: Program,
    choices: tuple[int, ...],
    expression: str,
    limits: Limits,
    progress: Callable[[Progress], None] | None,
) -> tuple[Trace | None, Search, str | None]:
    """A shortest run to a state of which the expression is true, the search, and what stopped it.

    Without a run and a stop, no state of the whole graph is one. ``ModelError`` as the engine says it.
    """
    search = Search(program, choices, limits)
    found: Context = search.context
    slot = search.native.slots.witness(len(program.witnesses) - 1)

    def look(now: Progress) -> None:
        if found[slot]:
            raise _Reached
        if progress is not None:
            progress(now)

    try:
        stopped = search.run(look)
    except _Reached:
        stopped = None
    paths = Paths(search)
    if not found[slot]:
        if search.broken is not None:
            _error(paths, program)
        return None, search, stopped
    trace = paths.trace(NAME, one_line(expression), int(found[slot + 1]))
    return replace(trace, kind="witness"), search, None
