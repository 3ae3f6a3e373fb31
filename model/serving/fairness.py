"""Which steps of the server do not stay away for ever: what progress rests on.

The server's own steps are fair, and so is the copy engine. Clients, cancellation, failures and the operator
are not: whatever they may do, nothing has to wait for it.

- A scheduler goes on with its loop, and the load stream with its copies: weakly fair, for what they can do
  they can do until they do it.
- The tokenizer and the detokenizer handle what has arrived. In the model their steps lie between two
  iterations of a scheduler (``front.py``), so that they are possible again and again and not all the time: in
  the model they have to be strongly fair for what they are in the server, another process that goes on.
- A request asks for so many tokens at most. So a row that gets one result after another gets its last one.
- Between a scheduler that asks about one candidate after another and a copy that ends, neither always comes
  first: of each copy and each question. It is a scenario's to assume this, for it is about time.
- With the drainer, a request that stays in the queue is overdue in the end, and a row that stays is far on.
- On the decode role KV arrives, there is KV again for a row that was put out, and a handshake is done in the
  end. From then on every pass looks at the candidate, in the order of the queue, so that it gets in if the
  gate would let it in again and again. (The model does not store handshakes: ``decode.py``.)
"""

from __future__ import annotations

from slotproof.model.language import Annotated, Fairness, Range, Set, strong, weak
from slotproof.model.serving import clock, front, step
from slotproof.model.serving.decode import decode_step, gate_on_reservation, occupied_slots
from slotproof.model.serving.manager import has_room
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request, requests


def last_token(s: Server, k: Rank, r: Request, ends: Set[Request]) -> bool:
    """A row gets its last token."""
    return r in ends and (r in s.ranks[k].scheduler.running or r in s.ranks[k].scheduler.last)


def last_token_on_decode(s: Server, k: Rank, r: Request, moved: Set[Request], ends: Set[Request]) -> bool:
    """A row that stays gets its last token."""
    return r in ends and r in s.ranks[k].scheduler.running - moved


def gate_is_open(s: Server, k: Rank, r: Request) -> bool:
    """Whether the gate would let a candidate in, if no other came first."""
    occupied = occupied_slots(s.ranks[k], s.adapter)
    return (
        not gate_on_reservation()
        or s.adapter[r] in occupied
        or has_room(s.ranks[k].manager, {s.adapter[r]} | occupied)
    )


def peer_and_memory(s: Server, k: Rank, r: Request, moved: Set[Request]) -> bool:
    """A transfer has ended when the scheduler looks, a candidate's handshake has and the gate is open, or
    there is KV again for a row that was put out. While a row is out nobody looks at handshakes and transfers.
    """
    looked_at = all(q in moved for q in s.ranks[k].decode.retracted)
    return r in moved and (
        r in s.ranks[k].decode.retracted
        or (looked_at and r in s.ranks[k].decode.transferring)
        or (looked_at and r in s.ranks[k].decode.reserving and gate_is_open(s, k, r))
    )


Asked = Annotated[int, Range(0, requests)] | None


def with_a_copy_under_way(s: Server, k: Rank, a: Adapter, n: Asked) -> bool:
    """The scheduler asks its next question while the copy of ``a`` is under way."""
    return a in s.ranks[k].loader.copies and s.ranks[k].scheduler.asked == n


def at_that_moment(s: Server, k: Rank, n: Asked) -> bool:
    """A copy ends between these two questions, or between two passes."""
    return s.ranks[k].scheduler.asked == n


TOKENIZER: tuple[Fairness, ...] = (
    strong(front.answer, each="r"),
    strong(front.echo, each="r"),
    strong(front.unload, each="a"),
)

SINGLE_SERVER: tuple[Fairness, ...] = (
    weak(step.schedule, step.go_on, each="k"),
    weak(step.copy_ends, each="k"),
    strong(step.schedule, step.go_on, where=last_token),
    *TOKENIZER,
)

NO_RACE_IS_ALWAYS_LOST: tuple[Fairness, ...] = (
    strong(step.schedule, step.go_on, where=with_a_copy_under_way),
    strong(step.copy_ends, each="a", where=at_that_moment),
)

TIME_AND_TOKENS: tuple[Fairness, ...] = (
    weak(clock.waits_too_long, each="k"),
    strong(clock.gets_far_on, each=("k", "r")),
)

DECODE_ROLE: tuple[Fairness, ...] = (
    weak(decode_step, each="k"),
    strong(decode_step, where=peer_and_memory),
    strong(decode_step, where=last_token_on_decode),
    strong(front.answer_error, each="r"),
    *TOKENIZER,
)
