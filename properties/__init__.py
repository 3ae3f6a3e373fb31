"""What must hold and what must be reachable: one short function each, named by what a user loses.

``SCENARIOS`` is ``slotproof.model.scenarios.SCENARIOS`` with the properties and witnesses of each scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slotproof.model import scenarios
from slotproof.model.language.surface import Property, Witness
from slotproof.model.scenarios import Scenario
from slotproof.properties import (
    forwards,
    lemmas,
    metadata,
    on_the_way,
    progress,
    queue,
    references,
    slots,
    witnesses,
)

SINGLE_SERVER: tuple[Property, ...] = (
    slots.slot_capacity,
    slots.no_slot_leak,
    forwards.resident_at_launch,
    forwards.stable_in_flight,
    forwards.right_adapter,
    references.use_count,
    references.unload_safe,
    references.unload_clears,
    queue.work_conserving,
)

DATA_PARALLEL_RANKS: tuple[Property, ...] = (
    slots.slot_capacity,
    slots.no_slot_leak,
    metadata.fresh_batch_info,
    metadata.metadata_cleared,
    metadata.no_layer_skipped,
    metadata.all_ranks_join,
    forwards.resident_at_launch,
    forwards.right_adapter,
    references.use_count,
    references.unload_safe,
    references.unload_clears,
    queue.work_conserving,
    queue.refused_waits,
)

DECODE_ROLE: tuple[Property, ...] = (
    slots.slot_capacity,
    slots.no_slot_leak,
    forwards.resident_at_launch,
    forwards.right_adapter,
    references.use_count,
    references.unload_safe,
    references.unload_clears,
    queue.refused_waits,
)

SINGLE_SERVER_RUNS: tuple[Property, ...] = (*SINGLE_SERVER, progress.progress, progress.unload_completes)

DECODE_ROLE_RUNS: tuple[Property, ...] = (
    *DECODE_ROLE,
    forwards.split_equals_single,
    progress.progress,
    progress.unload_completes,
)

PROPERTIES: Mapping[str, tuple[Property, ...]] = {
    "overlap-cancel": SINGLE_SERVER,
    "finish-unload": SINGLE_SERVER,
    "finish-unload-normal": SINGLE_SERVER,
    "partial-prompt": SINGLE_SERVER,
    "use-counts": SINGLE_SERVER,
    "idle-rank": DATA_PARALLEL_RANKS,
    "decode-admission": DECODE_ROLE,
    "decode-admission-pinned": DECODE_ROLE,
    "finite-traffic": SINGLE_SERVER_RUNS,
    "endless-traffic": SINGLE_SERVER_RUNS,
    "drained-traffic": SINGLE_SERVER_RUNS,
    "copy-race": (*SINGLE_SERVER, progress.progress),
    "decode-finite-traffic": DECODE_ROLE_RUNS,
    "decode-endless-traffic": DECODE_ROLE_RUNS,
    "whole-server": SINGLE_SERVER,
}

FINISH_UNLOAD: tuple[Witness, ...] = (
    witnesses.slots_exhausted,
    witnesses.aborted_row,
    witnesses.finished_unswept,
    witnesses.adapter_unloaded,
    witnesses.unload_waits,
)

WITNESSES: Mapping[str, tuple[Witness, ...]] = {
    "overlap-cancel": (
        witnesses.copies_in_parallel,
        witnesses.orphaned_copy,
        witnesses.slots_exhausted,
        witnesses.aborted_row,
        witnesses.finished_unswept,
        witnesses.between_candidates,
        witnesses.base_evicted,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "finish-unload": FINISH_UNLOAD,
    "finish-unload-normal": FINISH_UNLOAD,
    "partial-prompt": (
        witnesses.partial_prompt_between,
        witnesses.aborted_partial_prompt,
        witnesses.slots_exhausted,
        witnesses.aborted_row,
    ),
    "use-counts": (
        witnesses.late_reference,
        witnesses.orphaned_warm_up,
        witnesses.unload_waits,
        witnesses.adapter_unloaded,
    ),
    "whole-server": (
        witnesses.copies_in_parallel,
        witnesses.orphaned_copy,
        witnesses.slots_exhausted,
        witnesses.partial_prompt_between,
        witnesses.aborted_partial_prompt,
        witnesses.finished_unswept,
        witnesses.between_candidates,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "idle-rank": (witnesses.idle_beside_busy, witnesses.both_busy, witnesses.aborted_row),
    "finite-traffic": (
        witnesses.copies_in_parallel,
        witnesses.orphaned_copy,
        witnesses.slots_exhausted,
        witnesses.between_candidates,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "endless-traffic": (
        witnesses.slots_exhausted,
        witnesses.between_candidates,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "drained-traffic": (
        witnesses.slots_exhausted,
        witnesses.adapter_drains,
        witnesses.kept_back_by_a_drain,
    ),
    "copy-race": (witnesses.between_candidates, witnesses.slots_exhausted),
    "decode-finite-traffic": (
        witnesses.candidate_behind_full_slots,
        witnesses.broken_transfer,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "decode-endless-traffic": (
        witnesses.candidate_behind_full_slots,
        witnesses.broken_transfer,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "decode-admission": (
        witnesses.candidate_behind_full_slots,
        witnesses.broken_transfer,
        witnesses.waits_for_a_row,
        witnesses.retracted_row,
        witnesses.aborted_row,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
    "decode-admission-pinned": (
        witnesses.broken_transfer,
        witnesses.waits_for_a_row,
        witnesses.retracted_row,
        witnesses.aborted_row,
        witnesses.adapter_unloaded,
        witnesses.unload_waits,
    ),
}

LEMMAS: Mapping[str, tuple[Property, ...]] = {
    "overlap-cancel": lemmas.OF_BACKGROUND_LOADING,
    "finish-unload": lemmas.OF_SYNCHRONOUS_LOADING,
    "finish-unload-normal": lemmas.OF_SYNCHRONOUS_LOADING,
    "partial-prompt": lemmas.OF_SYNCHRONOUS_LOADING,
    "use-counts": lemmas.OF_USE_COUNTS,
    "idle-rank": lemmas.OF_SYNCHRONOUS_LOADING,
    "decode-admission": lemmas.OF_DECODE,
    "decode-admission-pinned": lemmas.OF_DECODE,
    "finite-traffic": lemmas.OF_BACKGROUND_LOADING,
    "endless-traffic": lemmas.OF_BACKGROUND_LOADING,
    "drained-traffic": lemmas.OF_BACKGROUND_LOADING,
    "copy-race": lemmas.OF_BACKGROUND_LOADING,
    "decode-finite-traffic": lemmas.OF_DECODE,
    "decode-endless-traffic": lemmas.OF_DECODE,
    "whole-server": lemmas.OF_BACKGROUND_LOADING,
}

ON_THE_WAY: Mapping[str, tuple[Property, ...]] = {
    "overlap-cancel": on_the_way.OF_BACKGROUND_LOADING,
    "decode-admission": on_the_way.OF_DECODE,
    "decode-admission-pinned": on_the_way.OF_DECODE,
    "finite-traffic": on_the_way.OF_BACKGROUND_LOADING,
    "endless-traffic": on_the_way.OF_BACKGROUND_LOADING,
    "drained-traffic": on_the_way.OF_BACKGROUND_LOADING,
    "copy-race": on_the_way.OF_BACKGROUND_LOADING,
    "decode-finite-traffic": on_the_way.OF_DECODE,
    "decode-endless-traffic": on_the_way.OF_DECODE,
    "whole-server": on_the_way.OF_BACKGROUND_LOADING,
}

SCENARIOS: dict[str, Scenario] = {
    name: replace(
        scenario,
        properties=PROPERTIES.get(name, ()),
        witnesses=WITNESSES.get(name, ()),
        lemmas=LEMMAS.get(name, ()),
        costly=lemmas.COSTLY,
        on_the_way=ON_THE_WAY.get(name, ()),
    )
    for name, scenario in scenarios.SCENARIOS.items()
}
