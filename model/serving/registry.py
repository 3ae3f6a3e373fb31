"""The tokenizer side's name registry and its use counts (``lora/lora_registry.py: LoRARegistry``).

A use count is kept as what it counts: the requests whose open tokenizer state owns a reference (see
``tokenizer.py``), plus one number for each adapter that tells how far the counter is off. An unload waits
for a count of exactly zero, so that it does not matter how many references were lost: the number stays at
the most, for good. Two extra releases are followed, and a step that would make a third is not taken. The
number is kept for adapters that may be unloaded; of the others nobody reads the count.
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Map, Range, Record, Set, decision, field
from slotproof.model.serving.vocabulary import Adapter, Role, parallel, role, unloadable


class Registry(Record):
    """``LoRARegistry``: which adapters a client can name, and who still uses those that left."""

    absent: Set[Adapter] = field(set(), "adapters that no client can name any more (unregistered)")
    unloading: Set[Adapter] = field(set(), "unregistered adapters whose unload waits for the use count")
    incomplete: Set[Adapter] = field(set(), "adapters whose unload was given up and is remembered")
    drift: Map[Adapter, Annotated[int, Range(-2, 2)]] = field(
        0, "use count minus the references owned: positive if leaked, negative if released too often"
    )


def most_drift() -> int:
    """Where the drift stays: one lost reference is for good where nobody releases what he does not own."""
    return 2 if parallel or role is Role.DECODE else 1


def leak_reference(registry: Registry, a: Adapter) -> None:
    """A reference loses its owner without a release."""
    if a in unloadable and registry.drift[a] < most_drift():
        registry.drift[a] += 1


def may_release_without_owner(registry: Registry, a: Adapter) -> bool:
    """Whether the model follows another extra release."""
    return registry.drift[a] > -2


def release_without_owner(registry: Registry, a: Adapter) -> None:
    """A release that no owned reference stands for; the counter has no floor."""
    if a in unloadable and registry.drift[a] < most_drift():
        registry.drift[a] -= 1


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
