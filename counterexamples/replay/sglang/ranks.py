"""Data-parallel ranks: two sets of the release's objects in one process, which step together.

Each rank has a scheduler, a manager with its slots, and a Triton backend of its own, whose batch metadata
(``prepare_lora_batch``, ``reset_batch_state``) is the release's. The wrapped layers are a real
``RowParallelLinearWithLoRA`` and a real ``ParallelLMHeadWithLoRA`` that run in every forward, an idle one
too; in place of their Triton kernels stand recorders, which note the block of metadata that the kernel was
given. So what is seen is exactly what the fix is about: which block a wrapped layer reads on an idle forward.

Not driven: the exchange of adapter ids of 0.5.21 and later, a collective of several real ranks; layers other
than ``ROW`` and ``LM_HEAD``; captured graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slotproof.counterexamples.replay.driver import Died, Setting, Symptom
from slotproof.counterexamples.replay.sglang.neutral import torch
from slotproof.counterexamples.replay.sglang.setup import HIDDEN, LAYER, LOGITS, srt
from slotproof.counterexamples.replay.sglang.target import SingleServer

BLOCKS: Mapping[str, str] = {
    "ROWS": "batch_info",
    "MERGED": "sgemm_batch_info",
    "LM_HEAD": "lm_head_batch_info",
    "LM_HEAD_PASSES": "lm_head_pass_batch_infos",
    "PASS_INDEX": "_lm_head_pass_idx",
}
"""The model's name of each per-batch attribute of ``TritonLoRABackend``."""

DRIVEN: Mapping[str, str] = {"ROW": LAYER, "LM_HEAD": LOGITS}
"""The layers that run, under the model's names."""


class Rank(SingleServer):
    """One rank: what a single server has, with the Triton backend and its metadata."""

    backend = "triton"
    targets = ("o_proj", "lm_head")

    def build(self, slots: int) -> None:
        """The rank's objects; the layer's kernels are recorders."""
        super().build(slots)
        self.layers = [str(t) for t in self.setting.parameters["targets"]]
        self.read: list[tuple[str, Any]] = []
        self.current: set[int] = set()
        self.prepared: set[str] = set()

    def blocks(self) -> dict[str, Any]:
        """The per-batch attributes that are not none."""
        backend = self.manager.lora_backend
        found = {name: getattr(backend, attribute, None) for name, attribute in BLOCKS.items()}
        return {name: block for name, block in found.items() if block is not None}

    def run_forward(self, batch: Any) -> None:
        """``ForwardBatch.init_new``, then the wrapped layers on the batch's tokens."""
        before = {name: id(block) for name, block in self.blocks().items()}
        kept = list(self.blocks().values())  # alive while compared: an id may be used again
        self.forward.launch(batch)
        after = self.blocks()
        self.prepared = {name for name, block in after.items() if before.get(name) != id(block)}
        self.current = {id(after[name]) for name in self.prepared}
        self.read = []
        self.run_layers(len(batch.reqs))
        del kept

    def run_layers(self, tokens: int) -> None:
        """The real wrapped layers, launched on this many tokens: the last of each row for the logits."""
        x = torch().zeros(tokens, HIDDEN)
        if "ROW" in self.layers:
            self.run_layer("ROW", self.manager.lora_modules[0][LAYER], x)
        if "LM_HEAD" in self.layers:
            self.run_layer("LM_HEAD", self.manager.lm_head_module, x)

    def run_layer(self, name: str, layer: Any, x: Any) -> None:
        """One layer, with recorders in place of its kernels."""
        module = srt("lora.backend.triton_backend")
        kept = module.sgemm_lora_a_fwd, module.sgemm_lora_b_fwd

        def first(x: Any, weights: Any, info: Any, stack_num: int = 1) -> Any:
            self.read.append((name, info))
            return torch().zeros(x.shape[0], weights.shape[1])

        def second(x: Any, weights: Any, info: Any, base_output: Any = None) -> Any:
            self.read.append((name, info))
            return base_output

        module.sgemm_lora_a_fwd, module.sgemm_lora_b_fwd = first, second
        try:
            layer.forward(x)
        finally:
            module.sgemm_lora_a_fwd, module.sgemm_lora_b_fwd = kept

    def stale(self) -> set[str]:
        """Layers whose kernels were given a block that was not prepared for this forward."""
        return {name for name, info in self.read if id(info) not in self.current}

    def observe_routing(self) -> dict[str, Any]:
        """``Routing`` of the model; which layers read what, where the trace has no layer but these."""
        seen: dict[str, Any] = {"held": set(self.blocks()), "prepared": self.prepared}
        if set(self.layers) <= set(DRIVEN):
            seen["stale"] = self.stale()
            seen["bypassed"] = set(self.layers) - {n for n, _ in self.read} if self.launched else set()
        return seen

    launched = False


class DataParallelRanks(Rank):
    """The first rank, which knows the others."""

    def begin(self, setting: Setting) -> None:
        """Build every rank; the tokenizer is one for all."""
        super().begin(setting)
        self.ranks: list[Rank] = [self]
        for _ in range(1, setting.parameters["ranks"]):
            other = Rank(self.folder, self.release)
            other.prepare(setting)
            other.server_args = self.server_args
            other.build(setting.parameters["slots"])
            other.tokenizer = self.tokenizer
            other.replies, other.echo_messages = self.replies, self.echo_messages
            self.ranks.append(other)

    def do_arrive(self, k: str, r: str, a: str) -> None:
        """The request goes to one rank."""
        self.ranks[int(k.removeprefix("rank"))].enqueue(r, self.tokenizer.arrive(r, a))

    def do_abort(self, r: str) -> None:
        """The abort goes to every rank."""
        for rank in self.ranks:
            SingleServer.do_abort(rank, r)

    def do_disconnect(self, r: str) -> None:
        """So does that of a handler that fails."""
        self.tokenizer.discard(r)
        self._close(r)
        self.do_abort(r)

    def unload_everywhere(self, a: str) -> Any:
        """Every rank unloads."""
        results = [rank.manager.unload_lora_adapter(rank.references[a]) for rank in self.ranks]
        return results[0]

    def do_step_together(self, ends: Any) -> None:
        """Each rank's ``get_next_batch_to_run``; if one has a batch, the others run an idle one."""
        batches = []
        for rank in self.ranks:
            rank.fresh()
            rank.gate.begin_pass()
            rank._set_room(6)
            batches.append(rank._next_batch())
        busy = any(batch is not None for batch in batches)
        for rank, batch in zip(self.ranks, batches, strict=True):
            rank.launched = busy
            if busy:
                made = batch if batch is not None else idle_batch(rank)
                rank.run_forward(made)
                if batch is not None:
                    rank._tokens_follow(batch)
        for rank, batch in zip(self.ranks, batches, strict=True):
            scheduler = rank.scheduler
            scheduler.cur_batch = scheduler.cur_batch_for_debug = batch
            if batch is not None:
                rank._result(batch, set(ends))
            scheduler.last_batch = batch
            rank._collect_echoes()

    def fresh(self) -> None:
        super().fresh()
        for rank in getattr(self, "ranks", [self]):
            if rank is not self:
                SingleServer.fresh(rank)
            rank.read, rank.current, rank.prepared, rank.launched = [], set(), set(), False

    def held_elsewhere(self) -> list[Any]:
        """What the other ranks have."""
        return [r for rank in self.ranks if rank is not self for r in rank.held()]

    def _everything(self) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for number, rank in enumerate(self.ranks):
            name = f"ranks[rank{number}]"
            seen |= rank.observe_process(name)
            del seen[f"{name}.forward.misrouted"]  # the model counts the other layers in
            for variable, value in rank.observe_routing().items():
                seen[f"{name}.routing.{variable}"] = value
        return seen | self.observe_tokenizer()

    def symptom(self, property: str, died: Died | None) -> Symptom | None:
        """The old block that a wrapped layer met or could meet, where that is the violation."""
        if died is not None or property not in ("fresh-batch-info", "metadata-cleared"):
            return super().symptom(property, died)
        for number, rank in enumerate(self.ranks):
            forward = "an idle forward" if not rank.forward.report.rows else "a forward"
            for name in sorted(rank.stale()) if property == "fresh-batch-info" else ():
                return Symptom(
                    "token",
                    f"rank{number}: on {forward} the kernels of {DRIVEN[name]} were given a batch_info that"
                    " an earlier forward had prepared",
                )
            left = [BLOCKS[name] for name in sorted(rank.blocks().keys() - rank.prepared)]
            if property == "metadata-cleared" and left:
                return Symptom(
                    "leftover",
                    f"rank{number}: after {forward} the backend holds an earlier one's {', '.join(left)}",
                )
        return None


def idle_batch(rank: Any) -> Any:
    """``get_idle_batch``: a batch without rows, prepared by the release."""
    scheduler = rank.scheduler
    made = srt("managers.schedule_batch").ScheduleBatch.init_new(
        [],
        scheduler.req_to_token_pool,
        scheduler.token_to_kv_pool_allocator,
        scheduler.tree_cache,
        scheduler.model_config,
        scheduler.enable_overlap,
        scheduler.spec_algorithm,
    )
    made.prepare_for_idle()
    return made
