"""Linking: copies of a model's functions in which sizes, parameters and decisions have their values.

A linked function is compiled from the same source (breakpoints and tracebacks fall where they should).
Its global names differ: a domain iterates and counts, a parameter is its value, a decision point is the
chosen alternative, a helper is its own linked copy; ``rewrite.py`` says what else.
"""

from __future__ import annotations

import ast
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slotproof.model.language.bind import Binding
from slotproof.model.language.domains import Domain, Parameter
from slotproof.model.language.errors import FileChanged, LanguageError, ModelError
from slotproof.model.language.rewrite import as_compiled
from slotproof.model.language.source import Source
from slotproof.model.language.surface import Action, Decision, Property, Witness
from slotproof.model.language.system import System
from slotproof.model.language.values import Capacity, Field, Range, Record


class BoundDomain:
    """A domain with its size, as linked code sees it."""

    def __init__(self, cls: type[Domain], size: int) -> None:
        self.cls = cls
        self.elements = tuple(cls(i) for i in range(size))

    def __iter__(self) -> Iterator[Domain]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __call__(self, index: int) -> Domain:
        if not 0 <= index < len(self.elements):
            raise ModelError(f"{self.cls.__name__}({index}) leaves the domain of {len(self.elements)}")
        return self.elements[index]


def scope_of(function: types.FunctionType) -> dict[str, Any]:
    """The names that a function can read: its module's, and those of the functions around it."""
    cells = (c.cell_contents for c in function.__closure__ or ())
    return {**function.__globals__, **dict(zip(function.__code__.co_freevars, cells, strict=True))}


def is_helper(value: Any) -> bool:
    """Whether a global is a function of the model: plain, and not of the language or a library."""
    return isinstance(value, types.FunctionType) and not value.__module__.startswith(
        "slotproof.model.language."
    )


def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names that a code object and those inside it may look up globally, in order of first use."""
    inner = (global_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return tuple(dict.fromkeys([*code.co_names, *itertools.chain.from_iterable(inner)]))


class Linker:
    """Links functions for one binding and one choice of alternatives."""

    def __init__(self, binding: Binding, chosen: Mapping[Decision[..., Any], Callable[..., Any]]) -> None:
        self.binding = binding
        self.chosen = chosen
        self._linked: dict[Any, Any] = {}

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The linked copy of a function."""
        if function in self._linked:
            linked: Callable[..., Any] = self._linked[function]
            return linked
        assert isinstance(function, types.FunctionType)
        scope = scope_of(function)
        try:
            source = Source(function)
        except FileChanged:
            raise
        except LanguageError:  # named in a branch that this system does not use
            copy = types.FunctionType(function.__code__, scope, function.__name__, None, function.__closure__)
        else:
            copy = as_compiled(source, source.numbered(), scope, self.binding)
        copy.__defaults__ = function.__defaults__
        copy.__kwdefaults__ = function.__kwdefaults__
        self._linked[function] = copy
        self._bind(copy)
        return copy

    def part(self, tree: ast.FunctionDef, function: Callable[..., Any]) -> Callable[..., Any]:
        """A linked function of this definition, which reads names as ``function`` does."""
        assert isinstance(function, types.FunctionType)
        copy = as_compiled(Source(function), tree, scope_of(function), self.binding)
        self._bind(copy)
        return copy

    def _bind(self, copy: types.FunctionType) -> None:
        scope = copy.__globals__
        for name in global_names(copy.__code__):
            if name in scope:
                scope[name] = self.value(scope[name])

    def value(self, value: Any) -> Any:
        """What linked code sees in place of a global."""
        if isinstance(value, Parameter):
            return self.binding.value(value)
        if isinstance(value, Decision):
            return self.function(self.chosen[value]) if value in self.chosen else value
        if isinstance(value, type) and issubclass(value, Domain) and value is not Domain:
            if value not in self._linked:
                self._linked[value] = BoundDomain(value, self.binding.size(value))
            return self._linked[value]
        return self.function(value) if is_helper(value) else value


def parameters_of(system: System) -> dict[str, Parameter]:
    """Every parameter that a system's state, actions, properties or decisions name."""
    found: dict[str, Parameter] = {}
    seen: set[Any] = set()

    def visit(value: Any) -> None:
        if isinstance(value, Parameter):
            found.setdefault(value.name, value)
        if not isinstance(value, Parameter | Decision | types.FunctionType | type | Action):
            return
        if value in seen:
            return
        seen.add(value)
        if isinstance(value, Action):
            visit(value.function)
        elif isinstance(value, Decision):
            for alternatives in system.decisions:
                if alternatives.point is value:
                    for f in alternatives.functions:
                        visit(f)
        elif isinstance(value, types.FunctionType):
            if not is_helper(value):
                return
            for name in global_names(value.__code__):
                visit(value.__globals__.get(name))
            for cell in value.__closure__ or ():
                visit(cell.cell_contents)
            for annotation in value.__annotations__.values():
                visit_annotation(annotation, value.__globals__)
        elif isinstance(value, type) and issubclass(value, Domain) and value is not Domain:
            visit(value.size)
        elif isinstance(value, type) and issubclass(value, Record):
            for field in vars(value).values():
                if isinstance(field, Field):
                    visit(field.initial)
            for base in value.__mro__:
                scope = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
                for annotation in vars(base).get("__annotations__", {}).values():
                    visit_annotation(annotation, scope)

    def visit_annotation(annotation: Any, scope: Mapping[str, Any]) -> None:
        if isinstance(annotation, str):
            for node in ast.walk(ast.parse(annotation, mode="eval")):
                if isinstance(node, ast.Name):
                    visit(scope.get(node.id))
                    visit_annotation(scope.get(node.id), scope)
            return
        visit(annotation)
        for part in (*getattr(annotation, "__args__", ()), *getattr(annotation, "__metadata__", ())):
            if isinstance(part, Range | Capacity):
                for bound in vars(part).values():
                    visit(bound)
            elif not isinstance(part, str):
                visit_annotation(part, scope)

    visit(system.state)
    for item in (*system.actions, *system.initial):
        visit(item)
    for judged in (*system.properties, *system.on_the_way, *system.witnesses):
        if isinstance(judged, Property | Witness):
            visit(judged.function)
    for fair in system.fairness:
        visit(fair.where)
    if system.final is not None:
        visit(system.final)
    return found
