"""What a model is written with: actions, properties, witnesses, decisions and the words in their bodies.

The complete example, a two-place buffer::

    from slotproof.model.language import *

    class Buffer(State):
        items: Annotated[int, Range(0, 2)] = field(0, "items in the buffer")

    @action
    def put(s: Buffer) -> None:
        '''A producer adds an item.'''
        require(s.items < 2)
        s.items += 1

    @action
    def take(s: Buffer) -> None:
        '''A consumer takes an item.'''
        require(s.items > 0)
        s.items -= 1

    @invariant
    def bounded(s: Buffer) -> bool:
        '''The buffer never holds three items.'''
        return s.items <= 2

    buffer = System("buffer", Buffer, actions=[put, take], properties=[bounded])
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Generic, Literal, NoReturn, ParamSpec, TypeVar, overload

from slotproof.model.language.errors import (
    Crash,
    LanguageError,
    ModelError,
    NotEnabled,
    callers_line,
    unbound,
)
from slotproof.model.language.values import Record

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Action(Generic[P]):
    """A function marked with ``@action`` or ``@initial``.

    ``actor`` says whose step it is (a lane of charts); ``source`` names the upstream function.
    """

    function: Callable[P, None]
    actor: str
    source: str

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def meaning(self) -> str:
        """The docstring's first paragraph; ``{a}`` stands for the value of parameter ``a``."""
        paragraph = re.split(r"\n\s*\n", (self.function.__doc__ or "").strip())[0]
        return " ".join(paragraph.split())

    def __repr__(self) -> str:
        return f"action {self.name}"


@dataclass(frozen=True, eq=False)
class Property:
    """A function marked with ``@invariant`` (over a state), ``@step_invariant`` (over a step),
    ``@eventually`` (over a run, ``fairness.py``) or ``@on_the_way`` (over a place within a step)."""

    function: Callable[..., bool]
    over: Literal["state", "step", "run", "way"]
    on: tuple[Action[Any], ...] | None

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.function.__name__.replace("_", "-")

    @property
    def meaning(self) -> str:
        """The docstring."""
        return " ".join((self.function.__doc__ or "").split())

    def __repr__(self) -> str:
        return f"property {self.name}"


@dataclass(frozen=True, eq=False)
class Witness:
    """A function marked with ``@witness``: a state that a search has to meet."""

    function: Callable[..., bool]

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.function.__name__.replace("_", "-")

    @property
    def meaning(self) -> str:
        """The docstring."""
        return " ".join((self.function.__doc__ or "").split())

    def __repr__(self) -> str:
        return f"witness {self.name}"


@dataclass(frozen=True, eq=False)
class Decision(Generic[P, R]):
    """A decision point: a function whose body a release chooses among alternatives."""

    function: Callable[P, R]

    @property
    def name(self) -> str:
        """The function's name, as ``release(…).replace(name=…)`` takes it."""
        return self.function.__name__

    @property
    def meaning(self) -> str:
        """The docstring."""
        return " ".join((self.function.__doc__ or "").split())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the chosen alternative; has a meaning inside a system alone."""
        unbound(f"decision {self.name}", "call it inside the language; a release says which alternative runs")

    def __repr__(self) -> str:
        return f"decision {self.name}"


@overload
def action(function: Callable[P, None], /) -> Action[P]: ...
@overload
def action(*, actor: str = "", source: str = "") -> Callable[[Callable[P, None]], Action[P]]: ...
def action(function: Callable[P, None] | None = None, /, *, actor: str = "", source: str = "") -> Any:
    """Mark an atomic step. Its parameters after the state range over their whole domains.

    The body starts with ``require(…)`` lines, the guard; what follows is the effect.
    """
    if function is None:
        return lambda f: Action(_plain(f), actor, source)
    return Action(_plain(function), actor, source)


def _plain(function: Any) -> Any:
    """What a mark stands above: a function, and no other mark."""
    if isinstance(function, Action | Property | Witness | Decision):
        raise LanguageError(f"{function} is marked twice; keep one of the marks", callers_line(3))
    if not isinstance(function, FunctionType):
        raise LanguageError(
            f"{function!r} is no function; write 'def name(…):' below the mark", callers_line(3)
        )
    return function


def initial(function: Callable[P, None], /) -> Action[P]:
    """Mark a function that makes the initial states: one for each value of its parameters."""
    return Action(_plain(function), "", "")


def invariant(function: Callable[..., bool], /) -> Property:
    """Mark what must hold in every state that is no crash; top-level ``and`` parts are told apart."""
    return Property(_plain(function), "state", None)


@overload
def step_invariant(function: Callable[..., bool], /) -> Property: ...
@overload
def step_invariant(
    *, on: Action[Any] | tuple[Action[Any], ...]
) -> Callable[[Callable[..., bool]], Property]: ...
def step_invariant(
    function: Callable[..., bool] | None = None, /, *, on: Action[Any] | tuple[Action[Any], ...] | None = None
) -> Any:
    """Mark what must hold in every step, crashing steps included: a function of ``before`` and ``after``.

    With ``on`` it is about steps of these actions, whose parameters it then gets after ``before`` and
    ``after``.
    """
    actions = (on,) if isinstance(on, Action) else on
    if actions is not None and not (
        isinstance(actions, tuple | list) and all(isinstance(a, Action) for a in actions)
    ):
        raise LanguageError(f"on={on!r}: is no action; write '@step_invariant(on=action)'", callers_line())
    if function is None:
        return lambda f: Property(_plain(f), "step", actions)
    if isinstance(function, Action):
        raise LanguageError(f"{function} is no property; write '@step_invariant(on=…)'", callers_line())
    return Property(_plain(function), "step", actions)


def on_the_way(function: Callable[..., bool], /) -> Property:
    """Mark what is hoped to be true on the way through an action: a function of the state as it is there and
    of variables of the action, and of the functions that it calls, by their names.

    A proof tries it wherever all these variables are known, and uses it where it is true; no other engine
    asks for it. It stands among a system's ``on_the_way``.
    """
    return Property(_plain(function), "way", None)


def witness(function: Callable[..., bool], /) -> Witness:
    """Mark a state that the system should reach: a search that does not meet it proves nothing."""
    return Witness(_plain(function))


def decision(function: Callable[P, R], /) -> Decision[P, R]:
    """Mark a function without body as a decision point; a ``System`` names its alternatives."""
    return Decision(_plain(function))


def require(*conditions: bool) -> None:
    """The guard of an action; stands at the top of its body. Each ``and`` part is reported by itself."""
    if not all(conditions):
        raise NotEnabled(callers_line())


def crash(cause: str) -> NoReturn:
    """The modelled program dies here: a violation of ``no-crash-<cause>``. The state is terminal."""
    raise Crash(cause)


def implies(premise: bool, conclusion: bool) -> bool:
    """Conclusion if premise. Both are evaluated; a premise that is never met is reported as vacuous."""
    return not premise or conclusion


def some(value: T | None) -> T:
    """The value of an optional that must not be empty; ``None`` is a model error."""
    if value is None:
        raise ModelError("an empty optional is read")
    return value


def reset(part: Record) -> None:
    """Give every field of a record its declared initial value again."""
    from slotproof.model.language.columns import initial_value

    fresh = initial_value(part._type) if part._type is not None else part
    for name, value in vars(fresh).items():
        object.__setattr__(part, name, value)
