"""Dining philosophers that take the left fork first: all can take it and starve together.

Dijkstra, "Hierarchical ordering of sequential processes" (1971). n philosophers are in deadlock after n
steps, when each has a left fork. The positions are the closed walks of length n through the three
states of a philosopher, two neighbors never holding one fork: (1 + √2)^n + (1 - √2)^n of them, the
companion Pell numbers, https://oeis.org/A002203: 14, 34, 82 for n = 3, 4, 5.
"""

import enum

from slotproof.model.language import Domain, Map, State, System, action, field, invariant, parameter, require

philosophers = parameter("philosophers", int, 3, "philosophers at the table, and forks on it")


class Philosopher(Domain, size=philosophers, names="p{n}"):
    """Somebody with a fork on either side; the left one has the philosopher's number."""


class Forks(enum.Enum):
    """What a philosopher has in hand."""

    NONE = "none"
    LEFT = "left"
    BOTH = "both"


class Table(State):
    """The table."""

    has: Map[Philosopher, Forks] = field(Forks.NONE, "what each philosopher has in hand")


def right_of(p: Philosopher) -> Philosopher:
    """The neighbor to the right."""
    return Philosopher((p.index + 1) % len(Philosopher))


@action
def take_left(s: Table, p: Philosopher) -> None:
    """{p} takes the left fork, which no neighbor has."""
    require(s.has[p] == Forks.NONE)
    require(not any(s.has[q] == Forks.BOTH and right_of(q) == p for q in Philosopher))
    s.has[p] = Forks.LEFT


@action
def take_right(s: Table, p: Philosopher) -> None:
    """{p} takes the right fork, too, and eats."""
    require(s.has[p] == Forks.LEFT)
    require(s.has[right_of(p)] == Forks.NONE)
    s.has[p] = Forks.BOTH


@action
def put_down(s: Table, p: Philosopher) -> None:
    """{p} puts both forks down and thinks."""
    require(s.has[p] == Forks.BOTH)
    s.has[p] = Forks.NONE


@invariant
def neighbors_do_not_eat_together(s: Table) -> bool:
    """No fork is in two hands."""
    return not any(s.has[p] == Forks.BOTH and s.has[right_of(p)] == Forks.BOTH for p in Philosopher)


dining_philosophers = System(
    "dining-philosophers",
    Table,
    actions=[take_left, take_right, put_down],
    properties=[neighbors_do_not_eat_together],
)
