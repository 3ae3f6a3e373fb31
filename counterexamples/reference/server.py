"""The whole server, put together by its arguments: a tokenizer, and for each rank a scheduler with a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from slotproof.counterexamples.reference.decode import DecodeScheduler, Peer
from slotproof.counterexamples.reference.device import open_device
from slotproof.counterexamples.reference.forward import Forwards
from slotproof.counterexamples.reference.manager import LoRAManager
from slotproof.counterexamples.reference.metadata import LAYERS
from slotproof.counterexamples.reference.network import adapter_weights, prompt_of
from slotproof.counterexamples.reference.oracle import Alone, alone
from slotproof.counterexamples.reference.pool import BASE, SlotPool
from slotproof.counterexamples.reference.registry import Tokenizer
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.rules import Rules
from slotproof.counterexamples.reference.scheduler import Scheduler


@dataclass(frozen=True)
class ServerArgs:
    """What a server is started with; see upstream's server arguments of similar names.

    ``adapters`` does not name the base model. ``strict``: a fault of a kernel is raised when the host waits
    for the forward; without it the server goes on, for runs that are to go beyond a fault.
    """

    adapters: Sequence[str]
    slots: int
    pinned: Sequence[str] = ()
    ranks: int = 1
    decode: bool = False
    overlap: bool = True
    background: bool = False
    targets: frozenset[str] = frozenset(LAYERS)
    max_rows: int = 1
    device: str = "cpu"
    strict: bool = True


class Server:
    """``schedulers`` has one entry for each rank."""

    def __init__(self, args: ServerArgs, rules: Rules) -> None:
        torch.set_num_threads(1)
        self.args = args
        self.rules = rules
        self.device = open_device(args.device)
        self.schedule = self.device.stream("schedule")
        self.forward_stream = self.device.stream("forward")
        self.forwards = Forwards(self.device, self.forward_stream, rules, args.background)
        self.tokenizer = Tokenizer([BASE, *args.adapters], rules)
        self.peer = Peer(self.prefilled)
        self.requests: dict[str, Request] = {}
        self.sent = 0
        self.schedulers: list[Scheduler] = [self._scheduler(k) for k in range(args.ranks)]

    def _scheduler(self, k: int) -> Scheduler:
        args = self.args
        pool = SlotPool(self.device, args.slots, k, args.ranks)
        manager = LoRAManager(pool, args.pinned)
        for name in args.adapters:
            manager.load(adapter_weights(name, args.targets))
        shared = (self.device, self.forwards, self.schedule, manager, pool, self.tokenizer, self.rules)
        if args.decode:
            made = DecodeScheduler(*shared, False, args.background, args.strict, peer=self.peer)
            made.max_rows = args.max_rows
            return made
        return Scheduler(*shared, args.overlap, args.background, args.strict)

    def prefilled(self, r: Request) -> tuple[torch.Tensor, torch.Tensor, int]:
        """What a prefill server with the same adapters sends."""
        run = self.alone(r.name, r.adapter)
        keys, values = run.prefilled()
        return keys, values, run.token(0)

    def alone(self, name: str, adapter: str) -> Alone:
        """The request of a name run alone with an adapter."""
        return alone(name, None if adapter == BASE else adapter, self.args.targets)

    # -- clients and the operator ----------------------------------------------------------------------

    def new_request(self, name: str, adapter: str) -> Request:
        """A request as a client sends it: a new id for each sending."""
        self.sent += 1
        r = Request(f"{name}#{self.sent}", name, adapter, prompt_of(name))
        r.place = self.device.place
        self.requests[r.rid] = r
        return r

    def send(self, r: Request, rank: int, owns: bool = True) -> None:
        """Open the tokenizer's state and queue the request."""
        self.tokenizer.open(r.rid, r.adapter, owns)
        self.schedulers[rank].enqueue(r)

    def arrive(self, name: str, adapter: str, rank: int = 0) -> Request:
        """A client's request: acquire its adapter, then send it. ``KeyError`` if it is not registered."""
        uid = self.tokenizer.registry.look_up(adapter)
        self.tokenizer.registry.acquire(uid)
        r = self.new_request(name, uid)
        self.send(r, rank)
        return r

    def abort(self, rid: str) -> bool:
        """Every rank gets the abort; whether it changed anything."""
        changed = [scheduler.abort(rid) for scheduler in self.schedulers]
        return any(changed)

    def unload(self, uid: str) -> None:
        """The use count is zero: every rank unloads."""
        self.tokenizer.unloading.discard(uid)
        for scheduler in self.schedulers:
            scheduler.unload(uid)
