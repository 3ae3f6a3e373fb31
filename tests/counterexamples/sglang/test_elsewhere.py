"""A trace's actions on the model of another release."""

from __future__ import annotations

import pytest

from slotproof.counterexamples.itf import read
from slotproof.counterexamples.replay.sglang.elsewhere import on_release
from tests.counterexamples.replay.runs import program_of
from tests.counterexamples.sglang.conftest import GALLERY


@pytest.mark.parametrize(
    ("name", "release", "elsewhere", "slots", "pinned"),
    [
        ("idle-rank.use-count.0.5.21", "0.5.21", "0.5.13", 2, ""),
        ("idle-rank.fresh-batch-info.0.5.16", "0.5.16", "0.5.21", 4, "ABC"),
    ],
)
def test_what_one_release_asks_of_the_set_up_stays_with_it(
    name: str, release: str, elsewhere: str, slots: int, pinned: str
) -> None:
    """0.5.21 wants every adapter pinned; a release before it has no slots for that."""
    trace = read(GALLERY / f"{name}.itf.json").trace(program_of("idle-rank", release))
    _, program, _ = on_release(trace, "idle-rank", elsewhere)
    assert program.parameters["slots"] == slots
    assert sorted(str(a) for a in program.parameters["pinned"]) == list(pinned)
