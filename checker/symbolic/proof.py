"""What a proof at any depth consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Invariant:
    """PDR's answer: ``formula`` is a term of SMT-LIB over the names of a state's variables.

    It is true at the start, kept by every step, and excludes what the properties forbid; ``depth`` is the
    number of steps after which the search saw that it was closed. ``lemmas`` are those that it consists of,
    where a person has named them. ``hints`` are terms over the names of a certificate, by the number of an
    action: each is true in every step of the action from a state of the invariant, shown by those before it,
    and helps to show the rest.
    """

    properties: tuple[str, ...]
    formula: str
    depth: int
    lemmas: tuple[str, ...] = ()
    hints: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Induction:
    """k-induction's answer: no run of ``depth`` steps breaks the properties, and no ``depth`` different
    states in which they hold lead to one in which they do not."""

    properties: tuple[str, ...]
    depth: int


Stage = Invariant | Induction
"""One lemma, or the property itself."""

Proof = tuple[Stage, ...]
"""Lemmas first: each stage takes for granted what those before it have shown."""


class NotConverged(Exception):
    """A search for a proof ended before it found one or a violation; ``depth`` is how far it came."""

    def __init__(self, reason: str, depth: int) -> None:
        super().__init__(reason)
        self.depth = depth
