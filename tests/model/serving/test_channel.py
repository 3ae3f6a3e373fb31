"""The reduction of the channel down: clients and the tokenizer step only where the scheduler ingests.

``front.py`` argues it; here it is shown. A second server has the channel: clients and the tokenizer step at
any moment, what they send waits first in, first out, and the scheduler receives any prefix of it at the top
of its loop. What a message does on receipt is the model's own code in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from slotproof.checker.explicit.engine import reached
from slotproof.model.language import Annotated, Capacity, Domain, Seq, action, field, require
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.releases import release
from slotproof.model.serving import front, step
from slotproof.model.serving.front import abort_in_scheduler, close, enqueue, fence_holds, use_count
from slotproof.model.serving.manager import unload_adapter
from slotproof.model.serving.pool import end_zeroing
from slotproof.model.serving.registry import leak_reference
from slotproof.model.serving.server import Server
from slotproof.model.serving.step import tidy
from slotproof.model.serving.tokenizer import echo_releases
from slotproof.model.serving.vocabulary import (
    Adapter,
    Rank,
    Request,
    Traffic,
    aborts,
    names,
    requests,
    traffic,
    unloadable,
)
from slotproof.properties import SCENARIOS

SIZES: Mapping[str, Any] = {
    "requests": 2,
    "adapters": 3,
    "slots": 1,
    "names": {"r1": ["A"], "r2": ["A", "B"]},
    "unloadable": ["B"],
    "traffic": "ONCE",
}
MESSAGES = 7
"""Two requests, an abort of each, an unload of each of three adapters."""


class Message(Domain, size=MESSAGES, names="message{i}"):
    """What is on its way to the scheduler: a request, an abort of one, an unload."""


class Channelled(Server):
    """The server with its channel down."""

    down: Annotated[Seq[Message], Capacity(MESSAGES)] = field((), "messages sent and not yet received")


def work(r: Request) -> Message:
    """The request itself."""
    return Message(r.index)


def abort_of(r: Request) -> Message:
    """The abort of a request."""
    return Message(requests + r.index)


def unload_of(a: Adapter) -> Message:
    """The unload of an adapter."""
    return Message(2 * requests + a.index)


@action
def arrive(s: Channelled, r: Request, a: Adapter) -> None:
    """The tokenizer acquires {a} and sends {r}."""
    require(traffic is Traffic.ONCE and r not in s.tokenizer.sent)
    require(a in names[r] and a not in s.registry.absent)
    s.tokenizer.sent |= {r}
    s.adapter[r] = a
    s.tokenizer.open |= {r}
    s.down.append(work(r))


@action
def abort(s: Channelled, r: Request) -> None:
    """The client cancels {r}: the tokenizer sends an abort, of which the scheduler may have nothing left."""
    require(aborts and r in s.tokenizer.open and abort_of(r) not in s.down)
    s.down.append(abort_of(r))


@action
def answer(s: Channelled, r: Request) -> None:
    """The last output of {r} reaches the tokenizer."""
    require(r in s.replies.outputs)
    close(s, r)


@action
def echo(s: Channelled, r: Request) -> None:
    """The abort echo of {r} reaches the tokenizer."""
    require(r in s.replies.echoes)
    if not echo_releases():
        leak_reference(s.registry, s.adapter[r])
    close(s, r)


@action
def unregister(s: Channelled, a: Adapter) -> None:
    """The operator unloads {a}."""
    require(a in unloadable and a not in s.registry.absent and len(s.registry.unloading) == 0)
    s.registry.absent |= {a}
    s.registry.unloading |= {a}


@action
def unload(s: Channelled, a: Adapter) -> None:
    """The use count of {a} is zero: the unload is sent."""
    require(a in s.registry.unloading and use_count(s, a) == 0)
    s.registry.unloading -= {a}
    s.down.append(unload_of(a))


def act_on(s: Channelled, k: Rank, message: Message) -> None:
    """What the scheduler does with a message."""
    for r in Request:
        if message == work(r):
            enqueue(s.ranks[k], r)
        if message == abort_of(r):
            abort_in_scheduler(s, s.ranks[k], r)
            tidy(s, s.ranks[k])
    for a in Adapter:
        if message == unload_of(a):
            unload_adapter(s.ranks[k].manager, s.ranks[k].loader, s.ranks[k].pool, a)
            if not fence_holds(s.ranks[k].scheduler):
                end_zeroing(s.ranks[k].pool)


@action
def receive(s: Channelled, k: Rank) -> None:
    """The scheduler takes the next message, at the top of its loop."""
    require(s.ranks[k].scheduler.asked is None)
    require(len(s.down) > 0)
    message = s.down.pop(0)
    act_on(s, k, message)


@action
def receive_at_once(s: Channelled, k: Rank) -> None:
    """The scheduler takes the next message whenever it comes, which no release does."""
    require(len(s.down) > 0)
    message = s.down.pop(0)
    act_on(s, k, message)


FOLDED = (front.arrive, front.abort, front.answer, front.echo, front.unregister, front.unload)
SENT = (arrive, abort, answer, echo, unregister, unload)
SCHEDULER = (step.schedule, step.go_on, step.copy_ends)


Sizes = Mapping[str, Any]
Cells = tuple[tuple[str, tuple[int, ...]], ...]
ASKED, LENGTH = "ranks[].scheduler.asked", "down.len"
NOTHING = 0
"""The code of an optional that is empty."""


class Reached:
    """All reachable states of one of the two servers, each as the codes of its cells by the column's name."""

    def __init__(self, version: str, state: type[Server], actions: Iterable[Any], sizes: Sizes) -> None:
        scenario = replace(SCENARIOS["overlap-cancel"], actions=tuple(actions), properties=(), witnesses=())
        system = scenario.system(replace(release(version), state=state)).with_parameters(**sizes)
        program = compile_system(system)
        choices = program.choices(system.choices)
        interpreter = Interpreter(program, choices)
        self.outcomes = [o for layer in reached(program, choices) for o in layer]
        self.states = [
            {c.name: o.state[c.offset : c.offset + c.cells] for c in program.columns}
            for o in self.outcomes
            if interpreter.stored(o.state) == o.state
        ]

    def of_the_process(self) -> set[Cells]:
        """What the scheduler's process holds, at every moment."""
        return {chosen(state, "ranks") for state in self.states}

    def at_ingest(self) -> set[Cells]:
        """The whole server where its scheduler is at the top of its loop and nothing is on its way down."""
        return {
            chosen(state, "")
            for state in self.states
            if state.get(LENGTH, (0,)) == (0,) and state[ASKED] == (NOTHING,)
        }


def chosen(state: Mapping[str, tuple[int, ...]], prefix: str) -> Cells:
    """The cells of a state whose columns' names start so; the channel is not among them."""
    return tuple((name, x) for name, x in state.items() if name.startswith(prefix) and name[:4] != "down")


@cache
def folded(version: str, slots: int) -> Reached:
    """The model: what is sent is received in the same step."""
    return Reached(version, Server, (*SCHEDULER, *FOLDED), {**SIZES, "slots": slots})


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.13", "0.5.20", "0.5.23"])
def test_with_a_channel_down_the_server_comes_to_the_same_states(version: str, slots: int) -> None:
    sizes = {**SIZES, "slots": slots}
    channelled = Reached(version, Channelled, (*SCHEDULER, *SENT, receive), sizes)
    assert channelled.of_the_process() == folded(version, slots).of_the_process()
    assert channelled.at_ingest() == folded(version, slots).at_ingest()


def test_it_would_be_seen_if_messages_were_read_anywhere_else() -> None:
    """An abort that is received in the middle of a pass takes away a request that the pass has picked."""
    at_once = Reached("0.5.23", Channelled, (*SCHEDULER, *SENT, receive_at_once), {**SIZES, "slots": 2})
    assert at_once.of_the_process() > folded("0.5.23", 2).of_the_process()
