"""Data-parallel ranks: two sets of the release's objects in one process, which step together.

Each rank has a scheduler, a manager with its slots, and a Triton backend of its own, whose batch metadata
(``prepare_lora_batch``, ``reset_batch_state``) is the release's. The one wrapped layer is a real
``RowParallelLinearWithLoRA`` that runs in every forward, an idle one too; in place of its two Triton kernels
stands a recorder, which notes the block of metadata that the kernel was given. So what is seen is exactly
what the fix is about: which block a wrapped layer reads on an idle forward.

Not driven: the exchange of adapter ids of 0.5.21 and later, a collective of several real ranks; layers other
than ``ROW``; captured graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slotproof.counterexamples.replay.driver import Died, Mismatch, Setting, Symptom
from slotproof.counterexamples.replay.sglang.neutral import torch
from slotproof.counterexamples.replay.sglang.setup import HIDDEN, LAYER, srt
from slotproof.counterexamples.replay.sglang.target import SingleServer
from slotproof.model.releases import RELEASES

BLOCKS: Mapping[str, str] = {
    "ROWS": "batch_info",
    "MERGED": "sgemm_batch_info",
    "LM_HEAD": "lm_head_batch_info",
    "LM_HEAD_PASSES": "lm_head_pass_batch_infos",
    "PASS_INDEX": "_lm_head_pass_idx",
}
"""The model's name of each per-batch attribute of ``TritonLoRABackend``."""


class Rank(SingleServer):
    """One rank: what a single server has, with the Triton backend and its metadata."""

    backend = "triton"

    def build(self, slots: int) -> None:
        """The rank's objects; the layer's kernels are recorders."""
        super().build(slots)
        self.read: list[tuple[str, Any]] = []
        self.current: set[int] = set()
        self.prepared: set[str] = set()

    def blocks(self) -> dict[str, Any]:
        """The per-batch attributes that are not none."""
        backend = self.manager.lora_backend
        found = {name: getattr(backend, attribute, None) for name, attribute in BLOCKS.items()}
        return {name: block for name, block in found.items() if block is not None}

    def run_forward(self, batch: Any) -> None:
        """``ForwardBatch.init_new``, then the wrapped layer on the batch's tokens."""
        before = {name: id(block) for name, block in self.blocks().items()}
        kept = list(self.blocks().values())  # alive while compared: an id may be used again
        self.forward.launch(batch)
        after = self.blocks()
        self.prepared = {name for name, block in after.items() if before.get(name) != id(block)}
        self.current = {id(after[name]) for name in self.prepared}
        self.read = []
        self.run_layer(len(batch.reqs))
        del kept

    def run_layer(self, tokens: int) -> None:
        """The real wrapped output projection, launched on this many tokens."""
        module = srt("lora.backend.triton_backend")
        kept = module.sgemm_lora_a_fwd, module.sgemm_lora_b_fwd

        def first(x: Any, weights: Any, info: Any, stack_num: int = 1) -> Any:
            self.read.append(("A", info))
            return torch().zeros(x.shape[0], weights.shape[1])

        def second(x: Any, weights: Any, info: Any, base_output: Any = None) -> Any:
            self.read.append(("B", info))
            return base_output

        module.sgemm_lora_a_fwd, module.sgemm_lora_b_fwd = first, second
        try:
            self.manager.lora_modules[0][LAYER].forward(torch().zeros(tokens, HIDDEN))
        finally:
            module.sgemm_lora_a_fwd, module.sgemm_lora_b_fwd = kept

    def stale(self) -> bool:
        """Whether the layer's kernels were given a block that was not prepared for this forward."""
        return any(id(info) not in self.current for _, info in self.read)

    def observe_routing(self, only_row: bool) -> dict[str, Any]:
        """``Routing`` of the model; which layers read what, where the trace has no layer but this one."""
        seen: dict[str, Any] = {"held": set(self.blocks()), "prepared": self.prepared}
        if only_row:
            seen["stale"] = {"ROW"} if self.stale() else set()
            seen["bypassed"] = {"ROW"} if self.launched and not self.read else set()
        return seen

    launched = False


class DataParallelRanks(Rank):
    """The first rank, which knows the others."""

    def begin(self, setting: Setting) -> None:
        """Build every rank; the tokenizer is one for all."""
        if RELEASES.index(self.release) >= RELEASES.index("0.5.21"):
            raise Mismatch(
                f"{self.name}: from 0.5.21 on the ranks exchange adapter ids in a collective, which is not"
                " driven on real code; use --on reference"
            )
        elsewhere = setting.property in ("no-crash-lm-head-row-count", "all-ranks-join")
        if elsewhere or setting.parameters.get("graphs"):
            raise Mismatch(
                f"{self.name}: the logits layer, collectives of several ranks and captured graphs are not"
                " driven on real code; use --on reference"
            )
        super().begin(setting)
        self.only_row = [str(t) for t in setting.parameters["targets"]] == ["ROW"]
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

    def _everything(self) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for number, rank in enumerate(self.ranks):
            name = f"ranks[rank{number}]"
            seen |= rank.observe_process(name)
            del seen[f"{name}.forward.misrouted"]  # the model counts the other layers in
            for variable, value in rank.observe_routing(self.only_row).items():
                seen[f"{name}.routing.{variable}"] = value
        return seen | self.observe_tokenizer()

    def symptom(self, property: str, died: Died | None) -> Symptom | None:
        """The old block that the wrapped layer met, where that is the violation."""
        if property == "fresh-batch-info" and died is None:
            for number, rank in enumerate(self.ranks):
                if rank.stale():
                    rows = "an idle forward" if not rank.forward.report.rows else "a forward"
                    return Symptom(
                        "token",
                        f"rank{number}: on {rows} the kernels of {LAYER} were given a batch_info that an"
                        " earlier forward had prepared",
                    )
            return None
        return super().symptom(property, died)


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
