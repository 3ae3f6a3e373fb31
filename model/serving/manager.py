"""The host catalogue and the fit test (``lora/lora_manager.py: LoRAManager``)."""

from __future__ import annotations

from slotproof.model.language import Record, Set, field
from slotproof.model.serving.vocabulary import Adapter


class Manager(Record):
    """``LoRAManager``: the adapters whose weights this process holds on the host."""

    gone: Set[Adapter] = field(set(), "adapters that left the catalogue (lora_refs)")
