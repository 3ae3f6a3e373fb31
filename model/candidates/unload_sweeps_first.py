"""Finished rows hold their slots until they are swept, and an unload sweeps those of its adapter first.

0.5.20 counts finished rows on the decode role, because the device may still read their slots (#39332); 0.5.14
had stopped counting them on the other roles, because the fit test dies of an adapter that has been unloaded
(#27597). Both are right. This change keeps both promises, with one meaning of an occupied slot on every role:
every row of the active set counts, finished or not, and what leaves the catalogue leaves the active set with
it. In the server it is one line, in the scheduler's handler of an unload: sweep the finished rows
(``running_batch.filter_batch()``) before ``LoRAManager.unload_lora_adapter``.

A use count of zero means that all requests of the adapter have been answered, so that whatever row of it is
left has finished; its slot is cleared behind the forward in flight.
"""

from slotproof.model.language import action, require
from slotproof.model.releases import release
from slotproof.model.serving.front import forget, use_count
from slotproof.model.serving.server import Server
from slotproof.model.serving.step import at_ingest, tidy
from slotproof.model.serving.vocabulary import Adapter, Rank


@action(actor="tokenizer", source="lora/lora_manager.py: LoRAManager.unload_lora_adapter")
def unload(s: Server, a: Adapter) -> None:
    """The use count of {a} is zero: every scheduler sweeps the finished rows of {a} and forgets {a}."""
    require(at_ingest(s))
    require(a in s.registry.unloading)
    require(use_count(s, a) == 0)
    for k in Rank:
        s.ranks[k].scheduler.running -= {r for r in s.ranks[k].scheduler.finished if s.adapter[r] == a}
        tidy(s, s.ranks[k])
    forget(s, a)


candidate = (
    release("0.5.23")
    .replace(occupied_on_prefill="all_rows", occupied_on_decode="finished_rows_too")
    .with_actions(unload)
)
