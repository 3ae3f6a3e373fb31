"""Device slots: stacked adapter weights of each layer, who holds which slot, and who is evicted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from slotproof.counterexamples.reference.device import Device, Event, Stream
from slotproof.counterexamples.reference.network import (
    DTYPE,
    MOST_RANKS,
    SHAPES,
    AdapterWeights,
    cut_inputs,
    cut_outputs,
)

BASE = "base"
"""The id of the base model; it takes a slot of zeros like any adapter."""


class SlotPool:
    """``slots`` slots of one rank. ``part`` of ``parts`` says how its layers are cut."""

    def __init__(self, device: Device, slots: int, part: int, parts: int) -> None:
        self.slots = slots
        self.part, self.parts = part, parts
        self.a: dict[str, torch.Tensor] = {}
        self.b: dict[str, torch.Tensor] = {}
        for layer in SHAPES:
            inputs = len(range(*cut_inputs(layer, part, parts).indices(SHAPES[layer][0])))
            outputs = len(cut_outputs(layer, part, parts))
            self.a[layer] = torch.zeros(slots, MOST_RANKS, inputs, dtype=DTYPE, device=device.place)
            self.b[layer] = torch.zeros(slots, outputs, MOST_RANKS, dtype=DTYPE, device=device.place)
        self.device = device
        self.host: dict[str, dict[str, tuple[torch.Tensor, torch.Tensor]]] = {}
        self.holders: list[str | None] = [None] * slots
        self.slot_of: dict[str, int] = {}
        self.recency: OrderedDict[str, None] = OrderedDict()
        self.copies: dict[str, Event] = {}
        self.behind: dict[int, Event] = {}
        self.overtaking: set[str] = set()
        self._map(BASE, 0)

    def prepare(
        self,
        needed: Iterable[str],
        weights: Mapping[str, AdapterWeights],
        pinned: frozenset[str],
        stream: Stream,
        midway: Callable[[str], None] = lambda uid: None,
    ) -> set[str]:
        """Give each of these ids a slot, and copy what is missing on ``stream``. Returns who was evicted.

        ``midway`` is called when half of a copy has been put on the stream.
        """
        order = sorted(needed, key=lambda uid: (uid != BASE, uid))
        for uid in order:
            if uid != BASE:
                self.recency[uid] = None
                self.recency.move_to_end(uid)
        evicted = set()
        for uid in order:
            if uid in self.slot_of:
                continue
            slot = self._free_slot()
            if slot is None:
                victim = self.choose_victim(set(order), weights, pinned)
                evicted.add(victim)
                slot = self._unmap(victim)
            self.load_lora_weight(uid, slot, weights, stream, midway)
            self._map(uid, slot)
        return evicted

    def choose_victim(
        self, needed: set[str], weights: Mapping[str, AdapterWeights], pinned: frozenset[str]
    ) -> str:
        """The least recently used resident that may leave; the base model only if no other can."""
        residents = [uid for uid in self.holders if uid is not None and uid not in needed]
        candidates = {uid for uid in residents if not (uid in pinned and uid in weights)}
        if not candidates:
            raise ValueError(f"no slot can be freed: all of {self.slots} are needed or pinned")
        for uid in self.recency:
            if uid in candidates:
                return uid
        return BASE

    def load_lora_weight(
        self,
        uid: str,
        slot: int,
        weights: Mapping[str, AdapterWeights],
        stream: Stream,
        midway: Callable[[str], None],
    ) -> None:
        """Put the copy of an adapter's weights into a slot on the stream, layer by layer, in two parts."""
        assert uid == BASE or uid in weights, f"adapter {uid} is not loaded on the host"
        layers = list(SHAPES)
        self._copy(uid, slot, weights, stream, layers[: len(layers) // 2])
        midway(uid)
        self._copy(uid, slot, weights, stream, layers[len(layers) // 2 :])
        self.copies[uid] = stream.record()

    def _copy(
        self,
        uid: str,
        slot: int,
        weights: Mapping[str, AdapterWeights],
        stream: Stream,
        layers: Sequence[str],
    ) -> None:
        if uid == BASE:
            stream.launch(lambda: self._zero(slot, layers))
        else:
            own = self._pinned(weights[uid])
            stream.launch(lambda: self._write(slot, {layer: own[layer] for layer in layers}))

    def remove(self, uid: str, stream: Stream) -> int | None:
        """Free the adapter's slot, zero it on ``stream``, forget its use. Returns which, if it had one."""
        if uid not in self.slot_of:
            return None
        slot = self._unmap(uid)
        stream.launch(lambda: self._zero(slot, list(SHAPES)))
        return slot

    def awaits_zeroing(self, slot: int) -> bool:
        """Whether the slot's zeroing stands behind a forward that has not ended."""
        return slot in self.behind and not self.behind[slot].query()

    def is_filling(self, uid: str) -> bool:
        """Whether the adapter's last copy into its slot has not ended."""
        return uid in self.slot_of and uid in self.copies and not self.copies[uid].query()

    def _free_slot(self) -> int | None:
        return next((i for i, uid in enumerate(self.holders) if uid is None), None)

    def _map(self, uid: str, slot: int) -> None:
        if self.awaits_zeroing(slot):
            self.overtaking.add(uid)
        self.slot_of[uid] = slot
        self.holders[slot] = uid

    def _unmap(self, uid: str) -> int:
        slot = self.slot_of.pop(uid)
        self.holders[slot] = None
        self.recency.pop(uid, None)
        self.copies.pop(uid, None)
        self.overtaking.discard(uid)
        return slot

    def _pinned(self, weights: AdapterWeights) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
        if weights.name not in self.host:
            own = {}
            for layer in SHAPES:
                a = weights.a[layer][:, cut_inputs(layer, self.part, self.parts)].contiguous()
                b = weights.b[layer][cut_outputs(layer, self.part, self.parts)].contiguous()
                own[layer] = (self.device.pinned(a), self.device.pinned(b))
            self.host[weights.name] = own
        return self.host[weights.name]

    def _zero(self, slot: int, layers: Sequence[str]) -> None:
        for layer in layers:
            self.a[layer][slot].zero_()
            self.b[layer][slot].zero_()

    def _write(self, slot: int, tensors: Mapping[str, tuple[torch.Tensor, torch.Tensor]]) -> None:
        for layer, (a, b) in tensors.items():
            rank = a.shape[0]
            self.a[layer][slot, :rank].copy_(a, non_blocking=True)
            self.b[layer][slot, :, :rank].copy_(b, non_blocking=True)
