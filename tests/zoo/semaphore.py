"""Mutual exclusion by a semaphore: who gets in depends on how fair the semaphore is.

Program MUX-SEM of Manna and Pnueli, "The Temporal Logic of Reactive and Concurrent Systems" (1992): with a
compassionate (strongly fair) request every process gets in, with a just (weakly fair) one a process can
starve, for the request is possible only again and again.
"""

from slotproof.model.language import (
    Domain,
    Set,
    State,
    System,
    action,
    eventually,
    field,
    invariant,
    leads_to,
    parameter,
    require,
    strong,
    weak,
    witness,
)

processes = parameter("processes", int, 2, "processes that share the section")


class Process(Domain, size=processes, names="p{n}"):
    """One of the processes."""


class Memory(State):
    """The processes and the semaphore."""

    waiting: Set[Process] = field(frozenset(), "who wants to get in")
    inside: Set[Process] = field(frozenset(), "who is in the section")
    free: bool = field(True, "the semaphore")


@action
def want(s: Memory, p: Process) -> None:
    """{p} wants to get in."""
    require(p not in s.waiting and p not in s.inside)
    s.waiting |= {p}


@action
def request(s: Memory, p: Process) -> None:
    """{p} takes the semaphore."""
    require(p in s.waiting and s.free)
    s.waiting -= {p}
    s.inside |= {p}
    s.free = False


@action
def release(s: Memory, p: Process) -> None:
    """{p} gives the semaphore back."""
    require(p in s.inside)
    s.inside -= {p}
    s.free = True


@invariant
def one_inside(s: Memory) -> bool:
    """One process at most is inside."""
    return len(s.inside) <= 1


@eventually
def gets_in(s: Memory, p: Process) -> bool:
    """Who wants to get in does."""
    return leads_to(p in s.waiting, p in s.inside)


@eventually
def somebody_gets_in(s: Memory) -> bool:
    """While somebody wants to, one gets in."""
    return leads_to(len(s.waiting) > 0, len(s.inside) > 0)


@witness
def both_wait(s: Memory) -> bool:
    """Two processes want to get in."""
    return len(s.waiting) >= 2


compassionate = System(
    "compassionate",
    Memory,
    actions=[want, request, release],
    properties=[one_inside, gets_in, somebody_gets_in],
    witnesses=[both_wait],
    fairness=[strong(request, each="p"), weak(release)],
)
just = System(
    "just",
    Memory,
    actions=[want, request, release],
    properties=[one_inside, gets_in, somebody_gets_in],
    witnesses=[both_wait],
    fairness=[weak(request, each="p"), weak(release)],
)
