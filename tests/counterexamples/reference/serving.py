"""Servers that run by themselves: a decode server and its prefill peer, and a single server, to the end."""

from __future__ import annotations

import random
from collections.abc import Mapping

from slotproof.counterexamples.reference.decode import DecodeScheduler
from slotproof.counterexamples.reference.registry import Output
from slotproof.counterexamples.reference.rules import Rules
from slotproof.counterexamples.reference.server import Server, ServerArgs

ADAPTERS = ("base", "A", "B", "C")
REQUESTS = tuple((f"r{i + 1}", ADAPTERS[i % 4], 5 + i % 3) for i in range(8))
"""Eight requests at once, of the base model and three adapters: name, adapter, length of the answer."""


def answered(server: Server, seed: int, most: int = 400) -> dict[str, Output]:
    """Send the eight requests and run the server until all are answered, in an order that the seed chooses.

    Handshakes and transfers end at random times; the base model and three adapters share two slots.
    """
    chance = random.Random(seed)
    names = list(REQUESTS)
    chance.shuffle(names)
    for name, adapter, length in names:
        server.arrive(name, adapter).max_new_tokens = length
    scheduler = server.schedulers[0]
    answers: dict[str, Output] = {}
    for _ in range(most):
        if isinstance(scheduler, DecodeScheduler):
            queued = [r.rid for r in scheduler.reserving + scheduler.transferring]
            server.peer.ready = {rid for rid in queued if chance.random() < 0.5}
        if scheduler.has_work():
            for _pause in scheduler.iteration():
                pass
        for rid in [*server.tokenizer.channels.outputs]:
            if chance.random() < 0.5:
                answers[rid.partition("#")[0]] = server.tokenizer.handle_output(rid)
        if len(answers) == len(REQUESTS):
            return answers
    raise AssertionError(f"{len(answers)} of {len(REQUESTS)} requests are answered after {most} iterations")


def texts(answers: Mapping[str, Output]) -> dict[str, tuple[int, ...]]:
    """The tokens by request; no answer is an error."""
    assert not any(output.error for output in answers.values())
    return {name: output.tokens for name, output in answers.items()}


def decode_server(names: Mapping[str, str]) -> Server:
    """A decode server with two slots and eight rows."""
    args = ServerArgs(adapters=ADAPTERS[1:], slots=2, decode=True, overlap=False, max_rows=8)
    return Server(args, Rules(names))


def single_server(names: Mapping[str, str]) -> Server:
    """A single server with two slots."""
    return Server(ServerArgs(adapters=ADAPTERS[1:], slots=2), Rules(names))
