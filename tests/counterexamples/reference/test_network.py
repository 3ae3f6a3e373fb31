"""The decoder: each adapter changes what it says, at every place, so that a wrong slot is a wrong token."""

import itertools

import pytest
import torch

from slotproof.counterexamples.reference.metadata import LAYERS
from slotproof.counterexamples.reference.network import adapter_weights, prompt_of
from slotproof.counterexamples.reference.oracle import Alone, alone

NAMES = ("r1", "r2", "r3")
ADAPTERS = (None, "A", "B", "C")


@pytest.mark.parametrize("name", NAMES)
def test_every_adapter_changes_the_first_token(name: str) -> None:
    """No two of the base model and the adapters begin alike."""
    first = [alone(name, adapter).token(0) for adapter in ADAPTERS]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("name", NAMES)
def test_a_forward_with_another_adapter_gives_another_token(name: str) -> None:
    """At each of the first twelve places, whichever adapter the one forward reads."""
    for own, other in itertools.permutations(ADAPTERS, 2):
        for place in range(12):
            run = Alone(prompt_of(name), None if own is None else adapter_weights(own))
            right = run.token(place)
            run = Alone(prompt_of(name), run.adapter)
            if place:
                run.token(place - 1)
            run.adapter = None if other is None else adapter_weights(other)
            assert run.token(place) != right, (own, other, place)


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_counts(layer: str) -> None:
    """Without its adapter's part in one layer a request's logits are others; the tokens soon are."""
    rest = frozenset(LAYERS) - {layer}
    tokens = [[alone(name, a, t).token(i) for name in NAMES for a in "ABC" for i in range(8)]
              for t in (frozenset(LAYERS), rest)]  # fmt: skip
    assert tokens[0] != tokens[1]


def test_weights_are_the_same_in_every_run() -> None:
    """They are made from names."""
    adapter_weights.cache_clear()
    one = adapter_weights("A").a["QKV"]
    adapter_weights.cache_clear()
    assert torch.equal(one, adapter_weights("A").a["QKV"])
