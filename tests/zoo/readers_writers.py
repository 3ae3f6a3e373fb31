"""Readers and writers that are served in the order in which they ask.

After Isaac DeFrain's module `specifications/ReadersWriters/ReadersWriters.tla` of
https://github.com/tlaplus/Examples, whose manifest gives for three actors 21,527 distinct states,
59,674 generated and depth 13.

The module's `Liveness`: with weak fairness of each wish, of serving and of stopping, each actor reads again
and again, and stops again and again. If nobody has to stop, the others wait.
"""

import enum

from slotproof.model.language import (
    Annotated,
    Capacity,
    Domain,
    Record,
    Seq,
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
    weak,
)

actors = parameter("actors", int, 3, "processes that read and write")
most = parameter("most", int, 6, "wishes that can wait: twice the actors")


class Actor(Domain, size=actors, names="a{n}"):
    """A process."""


class Access(enum.Enum):
    """What an actor wants to do."""

    READ = "read"
    WRITE = "write"


class Wish(Record):
    """An actor's place in the queue."""

    access: Access = field(Access.READ, "what it wants to do")
    actor: Actor = field(Actor(0), "who wants it")


class Library(State):
    """Who uses the shared thing, and who waits."""

    readers: Set[Actor] = field(frozenset(), "who reads")
    writers: Set[Actor] = field(frozenset(), "who writes")
    waiting: Annotated[Seq[Wish], Capacity(most)] = field((), "wishes, the oldest first")


@action
def ask(s: Library, actor: Actor, access: Access) -> None:
    """{actor} queues to {access}, if it does not do so already."""
    require(all(w.actor != actor or w.access != access for w in s.waiting))
    s.waiting.append(Wish(access=access, actor=actor))


@action
def serve(s: Library) -> None:
    """The oldest wish is granted."""
    require(len(s.waiting) > 0 and not s.writers)
    require(s.waiting[0].access == Access.READ or not s.readers)
    if s.waiting[0].access == Access.READ:
        s.readers |= {s.waiting[0].actor}
    else:
        s.writers |= {s.waiting[0].actor}
    s.waiting.pop(0)


@action
def stop(s: Library, actor: Actor) -> None:
    """{actor} has read or written enough."""
    require(actor in s.readers | s.writers)
    if actor in s.readers:
        s.readers -= {actor}
    else:
        s.writers -= {actor}


@invariant
def writers_are_alone(s: Library) -> bool:
    """Nobody reads while somebody writes, and one at most writes."""
    return (not s.readers or not s.writers) and len(s.writers) <= 1


@eventually
def reads_again(s: Library, actor: Actor) -> bool:
    """Each actor reads again and again."""
    return leads_to(True, actor in s.readers)


@eventually
def writes_again(s: Library, actor: Actor) -> bool:
    """Each actor writes again and again."""
    return leads_to(True, actor in s.writers)


@eventually
def stops_reading(s: Library, actor: Actor) -> bool:
    """Who reads stops in the end."""
    return leads_to(actor in s.readers, actor not in s.readers)


readers_writers = System(
    "readers-writers", Library, actions=[ask, serve, stop], properties=[writers_are_alone]
)
everybody_stops = System(
    "everybody-stops",
    Library,
    actions=[ask, serve, stop],
    properties=[reads_again, writes_again, stops_reading],
    fairness=[weak(ask, each=("actor", "access")), weak(serve), weak(stop)],
)
nobody_has_to_stop = System(
    "nobody-has-to-stop",
    Library,
    actions=[ask, serve, stop],
    properties=[reads_again, writes_again, stops_reading],
    fairness=[weak(ask, each=("actor", "access")), weak(serve)],
)
