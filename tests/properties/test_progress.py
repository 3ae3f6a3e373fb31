"""What the server owes in the end: who waits for ever, on which release, and what cures it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slotproof.checker.temporal import check_progress
from slotproof.checker.verdict import Holds, Verdict, Violated
from slotproof.model.language import Fairness, Set
from slotproof.model.language.compile import compile_system
from slotproof.model.language.system import System
from slotproof.model.releases import Release, release
from slotproof.model.serving import fairness, step
from slotproof.model.serving.pool import Pool
from slotproof.model.serving.vocabulary import Adapter, Loading
from slotproof.properties import SCENARIOS
from tests.model.serving.runs import system_of, violations

NEWEST = release("0.5.23")


def makes_nothing_resident(pool: Pool, needed: Set[Adapter], gone: Set[Adapter]) -> Set[Adapter]:
    """A mutated ``make_resident``."""
    return needed - needed


def verdicts(system: System) -> dict[str, Verdict]:
    program = compile_system(system)
    return check_progress(program, program.choices(system.choices)).verdicts


def of(scenario: str, one: Release) -> dict[str, Verdict]:
    return verdicts(SCENARIOS[scenario].system(one))


def changed(**rules: str | Callable[..., Any]) -> Release:
    return NEWEST.replace(**rules)


@pytest.mark.parametrize("scenario", ["finite-traffic", "decode-finite-traffic"])
def test_with_finite_traffic_everybody_gets_in_and_unloads_end(scenario: str) -> None:
    found = of(scenario, NEWEST)
    assert found.keys() == {"progress", "unload-completes"}
    assert all(isinstance(v, Holds) for v in found.values())


@pytest.mark.parametrize("scenario", ["endless-traffic", "decode-endless-traffic"])
def test_requests_for_a_resident_adapter_starve_another(scenario: str) -> None:
    """D17 on the decode role, X-6 on the single one: nothing makes room for who is refused."""
    found = of(scenario, NEWEST)["progress"]
    assert isinstance(found, Violated)
    assert found.trace.loop is not None
    loop = found.trace.steps[found.trace.loop :]
    arrived = [s.arguments["a"] for s in loop if s.action == "arrive"]
    assert len(arrived) >= 2  # a request of the adapter comes before the last one of it is gone
    assert len(set(arrived)) == 1
    assert isinstance(of(scenario, NEWEST)["unload-completes"], Holds)


def drained(one: Release, **parameters: Any) -> Verdict:
    system = SCENARIOS["drained-traffic"].system(one).with_parameters(**parameters)
    return verdicts(system)["progress"]


def test_a_drain_does_not_end_while_requests_join_in_time() -> None:
    """X-6: a request that comes soon after the last one is within the tolerance, and renews it."""
    found = drained(NEWEST)
    assert isinstance(found, Violated)
    assert found.trace.loop is not None
    loop = found.trace.steps[found.trace.loop :]
    assert [s.action for s in loop].count("arrive") >= 2
    with_marks = compile_system(SCENARIOS["drained-traffic"].system(NEWEST))
    marks = [c for c in with_marks.columns if c.name.endswith("drainer.drains_for[]")]
    (place,) = {c.offset for c in marks}
    assert all(any(state[place : place + 3]) for state in found.trace.states[found.trace.loop :])


@pytest.mark.parametrize("parameters", [{}, {"loading": Loading.SYNCHRONOUS}], ids=["background", "forward"])
def test_a_drain_that_nobody_joins_ends_and_its_slot_comes_to_who_waits(parameters: dict[str, Any]) -> None:
    assert isinstance(drained(changed(drainer_allows="nobody_joins_a_drain"), **parameters), Holds)


def test_nobody_drains_for_the_base_model() -> None:
    """X-6: its id is None, and so is the mark of who drains for nobody."""
    base_waits = {"names": {"r1": ["A"], "r2": ["A"], "r3": ["base"]}, "unloadable": ["A"]}
    strict = changed(drainer_allows="nobody_joins_a_drain")
    assert isinstance(drained(strict, **base_waits), Violated)
    assert isinstance(drained(strict.replace(base_can_starve="like_any_adapter"), **base_waits), Holds)


def test_the_drainer_does_nothing_on_the_decode_role() -> None:
    """X-6: nobody updates its marks there."""
    system = SCENARIOS["decode-endless-traffic"].system(NEWEST)
    strict = changed(drainer_allows="nobody_joins_a_drain")
    on = SCENARIOS["decode-endless-traffic"].system(strict).with_parameters(drainer=True)
    off = violated_in(system)
    assert violated_in(on) == off
    assert "progress" in off


def violated_in(system: System) -> dict[str, int]:
    return {name: len(v.trace) for name, v in verdicts(system).items() if isinstance(v, Violated)}


def test_who_stops_at_the_first_refused_starves_nobody() -> None:
    """What a drainer is for, at its simplest: behind a refused request others wait, and its slot comes."""
    first_come = changed(refusal_ends_the_pass="stops_at_the_refused")
    assert isinstance(of("endless-traffic", first_come)["progress"], Holds)


def test_copies_that_nobody_reaps_leave_a_request_waiting() -> None:
    """L01: the entry of a copy whose requests were cancelled takes the slot for good."""
    unreaped = changed(reap_first="reap_nothing", copy_status="by_its_event")
    found = of("finite-traffic", unreaped)["progress"]
    assert isinstance(found, Violated)
    assert any(s.action == "abort" for s in found.trace.steps)


@pytest.mark.parametrize("scenario", ["finite-traffic", "decode-finite-traffic"])
def test_an_unload_waits_for_a_lost_reference_for_good(scenario: str) -> None:
    """L16, #34205: the count of an echo that releases nothing never comes to zero."""
    losing = changed(echo_releases="only_outputs_release", error_releases_twice="by_output_and_by_handler")
    found = of(scenario, losing)["unload-completes"]
    assert isinstance(found, Violated)


def test_two_copies_evict_each_other_if_each_ends_in_the_same_gap() -> None:
    """L15: it takes a copy that ends between the same two questions in every pass."""
    racing = SCENARIOS["copy-race"].system(NEWEST)
    found = verdicts(racing)["progress"]
    assert isinstance(found, Violated)
    assert found.trace.loop is not None
    loop = [s.action for s in found.trace.steps[found.trace.loop :]]
    assert loop.count("copy_ends") == 2
    calm = replace(racing, fairness=(*racing.fairness, *fairness.NO_RACE_IS_ALWAYS_LOST))
    assert isinstance(verdicts(calm)["progress"], Holds)
    reaping_its_own = changed(reap_first="reap_nothing", copy_status="by_its_event")
    assert isinstance(of("copy-race", reaping_its_own)["progress"], Holds)


@pytest.mark.parametrize("one", ["0.5.20", "0.5.23"])
def test_split_and_single_server_use_the_same_adapter_for_every_token(one: str) -> None:
    """D12: on the decode role as on a single server that loads with the forward."""
    assert "split-equals-single" not in violations(system_of("decode-finite-traffic", one))
    assert "right-adapter" not in violations(system_of("finish-unload", one))


def test_a_row_without_a_slot_of_its_own_tells_split_and_single_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("slotproof.model.serving.forward.make_resident", makes_nothing_resident)
    astray = NEWEST.replace(adapter_without_slot="reads_slot_zero")
    found = violations(
        replace(system_of("decode-finite-traffic", astray), name="fetches nothing", witnesses=())
    )
    assert "split-equals-single" in found


@pytest.mark.parametrize(
    "left_out",
    [
        lambda f: f is fairness.SINGLE_SERVER[0],
        lambda f: f.actions == (step.copy_ends,),
        lambda f: f.where is fairness.last_token,
    ],
    ids=["scheduler", "copies", "last token"],
)
def test_each_assumption_is_needed(left_out: Callable[[Fairness], bool]) -> None:
    system = SCENARIOS["finite-traffic"].system(NEWEST)
    kept = tuple(f for f in system.fairness if not left_out(f))
    assert isinstance(verdicts(replace(system, fairness=kept))["progress"], Violated)
