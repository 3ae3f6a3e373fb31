"""A drain that ends, and that also makes room for the base model.

The drainer (``lora_drain_wait_threshold``) marks a running adapter when another one has waited too long. Up
to 0.5.23 the marked adapter still takes requests that need at most 1.2 times the tokens left to its rows.
Among requests of equal length that is every request that comes before the last row has made a sixth of its
tokens, and it begins the count anew: with traffic that dense the drain never ends. And nobody drains for the
base model, because its id, ``None``, is also the mark of an adapter that drains for nobody. Here a marked
adapter takes nobody, and the base model can starve like any adapter.

In the server it is ``return False`` for the comparison at the end of ``LoRADrainer.can_schedule``, and a mark
of its own for "drains for nobody" in the place of ``None``.
"""

from slotproof.model.releases import release

candidate = release("0.5.23").replace(
    drainer_allows="nobody_joins_a_drain", base_can_starve="like_any_adapter"
)
