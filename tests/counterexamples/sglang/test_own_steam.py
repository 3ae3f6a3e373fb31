"""From the code to the model: real code runs by itself, and its log is a path of the model."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.counterexamples.sglang.conftest import Jobs

DEEP = ("0.5.12.post1", "0.5.14", "0.5.16", "0.5.19", "0.5.20", "0.5.23")
SEEDS = st.lists(st.integers(0, 2**32), min_size=4, max_size=4, unique=True)


def _is_allowed(done: Jobs, name: str, scenario: str, seeds: list[int]) -> None:
    jobs = [{"kind": "own-steam", "scenario": scenario, "seed": seed, "length": 40} for seed in seeds]
    for found in done(name, *jobs):
        assert found["entries"] > 0
        assert found["accepted"] == found["entries"], (
            found["nearest"],
            found["log"][: found["accepted"] + 1],
        )


@given(seeds=SEEDS)
@settings(max_examples=1, suppress_health_check=list(HealthCheck))
def test_what_real_code_does_the_model_allows(seeds: list[int], done: Jobs) -> None:
    """Requests, cancellations, unloads, completion times and ends of copies are chosen by the seeds."""
    _is_allowed(done, "0.5.20", "overlap-cancel", seeds)


@pytest.mark.deep
@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("scenario", ["overlap-cancel", "finish-unload", "finish-unload-normal"])
@given(seeds=st.lists(st.integers(0, 2**32), min_size=20, max_size=20, unique=True))
@settings(max_examples=1, suppress_health_check=list(HealthCheck))
def test_the_model_allows_long_runs_too(name: str, scenario: str, seeds: list[int], done: Jobs) -> None:
    """Twenty runs each."""
    _is_allowed(done, name, scenario, seeds)
