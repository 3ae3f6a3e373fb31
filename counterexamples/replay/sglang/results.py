"""The result of a forward, with the tokens that the trace chose (``process_batch_result``).

The loop over a batch's rows stands here, because a release's own reads logits, metrics and streams that no
trace is about; all that it does to a row is the release's: ``Req.update_finish_state`` (before 0.5.17
``check_finished``) decides whether the row is done, ``release_kv_cache`` frees its KV, the KV cache keeps
an unfinished one.
"""

from __future__ import annotations

from typing import Any

from slotproof.counterexamples.replay.sglang.scheduler import STOP, TOKEN
from slotproof.counterexamples.replay.sglang.setup import accepted, srt


def _release(request: Any, cache: Any) -> None:
    release = srt("mem_cache.common").release_kv_cache
    release(request, cache, **accepted(release, {"checkpoint": True}))


def _keep(request: Any, cache: Any) -> None:
    common = srt("mem_cache.common")
    if hasattr(common, "checkpoint_kv_cache"):
        common.checkpoint_kv_cache(request, cache)
    elif hasattr(common, "maybe_cache_unfinished_req"):
        common.maybe_cache_unfinished_req(request, cache)
    else:
        cache.cache_unfinished_req(request)


def _middle_pieces(request: Any) -> str:
    return "inflight_middle_chunks" if hasattr(request, "inflight_middle_chunks") else "is_chunked"


def take(scheduler: Any, batch: Any, ends: set[str]) -> tuple[set[str], set[str]]:
    """Give each row its token. Returns the rows that got one, and those that finished with it."""
    got: set[str] = set()
    finished: set[str] = set()
    prefill = batch.forward_mode.is_extend()
    for request in batch.reqs:
        pieces = _middle_pieces(request)
        if prefill and getattr(request, pieces) > 0:
            setattr(request, pieces, getattr(request, pieces) - 1)
            continue
        if request.finished() or getattr(request, "is_retracted", False):
            continue
        request.output_ids.append(STOP if request.rid in ends else TOKEN)
        check = getattr(request, "update_finish_state", None) or request.check_finished
        check()
        got.add(request.rid)
        if request.finished():
            finished.add(request.rid)
            _release(request, scheduler.tree_cache)
        elif prefill:
            _keep(request, scheduler.tree_cache)
    return got, finished
