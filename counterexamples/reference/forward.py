"""A forward: what a batch needs in slots and metadata, and the launch of its kernels.

``init_new`` is the host's part: it makes adapters resident and prepares batch metadata. ``launch`` goes
through the layers on the host, where each decides by its metadata what its kernel will read, and puts the
work on the device. With data-parallel ranks the feed-forward part of each runs on the rows of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from slotproof.counterexamples.reference.device import Buffer, Device, Event, Stream
from slotproof.counterexamples.reference.kernel import SegmentError, segmented_lora
from slotproof.counterexamples.reference.manager import LoRAManager
from slotproof.counterexamples.reference.metadata import GATHERED, LAYERS, Blocks, Segments, segments
from slotproof.counterexamples.reference.network import (
    attend,
    attention_part,
    base_weights,
    cut_inputs,
    cut_outputs,
    experts,
    inner,
    norm,
)
from slotproof.counterexamples.reference.pool import BASE, SlotPool
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.rules import Rules


class CollectiveHang(RuntimeError):
    """A rank waits in an exchange that another rank does not join."""


@dataclass
class Piece:
    """The rows of one request in a batch: ``count`` tokens from place ``start`` of its sequence."""

    request: Request
    start: int
    count: int


@dataclass
class ForwardReport:
    """What the last forward of a rank did, for the log."""

    rows: list[str] = field(default_factory=list)
    handed: set[str] = field(default_factory=set)
    evicted: set[str] = field(default_factory=set)
    launched: list[str] = field(default_factory=list)
    misrouted: set[str] = field(default_factory=set)
    prepared: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    bypassed: set[str] = field(default_factory=set)
    joined: bool = False


@dataclass
class Part:
    """What a forward needs of one rank."""

    manager: LoRAManager
    pool: SlotPool
    blocks: Blocks
    report: ForwardReport
    number: int = 0


@dataclass
class Result:
    """A launched forward: the event behind it and the next token of each row's request."""

    event: Event
    tokens: dict[str, Buffer[torch.Tensor]]
    faults: torch.Tensor
    parts: int
    hang: str | None

    def synchronize(self, strict: bool) -> None:
        """Wait for the forward. With ``strict`` a fault of one of its kernels is raised."""
        self.event.synchronize()
        if strict and self.hang is not None:
            raise CollectiveHang(self.hang)
        if strict and int(self.faults.max().item()):
            place = int(self.faults.flatten().argmax().item())
            part, layer = divmod(place, len(LAYERS))
            segment = int(self.faults[part, layer].item())
            raise SegmentError(
                f"kernel of layer {LAYERS[layer]} on rank{part}: segment {segment} is out of range"
            )


class Forwards:
    """Builds and launches the forwards of all ranks of a server, on one stream."""

    def __init__(self, device: Device, stream: Stream, rules: Rules, background: bool) -> None:
        self.device = device
        self.stream = stream
        self.rules = rules
        self.background = background
        self.number = 0
        self.early = True
        self.weights = {name: w.to(device.place) for name, w in base_weights().items()}

    def run(
        self, parts: Sequence[Part], batches: Sequence[Sequence[Piece]], prefill: Sequence[bool]
    ) -> Result:
        """A forward of these rows on each rank; a rank without rows takes part with an idle forward."""
        self.number += 1
        self.stream.gate(self.number)
        exchange = len(parts) > 1 and self.rules.ranks_exchange_adapters == "all_ranks_together"
        if exchange:
            self.fetch_union(parts, batches)
        for k, part in enumerate(parts):
            if not exchange:
                self.fetch(part, batches[k])
            self.init_new(part, batches, k, prefill[k], exchange)
        result = self.launch(parts, batches)
        if self.early:
            self.stream.release()
        return result

    # -- slots and metadata --------------------------------------------------------------------------

    def fetch(self, part: Part, batch: Sequence[Piece]) -> None:
        """With synchronous loading the forward makes its adapters resident, on its own stream."""
        if not self.background and batch:
            uids = {piece.request.adapter for piece in batch}
            part.report.evicted = part.manager.fetch_new_loras(uids, set(), self.stream)

    def fetch_union(self, parts: Sequence[Part], batches: Sequence[Sequence[Piece]]) -> None:
        """All ranks gather their adapter ids, and each makes the union resident."""
        union = {piece.request.adapter for batch in batches for piece in batch}
        for part in parts:
            part.report.joined = True
            if not part.manager.validate_lora_batch(union):
                raise ValueError(f"the ranks' {len(union)} adapters do not fit together")
            part.report.evicted = part.manager.fetch_new_loras(union, set(), self.stream)

    def init_new(
        self, part: Part, batches: Sequence[Sequence[Piece]], own: int, prefill: bool, exchange: bool
    ) -> None:
        """``ForwardBatch.init_new``: batch metadata for the forward."""
        batch = batches[own]
        part.report.misrouted |= {p.request.rid for p in batch if p.request.adapter not in part.pool.slot_of}
        if not batch:
            if self.rules.idle_metadata == "clears_metadata":
                part.blocks.reset()
            if exchange:
                part.blocks.prepare(self.block(part, batch, lookup=False), prefill=False)
        else:
            part.blocks.prepare(self.block(part, batch), prefill)
        part.report.prepared = set(part.blocks.names()) if batch or exchange else set()
        if exchange:
            everyone = [piece for other in batches for piece in other]
            part.blocks.prepare_everyone(self.block(part, everyone, lookup=False), idle=not batch)
            part.report.prepared |= set(part.blocks.names())
        part.report.launched = [p.request.rid for p in batch]

    def block(self, part: Part, batch: Sequence[Piece], lookup: bool = True) -> Segments:
        """Segments of a batch: each row's slot, and rank and scaling of each adapter in it."""
        ranks, scalings = [0] * part.pool.slots, [0.0] * part.pool.slots
        slots = []
        for piece in batch:
            slot = self.look_up_slot(part, piece.request.adapter, lookup)
            slots.append(slot)
            uid = piece.request.adapter
            if uid != BASE and part.pool.holders[slot] == uid:
                weights = part.manager.weights[uid]
                ranks[slot], scalings[slot] = weights.rank, weights.scaling
        return segments(self.number, [p.count for p in batch], slots, ranks, scalings)

    def look_up_slot(self, part: Part, uid: str, lookup: bool) -> int:
        """The slot of a row: an adapter that has none is an error, or reads slot 0."""
        slot = part.pool.slot_of.get(uid)
        if slot is not None:
            if lookup and uid != BASE:
                part.manager.weights[uid]
            return slot
        if lookup and uid != BASE and self.rules.adapter_without_slot == "is_an_error":
            raise KeyError(uid)
        return 0

    # -- kernels -------------------------------------------------------------------------------------

    def reads(self, part: Part, layer: str, rows: int) -> Segments | None:
        """What the layer's kernel will read; ``None`` if the layer takes the base path."""
        if not part.blocks.present(layer) and self.rules.guarded_layers == "every_layer":
            part.report.bypassed.add(layer)
            return None
        block = part.blocks.read_by(layer)
        if layer == "LM_HEAD" and block is part.blocks.lm_head:
            apply_lm_head(block, rows)
        if block.forward != self.number:
            part.report.stale.add(layer)
        return block

    def launch(self, parts: Sequence[Part], batches: Sequence[Sequence[Piece]]) -> Result:
        """Go through the layers on the host, then put their work on the device."""
        reads: list[dict[str, Segments | None]] = []
        for part, batch in zip(parts, batches, strict=True):
            reads.append({layer: self.reads(part, layer, len(batch)) for layer in LAYERS})
        paths = [block["DOWN"] is not None for block in reads]
        hang = None
        if any(paths) and not all(paths):
            waits = f"rank{paths.index(True)}"
            other = f"rank{paths.index(False)}"
            hang = f"{waits} waits in the adapter's all-reduce of layer DOWN, which {other} does not join"
        tokens: dict[str, Buffer[torch.Tensor]] = {p.request.rid: Buffer() for b in batches for p in b}
        faults = torch.zeros(len(parts), len(LAYERS), dtype=torch.int32, device=self.device.place)
        work = _Work(self.weights, [p.pool for p in parts], [list(b) for b in batches], reads, faults)
        for batch in batches:
            for piece in batch:
                piece.request.next_token = tokens[piece.request.rid]
        self.stream.launch(lambda: work.run(tokens))
        return Result(self.stream.record(), tokens, faults, len(parts), hang)


def apply_lm_head(block: Segments, rows: int) -> None:
    """The logits' block has exactly one row for each request of the batch."""
    if block.rows != rows:
        raise RuntimeError(f"the logits have {rows} rows, their batch metadata {block.rows}")


class _Work:
    """The device's part of a forward: it reads weights and the past when it runs, nothing else."""

    def __init__(
        self,
        weights: dict[str, torch.Tensor],
        pools: list[SlotPool],
        batches: list[list[Piece]],
        reads: list[dict[str, Segments | None]],
        faults: torch.Tensor,
    ) -> None:
        self.weights, self.pools, self.batches = weights, pools, batches
        self.reads, self.faults = reads, faults
        self.inputs = [[piece.request.input_of(piece.start, piece.count) for piece in b] for b in batches]

    def run(self, tokens: dict[str, Buffer[torch.Tensor]]) -> None:
        """Compute the batch's tokens."""
        hidden = [self._attention(k) for k in range(len(self.pools))]
        rows = torch.cat(hidden)
        m = norm(rows)
        parts = [self._feed_forward(k, m) for k in range(len(self.pools))]
        rows = rows + sum(parts)
        first = 0
        for k, batch in enumerate(self.batches):
            last = []
            for piece in batch:
                first += piece.count
                last.append(first - 1)
            chosen = rows[last] if last else rows[:0]
            logits = self._linear(k, "LM_HEAD", norm(chosen))
            for piece, token in zip(batch, logits.argmax(-1), strict=True):
                tokens[piece.request.rid].value = token

    def _linear(self, k: int, layer: str, x: torch.Tensor) -> torch.Tensor:
        parts = len(self.pools)
        columns = cut_inputs(layer, k, parts)
        weight = self.weights[layer][:, columns]
        if layer in GATHERED and parts > 1:
            weight = weight[cut_outputs(layer, k, parts)]
        y = x @ weight.T
        delta = self._delta(k, layer, x)
        return y if delta is None else y + delta

    def _delta(self, k: int, layer: str, x: torch.Tensor) -> torch.Tensor | None:
        block = self.reads[k][layer]
        if block is None:
            return None
        fault = self.faults[k, LAYERS.index(layer) : LAYERS.index(layer) + 1]
        pool = self.pools[k]
        return segmented_lora(x, pool.a[layer], pool.b[layer], block, fault)

    def _attention(self, k: int) -> torch.Tensor:
        batch = self.batches[k]
        place = self.weights["positions"]
        ids = [own() for own in self.inputs[k]]
        tokens = torch.cat(ids) if ids else torch.zeros(0, dtype=torch.int64, device=place.device)
        starts = [place[p.start : p.start + p.count] for p in batch]
        positions = torch.cat(starts) if starts else place[:0]

        def attention(q: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            out = []
            first = 0
            for piece in batch:
                own = slice(first, first + piece.count)
                first += piece.count
                keys, values = piece.request.extend(piece.start, key[own], value[own])
                out.append(attend(q[own], keys, values))
            return torch.cat(out) if out else q

        return attention_part(lambda layer, x: self._linear(k, layer, x), tokens, positions, attention)

    def _feed_forward(self, k: int, m: torch.Tensor) -> torch.Tensor:
        """This rank's summands for the rows of all ranks."""
        down = self._linear(k, "DOWN", inner(self._linear(k, "MERGED_COLUMN", m)))
        parts = len(self.pools)
        moe = experts(m, self.weights["experts"], self.weights["router"], k, parts)
        delta = self._delta(k, "MOE", m[:, cut_inputs("MOE", k, parts)])
        return down + moe + (0 if delta is None else delta)
