"""A compiled system: its columns, its actions and properties in the IR, and what identifies it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slotproof.model.language.columns import Column, Valuation
from slotproof.model.language.errors import Site
from slotproof.model.language.ir import Action, Expr, FairSets, Function, Progress, Property, Witness
from slotproof.model.language.system import System
from slotproof.model.language.types import RecordType

DEADLOCK = "deadlock"
"""The property that a state without successors violates, unless the system calls it final."""


NO_CRASH = "no-crash-"
"""What the name of a property about a crash begins with; its cause follows."""


def no_crash(cause: str) -> str:
    """The property that a crash with this cause violates."""
    return f"{NO_CRASH}{cause}"


@dataclass(frozen=True, slots=True)
class Point:
    """A decision point and the names of its alternatives, in order."""

    name: str
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What every engine works on. Built by ``compile_system``; a release is a tuple of choices.

    ``decisions`` lists the points; a *choice* vector gives the number of the chosen alternative of
    each, so that one program serves every release. ``initial`` are actions that run from the declared
    initial values (``columns[].initial``) and give the initial states; where there is none, the
    declared values are the only initial state. ``crashes`` are causes: after a crash the written part
    of the step stays, ``crashed`` tells the cause, and the state has no successors.

    ``sites`` are the places of model errors, ``premises`` those of implications (``Implies`` and the
    conditions of ``all``) in properties, for the report of vacuity.
    """

    name: str
    digest: str
    system: System
    parameters: Mapping[str, Any]
    state: RecordType
    columns: tuple[Column, ...]
    functions: tuple[Function, ...]
    decisions: tuple[Point, ...]
    crashes: tuple[str, ...]
    sites: tuple[Site, ...]
    premises: tuple[Premise, ...]
    initial: tuple[Action, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    witnesses: tuple[Witness, ...]
    final: Expr | None
    dropped: tuple[str, ...]
    """Actions that no state of this scope can enable: a conjunct of their guard is constantly false."""
    on_the_way: tuple[Property, ...]
    """What proofs try on the way through an action, over ``state``; ``parameters`` are variables there."""
    progress: tuple[Progress, ...]
    """What must happen in the end; the engine ``temporal`` alone answers for it."""
    fairness: tuple[FairSets, ...]
    """The assumptions of ``progress``, without those about steps that cannot happen at this scope."""

    @property
    def start(self) -> Valuation:
        """The declared initial values, one code a cell."""
        return tuple(code for column in self.columns for code in column.initial)

    @property
    def safety(self) -> tuple[str, ...]:
        """All that can be asked of states and steps: the written properties, and those that no one wrote."""
        written = (p.name for p in self.properties)
        return (*written, DEADLOCK, *map(no_crash, self.crashes))

    @property
    def cells(self) -> int:
        """How many codes a valuation has, outputs included."""
        return sum(c.cells for c in self.columns)

    def choices(self, chosen: Mapping[str, str]) -> tuple[int, ...]:
        """The choice vector of a release: alternative names by decision name, for every decision used."""
        return tuple(p.alternatives.index(chosen[p.name]) for p in self.decisions)


@dataclass(frozen=True, slots=True)
class Premise:
    """An implication of a property, and where its premise stands."""

    property: str
    site: Site
