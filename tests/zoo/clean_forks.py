"""Philosophers that hand each other forks, clean ones for dirty ones: nobody starves.

Chandy and Misra, "The drinking philosophers problem" (1984). After Jeff Hemphill's module
`specifications/DiningPhilosophers/DiningPhilosophers.tla` of https://github.com/tlaplus/Examples, whose
manifest gives 67 distinct states, 336 generated and depth 29; these are five philosophers.

The module's `NobodyStarves`: with weak fairness of each philosopher, each eats again. One who may stop with
a fork in hand starves the neighbours.
"""

import enum

from slotproof.model.language import (
    Domain,
    Map,
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
)

philosophers = parameter("philosophers", int, 5, "philosophers at the table, and forks on it")


class Philosopher(Domain, size=philosophers, names="p{n}"):
    """Somebody who eats with the forks on either side."""


class Fork(Domain, size=philosophers, names="f{n}"):
    """A fork; the one left of a philosopher has the same number."""


class Mood(enum.Enum):
    """What a philosopher does next."""

    LOOKING = "looking"
    EATING = "eating"
    THINKING = "thinking"


class Table(State):
    """The table."""

    holder: Map[Fork, Philosopher] = field(Philosopher(0), "who has each fork")
    clean: Map[Fork, bool] = field(False, "whether each fork is clean; a dirty one is handed over")
    hungry: Map[Philosopher, bool] = field(True, "who has not eaten since thinking")
    mood: Map[Philosopher, Mood] = field(Mood.LOOKING, "what each philosopher does next")


@initial
def lay_the_table(s: Table) -> None:
    """The first philosopher has the forks on both sides, the others one each."""
    for f in Fork:
        s.holder[f] = Philosopher(0 if f.index == 1 else f.index)


def left(p: Philosopher) -> Fork:
    """The fork to the left."""
    return Fork(p.index)


def right(p: Philosopher) -> Fork:
    """The fork to the right."""
    return Fork((p.index + 1) % len(Fork))


def can_eat(s: Table, p: Philosopher) -> bool:
    """Whether a philosopher has both forks, clean."""
    return all(s.holder[f] == p and s.clean[f] for f in {left(p), right(p)})


@action
def look(s: Table, p: Philosopher) -> None:
    """{p} hands over a dirty fork and sees what to do next."""
    require(s.mood[p] == Mood.LOOKING)
    ready = can_eat(s, p)
    if s.holder[left(p)] == p and not s.clean[left(p)]:
        s.holder[left(p)] = Philosopher((p.index + len(Philosopher) - 1) % len(Philosopher))
        s.clean[left(p)] = True
    elif s.holder[right(p)] == p and not s.clean[right(p)]:
        s.holder[right(p)] = Philosopher((p.index + 1) % len(Philosopher))
        s.clean[right(p)] = True
    if not s.hungry[p]:
        s.mood[p] = Mood.THINKING
    elif ready:
        s.mood[p] = Mood.EATING


@action
def eat(s: Table, p: Philosopher) -> None:
    """{p} eats, which makes the forks dirty."""
    require(s.mood[p] == Mood.EATING)
    s.hungry[p] = False
    s.clean[left(p)] = False
    s.clean[right(p)] = False
    s.mood[p] = Mood.LOOKING


@action
def think(s: Table, p: Philosopher) -> None:
    """{p} thinks and becomes hungry."""
    require(s.mood[p] == Mood.THINKING)
    s.hungry[p] = True
    s.mood[p] = Mood.LOOKING


@invariant
def neighbors_do_not_eat_together(s: Table) -> bool:
    """Two philosophers with a fork between them never eat at once."""
    return not any(
        any(s.mood[p] == Mood.EATING and s.mood[q] == Mood.EATING for q in Philosopher if right(p) == left(q))
        for p in Philosopher
    )


@eventually
def nobody_starves(s: Table, p: Philosopher) -> bool:
    """A hungry philosopher eats."""
    return leads_to(s.hungry[p], not s.hungry[p])


clean_forks = System(
    "clean-forks",
    Table,
    actions=[look, eat, think],
    initial=[lay_the_table],
    properties=[neighbors_do_not_eat_together],
)
all_go_on = System(
    "all-go-on",
    Table,
    actions=[look, eat, think],
    initial=[lay_the_table],
    properties=[nobody_starves],
    fairness=[weak(look, eat, think, each="p")],
)
one_goes_on = System(
    "one-goes-on",
    Table,
    actions=[look, eat, think],
    initial=[lay_the_table],
    properties=[nobody_starves],
    fairness=[weak(look, eat, think)],
)
