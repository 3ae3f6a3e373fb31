"""The background loader: copies on a stream of their own, with an event for each."""

from __future__ import annotations

import enum
from collections.abc import Generator

from slotproof.counterexamples.reference.device import Device, Event
from slotproof.counterexamples.reference.manager import LoRAManager
from slotproof.counterexamples.reference.rules import Rules


class Started(enum.Enum):
    """What ``try_overlap_load_lora`` hands out while it runs."""

    COPY = "a copy has been started; it may end before the loader looks again"


class OverlapLoader:
    """The load stream and the table of its copies, ``events``: id → event."""

    def __init__(self, device: Device, manager: LoRAManager, rules: Rules) -> None:
        self.manager = manager
        self.rules = rules
        self.stream = device.stream("load")
        self.events: dict[str, Event] = {}
        self.counted: set[str] | None = None
        self.overwritten: set[str] = set()

    def drain(self) -> None:
        """Drop the events that are complete."""
        for uid in [uid for uid, event in self.events.items() if event.query()]:
            del self.events[uid]

    def try_overlap_load_lora(self, uid: str, running: set[str]) -> Generator[object, None, bool]:
        """Whether the adapter can be used now; starts its copy if it is absent and fits.

        A generator: it yields after a copy's start if it then looks again, and returns the answer.
        """
        if self.rules.reap_first == "reap_all_ended":
            self.drain()
        if self.rules.copy_status == "by_its_event":
            event = self.events.get(uid)
            if event is not None:
                if event.query():
                    del self.events[uid]
                    return True
                return False
        elif uid in self.events:
            return False
        elif uid in self.manager.pool.slot_of:
            return True
        others = running | set(self.events)
        if not self.manager.validate_lora_batch({uid} | others):
            self.counted = others - {uid}
            return False
        self.start(uid, others)
        if self.rules.looks_again != "right_after_the_start":
            return False
        yield Started.COPY
        self.drain()
        return uid not in self.events

    def last_refusal(self) -> set[str] | None:
        """What the fit test counted besides the adapter if it has refused one; asked once."""
        counted, self.counted = self.counted, None
        return counted

    def start(self, uid: str, others: set[str]) -> None:
        """Put the copy on the load stream, and an event behind it.

        The gate in the middle of it is what lets a caller decide when the copy ends.
        """
        present = uid in self.manager.pool.slot_of
        self.overwritten |= self.manager.fetch_new_loras({uid}, others, self.stream, self.stream.gate)
        if present:
            self.stream.gate(uid)
        self.events[uid] = self.stream.record()
