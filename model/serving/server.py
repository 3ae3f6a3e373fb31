"""The whole server: one tokenizer, and for each rank one scheduler process with its components."""

from __future__ import annotations

from slotproof.model.language import Map, Record, State, field
from slotproof.model.serving.decode_queues import DecodeQueues
from slotproof.model.serving.drainer import Drainer
from slotproof.model.serving.loader import Loader
from slotproof.model.serving.manager import Manager
from slotproof.model.serving.pool import Pool
from slotproof.model.serving.registry import Registry
from slotproof.model.serving.report import ForwardReport, GateReport
from slotproof.model.serving.routing import Routing
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.tokenizer import Replies, Tokenizer
from slotproof.model.serving.vocabulary import BASE, Adapter, Rank, Request


class Process(Record):
    """One scheduler process."""

    scheduler: Scheduler
    decode: DecodeQueues
    drainer: Drainer
    gate: GateReport
    manager: Manager
    loader: Loader
    pool: Pool
    forward: ForwardReport
    routing: Routing


class Server(State):
    """One server; a part that a scenario does not use never changes and takes no room in its states."""

    adapter: Map[Request, Adapter] = field(BASE, "the adapter id that each request carries (lora_id)")
    registry: Registry
    tokenizer: Tokenizer
    replies: Replies
    ranks: Map[Rank, Process]
