"""Seeded slips of the reference: each is a mistake that a server's author could make.

A slip changes the reference in place for the time of a test.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest

from slotproof.counterexamples.reference.decode import DecodeScheduler
from slotproof.counterexamples.reference.drainer import LoRADrainer
from slotproof.counterexamples.reference.forward import Forwards, Part
from slotproof.counterexamples.reference.loader import OverlapLoader
from slotproof.counterexamples.reference.manager import LoRAManager
from slotproof.counterexamples.reference.metadata import Blocks, Segments, segments
from slotproof.counterexamples.reference.pool import SlotPool
from slotproof.counterexamples.reference.registry import Tokenizer
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.scheduler import Adder, Batch, Scheduler

Slip = Callable[[pytest.MonkeyPatch], None]


def occupies_too_late(patch: pytest.MonkeyPatch) -> None:
    """A pick counts as occupying its slot in the next pass, not in this one."""

    def occupied(self: Scheduler, adder: Adder) -> set[str]:
        rows = [r for r in self.running if r.finished is None]
        return {r.adapter for r in [*rows, *([adder.resumed] if adder.resumed else [])]}

    patch.setattr(Scheduler, "occupied", occupied)


def reaps_after_the_capacity_test(patch: pytest.MonkeyPatch) -> None:
    """Ended copies are dropped when the adapter has been tested already."""
    right = OverlapLoader.try_overlap_load_lora

    def late(self: OverlapLoader, uid: str, running: set[str]) -> Generator[object, None, bool]:
        self.rules.names["reap_first"] = "reap_nothing"
        ready = yield from right(self, uid, running)
        self.drain()
        return ready

    patch.setattr(OverlapLoader, "try_overlap_load_lora", late)


def forgets_a_field_in_a_reset(patch: pytest.MonkeyPatch) -> None:
    """The merged segments stay behind."""
    right = Blocks.reset

    def reset(self: Blocks) -> None:
        kept = self.merged
        right(self)
        self.merged = kept

    patch.setattr(Blocks, "reset", reset)


def reuse_is_no_use(patch: pytest.MonkeyPatch) -> None:
    """A resident adapter keeps its old place in the order of use."""
    right = SlotPool.prepare

    def prepare(self: SlotPool, needed: Any, *rest: Any) -> set[str]:
        before = list(self.recency)
        evicted = right(self, needed, *rest)
        for uid in [*before, *(uid for uid in self.recency if uid not in before)]:
            if uid in self.recency:
                self.recency.move_to_end(uid)
        return evicted

    patch.setattr(SlotPool, "prepare", prepare)


def keeps_the_event_of_an_unloaded_adapter(patch: pytest.MonkeyPatch) -> None:
    """An unload frees the slot and leaves the entry of the copy in the table."""
    right = LoRAManager.unload

    def unload(self: LoRAManager, uid: str, clears: bool, events: Any, *rest: Any) -> None:
        right(self, uid, clears, dict(events), *rest)

    patch.setattr(LoRAManager, "unload", unload)


def keeps_the_slot_of_an_unloaded_adapter(patch: pytest.MonkeyPatch) -> None:
    """An unload forgets the adapter and not its slot."""
    patch.setattr(SlotPool, "remove", lambda self, uid, stream: None)


def delivers_the_token_of_a_partial_prompt(patch: pytest.MonkeyPatch) -> None:
    """The result of a piece in the middle is taken for a token."""
    right = Scheduler.process_batch_result

    def process(self: Scheduler, batch: Batch) -> None:
        batch.middle = None
        right(self, batch)

    patch.setattr(Scheduler, "process_batch_result", process)


def reservation_does_not_occupy(patch: pytest.MonkeyPatch) -> None:
    """The decode gate does not count what the same pass has reserved."""

    def admits(self: DecodeScheduler, r: Request, occupied: set[str]) -> bool:
        return right(self, r, self.occupied_on_decode())

    right = DecodeScheduler.admits
    patch.setattr(DecodeScheduler, "admits", admits)


def releases_on_every_echo(patch: pytest.MonkeyPatch) -> None:
    """An abort echo gives the reference back, whatever the release does."""

    def handle_echo(self: Tokenizer, rid: str) -> None:
        self.registry.release(self.close(rid).adapter)

    patch.setattr(Tokenizer, "handle_echo", handle_echo)


def sweeps_nothing_before_a_decode(patch: pytest.MonkeyPatch) -> None:
    """Finished rows stay in the active set for good."""
    patch.setattr(Scheduler, "filter_running", lambda self: None)


def scales_by_one(patch: pytest.MonkeyPatch) -> None:
    """Batch metadata carries a scaling of one for every adapter: seen in tokens alone."""
    right = Forwards.block

    def block(self: Forwards, part: Part, batch: Any, lookup: bool = True) -> Segments:
        found = right(self, part, batch, lookup)
        lengths = [end - start for start, end in zip(found.starts, found.starts[1:], strict=False)]
        return segments(found.forward, lengths, found.slots, found.ranks, [1.0] * len(found.scalings))

    patch.setattr(Forwards, "block", block)


def copies_half_an_adapter(patch: pytest.MonkeyPatch) -> None:
    """A copy leaves the logits' layer out: seen in tokens alone."""
    right = SlotPool._write

    def write(self: SlotPool, slot: int, tensors: Any) -> None:
        right(self, slot, {layer: both for layer, both in tensors.items() if layer != "LM_HEAD"})

    patch.setattr(SlotPool, "_write", write)


def drains_for_good(patch: pytest.MonkeyPatch) -> None:
    """A mark stays when the adapter has no rows any more."""
    right = LoRADrainer.update

    def update(self: LoRADrainer, waiting: Sequence[Request], rows: Sequence[Request]) -> None:
        before = dict(self.drains_for)
        right(self, waiting, rows)
        self.drains_for = {**before, **self.drains_for}

    patch.setattr(LoRADrainer, "update", update)


def lets_everybody_join_a_drain(patch: pytest.MonkeyPatch) -> None:
    """The tolerance is twice what it is."""
    patch.setattr("slotproof.counterexamples.reference.drainer.TOLERANCE", 2.4)


SLIPS: tuple[tuple[Slip, str, str], ...] = (
    (occupies_too_late, "partial-prompt", "0.5.23"),
    (reaps_after_the_capacity_test, "overlap-cancel", "0.5.14"),
    (forgets_a_field_in_a_reset, "idle-rank", "0.5.17"),
    (reuse_is_no_use, "finish-unload", "0.5.23"),
    (keeps_the_event_of_an_unloaded_adapter, "overlap-cancel", "0.5.22"),
    (keeps_the_slot_of_an_unloaded_adapter, "finish-unload", "0.5.16"),
    (delivers_the_token_of_a_partial_prompt, "partial-prompt", "0.5.14"),
    (reservation_does_not_occupy, "decode-admission", "0.5.20"),
    (releases_on_every_echo, "use-counts", "0.5.20"),
    (sweeps_nothing_before_a_decode, "finish-unload-normal", "0.5.20"),
    (scales_by_one, "overlap-cancel", "0.5.23"),
    (copies_half_an_adapter, "decode-admission", "0.5.23"),
    (drains_for_good, "drained-traffic", "0.5.23"),
    (lets_everybody_join_a_drain, "drained-traffic", "0.5.20"),
)
"""Each with a scenario and a release that it breaks."""
