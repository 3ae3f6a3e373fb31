"""A change of the admission gate on the decode role, before it is written for the server."""

from slotproof.model.language import Set
from slotproof.model.releases import release
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.vocabulary import Request


def unfinished(scheduler: Scheduler) -> Set[Request]:
    """Rows that have finished hold no slot."""
    return scheduler.running - scheduler.finished


candidate = release("0.5.23").replace(occupied_on_decode=unfinished)
