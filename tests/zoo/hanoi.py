"""The tower of Hanoi.

Known since Lucas (1883): n disks have 3^n regular positions, all of which can be reached, and 2^n - 1
moves are needed and suffice. Hinz, Klavžar and Petr, "The Tower of Hanoi: Myths and Maths" (2nd
edition, 2018), chapter 2: the graph of positions has 3 (3^n - 1) / 2 edges and diameter 2^n - 1.
"""

import enum

from slotproof.model.language import (
    Domain,
    Map,
    State,
    System,
    action,
    field,
    invariant,
    parameter,
    require,
)

disks = parameter("disks", int, 3, "disks of the tower")


class Disk(Domain, size=disks, names="d{n}"):
    """A disk; those with lower numbers are smaller."""


class Peg(enum.Enum):
    """Where disks lie."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


class Tower(State):
    """A regular position: on each peg the disks lie in the order of their size."""

    peg: Map[Disk, Peg] = field(Peg.LEFT, "where each disk lies")


@action
def move(s: Tower, d: Disk, to: Peg) -> None:
    """The top disk {d} is moved to the {to} peg, onto no smaller one."""
    require(s.peg[d] != to)
    require(not any(s.peg[e] in {s.peg[d], to} for e in Disk if e < d))
    s.peg[d] = to


@invariant
def unsolved(s: Tower) -> bool:
    """Does not hold: what breaks it is the solution."""
    return any(s.peg[d] != Peg.RIGHT for d in Disk)


hanoi = System("hanoi", Tower, actions=[move], properties=[unsolved])
