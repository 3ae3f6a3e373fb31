"""A system: a state, actions, properties, and the parameters and alternatives chosen for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slotproof.model.language.errors import LanguageError, Site, callers_line
from slotproof.model.language.surface import Action, Decision, Property, Witness
from slotproof.model.language.values import State


@dataclass(frozen=True)
class Alternatives:
    """The functions that a decision point chooses among, in the order of their appearance."""

    point: Decision[Any, Any]
    functions: tuple[Callable[..., Any], ...]

    def __init__(self, point: Decision[Any, Any], *functions: Callable[..., Any]) -> None:
        object.__setattr__(self, "point", point)
        object.__setattr__(self, "functions", functions)

    @property
    def names(self) -> tuple[str, ...]:
        """The functions' names."""
        return tuple(f.__name__ for f in self.functions)


@dataclass(frozen=True)
class System:
    """What is checked, before its source is compiled.

    ``parameters`` gives values to parameters by name; the others keep their defaults. ``final`` says
    in which states the system may stop; a state without successors that is not final is a
    ``deadlock``. ``choices`` names the alternative of each decision point.
    """

    name: str
    state: type[State]
    actions: Sequence[Action[Any]]
    initial: Sequence[Action[Any]] = ()
    properties: Sequence[Property] = ()
    witnesses: Sequence[Witness] = ()
    final: Callable[..., bool] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    decisions: Sequence[Alternatives] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    meaning: str = ""
    site: Site = field(default_factory=lambda: callers_line(3), repr=False, compare=False)

    def with_parameters(self, **values: Any) -> System:
        """The same system with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **values})

    def with_properties(self, properties: Sequence[Property], witnesses: Sequence[Witness] = ()) -> System:
        """The same system with these properties and witnesses instead of its own."""
        return replace(self, properties=tuple(properties), witnesses=tuple(witnesses))

    def with_choices(self, choices: Mapping[str, str]) -> System:
        """The same system with these alternatives chosen."""
        known = {d.point.name: d.names for d in self.decisions}
        for name, alternative in choices.items():
            if name not in known:
                raise LanguageError(f"system {self.name} has no decision '{name}'", callers_line())
            if alternative not in known[name]:
                raise LanguageError(
                    f"decision {name} has no alternative '{alternative}'; it has: {', '.join(known[name])}",
                    callers_line(),
                )
        return replace(self, choices={**self.choices, **choices})
