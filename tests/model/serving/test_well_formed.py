"""What must be true of every state of the model itself, whatever the release."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slotproof.model.language import invariant
from slotproof.model.serving.pool import can_be_victim
from slotproof.model.serving.scheduler import holds, is_row
from slotproof.model.serving.server import Server
from slotproof.model.serving.step import is_under_way
from slotproof.model.serving.vocabulary import BASE, Adapter, Loop, Rank, Request, slots
from tests.model.serving.runs import system_of, violations

SCENARIOS = (
    "overlap-cancel",
    "finish-unload",
    "finish-unload-normal",
    "partial-prompt",
    "use-counts",
    "whole-server",
)


@invariant
def a_request_is_in_one_place(s: Server) -> bool:
    """A waiting request is no row; a row is finished or will be, not both; marks are of rows alone."""
    return (
        all(
            all(
                r not in s.ranks[k].scheduler.running and r not in s.ranks[k].scheduler.last
                for r in s.ranks[k].scheduler.waiting
                if r not in s.ranks[k].scheduler.picks
            )
            for k in Rank
        )
        and all(len(s.ranks[k].scheduler.finished & s.ranks[k].scheduler.to_finish) == 0 for k in Rank)
        and all(
            all(
                is_row(s.ranks[k].scheduler, r)
                for r in s.ranks[k].scheduler.finished | s.ranks[k].scheduler.to_finish
            )
            for k in Rank
        )
        and all(all(holds(s.ranks[k].scheduler, r) for r in s.ranks[k].scheduler.picks) for k in Rank)
    )


@invariant
def a_queue_names_a_request_once(s: Server) -> bool:
    """No request waits twice."""
    return all(
        len({r for r in Request if r in s.ranks[k].scheduler.waiting}) == len(s.ranks[k].scheduler.waiting)
        for k in Rank
    )


@invariant
def slots_are_slots(s: Server) -> bool:
    """No more residents than slots; the order of use holds exactly those that can be evicted."""
    return all(len(s.ranks[k].pool.resident) <= slots for k in Rank) and all(
        all(
            (a in s.ranks[k].pool.recency) == (a in s.ranks[k].pool.resident and can_be_victim(a))
            for a in Adapter
        )
        for k in Rank
    )


@invariant
def answers_are_of_open_requests(s: Server) -> bool:
    """An answer on its way has a state that waits for it, and there is only one."""
    return s.replies.outputs | s.replies.echoes <= s.tokenizer.open and (
        len(s.replies.outputs & s.replies.echoes) == 0
    )


@invariant
def an_open_request_will_be_answered(s: Server) -> bool:
    """The scheduler has it, or its answer is on its way."""
    return all(
        r in s.replies.outputs
        or r in s.replies.echoes
        or any(holds(s.ranks[k].scheduler, r) and r not in s.ranks[k].scheduler.finished for k in Rank)
        for r in s.tokenizer.open
    )


@invariant
def a_request_that_is_gone_names_nobody(s: Server) -> bool:
    """Dead fields are zeroed."""
    return all(is_under_way(s, r) or s.adapter[r] == BASE for r in Request)


CHECKS = (
    a_request_is_in_one_place,
    a_queue_names_a_request_once,
    slots_are_slots,
    answers_are_of_open_requests,
    an_open_request_will_be_answered,
    a_request_that_is_gone_names_nobody,
)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.14", "0.5.19", "0.5.23"])
def test_every_state_is_well_formed(scenario: str, version: str) -> None:
    """On every release, in every scenario of one server."""
    system = system_of(scenario, version)
    found = violations(replace(system, properties=CHECKS, witnesses=()))
    assert not {c.name for c in CHECKS} & found.keys()
    assert "deadlock" not in found


@pytest.mark.parametrize("version", ["0.5.13", "0.5.23"])
def test_background_loading_in_the_normal_loop_is_well_formed(version: str) -> None:
    """A combination that no scenario has."""
    system = system_of("whole-server", version, loop=Loop.NORMAL)
    found = violations(replace(system, properties=CHECKS, witnesses=()))
    assert not {c.name for c in CHECKS} & found.keys()
    assert "deadlock" not in found
