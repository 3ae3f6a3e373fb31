"""The host catalogue and the fit test (``lora/lora_manager.py: LoRAManager``)."""

from __future__ import annotations

from slotproof.model.language import Record, Set, crash, decision, field
from slotproof.model.serving.loader import Loader, wait_for_copy
from slotproof.model.serving.pool import Pool, clear_slot, zero_behind_the_forward
from slotproof.model.serving.vocabulary import BASE, Adapter, Loading, loading, pinned, slots


class Manager(Record):
    """``LoRAManager``: the adapters whose weights this process holds on the host (``lora_refs``).

    All adapters are loaded at the start, so that the catalogue is told by what left it.
    """

    gone: Set[Adapter] = field(set(), "adapters that left the catalogue")


def pinned_count(manager: Manager) -> int:
    """``num_pinned_loras``: pinned adapters that the process knows, resident or not."""
    return len(pinned - manager.gone)


def has_room(manager: Manager, adapters: Set[Adapter]) -> bool:
    """Whether these adapters can hold slots at the same time; a slot is kept free for every pinned adapter
    that is not among them."""
    others = len(adapters) - len(adapters & pinned)
    return len(adapters) <= slots and (pinned_count(manager) == 0 or others <= slots - pinned_count(manager))


def fits(manager: Manager, adapters: Set[Adapter]) -> bool:
    """``validate_lora_batch``: the fit test, with its assertions.

    The size comes first. Without pinned adapters nobody is looked up, so that an adapter which left the
    catalogue is no error.
    """
    if len(adapters) <= slots and pinned_count(manager) > 0:
        if any(a in manager.gone for a in adapters):
            crash("fit-test-unknown-adapter")
        if len(adapters & pinned) > pinned_count(manager):
            crash("fit-test-pinned-count")
    return has_room(manager, adapters)


@decision
def unload_and_slot(loader: Loader, pool: Pool, a: Adapter) -> None:
    """What an unload does to the adapter's slot and to its copy in flight."""
    raise NotImplementedError


def slot_kept(loader: Loader, pool: Pool, a: Adapter) -> None:
    """Nothing: the id stays mapped until it is evicted, and its event stays too (up to 0.5.15)."""


def slot_cleared(loader: Loader, pool: Pool, a: Adapter) -> None:
    """It waits for the copy, drops its event, zeroes the slot and frees it (0.5.16).

    The zeroing runs on the schedule stream, which waits for the forward in flight (0.5.13's write after
    read barrier), and with background loading the next copy into the slot does not wait for the zeroing.
    """
    if loading is Loading.BACKGROUND:
        wait_for_copy(loader, a)
    zero_behind_the_forward(pool, a)
    clear_slot(pool, a)


def slot_zeroed_by_the_loader(loader: Loader, pool: Pool, a: Adapter) -> None:
    """The same with the zeroing on the load stream, in front of the next copy into the slot (no release).

    It waits for no forward: only rows whose output is discarded can still read the slot.
    """
    if loading is Loading.BACKGROUND:
        wait_for_copy(loader, a)
    clear_slot(pool, a)


def unload_adapter(manager: Manager, loader: Loader, pool: Pool, a: Adapter) -> None:
    """``unload_lora_adapter``: synchronous, while messages are ingested; it looks at no queue and no row."""
    unload_and_slot(loader, pool, a)
    manager.gone |= {a}


def is_known(manager: Manager, a: Adapter) -> bool:
    """Whether the process can fill a slot with the adapter: the base model is always known."""
    return a == BASE or a not in manager.gone
