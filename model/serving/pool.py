"""The device slots and the choice of a victim (``lora/mem_pool.py``, ``lora/eviction_policy.py``).

Residency is a set: no rule of the server looks at the number of a slot (an empty one is taken before a
victim is looked for, whichever it is). The order of use is exact, because it decides the victim, so that
no eviction is shown that the server would not do. Adapters that are marked in one call are marked in the
order of their ids, which are random upstream; here it is the order of the domain, one of the possible
ones (up to 0.5.15 the order of a Python set, which may differ from call to call).
"""

from __future__ import annotations

from slotproof.model.language import Record, Seq, Set, crash, field
from slotproof.model.serving.vocabulary import BASE, Adapter, pinned, slots, unloadable


class Pool(Record):
    """``LoRAMemoryPool`` and its ``LRUEvictionPolicy``."""

    resident: Set[Adapter] = field({BASE}, "adapters in a slot (keys of uid_to_buffer_id)")
    recency: Seq[Adapter] = field([], "least recently used first (access_order)")


def can_be_victim(a: Adapter) -> bool:
    """Whether the adapter's place in the order of use can ever matter: a pinned one is passed over for
    as long as it is in the catalogue. The base model is in no order upstream either."""
    return a != BASE and (a not in pinned or a in unloadable)


def mark_used(pool: Pool, adapters: Set[Adapter]) -> None:
    """Move these to the recent end of the order of use."""
    for a in Adapter:
        if a in adapters and can_be_victim(a):
            if a in pool.recency:
                pool.recency.remove(a)
            pool.recency.append(a)


def clear_slot(pool: Pool, a: Adapter) -> None:
    """``remove_lora``: free the adapter's slot and forget its use, if it has one."""
    pool.resident -= {a}
    if a in pool.recency:
        pool.recency.remove(a)


def victims(pool: Pool, needed: Set[Adapter], gone: Set[Adapter]) -> Set[Adapter]:
    """Residents that may be evicted: not needed now, and not pinned (an unknown id counts as unpinned)."""
    return {v for v in pool.resident if v not in needed and (v not in pinned or v in gone)}


def evict(pool: Pool, needed: Set[Adapter], gone: Set[Adapter]) -> Adapter:
    """Free one slot: of the least recently used victim, of the base model only if it is the last one."""
    candidates = victims(pool, needed, gone)
    if len(candidates) == 0:
        crash("make-resident-no-victim")
    victim = next((v for v in pool.recency if v in candidates), BASE)
    clear_slot(pool, victim)
    return victim


def make_resident(pool: Pool, needed: Set[Adapter], gone: Set[Adapter]) -> Set[Adapter]:
    """``fetch_new_loras`` and ``prepare_lora_batch``: give each of these a slot. Returns who was evicted."""
    if len(needed) > slots:
        crash("make-resident-too-many")
    mark_used(pool, needed)
    evicted: Set[Adapter] = set()
    for a in Adapter:
        if a in needed and a not in pool.resident:
            if len(pool.resident) >= slots:
                evicted |= {evict(pool, needed, gone)}
            if a != BASE and a in gone:
                crash("make-resident-unknown-adapter")
            pool.resident |= {a}
    return evicted
