"""Batch metadata and idle forwards of data-parallel ranks: rows I of the obligations."""

from __future__ import annotations

from typing import Any

import pytest

from slotproof.model.language import Set, parameter
from slotproof.model.releases import RELEASES, release
from slotproof.model.serving.routing import Block, Layer, Routing
from slotproof.model.serving.server import Server
from tests.model.serving.runs import (
    BASE,
    R1,
    R2,
    RANK0,
    RANK1,
    A,
    B,
    C,
    Script,
    explored,
    known,
    system_of,
    violations,
)

MISSING = "no-crash-sgemm-info-missing"
IN_PASSES: dict[str, Any] = {
    "requests": 3,
    "names": {"r1": ["A"], "r2": ["B"], "r3": ["A"]},
    "unloadable": [],
    "passes": True,
}


def test_idle_forward_reads_the_metadata_of_the_forward_before() -> None:
    """I01: both ranks run, one finishes, its idle forward uses the other's segments (#32707)."""
    for faulty in ("0.5.12.post1", "0.5.16"):
        assert known("idle-rank", faulty)["fresh-batch-info"] == 4
        assert known("idle-rank", faulty)["no-crash-lm-head-row-count"] == 4


@pytest.mark.parametrize("fixed", [r for r in RELEASES if RELEASES.index(r) >= RELEASES.index("0.5.17")])
def test_cleared_metadata_is_never_read(fixed: str) -> None:
    """I01, I08: no stale read, and no kernel without metadata."""
    found = known("idle-rank", fixed)
    assert not {"fresh-batch-info", "metadata-cleared", MISSING, "no-crash-lm-head-row-count"} & set(found)


def test_each_half_of_the_fix_is_needed() -> None:
    """I01, I06: the fixed release with one of its two decisions swapped back."""
    keeps = release("0.5.17").replace(idle_metadata="keeps_metadata")
    assert violations(system_of("idle-rank", keeps))["fresh-batch-info"] == 4
    unguarded = release("0.5.17").replace(guarded_layers="no_layer")
    assert violations(system_of("idle-rank", unguarded))[MISSING] == 2


def two_ranks(of: str, **parameters: Any) -> Script:
    """r1 of A runs on rank 1, r2 of B on rank 0, both after their prefill."""
    script = Script(system_of("idle-rank", of, **parameters))
    script.do("arrive", k=RANK1, r=R1, a=A)
    script.do("arrive", k=RANK0, r=R2, a=B)
    script.do("step_together", ends=set())
    return script


def routing(s: Server) -> Routing:
    """Rank 1's metadata."""
    return s.ranks[RANK1].routing


def test_the_block_is_none_at_the_start_set_by_a_batch_and_cleared_by_an_idle_forward() -> None:
    """I02, I03, I13, X-7: busy, idle, busy on one rank; the last busy forward is adapted."""
    script = Script(system_of("idle-rank", "0.5.17"))
    assert routing(script.state).held == set()
    script.do("arrive", k=RANK1, r=R1, a=A)
    script.do("arrive", k=RANK0, r=R2, a=B)
    shown = script.do("step_together", ends={R1})
    assert routing(shown).held == routing(shown).prepared == {Block.ROWS, Block.LM_HEAD}
    shown = script.do("step_together", ends=set())
    assert routing(shown).held == routing(shown).prepared == set()
    assert routing(shown).stale == set()
    assert routing(shown).bypassed == set(Layer)
    script.do("answer", r=R1)
    script.do("arrive", k=RANK1, r=R1, a=A)
    shown = script.do("step_together", ends=set())
    assert routing(shown).prepared == {Block.ROWS, Block.LM_HEAD}
    assert routing(shown).bypassed == routing(shown).stale == set()


def test_before_the_fix_the_idle_forward_reads_every_layers_old_block() -> None:
    """I01, I13, I19: the same script on 0.5.16 ends at the logits, whose block expects rows."""
    script = Script(system_of("idle-rank", "0.5.16"))
    script.do("arrive", k=RANK1, r=R1, a=A)
    script.do("arrive", k=RANK0, r=R2, a=B)
    script.do("step_together", ends={R1})
    shown = script.do("step_together", ends=set())
    assert routing(shown).stale == set(Layer)
    assert script.crash == "lm-head-row-count"


def test_an_idle_forward_resets_and_fetches_nothing() -> None:
    """I05: up to 0.5.20 it is a step of its own kind, not a small prepare."""
    script = two_ranks("0.5.17")
    script.do("step_together", ends={R1})
    before = script.state.ranks[RANK1].pool.resident
    shown = script.do("step_together", ends=set())
    assert shown.ranks[RANK1].pool.resident == before
    assert not routing(shown).joined


def test_from_0_5_21_the_idle_rank_joins_and_fetches_what_the_others_need() -> None:
    """I05, I17, I18: it resets, takes part in the exchange, and holds the global block alone of the two."""
    script = Script(system_of("idle-rank", "0.5.21"))
    script.do("arrive", k=RANK0, r=R2, a=B)
    shown = script.do("step_together", ends=set())
    assert routing(shown).joined
    assert shown.ranks[RANK0].routing.joined
    assert B in shown.ranks[RANK1].pool.resident
    assert Block.GLOBAL in routing(shown).held
    assert Block.ROWS not in routing(shown).held
    assert routing(shown).bypassed == {
        Layer.EMBEDDING,
        Layer.QKV,
        Layer.COLUMN,
        Layer.REPLICATED,
        Layer.ROW,
        Layer.SIDE_STREAM,
        Layer.LM_HEAD,
    }


old_guard = parameter("old_guard", Layer, "MOE", "the layer that a mutation leaves with its old guard")
forgotten = parameter("forgotten", Block, "ROWS", "the block that a mutation leaves out of the reset")


def all_layers_but_one() -> Set[Layer]:
    """The mutation of I06."""
    return {layer for layer in Layer if layer != old_guard}


def all_blocks_but_one() -> Set[Block]:
    """The mutation of I12."""
    return {block for block in Block if block != forgotten}


@pytest.mark.parametrize("layer", list(Layer))
def test_one_layer_with_the_old_guard_runs_without_metadata(layer: Layer) -> None:
    """I06, I07, I08: the idle forward's reset has left nothing for its kernels."""
    mutated = release("0.5.17").replace(guarded_layers=all_layers_but_one)
    script = Script(system_of("idle-rank", mutated, old_guard=layer))
    script.do("arrive", k=RANK1, r=R1, a=A)
    script.do("step_together", ends=set())
    assert script.crash == "sgemm-info-missing"


@pytest.mark.parametrize("layer", [Layer.EMBEDDING, Layer.MOE, Layer.LM_HEAD])
def test_one_layer_with_the_old_guard_is_caught(layer: Layer) -> None:
    """I06, I08: by the search too; and where the old metadata is still there, it reads that."""
    mutated = release("0.5.17").replace(guarded_layers=all_layers_but_one)
    assert violations(system_of("idle-rank", mutated, old_guard=layer))[MISSING] == 2
    kept = mutated.replace(idle_metadata="keeps_metadata")
    assert violations(system_of("idle-rank", kept, old_guard=layer))["fresh-batch-info"] == 4


@pytest.mark.parametrize("block", [Block.ROWS, Block.MERGED, Block.LM_HEAD, Block.LM_HEAD_PASSES])
def test_a_field_forgotten_in_the_reset_is_caught(block: Block) -> None:
    """I03, I04, I12, I19: each per-batch field by itself."""
    mutated = release("0.5.17").replace(cleared_blocks=all_blocks_but_one)
    found = violations(system_of("idle-rank", mutated, forgotten=block, **IN_PASSES))
    assert "metadata-cleared" in found
    assert ("fresh-batch-info" in found) == (block is Block.ROWS)


def test_the_pass_index_is_none_outside_of_the_passes() -> None:
    """I19: so that forgetting it in the reset has no effect; the row counts fit on every forward."""
    assert "no-crash-lm-head-row-count" not in violations(system_of("idle-rank", "0.5.17", **IN_PASSES))
    mutated = release("0.5.17").replace(cleared_blocks=all_blocks_but_one)
    same = violations(system_of("idle-rank", mutated, forgotten=Block.PASS_INDEX))
    assert same == known("idle-rank", "0.5.17")


def test_no_forward_with_rows_runs_without_metadata() -> None:
    """I11: the pairing of prepare and reset is kept on every release."""
    for name in RELEASES:
        assert "no-layer-skipped" not in known("idle-rank", name)


def test_a_decode_graph_on_an_idle_rank_reads_the_static_block_of_an_earlier_forward() -> None:
    """I11: the kernels in the graph do not look at ``lora_active``; from 0.5.21 an idle rank prepares."""
    for faulty in ("0.5.17", "0.5.20"):
        assert violations(system_of("idle-rank", faulty, graphs=True))["fresh-batch-info"] == 3
    assert "fresh-batch-info" not in violations(system_of("idle-rank", "0.5.21", graphs=True))


def test_without_idle_forwards_the_fix_changes_nothing() -> None:
    """I14: one rank alone; same states, same steps, nothing stale."""
    before, after = (
        explored(system_of("idle-rank", name, ranks=1, unloadable=[])) for name in ("0.5.16", "0.5.17")
    )
    assert before.coverage.states == after.coverage.states
    assert before.coverage.transitions == after.coverage.transitions
    for exploration in (before, after):
        assert not {v.property for v in exploration.violations} & {"fresh-batch-info", "metadata-cleared"}


def test_an_unloaded_adapter_is_gone_from_every_rank() -> None:
    """I16."""
    for name in ("0.5.17", "0.5.20", "0.5.21", "0.5.23"):
        assert not {"unload-clears", "unload-safe"} & set(known("idle-rank", name))


def test_all_ranks_join_the_exchange() -> None:
    """I17: from 0.5.21 nobody waits for a rank that has no rows."""
    for name in ("0.5.21", "0.5.22", "0.5.23"):
        assert "all-ranks-join" not in known("idle-rank", name)


def test_a_rank_on_the_base_path_leaves_the_second_all_reduce_to_the_others() -> None:
    """I17: 0.5.17 to 0.5.20, adapters on the feed-forward part's output projection."""
    for name in ("0.5.17", "0.5.18", "0.5.19", "0.5.20"):
        assert known("idle-rank", name)["all-ranks-join"] == 2
    attention = ["EMBEDDING", "QKV", "COLUMN", "REPLICATED", "ROW", "SIDE_STREAM", "LM_HEAD"]
    found = violations(system_of("idle-rank", "0.5.17", targets=attention))
    assert not {"all-ranks-join", "right-adapter"} & set(found)


def test_rows_of_other_ranks_need_the_global_block() -> None:
    """I18: a layer that is cut over the ranks adapts only the rank's own rows before 0.5.21."""
    assert known("idle-rank", "0.5.20")["right-adapter"] == 2
    assert "right-adapter" not in known("idle-rank", "0.5.21")
    swapped = release("0.5.21").replace(ranks_exchange_adapters="each_rank_alone")
    assert violations(system_of("idle-rank", swapped))["right-adapter"] == 2


def test_a_rank_applies_its_adapter_to_base_rows_of_the_ranks_before_it() -> None:
    """I18, found by replay on the reference: local segments lie over the gathered rows from the first on."""
    script = Script(system_of("idle-rank", "0.5.17"))
    script.do("arrive", k=RANK0, r=R2, a=BASE)
    script.do("arrive", k=RANK1, r=R1, a=A)
    assert script.do("step_together", ends=frozenset()).ranks[RANK0].forward.misrouted == {R2}

    script = Script(system_of("idle-rank", "0.5.17"))
    script.do("arrive", k=RANK1, r=R2, a=BASE)
    script.do("arrive", k=RANK0, r=R1, a=A)
    state = script.do("step_together", ends=frozenset())
    assert state.ranks[RANK1].forward.misrouted == set()
    assert state.ranks[RANK0].forward.misrouted == {R1}


def test_the_union_of_all_ranks_always_fits_if_every_adapter_is_pinned() -> None:
    """I18: at most one slot less than there are is pinned; without pins the global fit test fails."""
    pinned = violations(system_of("idle-rank", "0.5.22", full=True))
    assert pinned == {}
    names = {"r1": ["A"], "r2": ["B"], "r3": ["C"]}
    unpinned = violations(
        system_of("idle-rank", "0.5.22", full=True, slots=2, pinned=[], unloadable=[], names=names)
    )
    assert unpinned["no-crash-global-batch-too-many"] == 4


def test_every_action_fires_and_every_witness_is_reached() -> None:
    """The scenario is not vacuous."""
    coverage = explored(system_of("idle-rank", "0.5.19")).coverage
    assert all(depth is not None for depth in coverage.witnesses.values())
    assert all(fired > 0 for fired in coverage.fired.values())


def test_names_of_the_scripts() -> None:
    """The helpers' names are those of the model."""
    assert [str(a) for a in (BASE, A, B, C)] == ["base", "A", "B", "C"]
