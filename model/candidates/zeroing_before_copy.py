"""An unload zeroes its adapter's slot on the load stream, in front of any copy into it.

From 0.5.16 on the zeroing runs on the schedule stream, behind the forward in flight, and a background copy of
another adapter into the freed slot may run before it: its weights are zeroed, and nobody notices. On the load
stream the two are in order. In the server it is one line: ``LoRAManager.unload_lora_adapter`` enters the
loader's stream for ``LoRAMemoryPool.remove_lora``. The rows that may still read the slot have finished.
"""

from slotproof.model.releases import release

candidate = release("0.5.23").replace(unload_and_slot="slot_zeroed_by_the_loader")
