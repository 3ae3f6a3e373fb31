"""A pool of connections: clients borrow one and bring it back, or go away with it."""

from slotproof.model.language import *

clients = parameter("clients", int, 3, "clients at the same time")
connections = parameter("connections", int, 2, "connections that there are")


class Client(Domain, size=clients, names="c{n}"):
    """Who borrows."""


class Pool(State):
    """The pool between two steps."""

    lent: Annotated[int, Range(0, connections)] = field(0, "connections that the pool counts as lent")
    borrowed: Set[Client] = field(frozenset(), "clients that have one")


@action(actor="client")
def borrow(s: Pool, c: Client) -> None:
    """{c} borrows a connection."""
    require(c not in s.borrowed)
    require(s.lent < connections)
    s.lent += 1
    s.borrowed |= {c}


@action(actor="client")
def bring_back(s: Pool, c: Client) -> None:
    """{c} brings its connection back."""
    require(c in s.borrowed)
    s.lent -= 1
    s.borrowed -= {c}


@action(actor="client")
def go_away(s: Pool, c: Client) -> None:
    """{c} goes away, and its connection is closed."""
    require(c in s.borrowed)
    s.borrowed -= {c}


@invariant
def none_lost(s: Pool) -> bool:
    """The pool counts as lent what clients have, and no more."""
    return s.lent == len(s.borrowed)


@invariant
def never_over(s: Pool) -> bool:
    """No more are lent than there are."""
    return len(s.borrowed) <= connections


@witness
def all_lent(s: Pool) -> bool:
    """Every connection is with a client."""
    return s.lent == connections


pool = System(
    "pool",
    Pool,
    actions=[borrow, bring_back, go_away],
    properties=[none_lost, never_over],
    witnesses=[all_lent],
    meaning="Connections that clients borrow.",
)
