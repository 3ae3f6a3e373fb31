"""From the code to the model: the reference runs by itself, and its log is a path of the model."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotproof.counterexamples.replay.conform import setting_for
from slotproof.counterexamples.replay.driver import Plain
from slotproof.counterexamples.replay.own_steam import Paths, Seen
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.model.language.program import Program
from slotproof.model.releases import release
from tests.counterexamples.replay.runs import program_of

HIDDEN = frozenset({"copy_ends"})
REST_OF_THE_PASS = frozenset({"go_on", "copy_ends"})
UNSEEN = (".loader.copies", ".loader.filling", ".gate.", ".forward.", ".routing.", ".asked")


def visible(target: ReferenceTarget) -> dict[str, Plain]:
    """What the outside sees: no outputs of a single step, and nothing of the load stream."""
    return {n: v for n, v in target.observe().items() if not any(part in n for part in UNSEEN)}


def run_by_itself(program: Program, name: str, chance: random.Random, length: int) -> list[Seen]:
    """Requests of random lengths come, are cancelled and unloaded; copies end when they like, and forwards
    early or late."""
    names = release(name).names()
    target = ReferenceTarget(strict=False, late=chance.random() < 0.5)
    used = {p.name: names[p.name] for p in program.decisions}
    target.begin(setting_for(program, used, "overlap-cancel", name, None))
    server, scheduler = target.server, target.server.schedulers[0]
    loader = scheduler.loader
    assert loader is not None
    log: list[Seen] = []

    def happened(action: str, then: frozenset[str] = frozenset(), **arguments: Plain) -> None:
        target.marks.update(server.tokenizer, {})
        log.append(Seen(action, arguments, then, visible(target)))

    def copies_may_end() -> None:
        while loader.stream.closed() and chance.random() < 0.4:
            loader.stream.release()

    for _ in range(length):
        copies_may_end()
        adapter = chance.choice(["A", "B", "C"])
        request = {"A": "r1", "B": "r2", "C": "r3"}[adapter]
        r = target.current.get(request)
        waits = r is not None and target.under_way(r)
        match chance.choice(["arrive", "abort", "reply", "unload", "step", "step", "step"]):
            case "arrive" if not waits and adapter in server.tokenizer.registry.names:
                target.current[request] = server.arrive(request, adapter)
                target.current[request].max_new_tokens = chance.randint(1, 4)
                happened("arrive", r=request, a=adapter)
            case "abort" if r is not None and r.rid in server.tokenizer.states and server.abort(r.rid):
                happened("abort", r=request)
            case "reply" if r is not None and r.rid in server.tokenizer.channels.outputs:
                server.tokenizer.handle_output(r.rid)
                happened("answer", r=request)
            case "reply" if r is not None and r.rid in server.tokenizer.channels.echoes:
                server.tokenizer.handle_echo(r.rid)
                happened("echo", r=request)
            case "unload" if "B" in server.tokenizer.registry.names:
                target.do_unregister({"a": "B"})
                happened("unregister", a="B")
            case "unload" if "B" in server.tokenizer.unloading and server.tokenizer.registry.counts["B"] == 0:
                server.unload("B")
                happened("unload", a="B")
            case "step" if scheduler.has_work():
                for _pause in scheduler.iteration():
                    copies_may_end()
                happened("schedule", REST_OF_THE_PASS)
    return log


@pytest.mark.parametrize("name", ["0.5.12.post1", "0.5.19", "0.5.23"])
@given(chance=st.randoms(use_true_random=False), length=st.integers(1, 25))
@settings(max_examples=12)
def test_what_the_reference_does_the_model_allows(name: str, chance: random.Random, length: int) -> None:
    """The ends of copies and the cuts of passes are not in the log."""
    program = program_of("overlap-cancel", name)
    log = run_by_itself(program, name, chance, length)
    verdict = Paths(program, program.choices(release(name).names()), HIDDEN).consistent(log)
    assert verdict.whole, (verdict, log[: verdict.accepted + 1])


def test_a_log_that_is_no_path_has_a_longest_prefix_that_is() -> None:
    """An adapter that became resident by itself."""
    program = program_of("overlap-cancel", "0.5.23")
    log = run_by_itself(program, "0.5.23", random.Random(4), 12)
    name = "ranks[rank0].pool.resident"
    place = len(log) // 2
    wrong = dict(log[place].state) | {name: frozenset({"base", "A", "B", "C"})}
    log[place] = replace(log[place], state=wrong)
    verdict = Paths(program, program.choices(release("0.5.23").names()), HIDDEN).consistent(log)
    assert not verdict.whole
    assert (verdict.accepted, verdict.entries) == (place, len(log))
    assert verdict.nearest is not None
    assert name in verdict.nearest
