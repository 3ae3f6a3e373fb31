"""Has the code that the model encodes changed? Digests of its functions, release by release.

``TABLE`` lists the functions of SGLang that the model was written from, with the component and the decisions
that encode each. ``drift.json`` holds a digest of every one of them for every release that the model knows:
of the function's syntax tree without docstrings, comments, positions and type annotations. So a new release
says by itself where to look::

    slotproof drift --sglang DIR

Only the source files are read; nothing is imported, so that a release of any age can be compared.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

ROOT = Path("sglang/srt")


@dataclass(frozen=True)
class Encoded:
    """A function that the model encodes. ``paths`` are the files in which releases have had it."""

    paths: tuple[str, ...]
    name: str
    component: str
    decisions: tuple[str, ...] = ()


def _rows(
    paths: str | tuple[str, ...], owner: str, component: str, functions: Mapping[str, str]
) -> tuple[Encoded, ...]:
    places = (paths,) if isinstance(paths, str) else paths
    prefix = f"{owner}." if owner else ""
    return tuple(
        Encoded(places, prefix + name, component, tuple(decisions.split()))
        for name, decisions in functions.items()
    )


LAYERS: Mapping[str, tuple[str, ...]] = {
    "BaseLayerWithLoRA": ("lora_active", "forward"),
    "VocabParallelEmbeddingWithLoRA": ("apply_lora", "forward"),
    "ParallelLMHeadWithLoRA": ("apply_lora", "forward", "_get_lm_head_batch_info"),
    "ColumnParallelLinearWithLoRA": ("apply_lora", "forward"),
    "MergedColumnParallelLinearWithLoRA": ("apply_lora",),
    "QKVParallelLinearWithLoRA": ("apply_lora",),
    "RowParallelLinearWithLoRA": ("apply_lora", "forward"),
    "ReplicatedLinearWithLoRA": ("apply_lora", "forward"),
    "FusedMoEWithLoRA": ("forward",),
}

TABLE: tuple[Encoded, ...] = (
    *_rows(
        "lora/lora_overlap_loader.py",
        "LoRAOverlapLoader",
        "loader",
        {
            "try_overlap_load_lora": "reap_first looks_again",
            "_check_overlap_load_status": "copy_status",
            "_drain_completed_overlap_loads": "reap_first",
            "_try_start_overlap_load": "",
        },
    ),
    *_rows(
        "lora/lora_manager.py",
        "LoRAManager",
        "manager",
        {
            "validate_lora_batch": "",
            "validate_new_adapter": "",
            "load_lora_adapter": "",
            "_load_lora_adapter": "",
            "unload_lora_adapter": "unload_and_slot",
            "_unload_lora_adapter": "unload_and_slot",
            "fetch_new_loras": "",
            "prepare_lora_batch": "adapter_without_slot ranks_exchange_adapters",
            "reset_lora_batch": "idle_metadata",
        },
    ),
    *_rows(
        "lora/mem_pool.py",
        "LoRAMemoryPool",
        "pool",
        {"prepare_lora_batch": "", "remove_lora": "unload_and_slot", "get_buffer_id": "adapter_without_slot"},
    ),
    *_rows(
        "lora/eviction_policy.py",
        "LRUEvictionPolicy",
        "pool",
        {"mark_used": "", "select_victim": "", "remove": ""},
    ),
    *_rows(
        "lora/lora_drainer.py",
        "LoRADrainer",
        "drainer",
        {"update_draining_state": "base_can_starve", "can_schedule": "drainer_allows"},
    ),
    *_rows(
        "lora/lora_registry.py",
        "LoRARegistry",
        "registry",
        {
            "register": "",
            "unregister": "",
            "acquire": "",
            "release": "",
            "wait_for_unload": "remembers_given_up_unload",
            "lru_lora_name": "",
        },
    ),
    *_rows(
        "managers/scheduler.py",
        "Scheduler",
        "scheduler",
        {
            "event_loop_normal": "",
            "event_loop_overlap": "foresees_the_end",
            "get_next_batch_to_run": "sweep_before_the_pass",
            "get_new_batch_prefill": "",
            "_get_new_batch_prefill_raw": "occupied_on_prefill partial_prompt_occupies refusal_ends_the_pass"
            " spent_room_ends_the_pass",
            "can_schedule_lora_req": "drainer_allows",
            "_can_schedule_lora_req": "drainer_allows",
            "update_running_batch": "foresees_the_end sweep_before_the_pass",
            "_reqs_finishing_inflight": "foresees_the_end",
            "abort_request": "tears_down_partial_prompt",
            "process_pending_chunked_abort": "tears_down_partial_prompt",
            "_collect_inflight_batches": "",
            "_add_request_to_queue": "",
        },
    ),
    *_rows(
        "managers/schedule_batch.py",
        "ScheduleBatch",
        "scheduler",
        {"filter_batch": "", "merge_batch": "", "copy": "", "retract_decode": ""},
    ),
    *_rows(
        "managers/schedule_batch.py",
        "Req",
        "scheduler",
        {
            "finished": "",
            "check_finished": "",
            "update_finish_state": "",
            "next_output_finishes_by_length": "foresees_the_end",
        },
    ),
    *_rows(
        "managers/schedule_policy.py",
        "PrefillAdder",
        "step",
        {"budget_state": "spent_room_ends_the_pass", "add_chunked_req": "", "add_one_req": ""},
    ),
    *_rows(
        "managers/tokenizer_manager.py",
        "TokenizerManager",
        "tokenizer",
        {
            "generate_request": "failing_handler_discards",
            "_resolve_lora_path": "",
            "_handle_batch_request": "warm_up_releases",
            "_wait_one_response": "error_releases_twice failing_handler_discards",
            "_handle_batch_output": "error_releases_twice warm_up_releases",
            "_handle_abort_req": "echo_releases",
            "_handle_abort_finish_reason": "error_releases_twice",
            "_release_lora_once": "echo_releases error_releases_twice warm_up_releases"
            " undispatched_failure_releases",
            "_discard_pending_req_states": "failing_handler_discards undispatched_failure_releases",
            "_mark_state_dispatched": "failing_handler_discards",
            "_remove_req_state": "",
            "abort_request": "",
        },
    ),
    *_rows(
        "managers/tokenizer_control_mixin.py",
        "TokenizerControlMixin",
        "registry",
        {
            "load_lora_adapter": "",
            "unload_lora_adapter": "remembers_given_up_unload",
            "_unload_lora_adapter_locked": "remembers_given_up_unload",
        },
    ),
    *_rows(
        "disaggregation/decode.py",
        "DecodePreallocQueue",
        "decode",
        {
            "pop_preallocated": "gate_on_reservation refusal_ends_reservation occupied_on_decode"
            " reservation_occupies",
            "resume_retracted_reqs": "",
            "_update_handshake_waiters": "",
        },
    ),
    *_rows(
        "disaggregation/decode.py", "DecodeTransferQueue", "decode", {"pop_transferred": "", "extend": ""}
    ),
    *_rows(
        "disaggregation/decode.py",
        "SchedulerDisaggregationDecodeMixin",
        "decode",
        {
            "event_loop_normal_disagg_decode": "",
            "process_decode_queue": "",
            "get_next_disagg_decode_batch_to_run": "",
            "get_new_prebuilt_batch": "",
        },
    ),
    *_rows("model_executor/forward_batch_info.py", "ForwardBatch", "forward", {"init_new": "idle_metadata"}),
    *_rows(
        "lora/backend/base_backend.py",
        "BaseLoRABackend",
        "routing",
        {"__init__": "", "reset_batch_state": "cleared_blocks"},
    ),
    *_rows(
        "lora/backend/triton_backend.py",
        "TritonLoRABackend",
        "routing",
        {
            "__init__": "",
            "prepare_lora_batch": "",
            "prepare_global_lora_batch": "ranks_exchange_adapters",
            "reset_batch_state": "cleared_blocks",
            "_sgemm_info": "",
        },
    ),
    *(
        row
        for owner, functions in LAYERS.items()
        for row in _rows("lora/layers.py", owner, "layers", dict.fromkeys(functions, "guarded_layers"))
    ),
    *(
        row
        for owner in ("SchedulerDPAttnMixin", "SchedulerDPAttnAdapter")
        for row in _rows(
            ("managers/scheduler_dp_attn_mixin.py", "managers/scheduler_components/dp_attn.py"),
            owner,
            "ranks",
            {"maybe_prepare_mlp_sync_batch": "", "prepare_mlp_sync_batch": ""},
        )
    ),
    *_rows(
        ("managers/scheduler_dp_attn_mixin.py", "managers/scheduler_components/dp_attn.py"),
        "",
        "ranks",
        {"prepare_mlp_sync_batch_raw": ""},
    ),
)


# -- digests -----------------------------------------------------------------------------------------

IGNORED = frozenset({"type_params", "type_comment", "kind", "ctx", "annotation", "returns"})


def _written(node: object) -> Iterator[str]:
    """A syntax tree as text that no version of Python and no reformatting changes."""
    if isinstance(node, list):
        yield "["
        for item in node:
            yield from _written(item)
        yield "]"
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name in node._fields:
            value = getattr(node, name, None)
            if name in IGNORED or value is None or value == []:
                continue
            if name == "body" and isinstance(value, list) and _is_docstring(value[0]):
                value = value[1:]
            yield f" {name}="
            yield from _written(value)
        yield ")"
    else:
        yield repr(node)


def _is_docstring(statement: object) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def digest(function: ast.AST) -> str:
    """Identifies what a function does, as far as its text says it."""
    return hashlib.sha256("".join(_written(function)).encode()).hexdigest()[:16]


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


def digests(folder: Path) -> dict[str, str]:
    """The digest of each function of the table that a release in a folder has."""
    found: dict[str, str] = {}
    read: dict[str, dict[str, ast.AST]] = {}
    for row in TABLE:
        for path in row.paths:
            if path not in read:
                source = folder / ROOT / path
                tree = (
                    ast.parse(source.read_text(encoding="utf-8")) if source.is_file() else ast.Module([], [])
                )
                read[path] = dict(_functions(tree))
            if row.name in read[path]:
                found.setdefault(row.name, digest(read[path][row.name]))
    return found


@cache
def recorded() -> Mapping[str, Mapping[str, str]]:
    """The digests by release, oldest first."""
    text = files("slotproof.counterexamples").joinpath("drift.json").read_text(encoding="utf-8")
    loaded = json.loads(text)
    releases: list[str] = loaded["releases"]
    functions: dict[str, list[str]] = loaded["functions"]
    return {
        release: {name: row[i] for name, row in functions.items() if row[i]}
        for i, release in enumerate(releases)
    }


def record(by_release: Mapping[str, Mapping[str, str]]) -> str:
    """The text of ``drift.json``: one line a function, its digests in the order of the releases."""
    names = [row.name for row in TABLE if any(row.name in found for found in by_release.values())]
    lines = [
        f"  {json.dumps(name)}: {json.dumps([by_release[r].get(name, '') for r in by_release])}"
        for name in dict.fromkeys(names)
    ]
    functions = ",\n".join(lines)
    return f'{{"releases": {json.dumps(list(by_release))},\n "functions": {{\n{functions}\n}}}}\n'


@dataclass(frozen=True)
class Drift:
    """A function that is not what it was; ``what`` is ``changed``, ``appeared`` or ``vanished``."""

    what: str
    row: Encoded


def compare(found: Mapping[str, str], before: Mapping[str, str]) -> list[Drift]:
    """What differs, in the order of the table."""
    drifts = []
    for row in {row.name: row for row in TABLE}.values():
        now, then = found.get(row.name), before.get(row.name)
        if now != then:
            what = "appeared" if then is None else "vanished" if now is None else "changed"
            drifts.append(Drift(what, row))
    return drifts
