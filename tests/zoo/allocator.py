"""A server that loads adapters into few slots for many requests, as one small state machine.

Counts: given with the task that this project was built to; (requests, adapters, slots) = (6, 3, 2)
has 96,508 states, 908,832 transitions and depth 26, and (8, 3, 2) has 1,383,250, 16,675,150 and 32.
"""

import enum

from slotproof.model.language import (
    Alike,
    Domain,
    Map,
    Set,
    State,
    System,
    action,
    field,
    invariant,
    parameter,
    require,
    witness,
)

requests = parameter("requests", int, 4, "requests that clients send")
adapters = parameter("adapters", int, 3, "adapters; request number r wants adapter r modulo this")
slots = parameter("slots", int, 2, "adapters that fit into the device's memory at once")


class Request(Domain, size=requests, names="r{n}"):
    """A client's request."""


class Adapter(Domain, size=adapters, names=list("ABCDEFGH")):
    """A set of weights that requests name."""


class Slot(Domain, size=slots, names="slot{n}"):
    """A place in the device's memory."""


class Phase(enum.Enum):
    """How far a request has come."""

    ABSENT = "absent"
    WAITING = "waiting"
    LOADING = "loading"
    RUNNING = "running"
    FINISHING = "finishing"


class Server(State):
    """The server between two steps."""

    phase: Map[Request, Phase] = field(Phase.ABSENT, "how far each request has come")
    held: Map[Slot, Adapter | None] = field(None, "the adapter in each slot")
    pending: Set[Adapter] = field(frozenset(), "adapters whose copy has not ended")


def wanted(r: Request) -> Adapter:
    """The adapter that a request names."""
    return Adapter(r.index % len(Adapter))


def active(s: Server) -> Set[Adapter]:
    """Adapters that must stay where they are."""
    return s.pending | {wanted(r) for r in Request if s.phase[r] in {Phase.LOADING, Phase.RUNNING}}


def fits(s: Server, a: Adapter) -> bool:
    """Whether there is room for one more adapter, or it is active already."""
    return len(active(s) | {a}) <= len(Slot)


def resident(s: Server, a: Adapter) -> bool:
    """Whether an adapter is in a slot, its copy ended or not."""
    return any(s.held[slot] == a for slot in Slot)


def may_be_overwritten(s: Server, slot: Slot) -> bool:
    """Whether a slot holds nothing that is needed."""
    held = s.held[slot]
    return held is None or held not in active(s)


@action
def arrive(s: Server, r: Request) -> None:
    """The client sends {r}."""
    require(s.phase[r] == Phase.ABSENT)
    s.phase[r] = Phase.WAITING


@action
def start_load(s: Server, r: Request, slot: Slot) -> None:
    """The loader starts to copy the adapter of {r} into {slot}."""
    require(s.phase[r] == Phase.WAITING)
    require(not resident(s, wanted(r)) and wanted(r) not in s.pending)
    require(fits(s, wanted(r)))
    require(may_be_overwritten(s, slot))
    s.held[slot] = wanted(r)
    s.pending |= {wanted(r)}
    s.phase[r] = Phase.LOADING


@action
def end_load(s: Server, a: Adapter) -> None:
    """The copy of {a} ends."""
    require(a in s.pending)
    s.pending -= {a}


@action
def admit(s: Server, r: Request) -> None:
    """The scheduler runs {r}."""
    require(s.phase[r] in {Phase.WAITING, Phase.LOADING})
    require(resident(s, wanted(r)) and wanted(r) not in s.pending)
    require(fits(s, wanted(r)))
    s.phase[r] = Phase.RUNNING


@action
def finish(s: Server, r: Request) -> None:
    """The last token of {r} is computed."""
    require(s.phase[r] == Phase.RUNNING)
    s.phase[r] = Phase.FINISHING


@action
def sweep(s: Server) -> None:
    """The scheduler lets all finished requests go."""
    require(any(s.phase[r] == Phase.FINISHING for r in Request))
    for r in Request:
        if s.phase[r] == Phase.FINISHING:
            s.phase[r] = Phase.ABSENT


@action
def cancel(s: Server, r: Request) -> None:
    """The client of {r} goes away."""
    require(s.phase[r] != Phase.ABSENT)
    s.phase[r] = Phase.ABSENT


@invariant
def no_adapter_twice(s: Server) -> bool:
    """No adapter is in two slots."""
    return all(all(s.held[x] is None or s.held[x] != s.held[y] for y in Slot if x != y) for x in Slot)


@invariant
def running_is_resident(s: Server) -> bool:
    """The adapter of every running request is in a slot."""
    return all(resident(s, wanted(r)) for r in Request if s.phase[r] == Phase.RUNNING)


@invariant
def active_fit(s: Server) -> bool:
    """Never are more adapters active than there are slots."""
    return len(active(s)) <= len(Slot)


@witness
def all_slots_busy(s: Server) -> bool:
    """Requests of as many adapters as there are slots run at once."""
    return len({wanted(r) for r in Request if s.phase[r] == Phase.RUNNING}) == len(Slot)


allocator = System(
    "allocator",
    Server,
    actions=[arrive, start_load, end_load, admit, finish, sweep, cancel],
    properties=[no_adapter_twice, running_is_resident, active_fit],
    witnesses=[all_slots_busy],
    interchangeable=[Alike(Slot), Alike(Request, by=lambda n, parameters: n % parameters["adapters"])],
)
