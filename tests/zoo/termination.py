"""Dijkstra's ring that finds out whether all its nodes have become idle (EWD 840).

After Stephan Merz' module `specifications/ewd840/EWD840.tla` of https://github.com/tlaplus/Examples.
Its manifest gives 302 distinct states, 2,001 generated and depth 10, which are three nodes, and for
`EWD840_json` 1,566, 15,986 and 12, which are four. The generated states count a step once for each
of its grounds that is true; here the grounds are a parameter. The depth of a search with several
workers, as TLC's, is an upper bound: of three nodes it is 9.

The module's liveness: with weak fairness of the token's steps, termination is detected once it is there.
Nobody has to stop working, so that it need not come.
"""

import enum

from slotproof.model.language import (
    Domain,
    Map,
    Set,
    State,
    System,
    action,
    eventually,
    field,
    initial,
    invariant,
    leads_to,
    parameter,
    require,
    weak,
    witness,
)

nodes = parameter("nodes", int, 3, "nodes in the ring")


class Node(Domain, size=nodes, names="n{i}"):
    """A process of the ring; the token goes from each to the one before it."""


class Color(enum.Enum):
    """White is a good sign."""

    WHITE = "white"
    ORANGE = "orange"


class Ground(enum.Enum):
    """Why a node that has the token may pass it on."""

    TOKEN_IS_ORANGE = "token"
    NODE_IS_ORANGE = "node"
    NODE_IS_IDLE = "idle"


class Ring(State):
    """Work and the watch on it."""

    busy: Set[Node] = field(frozenset(), "nodes that work")
    color: Map[Node, Color] = field(Color.WHITE, "orange: it may have woken one that the token had passed")
    token_at: Node = field(Node(0), "who has the token")
    token: Color = field(Color.ORANGE, "orange: this round will tell nothing")


@initial
def start(s: Ring, busy: Set[Node], orange: Set[Node], at: Node) -> None:
    """Anybody may work, have any color and have the token, which is orange."""
    s.busy = busy
    for n in orange:
        s.color[n] = Color.ORANGE
    s.token_at = at


def holds(s: Ring, n: Node, why: Ground) -> bool:
    """Whether a ground to pass the token is true."""
    if why == Ground.TOKEN_IS_ORANGE:
        return s.token == Color.ORANGE
    if why == Ground.NODE_IS_ORANGE:
        return s.color[n] == Color.ORANGE
    return n not in s.busy


@action
def start_round(s: Ring, why: Ground) -> None:
    """The first node sends a white token round, as the last round told nothing."""
    require(s.token_at == Node(0))
    require(why != Ground.NODE_IS_IDLE and holds(s, Node(0), why))
    s.token_at = Node(len(Node) - 1)
    s.token = Color.WHITE
    s.color[Node(0)] = Color.WHITE


@action
def pass_token(s: Ring, n: Node, why: Ground) -> None:
    """{n} passes the token on, orange if the node is."""
    require(s.token_at == n and n != Node(0))
    require(holds(s, n, why))
    if s.color[n] == Color.ORANGE:
        s.token = Color.ORANGE
    s.token_at = Node(n.index - 1)
    s.color[n] = Color.WHITE


@action
def send(s: Ring, n: Node, to: Node) -> None:
    """{n} gives {to} work."""
    require(n in s.busy and to != n)
    s.busy |= {to}
    if to > n:
        s.color[n] = Color.ORANGE


@action
def rest(s: Ring, n: Node) -> None:
    """{n} has nothing more to do."""
    require(n in s.busy)
    s.busy -= {n}


def detected(s: Ring) -> bool:
    """Whether the first node concludes that all are idle."""
    return (
        s.token_at == Node(0)
        and s.token == Color.WHITE
        and s.color[Node(0)] == Color.WHITE
        and Node(0) not in s.busy
    )


@invariant
def detection_is_right(s: Ring) -> bool:
    """When the first node concludes that all are idle, they are."""
    return not detected(s) or not s.busy


@invariant
def dijkstras_invariant(s: Ring) -> bool:
    """Nobody behind the token works, or an orange node is before it, or it is orange."""
    return (
        all(n not in s.busy for n in Node if n > s.token_at)
        or any(s.color[n] == Color.ORANGE for n in Node if n <= s.token_at)
        or s.token == Color.ORANGE
    )


@invariant
def token_stays_orange(s: Ring) -> bool:
    """Does not hold: the first step can make the token white."""
    return s.token == Color.ORANGE


@eventually
def is_detected(s: Ring) -> bool:
    """When all are idle, the first node finds out."""
    return leads_to(not s.busy, detected(s))


@eventually
def all_rest(s: Ring) -> bool:
    """Does not hold: nodes may give each other work for ever."""
    return leads_to(True, not s.busy)


@witness
def termination_is_detected(s: Ring) -> bool:
    """The first node concludes that all are idle."""
    return detected(s)


termination = System(
    "termination",
    Ring,
    actions=[start_round, pass_token, send, rest],
    initial=[start],
    properties=[detection_is_right, dijkstras_invariant, token_stays_orange],
    witnesses=[termination_is_detected],
    final=detected,
)
token_moves = System(
    "token-moves",
    Ring,
    actions=[start_round, pass_token, send, rest],
    initial=[start],
    properties=[is_detected, all_rest],
    final=detected,
    fairness=[weak(start_round, pass_token)],
)
nodes_rest = System(
    "nodes-rest",
    Ring,
    actions=[start_round, pass_token, send, rest],
    initial=[start],
    properties=[is_detected, all_rest],
    final=detected,
    fairness=[weak(rest, each="n")],
)
