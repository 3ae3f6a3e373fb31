"""The reference implementation as a target: each action of the model as something that happens to it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from slotproof.counterexamples import reference as package
from slotproof.counterexamples.reference.decode import DecodeScheduler
from slotproof.counterexamples.reference.drainer import LoRADrainer, Measures
from slotproof.counterexamples.reference.forward import CollectiveHang, ForwardReport
from slotproof.counterexamples.reference.metadata import LAYERS
from slotproof.counterexamples.reference.pool import BASE
from slotproof.counterexamples.reference.ranks import step_together
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.rules import Rules, UnknownRule
from slotproof.counterexamples.reference.scheduler import (
    PAGE,
    GateReport,
    Iteration,
)
from slotproof.counterexamples.reference.server import Server, ServerArgs
from slotproof.counterexamples.replay import mapping
from slotproof.counterexamples.replay.driver import (
    Died,
    Mismatch,
    OutOfReach,
    Plain,
    Refused,
    Setting,
    Symptom,
)
from slotproof.counterexamples.replay.lengths import LastTokens, tokens_for
from slotproof.counterexamples.replay.waits import THRESHOLD, WANTED, Waits

ADAPTERS = (BASE, "A", "B", "C", "D", "E", "F", "G")
LATE_FORWARDS = ("stable-in-flight", "right-adapter")
"""Properties whose violation may show only when the forward in flight runs after the copies behind it."""

Arguments = Mapping[str, Plain]


class ReferenceTarget:
    """Drives one ``Server``. ``strict``: see ``ServerArgs``. ``late``: forwards run when they are waited
    for, and not as soon as they are launched; by default as the property asks for it."""

    name = "reference"

    def __init__(self, device: str = "cpu", strict: bool = True, late: bool | None = None) -> None:
        self.device = device
        self.strict = strict
        self.late = late

    # -- Target --------------------------------------------------------------------------------------

    def begin(self, setting: Setting) -> None:
        """Start a server as the setting has it."""
        if self.device == "cuda" and not torch.cuda.is_available():
            raise Mismatch("there is no CUDA device here; leave out --device cuda")
        p = dict(setting.parameters)
        for switch, what in (
            ("graphs", "replays no captured graphs"),
            ("passes", "computes logits in one pass"),
        ):
            if p.get(switch):
                raise Mismatch(f"the reference {what}: take a trace with {switch}=False")
        try:
            rules = Rules(setting.decisions)
        except UnknownRule as error:
            raise Mismatch(f"{error}; take a trace of a release") from None
        self.names = [f"r{i + 1}" for i in range(p["requests"])]
        self.adapters = ADAPTERS[: p["adapters"]]
        self.unloadable = frozenset(p["unloadable"])
        self.data_parallel = bool(p.get("data_parallel", False))
        decode = p.get("role", "SINGLE") == "DECODE"
        rows = 1
        if setting.start is not None and setting.start[0] == "with_rows":
            rows = int(setting.start[1]["limit"])
        args = ServerArgs(
            adapters=self.adapters[1:],
            slots=p["slots"],
            pinned=tuple(p["pinned"]),
            ranks=p["ranks"],
            decode=decode,
            overlap=p.get("loop") == "OVERLAP" and not self.data_parallel and not decode,
            background=p["loading"] == "BACKGROUND",
            targets=frozenset(p.get("targets", LAYERS)),
            max_rows=rows,
            device=self.device,
            strict=self.strict,
        )
        self.parameters = p
        self.kept = frozenset(args.pinned) - self.unloadable
        self.server = Server(args, rules)
        self.waits = Waits(self.adapters)
        if p.get("drainer"):
            for scheduler in self.server.schedulers:
                scheduler.drainer = self._drainer(args.slots, rules)
        self.is_late = self.late if self.late is not None else setting.property in LATE_FORWARDS
        self.server.forwards.early = not self.is_late
        self.current: dict[str, Request] = {}
        self.passes: dict[int, Iteration] = {}
        self.looked_up: dict[str, str] = {}
        self.warm: Request | None = None
        self.promised: str | None = None
        self.marks = mapping.Marks(self.unloadable, 2 if decode or p.get("parallel") else 1)
        self.wrong: list[tuple[str, int, int, int]] = []
        self.known_wrong = 0
        self.new_step()

    def step(self, action: str, arguments: Arguments) -> None:
        """Take one step of the model on the server."""
        act: Callable[[Arguments], None] | None = getattr(self, f"do_{action}", None)
        if act is None:
            raise Mismatch(f"the reference does not know action {action}")
        self.new_step()
        try:
            act(arguments)
        except (Refused, Mismatch, OutOfReach):
            raise
        except Exception as error:
            raise self.died(error) from error
        finally:
            self.check_tokens()
        held: dict[str, int] = {}
        if self.promised is not None:
            uid = self.current[self.promised].adapter
            held[uid] = 2 if self.warm is not None else 1
        self.marks.update(self.server.tokenizer, held)

    def observe(self) -> Mapping[str, Plain]:
        """The whole state, mapped component by component."""
        server, found = self.server, {}
        for name in self.names:
            r = self.current.get(name)
            found[f"adapter[{name}]"] = r.adapter if r is not None and self.under_way(r) else BASE
        for part, variables in (
            ("registry", mapping.map_registry(server.tokenizer, self.adapters, self.marks.off)),
            ("tokenizer", mapping.map_tokenizer(server.tokenizer, self.looked_up, self.warm, self.promised)),
            ("replies", mapping.map_replies(server.tokenizer)),
        ):
            found.update({f"{part}.{name}": value for name, value in variables.items()})
        for k, scheduler in enumerate(server.schedulers):
            for part, variables in (
                ("scheduler", mapping.map_scheduler(scheduler)),
                ("decode", mapping.map_decode(scheduler)),
                ("drainer", mapping.map_drainer(scheduler, self.adapters)),
                ("gate", mapping.map_gate(scheduler, self.names)),
                ("manager", mapping.map_manager(scheduler, self.adapters)),
                ("loader", mapping.map_loader(scheduler)),
                ("pool", mapping.map_pool(scheduler, self.kept, self.is_late)),
                ("forward", mapping.map_forward(scheduler, not self.data_parallel)),
                ("routing", mapping.map_routing(scheduler) if self.data_parallel else {}),
            ):
                found.update({f"ranks[rank{k}].{part}.{name}": v for name, v in variables.items()})
        return found

    def symptom(self, property: str, died: Died | None) -> Symptom | None:
        """What a user sees; the server may go on by itself for it (``symptoms.py``)."""
        from slotproof.counterexamples.replay.symptoms import symptom

        return symptom(self, property, died)

    def unexpected(self, clean: frozenset[str]) -> tuple[str, Plain, Plain] | None:
        """A wrong token of the last step, of a request that the model calls clean."""
        for rid, place, token, expected in self.wrong[self.known_wrong :]:
            if mapping.name_of(rid) in clean:
                return f"token {place + 1} of {mapping.name_of(rid)}", expected, token
        return None

    def beyond(self) -> bool:
        """The model leaves a use count that is too high where it is, for good."""
        return self.marks.beyond

    # -- the loop ------------------------------------------------------------------------------------

    def do_schedule(self, a: Arguments) -> None:
        """Once through the loop, up to where something on the device can end."""
        k = self._rank(a)
        scheduler = self.server.schedulers[k]
        if k in self.passes or not scheduler.has_work():
            raise Refused("the scheduler has nothing to do, or is within a pass")
        scheduler.budget = lambda chunk: self._budget(chunk, int(a["room"]))
        self.passes[k] = scheduler.iteration()
        self._go_on(k, a)

    def do_go_on(self, a: Arguments) -> None:
        """The rest of a pass."""
        k = self._rank(a)
        if k not in self.passes:
            raise Refused("the scheduler is not within a pass")
        self._go_on(k, a)

    def do_copy_ends(self, a: Arguments) -> None:
        """The load stream gets to the end of its first copy."""
        loader = self.server.schedulers[self._rank(a)].loader
        if loader is None or loader.stream.closed()[:1] != (a["a"],):
            raise Refused(f"the first copy on the load stream is not that of {a['a']}")
        loader.stream.release()

    def do_waits_too_long(self, a: Arguments) -> None:
        """A request of the queue is overdue."""
        self.waits.is_overdue(self.current[a["r"]].rid)

    def do_gets_far_on(self, a: Arguments) -> None:
        """A row has made more than a sixth of its tokens."""
        self.waits.is_far_on(self.current[a["r"]].rid)

    def do_comes_nearest(self, a: Arguments) -> None:
        """An adapter has the fewest tokens left."""
        self.waits.nearest = a["a"]

    def _drainer(self, slots: int, rules: Rules) -> LoRADrainer:
        """A drainer that is told of time and tokens what the steps say."""
        measures = Measures(
            waited=lambda r: self.waits.waited(r.rid),
            left=lambda r: self.waits.left(r.rid, r.adapter),
            wanted=lambda r: WANTED,
        )
        return LoRADrainer(slots, THRESHOLD, measures, rules)

    def do_step_together(self, a: Arguments) -> None:
        """One iteration of all ranks."""
        if not any(s.has_work() for s in self.server.schedulers):
            raise Refused("no rank has anything to do")
        with LastTokens(self.requests(), a["ends"]):
            step_together(self.server.forwards, self.server.schedulers)

    def do_decode_step(self, a: Arguments) -> None:
        """One iteration of the decode loop; ``moved`` says what the peer and the memory allow in it."""
        scheduler = self.server.schedulers[self._rank(a)]
        if not isinstance(scheduler, DecodeScheduler) or not scheduler.has_work():
            raise Refused("the decode scheduler has nothing to do")
        peer = self.server.peer
        moved = [self.current[name] for name in self.names if name in a["moved"]]
        rows = [r for r in moved if r in scheduler.running]
        peer.ready = {r.rid for r in moved if r in scheduler.reserving or r in scheduler.transferring}
        peer.resumable = {r.rid for r in moved if r in scheduler.retracted}
        peer.short = [r.rid for r in rows]
        imported = [r.name for r in scheduler.transferring if r in moved]
        with LastTokens(self.requests(), a["ends"], (), imported, a["quick"]):
            for _ in scheduler.iteration():
                pass

    def do_transfer_fails(self, a: Arguments) -> None:
        """The receiver of the request will report a failure."""
        r = self.current.get(a["r"])
        scheduler = self.server.schedulers[self._rank(a)]
        assert isinstance(scheduler, DecodeScheduler)
        if r is None or r not in scheduler.reserving + scheduler.transferring:
            raise Refused(f"{a['r']} waits for no transfer")
        self.server.peer.failed.add(r.rid)

    # -- clients and the tokenizer -------------------------------------------------------------------

    def do_arrive(self, a: Arguments) -> None:
        """A client sends a request."""
        self._at_ingest()
        self._free(a["r"])
        try:
            self.current[a["r"]] = self.server.arrive(a["r"], a["a"], self._rank(a))
        except KeyError:
            raise Refused(f"adapter {a['a']} is not registered") from None

    def do_look_up(self, a: Arguments) -> None:
        """A request of a list: its adapter is looked up."""
        self._free(a["r"])
        uid = self.server.tokenizer.registry.look_up(a["a"])
        self.current[a["r"]] = self.server.new_request(a["r"], uid)
        self.looked_up[a["r"]] = uid

    def do_take_references(self, a: Arguments) -> None:
        """The task of its reference runs, and it is sent."""
        uid = self.looked_up.pop(a["r"])
        self.server.tokenizer.registry.acquire(uid)
        self.server.send(self.current[a["r"]], self._rank(a))

    def do_abort(self, a: Arguments) -> None:
        """A client cancels; the tokenizer goes on waiting."""
        self._at_ingest()
        self.server.abort(self._open(a["r"]).rid)

    def do_disconnect(self, a: Arguments) -> None:
        """A client is gone: an abort is sent, and the failing handler drops the state."""
        self._at_ingest()
        r = self._open(a["r"])
        if self.server.rules.failing_handler_discards != "discards_the_state":
            raise Refused("a failing handler keeps the state")
        self.server.tokenizer.discard(r.rid)
        self.server.abort(r.rid)

    def do_fail_before_sending(self, a: Arguments) -> None:
        """A request acquires its adapter and fails validation."""
        registry = self.server.tokenizer.registry
        registry.acquire(registry.look_up(a["a"]))
        if self.server.rules.undispatched_failure_releases == "gives_the_reference_back":
            registry.release(a["a"])

    def do_answer(self, a: Arguments) -> None:
        """The last output reaches the tokenizer."""
        r = self._open(a["r"])
        if r.rid not in self.server.tokenizer.channels.outputs:
            raise Refused(f"no output of {a['r']} is on its way")
        self.server.tokenizer.handle_output(r.rid)

    def do_answer_error(self, a: Arguments) -> None:
        """An output with an error status reaches the tokenizer."""
        r = self._open(a["r"])
        if r.rid not in self.server.tokenizer.channels.outputs:
            raise Refused(f"no output of {a['r']} is on its way")
        self.server.tokenizer.handle_output(r.rid, listens=bool(a["listens"]))

    def do_echo(self, a: Arguments) -> None:
        """The abort echo reaches the tokenizer."""
        r = self._open(a["r"])
        if r.rid not in self.server.tokenizer.channels.echoes:
            raise Refused(f"no echo of {a['r']} is on its way")
        self.server.tokenizer.handle_echo(r.rid)

    # -- several samples -----------------------------------------------------------------------------

    def do_arrive_for_two(self, a: Arguments) -> None:
        """A prompt with two samples: two references, and a warm-up that owns none."""
        self._free(a["r"])
        self._free(a["q"])
        registry = self.server.tokenizer.registry
        uid = registry.look_up(a["a"])
        registry.acquire(uid)
        registry.acquire(uid)
        self.current[a["r"]] = self.warm = self.server.new_request(a["r"], uid)
        self.current[a["q"]] = self.server.new_request(a["q"], uid)
        self.promised = a["q"]
        self.server.send(self.warm, self._rank(a), owns=False)

    def do_start_sampling(self, a: Arguments) -> None:
        """The warm-up's output has come: its state goes, and the first sample is sent."""
        assert self.warm is not None
        uid = self.warm.adapter
        self.server.tokenizer.handle_output(self.warm.rid)
        if self.server.rules.warm_up_releases == "like_any_output":
            self.server.tokenizer.registry.release(uid)
        self.warm = None
        self.current[a["r"]] = self.server.new_request(a["r"], uid)
        self.server.send(self.current[a["r"]], self._rank(a))

    def do_send_second_sample(self, a: Arguments) -> None:
        """The second sample is sent."""
        self.promised = None
        self.server.send(self.current[a["q"]], self._rank(a))

    def do_fail_warm_up(self, a: Arguments) -> None:
        """The client goes during the warm-up: the samples will never be sent."""
        assert self.warm is not None
        if self.server.rules.undispatched_failure_releases == "gives_the_reference_back":
            self.server.tokenizer.registry.release(self.warm.adapter)
            self.server.tokenizer.registry.release(self.warm.adapter)
        self._drop_promise()
        self.server.abort(self.warm.rid)

    def do_fail_before_second_sample(self, a: Arguments) -> None:
        """The handler fails before the second sample is sent."""
        self._drop_promise()

    def do_end_failed_warm_up(self, a: Arguments) -> None:
        """The scheduler's answer to a warm-up without a client."""
        assert self.warm is not None
        self.server.tokenizer.close(self.warm.rid)
        self.warm = None

    # -- the operator --------------------------------------------------------------------------------

    def do_unregister(self, a: Arguments) -> None:
        """An unload begins: the name goes."""
        self._at_ingest()
        if self.server.tokenizer.unloading:
            raise Refused("another unload is running")
        if a["a"] not in self.server.tokenizer.registry.names:
            raise Refused(f"adapter {a['a']} is not registered")
        self.server.tokenizer.registry.unregister(a["a"])
        self.server.tokenizer.unloading.add(a["a"])

    def do_give_up_unload(self, a: Arguments) -> None:
        """The caller of an unload gives up."""
        self.server.tokenizer.unloading.discard(a["a"])
        if self.server.rules.remembers_given_up_unload == "remembers_the_id":
            self.server.tokenizer.incomplete.add(a["a"])

    def do_unload_again(self, a: Arguments) -> None:
        """An unload that was given up is repeated."""
        self.server.tokenizer.incomplete.remove(a["a"])
        self.server.tokenizer.unloading.add(a["a"])

    def do_unload(self, a: Arguments) -> None:
        """The use count is zero, and the schedulers unload."""
        self._at_ingest()
        count = self.server.tokenizer.registry.counts[a["a"]]
        if a["a"] not in self.server.tokenizer.unloading or count != 0:
            raise Refused(f"the unload of {a['a']} waits for its use count, which is {count}")
        self.server.unload(a["a"])

    # -- helpers -------------------------------------------------------------------------------------

    def under_way(self, r: Request) -> bool:
        """Whether any part of the server still knows the request."""
        return (
            r.rid in self.server.tokenizer.states
            or r.name in self.looked_up
            or r.name == self.promised
            or any(mapping.is_held(s, r) for s in self.server.schedulers)
        )

    def requests(self) -> list[Request]:
        """The latest request of each name."""
        return [self.current[name] for name in self.names if name in self.current]

    def new_step(self) -> None:
        """Forget what the last step showed."""
        self.known_wrong = len(self.wrong)
        for scheduler in self.server.schedulers:
            scheduler.gate = GateReport()
            scheduler.part.report = ForwardReport()
            scheduler.discarded = set()
            scheduler.processed = []
            if scheduler.loader is not None:
                scheduler.loader.overwritten = set()

    def _rank(self, a: Arguments) -> int:
        return int(str(a["k"]).removeprefix("rank"))

    def _free(self, name: str) -> None:
        r = self.current.get(name)
        if r is not None and self.under_way(r):
            raise Refused(f"{name} is under way")

    def _open(self, name: str) -> Request:
        r = self.current.get(name)
        if r is None or r.rid not in self.server.tokenizer.states:
            raise Refused(f"{name} has no open state")
        return r

    def _at_ingest(self) -> None:
        if self.passes:
            raise Refused("a scheduler is within a pass")

    def _drop_promise(self) -> None:
        assert self.promised is not None
        del self.current[self.promised]
        self.promised = None

    def _go_on(self, k: int, a: Arguments) -> None:
        scheduler = self.server.schedulers[k]
        with LastTokens(self.requests(), a["ends"], a["by_length"]):
            for pause in self.passes[k]:
                copies = scheduler.loader is not None and scheduler.loader.stream.closed()
                if pause != "candidate" or copies:
                    return
        del self.passes[k]

    def _budget(self, chunk: Request | None, room: int) -> int:
        """The tokens of a pass that has room for so many half prompts, one of them for a partial prompt."""
        if chunk is None:
            return tokens_for(room)
        rest = len(chunk.prompt) - chunk.prefilled
        if room > 1:
            return rest + tokens_for(room - 1)
        if rest <= PAGE:
            raise OutOfReach(f"the prompt of {chunk.name} has no further piece")
        return PAGE

    def check_tokens(self) -> None:
        """Compare the tokens that this step delivered with those of the requests run alone."""
        for scheduler in self.server.schedulers:
            for rid in scheduler.processed:
                r = self.server.requests[rid]
                place = len(r.output) - 1
                expected = self.server.alone(r.name, r.adapter).token(place)
                if r.output[place] != expected:
                    self.wrong.append((rid, place, r.output[place], expected))

    def died(self, error: Exception) -> Died:
        """An exception in the model's words; one that no function of the server raised is raised again."""
        folder = str(Path(package.__file__).parent)
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(folder)]
        if not frames:
            raise error
        kind, function = type(error).__name__, frames[-1].name
        text = str(error).strip("'\"")
        cause = mapping.cause_of(function, kind, text)
        if isinstance(error, CollectiveHang):
            function = "all_reduce"
        return Died(cause, function, f"{kind}: {text}" if text else kind)
