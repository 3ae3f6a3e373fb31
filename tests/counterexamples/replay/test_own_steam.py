"""From the code to the model: the reference runs by itself, and its log is a path of the model."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slotproof.counterexamples.replay.own_steam import Paths
from slotproof.model.releases import release
from tests.counterexamples.replay.by_itself import HIDDEN, run_by_itself
from tests.counterexamples.replay.runs import program_of

SCENARIOS = ("overlap-cancel", "finish-unload", "decode-admission", "idle-rank", "whole-server")
RELEASES = ("0.5.12.post1", "0.5.19", "0.5.23")
MORE_SCENARIOS = (*SCENARIOS, "finish-unload-normal", "decode-admission-pinned", "partial-prompt")
MORE_RELEASES = ("0.5.13.post1", "0.5.16", "0.5.17", "0.5.20", "0.5.22")


def is_allowed(scenario: str, name: str, chance: random.Random, length: int) -> None:
    """A run of the reference is a path of the model."""
    program = program_of(scenario, name)
    log = run_by_itself(program, scenario, name, chance, length)
    verdict = Paths(program, program.choices(release(name).names()), HIDDEN).consistent(log)
    assert verdict.whole, (verdict, [(s.action, dict(s.arguments)) for s in log[: verdict.accepted + 1]])


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("scenario", SCENARIOS)
@given(chance=st.randoms(use_true_random=False), length=st.integers(1, 40))
@settings(max_examples=12)
def test_what_the_reference_does_the_model_allows(
    scenario: str, name: str, chance: random.Random, length: int
) -> None:
    """The ends of copies and the cuts of passes are not in the log; without copies in the background it has
    every variable of every component."""
    is_allowed(scenario, name, chance, length)


@pytest.mark.deep
@pytest.mark.parametrize("name", [*RELEASES, *MORE_RELEASES])
@pytest.mark.parametrize("scenario", MORE_SCENARIOS)
@given(chance=st.randoms(use_true_random=False), length=st.integers(1, 120))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_the_model_allows_long_runs_too(scenario: str, name: str, chance: random.Random, length: int) -> None:
    """On more releases, and of scenarios that are much like the others."""
    is_allowed(scenario, name, chance, length)


def test_the_runs_are_about_something() -> None:
    """Every kind of entry comes up in some log, the server's deaths too."""
    seen: set[str] = set()
    crashes: set[str] = set()
    for scenario, name in [
        ("overlap-cancel", "0.5.19"),
        ("decode-admission", "0.5.19"),
        ("idle-rank", "0.5.16"),
    ]:
        for seed in range(125, 150):
            log = run_by_itself(program_of(scenario, name), scenario, name, random.Random(seed), 60)
            seen |= {entry.action for entry in log}
            crashes |= {entry.crash for entry in log if entry.crash is not None}
    assert seen == {
        *("arrive", "abort", "disconnect", "answer", "answer_error", "echo", "unregister", "unload"),
        *("transfer_fails", "schedule", "decode_step", "step_together"),
    }
    assert {"make-resident-too-many", "lm-head-row-count"} <= crashes


def test_a_log_that_is_no_path_has_a_longest_prefix_that_is() -> None:
    """An adapter that became resident by itself."""
    program = program_of("overlap-cancel", "0.5.23")
    log = run_by_itself(program, "overlap-cancel", "0.5.23", random.Random(4), 12)
    name = "ranks[rank0].pool.resident"
    place = len(log) // 2
    wrong = dict(log[place].state) | {name: frozenset({"base", "A", "B", "C"})}
    log[place] = replace(log[place], state=wrong)
    verdict = Paths(program, program.choices(release("0.5.23").names()), HIDDEN).consistent(log)
    assert not verdict.whole
    assert (verdict.accepted, verdict.entries) == (place, len(log))
    assert verdict.nearest is not None
    assert name in verdict.nearest
