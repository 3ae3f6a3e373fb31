"""The tokenizer side's name registry and its use counts (``lora/lora_registry.py: LoRARegistry``).

A use count is kept as what it counts: the requests whose open tokenizer state owns a reference (see
``tokenizer.py``), plus one mark for each adapter that tells how far the counter is off. The mark
saturates at one reference: nothing depends on how many were lost, for an unload waits for a count of
exactly zero. It is kept for adapters that may be unloaded; of the others nobody reads the count.
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Map, Range, Record, Set, field
from slotproof.model.serving.vocabulary import Adapter, unloadable


class Registry(Record):
    """``LoRARegistry``: which adapters a client can name, and who still uses those that left."""

    absent: Set[Adapter] = field(set(), "adapters that no client can name any more (unregistered)")
    unloading: Set[Adapter] = field(set(), "unregistered adapters whose unload waits for the use count")
    drift: Map[Adapter, Annotated[int, Range(-1, 1)]] = field(
        0, "use count minus the references owned: 1 leaked, -1 released too often"
    )


def leak_reference(registry: Registry, a: Adapter) -> None:
    """A reference loses its owner without a release."""
    if a in unloadable:
        registry.drift[a] = min(registry.drift[a] + 1, 1)


def release_without_owner(registry: Registry, a: Adapter) -> None:
    """A release that no owned reference stands for; the counter has no floor."""
    if a in unloadable:
        registry.drift[a] = max(registry.drift[a] - 1, -1)
