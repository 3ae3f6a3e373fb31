"""The device slots and the choice of a victim (``lora/mem_pool.py``, ``lora/eviction_policy.py``).

Residency is a set: no rule of the server looks at the number of a slot (an empty one is taken before a
victim is looked for, whichever it is). The order of use is exact, because it decides the victim, so that
no eviction is shown that the server would not do. Adapters that are marked in one call are marked in the
order of their ids, which are random upstream; here it is the order of the domain, one of the possible
ones (up to 0.5.15 the order of a Python set, which may differ from call to call).

From 0.5.16 an unload zeroes the slot that it frees, on the schedule stream, which waits for the forward in
flight; a background copy runs on the load stream, which waits for nobody. So with background loading a copy
into such a slot may run first, and what it has written is zeroed. ``zeroing`` and ``overtaken`` follow a slot
for as long as that can be, which is until the forward's result is taken: the host waits for the forward
there, and a forward may take longer than a copy. If it is shorter, the zeroing runs first and nothing is
lost; if it ends while the copy is under way, the part that has been written is. No decision looks at the
weights, so that the longest forward has the violations of all.

The slot that will be zeroed is taken before the other empty ones. So it is upstream, where the empty slot of
the lowest number is taken: slots that were never used have higher ones. With several adapters that may be
unloaded it is one of the possible orders.
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Range, Record, Seq, Set, crash, field, some
from slotproof.model.serving.vocabulary import BASE, Adapter, Loading, loading, pinned, slots, unloadable


class Pool(Record):
    """``LoRAMemoryPool`` and its ``LRUEvictionPolicy``."""

    resident: Set[Adapter] = field({BASE}, "adapters in a slot (keys of uid_to_buffer_id)")
    recency: Seq[Adapter] = field([], "least recently used first (access_order)")
    zeroing: Annotated[int, Range(0, slots)] = field(
        0, "empty slots that will be zeroed when the forward in flight has ended"
    )
    overtaken: Set[Adapter] = field(
        set(), "adapters that got a slot which will be zeroed when the forward in flight has ended"
    )
    wiped: Set[Adapter] = field(set(), "adapters in a slot that was zeroed after the start of their copy")


def can_be_victim(a: Adapter) -> bool:
    """Whether the adapter's place in the order of use can ever matter: a pinned one is passed over for
    as long as it is in the catalogue. The base model is in no order upstream either."""
    return a != BASE and (a not in pinned or a in unloadable)


def mark_used(pool: Pool, adapters: Set[Adapter]) -> None:
    """Move these to the recent end of the order of use."""
    pool.recency[:] = [a for a in pool.recency if a not in adapters]
    for a in Adapter:
        if a in adapters and can_be_victim(a):
            pool.recency.append(a)


def clear_slot(pool: Pool, a: Adapter) -> None:
    """``remove_lora``: free the adapter's slot and forget its use, if it has one."""
    pool.resident -= {a}
    if loading is Loading.BACKGROUND:
        pool.wiped -= {a}
    pool.recency[:] = [other for other in pool.recency if other != a]


def zero_behind_the_forward(pool: Pool, a: Adapter) -> None:
    """``_clear_buffer_slot_for_base`` of the adapter's slot, if it has one, on the schedule stream."""
    if loading is Loading.BACKGROUND and a in pool.resident:
        pool.zeroing += 1


def zeroed_behind_their_copy(pool: Pool) -> Set[Adapter]:
    """Adapters whose weights are zeroed before the next forward, or have been.

    Those of the base model are zeros anyway.
    """
    return pool.wiped | (pool.overtaken - {BASE})


def end_zeroing(pool: Pool) -> None:
    """The schedule stream has nothing to wait for any more and zeroes the slots."""
    if loading is Loading.BACKGROUND:
        pool.wiped = zeroed_behind_their_copy(pool)
        pool.overtaken = set()
        pool.zeroing = 0


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


def take_slot(pool: Pool, a: Adapter, victim: Adapter | None) -> None:
    """Map the adapter to the slot of a victim, or else to an empty one, first to one that will be zeroed."""
    pool.resident |= {a}
    if loading is Loading.BACKGROUND:
        if victim is not None and some(victim) in pool.overtaken:
            pool.overtaken = (pool.overtaken - {some(victim)}) | {a}
        if victim is None and pool.zeroing > 0:
            pool.zeroing -= 1
            pool.overtaken |= {a}


def make_resident(pool: Pool, needed: Set[Adapter], gone: Set[Adapter]) -> Set[Adapter]:
    """``fetch_new_loras`` and ``prepare_lora_batch``: give each of these a slot. Returns who was evicted."""
    if len(needed) > slots:
        crash("make-resident-too-many")
    mark_used(pool, needed)
    evicted: Set[Adapter] = set()
    for a in Adapter:
        if a in needed and a not in pool.resident:
            victim: Adapter | None = None
            if len(pool.resident) >= slots:
                victim = evict(pool, needed, gone)
                evicted |= {some(victim)}
            if a != BASE and a in gone:
                crash("make-resident-unknown-adapter")
            take_slot(pool, a, victim)
    return evicted
