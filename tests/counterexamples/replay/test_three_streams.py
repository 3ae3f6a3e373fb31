"""What the device may do with a forward, a copy and the zeroing of a slot: three streams.

From 0.5.16 an unload zeroes the adapter's slot on the schedule stream, which waits for the forward in
flight; a background copy into the freed slot waits for neither. The model has no zeroing that is under way,
so that none of its properties says what happens here: a known limit of the model, found on the reference.
"""

import pytest

from slotproof.counterexamples.replay.conform import setting_for
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS

NAME = "0.5.23"


def run(late: bool) -> ReferenceTarget:
    """B is unloaded while a forward that read its slot is in flight; C is copied into the slot and used.

    ``late``: the forward runs when it is waited for, after the copy of C.
    """
    system = SCENARIOS["overlap-cancel"].system(release(NAME))
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


@pytest.mark.parametrize("late", [False, True])
def test_known_limit_a_slot_is_zeroed_behind_the_copy_into_it(late: bool) -> None:
    """With a forward that takes longer than the copy, r3 is computed with zeros in the place of C."""
    target = run(late)
    assert {rid.partition("#")[0] for rid, *_ in target.wrong} == ({"r3"} if late else set())
