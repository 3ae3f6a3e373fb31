"""The queues of the decode role before its active set (``disaggregation/decode.py``)."""

from __future__ import annotations

from slotproof.model.language import Annotated, Range, Record, Seq, Set, field
from slotproof.model.serving.vocabulary import Request, requests


class DecodeQueues(Record):
    """``DecodePreallocQueue`` and ``DecodeTransferQueue`` of one decode process."""

    reserving: Seq[Request] = field([], "requests that wait for a reservation, first come first served")
    transferring: Seq[Request] = field([], "requests with a reservation whose KV is on its way")
    broken: Set[Request] = field(set(), "of both, those whose receiver reports a failure at the next poll")
    retracted: Seq[Request] = field([], "rows that were put out for want of KV (retracted_queue)")
    complete: Set[Request] = field(set(), "requests that wait for a row; their last token came with their KV")
    rows: Annotated[int, Range(1, requests)] = field(1, "rows of the active set (max_running_requests)")


def awaits_kv(decode: DecodeQueues, r: Request) -> bool:
    """Whether the request waits for its reservation or for its KV."""
    return r in decode.reserving or r in decode.transferring


def in_decode_queues(decode: DecodeQueues, r: Request) -> bool:
    """Whether the decode role holds the request outside of the waiting queue and the active set."""
    return awaits_kv(decode, r) or r in decode.retracted


def break_off(decode: DecodeQueues, r: Request) -> None:
    """``CommonKVReceiver.abort``, or a failure of the peer: the next poll says ``KVPoll.Failed``."""
    decode.broken |= {r}
