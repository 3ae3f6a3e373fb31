"""A system that uses every construct of the language: nothing that makes sense, all that can be written."""

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
    output,
    parameter,
    require,
    reset,
    some,
)

items = parameter("items", int, 3, "elements of the small domain")


class Item(Domain, size=items, names="i{n}"):
    """An element of the small domain."""


class Wide(Domain, size=64, names="w{i}"):
    """An element of a domain whose sets fill a word."""


class Color(enum.Enum):
    """Three members."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Cell(Record):
    """A record in a map."""

    color: Color = field(Color.RED, "a member")
    owner: Item | None = field(None, "an element or nothing")
    level: Annotated[int, Range(-3, 4)] = field(-1, "a number with a negative bound")
    marks: Set[Item] = field(frozenset(), "a set")


class Message(Record):
    """An item of a sequence."""

    sender: Item = field(Item(0), "an element")
    urgent: bool = field(False, "a bool")


class Everything(State):
    """All kinds of state variables."""

    cells: Map[Item, Cell]
    grid: Map[Item, Map[Color, Annotated[int, Range(0, 700)]]] = field(5, "more bits than a word")
    wide: Set[Wide] = field(frozenset(), "64 elements")
    queue: Annotated[Seq[Message], Capacity(3)] = field((), "messages")
    order: Seq[Item] = field((), "elements, each at most once")
    count: Annotated[int, Range(0, 9)] = field(0, "how many steps")
    maybe: Annotated[int, Range(-2, 2)] | None = field(None, "a number or nothing")
    shown: Annotated[int, Range(-10, 10)] = output(0, "what the last step shows")
    shown_set: Set[Item] = output(frozenset(), "what else it shows")


@decision
def rank(s: Everything, i: Item) -> int:
    """How elements are compared."""
    raise NotImplementedError


def by_level(s: Everything, i: Item) -> int:
    """By their level."""
    return s.cells[i].level


def by_number(s: Everything, i: Item) -> int:
    """By their number, last first."""
    return -i.index


def lowest(s: Everything, limit: int) -> Item | None:
    """The first element below a limit, by an early return out of a loop."""
    for i in Item:
        if s.cells[i].level < limit:
            return i
    return None


def paint(cell: Cell, color: Color) -> None:
    """A helper with an effect."""
    if cell.color == color:
        return
    cell.color = color


@initial
def start(s: Everything, c: Color, m: Annotated[int, Range(1, 2)] | None) -> None:
    """Six initial states."""
    s.cells[Item(0)].color = c
    s.maybe = m


@action
def raise_level(s: Everything, i: Item, by: Annotated[int, Range(-1, 2)]) -> None:
    """Numbers: ranges, floor division and remainder of negative numbers."""
    require(s.count < 3 and -3 <= s.cells[i].level + by <= 4)
    require(by != 0)
    s.cells[i].level += by
    s.count += 1
    s.shown = s.cells[i].level // 2 - s.cells[i].level % 3
    s.grid[i][s.cells[i].color] = (s.grid[i][s.cells[i].color] * 7 + by) % 701


@action
def recolor(s: Everything, i: Item, c: Color) -> None:
    """Enums, optionals and a helper that changes a record."""
    require(s.cells[i].color != c and s.count < 4)
    paint(s.cells[i], c)
    s.cells[i].owner = lowest(s, 1)
    s.count += 1
    s.shown = -1 if s.cells[i].owner is None else some(s.cells[i].owner).index


@action
def mark(s: Everything, i: Item, marks: Set[Item]) -> None:
    """A parameter that is a set; set operations."""
    require(s.count < 2 and i in marks and len(marks) < 3)
    s.cells[i].marks = (s.cells[i].marks ^ marks) | {i}
    s.shown_set = {j for j in Item if j not in s.cells[i].marks} - {i}
    s.wide |= {Wide(63), Wide(i.index)}
    s.count += 1


@action
def send(s: Everything, i: Item, urgent: bool) -> None:
    """Sequences of records."""
    require(len(s.queue) < 2 and s.count < 4)
    if urgent:
        s.queue.insert(0, Message(sender=i, urgent=True))
    else:
        s.queue.append(Message(sender=i, urgent=False))
    if i not in s.order:
        s.order.append(i)
    s.count += 1


@action
def receive(s: Everything) -> None:
    """Loops with break and continue, min and max by a decision."""
    require(len(s.queue) > 0)
    sender = s.queue[0].sender
    s.queue.pop(0)
    for i in Item:
        if i == sender:
            continue
        if s.cells[i].marks:
            s.shown = i.index
            break
    best = max(rank(s, i) for i in Item)
    s.order[:] = [i for i in s.order if rank(s, i) < best]
    s.shown = s.shown + sum(1 for i in Item if rank(s, i) == best)
    if any(any(j in s.cells[i].marks for j in Item if j != i) for i in Item):
        s.maybe = min((s.cells[i].level for i in Item if -2 <= s.cells[i].level <= 2), default=2)


@action
def fall(s: Everything, i: Item) -> None:
    """A crash in the middle of an effect."""
    require(s.maybe is not None and s.cells[i].owner == i)
    s.shown = 7
    s.count = 9
    if s.cells[i].color == Color.BLUE:
        crash("blue")
    reset(s.cells[i])
    if some(s.maybe) > 1:
        crash("big")


everything = System(
    "everything",
    Everything,
    initial=[start],
    actions=[raise_level, recolor, mark, send, receive, fall],
    decisions=[Alternatives(rank, by_level, by_number)],
)
