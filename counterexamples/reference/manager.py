"""The host catalogue of one rank, the fit test, and making adapters resident."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from slotproof.counterexamples.reference.device import Event, Stream
from slotproof.counterexamples.reference.network import AdapterWeights
from slotproof.counterexamples.reference.pool import BASE, SlotPool


class LoRAManager:
    """The adapters whose weights a rank holds on the host."""

    def __init__(self, pool: SlotPool, pinned: Iterable[str]) -> None:
        self.pool = pool
        self.weights: dict[str, AdapterWeights] = {}
        self.pinned = frozenset(pinned)
        self.pinned_count = 0

    def load(self, weights: AdapterWeights) -> None:
        """Put an adapter into the catalogue."""
        self.weights[weights.name] = weights
        self.pinned_count += weights.name in self.pinned

    def validate_lora_batch(self, uids: set[str]) -> bool:
        """The fit test: whether these can hold slots together, with a slot kept for each pinned one."""
        if len(uids) > self.pool.slots:
            return False
        if self.pinned_count == 0:
            return True
        held = 0
        for uid in uids - {BASE}:
            assert uid in self.weights, f"adapter {uid} is not loaded"
            held += uid in self.pinned
        assert held <= self.pinned_count, "more pinned adapters in the batch than are loaded"
        return len(uids) - held <= self.pool.slots - self.pinned_count

    def fetch_new_loras(
        self,
        new: set[str],
        running: set[str],
        stream: Stream,
        midway: Callable[[str], None] = lambda uid: None,
    ) -> set[str]:
        """Make the ids resident, without evicting any that run. Returns who was evicted."""
        needed = new | running
        assert len(needed) <= self.pool.slots, f"{len(needed)} adapters for {self.pool.slots} slots"
        return self.pool.prepare(needed, self.weights, self.pinned, stream, midway)

    def unload(
        self,
        uid: str,
        clears: bool,
        events: dict[str, Event],
        stream: Stream,
        in_flight: Event | None = None,
    ) -> None:
        """Forget an adapter. With ``clears`` its pending copy is waited for, its slot freed and zeroed on
        ``stream``, behind ``in_flight``.
        """
        if clears:
            event = events.pop(uid, None)
            if event is not None:
                event.synchronize()
            if in_flight is not None:
                stream.wait(in_flight)
            slot = self.pool.remove(uid, stream)
            if slot is not None and in_flight is not None:
                self.pool.behind[slot] = in_flight
        if self.weights.pop(uid, None) is not None:
            self.pinned_count -= uid in self.pinned
