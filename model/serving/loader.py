"""The background loader (``lora/lora_overlap_loader.py: LoRAOverlapLoader``)."""

from __future__ import annotations

from slotproof.model.language import Record, Set, field
from slotproof.model.serving.vocabulary import Adapter


class Loader(Record):
    """``LoRAOverlapLoader``: copies on the load stream, each with an event in a table.

    absent: in no slot, no event. copying: event, incomplete. copied: event, complete, not reaped.
    ready: in a slot, no event.
    """

    pending: Set[Adapter] = field(set(), "adapters with an entry in the event table")
    copying: Set[Adapter] = field(set(), "adapters whose copy has not ended")
