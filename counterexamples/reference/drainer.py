"""The drainer: an adapter whose requests wait too long gets a running one to make room for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slotproof.counterexamples.reference.pool import BASE
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.rules import Rules

TOLERANCE = 1.2


@dataclass(frozen=True)
class Measures:
    """Where numbers come from: seconds in the queue, tokens left to a row, tokens that a request asks for."""

    waited: Callable[[Request], float]
    left: Callable[[Request], int]
    wanted: Callable[[Request], int]


class LoRADrainer:
    """Marks by adapter, ``drains_for``; ``left``: tokens left to its longest row, at the last update."""

    def __init__(self, slots: int, threshold: float, measures: Measures, rules: Rules) -> None:
        self.slots = slots
        self.threshold = threshold
        self.measures = measures
        self.rules = rules
        self.drains_for: dict[str, str] = {}
        self.left: dict[str, int] = {}

    def update(self, waiting: Sequence[Request], rows: Sequence[Request]) -> None:
        """The marks for a pass over the queue, from the queue and the active set."""
        waits: dict[str, float] = {}
        for r in waiting:
            waits[r.adapter] = max(waits.get(r.adapter, 0.0), self.measures.waited(r))
        self.left = {}
        for r in rows:
            self.left[r.adapter] = max(self.left.get(r.adapter, 0), self.measures.left(r))
        if len(self.left) >= self.slots:
            starving = [uid for uid in waits if waits[uid] > self.threshold]
            self._give_victims([uid for uid in starving if uid not in self.drains_for.values()], waits)
        self.drains_for = {uid: whom for uid, whom in self.drains_for.items() if uid in self.left}

    def _give_victims(self, starving: list[str], waits: dict[str, float]) -> None:
        """Who waits longest comes first; a victim is taken for the base model, too."""
        unmarked = [uid for uid in self.left if uid not in self.drains_for]
        for uid in sorted(starving, key=lambda uid: -waits[uid]):
            if not unmarked:
                return
            victim = min(unmarked, key=lambda uid: self.left[uid])
            unmarked.remove(victim)
            if uid != BASE or self.rules.base_can_starve == "like_any_adapter":
                self.drains_for[victim] = uid

    def can_schedule(self, r: Request) -> bool:
        """Whether a request may join the rows of its adapter."""
        if r.adapter not in self.drains_for:
            return True
        if self.rules.drainer_allows == "nobody_joins_a_drain":
            return False
        return self.measures.wanted(r) <= self.left[r.adapter] * TOLERANCE
