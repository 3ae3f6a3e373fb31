"""What a release lost against the one before happens on its own code, and not on the older one's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.counterexamples.lost import LOST, trace_of
from tests.counterexamples.sglang.conftest import Replayed


@pytest.mark.deep
@pytest.mark.parametrize(("scenario", "property", "base", "candidate"), LOST)
def test_it_happens_on_the_newer_and_not_on_the_older(
    scenario: str, property: str, base: str, candidate: str, tmp_path: Path, replayed: Replayed
) -> None:
    """As on the reference: the loop of a lasso is gone through three times, and on the older release one at
    least of those who wait in it gets in."""
    path = trace_of(scenario, property, candidate, tmp_path)
    after, before = replayed(path, candidate), replayed(path, base, other=True)
    print(f"{candidate}: {after['symptom']}")
    print(f"{base}: waits {before['waits']}, died {before['died']}, left out {before['skipped']}")
    assert after["happened"], after
    assert before["difference"] is None
    if property == "progress":
        crowded = before["cause"] == "make-resident-too-many"
        assert crowded or set(after["waits"]) - set(before["waits"])
    else:
        assert before["died"] is None
