"""Clients that ask an allocator for sets of resources, get them piece by piece and give them back.

After Stephan Merz' module `specifications/allocator/SimpleAllocator.tla` of
https://github.com/tlaplus/Examples, whose manifest gives for three clients and two resources 400
distinct states, 1,633 generated and depth 6.

The module's liveness: with strong fairness of what is given to each client, and clients that give back
whatever they have, each gets what it waits for. If only those who wait for nothing have to give back, two
clients may wait for each other; with weak fairness others may be preferred for ever.
"""

from slotproof.model.language import (
    Domain,
    Map,
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
)

clients = parameter("clients", int, 3, "clients that share the resources")
resources = parameter("resources", int, 2, "resources to share")


class Client(Domain, size=clients, names="c{n}"):
    """A process that needs resources."""


class Resource(Domain, size=resources, names="r{n}"):
    """What one client at a time may use."""


class Pool(State):
    """The allocator's books."""

    wanted: Map[Client, Set[Resource]] = field(frozenset(), "what each client still waits for")
    given: Map[Client, Set[Resource]] = field(frozenset(), "what each client has")


def available(s: Pool) -> Set[Resource]:
    """Resources that nobody has."""
    return {r for r in Resource if all(r not in s.given[c] for c in Client)}


@action
def ask(s: Pool, c: Client, these: Set[Resource]) -> None:
    """{c}, which has and awaits nothing, asks for {these}."""
    require(not s.wanted[c] and not s.given[c])
    require(len(these) > 0)
    s.wanted[c] = these


@action
def give(s: Pool, c: Client, these: Set[Resource]) -> None:
    """The allocator gives {c} a part of what it waits for."""
    require(len(these) > 0)
    require(these <= available(s) & s.wanted[c])
    s.given[c] |= these
    s.wanted[c] -= these


@action
def give_back(s: Pool, c: Client, these: Set[Resource]) -> None:
    """{c} gives {these} back."""
    require(len(these) > 0)
    require(these <= s.given[c])
    s.given[c] -= these


@invariant
def exclusive(s: Pool) -> bool:
    """No resource is given to two clients."""
    return all(all(not s.given[c] & s.given[d] for d in Client if c != d) for c in Client)


@invariant
def some_client_is_content(s: Pool) -> bool:
    """Does not hold: three clients can all wait at once."""
    return any(not s.wanted[c] for c in Client)


def gives_all_back(s: Pool, c: Client, these: Set[Resource]) -> bool:
    """The client gives back all that it has."""
    return these == s.given[c]


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


simple_allocator = System(
    "simple-allocator",
    Pool,
    actions=[ask, give, give_back],
    properties=[exclusive, some_client_is_content],
)
strong_allocator = System(
    "strong-allocator",
    Pool,
    actions=[ask, give, give_back],
    properties=[clients_will_obtain, clients_will_return],
    fairness=[weak(give_back, each="c", where=gives_all_back), strong(give, each="c")],
)
waiting_allocator = System(
    "waiting-allocator",
    Pool,
    actions=[ask, give, give_back],
    properties=[clients_will_obtain, clients_will_return],
    fairness=[weak(give_back, each="c", where=content_gives_all_back), strong(give, each="c")],
)
weak_allocator = System(
    "weak-allocator",
    Pool,
    actions=[ask, give, give_back],
    properties=[clients_will_obtain, clients_will_return],
    fairness=[weak(give_back, each="c", where=gives_all_back), weak(give, each="c")],
)
