"""Small systems that use every construct of the language at least once, for tests of the relation."""

import enum

from slotproof.model.language import (
    Alternatives,
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
    require,
    some,
    step_invariant,
)


class Node(Domain, size=3, names="n{i}"):
    """A node."""


class Colour(enum.Enum):
    """A colour."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


# Numbers: ranges that do not start at 0, every operator, comparisons.


class Numbers(State):
    """Two numbers."""

    x: Annotated[int, Range(-3, 4)] = field(0, "a number")
    y: Annotated[int, Range(2, 6)] = field(3, "another")


@action
def mix(s: Numbers, up: bool) -> None:
    """Arithmetic."""
    require(s.x < s.y and s.x != 4)
    s.x = (s.x * s.y + (1 if up else -1)) % 8 - 3
    s.y = 2 + (s.x + s.y) // 3


@action
def shrink(s: Numbers, by: Annotated[int, Range(1, 2)]) -> None:
    """A parameter that is a number."""
    require(s.x - by >= -3 and not s.x <= -2)
    s.x -= by


numbers = System("numbers", Numbers, actions=[mix, shrink])


# Sets and optionals, sets of them, too.


class Sets(State):
    """Sets."""

    up: Set[Node] = field(frozenset(), "nodes that are up")
    last: Node | None = field(None, "the last that came up")
    kept: Set[Node] | None = field(None, "a copy")
    level: Annotated[int, Range(3, 5)] | None = field(None, "a number")


@action
def rise(s: Sets, n: Node) -> None:
    """Add."""
    require(n not in s.up)
    s.up |= {n}
    s.last = n
    s.level = 3 + len(s.up) - 1


@action
def fall(s: Sets, n: Node) -> None:
    """Remove."""
    require(n in s.up and s.last != n)
    s.up -= {n}


@action
def keep(s: Sets) -> None:
    """Copy the set."""
    require(s.kept is None and s.last is not None)
    s.kept = s.up | {some(s.last)}


@action
def back(s: Sets) -> None:
    """And back again."""
    require(s.kept is not None and some(s.kept) <= s.up | {Node(0)} and s.kept != frozenset())
    s.up = (some(s.kept) & s.up) - {x for x in Node if x == s.last}
    s.last = min((x for x in s.up), default=None)
    s.kept = None
    s.level = some(s.level) if len(s.up) > 1 else None


sets = System("sets", Sets, actions=[rise, fall, keep, back])


# Maps by dynamic keys, loops left in every way, helpers that write, decisions.


class Box(Record):
    """A box."""

    colour: Colour = field(Colour.RED, "its colour")
    next: Node | None = field(None, "where it points")
    hits: Map[Colour, Annotated[int, Range(0, 3)]] = field(0, "how often")


class Boxes(State):
    """Boxes."""

    box: Map[Node, Box]
    found: Node | None = field(None, "what was looked for")
    shown: Annotated[int, Range(0, 3)] = output(0, "what the step did")


@decision
def wanted(s: Boxes, n: Node) -> bool:
    """Whether a box is wanted."""
    raise NotImplementedError


def wants_red(s: Boxes, n: Node) -> bool:
    """Red ones."""
    return s.box[n].colour == Colour.RED


def wants_linked(s: Boxes, n: Node) -> bool:
    """Ones that point somewhere."""
    return s.box[n].next is not None


def first_wanted(s: Boxes, but: Node) -> Node | None:
    """The first wanted box, looked for in a loop that returns."""
    for n in Node:
        if n == but:
            continue
        if wanted(s, n):
            return n
    return None


def bump(s: Boxes, n: Node, c: Colour) -> bool:
    """Count, and say whether that was possible: a helper that writes and returns."""
    if s.box[n].hits[c] == 1:
        return False
    s.box[n].hits[c] += 1
    s.shown = 1
    return True


@action
def paint(s: Boxes, n: Node, c: Colour) -> None:
    """Dynamic keys and a chain of conditions."""
    require(s.box[n].colour != c)
    old = s.box[n].colour
    if c == Colour.RED:
        s.found = first_wanted(s, n)
    elif old == Colour.GREEN:
        s.box[n].next = n
        if s.found is not None:
            s.box[some(s.found)].next = None
            return
    s.box[n].colour = c


@action
def chase(s: Boxes) -> None:
    """Follow pointers; break, continue, and effects inside a condition."""
    require(s.found is not None)
    at = some(s.found)
    steps = 0
    for n in Node:
        if s.box[n].colour == Colour.BLUE:
            continue
        follow = s.box[at].next
        if follow is None:
            break
        at = follow
        steps += 1
        if steps == 2 and bump(s, at, Colour.RED):
            s.shown = 2
            break
    s.found = at if steps > 0 else None


@action
def link(s: Boxes, n: Node, m: Node) -> None:
    """A condition that is reached only where another holds."""
    require(s.box[n].next != m and (s.box[m].next is None or some(s.box[m].next) <= n))
    s.box[n].next = m
    if s.box[m].colour == Colour.GREEN and (bump(s, n, Colour.GREEN) or bump(s, m, Colour.BLUE)):
        s.found = max(x for x in Node if x == n or s.box[x].next == m)


@step_invariant
def shown_is_small(before: Boxes, after: Boxes) -> bool:
    """Outputs are fresh in each step."""
    return before.shown == 0 and after.shown <= 1


boxes = System(
    "boxes",
    Boxes,
    actions=[paint, chase, link],
    properties=[shown_is_small],
    decisions=[Alternatives(wanted, wants_red, wants_linked)],
    choices={"wanted": "wants_red"},
)


# Sequences.


class Item(Record):
    """An item of a queue."""

    node: Node = field(Node(0), "whose")
    hot: bool = field(False, "whether it is urgent")


class Queues(State):
    """Queues."""

    queue: Annotated[Seq[Item], Capacity(3)] = field((), "what waits")
    recent: Seq[Node] = field((), "order of use")


@action
def push(s: Queues, n: Node, hot: bool) -> None:
    """At the end, or before all others."""
    require(len(s.queue) < 2)
    if hot:
        s.queue.insert(0, Item(node=n, hot=True))
    else:
        s.queue.append(Item(node=n, hot=False))


@action
def serve(s: Queues) -> None:
    """Take the first one and note its use."""
    require(len(s.queue) > 0)
    node = s.queue[0].node
    s.queue.pop(0)
    if node in s.recent:
        s.recent.remove(node)
    s.recent.append(node)


@action
def drop(s: Queues, n: Node) -> None:
    """Keep the others."""
    require(any(i.node == n for i in s.queue))
    s.queue = [i for i in s.queue if i.node != n]  # type: ignore[assignment]


queues = System("queues", Queues, actions=[push, serve, drop])


# Initial actions, crashes, states in which a system may stop, deadlock.


class Fuse(State):
    """A fuse that burns."""

    length: Annotated[int, Range(0, 4)] = field(0, "what is left")
    wet: bool = field(False, "whether it is wet")


@initial
def cut(s: Fuse, length: Annotated[int, Range(0, 4)], wet: bool) -> None:
    """Any length but none."""
    require(length > 2 and (wet or length == 3))
    s.length = length
    s.wet = wet


def shorten(s: Fuse, by: int) -> None:
    """Burn; a wet one goes off too early."""
    s.length -= by
    if s.wet and s.length == 1:
        crash("early")


@action
def burn(s: Fuse, fast: bool) -> None:
    """One step."""
    require(s.length >= (2 if fast else 1))
    shorten(s, 2 if fast else 1)
    if s.length == 0 and s.wet:
        crash("bang")
    s.wet = False


@action
def rain(s: Fuse) -> None:
    """It gets wet."""
    require(not s.wet and s.length == 2)
    s.wet = True


@invariant
def never_one(s: Fuse) -> bool:
    """False after slow steps alone."""
    return s.length != 1 or s.wet


@step_invariant(on=burn)
def fast_is_dry(before: Fuse, after: Fuse, fast: bool) -> bool:
    """Fast steps are taken by dry fuses; also asked of steps that crash."""
    return not fast or not before.wet


def burnt(s: Fuse) -> bool:
    """A fuse may stop at its end."""
    return s.length == 0


fuse = System("fuse", Fuse, initial=[cut], actions=[burn, rain], properties=[never_one, fast_is_dry])
stopping_fuse = System("stopping-fuse", Fuse, initial=[cut], actions=[burn, rain], final=burnt)


# Actions that end with the same statements, which the relation runs once.


class Kitchen(State):
    """A pot on a stove."""

    heat: Annotated[int, Range(0, 3)] = field(0, "how hot")
    full: bool = field(False, "whether there is water")
    used: Set[Node] = field(frozenset(), "hobs used so far")
    log: Annotated[Seq[Node], Capacity(3)] = field((), "hobs in the order of their use")


def cook(s: Kitchen, n: Node) -> bool:
    """What all have in common: an early return, a crash, a full sequence."""
    if n in s.used:
        return False
    s.used |= {n}
    s.log.append(n)
    if s.heat == 3 and not s.full:
        crash("burnt")
    return True


@action
def warm(s: Kitchen, n: Node) -> None:
    """More heat."""
    require(s.heat < 3)
    s.heat += 1
    own = {n}  # in the next action it is of another kind
    wanted = s.full and n in own
    if cook(s, n):
        s.full = not wanted


@action
def fill(s: Kitchen, n: Node) -> None:
    """Water, and less heat."""
    require(not s.full and s.heat > 0)
    own = s.heat - 1
    wanted = s.heat < 2
    s.heat = own
    if cook(s, n):
        s.full = not wanted


@action
def clean(s: Kitchen, n: Node) -> None:
    """The beginning can be the end, too."""
    require(n in s.used)
    wanted = True
    if s.heat == 1:
        return
    s.used -= {n}
    s.heat = 0
    if cook(s, n):
        s.full = not wanted


@invariant
def in_order(s: Kitchen) -> bool:
    """False in time."""
    return len(s.log) < 3 or s.log[0].index <= s.log[1].index


kitchen = System("kitchen", Kitchen, actions=[warm, fill], properties=[in_order])
cleaned_kitchen = System("cleaned-kitchen", Kitchen, actions=[warm, fill, clean], properties=[in_order])


# Arguments of every kind, as many of one as of another.


class Coin(enum.Enum):
    """As many as there are truth values."""

    HEADS = "heads"
    TAILS = "tails"


class Side(Domain, size=4, names="d{i}"):
    """As many as there are sets of coins."""


class Given(State):
    """What was given last."""

    times: Annotated[int, Range(0, 2)] = field(0, "how often something was given")


@action
def give_bool(s: Given, x: bool) -> None:
    """Two."""
    s.times = 1 if x else s.times


@action
def give_coin(s: Given, x: Coin) -> None:
    """Two."""
    s.times = 2 if x == Coin.TAILS else s.times


@action
def give_set(s: Given, x: Set[Coin]) -> None:
    """Four."""
    s.times = len(x)


@action
def give_side(s: Given, x: Side) -> None:
    """Four."""
    s.times = min(x.index, 2)


@action
def give_all(s: Given, a: Side, b: bool, c: Coin, d: Set[Coin], e: Annotated[int, Range(1, 2)]) -> None:
    """Each of them."""
    require(b)
    s.times = 0 if c == Coin.HEADS and a == Side(1) and e == 2 else len(d)


@invariant
def rarely(s: Given) -> bool:
    """True of all values."""
    return s.times <= 2


given = System(
    "given", Given, actions=[give_bool, give_coin, give_set, give_side, give_all], properties=[rarely]
)
