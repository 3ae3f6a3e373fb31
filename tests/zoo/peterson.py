"""Peterson's mutual exclusion of two processes, and the same with two lines swapped.

Peterson, "Myths about the mutual exclusion problem" (1981). Baier and Katoen, "Principles of Model
Checking" (2008), example 2.25: where a process raises its flag and gives way in one step, ten states
can be reached. Exercise: in two steps the order matters. With the flag first nothing goes wrong; with
the turn first both can enter, after six steps: both give way, the second raises its flag and enters
since the other's flag is down, the first raises its flag and enters since the turn is its own.
Nobody who has raised its flag waits for ever, as long as both go on; it takes no fairness of the outside.
"""

import enum

from slotproof.model.language import (
    Alternatives,
    Domain,
    Map,
    State,
    System,
    action,
    decision,
    eventually,
    field,
    initial,
    invariant,
    leads_to,
    require,
    weak,
    witness,
)


class Process(Domain, size=2, names="p{n}"):
    """One of the two."""


class Place(enum.Enum):
    """Where a process is."""

    OUTSIDE = "outside"
    HALFWAY = "halfway"
    WAITING = "waiting"
    INSIDE = "inside"


class Memory(State):
    """The processes and what they share."""

    place: Map[Process, Place] = field(Place.OUTSIDE, "where each process is")
    flag: Map[Process, bool] = field(False, "whether each process wants to be inside")
    turn: Process = field(Process(0), "who goes first if both want to")


def other(p: Process) -> Process:
    """Not {p}."""
    return Process(1 - p.index)


@initial
def either_turn(s: Memory, turn: Process) -> None:
    """Whose turn it is at the start does not matter."""
    s.turn = turn


def raise_flag(s: Memory, p: Process) -> None:
    """Say that ``p`` wants to be inside."""
    s.flag[p] = True


def give_way(s: Memory, p: Process) -> None:
    """Let the other go first."""
    s.turn = other(p)


@decision
def first_line(s: Memory, p: Process) -> None:
    """What a process does first."""


@decision
def second_line(s: Memory, p: Process) -> None:
    """What a process does next."""


@action
def want(s: Memory, p: Process) -> None:
    """{p} wants to be inside: both lines in one step."""
    require(s.place[p] == Place.OUTSIDE)
    first_line(s, p)
    second_line(s, p)
    s.place[p] = Place.WAITING


@action
def start_to_want(s: Memory, p: Process) -> None:
    """{p} executes the first line."""
    require(s.place[p] == Place.OUTSIDE)
    first_line(s, p)
    s.place[p] = Place.HALFWAY


@action
def go_on_to_want(s: Memory, p: Process) -> None:
    """{p} executes the second line."""
    require(s.place[p] == Place.HALFWAY)
    second_line(s, p)
    s.place[p] = Place.WAITING


@action
def enter(s: Memory, p: Process) -> None:
    """{p} goes inside, as the other does not want to or has given way."""
    require(s.place[p] == Place.WAITING)
    require(not s.flag[other(p)] or s.turn == p)
    s.place[p] = Place.INSIDE


@action
def leave(s: Memory, p: Process) -> None:
    """{p} comes out."""
    require(s.place[p] == Place.INSIDE)
    s.flag[p] = False
    s.place[p] = Place.OUTSIDE


@invariant
def one_inside(s: Memory) -> bool:
    """The two are never inside together."""
    return not all(s.place[p] == Place.INSIDE for p in Process)


@eventually
def gets_in(s: Memory, p: Process) -> bool:
    """Who has begun to want to get in does."""
    return leads_to(s.place[p] == Place.HALFWAY, s.place[p] == Place.INSIDE)


@eventually
def wants_again(s: Memory, p: Process) -> bool:
    """Does not hold: nobody has to want to."""
    return leads_to(s.place[p] == Place.OUTSIDE, s.place[p] == Place.HALFWAY)


@witness
def both_wait(s: Memory) -> bool:
    """Both want to be inside, and one has to wait."""
    return all(s.place[p] == Place.WAITING for p in Process)


LINES = [Alternatives(first_line, raise_flag, give_way), Alternatives(second_line, give_way, raise_flag)]

in_one_step = System(
    "in-one-step",
    Memory,
    actions=[want, enter, leave],
    initial=[either_turn],
    properties=[one_inside],
    witnesses=[both_wait],
    decisions=LINES,
    choices={"first_line": "raise_flag", "second_line": "give_way"},
)
flag_first = System(
    "flag-first",
    Memory,
    actions=[start_to_want, go_on_to_want, enter, leave],
    initial=[either_turn],
    properties=[one_inside],
    witnesses=[both_wait],
    decisions=LINES,
    choices={"first_line": "raise_flag", "second_line": "give_way"},
)
turn_first = System(
    "turn-first",
    Memory,
    actions=[start_to_want, go_on_to_want, enter, leave],
    initial=[either_turn],
    properties=[one_inside],
    witnesses=[both_wait],
    decisions=LINES,
    choices={"first_line": "give_way", "second_line": "raise_flag"},
)
both_go_on = System(
    "both-go-on",
    Memory,
    actions=[start_to_want, go_on_to_want, enter, leave],
    initial=[either_turn],
    properties=[gets_in, wants_again],
    decisions=LINES,
    choices={"first_line": "raise_flag", "second_line": "give_way"},
    fairness=[weak(go_on_to_want, enter, leave, each="p")],
)
nobody_has_to_leave = System(
    "nobody-has-to-leave",
    Memory,
    actions=[start_to_want, go_on_to_want, enter, leave],
    initial=[either_turn],
    properties=[gets_in, wants_again],
    decisions=LINES,
    choices={"first_line": "raise_flag", "second_line": "give_way"},
    fairness=[weak(go_on_to_want, enter, each="p")],
)
