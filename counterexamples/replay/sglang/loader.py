"""The overlap loader of the release, on a device whose copies end when the trace says (``device.py``).

``LoRAOverlapLoader`` is constructed while ``torch.get_device_module`` answers the stand-in device. Two
methods are watched, which run as they are: ``LoRAManager.fetch_new_loras``, to know for whom a copy is
started, and ``LoRAMemoryPool.load_lora_weight_to_buffer``, to know what is written into which slot.
"""

from __future__ import annotations

from typing import Any

from slotproof.counterexamples.replay.sglang.device import Device
from slotproof.counterexamples.replay.sglang.ids import BASE, adapter_name
from slotproof.counterexamples.replay.sglang.setup import srt


def watch(manager: Any, device: Device) -> None:
    """Note on the device what the manager copies."""
    fetch, write = manager.fetch_new_loras, manager.memory_pool.load_lora_weight_to_buffer

    def fetch_new_loras(new_loras: Any, *rest: Any, **options: Any) -> Any:
        if device.copying:
            (device.asked_for,) = new_loras
        return fetch(new_loras, *rest, **options)

    def load_lora_weight_to_buffer(uid: Any, buffer_id: Any, *rest: Any, **options: Any) -> Any:
        device.writes(uid, buffer_id)
        return write(uid, buffer_id, *rest, **options)

    manager.fetch_new_loras = fetch_new_loras
    manager.memory_pool.load_lora_weight_to_buffer = load_lora_weight_to_buffer


def build_loader(manager: Any, device: Device) -> Any:
    """The release's loader on the stand-in device."""
    watch(manager, device)
    return srt("lora.lora_overlap_loader").LoRAOverlapLoader(manager)


def observe_loader(loader: Any, device: Device) -> dict[str, Any]:
    """``Loader`` of the model: ``lora_to_overlap_load_event``, and what the load stream still has to do."""
    return {
        "pending": {adapter_name(u) for u in loader.lora_to_overlap_load_event},
        "copies": [adapter_name(u) for u in device.load.copies],
        "filling": {adapter_name(u) for u in device.filling.values()},
    }


def observe_pool(manager: Any, tracked: set[str]) -> dict[str, Any]:
    """``Pool`` of the model: ``uid_to_buffer_id``, and the order of use of those that may be victims.

    The LRU policy keeps its entries in the order of use, the least recent first.
    """
    pool = manager.memory_pool
    used = [adapter_name(u) for u in pool.eviction_policy.access_order]
    return {
        "resident": {adapter_name(u) for u in pool.uid_to_buffer_id},
        "recency": [a for a in used if a in tracked],
    }


def observe_manager(manager: Any, all_adapters: set[str]) -> dict[str, Any]:
    """``Manager`` of the model: what is no longer in ``lora_refs``."""
    return {"gone": all_adapters - {adapter_name(u) for u in manager.lora_refs} - {BASE}}
