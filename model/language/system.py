"""A system: a state, actions, properties, and the parameters and alternatives chosen for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from slotproof.model.language.errors import LanguageError, Site, callers_line
from slotproof.model.language.fairness import Fairness
from slotproof.model.language.surface import Action, Decision, Property, Witness
from slotproof.model.language.symmetry import Alike, Interchangeable, Swapped
from slotproof.model.language.values import State
from slotproof.model.near import near_or_all


@dataclass(frozen=True)
class Alternatives:
    """The functions that a decision point chooses among, in the order of their appearance."""

    point: Decision[Any, Any]
    functions: tuple[Callable[..., Any], ...]

    def __init__(self, point: Decision[Any, Any], *functions: Callable[..., Any]) -> None:
        if not isinstance(point, Decision):
            raise LanguageError(
                f"Alternatives({point!r}, …): is no decision; write '@decision' above it", callers_line()
            )
        for function in functions:
            if not isinstance(function, FunctionType):
                raise LanguageError(
                    f"alternative {function!r} of {point} is no function; write 'def name(…):', no mark",
                    callers_line(),
                )
        _different([f.__name__ for f in functions], f"{point} has two alternatives", callers_line())
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
    ``deadlock``. ``choices`` names the alternative of each decision point. ``fairness`` says which steps
    do not stay away for ever; progress properties rest on it and nothing else does.
    ``on_the_way`` helps proofs through actions (``surface.on_the_way``).
    ``interchangeable`` says which elements may be exchanged without a difference to anyone, for a search
    with ``--symmetry``.
    ``drawing`` says how a state is drawn (``drawing.py``), ``telling`` what a step did (``telling.py``),
    ``words`` what declares the words in which both speak (``wording.py``); no engine looks at them.
    """

    name: str
    state: type[State]
    actions: Sequence[Action[Any]]
    initial: Sequence[Action[Any]] = ()
    properties: Sequence[Property] = ()
    witnesses: Sequence[Witness] = ()
    on_the_way: Sequence[Property] = ()
    final: Callable[..., bool] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    decisions: Sequence[Alternatives] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    interchangeable: Sequence[Interchangeable] = ()
    meaning: str = ""
    fairness: Sequence[Fairness] = ()
    drawing: Callable[..., Any] | None = None
    telling: Callable[..., list[str]] | None = None
    words: Mapping[str, object] = field(default_factory=dict)
    site: Site = field(default_factory=lambda: callers_line(3), repr=False, compare=False)

    def __post_init__(self) -> None:
        """``LanguageError`` for what is of another kind than it has to be."""
        where = f"system {self.name}"
        if not (isinstance(self.name, str) and self.name.strip() and self.name.isprintable()):
            raise LanguageError(f"system {self.name!r}: write its name as one line of text", self.site)
        for name in (
            "actions",
            "initial",
            "properties",
            "witnesses",
            "on_the_way",
            "decisions",
            "fairness",
            "interchangeable",
        ):
            given: object = getattr(self, name)
            if not isinstance(given, list | tuple):
                raise LanguageError(f"{where}: {name} is {given!r}; write a list: {name}=[…]", self.site)
        for name in ("parameters", "choices", "words"):
            given = getattr(self, name)
            if not (isinstance(given, Mapping) and all(isinstance(key, str) for key in given)):
                raise LanguageError(
                    f'{where}: {name} is {given!r}; write values by name: {name}={{"…": …}}', self.site
                )
        if not isinstance(self.meaning, str):
            raise LanguageError(f"{where}: meaning is {self.meaning!r}; write a text", self.site)
        if not (self.final is None or isinstance(self.final, FunctionType)):
            raise LanguageError(
                f"{where}: final is {self.final!r}; write a function of the state without a mark", self.site
            )
        for fair in self.fairness:
            if not isinstance(fair, Fairness):
                raise LanguageError(
                    f"{where}: fairness {fair!r}: write weak(action) or strong(action)", self.site
                )
        for name, given, of in (("drawing", self.drawing, "state"), ("telling", self.telling, "step")):
            if not (given is None or isinstance(given, FunctionType)):
                raise LanguageError(
                    f"{where}: {name} is {given!r}; write a function of the {of} without a mark", self.site
                )
        for decision in self.decisions:
            if not isinstance(decision, Alternatives):
                raise LanguageError(
                    f"{where}: decision {decision!r} is no list; write Alternatives(decision, function, …)",
                    self.site,
                )
        for declared in self.interchangeable:
            if not isinstance(declared, Alike | Swapped):
                raise LanguageError(
                    f"{where}: {declared!r} does not say what is interchangeable; write Alike(Domain)"
                    ' or Swapped((Domain, "a", "b"), …)',
                    self.site,
                )
        _different([d.point.name for d in self.decisions], f"{where} lists two decisions", self.site)
        self._check_choices(self.choices, self.site)

    def _check_choices(self, choices: Mapping[str, str], site: Site) -> None:
        known = {d.point.name: d.names for d in self.decisions}
        for name, alternative in choices.items():
            if name not in known:
                hint = near_or_all(name, known, "it has")
                raise LanguageError(f"system {self.name} has no decision '{name}'{hint}", site)
            if alternative not in known[name]:
                raise LanguageError(
                    f"decision {name} has no alternative '{alternative}'"
                    f"{near_or_all(alternative, known[name], 'it has')}",
                    site,
                )

    def with_parameters(self, **values: Any) -> System:
        """The same system with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **values})

    def with_properties(self, properties: Sequence[Property], witnesses: Sequence[Witness] = ()) -> System:
        """The same system with these properties and witnesses instead of its own."""
        return replace(self, properties=tuple(properties), witnesses=tuple(witnesses))

    def with_choices(self, choices: Mapping[str, str]) -> System:
        """The same system with these alternatives chosen."""
        self._check_choices(choices, callers_line())
        return replace(self, choices={**self.choices, **choices})


def _different(names: Sequence[str], what: str, site: Site) -> None:
    twice = [n for n in names if names.count(n) > 1]
    if twice:
        raise LanguageError(f"{what} named '{twice[0]}'; rename one", site)
