"""Every decision point of the server with its alternatives, in the order of the components.

A decision point stands in its component's file together with the alternatives that releases have had. This
list is what a ``System`` is built with; ``releases.py`` says which release has which.
"""

from __future__ import annotations

from slotproof.model.language import Alternatives
from slotproof.model.serving import (
    decode,
    drainer,
    forward,
    gate,
    layers,
    loader,
    manager,
    ranks,
    registry,
    routing,
    scheduler,
    step,
    tokenizer,
)

DECISIONS: tuple[Alternatives, ...] = (
    Alternatives(drainer.drainer_allows, drainer.unless_it_outlasts_them, drainer.nobody_joins_a_drain),
    Alternatives(drainer.base_can_starve, drainer.its_name_means_nobody, drainer.like_any_adapter),
    Alternatives(gate.occupied_on_prefill, gate.all_rows, gate.unfinished_rows),
    Alternatives(gate.partial_prompt_occupies, gate.not_counted, gate.counted_with_the_picks),
    Alternatives(step.refusal_ends_the_pass, step.stops_at_the_refused, step.skips_the_refused),
    Alternatives(step.spent_room_ends_the_pass, step.after_the_gate, step.before_the_gate),
    Alternatives(
        scheduler.sweep_before_the_pass, scheduler.leaves_finished_rows, scheduler.sweeps_every_step
    ),
    Alternatives(
        scheduler.foresees_the_end, scheduler.decodes_until_finished, scheduler.leaves_out_finishing_rows
    ),
    Alternatives(
        scheduler.tears_down_partial_prompt, scheduler.finishes_the_prompt_first, scheduler.at_the_next_step
    ),
    Alternatives(loader.reap_first, loader.reap_nothing, loader.reap_all_ended),
    Alternatives(loader.copy_status, loader.by_its_event, loader.by_table_and_slots),
    Alternatives(loader.looks_again, loader.at_the_next_call, loader.right_after_the_start),
    Alternatives(
        manager.unload_and_slot,
        manager.slot_kept,
        manager.slot_cleared,
        manager.slot_zeroed_by_the_loader,
    ),
    Alternatives(forward.adapter_without_slot, forward.reads_slot_zero, forward.is_an_error),
    Alternatives(tokenizer.echo_releases, tokenizer.only_outputs_release, tokenizer.every_end_releases),
    Alternatives(
        tokenizer.error_releases_twice, tokenizer.by_output_and_by_handler, tokenizer.once_per_state
    ),
    Alternatives(tokenizer.warm_up_releases, tokenizer.like_any_output, tokenizer.only_samples_release),
    Alternatives(registry.remembers_given_up_unload, registry.forgets_the_id, registry.remembers_the_id),
    Alternatives(tokenizer.failing_handler_discards, tokenizer.keeps_the_state, tokenizer.discards_the_state),
    Alternatives(
        tokenizer.undispatched_failure_releases,
        tokenizer.loses_the_reference,
        tokenizer.gives_the_reference_back,
    ),
    Alternatives(decode.gate_on_reservation, decode.only_memory_decides, decode.gate_decides),
    Alternatives(
        decode.refusal_ends_reservation,
        decode.skips_the_refused_candidate,
        decode.stops_at_the_refused_candidate,
    ),
    Alternatives(decode.occupied_on_decode, decode.finished_rows_too, decode.unfinished_rows_only),
    Alternatives(decode.reservation_occupies, decode.counted_at_once),
    Alternatives(routing.idle_metadata, routing.keeps_metadata, routing.clears_metadata),
    Alternatives(routing.cleared_blocks, routing.every_block),
    Alternatives(layers.guarded_layers, layers.no_layer, layers.every_layer),
    Alternatives(ranks.ranks_exchange_adapters, ranks.each_rank_alone, ranks.all_ranks_together),
)
