"""Each property is killed by a mutation of the model, and holds without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slotproof.model.language import Map, Set
from slotproof.model.releases import release
from slotproof.model.serving import drainer, front
from slotproof.model.serving.gate import Answer
from slotproof.model.serving.loader import Loader, Status
from slotproof.model.serving.pool import Pool
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.server import Process, Server
from slotproof.model.serving.vocabulary import Adapter, Loading, Request
from slotproof.properties import SCENARIOS
from tests.model.serving.runs import known, system_of, violations

NEWEST = "0.5.23"
CURED = {"unload_and_slot": "slot_zeroed_by_the_loader"}
"""What the newest release lacks: with it the scenarios below have no violation."""


def takes_a_copy_for_done(loader: Loader, pool: Pool, a: Adapter) -> Status:
    """A mutated ``copy_status``."""
    return Status.READY if a in pool.resident else Status.ABSENT


def nobody_occupies(scheduler: Scheduler) -> Set[Request]:
    """A mutated ``occupied_on_prefill``."""
    return set()


def everyone_passes(
    rank: Process, r: Request, adapter: Map[Request, Adapter], occupied: Set[Adapter]
) -> Answer:
    """A mutated ``ask_gate``."""
    return Answer.PASS


def nobody_counts(s: Server, a: Adapter) -> int:
    """A mutated ``use_count``."""
    return 0


DECISIONS: dict[str, tuple[str, dict[str, str | Callable[..., Any]]]] = {
    "slot-capacity": ("partial-prompt", {"partial_prompt_occupies": "not_counted"}),
    "no-slot-leak": ("overlap-cancel", {"reap_first": "reap_nothing"}),
    "resident-at-launch": ("overlap-cancel", {"copy_status": takes_a_copy_for_done}),
    "stable-in-flight": ("overlap-cancel", {"occupied_on_prefill": nobody_occupies}),
    "right-adapter": (
        "overlap-cancel",
        {"occupied_on_prefill": nobody_occupies, "adapter_without_slot": "reads_slot_zero"},
    ),
    "use-count": ("overlap-cancel", {"echo_releases": "only_outputs_release"}),
    "unload-clears": ("finish-unload", {"unload_and_slot": "slot_kept"}),
    "right-adapter, zeroed": ("overlap-cancel", {"unload_and_slot": "slot_cleared"}),
}


@pytest.mark.parametrize("case", DECISIONS)
def test_a_wrong_decision_violates_the_property(case: str) -> None:
    """X-4: every fix is necessary, every property can fail."""
    scenario, wrong = DECISIONS[case]
    name = case.partition(",")[0]
    right = release(NEWEST).replace(**CURED)
    assert name in violations(system_of(scenario, right.replace(**wrong)))
    assert name not in violations(system_of(scenario, right))


def test_a_gate_that_passes_everyone_overfills_the_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    """vLLM #14495: slot-capacity and the size test of make-resident."""
    monkeypatch.setattr("slotproof.model.serving.step.ask_gate", everyone_passes)
    system = system_of("finish-unload", NEWEST, slots=2, pinned=[])
    found = violations(replace(system, witnesses=(), name="passes everyone"))
    assert found.keys() >= {"slot-capacity", "no-crash-make-resident-too-many"}


def test_an_unload_that_does_not_wait_is_unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    """#9084: unload-safe."""
    monkeypatch.setattr(front, "use_count", nobody_counts)
    assert "unload-safe" in violations(replace(system_of("finish-unload", NEWEST), name="never waits"))


def test_first_come_stops_nobody() -> None:
    """vLLM #15422: a request whose adapter holds a slot is not left behind a refused one."""
    tight: dict[str, Any] = {"slots": 2, "names": {"r1": ["A"], "r2": ["B"], "r3": ["A"]}}
    stopping = release(NEWEST).replace(refusal_ends_the_pass="stops_at_the_refused")
    assert violations(system_of("finish-unload", stopping, **tight)).keys() == {"work-conserving"}
    assert violations(system_of("finish-unload", NEWEST, **tight)) == {}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_property_and_witness_says_what_it_means(scenario: str) -> None:
    """Each has a sentence, and each scenario has properties and witnesses."""
    assert SCENARIOS[scenario].properties
    assert SCENARIOS[scenario].witnesses
    for meaning in (
        *(p.meaning for p in SCENARIOS[scenario].properties),
        *(w.meaning for w in SCENARIOS[scenario].witnesses),
    ):
        assert meaning.endswith(".")


def test_the_newest_release_keeps_every_property_but_the_order_of_zeroing_and_copy() -> None:
    """X-2, X-4: what the four pull requests and their followers left is whole on one server."""
    for scenario in (
        "overlap-cancel",
        "finish-unload",
        "finish-unload-normal",
        "partial-prompt",
        "whole-server",
    ):
        lost = {"right-adapter"} if SCENARIOS[scenario].quick["loading"] is Loading.BACKGROUND else set()
        assert known(scenario, NEWEST).keys() == lost, scenario
    assert drainer.unless_it_outlasts_them.__doc__
