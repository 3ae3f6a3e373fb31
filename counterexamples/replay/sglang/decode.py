"""The decode role: the release's reservation queue, transfer queue and decode scheduling.

``object.__new__(DecodePreallocQueue)`` and ``object.__new__(DecodeTransferQueue)`` with the fields that they
read. ``process_decode_queue`` with ``pop_preallocated`` and ``pop_transferred``, and
``get_next_disagg_decode_batch_to_run`` with the batch of imported prefills run as they are, on real pools,
metadata buffers and index allocator. What stands in is the network: ``Receiver`` is one KV receiver, whose
poll answers what the trace says, and the sockets on which outputs leave (``Streamer``).
"""

from __future__ import annotations

from typing import Any

from slotproof.counterexamples.replay.driver import Refused
from slotproof.counterexamples.replay.sglang.neutral import torch
from slotproof.counterexamples.replay.sglang.scheduler import POOL, STOP, TOKEN, Quiet, new_request
from slotproof.counterexamples.replay.sglang.setup import accepted, namespace, srt
from slotproof.counterexamples.replay.sglang.target import SingleServer

ROOM = 7


class Receiver:
    """A KV receiver: one request's connection to the prefill server."""

    def __init__(self, polls: Any) -> None:
        self.polls = polls
        self.state = polls.Bootstrapping
        self.abort_notified = False
        self.kv_mgr = namespace(enable_deferred_decode_kv_release=False)  # off unless it is asked for
        self.require_staging = False

    @property
    def conclude_state(self) -> Any:
        """``KVPoll.Failed`` once aborted or failed."""
        return self.state if self.state == self.polls.Failed else None

    @property
    def failed(self) -> bool:
        """Whether the next poll reports a failure."""
        return bool(self.state == self.polls.Failed)

    def poll(self) -> Any:
        """What the trace says."""
        return self.state

    def abort(self) -> None:
        """Break the transfer off."""
        self.state = self.polls.Failed

    def failure_exception(self) -> None:
        """Why it failed."""
        raise RuntimeError("the prefill server has given up")

    def send_metadata(self, *args: Any, **options: Any) -> None:
        """Tell the prefill server where to write."""

    def clear(self) -> None:
        """Forget the connection."""

    def init(self, *args: Any, **options: Any) -> None:
        """Begin the handshake."""


class Streamer:
    """``stream_output``: which requests have got their last word, and which of them an abort 500."""

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.failed: set[str] = set()

    def stream_output(self, requests: Any, *rest: Any, **options: Any) -> None:
        """Note the finished ones."""
        for request in requests:
            if request.finished():
                self.ended.add(request.rid)
                reason = request.finished_reason.to_json()
                if reason.get("type") == "abort" and reason.get("status_code") == 500:
                    self.failed.add(request.rid)

    def take(self) -> tuple[set[str], set[str]]:
        """What has ended since the last call, and what of it has failed."""
        taken = self.ended, self.failed
        self.ended, self.failed = set(), set()
        return taken


class DecodeServer(SingleServer):
    """One decode scheduler with its tokenizer."""

    def more_settings(self) -> dict[str, Any]:
        """The decode role."""
        return {"disaggregation_mode": "decode", "disaggregation_transfer_backend": "fake"}

    def build(self, slots: int) -> None:
        """The queues in front of the active set, besides what the single role has."""
        super().build(slots)
        self.polls = srt("disaggregation.base.conn").KVPoll
        module, utils = srt("disaggregation.decode"), srt("disaggregation.utils")
        scheduler = self.scheduler
        group = srt("distributed.parallel_state").get_tp_group().cpu_group
        self.streamer = Streamer()
        self.buffers = _metadata_buffers(utils)
        indices = utils.ReqToMetadataIdxAllocator(16)
        parts = {
            "req_to_token_pool": scheduler.req_to_token_pool,
            "token_to_kv_pool_allocator": scheduler.token_to_kv_pool_allocator,
            "token_to_kv_pool": scheduler.token_to_kv_pool_allocator.get_kvcache(),
            "draft_token_to_kv_pool": None,
            "is_mla_backend": False,
            "metadata_buffers": self.buffers,
            "req_to_metadata_buffer_idx_allocator": indices,
            "scheduler": scheduler,
            "tree_cache": scheduler.tree_cache,
            "gloo_group": group,
            "tp_rank": 0,
            "tp_size": 1,
            "dp_size": 1,
            "pp_size": 1,
            "pp_rank": 0,
            "gpu_id": 0,
            "queue": [],
            "enable_staging": False,
            "staging_handler": None,
            "spec_algorithm": scheduler.spec_algorithm,
        }
        self.transfers = _make(
            module.DecodeTransferQueue,
            parts,
            queue=[],
            enable_deferred_kv_release=False,
            deferred_kv_release_timeout=0.0,
            _deferred_releases=[],
        )
        self.reservations = _make(
            module.DecodePreallocQueue,
            parts,
            transfer_queue=self.transfers,
            retracted_queue=[],
            pending_reqs=[],
            held_rebootstrap_reqs=[],
            _prefill_dp_rank_queries={},
            _ensure_retry_count={},
            _num_published_destinations=0,
            max_total_num_tokens=POOL,
            num_reserved_decode_tokens=4,
            transfer_backend=getattr(utils.TransferBackend, "FAKE", None),
            kv_manager=namespace(kv_args=namespace(state_type="none", state_types=[]), prefill_info_table={}),
        )
        more = {
            "disaggregation_mode": utils.DisaggregationMode.DECODE,
            "disagg_decode_prealloc_queue": self.reservations,
            "disagg_decode_transfer_queue": self.transfers,
            "output_streamer": self.streamer,
            "stream_output": self.streamer.stream_output,
            "polling_count": 0,
            "polling_interval": 1,
            "future_map": Quiet(),
            "schedule_stream": Quiet(),
            "forward_stream": Quiet(),
            "max_running_requests": self.rows(),
            "batch_result_processor": self._processor(),
        }
        for name, value in more.items():
            if not isinstance(getattr(type(scheduler), name, None), property):
                scheduler.__dict__[name] = value

    def rows(self) -> int:
        """``max_running_requests``, which the initial action of the trace chooses."""
        assert self.setting.start is not None
        return int(self.setting.start[1]["limit"])

    def _processor(self) -> Any:
        module = srt("managers.scheduler_components.batch_result_processor")
        if module is None:
            return None
        scheduler = self.scheduler
        return _make(
            module.SchedulerBatchResultProcessor,
            {},
            is_generation=True,
            disaggregation_mode=srt("disaggregation.utils").DisaggregationMode.DECODE,
            enable_overlap=False,
            token_to_kv_pool_allocator=scheduler.token_to_kv_pool_allocator,
            tree_cache=scheduler.tree_cache,
            req_to_token_pool=scheduler.req_to_token_pool,
            hisparse_coordinator=None,
            output_streamer=self.streamer,
            model_config=scheduler.model_config,
            server_args=self.server_args,
        )

    def enqueue(self, r: str, uid: str | None) -> None:
        """``DecodePreallocQueue.add`` without the network: the handshake has not ended."""
        self.count += 1
        mode = srt("disaggregation.utils").DisaggregationMode.DECODE
        peer = {"bootstrap_host": "prefill", "bootstrap_port": 1, "bootstrap_room": ROOM, "disagg_mode": mode}
        request = new_request(r, uid, self.count, **peer)
        self.requests[r] = request
        made = srt("disaggregation.decode").DecodeRequest
        self.reservations.queue.append(made(req=request, kv_receiver=Receiver(self.polls)))

    def receivers(self) -> dict[str, Any]:
        """The entries of both queues by request."""
        return {d.req.rid: d for d in [*self.reservations.queue, *self.transfers.queue]}

    def held_elsewhere(self) -> list[Any]:
        """Requests in the queues before the active set."""
        return [d.req for d in self.receivers().values()]

    def do_transfer_fails(self, k: str, r: str) -> None:
        """The poll of this receiver reports a failure from now on."""
        self.receivers()[r].kv_receiver.abort()

    def do_decode_step(self, k: str, moved: Any, ends: Any, quick: Any) -> None:
        """``event_loop_normal_disagg_decode``: ``process_decode_queue``, the batch, its result."""
        scheduler = self.scheduler
        running = {r.rid for r in scheduler.running_batch.reqs}
        if running & set(moved) or self.reservations.retracted_queue:
            raise Refused(f"{self.name}: rows that are put out for want of KV are not driven on real code")
        self.gate.begin_pass()
        self._poll(set(moved), set(quick))
        scheduler.process_decode_queue()
        batch = self._next()
        if batch:
            self.forward.launch(batch)
            self._tokens_follow(batch)
            self._result(batch, set(ends))
        scheduler.last_batch = batch
        ended, failed = self.streamer.take()
        opened = set(self.tokenizer.open_states)
        self.replies["outputs"] |= ended & opened
        self.replies["errors"] |= failed & opened

    def _poll(self, moved: set[str], quick: set[str]) -> None:
        for entry in self.reservations.queue:
            if not entry.kv_receiver.failed:
                entry.waiting_for_input = False
                ready = entry.req.rid in moved
                entry.kv_receiver.state = self.polls.WaitingForInput if ready else self.polls.Bootstrapping
        for entry in self.transfers.queue:
            if not entry.kv_receiver.failed:
                arrived = entry.req.rid in moved
                entry.kv_receiver.state = self.polls.Success if arrived else self.polls.Transferring
                if arrived:
                    index = entry.metadata_buffer_index
                    self.buffers.output_ids[index][0] = STOP if entry.req.rid in quick else TOKEN
                    self.buffers.bootstrap_room[index] = ROOM

    def _next(self) -> Any:
        scheduler = self.scheduler
        function = scheduler.get_next_disagg_decode_batch_to_run
        plan = function(**accepted(function, {"running_batch": scheduler.running_batch}))
        if hasattr(plan, "running_batch") and hasattr(plan, "batch_to_run"):
            scheduler.running_batch = plan.running_batch
            return plan.batch_to_run
        return plan

    def observe_scheduler(self) -> dict[str, Any]:
        """``Scheduler`` of the model: what is waiting for a row, and the rows."""
        scheduler = self.scheduler
        rows = {r.rid: r for r in scheduler.running_batch.reqs}
        return {
            "waiting": [r.rid for r in scheduler.waiting_queue],
            "running": set(rows),
            "finished": {rid for rid, r in rows.items() if r.finished()},
            "to_finish": {rid for rid, r in rows.items() if r.to_finish},
        }

    def _everything(self) -> dict[str, Any]:
        seen = super()._everything()
        entries = self.receivers()
        rank = "ranks[rank0].decode"
        seen[f"{rank}.reserving"] = [d.req.rid for d in self.reservations.queue]
        seen[f"{rank}.transferring"] = [d.req.rid for d in self.transfers.queue]
        seen[f"{rank}.broken"] = {rid for rid, d in entries.items() if d.kv_receiver.failed}
        seen[f"{rank}.retracted"] = [r.rid for r in self.reservations.retracted_queue]
        waiting = self.scheduler.waiting_queue
        seen[f"{rank}.complete"] = {r.rid for r in waiting if r.output_ids and r.output_ids[-1] == STOP}
        seen[f"{rank}.rows"] = self.scheduler.max_running_requests
        return seen


def _make(kind: Any, parts: dict[str, Any], **fields: Any) -> Any:
    made = object.__new__(kind)
    slotted = not hasattr(made, "__dict__")
    for name, value in {**parts, **fields}.items():
        if slotted and not hasattr(kind, name):
            continue
        if slotted or not isinstance(getattr(kind, name, None), property):
            object.__setattr__(made, name, value)
    return made


def _metadata_buffers(utils: Any) -> Any:
    made = utils.MetadataBuffers
    options = {
        "size": 16,
        "hidden_size": 8,
        "hidden_states_dtype": torch().float32,
        "max_top_logprobs_num": 2,
        "max_sampling_mask_tokens": 0,
    }
    return made(**accepted(made.__init__, options))
