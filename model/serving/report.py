"""What a step shows to properties and in traces; none of it is stored."""

from __future__ import annotations

from slotproof.model.language import Map, Record, Set, output
from slotproof.model.serving.vocabulary import Adapter, Request


class GateReport(Record):
    """What the admission gate did in this step."""

    refused: Set[Request] = output(set(), "candidates that the gate keeps in the queue")
    counted: Map[Request, Set[Adapter]] = output(
        set(), "what the fit test counted when it refused the candidate"
    )
    overwritten: Set[Adapter] = output(set(), "adapters whose slots the load stream begins to write over")
    unasked: Set[Request] = output(
        set(), "candidates that the gate was not asked about, and not for want of room"
    )


class ForwardReport(Record):
    """What the forward launched in this step has to do, and what came out of the one processed in it."""

    rows: Set[Request] = output(set(), "rows of the batch that is launched")
    handed: Set[Adapter] = output(set(), "adapters of its rows, before any of them is made resident")
    evicted: Set[Adapter] = output(set(), "adapters that lost their slot to it")
    launched: Set[Request] = output(set(), "its rows, once its kernels have been launched")
    misrouted: Set[Request] = output(set(), "its rows that read a slot of another adapter")
    wiped: Set[Request] = output(
        set(), "its rows that read a slot which was zeroed after the start of the copy into it"
    )
    discarded: Set[Request] = output(set(), "rows of the forward in flight that were torn down in this step")
    results: Set[Request] = output(set(), "requests that get a token of the forward processed in this step")
