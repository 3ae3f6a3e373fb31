"""Time and tokens, as far as the drainer looks at them: steps that take place between two passes.

They may do more than a server can: a row may be far on before its first token, and any of the adapters that
are equally far on may be the nearest to its end.
"""

from __future__ import annotations

from slotproof.model.language import action, require
from slotproof.model.serving.drainer import drainer
from slotproof.model.serving.server import Server
from slotproof.model.serving.step import at_ingest
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, Role, role, slots


@action(actor="clock", source="lora/lora_drainer.py: LoRADrainer._update_adapter_stats")
def waits_too_long(s: Server, k: Rank, r: Request) -> None:
    """Request {r} has waited for longer than the threshold; those in front of it have, too."""
    require(drainer and role is Role.SINGLE)
    require(r in s.ranks[k].scheduler.waiting and r not in s.ranks[k].drainer.overdue)
    require(next(q for q in s.ranks[k].scheduler.waiting if q not in s.ranks[k].drainer.overdue) == r)
    s.ranks[k].drainer.overdue |= {r}


@action(actor="clock", source="lora/lora_drainer.py: LoRADrainer.can_schedule")
def gets_far_on(s: Server, k: Rank, r: Request) -> None:
    """The row of {r} has made more than a sixth of its tokens, so that a new request would outlast it."""
    require(drainer and role is Role.SINGLE)
    require(at_ingest(s))
    require(r in s.ranks[k].scheduler.running and r not in s.ranks[k].drainer.far_on)
    s.ranks[k].drainer.far_on |= {r}


@action(actor="clock", source="lora/lora_drainer.py: LoRADrainer._update_draining_loras")
def comes_nearest(s: Server, k: Rank, a: Adapter) -> None:
    """Of the adapters that are equally far on, {a} has now the fewest tokens left."""
    require(drainer and role is Role.SINGLE and slots > 1)
    require(at_ingest(s))
    require(any(s.adapter[r] == a for r in s.ranks[k].scheduler.running))
    require(s.ranks[k].drainer.nearest != a)
    s.ranks[k].drainer.nearest = a
