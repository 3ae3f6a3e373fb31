"""One scheduler process: its queue, its pass over it, and its two loops.

An iteration is a generator. It yields ``"candidate"`` between two questions to the gate and
``Started.COPY`` behind a copy's start, where something on the device may end before the host looks again;
whoever drives the loop decides how long that takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from slotproof.counterexamples.reference.device import Device, Event, Stream
from slotproof.counterexamples.reference.drainer import LoRADrainer
from slotproof.counterexamples.reference.forward import ForwardReport, Forwards, Part, Piece, Result
from slotproof.counterexamples.reference.loader import OverlapLoader
from slotproof.counterexamples.reference.manager import LoRAManager
from slotproof.counterexamples.reference.metadata import Blocks
from slotproof.counterexamples.reference.pool import SlotPool
from slotproof.counterexamples.reference.registry import Output, Tokenizer
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.rules import Rules

PAGE = 2
"""Tokens that a partial prompt grows by at least; a rest below it is no room."""

Iteration = Generator[object, None, bool]


@dataclass
class Batch:
    """What is handed to a forward. ``middle`` is the row whose prompt goes on after it."""

    prefill: bool
    pieces: list[Piece]
    middle: Request | None = None
    result: Result | None = None

    @property
    def requests(self) -> list[Request]:
        """The rows' requests."""
        return [piece.request for piece in self.pieces]


@dataclass
class Adder:
    """One pass over the queue: its budget in tokens, and what it has taken (``can_run_list``)."""

    tokens: int
    picks: list[Request] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    resumed: Request | None = None
    answered: int = 0

    @property
    def spent(self) -> bool:
        """Whether no further piece fits."""
        return self.tokens < PAGE

    def add(self, r: Request) -> int:
        """Take as much of the request's prompt as fits; returns how many tokens, 0 for none."""
        rest = len(r.prompt) - r.prefilled
        count = rest if rest <= self.tokens else self.tokens // PAGE * PAGE
        if count:
            self.pieces.append(Piece(r, r.prefilled, count))
            self.tokens -= count
        return count


@dataclass
class GateReport:
    """What the gate did in the last part of a pass, for the log."""

    refused: set[str] = field(default_factory=set)
    counted: dict[str, set[str]] = field(default_factory=dict)
    overwritten: set[str] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)


class Scheduler:
    """Queue, active set and loop of one rank (``managers/scheduler.py``).

    ``budget`` gives the tokens that a pass may take, told the partial prompt that it begins with.
    """

    def __init__(
        self, device: Device, forwards: Forwards, schedule: Stream, manager: LoRAManager, pool: SlotPool,
        tokenizer: Tokenizer, rules: Rules, overlap: bool, background: bool, strict: bool,
    ) -> None:  # fmt: skip
        self.rules = rules
        self.overlap = overlap
        self.strict = strict
        self.forwards = forwards
        self.schedule = schedule
        self.tokenizer = tokenizer
        self.loader = OverlapLoader(device, manager, rules) if background else None
        self.drainer: LoRADrainer | None = None
        self.budget: Callable[[Request | None], int] = lambda chunk: 10**9
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self.last: Batch | None = None
        self.merged = False
        self.results: deque[Batch] = deque()
        self.chunk: Request | None = None
        self.adder: Adder | None = None
        self.part = Part(manager, pool, Blocks(), ForwardReport())
        self.gate = GateReport()
        self.discarded: set[str] = set()
        self.processed: list[str] = []

    # -- messages ------------------------------------------------------------------------------------

    def enqueue(self, r: Request) -> None:
        """``_add_request_to_queue``."""
        self.waiting.append(r)

    def abort(self, rid: str) -> bool:
        """``abort_request``: out of the queue with an echo, or a mark on a row. Whether it did anything."""
        for r in self.waiting:
            if r.rid == rid:
                self.waiting.remove(r)
                self.tokenizer.send_echo(rid)
                return True
        for r in self.rows():
            if r.rid == rid and r.finished is None and not r.to_finish:
                r.to_finish = True
                return True
        return False

    def unload(self, uid: str) -> None:
        """Unload an adapter, while messages are ingested."""
        events = self.loader.events if self.loader is not None else {}
        clears = self.rules.unload_and_slot != "slot_kept"
        if self.loader is not None and self.rules.unload_and_slot == "slot_zeroed_by_the_loader":
            self.part.manager.unload(uid, clears, events, self.loader.stream)
            return
        in_flight: Event | None = None
        if self.results and self.results[-1].result is not None:
            in_flight = self.results[-1].result.event
        self.part.manager.unload(uid, clears, events, self.schedule, in_flight)
        self.forwards.stream.wait(self.schedule.record())

    def rows(self) -> list[Request]:
        """The active set, and the rows of the last prefill that have not joined it."""
        last = self.last.requests if self.last is not None and self.last.prefill else []
        return self.running + [r for r in last if r not in self.running and not r.torn_down]

    def has_work(self) -> bool:
        """Whether an iteration would do anything."""
        return bool(self.waiting or self.rows() or self.results)

    # -- the loop ------------------------------------------------------------------------------------

    def iteration(self) -> Iteration:
        """Once through the loop, after messages have been ingested."""
        batch = yield from self.get_next_batch_to_run()
        if batch is not None:
            batch.result = self.forwards.run([self.part], [batch.pieces], [batch.prefill])
        self.end(batch)
        return True

    def end(self, batch: Batch | None) -> None:
        """The results that are due: of this batch in the normal loop, of the one before in the other."""
        if batch is not None:
            for piece in batch.pieces:
                piece.request.prefilled = max(
                    piece.request.prefilled, min(piece.start + piece.count, len(piece.request.prompt))
                )
                piece.request.launched += piece.start >= len(piece.request.prompt)
        if self.overlap:
            due = self.results.popleft() if self.results else None
            if batch is not None:
                self.results.append(batch)
        else:
            due = batch
        if due is not None:
            self.process_batch_result(due)
        self.last = batch
        self.merged = False
        self.adder = None

    def process_batch_result(self, batch: Batch) -> None:
        """Wait for a forward; each unfinished row gets its token, and some end with it."""
        assert batch.result is not None
        batch.result.synchronize(self.strict)
        for r in batch.requests:
            token = batch.result.tokens[r.rid].get()
            if r.finished is not None or r.torn_down or r is batch.middle:
                continue
            self.processed.append(r.rid)
            if r.take(int(token.item())):
                self.tokenizer.send_output(Output(r.rid, tuple(r.output)))

    def get_next_batch_to_run(self) -> Generator[object, None, Batch | None]:
        """Deferred abort, merge, sweep, a prefill if the pass takes any, else a decode."""
        self.process_pending_chunked_abort()
        self.merge_last()
        if self.rules.sweep_before_the_pass == "sweeps_every_step":
            self.filter_running()
        batch = yield from self.get_new_batch_prefill()
        if batch is None:
            batch = self.update_running_batch()
        if batch is not None:
            self.part.report.rows = [r.rid for r in batch.requests]
            self.part.report.handed = {r.adapter for r in batch.requests}
        return batch

    def process_pending_chunked_abort(self) -> None:
        """An aborted partial prompt is torn down, with an echo."""
        r = self.chunk
        if r is not None and r.to_finish and self.rules.tears_down_partial_prompt == "at_the_next_step":
            self.chunk = None
            r.torn_down = True
            self.discarded.add(r.rid)
            self.tokenizer.send_echo(r.rid)

    def merge_last(self) -> None:
        """The last prefill's unfinished rows join the active set, the partial prompt excepted."""
        self.merged = True
        if self.last is not None and self.last.prefill:
            for r in self.last.requests:
                if r.finished is None and r is not self.chunk and not r.torn_down and r not in self.running:
                    self.running.append(r)

    def filter_running(self) -> None:
        """Drop the finished rows of the active set."""
        self.running = [r for r in self.running if r.finished is None]

    def update_running_batch(self) -> Batch | None:
        """A decode of the active set, finished rows dropped."""
        self.filter_running()
        if self.overlap and self.rules.foresees_the_end == "leaves_out_finishing_rows":
            ending = [r for batch in self.results for r in batch.requests if self.ends_by_length(r)]
            self.running = [r for r in self.running if r not in ending]
        pieces = [Piece(r, r.length, 1) for r in self.running]
        return Batch(prefill=False, pieces=pieces) if pieces else None

    def ends_by_length(self, r: Request) -> bool:
        """Whether the result in the queue brings the request to its length."""
        return r.max_new_tokens is not None and len(r.output) + 1 >= r.max_new_tokens

    # -- the pass over the queue ---------------------------------------------------------------------

    def get_new_batch_prefill(self) -> Generator[object, None, Batch | None]:
        """``_get_new_batch_prefill_raw``."""
        adder = self.adder = Adder(self.budget(self.chunk))
        if self.chunk is not None:
            self.add_chunked_req(adder, self.chunk)
        if self.drainer is not None and (self.waiting or adder.resumed is not None):
            self.drainer.update(self.waiting, self.running)
        candidates = list(self.waiting)
        ended = False
        for r in candidates:
            if adder.spent and self.rules.spent_room_ends_the_pass == "before_the_gate":
                ended = True
                break
            passes = yield from self.can_schedule_lora_req(r, self.occupied(adder))
            adder.answered += 1
            if not passes:
                self.gate.refused.add(r.rid)
                if self.rules.refusal_ends_the_pass == "stops_at_the_refused":
                    break
            elif not adder.add(r):
                ended = True
                break
            else:
                adder.picks.append(r)
                piece = adder.pieces[-1]
                if piece.start + piece.count < len(r.prompt):
                    self.chunk = r
                if self.chunk is r or adder.spent:
                    ended = True
                    break
            if adder.answered < len(candidates):
                yield "candidate"
        if not ended:
            self.gate.unasked = {r.rid for r in candidates[adder.answered :]}
        self.waiting = [r for r in self.waiting if r not in adder.picks]
        if not adder.pieces:
            return None
        return Batch(prefill=True, pieces=adder.pieces, middle=self.chunk)

    def add_chunked_req(self, adder: Adder, r: Request) -> None:
        """Go on with the partial prompt; it is none any more if its rest fits."""
        adder.resumed = r
        count = adder.add(r)
        if r.prefilled + count >= len(r.prompt):
            self.chunk = None
        else:
            adder.tokens = 0

    def occupied(self, adder: Adder) -> set[str]:
        """``running_loras``: the adapters that hold slots at this point of the pass."""
        rows = list(self.running)
        if self.rules.occupied_on_prefill == "unfinished_rows":
            rows = [r for r in rows if r.finished is None]
        rows += adder.picks
        if adder.resumed is not None and self.rules.partial_prompt_occupies == "counted_with_the_picks":
            rows.append(adder.resumed)
        return {r.adapter for r in rows}

    def can_schedule_lora_req(self, r: Request, occupied: set[str]) -> Generator[object, None, bool]:
        """The admission gate."""
        if self.drainer is not None and not self.drainer.can_schedule(r):
            return False
        if r.adapter in occupied:
            return True
        if self.loader is None:
            fits = self.part.manager.validate_lora_batch({r.adapter} | occupied)
            if not fits:
                self.gate.counted[r.rid] = set(occupied)
            return fits
        ready = yield from self.loader.try_overlap_load_lora(r.adapter, occupied)
        counted = self.loader.last_refusal()
        if counted is not None:
            self.gate.counted[r.rid] = counted
        return ready
