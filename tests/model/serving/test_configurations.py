"""Servers that are set up otherwise: without adapters, with a drainer, and beside a role that differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slotproof.model.language import Map, Set, System, step_invariant
from slotproof.model.releases import release
from slotproof.model.serving.drainer import Drainer
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Loading, Rank, Request
from tests.model.serving.runs import R1, R2, RANK0, A, B, Script, explored, known, system_of, violations

NEWEST = "0.5.23"
BASE_ALONE: dict[str, Any] = {"adapters": 1, "unloadable": [], "requests": 2}


@step_invariant
def nobody_is_refused(before: Server, after: Server) -> bool:
    """The gate lets everyone pass."""
    return all(len(after.ranks[k].gate.refused) == 0 for k in Rank)


def graph(system: System) -> tuple[int, int, int, dict[str, int]]:
    """How many states and transitions there are, how deep, and how often each action was taken."""
    coverage = explored(system).coverage
    return coverage.states, coverage.transitions, coverage.depth, dict(coverage.fired)


def base_alone(scenario: str, of: Any, **parameters: Any) -> System:
    """A server that is used without adapters."""
    names = {"r1": ["base"], "r2": ["base"]}
    system = system_of(scenario, of, **BASE_ALONE, names=names, **parameters)
    return system.with_properties([*system.properties, nobody_is_refused])


@pytest.mark.parametrize("gate", ["only_memory_decides", "gate_decides"])
def test_without_adapters_a_decode_server_is_the_one_before_the_gate(gate: str) -> None:
    """D15: the same states and steps with the gate and without it, and nobody is refused."""
    system = base_alone("decode-admission", release("0.5.20").replace(gate_on_reservation=gate), slots=1)
    assert "nobody-is-refused" not in violations(system)
    without = release("0.5.20").replace(gate_on_reservation="only_memory_decides")
    assert graph(system) == graph(base_alone("decode-admission", without, slots=1))


@pytest.mark.parametrize("loading", Loading)
def test_without_adapters_the_gate_of_a_single_server_is_open(loading: Loading) -> None:
    """D15, I14: one slot, and every request passes."""
    assert violations(base_alone("overlap-cancel", NEWEST, slots=1, loading=loading)) == {}
    crowded = system_of("overlap-cancel", NEWEST, slots=1, loading=loading)
    assert "nobody-is-refused" in violations(
        crowded.with_properties([*crowded.properties, nobody_is_refused])
    )


def never_the_first(
    marks: Drainer, running: Set[Request], adapter: Map[Request, Adapter], r: Request
) -> bool:
    """A drainer that keeps r1 back for good, whatever rows it is told of."""
    return r != Request(0)


@pytest.mark.parametrize("scenario", ["overlap-cancel", "finish-unload", "partial-prompt"])
def test_what_a_drainer_refuses_costs_no_safety(scenario: str) -> None:
    """F07: it is told of finished rows too up to 0.5.22; a refusal delays and breaks nothing."""
    drained = release(NEWEST).replace(drainer_allows=never_the_first)
    system = system_of(scenario, drained, drainer=True)
    assert violations(replace(system, witnesses=())).keys() <= known(scenario, NEWEST).keys()


def decode_server() -> Script:
    """r1 and r2 may name A, r2 also B; one slot."""
    return Script(system_of("decode-admission", NEWEST), limit=2)


def step(run: Script, moved: set[Request]) -> Server:
    """One iteration of the decode loop in which nothing ends."""
    return run.do("decode_step", k=RANK0, moved=moved, ends=set(), quick=set())


@pytest.mark.parametrize("reserved", [False, True])
def test_a_prefill_server_without_the_adapter_ends_the_request_and_frees_its_slot(reserved: bool) -> None:
    """D18, X-5: unloaded on the prefill server alone, or never loaded there: that side fails."""
    run = decode_server()
    run.do("arrive", k=RANK0, r=R1, a=A)
    if reserved:
        step(run, {R1})
    run.do("transfer_fails", k=RANK0, r=R1)
    run.do("arrive", k=RANK0, r=R2, a=B)
    shown = step(run, {R2})
    assert shown.replies.errors == {R1}
    if reserved:
        assert shown.ranks[RANK0].gate.counted[R2] == {A}, "the transfer queue is polled after the gate"
        shown = step(run, {R2})
    assert list(shown.ranks[RANK0].decode.transferring) == [R2]
    run.do("answer_error", r=R1, listens=False)
    run.do("unregister", a=A)
    run.do("unload", a=A)


def test_an_unload_on_the_decode_server_alone_waits_for_kv_that_still_comes() -> None:
    """D18, X-5: the prefill server knows nothing of it and sends on."""
    run = decode_server()
    run.do("arrive", k=RANK0, r=R1, a=A)
    step(run, {R1})
    run.do("unregister", a=A)
    run.cannot("unload", a=A)
    run.cannot("arrive", k=RANK0, r=R2, a=A)
    run.do("decode_step", k=RANK0, moved={R1}, ends=set(), quick={R1})
    run.cannot("unload", a=A)
    run.do("answer", r=R1)
    run.do("unload", a=A)
    assert run.state.ranks[RANK0].manager.gone == {A}


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("pinned", [[], ["C"]])
def test_slots_and_pins_of_the_decode_server_are_its_own(slots: int, pinned: list[str]) -> None:
    """D18, X-5: whatever the prefill server has room for, and sends in whatever order."""
    system = system_of("decode-admission", "0.5.22", adapters=4, slots=slots + len(pinned), pinned=pinned)
    found = violations(replace(system, witnesses=()))
    assert found.keys() <= {"no-crash-fit-test-unknown-adapter"}, "F10 alone, which is no matter of the peer"
    assert ("no-crash-fit-test-unknown-adapter" in found) is bool(pinned)
