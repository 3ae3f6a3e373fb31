"""The decode role: reservations, transfers of keys and values, and an active set without prefills."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from slotproof.counterexamples.reference.forward import Piece
from slotproof.counterexamples.reference.registry import Output
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.scheduler import Batch, Iteration, Scheduler

Prefilled = Callable[[Request], tuple[torch.Tensor, torch.Tensor, int]]
"""What the prefill server sends for a request: keys, values, first token."""


class Peer:
    """What the decode server learns of the prefill server and of its own memory, set by whoever drives it.

    ``ready``: requests whose handshake has been done, or whose keys and values have arrived. ``failed``:
    those whose receiver reports a failure. ``short``: rows for whose next token memory is lacking.
    ``resumable``: retracted requests for which memory is free again.
    """

    def __init__(self, prefilled: Prefilled) -> None:
        self.prefilled = prefilled
        self.ready: set[str] = set()
        self.failed: set[str] = set()
        self.short: list[str] = []
        self.resumable: set[str] = set()


class DecodeScheduler(Scheduler):
    """The loop of ``disaggregation/decode.py``; ``max_rows`` limits the active set."""

    peer: Peer
    max_rows: int = 1

    def __init__(self, *args: Any, peer: Peer, **options: Any) -> None:
        super().__init__(*args, **options)
        self.peer = peer
        self.reserving: list[Request] = []
        self.transferring: list[Request] = []
        self.retracted: list[Request] = []

    def enqueue(self, r: Request) -> None:
        """A request waits for its reservation first."""
        self.reserving.append(r)

    def abort(self, rid: str) -> bool:
        """While keys and values are awaited the receiver is aborted, and the next poll reports a failure."""
        for r in self.reserving + self.transferring:
            if r.rid == rid:
                self.peer.failed.add(rid)
                return True
        for r in self.retracted:
            if r.rid == rid:
                self.retracted.remove(r)
                self.tokenizer.send_echo(rid)
                return True
        return super().abort(rid)

    def has_work(self) -> bool:
        """Whether an iteration would do anything."""
        return bool(self.reserving or self.transferring or self.retracted or self.waiting or self.running)

    def iteration(self) -> Iteration:
        """Once through the loop: queues, imported prefills, sweep, retraction, forward, result."""
        yield from ()
        self.process_decode_queue()
        self.run_prebuilt()
        self.filter_running()
        self.retract()
        batch = None
        if self.running:
            batch = Batch(prefill=False, pieces=[Piece(r, r.length, 1) for r in self.running])
            self.part.report.rows = [r.rid for r in batch.requests]
            self.part.report.handed = {r.adapter for r in batch.requests}
            batch.result = self.forwards.run([self.part], [batch.pieces], [False])
        self.end(batch)
        return True

    def process_decode_queue(self) -> None:
        """Retracted requests first; while any is left nothing is admitted and nothing is polled."""
        self.resume_retracted_reqs()
        if self.retracted:
            return
        reserved = self.pop_preallocated()
        self.pop_transferred()
        self.reserving = [r for r in self.reserving if r not in reserved]
        self.transferring += reserved

    def resume_retracted_reqs(self) -> None:
        """Back to the queue in order, as far as memory reaches, without the gate."""
        while self.retracted and self.retracted[0].rid in self.peer.resumable:
            self.waiting.append(self.retracted.pop(0))

    def fail(self, r: Request) -> None:
        """The request leaves with an output whose finish reason is abort 500."""
        self.peer.failed.discard(r.rid)
        r.finished = "abort"
        self.tokenizer.send_output(Output(r.rid, tuple(r.output), error=True))

    def pop_preallocated(self) -> list[Request]:
        """Drop what failed, then reserve in order; whom the gate refuses stays. Returns who got one."""
        for r in [r for r in self.reserving if r.rid in self.peer.failed]:
            self.reserving.remove(r)
            self.fail(r)
        occupied = self.occupied_on_decode()
        reserved = []
        in_order = self.rules.refusal_ends_reservation == "stops_at_the_refused_candidate"
        for r in self.reserving:
            ready = r.rid in self.peer.ready
            gated = self.rules.gate_on_reservation == "gate_decides" and (ready or in_order)
            if gated and not self.admits(r, occupied):
                self.gate.refused.add(r.rid)
                if in_order:
                    break
                continue
            if not ready:
                continue
            reserved.append(r)
            if self.rules.reservation_occupies == "counted_at_once":
                occupied.add(r.adapter)
        return reserved

    def admits(self, r: Request, occupied: set[str]) -> bool:
        """The gate of the other roles; nothing is waited for on the way."""
        asking = self.can_schedule_lora_req(r, occupied)
        while True:
            try:
                next(asking)
            except StopIteration as end:
                return bool(end.value)

    def occupied_on_decode(self) -> set[str]:
        """The adapters of active, transferring and waiting requests."""
        rows = self.running
        if self.rules.occupied_on_decode == "unfinished_rows_only":
            rows = [r for r in rows if r.finished is None]
        return {r.adapter for r in [*rows, *self.transferring, *self.waiting]}

    def pop_transferred(self) -> None:
        """What failed leaves; a request whose keys and values are here waits for a row."""
        for r in list(self.transferring):
            if r.rid in self.peer.failed:
                self.transferring.remove(r)
                self.fail(r)
            elif r.rid in self.peer.ready:
                self.transferring.remove(r)
                r.receive(*self.peer.prefilled(r))
                self.waiting.append(r)

    def run_prebuilt(self) -> None:
        """Free rows go to waiting requests; one whose last token has come already is answered at once."""
        free = self.max_rows - len(self.running)
        started, self.waiting = self.waiting[: max(free, 0)], self.waiting[max(free, 0) :]
        for r in started:
            if r.check_finished():
                self.tokenizer.send_output(Output(r.rid, tuple(r.output)))
            else:
                self.running.append(r)

    def retract(self) -> None:
        """Put rows out for which memory is lacking, as long as one stays."""
        out = [r for r in self.running if r.rid in self.peer.short]
        if len(out) < len(self.running):
            self.retracted += sorted(out, key=lambda r: self.peer.short.index(r.rid))
            self.running = [r for r in self.running if r not in out]
