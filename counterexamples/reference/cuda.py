"""The device on CUDA: real streams, events and pinned memory, and a gate that the device waits at.

A gate is a stream memory operation of the driver: the stream waits until a word of pinned host memory has
reached the gate's number (``cuStreamWaitValue32``), and opening it is a store by the host. Nothing of the
host waits at a gate, so that the order in which gates are opened is the order in which the device works.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from slotproof.counterexamples.reference.device import Event, Stream

WAIT_UNTIL_AT_LEAST = 0
"""``CU_STREAM_WAIT_VALUE_GEQ``."""


class CudaError(RuntimeError):
    """The driver refused a stream memory operation."""


def _wait_value(stream: torch.cuda.Stream, address: int, value: int) -> None:
    driver = ctypes.CDLL("libcuda.so.1")
    call = driver.cuStreamWaitValue32_v2
    call.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint]
    status = call(stream.cuda_stream, address, value, WAIT_UNTIL_AT_LEAST)
    if status != 0:
        raise CudaError(f"cuStreamWaitValue32 failed with CUDA driver status {status}")


class _CudaEvent:
    def __init__(self, stream: CudaStream, gates: int) -> None:
        self.stream = stream
        self.gates = gates
        self.event = torch.cuda.Event()  # type: ignore[no-untyped-call, unused-ignore]
        self.event.record(stream.stream)

    def query(self) -> bool:
        return bool(self.event.query())  # type: ignore[no-untyped-call, unused-ignore]

    def synchronize(self) -> None:
        self.stream.open(self.gates)
        for other in self.stream.awaited:
            other.synchronize()
        self.stream.awaited.clear()
        self.event.synchronize()


class CudaStream:
    """A stream of a ``CudaDevice``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stream = torch.cuda.Stream()  # type: ignore[no-untyped-call, unused-ignore]
        self.word = torch.zeros(1, dtype=torch.int32, pin_memory=True)
        self.labels: list[Any] = []
        self.opened = 0
        self.ends: dict[int, _CudaEvent] = {}
        self.awaited: list[_CudaEvent] = []

    def gate(self, label: Any) -> None:
        """The stream waits here until the gate is opened."""
        self.labels.append(label)
        _wait_value(self.stream, self.word.data_ptr(), len(self.labels))

    def launch(self, work: Callable[[], None]) -> None:
        """Launch the work's kernels; the host goes on."""
        with torch.cuda.stream(self.stream):
            work()

    def record(self) -> Event:
        """An event behind all that was launched before."""
        event = _CudaEvent(self, len(self.labels))
        self.ends[len(self.labels)] = event
        return event

    def wait(self, event: Event) -> None:
        """The stream waits for the event of another one."""
        assert isinstance(event, _CudaEvent)
        if event.stream is not self:
            self.stream.wait_event(event.event)
            self.awaited.append(event)

    def release(self) -> None:
        """Open the first closed gate, and wait for the event that was recorded behind it."""
        assert self.opened < len(self.labels), f"stream {self.name} has no closed gate"
        self.open(self.opened + 1)
        if self.opened in self.ends:
            self.ends[self.opened].synchronize()

    def open(self, gates: int) -> None:
        """Open the gates up to this one."""
        self.opened = max(self.opened, gates)
        self.word[0] = self.opened

    def closed(self) -> tuple[Any, ...]:
        """The labels of the gates that are closed, in order."""
        return tuple(self.labels[self.opened :])


class CudaDevice:
    """The current CUDA device."""

    kind = "cuda"

    def __init__(self) -> None:
        self.place = torch.device("cuda")

    def stream(self, name: str) -> Stream:
        """A new stream."""
        return CudaStream(name)

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        """A page-locked copy, which the device reads by itself."""
        return tensor.pin_memory()
