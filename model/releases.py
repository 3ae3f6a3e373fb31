"""Which alternative of each decision a release of SGLang has, and where that is written.

``HISTORY`` is the table: for each decision the releases that changed it, with the alternative from then on
and the pull request or issue (``#…``) or the function of the wheel that shows it. A release's column
follows from it; nothing else tells releases apart. A candidate starts from a release::

    from slotproof.model.releases import release

    candidate = release("0.5.23").replace(occupied_on_prefill=my_rule)
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, get_type_hints

from slotproof.model.decisions import DECISIONS
from slotproof.model.language import Alternatives, LanguageError, State
from slotproof.model.language.errors import Site
from slotproof.model.language.surface import Action, Decision
from slotproof.model.near import near, near_or_all
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
from slotproof.model.serving.server import Server

RELEASES: tuple[str, ...] = (
    "0.5.12",
    "0.5.12.post1",
    "0.5.13",
    "0.5.13.post1",
    "0.5.14",
    "0.5.15",
    "0.5.15.post1",
    "0.5.16",
    "0.5.17",
    "0.5.18",
    "0.5.19",
    "0.5.20",
    "0.5.21",
    "0.5.22",
    "0.5.23",
)


@dataclass(frozen=True)
class Cell:
    """What a release does at a decision: since when, and where that is written."""

    since: str
    alternative: Callable[..., Any]
    reference: str


HISTORY: Mapping[Decision[..., Any], tuple[Cell, ...]] = {
    drainer.drainer_allows: (Cell("0.5.12", drainer.unless_it_outlasts_them, "#17913"),),
    drainer.base_can_starve: (
        Cell("0.5.12", drainer.its_name_means_nobody, "LoRADrainer._update_draining_loras"),
    ),
    gate.occupied_on_prefill: (
        Cell("0.5.12", gate.all_rows, "Scheduler._get_new_batch_prefill_raw"),
        Cell("0.5.14", gate.unfinished_rows, "#27597"),
    ),
    gate.partial_prompt_occupies: (
        Cell("0.5.12", gate.not_counted, "#23141"),
        Cell("0.5.13", gate.counted_with_the_picks, "#25865, #26029"),
    ),
    step.refusal_ends_the_pass: (Cell("0.5.12", step.skips_the_refused, "since 0.5.7"),),
    step.spent_room_ends_the_pass: (
        Cell("0.5.12", step.after_the_gate, "PrefillAdder.add_one_req"),
        Cell("0.5.23", step.before_the_gate, "Scheduler._get_new_batch_prefill_raw"),
    ),
    scheduler.sweep_before_the_pass: (
        Cell("0.5.12", scheduler.leaves_finished_rows, "Scheduler.update_running_batch"),
        Cell("0.5.23", scheduler.sweeps_every_step, "Scheduler.get_next_batch_to_run"),
    ),
    scheduler.foresees_the_end: (
        Cell("0.5.12", scheduler.decodes_until_finished, "Scheduler.update_running_batch"),
        Cell("0.5.22", scheduler.leaves_out_finishing_rows, "Scheduler._reqs_finishing_inflight"),
    ),
    scheduler.tears_down_partial_prompt: (
        Cell("0.5.12", scheduler.finishes_the_prompt_first, "Scheduler.abort_request"),
        Cell("0.5.14", scheduler.at_the_next_step, "Scheduler._pending_chunked_abort_req"),
    ),
    loader.reap_first: (
        Cell("0.5.12", loader.reap_nothing, "LoRAOverlapLoader._check_overlap_load_status"),
        Cell("0.5.13", loader.reap_all_ended, "#25413"),
    ),
    loader.copy_status: (
        Cell("0.5.12", loader.by_its_event, "LoRAOverlapLoader._check_overlap_load_status"),
        Cell("0.5.13", loader.by_table_and_slots, "#25413"),
    ),
    loader.looks_again: (
        Cell("0.5.12", loader.at_the_next_call, "LoRAOverlapLoader.try_overlap_load_lora"),
        Cell("0.5.20", loader.right_after_the_start, "LoRAOverlapLoader.try_overlap_load_lora"),
    ),
    manager.unload_and_slot: (
        Cell("0.5.12", manager.slot_kept, "#21381"),
        Cell("0.5.16", manager.slot_cleared, "LoRAMemoryPool.remove_lora"),
    ),
    forward.adapter_without_slot: (
        Cell("0.5.12", forward.reads_slot_zero, "LoRAManager.prepare_lora_batch"),
        Cell("0.5.21", forward.is_an_error, "LoRAManager.prepare_lora_batch"),
    ),
    tokenizer.echo_releases: (
        Cell("0.5.12", tokenizer.only_outputs_release, "#34205"),
        Cell("0.5.22", tokenizer.every_end_releases, "TokenizerManager._release_lora_once"),
    ),
    tokenizer.error_releases_twice: (
        Cell("0.5.12", tokenizer.by_output_and_by_handler, "TokenizerManager._wait_one_response"),
        Cell("0.5.22", tokenizer.once_per_state, "TokenizerManager._release_lora_once"),
    ),
    tokenizer.warm_up_releases: (
        Cell("0.5.12", tokenizer.like_any_output, "#25864, #36894"),
        Cell("0.5.22", tokenizer.only_samples_release, "TokenizerManager._handle_batch_request"),
    ),
    registry.remembers_given_up_unload: (
        Cell("0.5.12", registry.forgets_the_id, "TokenizerControlMixin.unload_lora_adapter"),
        Cell("0.5.21", registry.remembers_the_id, "TokenizerControlMixin.pending_lora_unloads"),
    ),
    tokenizer.failing_handler_discards: (
        Cell("0.5.12", tokenizer.keeps_the_state, "TokenizerManager.generate_request"),
        Cell("0.5.14", tokenizer.discards_the_state, "TokenizerManager._discard_pending_req_states"),
        Cell("0.5.20", tokenizer.keeps_the_state, "TokenizerManager._mark_state_dispatched"),
    ),
    tokenizer.undispatched_failure_releases: (
        Cell("0.5.12", tokenizer.loses_the_reference, "#31808"),
        Cell("0.5.22", tokenizer.gives_the_reference_back, "TokenizerManager._release_lora_once"),
    ),
    decode.gate_on_reservation: (
        Cell("0.5.12", decode.only_memory_decides, "DecodePreallocQueue.pop_preallocated"),
        Cell("0.5.20", decode.gate_decides, "#39332"),
    ),
    decode.refusal_ends_reservation: (
        Cell("0.5.12", decode.skips_the_refused_candidate, "#39332; no gate before 0.5.20"),
    ),
    decode.occupied_on_decode: (Cell("0.5.12", decode.finished_rows_too, "#39332; no gate before 0.5.20"),),
    decode.reservation_occupies: (Cell("0.5.12", decode.counted_at_once, "#39332; no gate before 0.5.20"),),
    routing.idle_metadata: (
        Cell("0.5.12", routing.keeps_metadata, "ForwardBatch.init_new"),
        Cell("0.5.17", routing.clears_metadata, "#32707"),
    ),
    routing.cleared_blocks: (Cell("0.5.12", routing.every_block, "#32707; no reset before 0.5.17"),),
    layers.guarded_layers: (
        Cell("0.5.12", layers.no_layer, "BaseLayerWithLoRA.set_lora"),
        Cell("0.5.17", layers.every_layer, "#32707, BaseLayerWithLoRA.lora_active"),
    ),
    ranks.ranks_exchange_adapters: (
        Cell("0.5.12", ranks.each_rank_alone, "ForwardBatch.init_new"),
        Cell("0.5.21", ranks.all_ranks_together, "LoRAManager.prepare_lora_batch"),
    ),
}


@dataclass(frozen=True)
class Release:
    """A release, or a candidate made from one: what it does at each decision.

    ``actions`` replaces actions by name, ``state`` is the server's state if the candidate adds to it.
    """

    name: str
    choices: Mapping[str, Callable[..., Any]]
    actions: Mapping[str, Action[Any]] = field(default_factory=dict)
    state: type[State] | None = None

    @property
    def base(self) -> str:
        """The release itself, or the one that a candidate starts from."""
        return base_of(self.name)

    def otherwise(self, other: Release) -> list[str]:
        """The decisions that this answers otherwise than another, by name."""
        return [name for name, rule in self.choices.items() if rule is not other.choices[name]]

    def called(self, label: str) -> Release:
        """The same, told apart by a label behind the ``+`` of a candidate: ``0.5.23+gate``."""
        return replace(self, name=f"{self.base}+{label}") if "+" in self.name else self

    def replace(self, **decisions: Callable[..., Any] | str) -> Release:
        """The same, with other answers at these decisions: functions, or names of known alternatives."""
        known = {d.point.name: d for d in DECISIONS}
        chosen = dict(self.choices)
        for name, alternative in decisions.items():
            if name not in known:
                hint = near(name, known) or "; 'slotproof list decisions' has them all"
                raise LanguageError(f"there is no decision '{name}'{hint}")
            named = {f.__name__: f for f in known[name].functions}
            if isinstance(alternative, str):
                if alternative not in named:
                    hint = near_or_all(alternative, named, "it has")
                    raise LanguageError(f"decision {name} has no alternative '{alternative}'{hint}")
                alternative = named[alternative]
            if not isinstance(alternative, FunctionType):
                raise LanguageError(
                    f"decision {name} is answered by {alternative!r}; write a function without a mark"
                )
            if named.get(alternative.__name__, alternative) is not alternative:
                raise LanguageError(
                    f"decision {name} has an alternative '{alternative.__name__}' already; rename yours"
                )
            _check_signature(known[name].point, alternative)
            chosen[name] = alternative
        return replace(self, name=_changed(self.name), choices=chosen)

    def with_actions(self, *actions: Action[Any]) -> Release:
        """The same, with these actions in place of those with their names."""
        given: tuple[object, ...] = actions
        for a in given:
            if not isinstance(a, Action):
                shown = getattr(a, "__name__", repr(a))
                raise LanguageError(f"with_actions({shown}): is no action; write '@action' above it")
        return replace(
            self, name=_changed(self.name), actions={**self.actions, **{a.name: a for a in actions}}
        )

    def with_state(self, state: type[State]) -> Release:
        """The same, with more state: a subclass of ``Server`` with fields of its own."""
        if not (isinstance(state, type) and issubclass(state, Server)):
            raise LanguageError(
                f"with_state({getattr(state, '__name__', state)}): adds nothing to the server;"
                " write 'class Mine(Server):' with fields of its own"
            )
        return replace(self, name=_changed(self.name), state=state)

    def alternatives(self) -> tuple[Alternatives, ...]:
        """The known alternatives of each decision, with this one's own rules added."""
        return tuple(
            d if self.choices[d.point.name] in d.functions
            else Alternatives(d.point, *d.functions, self.choices[d.point.name])
            for d in DECISIONS
        )  # fmt: skip

    def names(self) -> dict[str, str]:
        """The chosen alternative's name by the decision's, as ``System.choices`` wants it."""
        return {name: f.__name__ for name, f in self.choices.items()}


def _check_signature(point: Decision[..., Any], alternative: FunctionType) -> None:
    """``LanguageError`` at a rule whose parameters or result are not those of its decision."""
    code = alternative.__code__
    try:
        wanted = list(get_type_hints(point.function).values())
        given = list(get_type_hints(alternative).values())
    except Exception:  # an annotation that means nothing: compilation says which
        return
    if code.co_argcount + code.co_kwonlyargcount != len(wanted) - 1 or (
        len(given) == len(wanted) and given != wanted
    ):
        written = inspect.signature(point.function)
        parameters = ", ".join(f"{p.name}: {p.annotation}" for p in written.parameters.values())
        raise LanguageError(
            f"{alternative.__name__} is no answer to decision {point.name};"
            f" write 'def {alternative.__name__}({parameters}) -> {written.return_annotation}:'",
            Site(os.path.realpath(code.co_filename), code.co_firstlineno),
        )


def _changed(name: str) -> str:
    return name if "+" in name else f"{name}+"


def base_of(name: str) -> str:
    """The release that a release's or a candidate's name begins with: of ``0.5.23+gate`` it is ``0.5.23``."""
    return name.partition("+")[0]


def cell(decision: Decision[..., Any], name: str) -> Cell:
    """The table's entry for a decision at a release."""
    position = RELEASES.index(name)
    return [c for c in HISTORY[decision] if RELEASES.index(c.since) <= position][-1]


def when(decision: str, alternative: str) -> str:
    """The releases that answer a decision so, and where that is written: ``from 0.5.13 on (#25413)``.

    Empty for an alternative that no release has.
    """
    found = []
    for cells in (cells for point, cells in HISTORY.items() if point.name == decision):
        for i, entry in enumerate(cells):
            if entry.alternative.__name__ == alternative:
                after = RELEASES.index(cells[i + 1].since) if i + 1 < len(cells) else len(RELEASES)
                found.append(f"{_span(RELEASES.index(entry.since), after)} ({entry.reference})")
    return ", ".join(found)


def _span(first: int, after: int) -> str:
    """Some successive releases as a phrase."""
    if after == len(RELEASES):
        return f"from {RELEASES[first]} on" if first else "in every release"
    last = RELEASES[after - 1]
    if first == 0:
        return f"up to {last}"
    return f"from {RELEASES[first]} to {last}" if first < after - 1 else f"in {last}"


def release(name: str) -> Release:
    """A release by its version."""
    if name not in RELEASES:
        raise LanguageError(f"there is no release '{name}'{near_or_all(name, RELEASES)}")
    return Release(name, {d.point.name: cell(d.point, name).alternative for d in DECISIONS})
