"""What must happen in the end: progress properties, and the fairness that they rest on.

A safety property is about what must never happen, and a finite run shows its violation. Progress is about
what must happen at some time, and only a run without end shows that it does not::

    @eventually
    def served(s: Counter, c: Customer) -> bool:
        '''Whoever waits is served in the end.'''
        return leads_to(c in s.waiting, c not in s.waiting)

    counter = System(…, properties=[served], fairness=[weak(serve)])

Without an assumption any run may stop at any time. Fairness says which steps do not stay away for ever.
Its unit is a *fair set*: steps of some actions, whatever their arguments, or one such set for each value
of a parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal

from slotproof.model.language.errors import LanguageError, Site, callers_line
from slotproof.model.language.surface import Action, Property, _plain

Strength = Literal["weak", "strong"]


@dataclass(frozen=True, eq=False)
class Fairness:
    """Fair sets of steps, made by ``weak`` and ``strong``."""

    strength: Strength
    actions: tuple[Action[Any], ...]
    each: tuple[str, ...]
    where: Callable[..., bool] | None
    site: Site

    @property
    def steps(self) -> str:
        """Which steps the sets are made of: the actions, and what is asked of them."""
        names = " or ".join(a.name for a in self.actions)
        return f"{names} where {self.where.__name__}" if self.where is not None else names

    def __repr__(self) -> str:
        return f"{self.strength}({self.steps})"


def weak(
    *actions: Action[Any], each: str | tuple[str, ...] = (), where: Callable[..., bool] | None = None
) -> Fairness:
    """These steps do not stay away for ever while one of them is possible all the time.

    All steps of the actions are one set. ``each`` names parameters that all of them have: then there is a
    set for every value of these. ``where`` is a plain function of the state before the step, and limits
    the sets to steps for which it is true. Its further parameters are arguments of the step if the actions
    have parameters of these names; for each value of any other one there is a set of its own.
    """
    return _fairness("weak", actions, each, where)


def strong(
    *actions: Action[Any], each: str | tuple[str, ...] = (), where: Callable[..., bool] | None = None
) -> Fairness:
    """These steps do not stay away for ever while one of them is possible again and again.

    It assumes more than ``weak``, which see for the arguments: what is possible all the time is possible
    again and again.
    """
    return _fairness("strong", actions, each, where)


def _fairness(
    strength: Strength,
    actions: tuple[Action[Any], ...],
    each: str | tuple[str, ...],
    where: Callable[..., bool] | None,
) -> Fairness:
    site = callers_line(3)
    if not actions:
        raise LanguageError(f"{strength}(): names no action; write {strength}(action, …)", site)
    for action in actions:
        if not isinstance(action, Action):
            raise LanguageError(
                f"{strength}({getattr(action, '__name__', action)}): is no action; write '@action' above it",
                site,
            )
    names = (each,) if isinstance(each, str) else each
    if not (isinstance(names, tuple) and all(isinstance(n, str) for n in names)):
        raise LanguageError(
            f'{strength}(each={each!r}): write the name of a parameter of the actions: each="…"', site
        )
    if where is not None and not isinstance(where, FunctionType):
        raise LanguageError(
            f"{strength}(where={where!r}): write a function of the state without a mark", site
        )
    return Fairness(strength, actions, names, where, site)


def eventually(function: Callable[..., bool], /) -> Property:
    """Mark a progress property: it returns ``leads_to(…)``, of a state and of values that it is about.

    Parameters after the state range over all values of their types; the property has to hold for each.
    """
    return Property(_plain(function), "run", None)


def leads_to(premise: bool, goal: bool) -> bool:
    """Wherever a run meets the premise, it meets the goal there or later.

    Stands in the ``return`` of a function marked ``@eventually``. As a value it says whether a state that
    meets the premise meets the goal at once.
    """
    return not premise or goal
