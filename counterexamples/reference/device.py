"""Streams and events of a device, and a gate in each stream that the caller opens.

Work is launched on a stream in order and runs in that order. ``gate`` puts a gate into a stream: what is
launched behind it runs after ``release`` has opened it, gates being opened in their order. So whoever
replays a trace decides when a copy or a forward ends. An event that is waited for opens every gate in front
of it: a host that synchronises waits until the device gets there.

``CpuDevice`` keeps the launched work in queues and runs it when its gates are open and the events that it
waits for are complete. ``cuda.py`` does the same with real streams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import torch

T = TypeVar("T")


class Buffer(Generic[T]):
    """What work on a stream leaves behind for work behind it; empty until that work has run."""

    __slots__ = ("value",)

    def __init__(self, value: T | None = None) -> None:
        self.value = value

    def get(self) -> T:
        """The value; an assertion fails when it is read before it has been computed."""
        assert self.value is not None, "device memory is read before it is written"
        return self.value


class Event(Protocol):
    """A place in a stream."""

    def query(self) -> bool:
        """Whether the device has got there."""

    def synchronize(self) -> None:
        """Wait until the device gets there; opens the gates in front of it."""


class Stream(Protocol):
    """Work in order."""

    name: str

    def gate(self, label: Any) -> None:
        """Work launched from now on waits until this gate is opened."""

    def launch(self, work: Callable[[], None]) -> None:
        """Run the work on the device, behind all that was launched before."""

    def record(self) -> Event:
        """An event behind all that was launched before."""

    def wait(self, event: Event) -> None:
        """Work launched from now on runs after the event."""

    def release(self) -> None:
        """Open the first closed gate, and let the work behind it run to its end or to the next gate."""

    def closed(self) -> tuple[Any, ...]:
        """The labels of the gates that are closed, in order."""


class Device(Protocol):
    """Where the server computes."""

    kind: str
    place: torch.device

    def stream(self, name: str) -> Stream:
        """A new stream."""

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same in host memory that copies to the device can read without the host."""


class _CpuEvent:
    def __init__(self, stream: CpuStream, position: int, gates: int) -> None:
        self.stream = stream
        self.position = position
        self.gates = gates

    def query(self) -> bool:
        return self.stream.done >= self.position

    def synchronize(self) -> None:
        while not self.query():
            self.stream.opened = max(self.stream.opened, self.gates)
            if not self.stream.device.settle():
                self.stream.device.push(self.stream)


class CpuStream:
    """A stream of a ``CpuDevice``: a queue of work, run by the thread that releases or synchronises."""

    def __init__(self, device: CpuDevice, name: str) -> None:
        self.device = device
        self.name = name
        self.queue: deque[int | Callable[[], None] | _CpuEvent] = deque()
        self.labels: list[Any] = []
        self.opened = 0
        self.launched = 0
        self.done = 0

    def gate(self, label: Any) -> None:
        """Work launched from now on waits until this gate is opened."""
        self.labels.append(label)
        self._put(len(self.labels))

    def launch(self, work: Callable[[], None]) -> None:
        """Run the work behind all that was launched before, as soon as gates and events allow."""
        self._put(work)
        self.device.settle()

    def record(self) -> Event:
        """An event behind all that was launched before."""
        return _CpuEvent(self, self.launched, len(self.labels))

    def wait(self, event: Event) -> None:
        """Work launched from now on runs after the event."""
        assert isinstance(event, _CpuEvent)
        if event.stream is not self:
            self._put(event)

    def release(self) -> None:
        """Open the first closed gate and run the work behind it."""
        assert self.opened < len(self.labels), f"stream {self.name} has no closed gate"
        self.opened += 1
        self.device.settle()

    def closed(self) -> tuple[Any, ...]:
        """The labels of the gates that are closed, in order."""
        return tuple(self.labels[self.opened :])

    def advance(self) -> bool:
        """Run what can run; whether anything did."""
        moved = False
        while self.queue:
            item = self.queue[0]
            if (isinstance(item, int) and item > self.opened) or (
                isinstance(item, _CpuEvent) and not item.query()
            ):
                break
            self.queue.popleft()
            if callable(item):
                item()
            self.done += 1
            moved = True
        return moved

    def blocker(self) -> _CpuEvent | None:
        """The event that the stream stands at, if it is one."""
        return self.queue[0] if self.queue and isinstance(self.queue[0], _CpuEvent) else None

    def _put(self, item: int | Callable[[], None] | _CpuEvent) -> None:
        self.queue.append(item)
        self.launched += 1


class CpuDevice:
    """Streams that run their queued work in the order in which their gates are opened."""

    kind = "cpu"
    place = torch.device("cpu")

    def __init__(self) -> None:
        self.streams: list[CpuStream] = []

    def stream(self, name: str) -> Stream:
        """A new stream."""
        made = CpuStream(self, name)
        self.streams.append(made)
        return made

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        """Host memory is what it is."""
        return tensor

    def settle(self) -> bool:
        """Run all work whose gates are open and whose events are complete; whether any ran."""
        moved, any_moved = True, False
        while moved:
            moved = any(list(map(CpuStream.advance, self.streams)))
            any_moved = any_moved or moved
        return any_moved

    def push(self, stream: CpuStream) -> None:
        """Someone waits for a stream that waits for another: open what that one waits for."""
        blocker = stream.blocker()
        assert blocker is not None, f"stream {stream.name} is waited for and has nothing to do"
        blocker.synchronize()


def open_device(kind: str) -> Device:
    """A device by its kind, ``cpu`` or ``cuda``."""
    if kind == "cpu":
        return CpuDevice()
    from slotproof.counterexamples.reference.cuda import CudaDevice

    return CudaDevice()
