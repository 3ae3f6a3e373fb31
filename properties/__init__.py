"""What must hold and what must be reachable: one short function each, named by what a user loses.

``SCENARIOS`` is ``slotproof.model.scenarios.SCENARIOS`` with the properties and witnesses of each scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slotproof.model import scenarios
from slotproof.model.language.surface import Property, Witness
from slotproof.model.scenarios import Scenario
from slotproof.properties import forwards, queue, references, slots, witnesses

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

PROPERTIES: Mapping[str, tuple[Property, ...]] = {
    "overlap-cancel": SINGLE_SERVER,
    "finish-unload": SINGLE_SERVER,
    "finish-unload-normal": SINGLE_SERVER,
    "whole-server": SINGLE_SERVER,
}

WITNESSES: Mapping[str, tuple[Witness, ...]] = {
    "overlap-cancel": (
        witnesses.copies_in_parallel,
        witnesses.orphaned_copy,
        witnesses.slots_exhausted,
        witnesses.aborted_row,
        witnesses.finished_unswept,
        witnesses.between_candidates,
        witnesses.base_evicted,
    ),
}

SCENARIOS: dict[str, Scenario] = {
    name: replace(scenario, properties=PROPERTIES.get(name, ()), witnesses=WITNESSES.get(name, ()))
    for name, scenario in scenarios.SCENARIOS.items()
}
