"""An allocator that never starves a client: it serves them in the order of a schedule.

After Stephan Merz' module `specifications/allocator/SchedulingAllocator.tla` of
https://github.com/tlaplus/Examples, whose manifest gives for three clients and two resources 1,690
distinct states, 5,854 generated and depth 7.

The module's theorems: weak fairness of giving and scheduling, and of giving back by those who wait for
nothing, lets every client get what it waits for.
"""

from slotproof.model.language import (
    Domain,
    Map,
    Seq,
    Set,
    State,
    System,
    action,
    eventually,
    field,
    invariant,
    leads_to,
    require,
    weak,
)


class Client(Domain, size=3, names="c{n}"):
    """A process that needs resources."""


class Resource(Domain, size=2, names="r{n}"):
    """What one client at a time may use."""


class Pool(State):
    """The allocator's books."""

    wanted: Map[Client, Set[Resource]] = field(frozenset(), "what each client still waits for")
    given: Map[Client, Set[Resource]] = field(frozenset(), "what each client has")
    schedule: Seq[Client] = field((), "clients in the order in which they will be served")


def available(s: Pool) -> Set[Resource]:
    """Resources that nobody has."""
    return {r for r in Resource if all(r not in s.given[c] for c in Client)}


def new(s: Pool) -> Set[Client]:
    """Clients that wait and have no place in the schedule yet."""
    return {c for c in Client if len(s.wanted[c]) > 0 and c not in s.schedule}


def wanted_before(s: Pool, c: Client) -> Set[Resource]:
    """What clients wait for that stand before ``c`` in the schedule."""
    earlier: Set[Resource] = set()
    for d in s.schedule:
        if d == c:
            break
        earlier |= s.wanted[d]
    return earlier


@action
def ask(s: Pool, c: Client, these: Set[Resource]) -> None:
    """{c}, which has and awaits nothing, asks for {these}."""
    require(not s.wanted[c] and not s.given[c])
    require(len(these) > 0)
    s.wanted[c] = these


@action
def give(s: Pool, c: Client, these: Set[Resource]) -> None:
    """The allocator gives {c} what no client before it in the schedule wants."""
    require(len(these) > 0)
    require(these <= available(s) & s.wanted[c])
    require(c in s.schedule and not wanted_before(s, c) & these)
    s.given[c] |= these
    s.wanted[c] -= these
    if not s.wanted[c]:
        s.schedule.remove(c)


@action
def give_back(s: Pool, c: Client, these: Set[Resource]) -> None:
    """{c} gives {these} back."""
    require(len(these) > 0)
    require(these <= s.given[c])
    s.given[c] -= these


@action
def schedule_one(s: Pool, c: Client) -> None:
    """The allocator schedules {c}, the only new client."""
    require(new(s) == {c})
    s.schedule.append(c)


@action
def schedule_two(s: Pool, first: Client, second: Client) -> None:
    """The allocator schedules two new clients, {first} first."""
    require(first != second and new(s) == {first, second})
    s.schedule.append(first)
    s.schedule.append(second)


@action
def schedule_three(s: Pool, first: Client, second: Client, third: Client) -> None:
    """The allocator schedules three new clients, in any order."""
    require(first != second and new(s) == {first, second, third})
    require(third != first and third != second)
    s.schedule.append(first)
    s.schedule.append(second)
    s.schedule.append(third)


@invariant
def exclusive(s: Pool) -> bool:
    """No resource is given to two clients."""
    return all(all(not s.given[c] & s.given[d] for d in Client if c != d) for c in Client)


@invariant
def scheduled_clients_wait(s: Pool) -> bool:
    """Whoever is in the schedule waits for something."""
    return all(len(s.wanted[c]) > 0 for c in s.schedule)


@invariant
def later_never_holds_what_earlier_wants(s: Pool) -> bool:
    """No scheduled client has what one before it wants."""
    return all(not s.given[c] & wanted_before(s, c) for c in s.schedule)


def content_gives_all_back(s: Pool, c: Client, these: Set[Resource]) -> bool:
    """A client that waits for nothing more gives back all that it has."""
    return not s.wanted[c] and these == s.given[c]


@eventually
def clients_will_obtain(s: Pool, c: Client, r: Resource) -> bool:
    """A client gets what it waits for."""
    return leads_to(r in s.wanted[c], r in s.given[c])


@eventually
def clients_will_return(s: Pool, c: Client) -> bool:
    """A client that waits for nothing gives everything back."""
    return leads_to(not s.wanted[c], not s.given[c])


scheduling_allocator = System(
    "scheduling-allocator",
    Pool,
    actions=[ask, give, give_back, schedule_one, schedule_two, schedule_three],
    properties=[exclusive, scheduled_clients_wait, later_never_holds_what_earlier_wants],
)
patient_allocator = System(
    "patient-allocator",
    Pool,
    actions=[ask, give, give_back, schedule_one, schedule_two, schedule_three],
    properties=[clients_will_obtain, clients_will_return],
    fairness=[
        weak(give_back, each="c", where=content_gives_all_back),
        weak(give, each="c"),
        weak(schedule_one, schedule_two, schedule_three),
    ],
)
