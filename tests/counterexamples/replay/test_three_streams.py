"""What the device may do with a forward, a copy and the zeroing of a slot: three streams (rows L10, L16).

From 0.5.16 an unload zeroes the adapter's slot on the schedule stream, which waits for the forward in
flight; a background copy into the freed slot waits for neither. How long the forward takes decides.
"""

import pytest
import torch

from slotproof.counterexamples.replay.conform import setting_for
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.counterexamples.replay.run import Replay, replay
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.counterexamples.replay.runs import program_of, replayed, violations

NAME = "0.5.23"
CASES = [
    (scenario, name) for scenario in ("overlap-cancel", "whole-server") for name in ("0.5.16", "0.5.20", NAME)
]


def run(late: bool, zeroing: str) -> ReferenceTarget:
    """B is unloaded while a forward that read its slot is in flight; C is copied into the slot and used.

    ``late``: the forward runs when it is waited for, after the copy of C has begun. ``zeroing``: the
    alternative of ``unload_and_slot``.
    """
    system = SCENARIOS["overlap-cancel"].system(release(NAME).replace(unload_and_slot=zeroing))
    program = compile_system(system)
    names = {point.name: system.choices[point.name] for point in program.decisions}
    target = ReferenceTarget(late=late)
    target.begin(setting_for(program, names, "overlap-cancel", NAME, None))

    def iterate(*ends: str) -> None:
        last = {"ends": frozenset(ends), "by_length": frozenset()}
        target.step("schedule", {"k": "rank0", "room": 6, **last})
        while target.passes:
            target.step("go_on", {"k": "rank0", **last})

    def copies_end() -> None:
        loader = target.server.schedulers[0].loader
        assert loader is not None
        for adapter in loader.stream.closed():
            target.step("copy_ends", {"k": "rank0", "a": adapter})

    target.step("arrive", {"k": "rank0", "r": "r1", "a": "A"})
    target.step("arrive", {"k": "rank0", "r": "r2", "a": "B"})
    iterate()
    copies_end()
    iterate()
    iterate()
    iterate("r2")
    target.step("answer", {"r": "r2"})
    target.step("unregister", {"a": "B"})
    target.step("unload", {"a": "B"})
    target.step("arrive", {"k": "rank0", "r": "r3", "a": "C"})
    target.step("schedule", {"k": "rank0", "room": 6, "ends": frozenset(), "by_length": frozenset()})
    copies_end()
    target.step("go_on", {"k": "rank0", "ends": frozenset(), "by_length": frozenset()})
    for _ in range(3):
        iterate()
    return target


@pytest.mark.parametrize(
    ("late", "zeroing", "wrong"),
    [
        (True, "slot_cleared", {"r3"}),
        (False, "slot_cleared", set()),
        (True, "slot_zeroed_by_the_loader", set()),
        (True, "slot_kept", set()),
    ],
)
def test_a_slot_that_is_zeroed_behind_the_copy_into_it_gives_wrong_tokens(
    late: bool, zeroing: str, wrong: set[str]
) -> None:
    """With a forward that takes longer than the copy, r3 is computed with zeros in the place of C."""
    assert {rid.partition("#")[0] for rid, *_ in run(late, zeroing).wrong} == wrong


def happens(found: Replay) -> bool:
    """Every state is the model's, and the client gets a wrong token."""
    return found.happened and found.symptom is not None and found.symptom.kind == "token"


@pytest.mark.parametrize(("scenario", "name"), CASES)
def test_the_models_trace_gives_a_wrong_token(scenario: str, name: str) -> None:
    """Each state is compared, the slots that await their zeroing too."""
    for trace in violations(scenario, name)["right-adapter"]:
        found = replayed(scenario, name, trace)
        assert happens(found), found.difference
        assert {"ranks[rank0].pool.zeroing", "ranks[rank0].pool.wiped"} <= found.compared


def test_the_same_steps_with_short_forwards_give_the_right_token() -> None:
    """The zeroing comes first: there is nothing to be seen."""
    (trace,) = violations("overlap-cancel", NAME)["right-adapter"]
    found = replay(trace, program_of("overlap-cancel", NAME), ReferenceTarget(late=False), "overlap-cancel")
    assert found.difference is None
    assert found.symptom is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize(("scenario", "name"), CASES)
def test_the_models_trace_gives_a_wrong_token_on_cuda(scenario: str, name: str) -> None:
    """The same with real streams, events and pinned copies."""
    for trace in violations(scenario, name)["right-adapter"]:
        assert happens(replayed(scenario, name, trace, "cuda"))
