"""One scheduler process: the release's ``Scheduler`` without its start, its pools, queue and batches.

``object.__new__(Scheduler)`` with the fields that the driven methods read; what they do is the release's
own: ``get_next_batch_to_run`` with ``_get_new_batch_prefill_raw``, the gate, policy, prefill adder, KV
cache, token pools, ``ScheduleBatch`` and ``Req``, ``abort_request``, ``update_running_batch``. A field that
a release adds names itself in an ``AttributeError``, which is an error of the harness.

What is stood in for here, and why it decides nothing: the sockets (``Outbox`` keeps what is sent), metrics,
grammars (none is ever asked for) and the tokens of a forward, which the trace chooses.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slotproof.counterexamples.replay.sglang.neutral import torch
from slotproof.counterexamples.replay.sglang.setup import accepted, namespace, srt

PROMPT = 8  # tokens of a prompt; half of it is a piece of a partial prompt
STOP = 7
TOKEN = 9
POOL = 1 << 16


class Quiet:
    """Metrics, tracing and other reports that nobody reads: every method does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Quiet()

    def __call__(self, *args: Any, **options: Any) -> Any:
        return None

    def __bool__(self) -> bool:
        return False

    def __iadd__(self, other: Any) -> Quiet:
        return self


@dataclass
class Outbox:
    """The sockets towards the tokenizer: what the scheduler sends."""

    sent: list[Any] = field(default_factory=list)

    def send_output(self, message: Any, request: Any = None) -> None:
        """Keep the message."""
        self.sent.append(message)

    send_pyobj = send_output

    def take(self) -> list[Any]:
        """The messages since the last call."""
        taken, self.sent = self.sent, []
        return taken


def pools(server_args: Any) -> dict[str, Any]:
    """Request rows, a KV pool of one tiny layer with its allocator, and the cache without prefixes."""
    memory = srt("mem_cache.memory_pool")
    rows = memory.ReqToTokenPool(
        **accepted(
            memory.ReqToTokenPool.__init__,
            {"size": 32, "max_context_len": 4096, "device": "cpu", "enable_memory_saver": False},
        )
    )
    kv = memory.MHATokenToKVPool(
        **accepted(
            memory.MHATokenToKVPool.__init__,
            {
                "size": POOL,
                "page_size": 1,
                "dtype": torch().float32,
                "head_num": 1,
                "head_dim": 1,
                "layer_num": 1,
                "device": "cpu",
                "enable_memory_saver": False,
                "enable_alt_stream": False,
            },
        )
    )
    made = srt("mem_cache.allocator").TokenToKVPoolAllocator
    allocator = made(
        **accepted(
            made.__init__,
            {
                "size": POOL,
                "dtype": torch().float32,
                "device": "cpu",
                "kvcache": kv,
                "need_sort": False,
                "page_size": 1,
            },
        )
    )
    chunks = srt("mem_cache.chunk_cache")  # what a server without a radix cache has, up to 0.5.21
    cache = srt("mem_cache.radix_cache").RadixCache if chunks is None else chunks.ChunkCache
    params = srt("mem_cache.cache_init_params").CacheInitParams
    values = {
        "req_to_token_pool": rows,
        "token_to_kv_pool_allocator": allocator,
        "page_size": 1,
        "disable": True,
        "enable_metrics": False,
    }
    return {
        "req_to_token_pool": rows,
        "token_to_kv_pool_allocator": allocator,
        "tree_cache": cache(params(**accepted(params.__init__, values))),
    }


def build_scheduler(server_args: Any, manager: Any, config: Any, overlap: bool, outbox: Outbox) -> Any:
    """A scheduler of the release, ready for its first step."""
    module = srt("managers.scheduler")
    batches = srt("managers.schedule_batch")
    speculative = srt("speculative.spec_info").SpeculativeAlgorithm
    parts = pools(server_args)
    runner = namespace(
        lora_manager=manager, attn_backend=namespace(), prefill_aware_swa=False, server_args=server_args
    )
    quiet = Quiet()
    fields: dict[str, Any] = {
        **parts,
        "server_args": server_args,
        "waiting_queue": [],
        "running_batch": batches.ScheduleBatch(reqs=[], batch_is_full=False),
        "last_batch": None,
        "cur_batch": None,
        "cur_batch_for_debug": None,
        "chunked_req": None,
        "_chunked_req_scheduled_last_iter": False,
        "_pending_chunked_abort_req": None,
        "enable_lora": True,
        "enable_lora_overlap_loading": bool(manager.enable_lora_overlap_loading),
        "max_loras_per_batch": manager.max_loras_per_batch,
        "lora_drainer": None,
        "tp_worker": namespace(model_runner=runner, is_hybrid_swa=False),
        "model_worker": namespace(model_runner=runner),
        "draft_worker": None,
        "enable_overlap": overlap,
        "enable_overlap_mlx": False,
        "enable_skip_finishing_decode": overlap,
        "result_queue": deque(),
        "spec_algorithm": speculative.NONE if hasattr(speculative, "NONE") else None,
        "model_config": namespace(
            is_encoder_decoder=False, is_matryoshka=False, vocab_size=64, is_multimodal=False,
            hf_config=config, context_len=4096, is_hybrid_swa=False, model_is_mrope=False,
            requires_mm_token_modalities=False, self_opened_think_start_ids=None,
        ),
        "grammar_manager": namespace(
            has_waiting_grammars=lambda: False, abort_requests=lambda request: None, grammar_queue=[]
        ),
        "policy": srt("managers.schedule_policy").SchedulePolicy(
            **accepted(
                srt("managers.schedule_policy").SchedulePolicy.__init__,
                {
                    "policy": "fcfs",
                    "tree_cache": parts["tree_cache"],
                    "enable_hierarchical_cache": False,
                    "enable_priority_scheduling": False,
                    "schedule_low_priority_values_first": False,
                },
            )
        ),
        "schedule_policy": "fcfs",
        "page_size": 1,
        "device": "cpu",
        "max_prefill_tokens": POOL,
        "chunked_prefill_size": POOL,
        "max_prefill_bs": 0,
        "max_running_requests": 32,
        "max_total_num_tokens": POOL,
        "processed_tokens_counter": 0,
        "is_mixed_chunk": False,
        "is_hybrid_swa": False,
        "is_hybrid_ssm": False,
        "truncation_align_size": None,
        "new_token_ratio": 0.5,
        "min_new_token_ratio": 0.1,
        "new_token_ratio_decay": 0.01,
        "new_token_ratio_tracker": namespace(current=0.5, decay_step=lambda: None),
        "enable_priority_scheduling": False,
        "enable_priority_preemption": False,
        "priority_scheduling_preemption_threshold": 0,
        "prefill_delayer": None,
        "min_free_slots_delayer": None,
        "prefill_decode_interval": 0,
        "prefill_decode_interval_min_bs": 0,
        "_prefill_decode_interval_remaining": 0,
        "dllm_config": None,
        "dllm_manager": None,
        "enable_hierarchical_cache": False,
        "enable_hicache_storage": False,
        "enable_lmcache": False,
        "enable_decode_hicache": False,
        "enable_unified_cache_external_linker": False,
        "enable_hisparse": False,
        "hisparse_coordinator": None,
        "enable_dynamic_chunking": False,
        "dynamic_chunk_sizer": None,
        "enable_fpm": False,
        "require_mlp_sync": False,
        "enable_metrics": False,
        "disaggregation_mode": srt("disaggregation.utils").DisaggregationMode.NULL,
        "decode_offload_manager": None,
        "ps": namespace(pp_size=1, tp_size=1, dp_size=1, attn_tp_size=1, attn_tp_rank=0),
        "pp_size": 1,
        "tp_size": 1,
        "tp_rank": 0,
        "forward_ct": 0,
        "mm_receiver": None,
        "rust_server": None,
        "ipc_channels": namespace(send_to_tokenizer=outbox, send_to_detokenizer=outbox),
        "send_to_tokenizer": outbox,
        "metrics_reporter": quiet,
        "metrics_collector": quiet,
        "load_inquirer": namespace(_get_num_pending_tokens=lambda **options: 0),
        "dp_attn_adapter": namespace(
            maybe_prepare_mlp_sync_batch=lambda batch, **options: batch,
            maybe_convert_decode_to_extend=lambda batch: batch,
        ),
        "ngram_embedding_manager": namespace(prepare_for_forward=lambda batch, **options: batch),
        "beam_coordinator": namespace(
            pending_member_rows=lambda batch: 0, retire_group=lambda request: None
        ),
        "use_ngram_embedding": False,
        "scheduler_stage_metrics": None,
        "enable_continuous_input_polling": False,
    }  # fmt: skip
    made = object.__new__(module.Scheduler)
    for name, value in fields.items():
        if not isinstance(getattr(module.Scheduler, name, None), property):
            made.__dict__[name] = value
    return made


def new_request(rid: str, lora_id: str | None, number: int, prompt: int = PROMPT, **more: Any) -> Any:
    """A ``Req``; its prompt is its own, so that no two have a prefix in common."""
    params = srt("sampling.sampling_params").SamplingParams(max_new_tokens=64, stop_token_ids=[STOP])
    if hasattr(params, "normalize"):
        params.normalize(None)
    made = srt("managers.schedule_batch").Req
    tokens: Any = [10 + (number + i) % 50 for i in range(prompt)]
    hint = made.__init__.__annotations__.get("origin_input_ids", "")
    if "array" in str(hint):
        tokens = array("q", tokens)
    options: Mapping[str, Any] = {
        "rid": rid,
        "origin_input_text": "",
        "origin_input_ids": tokens,
        "sampling_params": params,
        "lora_id": lora_id,
        "vocab_size": 64,
        **more,
    }
    request = made(**accepted(made.__init__, options))
    request.tokenizer = None
    return request
