"""A forward: what is handed over, made resident, and looked up for each row (``ForwardBatch.init_new``).

``ForwardBatch.init_new`` is the release's own, with its calls of ``fetch_new_loras``, ``prepare_lora_batch``
and (for an idle forward) ``reset_lora_batch``. The model itself is not run: no token depends on it, the
trace chooses them. What the backend is told of each row is watched (``weight_indices``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from slotproof.counterexamples.replay.sglang.ids import adapter_name
from slotproof.counterexamples.replay.sglang.scheduler import Quiet
from slotproof.counterexamples.replay.sglang.setup import accepted, namespace, srt


@dataclass
class Report:
    """What one forward did, under the words of ``ForwardReport``."""

    rows: set[str] = field(default_factory=set)
    handed: set[str] = field(default_factory=set)
    evicted: set[str] = field(default_factory=set)
    launched: set[str] = field(default_factory=set)
    misrouted: set[str] = field(default_factory=set)


class Forward:
    """Builds forward batches with one LoRA manager."""

    def __init__(self, server_args: Any, manager: Any, model_config: Any) -> None:
        self.manager = manager
        self.report = Report()
        self.indices: list[int] = []
        self.runner = namespace(
            server_args=server_args,
            lora_manager=manager,
            device="cpu",
            model_config=model_config,
            model_is_mrope=False,
            is_draft_worker=False,
            spec_algorithm=srt("speculative.spec_info").SpeculativeAlgorithm.NONE
            if hasattr(srt("speculative.spec_info").SpeculativeAlgorithm, "NONE")
            else None,
            use_ngram_embedding=False,
            ngram_embedding_manager=Quiet(),
            kv_index_translator=Quiet(),
            attn_tp_sequence_sharded=False,
            prefill_attention_backend_str="torch_native",
            watermark_state=None,
            ps=namespace(attn_dcp_size=1, pp_size=1, tp_size=1),
            hisparse_coordinator=None,
            req_to_token_pool=None,
            token_to_kv_pool=None,
            attn_backend=None,
            tp_size=1,
            dp_size=1,
            attn_dcp_size=1,
            is_hybrid_swa=False,
            enable_num_token_non_padded_for_draft=False,
        )
        self._watch()

    def _watch(self) -> None:
        backend = self.manager.lora_backend
        prepare = backend.prepare_lora_batch

        def prepare_lora_batch(*rest: Any, **options: Any) -> Any:
            self.indices = list(options.get("weight_indices", rest[1] if len(rest) > 1 else ()))
            return prepare(*rest, **options)

        backend.prepare_lora_batch = prepare_lora_batch

    def launch(self, batch: Any) -> Any:
        """Build the forward batch of a scheduler's batch, and note what it does."""
        manager, report = self.manager, self.report
        self.indices = []
        report.rows = {r.rid for r in batch.reqs}
        report.handed = {adapter_name(r.lora_id) for r in batch.reqs}
        before = {adapter_name(u) for u in manager.memory_pool.uid_to_buffer_id}
        made = self.init_new(batch)
        report.evicted = before - {adapter_name(u) for u in manager.memory_pool.uid_to_buffer_id}
        slots = manager.memory_pool.buffer_id_to_uid
        report.misrouted = {
            r.rid for r, index in zip(batch.reqs, self.indices, strict=True) if slots[index] != r.lora_id
        }
        report.launched = set(report.rows)
        return made

    def init_new(self, batch: Any) -> Any:
        """``ForwardBatch.init_new`` of the release on this batch."""
        made = srt("model_executor.forward_batch_info").ForwardBatch.init_new
        worker = batch.get_model_worker_batch() if hasattr(batch, "get_model_worker_batch") else batch
        options = {
            "return_hidden_states_before_norm": False,
            "kv_loc_plan": namespace(bind=lambda *args, **options: None),  # where KV is read: no kernel runs
        }
        return made(worker, self.runner, **accepted(made, options))
