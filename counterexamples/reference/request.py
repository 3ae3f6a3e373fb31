"""A request inside a scheduler, with what the device keeps of it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from slotproof.counterexamples.reference.device import Buffer


class Request:
    """``name`` is the client's, ``rid`` tells this sending of it from earlier ones.

    A request ends when it has ``max_new_tokens`` tokens, or one at place ``stop_at`` (from 1), which stands
    for a stop word. ``finished`` is the reason once there is one; ``to_finish`` is set by an abort, which
    ends the request with its next result.
    """

    def __init__(self, rid: str, name: str, adapter: str, prompt: tuple[int, ...]) -> None:
        self.rid = rid
        self.name = name
        self.adapter = adapter
        self.prompt = prompt
        self.max_new_tokens: int | None = None
        self.stop_at: int | None = None
        self.output: list[int] = []
        self.finished: str | None = None
        self.to_finish = False
        self.torn_down = False
        self.prefilled = 0
        self.launched = 0
        self.keys: torch.Tensor | None = None
        self.values: torch.Tensor | None = None
        self.next_token: Buffer[torch.Tensor] | None = None
        self.place = torch.device("cpu")

    def __repr__(self) -> str:
        return f"<{self.rid} {self.adapter}>"

    @property
    def length(self) -> int:
        """Tokens whose keys and values are there or on their way: where the next row stands."""
        return self.prefilled + self.launched

    @property
    def has_come_to_its_end(self) -> bool:
        """Whether the last token is there, noticed or not."""
        return any(end is not None and len(self.output) >= end for end in (self.max_new_tokens, self.stop_at))

    def input_of(self, start: int, count: int) -> Callable[[], torch.Tensor]:
        """The tokens of a piece, to be read on the device: of the prompt, or the one computed last."""
        if start < len(self.prompt):
            own = torch.tensor(self.prompt[start : start + count], device=self.place)
            return lambda: own
        before = self.next_token
        assert before is not None, "a decode needs the token before it"
        return lambda: before.get().reshape(1)

    def extend(
        self, start: int, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append to the keys and values behind place ``start``; returns all of them."""
        if self.keys is not None and self.values is not None:
            keys = torch.cat([self.keys[:start], keys])
            values = torch.cat([self.values[:start], values])
        self.keys, self.values = keys, values
        return keys, values

    def receive(self, keys: torch.Tensor, values: torch.Tensor, token: int) -> None:
        """Keys, values and first token as a prefill server sends them."""
        self.keys, self.values = keys.to(self.place), values.to(self.place)
        self.next_token = Buffer(torch.tensor(token, device=self.place))
        self.output.append(token)
        self.prefilled = len(self.prompt)

    def take(self, token: int) -> bool:
        """A result: append the token; whether it is the last."""
        self.output.append(token)
        return self.check_finished()

    def check_finished(self) -> bool:
        """Set ``finished`` if the request has come to its end; whether it has."""
        if self.to_finish:
            self.finished, self.to_finish = "abort", False
        elif self.max_new_tokens is not None and len(self.output) >= self.max_new_tokens:
            self.finished = "length"
        elif self.has_come_to_its_end:
            self.finished = "stop"
        return self.finished is not None
