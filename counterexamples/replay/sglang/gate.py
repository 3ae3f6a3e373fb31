"""The admission gate, watched: what it answered, what it counted, and where an iteration may stand still.

``can_schedule_lora_req``, ``validate_lora_batch`` and (0.5.23) the adder's ``budget_state`` run as they are;
each is wrapped in a function that notes the answer. An iteration stands where the model cuts it: before a
candidate that is not the first, while a copy is in flight, and at the loader's second look.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from slotproof.counterexamples.replay.sglang.device import Device
from slotproof.counterexamples.replay.sglang.ids import adapter_name
from slotproof.counterexamples.replay.sglang.setup import srt

PASS = "_get_new_batch_prefill_raw"


class GateWatch:
    """The gate of one scheduler; ``between`` is called where the iteration may stand."""

    def __init__(self, scheduler: Any, manager: Any, device: Device, between: Callable[[], None]) -> None:
        self.manager = manager
        self.device = device
        self.between = between
        self.answered = 0
        self.adder: Any = None
        self._stood = 0
        self._counts: set[str] | None = None
        self._resident: set[str | None] = set()
        self.fresh()
        name = "can_schedule_lora_req"
        name = name if hasattr(scheduler, name) else f"_{name}"
        self._gate = getattr(scheduler, name)
        setattr(scheduler, name, self._ask)
        self._validate = manager.validate_lora_batch
        manager.validate_lora_batch = self._fit_test
        self._watch_budget(srt("managers.schedule_policy").PrefillAdder)

    def fresh(self) -> None:
        """A step begins: nothing is reported yet."""
        self.refused: set[str] = set()
        self.counted: dict[str, set[str]] = {}
        self.overwritten: set[str] = set()

    def begin_pass(self) -> None:
        """An iteration begins: no candidate is answered."""
        self.answered = self._stood = 0
        self.adder = None

    def _ask(self, request: Any, running: set[str | None]) -> bool:
        self._stand(inspect.currentframe())
        self._resident = set(self.manager.memory_pool.uid_to_buffer_id)
        self.device.looks = False
        self._counts = None
        passes = bool(self._gate(request, running))
        self.device.looks = False
        self.answered += 1
        self.note_overwritten()
        if not passes:
            self.refused.add(request.rid)
            self._note(request)
        return passes

    def note_overwritten(self) -> None:
        """What the gate has evicted since it was asked, or since this was noted."""
        resident = set(self.manager.memory_pool.uid_to_buffer_id)
        self.overwritten |= {adapter_name(u) for u in self._resident - resident}
        self._resident = resident

    def _note(self, request: Any) -> None:
        if self._counts:
            self.counted[request.rid] = self._counts - {adapter_name(request.lora_id)}

    def _fit_test(self, adapters: set[str | None]) -> bool:
        fits = bool(self._validate(adapters))
        self._counts = set() if fits else {adapter_name(a) for a in adapters}
        return fits

    def _stand(self, frame: Any) -> None:
        caller = frame.f_back
        if caller is not None and "adder" in caller.f_locals:
            self.adder = caller.f_locals["adder"]
        if self.answered > self._stood and self.device.load.copies:
            self._stood = self.answered
            self.between()

    def _watch_budget(self, kind: Any) -> None:
        budget = kind.budget_state

        def budget_state(adder: Any) -> Any:
            frame = inspect.currentframe()
            if frame is not None and frame.f_back is not None and frame.f_back.f_code.co_name == PASS:
                self._stand(frame)
            return budget(adder)

        kind.budget_state = budget_state
