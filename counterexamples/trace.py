"""A trace: the way from an initial state to a violation, one named step after another.

Engines return it, the command line prints and stores it, replay drives it. States are kept as
valuations of the program's columns (``model/language/columns.py``); a step's arguments are values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from slotproof.model.language.columns import Valuation
from slotproof.model.language.program import Program

Kind = Literal["violation", "witness", "difference"]


@dataclass(frozen=True, slots=True)
class Step:
    """An action by name, with its arguments (values of the language) by parameter name."""

    action: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.action}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


@dataclass(frozen=True, slots=True)
class Trace:
    """``states[0]`` is initial (made by ``start``, if the system has initial actions), and
    ``steps[i]`` leads from ``states[i]`` to ``states[i + 1]``.

    ``system`` and ``digest`` identify the program, ``choices`` the alternatives in force by decision
    name, ``release`` their name if they have one. ``part`` is the source of the conjunct that the last
    state or step violates. ``crash`` is the cause if the last step kills the modelled program.
    ``loop`` marks a lasso: the last state is ``states[loop]`` again (their outputs may differ), and the
    steps from there on repeat for ever; with no step in the loop the run stops in its last state.

    Most traces are violations. A ``witness`` leads to a state in which ``part`` is true; a ``difference``
    is a run up to a step that another system cannot take (``part`` names it).
    """

    system: str
    digest: str
    parameters: Mapping[str, Any]
    release: str | None
    choices: Mapping[str, str]
    property: str
    part: str
    engine: str
    start: Step | None
    steps: tuple[Step, ...]
    states: tuple[Valuation, ...]
    crash: str | None = None
    loop: int | None = None
    kind: Kind = "violation"

    @classmethod
    def of(
        cls,
        program: Program,
        choices: Sequence[int],
        *,
        property: str,
        part: str,
        engine: str,
        start: Step | None,
        steps: Iterable[Step],
        states: Iterable[Valuation],
        crash: str | None = None,
        loop: int | None = None,
        release: str | None = None,
        kind: Kind = "violation",
    ) -> Self:
        """A trace of a program; ``choices`` are the numbers of the alternatives in force."""
        points = zip(program.decisions, choices, strict=True)
        return cls(
            system=program.name,
            digest=program.digest,
            parameters=program.parameters,
            release=release,
            choices={point.name: point.alternatives[i] for point, i in points},
            property=property,
            part=part,
            engine=engine,
            start=start,
            steps=tuple(steps),
            states=tuple(states),
            crash=crash,
            loop=loop,
            kind=kind,
        )

    def __len__(self) -> int:
        return len(self.steps)
