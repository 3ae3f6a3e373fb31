"""The release's ``LoRADrainer``, told of time and tokens what a trace says (``waits.py``).

Its decisions are its own. The clock and the requests' lengths are what a test cannot wait for: each call gets
views of the requests with the times and numbers of tokens that the steps have brought about.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from slotproof.counterexamples.replay.sglang.ids import adapter_name
from slotproof.counterexamples.replay.sglang.setup import namespace, srt
from slotproof.counterexamples.replay.waits import THRESHOLD, WANTED, Waits


class Clock:
    """The steps of a target that bring about what its drainer is told."""

    waits: Waits

    def do_waits_too_long(self, k: str, r: str) -> None:
        """The time in the queue that the drainer sees."""
        self.waits.is_overdue(r)

    def do_gets_far_on(self, k: str, r: str) -> None:
        """The tokens of a row that the drainer sees."""
        self.waits.is_far_on(r)

    def do_comes_nearest(self, k: str, a: str) -> None:
        """The tokens of an adapter's rows that the drainer sees."""
        self.waits.nearest = a


def build_drainer(slots: int, waits: Waits) -> Any:
    """A drainer of the release."""
    released: Any = srt("lora.lora_drainer").LoRADrainer

    def view(request: Any) -> Any:
        name = adapter_name(request.lora_id)
        return namespace(
            lora_id=request.lora_id,
            time_stats=namespace(wait_queue_entry_time=time.monotonic() - waits.waited(request.rid)),
            sampling_params=namespace(max_new_tokens=WANTED),
            output_ids=range(WANTED - waits.left(request.rid, name)),
        )

    class ToldOfWaits(released):  # type: ignore[misc]
        def update_draining_state(self, waiting_queue: Sequence[Any], running_reqs: Sequence[Any]) -> None:
            super().update_draining_state([view(r) for r in waiting_queue], [view(r) for r in running_reqs])

        def can_schedule(self, req: Any) -> bool:
            return bool(super().can_schedule(view(req)))

    return ToldOfWaits(slots, THRESHOLD)


def observe_drainer(drainer: Any, adapters: Sequence[str]) -> dict[str, Any]:
    """``Drainer`` of the model: its marks."""
    marks = {adapter_name(uid): stats.is_draining_for for uid, stats in drainer.adapter_to_stats.items()}
    return {f"drains_for[{a}]": None if marks.get(a) is None else adapter_name(marks[a]) for a in adapters}
