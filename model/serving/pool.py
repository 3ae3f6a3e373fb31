"""The device slots (``lora/mem_pool.py: LoRAMemoryPool``, ``lora/eviction_policy.py``)."""

from __future__ import annotations

from slotproof.model.language import Record, Seq, Set, field
from slotproof.model.serving.vocabulary import BASE, Adapter


class Pool(Record):
    """``LoRAMemoryPool``: which adapters are in a slot, and in which order they were used.

    Residency is a set: no rule of the server looks at the number of a slot. The order of use is exact,
    because it decides the victim.
    """

    resident: Set[Adapter] = field({BASE}, "adapters in a slot (keys of uid_to_buffer_id)")
    recency: Seq[Adapter] = field([], "least recently used first (LRUEvictionPolicy.access_order)")
