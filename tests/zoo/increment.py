"""Threads that add one to a shared number, each by a read and a write.

After `examples/increment.rs` and `increment_lock.rs` of https://github.com/stateright/stateright. The
first says of two threads that there are 13 states, all listed, and shows the lost update after four
steps. The second holds a lock around both steps, and nothing is lost.
"""

import enum

from slotproof.model.language import (
    Alternatives,
    Annotated,
    Domain,
    Map,
    Range,
    State,
    System,
    action,
    decision,
    field,
    invariant,
    parameter,
    require,
)

threads = parameter("threads", int, 2, "threads that add one")


class Thread(Domain, size=threads, names="t{n}"):
    """Something that adds one, once."""


class Step(enum.Enum):
    """What a thread does next."""

    READ = "read"
    WRITE = "write"
    NOTHING = "nothing"


class Memory(State):
    """The shared number and the threads."""

    number: Annotated[int, Range(0, threads)] = field(0, "what all threads see")
    seen: Map[Thread, Annotated[int, Range(0, threads)]] = field(0, "what each thread has read")
    step: Map[Thread, Step] = field(Step.READ, "what each thread does next")


@decision
def may_read(s: Memory) -> bool:
    """Whether a thread may start."""
    return True


def at_any_time(s: Memory) -> bool:
    """Nothing keeps threads apart."""
    return True


def one_after_the_other(s: Memory) -> bool:
    """A lock is held from the read to the write."""
    return all(s.step[t] != Step.WRITE for t in Thread)


@action
def read(s: Memory, t: Thread) -> None:
    """{t} reads the number."""
    require(s.step[t] == Step.READ)
    require(may_read(s))
    s.seen[t] = s.number
    s.step[t] = Step.WRITE


@action
def write(s: Memory, t: Thread) -> None:
    """{t} writes one more than it has read."""
    require(s.step[t] == Step.WRITE)
    s.number = s.seen[t] + 1
    s.step[t] = Step.NOTHING


@invariant
def nothing_lost(s: Memory) -> bool:
    """The number says how many threads have written."""
    return s.number == sum(1 for t in Thread if s.step[t] == Step.NOTHING)


def all_done(s: Memory) -> bool:
    """Every thread has added one."""
    return all(s.step[t] == Step.NOTHING for t in Thread)


racing = System(
    "racing",
    Memory,
    actions=[read, write],
    properties=[nothing_lost],
    final=all_done,
    decisions=[Alternatives(may_read, at_any_time, one_after_the_other)],
    choices={"may_read": "at_any_time"},
)
locked = System(
    "locked",
    Memory,
    actions=[read, write],
    properties=[nothing_lost],
    final=all_done,
    decisions=[Alternatives(may_read, at_any_time, one_after_the_other)],
    choices={"may_read": "one_after_the_other"},
)
