"""The tokenizer process: the release's ``LoRARegistry`` and ``TokenizerManager`` under asyncio.

``object.__new__(TokenizerManager)`` with the fields that the driven methods read: request states, the
registry, the lock of updates. ``acquire``, ``unload_lora_adapter`` with its wait for the use count,
``_handle_batch_output``, ``_handle_abort_req`` and ``_handle_abort_finish_reason`` run as they are. What
stands in is the fan-out to the schedulers (``Schedulers``), whose answers come when the trace says, and the
outputs' contents: nobody looks at text, token counts or times.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from typing import Any

from slotproof.counterexamples.replay.sglang.ids import BASE, adapter_name
from slotproof.counterexamples.replay.sglang.scheduler import Quiet
from slotproof.counterexamples.replay.sglang.setup import namespace, srt


class Schedulers:
    """``update_lora_adapter_communicator``: an unload on its way down, answered by the trace."""

    def __init__(self) -> None:
        self.asked: dict[str, asyncio.Future[Any]] = {}

    async def __call__(self, request: Any) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked[request.lora_name] = answer
        return await answer


class Tokenizer:
    """The tokenizer's side of one server."""

    def __init__(self, server_args: Any, references: list[Any]) -> None:
        self.loop = asyncio.new_event_loop()
        self.io = srt("managers.io_struct")
        self.module = srt("managers.tokenizer_manager")
        self.schedulers = Schedulers()
        self.unloads: dict[str, asyncio.Task[Any]] = {}
        self.lists: dict[str, tuple[asyncio.Event, asyncio.Task[Any]]] = {}
        self._holding: asyncio.Event | None = None
        self.loop.set_task_factory(self._task)
        self.manager = self.loop.run_until_complete(self._build(server_args, references))

    async def _build(self, server_args: Any, references: list[Any]) -> Any:
        made = object.__new__(self.module.TokenizerManager)
        fields = {
            "server_args": server_args,
            "rid_to_state": {},
            "lora_registry": srt("lora.lora_registry").LoRARegistry(references),
            "lora_update_lock": asyncio.Lock(),
            "lora_ref_cache": {r.lora_name: r for r in references},
            "pending_lora_unloads": {},
            "update_lora_adapter_communicator": self.schedulers,
            "auto_create_handle_loop": lambda: None,
            "enable_lora": True,
            "enable_metrics": False,
            "skip_tokenizer_init": True,
            "incremental_streaming_output": False,
            "config_value": lambda name: None,
            "_lora_release_tasks": set(),
            "child_rid_to_logical_rid": {},
            "logical_rid_to_child_rids": {},
            "dump_requests_folder": None,
            "crash_dump_folder": None,
            "request_logger": Quiet(),
            "request_metrics_exporter_manager": Quiet(),
            "log_requests": False,
            "gracefully_exit": False,
            "send_to_scheduler": Quiet(),
            "dump_requests": lambda *args: None,
        }
        for name, value in fields.items():
            if not isinstance(getattr(type(made), name, None), property):
                made.__dict__[name] = value
        return made

    def settle(self) -> None:
        """Run the event loop until nothing is left that can run."""
        for _ in range(20):
            self.loop.run_until_complete(asyncio.sleep(0))

    def run(self, coroutine: Any) -> Any:
        """Run a coroutine of the release to its end, and what it has started."""
        value = self.loop.run_until_complete(coroutine)
        self.settle()
        return value

    def arrive(self, rid: str, name: str) -> str | None:
        """``generate_request`` up to the send: acquire the adapter, open a state. Returns the id."""
        uid = None if name == BASE else self.run(self.manager.lora_registry.acquire(name))
        self.open(rid, uid)
        return uid

    def _task(self, loop: Any, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        """A task; one of ``acquire`` that takes a reference runs when the trace says so.

        Tasks run in any order as far as ``acquire`` can know: others may have been ready before.
        """
        held = self._holding
        if held is None or coroutine.__qualname__ != "ConcurrentCounter.increment":
            return asyncio.Task(coroutine, loop=loop, **options)

        async def when_told() -> Any:
            await held.wait()
            return await coroutine

        return asyncio.Task(when_told(), loop=loop, **options)

    def look_up(self, rid: str, name: str) -> None:
        """``acquire`` of a list of one, up to the tasks that take the references."""
        self._holding = asyncio.Event()
        names = [None if name == BASE else name]
        task = self.loop.create_task(self.manager.lora_registry.acquire(names))
        self.settle()
        self.lists[rid] = self._holding, task
        self._holding = None

    def take_references(self, rid: str) -> str | None:
        """The tasks run, and the request's state is opened. Returns the id."""
        held, task = self.lists.pop(rid)
        held.set()
        self.settle()
        (uid,) = task.result()
        self.open(rid, uid)
        found: str | None = uid
        return found

    def open(self, rid: str, uid: str | None) -> None:
        """Open a request's state, which owns a reference that has been taken."""
        asked = namespace(
            rid=rid, lora_path=uid, lora_id=uid, stream=False, return_logprob=False, background=False
        )
        values: dict[str, Any] = {
            "out_list": [],
            "finished": False,
            "event": asyncio.Event(),
            "obj": asked,
            "time_stats": _Times(),
            "dispatched": True,
        }
        known = {f.name for f in dataclasses.fields(self.module.ReqState)}
        state = self.module.ReqState(**{n: v for n, v in values.items() if n in known})
        self.manager.rid_to_state[rid] = state

    def output(self, rid: str, reason: dict[str, Any], listener: Any = None) -> None:
        """The last output of a request arrives (``_handle_batch_output``).

        ``listener``: the state whose handler still waits. It takes an output with an abort status in the same
        turn of the event loop that delivers it, before an unload learns of the reference that was released.
        """
        fields = {
            "rids": [rid],
            "finished_reasons": [reason],
            "output_ids": [[1]],
            "prompt_tokens": [1],
            "completion_tokens": [1],
            "reasoning_tokens": [0],
            "cached_tokens": [0],
            "retraction_counts": [0],
        }
        kind = self.io.BatchTokenIDOutput
        names = getattr(kind, "__struct_fields__", None) or [
            f.name for f in dataclasses.fields(kind) if f.init
        ]
        message = kind(**{name: fields.get(name) for name in names})

        async def deliver() -> None:
            await self.manager._handle_batch_output(message)
            if listener is not None:
                await self._sees_error(listener)

        self.run(deliver())

    def abort_echo(self, message: Any) -> None:
        """An abort echo arrives (``_handle_abort_req``)."""
        self.run(_call(self.manager._handle_abort_req, message))

    def discard(self, rid: str) -> None:
        """The request's handler fails: ``_discard_pending_req_states``, where the release has it."""
        asked = self.manager.rid_to_state[rid].obj
        asked.is_single = True
        discard = getattr(self.manager, "_discard_pending_req_states", None)
        if discard is not None:
            self.run(_call(discard, asked))
        else:
            self.manager.rid_to_state.pop(rid)  # 0.5.13 and before keep the state for good: it is leaked

    async def _sees_error(self, state: Any) -> None:
        """The request's handler, which still listens, takes an output with abort status 500."""
        reason = {"type": "abort", "message": "failed", "status_code": 500}
        out = {"meta_info": {"id": state.obj.rid, "finish_reason": reason}}
        function = self.manager._handle_abort_finish_reason
        try:
            await _call(function, out, state, False)
        except Exception as error:  # the handler answers the client with an HTTP error
            if type(error).__name__ != "HTTPException" and "exceptions must derive" not in str(error):
                raise  # fastapi is stood in for: its exception is a class that cannot be raised

    def unload(self, name: str) -> None:
        """The operator asks for an unload (``unload_lora_adapter``), which waits for the use count."""
        request = self.io.UnloadLoRAAdapterReqInput(lora_name=name)

        async def begin() -> None:
            self.unloads[name] = asyncio.ensure_future(self.manager.unload_lora_adapter(request))

        self.run(begin())

    def give_up(self, name: str) -> None:
        """The caller of an unload is gone."""
        self.unloads.pop(name).cancel()
        self.settle()

    def is_sent(self, name: str) -> bool:
        """Whether the unload has passed its wait and is on its way to the schedulers."""
        return name in self.schedulers.asked

    def answer_unload(self, name: str, result: Any) -> None:
        """The schedulers have answered."""
        self.schedulers.asked.pop(name).set_result([result])
        self.settle()
        self.unloads.pop(name)

    @property
    def open_states(self) -> dict[str, Any]:
        """The states that wait for an answer, by request."""
        return {rid: s for rid, s in self.manager.rid_to_state.items() if not s.finished}

    def use_count(self, uid: str) -> int | None:
        """The registry's counter of an adapter id; ``None`` once it is deleted."""
        counter = self.manager.lora_registry._counters.get(uid)
        return (
            None
            if counter is None
            else int(counter._count if hasattr(counter, "_count") else counter.value())
        )

    def registered(self) -> set[str]:
        """The names that a client can use."""
        return {adapter_name(name) for name in self.manager.lora_registry._registry}


class _Times(Quiet):
    """``APIServerReqTimeStats``: times of one request, which nobody reads here."""

    first_token_time = 1.0
    response_sent_to_client_time = 1.0
    trace_ctx = namespace(tracing_enable=False)

    def get_e2e_latency(self) -> float:
        """No time has passed."""
        return 0.0


async def _call(function: Any, *arguments: Any) -> Any:
    """Call a method that is a coroutine in some releases, inside the event loop."""
    value = function(*arguments)
    return await value if inspect.isawaitable(value) else value
