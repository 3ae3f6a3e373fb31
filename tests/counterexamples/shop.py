"""A shop that fails in every way that a trace can end: a state, a step, a crash, a standstill.

It has a field of every kind that a trace file stores.
"""

import enum

from slotproof.model.language import (
    Annotated,
    Capacity,
    Domain,
    Map,
    Range,
    Record,
    Seq,
    Set,
    State,
    System,
    action,
    crash,
    decision,
    field,
    initial,
    invariant,
    output,
    parameter,
    require,
    step_invariant,
)
from slotproof.model.language.system import Alternatives

room = parameter("room", int, 2, "orders that the queue holds")
goods = parameter("goods", int, 2, "kinds of goods")
counts = parameter("counts", int, 3, "up to which number the shop can count")


class Good(Domain, size=goods, names=("A", "B", "C")):
    """A kind of goods."""


class Mode(enum.Enum):
    """What the shop does."""

    IDLE = "idle"
    BUSY = "busy"


class Order(Record):
    """What a client wants."""

    good: Good = field(Good(0), "which goods")
    urgent: bool = field(False, "whether it is urgent")


class Store(Record):
    """What is in the store."""

    held: Set[Good] = field(frozenset(), "goods that are in the store")
    last: Good | None = field(None, "the goods that came last")
    left: Annotated[int, Range(-2, 3)] | None = field(None, "places that are left")
    bought: Set[Good] | None = field(None, "all that was ever bought, once anything was")
    seen: Map[Good, Annotated[int, Range(0, 3)]] = field(0, "how often each was bought")
    moved: Good | None = output(None, "the goods that moved in this step")


class Shop(State):
    """The shop between two steps."""

    store: Store
    mode: Mode = field(Mode.IDLE, "what the shop does")
    queue: Annotated[Seq[Order], Capacity(room)] = field((), "orders that wait")


@decision
def may_order(s: Shop, a: Good) -> bool:
    """Whether a client may order."""
    raise NotImplementedError


def always(s: Shop, a: Good) -> bool:
    """Nobody is refused."""
    return True


def only_new(s: Shop, a: Good) -> bool:
    """What is in the store cannot be ordered."""
    return a not in s.store.held


@initial
def opens(s: Shop, a: Good) -> None:
    """The shop opens after {a} was sold; {not_a_parameter} stays as it is."""
    s.store.last = a


@action(actor="client", source="client.Client.order")
def order(s: Shop, a: Good, urgent: bool) -> None:
    """A client orders {a} (urgent: {urgent})."""
    require(len(s.queue) < room)
    require(s.store.seen[a] < counts and may_order(s, a))
    s.queue.append(Order(good=a, urgent=urgent))
    s.mode = Mode.BUSY


@action(actor="shop")
def buy(s: Shop) -> None:
    """The shop buys what the first order names."""
    require(s.mode == Mode.BUSY)
    require(len(s.queue) > 0)
    good = s.queue[0].good
    s.queue.pop(0)
    s.store.held |= {good}
    s.store.last = good
    s.store.bought = s.store.held
    s.store.seen[good] += 1
    s.store.left = 1 - len(s.store.held)
    s.store.moved = good
    if s.store.seen[good] == 3:
        crash("third-of-a-kind")


@invariant
def room_for_more(s: Shop) -> bool:
    """The shop never has everything while nobody waits."""
    return len(s.store.held) <= len(Good) and not (len(s.queue) == 0 and all(a in s.store.held for a in Good))


@step_invariant(on=buy)
def buys_news(before: Shop, after: Shop) -> bool:
    """Each purchase brings goods that were not there."""
    return len(after.store.held) > len(before.store.held)


@invariant
def few_of_each(s: Shop) -> bool:
    """Nothing is bought twice."""
    return all(s.store.seen[a] <= 1 for a in Good if a in s.store.held)


shop = System(
    "shop",
    Shop,
    actions=[order, buy],
    initial=[opens],
    properties=[room_for_more, buys_news, few_of_each],
    decisions=[Alternatives(may_order, always, only_new)],
    choices={"may_order": "always"},
    meaning="A shop with few places.",
)
careful = shop.with_choices({"may_order": "only_new"})
