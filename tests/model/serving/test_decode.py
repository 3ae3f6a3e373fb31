"""The decode role: rows D of the obligations, and F10."""

from __future__ import annotations

from typing import Any

import pytest

from slotproof.model.language import Set, invariant
from slotproof.model.releases import release
from slotproof.model.serving import decode, step
from slotproof.model.serving.decode import unfinished_rows_only
from slotproof.model.serving.gate import ask_gate
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, slots
from tests.model.serving.runs import (
    R1,
    R2,
    R3,
    RANK0,
    A,
    B,
    C,
    Script,
    explored,
    known,
    system_of,
    violations,
)


@pytest.mark.parametrize("faulty", ["0.5.12.post1", "0.5.19"])
def test_without_the_gate_more_adapters_than_slots_reach_the_forward(faulty: str) -> None:
    """D01."""
    assert known("decode-admission", faulty)["slot-capacity"] == 4
    assert known("decode-admission", faulty)["no-crash-make-resident-too-many"] == 4


@pytest.mark.parametrize("fixed", ["0.5.20", "0.5.23"])
def test_with_the_gate_no_forward_has_more_adapters_than_slots(fixed: str) -> None:
    """D01, D05, D07, D10."""
    assert "slot-capacity" not in known("decode-admission", fixed)
    assert "no-crash-make-resident-too-many" not in known("decode-admission", fixed)


@pytest.mark.deep
def test_the_full_size_has_two_slots_and_three_adapters() -> None:
    """D01: one step more, and none with the gate."""
    assert violations(system_of("decode-admission", "0.5.19", full=True))["slot-capacity"] == 5
    assert "slot-capacity" not in violations(system_of("decode-admission", "0.5.20", full=True))


def test_the_gate_alone_makes_the_difference() -> None:
    """D01: the fixed release without its one decision has the fault again."""
    swapped = release("0.5.20").replace(gate_on_reservation="only_memory_decides")
    assert violations(system_of("decode-admission", swapped))["slot-capacity"] == 4


def test_a_refused_candidate_stays_in_its_queue_and_changes_nothing() -> None:
    """D02, D09: it is skipped; no abort, no reservation, no rollback."""
    assert "refused-waits" not in known("decode-admission", "0.5.20")
    script = Script(one_slot("0.5.20"), limit=3)
    script.do("arrive", k=RANK0, r=R1, a=A)
    script.do("decode_step", k=RANK0, moved={R1}, ends=set(), quick=set())
    script.do("decode_step", k=RANK0, moved={R1}, ends=set(), quick=set())
    script.do("arrive", k=RANK0, r=R2, a=B)
    before = script.stored()
    shown = script.do("decode_step", k=RANK0, moved={R2}, ends=set(), quick=set())
    assert shown.ranks[RANK0].gate.refused == {R2}
    assert script.stored() == before


def test_both_roles_ask_the_same_gate() -> None:
    """D03, D04."""
    assert vars(decode)["ask_gate"] is vars(step)["ask_gate"] is ask_gate


def test_an_adapter_that_holds_a_slot_passes_without_a_fit_test() -> None:
    """D03: membership comes before the fit test, which would look up an adapter that is gone."""
    script = Script(system_of("decode-admission-pinned", "0.5.20", full=True), limit=3)

    def finished_and_unloaded(s: Server) -> None:
        rank = s.ranks[RANK0]
        s.adapter[R1], s.adapter[R2], s.adapter[R3] = A, B, B
        s.tokenizer.open |= {R2, R3}
        rank.scheduler.running = {R1, R2}
        rank.scheduler.finished = {R1}
        rank.manager.gone = {A}
        rank.pool.resident = {B}
        s.registry.absent = {A}

    script.edit(finished_and_unloaded)
    script.edit(lambda s: s.ranks[RANK0].pool.recency.append(B))
    script.edit(lambda s: s.ranks[RANK0].decode.reserving.append(R3))
    script.do("decode_step", k=RANK0, moved={R3}, ends=set(), quick=set())
    assert script.crash is None
    assert R3 in script.state.ranks[RANK0].decode.transferring


def test_a_candidate_behind_a_used_up_limit_is_not_looked_at() -> None:
    """D05, D10: metadata buffers, rows and KV stop the pass; the gate only skips."""
    script = Script(one_slot("0.5.20"), limit=3)
    script.do("arrive", k=RANK0, r=R1, a=A)
    script.do("arrive", k=RANK0, r=R2, a=B)
    before = list(script.state.ranks[RANK0].decode.reserving)
    script.do("decode_step", k=RANK0, moved=set(), ends=set(), quick=set())
    assert list(script.state.ranks[RANK0].decode.reserving) == before
    assert script.state.ranks[RANK0].gate.refused == set()


def one_slot(of: str, **parameters: Any) -> Any:
    """One slot; r1 and r3 name A, r2 names B."""
    names = {"r1": ["A"], "r2": ["B"], "r3": ["A"]}
    return system_of("decode-admission", of, requests=3, names=names, **parameters)


def running(s: Server) -> None:
    """r1 runs."""
    s.ranks[RANK0].scheduler.running = {R1}


def finished(s: Server) -> None:
    """r1 has finished and is not swept."""
    running(s)
    s.ranks[RANK0].scheduler.finished = {R1}


def transferring(s: Server) -> None:
    """r1's KV is on its way."""
    s.ranks[RANK0].decode.transferring.append(R1)


def waiting(s: Server) -> None:
    """r1 waits for a row."""
    s.ranks[RANK0].scheduler.waiting.append(R1)


@pytest.mark.parametrize("stage", [running, finished, transferring, waiting])
@pytest.mark.parametrize("queue", [[R2, R3], [R3, R2]])
def test_each_stage_occupies_a_slot_and_only_the_blocked_candidate_stays(stage: Any, queue: Any) -> None:
    """D07, D14, X-7: test_prealloc_lora_slots_cover_inflight_microbatches_and_queues, in both orders."""
    script = Script(one_slot("0.5.20"), limit=3)

    def queued(s: Server) -> None:
        s.adapter[R1], s.adapter[R2], s.adapter[R3] = A, B, A
        s.tokenizer.open = {R1, R2, R3}
        stage(s)
        for r in queue:
            s.ranks[RANK0].decode.reserving.append(r)

    shown = script.edit(queued).do("decode_step", k=RANK0, moved={R2, R3}, ends=set(), quick=set())
    assert list(shown.ranks[RANK0].decode.reserving) == [R2]
    assert R3 in shown.ranks[RANK0].decode.transferring
    assert shown.ranks[RANK0].gate.refused == {R2}


@invariant
def stages_fit(s: Server) -> bool:
    """The adapters of active, transferring and waiting requests number at most the slots."""
    return all(len(held(s, k)) <= slots for k in Rank)


def held(s: Server, k: Rank) -> Set[Adapter]:
    """The adapters of the stages that the gate counts."""
    return {
        s.adapter[r]
        for r in Request
        if r in s.ranks[k].scheduler.running
        or r in s.ranks[k].scheduler.waiting
        or r in s.ranks[k].decode.transferring
    }


def test_the_stages_that_count_never_name_more_adapters_than_slots() -> None:
    """D07: a waiting and a retracted stage on, every release with the gate."""
    gated, ungated = (system_of("decode-admission", name) for name in ("0.5.20", "0.5.19"))
    assert "stages-fit" not in violations(gated.with_properties([*gated.properties, stages_fit]))
    assert violations(ungated.with_properties([*ungated.properties, stages_fit]))["stages-fit"] == 3


def counted_at_the_next_pass() -> bool:
    """The mutation of D08."""
    return False


def test_a_reservation_counts_for_the_candidates_behind_it() -> None:
    """D08: without the same-pass accounting one pass lets too many in."""
    mutated = release("0.5.20").replace(reservation_occupies=counted_at_the_next_pass)
    assert violations(system_of("decode-admission", mutated))["slot-capacity"] == 4


def test_a_finished_row_and_an_unload_kill_the_decode_server() -> None:
    """F10, D06: decode counts finished rows, unload forgets the adapter, the fit test looks it up."""
    for faulty in ("0.5.20", "0.5.21", "0.5.22", "0.5.23"):
        assert known("decode-admission-pinned", faulty)["no-crash-fit-test-unknown-adapter"] == 8
    assert "no-crash-fit-test-unknown-adapter" not in known("decode-admission-pinned", "0.5.19")


def test_without_a_pin_nobody_is_looked_up() -> None:
    """F06: no pinned adapter, no assertion."""
    assert "no-crash-fit-test-unknown-adapter" not in known("decode-admission", "0.5.20")


def test_finished_rows_need_not_count_with_synchronous_loading() -> None:
    """D06, F10, X-2: unfinished rows meet both demands, for a copy waits for the forward before it."""
    candidate = release("0.5.23").replace(occupied_on_decode=unfinished_rows_only)
    assert violations(system_of("decode-admission-pinned", candidate)) == {}
    assert violations(system_of("decode-admission", candidate)) == {}


def test_f08_finish_unload_pass_on_decode() -> None:
    """F08, F10: the scripted trace, step by step."""
    script = Script(system_of("decode-admission-pinned", "0.5.23"), limit=2)
    script.do("arrive", k=RANK0, r=R1, a=A)
    script.do("arrive", k=RANK0, r=R2, a=B)
    script.do("decode_step", k=RANK0, moved={R1}, ends=set(), quick=set())
    script.do("decode_step", k=RANK0, moved={R1}, ends={R1}, quick=set())
    script.do("unregister", a=A)
    script.do("answer", r=R1)
    script.do("unload", a=A)
    assert script.state.ranks[RANK0].scheduler.finished == {R1}
    script.do("decode_step", k=RANK0, moved={R2}, ends=set(), quick=set())
    assert script.crash == "fit-test-unknown-adapter"


def test_an_aborted_transfer_is_answered_with_an_error_at_the_next_poll() -> None:
    """B.2.6, D20: what the peer never completes is bounded by an abort or a failure."""
    for end in ("abort", "transfer_fails"):
        script = Script(one_slot("0.5.20"), limit=3)
        script.do("arrive", k=RANK0, r=R1, a=A)
        script.do("decode_step", k=RANK0, moved={R1}, ends=set(), quick=set())
        script.do(end, **({"r": R1} if end == "abort" else {"k": RANK0, "r": R1}))
        shown = script.do("decode_step", k=RANK0, moved=set(), ends=set(), quick=set())
        assert shown.replies.errors == {R1}
        assert len(shown.ranks[RANK0].decode.transferring) == 0
        assert len(shown.ranks[RANK0].decode.broken) == 0


def test_an_error_releases_twice_and_unloads_under_a_running_request() -> None:
    """B.1.6: up to 0.5.21 the output and the handler both release; the next request pays."""
    for faulty in ("0.5.19", "0.5.20", "0.5.21"):
        assert known("decode-admission", faulty)["unload-safe"] == 7
        assert known("decode-admission", faulty)["no-crash-make-resident-unknown-adapter"] == 8
    fixed = known("decode-admission", "0.5.22")
    assert fixed == {}
    swapped = release("0.5.22").replace(error_releases_twice="by_output_and_by_handler")
    assert violations(system_of("decode-admission", swapped))["unload-safe"] == 7


def test_nothing_is_admitted_while_a_row_is_retracted() -> None:
    """B.7.1: a retracted request comes back to the waiting queue before the gate is asked again."""
    script = Script(system_of("decode-admission", "0.5.20", full=True), limit=3)

    def short_of_kv(s: Server) -> None:
        s.adapter[R1], s.adapter[R2], s.adapter[R3] = A, B, C
        s.tokenizer.open = {R1, R2, R3}
        s.ranks[RANK0].scheduler.running = {R1, R2}
        s.ranks[RANK0].decode.reserving.append(R3)

    script.edit(short_of_kv)
    shown = script.do("decode_step", k=RANK0, moved={R1}, ends=set(), quick=set())
    assert list(shown.ranks[RANK0].decode.retracted) == [R1]
    shown = script.do("decode_step", k=RANK0, moved={R3}, ends=set(), quick=set())
    assert list(shown.ranks[RANK0].decode.reserving) == [R3]
    assert shown.ranks[RANK0].gate.refused == set()
    shown = script.do("decode_step", k=RANK0, moved={R1, R3}, ends=set(), quick=set())
    assert shown.ranks[RANK0].scheduler.running == {R1, R2}
    assert shown.ranks[RANK0].gate.refused == {R3}


def test_every_stage_is_reached_and_every_action_fires() -> None:
    """The scenarios are not vacuous."""
    for scenario in ("decode-admission", "decode-admission-pinned"):
        coverage = explored(system_of(scenario, "0.5.20")).coverage
        assert all(depth is not None for depth in coverage.witnesses.values())
        assert [name for name, fired in coverage.fired.items() if fired == 0] == ["disconnect"]


@pytest.mark.deep
def test_a_second_unloadable_adapter_adds_no_violation() -> None:
    """One unloadable adapter is enough: A and B differ in name alone, and C brings nothing new."""
    for scenario, name in (("decode-admission", "0.5.20"), ("decode-admission-pinned", "0.5.23")):
        one = violations(system_of(scenario, name, full=True))
        assert violations(system_of(scenario, name, full=True, unloadable=["A", "B"])) == one


def test_adapters_of_the_domain_are_what_the_scripts_think() -> None:
    """The names of the helpers are those of the model."""
    assert [Adapter.name_of(a.index) for a in (A, B, C)] == ["A", "B", "C"]
