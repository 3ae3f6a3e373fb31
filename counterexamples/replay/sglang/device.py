"""The device that stands in for a GPU: streams whose copies end when the trace says so.

The weights are copied at once, by the release's own code; what is told later is that a copy has ended. So
``Event.query`` answers from the trace and from the order of the stream, never on its own account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from slotproof.counterexamples.replay.sglang.neutral import torch


@dataclass(eq=False)
class Stream:
    """A stream: what was put on it and has not ended, in order (adapter names, base as ``None``)."""

    name: str
    copies: list[str | None] = field(default_factory=list)

    def wait_event(self, event: Event) -> None:
        """Orders later work of this stream behind the event; the order is checked where it matters."""

    def wait_stream(self, other: Stream) -> None:
        """Orders later work of this stream behind another one's."""

    def synchronize(self) -> None:
        """Wait for all that is on the stream."""
        self.copies.clear()


class Event:
    """An event on the load stream: complete when every copy before it has ended."""

    def __init__(self, device: Device, **options: Any) -> None:
        self.device = device
        self.mark = -1

    def record(self, stream: Stream | None = None) -> None:
        """Put the event behind what is on the stream now."""
        self.device.recorded()
        self.mark = self.device.issued

    def query(self) -> bool:
        """Whether everything before the event has ended."""
        self.device.asked()
        return self.complete

    @property
    def complete(self) -> bool:
        """What ``query`` answers, without asking."""
        return self.device.ended >= self.mark

    def synchronize(self) -> None:
        """Wait: every copy before the event ends now."""
        self.device.end_until(self.mark)

    def wait(self, stream: Stream | None = None) -> None:
        """Orders the current stream behind the event."""


@dataclass(eq=False)
class Device:
    """Stands in for ``torch.cuda`` where the overlap loader asks for a device module.

    ``issued`` and ``ended`` count the copies put on the load stream and ended on it. ``on_second_look`` is
    called when the loader, having started a copy, asks within the same call whether copies have ended.
    """

    load: Stream = field(default_factory=lambda: Stream("load"))
    schedule: Stream = field(default_factory=lambda: Stream("schedule"))
    issued: int = 0
    ended: int = 0
    copying: bool = False
    looks: bool = False
    on_second_look: Callable[[], None] | None = None
    asked_for: str | None = None
    batch: list[str | None] = field(default_factory=list)
    filling: dict[int, str | None] = field(default_factory=dict)

    def Stream(self, *args: Any, **options: Any) -> Any:
        """The load stream: the overlap loader makes one."""
        return self.load

    def Event(self, **options: Any) -> Any:
        """An event of this device."""
        return Event(self, **options)

    def current_stream(self, device: Any = None) -> Any:
        """The schedule stream: the scheduler's thread works on it."""
        return self.schedule

    def stream(self, stream: Any) -> Any:
        """What is done within goes onto the stream."""
        return _Entered(self)

    def synchronize(self) -> None:
        """Wait for everything."""
        self.end_until(self.issued)

    def writes(self, uid: str | None, slot: int) -> None:
        """A slot is written; on the load stream that is a copy that has not ended."""
        self.filling.pop(slot, None)
        if self.copying:
            self.batch.append(uid)
            self.filling[slot] = uid

    def recorded(self) -> None:
        """The copies since the last event go onto the stream, ``asked_for`` last, the event behind them."""
        self.load.copies += [*(u for u in self.batch if u != self.asked_for), self.asked_for]
        self.issued += len([u for u in self.batch if u != self.asked_for]) + 1
        self.batch = []
        self.looks = True

    def asked(self) -> None:
        """An event is asked; the first time after a start is the loader's second look."""
        if self.looks:
            self.looks = False
            if self.on_second_look is not None:
                self.on_second_look()

    def end_copy(self) -> str | None:
        """The first copy on the load stream ends."""
        uid = self.load.copies.pop(0)
        self.ended += 1
        if uid not in self.load.copies:
            self.filling = {slot: u for slot, u in self.filling.items() if u != uid}
        return uid

    def end_until(self, mark: int) -> None:
        """Copies end until this many have."""
        while self.ended < mark:
            self.end_copy()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """``torch.get_device_module`` answers this device, and so does ``torch.cuda.current_stream``."""
        module = torch()
        kept = module.get_device_module, module.cuda.current_stream
        module.get_device_module = lambda device=None: self
        module.cuda.current_stream = self.current_stream
        try:
            yield
        finally:
            module.get_device_module, module.cuda.current_stream = kept


class _Entered:
    """The context of the load stream; it is entered again and again."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def __enter__(self) -> None:
        self.device.copying = True

    def __exit__(self, *error: Any) -> None:
        self.device.copying = False
