"""A release's own code as the target of a replay: the single role, one scheduler process.

The steps of the model's scenarios of one rank and one role, each done by the functions of the release that
its docstring names. ``decode.py`` and ``ranks.py`` have the other roles.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from slotproof.counterexamples.replay.driver import Died, Mismatch, Plain, Refused, Setting, Symptom
from slotproof.counterexamples.replay.sglang import results
from slotproof.counterexamples.replay.sglang.baton import Baton
from slotproof.counterexamples.replay.sglang.causes import died
from slotproof.counterexamples.replay.sglang.device import Device
from slotproof.counterexamples.replay.sglang.drainer import Clock, build_drainer, observe_drainer
from slotproof.counterexamples.replay.sglang.forward import Forward, Report
from slotproof.counterexamples.replay.sglang.gate import GateWatch
from slotproof.counterexamples.replay.sglang.ids import BASE, adapter_name, choose_ids
from slotproof.counterexamples.replay.sglang.limits import ACTIONS, out_of_reach
from slotproof.counterexamples.replay.sglang.loader import (
    build_loader,
    observe_loader,
    observe_manager,
    observe_pool,
)
from slotproof.counterexamples.replay.sglang.neutral import torch
from slotproof.counterexamples.replay.sglang.scheduler import PROMPT, Outbox, build_scheduler, new_request
from slotproof.counterexamples.replay.sglang.setup import (
    build_manager,
    configure,
    join_world_of_one,
    reference,
    srt,
    tiny_model,
    write_adapter,
)
from slotproof.counterexamples.replay.sglang.symptom import symptom
from slotproof.counterexamples.replay.sglang.tokenizer import Tokenizer
from slotproof.counterexamples.replay.waits import Waits
from slotproof.model.releases import base_of
from slotproof.model.serving.vocabulary import Role
from slotproof.properties import SCENARIOS

NAMES = ("base", "A", "B", "C", "D", "E", "F", "G")


class SingleServer(Clock):
    """One scheduler process of the single role with its tokenizer."""

    backend = "torch_native"
    targets: tuple[str, ...] = ("o_proj",)

    def __init__(self, folder: Path, release: str) -> None:
        self.folder = folder
        self.release = release
        self.name = f"sglang {release}"

    # -- set-up --------------------------------------------------------------------------------------

    def begin(self, setting: Setting) -> None:
        """Configure the release as the scenario says, load every adapter, and build the parts."""
        if setting.release is not None and base_of(setting.release) != self.release:
            raise Mismatch(
                f"the trace is of release {setting.release}, the folder holds {self.release};"
                f" give a folder with {base_of(setting.release)}"
            )
        reason = out_of_reach(setting)
        if reason is not None:
            raise Mismatch(f"{self.name}: not driven on real code: {reason}; use --on reference")
        self.prepare(setting)
        self.server_args = configure(
            enable_lora=True,
            max_loras_per_batch=setting.parameters["slots"],
            lora_backend=self.backend,
            enable_lora_overlap_loading=self.background,
            disable_overlap_schedule=not self.overlap,
            **self.more_settings(),
        )
        join_world_of_one(self.place)
        self.build(setting.parameters["slots"])

    def prepare(self, setting: Setting) -> None:
        """What the scenario says, and that nothing has happened yet."""
        p = setting.parameters
        self.setting = setting
        self.place = Path(tempfile.mkdtemp(prefix="slotproof-"))
        self.background = str(p["loading"]).endswith("BACKGROUND")
        self.overlap = str(p["loop"]).endswith("OVERLAP")
        self.adapters = NAMES[: p["adapters"]]
        self.pinned = {str(a) for a in p["pinned"]}
        self.unloadable = {str(a) for a in p["unloadable"]}
        self.tracked = {
            a for a in self.adapters if a != BASE and (a not in self.pinned or a in self.unloadable)
        }
        self.requests: dict[str, Any] = {}
        self.foreseen: list[tuple[Any, int]] = []
        self.count = 0
        self.names = [f"r{n}" for n in range(1, p["requests"] + 1)]
        self.looked_up: dict[str, str] = {}
        self.off = dict.fromkeys(self.unloadable, 0)
        self.most_off = 2 if str(p.get("role")) == "DECODE" or p.get("parallel") else 1
        self.replies: dict[str, set[str]] = {"outputs": set(), "errors": set(), "echoes": set()}
        self.echo_messages: dict[str, Any] = {}
        self.outbox = Outbox()

    def more_settings(self) -> dict[str, Any]:
        """Settings that a role adds."""
        return {}

    def build(self, slots: int) -> None:
        """The manager with its adapters, the scheduler, the loader and the tokenizer."""
        model, config = tiny_model()
        self.manager = build_manager(self.server_args, slots, self.backend, model, config, self.targets)
        references = []
        ids = choose_ids(self.adapters)
        for number, name in enumerate(a for a in self.adapters if a != BASE):
            files = write_adapter(self.place, name, number, self.targets)
            made = reference(ids[name], name, files, name in self.pinned)
            result = self.manager.load_lora_adapter(made)
            if not result.success:
                raise Mismatch(f"{self.name} does not load adapter {name}: {result.error_message}")
            references.append(made)
        self.references = {r.lora_name: r for r in references}
        self.scheduler = build_scheduler(self.server_args, self.manager, config, self.overlap, self.outbox)
        self.device = Device(on_second_look=self._between)
        self.forward = Forward(self.server_args, self.manager, self.scheduler.model_config)
        if self.background:
            with self.device.installed():
                self.scheduler.lora_overlap_loader = build_loader(self.manager, self.device)
        self.waits = Waits(self.adapters)
        if self.setting.parameters.get("drainer"):
            self.scheduler.lora_drainer = build_drainer(slots, self.waits)
        self.tokenizer = Tokenizer(self.server_args, references)
        self.iteration: Baton | None = None
        self.gate = GateWatch(self.scheduler, self.manager, self.device, self._between)
        self.fresh()

    def _between(self) -> None:
        """The iteration stands between two questions while a copy may end."""
        self.gate.note_overwritten()
        if self.iteration is not None:
            self.iteration.pause()

    def fresh(self) -> None:
        """A step begins: nothing is reported yet."""
        self.gate.fresh()
        self.results: set[str] = set()
        self.forward.report = Report()

    # -- steps ---------------------------------------------------------------------------------------

    def step(self, action: str, arguments: Mapping[str, Plain]) -> None:
        """Take a step of the model by the functions of the release."""
        function: Callable[..., None] | None = getattr(self, f"do_{action}", None)
        if function is None:
            why = ACTIONS.get(action, "the model's step has no function here")
            raise Refused(f"{self.name}: step '{action}' is not driven on real code: {why}")
        self.fresh()
        with self.device.installed():
            try:
                function(**arguments)
            except (Refused, Mismatch, Died):
                raise
            except BaseException as error:
                failed = died(error, self.folder)
                if failed is None:
                    raise
                raise failed from error
        self.follow_counts()

    def do_arrive(self, k: str, r: str, a: str) -> None:
        """``LoRARegistry.acquire``, a request state, and the scheduler's queue."""
        self.enqueue(r, self.tokenizer.arrive(r, a))

    def enqueue(self, r: str, uid: str | None) -> None:
        """``_add_request_to_queue``: the request joins the waiting queue."""
        self.count += 1
        self.requests[r] = new_request(r, uid, self.count)
        self.waits.forget(r)
        self.scheduler.waiting_queue.append(self.requests[r])

    def do_look_up(self, r: str, a: str) -> None:
        """``LoRARegistry.acquire`` of a list, up to the tasks that take the references."""
        self.tokenizer.look_up(r, a)
        self.looked_up[r] = a

    def do_take_references(self, k: str, r: str) -> None:
        """Those tasks run, and the request joins the queue."""
        del self.looked_up[r]
        self.enqueue(r, self.tokenizer.take_references(r))

    def do_abort(self, r: str) -> None:
        """``Scheduler.abort_request``."""
        request = srt("managers.io_struct").AbortReq(rid=r)
        self.scheduler.abort_request(request)
        self._collect_echoes()

    def _collect_echoes(self) -> None:
        for message in self.outbox.take():
            if type(message).__name__ == "AbortReq" and message.rid in self.tokenizer.open_states:
                self.replies["echoes"].add(message.rid)
                self.echo_messages[message.rid] = message

    def do_disconnect(self, r: str) -> None:
        """``abort_request`` of a handler that fails, and ``_discard_pending_req_states``."""
        self.tokenizer.discard(r)
        self._close(r)
        self.scheduler.abort_request(srt("managers.io_struct").AbortReq(rid=r))
        self._collect_echoes()

    def do_fail_before_sending(self, a: str) -> None:
        """A request that acquired its adapter fails before it is sent: its state is discarded."""
        self.tokenizer.arrive("unsent", a)
        self.tokenizer.discard("unsent")

    def do_answer(self, r: str) -> None:
        """``TokenizerManager._handle_batch_output``."""
        self.tokenizer.output(r, {"type": "stop", "matched": 7})
        self._close(r)

    def do_echo(self, r: str) -> None:
        """``TokenizerManager._handle_abort_req``."""
        self.tokenizer.abort_echo(self.echo_messages.pop(r))
        self._close(r)

    def do_answer_error(self, r: str, listens: bool) -> None:
        """``_handle_batch_output`` with abort status 500, then the handler if it still listens."""
        state = self.tokenizer.open_states[r]
        reason = {"type": "abort", "message": "failed", "status_code": 500, "err_type": "InternalServerError"}
        self.tokenizer.output(r, reason, state if listens else None)
        self._close(r)

    def _close(self, r: str) -> None:
        for kind in self.replies.values():
            kind.discard(r)

    def do_unregister(self, a: str) -> None:
        """``TokenizerManager.unload_lora_adapter`` up to its wait for the use count."""
        self.tokenizer.unload(a)

    do_unload_again = do_unregister

    def do_give_up_unload(self, a: str) -> None:
        """The task of ``unload_lora_adapter`` is cancelled."""
        self.tokenizer.give_up(a)

    def do_unload(self, a: str) -> None:
        """The unload reaches the schedulers: ``LoRAManager.unload_lora_adapter``."""
        if not self.tokenizer.is_sent(a):
            raise Refused(f"{self.name}: the unload of {a} still waits for its use count")
        self.tokenizer.answer_unload(a, self.unload_everywhere(a))

    def unload_everywhere(self, a: str) -> Any:
        """``LoRAManager.unload_lora_adapter`` of every scheduler."""
        return self.manager.unload_lora_adapter(self.references[a])

    def do_copy_ends(self, k: str, a: str) -> None:
        """The first copy on the load stream ends."""
        ended = adapter_name(self.device.end_copy())
        if ended != a:
            raise Refused(
                f"{self.name}: the copy of {ended} is the first on the load stream, not that of {a}"
            )

    def do_schedule(self, k: str, ends: Any, by_length: Any, room: int) -> None:
        """One iteration: ``get_next_batch_to_run``, the forward, and the result that is due."""
        self.gate.begin_pass()
        self._set_room(room)
        self._foresee(set(by_length))
        self.iteration = Baton(self._next_batch)
        self._run(set(ends))

    def do_go_on(self, k: str, ends: Any, by_length: Any) -> None:
        """The iteration goes on from where it stood between two questions."""
        if self.iteration is None:
            raise Refused(f"{self.name}: the scheduler stands at the top of its loop")
        self._foresee(set(by_length))
        self._run(set(ends))

    def _run(self, ends: set[str]) -> None:
        assert self.iteration is not None
        at_the_end = self.iteration.go_on()
        self._collect_echoes()
        if at_the_end:
            batch, self.iteration = self.iteration.value, None
            self.finish_iteration(batch, ends)
            self._forget_what_was_foreseen()

    def _set_room(self, room: int) -> None:
        """Tokens for ``room`` half prompts; a partial prompt counts as what is left of it."""
        half = PROMPT // 2
        tokens = room * half
        chunk = self.scheduler.chunked_req
        if chunk is not None:
            left = len(chunk.origin_input_ids) - _computed(chunk)
            tokens = left + (room - 1) * half if room > 1 else max(left // 2, 1)
        self.scheduler.chunked_prefill_size = tokens

    def _foresee(self, by_length: set[str]) -> None:
        """Requests that the next output ends by length, as a release from 0.5.22 on can foresee.

        Where an iteration is cut between two questions its last part decides: results are taken there.
        """
        self._forget_what_was_foreseen()
        for rid in by_length:
            request = self.requests[rid]
            self.foreseen.append((request, request.sampling_params.max_new_tokens))
            request.sampling_params.max_new_tokens = len(request.output_ids) + 1

    def _forget_what_was_foreseen(self) -> None:
        """A piece of a prompt has no output that could end it: what comes later ends when it is due."""
        for request, most in reversed(self.foreseen):
            if not request.finished():
                request.sampling_params.max_new_tokens = most
        self.foreseen = []

    def _next_batch(self) -> Any:
        scheduler = self.scheduler
        function = scheduler.get_next_batch_to_run
        if "running_batch" in inspect.signature(function).parameters:
            plan = function(running_batch=scheduler.running_batch, last_batch=scheduler.last_batch)
            scheduler.running_batch = plan.running_batch
            return plan.batch_to_run
        return function()

    def finish_iteration(self, batch: Any, ends: set[str]) -> None:
        """``run_batch`` and ``process_batch_result`` in the order of the loop."""
        scheduler = self.scheduler
        scheduler.cur_batch = scheduler.cur_batch_for_debug = batch
        if batch:
            self.forward.launch(batch)
            self._tokens_follow(batch)
        if self.overlap:
            if batch:
                scheduler.result_queue.append((batch.copy(), None))
            if scheduler.last_batch:
                self._result(scheduler.result_queue.popleft()[0], ends)
        elif batch:
            self._result(batch, ends)
        scheduler.last_batch = batch

    def _tokens_follow(self, batch: Any) -> None:
        """What ``run_batch`` leaves for the next decode: a place for each row's token."""
        tokens = torch().full((len(batch.reqs),), 1, dtype=torch().int64)
        batch.output_ids = tokens
        batch.input_ids = tokens

    def _result(self, batch: Any, ends: set[str]) -> None:
        got, finished = results.take(self.scheduler, batch, ends)
        self.results = got
        self.replies["outputs"] |= finished & set(self.tokenizer.open_states)

    # -- what is seen --------------------------------------------------------------------------------

    def observe(self) -> Mapping[str, Plain]:
        """The state of the release's objects under the model's names."""
        seen: dict[str, Any] = {}
        for path, value in self._everything().items():
            seen[path] = _plain(value)
        return seen

    def _everything(self) -> dict[str, Any]:
        return self.observe_process("ranks[rank0]") | self.observe_tokenizer()

    def observe_process(self, rank: str) -> dict[str, Any]:
        """``Process`` of the model: scheduler, loader, slots, catalogue, gate and forward of one rank."""
        seen: dict[str, Any] = {}
        for name, value in self.observe_scheduler().items():
            seen[f"{rank}.scheduler.{name}"] = value
        if self.background:
            for name, value in observe_loader(self.scheduler.lora_overlap_loader, self.device).items():
                seen[f"{rank}.loader.{name}"] = value
        for name, value in observe_pool(self.manager, self.tracked).items():
            seen[f"{rank}.pool.{name}"] = value
        for name, value in observe_manager(self.manager, set(self.adapters)).items():
            seen[f"{rank}.manager.{name}"] = value
        if self.scheduler.lora_drainer is not None:
            for name, value in observe_drainer(self.scheduler.lora_drainer, self.adapters).items():
                seen[f"{rank}.drainer.{name}"] = value
        for name in ("rows", "handed", "evicted", "launched", "misrouted"):
            seen[f"{rank}.forward.{name}"] = getattr(self.forward.report, name)
        seen[f"{rank}.forward.results"] = self.results
        seen[f"{rank}.gate.refused"] = self.gate.refused
        seen[f"{rank}.gate.overwritten"] = self.gate.overwritten
        for r in self.names:
            seen[f"{rank}.gate.counted[{r}]"] = self.gate.counted.get(r, set())
        return seen

    def observe_scheduler(self) -> dict[str, Any]:
        """``Scheduler`` of the model: queue, rows, and which of them have finished."""
        scheduler = self.scheduler
        chunk = scheduler.chunked_req
        last = scheduler.last_batch
        in_flight = scheduler.result_queue[-1][0] if scheduler.result_queue else None
        running = [r.rid for r in scheduler.running_batch.reqs]
        rows = list(in_flight.reqs) if in_flight is not None else []
        prefill = last is not None and last.forward_mode.is_extend()
        seen: dict[str, Any] = {
            "waiting": [r.rid for r in scheduler.waiting_queue],
            "running": set(running),
        }
        if self.iteration is None:
            if self.overlap:
                seen["last"] = {r.rid for r in rows} if prefill and in_flight is not None else set()
                mode = (
                    "NONE"
                    if in_flight is None
                    else ("PREFILL" if in_flight.forward_mode.is_extend() else "DECODE")
                )
                seen["in_flight"] = mode
            else:
                seen["last"] = {r.rid for r in last.reqs} if prefill and last is not None else set()
            seen["chunk"] = chunk.rid if chunk is not None else None
            seen["asked"] = None
            seen["picks"] = set()
        else:
            seen.pop("running")  # the iteration returns the new active set at its end
            seen["asked"] = self.gate.answered
            if self.gate.adder is not None:
                resumed = {chunk.rid} if chunk is not None else set()
                seen["picks"] = {r.rid for r in self.gate.adder.can_run_list} - resumed - self._resumed_ids()
        held = {r.rid: r for r in [*scheduler.running_batch.reqs, *rows, *(last.reqs if last else [])]}
        if self.iteration is None:
            known = set(running) | seen["last"]
            seen["finished"] = {rid for rid, r in held.items() if r.finished() and rid in known}
            seen["to_finish"] = {rid for rid, r in held.items() if r.to_finish and rid in known}
        return seen

    def adapter_of(self, r: str) -> str:
        """The adapter id that a request carries, wherever any part of the server still knows it."""
        left = self._only_computed()
        found = next((q.lora_id for q in self.held() if q.rid == r and r not in left), None)
        state = self.tokenizer.open_states.get(r)
        if r in self.looked_up:
            return self.looked_up[r]
        return adapter_name(found if state is None else state.obj.lora_id)

    def held(self) -> list[Any]:
        """Every request that the scheduler has."""
        return [
            *self.scheduler.waiting_queue,
            *self.scheduler.running_batch.reqs,
            *(r for batch in self._launched() for r in batch.reqs),
            *self.held_elsewhere(),
        ]

    def _launched(self) -> list[Any]:
        """The batches of the forward in flight, and of the one before."""
        batches = [batch for batch, _ in self.scheduler.result_queue]
        return [*batches, self.scheduler.last_batch] if self.scheduler.last_batch else batches

    def _only_computed(self) -> set[str]:
        """Rows of a decode in flight that have been swept: nothing is done with their result."""
        decodes = [b for b in self._launched() if not b.forward_mode.is_extend()]
        kept = {r.rid for r in self.scheduler.running_batch.reqs}
        return {r.rid for b in decodes for r in b.reqs if r.finished() and r.rid not in kept}

    def held_elsewhere(self) -> list[Any]:
        """Requests that a role keeps in queues of its own."""
        return []

    def _resumed_ids(self) -> set[str]:
        waiting = {r.rid for r in self.scheduler.waiting_queue}
        return {r.rid for r in self.gate.adder.can_run_list if r.rid not in waiting}

    def observe_tokenizer(self) -> dict[str, Any]:
        """``Registry``, ``Tokenizer``, ``Replies`` and the adapter that each request carries."""
        states = self.tokenizer.open_states
        names = set(self.adapters) - {BASE}
        seen: dict[str, Any] = {
            **{f"adapter[{r}]": self.adapter_of(r) for r in self.names},
            "registry.absent": names - self.tokenizer.registered(),
            "registry.unloading": set(self.tokenizer.unloads),
            "tokenizer.open": set(states),
            "tokenizer.looked_up": set(self.looked_up),
            **{f"replies.{name}": kind & set(states) for name, kind in self.replies.items()},
        }
        for a, off in self.off.items():
            if self.drift(a) is not None:
                seen[f"registry.drift[{a}]"] = off
        return seen

    def follow_counts(self) -> None:
        """How far the use counts are off: the model follows them up to ``most_off`` lost references, and
        leaves the number there for good."""
        for a, off in self.off.items():
            if off < self.most_off:
                self.off[a] = min(self.drift(a) or 0, self.most_off)

    def unexpected(self, clean: frozenset[str]) -> None:
        """No token is computed here: nothing can be said of one."""
        return None

    def beyond(self) -> bool:
        """Whether a use count has come down again from where the model leaves it."""
        return any((self.drift(a) or 0) < off for a, off in self.off.items() if off == self.most_off)

    def drift(self, a: str) -> int | None:
        """References of an adapter that no open state owns; ``None`` once its counter is deleted."""
        uid = self.references[a].lora_id
        count = self.tokenizer.use_count(uid)
        if count is None:
            return None
        return count - sum(1 for s in self.tokenizer.open_states.values() if s.obj.lora_id == uid)

    def symptom(self, property: str, died: Died | None) -> Symptom | None:
        """What a user sees of the violation."""
        return symptom(self, property, died, {} if died is not None else self.observe())


def _computed(request: Any) -> int:
    """Tokens of the prompt that are computed: the prefix with the piece that is in flight."""
    if getattr(request, "extend_end", None) is not None:
        return int(request.extend_end)
    extent = getattr(request, "extend_range", None)
    if extent is not None:
        return int(extent.end)
    if hasattr(request, "fill_len"):
        return int(request.fill_len)
    return len(request.fill_ids)


def _plain(value: Any) -> Plain:
    if isinstance(value, set | frozenset):
        return frozenset(value)
    if isinstance(value, list | tuple):
        return tuple(value)
    return value


def make(folder: Path, release: str, scenario: str) -> SingleServer:
    """The target for a scenario."""
    parameters = SCENARIOS[scenario].parameters()
    if parameters.get("role") is Role.DECODE:
        from slotproof.counterexamples.replay.sglang.decode import DecodeServer

        return DecodeServer(folder, release)
    if parameters.get("data_parallel"):
        from slotproof.counterexamples.replay.sglang.ranks import DataParallelRanks

        return DataParallelRanks(folder, release)
    return SingleServer(folder, release)
