"""What every engine answers: one of three verdicts for each property, and what was covered.

A verdict is never true or false by itself: ``if verdict:`` is an error, so that ``unknown`` can
neither pass nor fail by accident. Ask ``isinstance(verdict, Holds)``.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from slotproof.counterexamples.trace import Trace


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much a search has seen.

    ``fired`` counts the steps of each action. ``premises`` says of each implication of the program's
    properties (``Program.premises``) whether its premise was ever true. ``witnesses`` gives the depth
    at which each was first met, ``None`` for never. ``complete`` means that nothing is left to search;
    otherwise ``stopped`` is the limit that ended it. ``notes`` say what was not searched because it makes no
    difference to what was asked; ``asked`` are the properties that were, ``None`` for all.
    """

    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    stopped: str | None
    fired: Mapping[str, int]
    premises: tuple[bool, ...]
    witnesses: Mapping[str, int | None]
    notes: tuple[str, ...] = ()
    asked: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up; ``None`` is no limit. ``memory`` is in bytes, ``seconds`` of wall time."""

    states: int | None = None
    depth: int | None = None
    seconds: float | None = None
    memory: int | None = None


class _NoTruth:
    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is holds, violated or unknown: ask isinstance(verdict, Holds)")


@dataclass(frozen=True, slots=True)
class Holds(_NoTruth):
    """The property holds in all that the engine promises to cover."""

    word: ClassVar[str] = "holds"
    property: str
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Violated(_NoTruth):
    """The property fails; one shortest trace for each of its parts that does, shortest first."""

    word: ClassVar[str] = "violated"
    property: str
    traces: tuple[Trace, ...]
    coverage: Coverage

    @builtins.property  # the field above has taken the short name
    def trace(self) -> Trace:
        """The shortest trace."""
        return self.traces[0]


@dataclass(frozen=True, slots=True)
class Unknown(_NoTruth):
    """Neither: a limit, an interrupt, or a search that proved nothing (``vacuous: …``)."""

    word: ClassVar[str] = "unknown"
    property: str
    reason: str
    coverage: Coverage


Verdict = Holds | Violated | Unknown
