"""Which way the server goes at each scheduling decision, by name.

A name is what a trace carries in its metadata. What each one means is written where it is used, in this
package's own code; there is no table of releases here.
"""

from __future__ import annotations

from collections.abc import Mapping

KNOWN: Mapping[str, tuple[str, ...]] = {
    "drainer_allows": ("unless_it_outlasts_them", "nobody_joins_a_drain"),
    "base_can_starve": ("its_name_means_nobody", "like_any_adapter"),
    "occupied_on_prefill": ("all_rows", "unfinished_rows"),
    "partial_prompt_occupies": ("not_counted", "counted_with_the_picks"),
    "refusal_ends_the_pass": ("stops_at_the_refused", "skips_the_refused"),
    "spent_room_ends_the_pass": ("after_the_gate", "before_the_gate"),
    "sweep_before_the_pass": ("leaves_finished_rows", "sweeps_every_step"),
    "foresees_the_end": ("decodes_until_finished", "leaves_out_finishing_rows"),
    "tears_down_partial_prompt": ("finishes_the_prompt_first", "at_the_next_step"),
    "reap_first": ("reap_nothing", "reap_all_ended"),
    "copy_status": ("by_its_event", "by_table_and_slots"),
    "looks_again": ("at_the_next_call", "right_after_the_start"),
    "unload_and_slot": ("slot_kept", "slot_cleared", "slot_zeroed_by_the_loader"),
    "adapter_without_slot": ("reads_slot_zero", "is_an_error"),
    "echo_releases": ("only_outputs_release", "every_end_releases"),
    "error_releases_twice": ("by_output_and_by_handler", "once_per_state"),
    "warm_up_releases": ("like_any_output", "only_samples_release"),
    "remembers_given_up_unload": ("forgets_the_id", "remembers_the_id"),
    "failing_handler_discards": ("keeps_the_state", "discards_the_state"),
    "undispatched_failure_releases": ("loses_the_reference", "gives_the_reference_back"),
    "gate_on_reservation": ("only_memory_decides", "gate_decides"),
    "refusal_ends_reservation": ("skips_the_refused_candidate", "stops_at_the_refused_candidate"),
    "occupied_on_decode": ("finished_rows_too", "unfinished_rows_only"),
    "reservation_occupies": ("counted_at_once",),
    "idle_metadata": ("keeps_metadata", "clears_metadata"),
    "cleared_blocks": ("every_block",),
    "guarded_layers": ("no_layer", "every_layer"),
    "ranks_exchange_adapters": ("each_rank_alone", "all_ranks_together"),
}


class UnknownRule(ValueError):
    """A decision or one of its alternatives that this server does not implement, or that it is not told."""


class Rules:
    """One attribute for each decision: the name of the alternative that the server follows.

    A trace names the decisions that its scenario meets; ``UnknownRule`` when another one is read.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        for name, alternative in names.items():
            if name not in KNOWN:
                raise UnknownRule(f"the reference has no decision '{name}'; it has {', '.join(KNOWN)}")
            if alternative not in KNOWN[name]:
                known = " or ".join(KNOWN[name])
                raise UnknownRule(f"decision {name} is '{alternative}'; the reference implements {known}")
        self.names = dict(names)

    def __getattr__(self, name: str) -> str:
        try:
            return self.__dict__["names"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise UnknownRule(f"decision {name} is not named, and this run meets it") from None
