"""The scheduling allocator with messages in transit between it and its clients.

After Stephan Merz' module `specifications/allocator/AllocatorImplementation.tla` of
https://github.com/tlaplus/Examples, whose manifest gives for three clients and two resources 17,701
distinct states, 64,414 generated and depth 16. The network is a set there. Here a message is filed
under its first resource: no two messages of one kind and client share a resource.
"""

from slotproof.model.language import (
    Domain,
    Map,
    Record,
    Seq,
    Set,
    State,
    System,
    action,
    field,
    invariant,
    require,
)


class Client(Domain, size=3, names="c{n}"):
    """A process that needs resources."""


class Resource(Domain, size=2, names="r{n}"):
    """What one client at a time may use."""


class Books(Record):
    """What the allocator knows."""

    wanted: Map[Client, Set[Resource]] = field(frozenset(), "what each client still waits for")
    given: Map[Client, Set[Resource]] = field(frozenset(), "what each client has")
    schedule: Seq[Client] = field((), "clients in the order in which they will be served")


class Process(Record):
    """What a client knows."""

    awaited: Set[Resource] = field(frozenset(), "what it has asked for and not received")
    held: Set[Resource] = field(frozenset(), "what it uses")


class Network(Record):
    """Messages in transit, in no order; an empty set is no message."""

    asking: Map[Client, Set[Resource]] = field(frozenset(), "requests")
    giving: Map[Client, Map[Resource, Set[Resource]]] = field(frozenset(), "allocations, by first resource")
    returning: Map[Client, Map[Resource, Set[Resource]]] = field(frozenset(), "returns, by first resource")


class World(State):
    """The allocator, its clients and what is between them."""

    books: Books
    client: Map[Client, Process]
    network: Network


def available(s: World) -> Set[Resource]:
    """Resources that the allocator has."""
    return {r for r in Resource if all(r not in s.books.given[c] for c in Client)}


def new(s: World) -> Set[Client]:
    """Clients that wait and have no place in the schedule yet."""
    return {c for c in Client if len(s.books.wanted[c]) > 0 and c not in s.books.schedule}


def wanted_before(s: World, c: Client) -> Set[Resource]:
    """What clients wait for that stand before ``c`` in the schedule."""
    earlier: Set[Resource] = set()
    for d in s.books.schedule:
        if d == c:
            break
        earlier |= s.books.wanted[d]
    return earlier


@action
def ask(s: World, c: Client, these: Set[Resource]) -> None:
    """{c}, which has and awaits nothing, asks for {these}."""
    require(not s.client[c].awaited and not s.client[c].held)
    require(len(these) > 0)
    s.client[c].awaited = these
    s.network.asking[c] = these


@action
def hear(s: World, c: Client) -> None:
    """The allocator receives the request of {c}, whose earlier resources are all back."""
    require(len(s.network.asking[c]) > 0)
    require(not s.books.given[c])
    s.books.wanted[c] = s.network.asking[c]
    s.network.asking[c] = set()


@action
def give(s: World, c: Client, these: Set[Resource]) -> None:
    """The allocator sends {c} what no client before it in the schedule wants."""
    require(len(these) > 0)
    require(these <= available(s) & s.books.wanted[c])
    require(c in s.books.schedule and not wanted_before(s, c) & these)
    s.books.given[c] |= these
    s.books.wanted[c] -= these
    if not s.books.wanted[c]:
        s.books.schedule.remove(c)
    s.network.giving[c][min(these)] = these


@action
def receive(s: World, c: Client, first: Resource) -> None:
    """{c} receives resources."""
    require(len(s.network.giving[c][first]) > 0)
    s.client[c].held |= s.network.giving[c][first]
    s.client[c].awaited -= s.network.giving[c][first]
    s.network.giving[c][first] = set()


@action
def give_back(s: World, c: Client, these: Set[Resource]) -> None:
    """{c} sends {these} back."""
    require(len(these) > 0)
    require(these <= s.client[c].held)
    s.client[c].held -= these
    s.network.returning[c][min(these)] = these


@action
def take_back(s: World, c: Client, first: Resource) -> None:
    """The allocator receives what {c} returned."""
    require(len(s.network.returning[c][first]) > 0)
    s.books.given[c] -= s.network.returning[c][first]
    s.network.returning[c][first] = set()


@action
def schedule(s: World, first: Client, second: Client | None, third: Client | None) -> None:
    """The allocator schedules all new clients, in any order."""
    require(first in new(s))
    require(second is not None or third is None)
    require(second != first and third != first)
    require(second is None or second != third)
    require(len(new(s)) == 1 + (second is not None) + (third is not None))
    require(second is None or second in new(s))
    require(third is None or third in new(s))
    s.books.schedule.append(first)
    if second is not None:
        s.books.schedule.append(second)
    if third is not None:
        s.books.schedule.append(third)


@invariant
def exclusive(s: World) -> bool:
    """No resource is used by two clients."""
    return all(all(not s.client[c].held & s.client[d].held for d in Client if c != d) for c in Client)


@invariant
def nothing_is_lost(s: World) -> bool:
    """What a client has, by the books, it uses or is in transit."""
    return all(
        s.books.given[c]
        == s.client[c].held
        | {r for r in Resource if any(r in s.network.giving[c][first] for first in Resource)}
        | {r for r in Resource if any(r in s.network.returning[c][first] for first in Resource)}
        for c in Client
    )


networked_allocator = System(
    "networked-allocator",
    World,
    actions=[ask, hear, give, receive, give_back, take_back, schedule],
    properties=[exclusive, nothing_is_lost],
)
