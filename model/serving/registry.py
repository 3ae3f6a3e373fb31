"""The tokenizer side's name registry and its use counts (``lora/lora_registry.py: LoRARegistry``).

A use count is kept as what it counts: the requests whose open tokenizer state owns a reference (see
``tokenizer.py``), plus one mark for each adapter that tells how far the counter is off. The mark stays
at one reference lost or given back too often: an unload waits for a count of exactly zero, and how far a
count is off does not matter to it. What is left out is a loss and an extra release that make up for each
other. The mark is kept for adapters that may be unloaded; of the others nobody reads the count.
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Map, Range, Record, Set, decision, field
from slotproof.model.serving.vocabulary import Adapter, unloadable


class Registry(Record):
    """``LoRARegistry``: which adapters a client can name, and who still uses those that left."""

    absent: Set[Adapter] = field(set(), "adapters that no client can name any more (unregistered)")
    unloading: Set[Adapter] = field(set(), "unregistered adapters whose unload waits for the use count")
    incomplete: Set[Adapter] = field(set(), "adapters whose unload was given up and is remembered")
    drift: Map[Adapter, Annotated[int, Range(-1, 1)]] = field(
        0, "use count minus the references owned: 1 leaked, -1 released too often"
    )


def leak_reference(registry: Registry, a: Adapter) -> None:
    """A reference loses its owner without a release."""
    if a in unloadable and registry.drift[a] == 0:
        registry.drift[a] = 1


def release_without_owner(registry: Registry, a: Adapter) -> None:
    """A release that no owned reference stands for; the counter has no floor."""
    if a in unloadable and registry.drift[a] == 0:
        registry.drift[a] = -1


@decision
def remembers_given_up_unload() -> bool:
    """What becomes of an unload whose caller gives up while it waits for the use count."""
    raise NotImplementedError


def forgets_the_id() -> bool:
    """The name is gone from the registry, and nobody can unload the id any more (up to 0.5.20)."""
    return False


def remembers_the_id() -> bool:
    """The name stays known as incomplete until it is unloaded again (0.5.21)."""
    return True
