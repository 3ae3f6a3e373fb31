"""A request run alone: what its tokens are when its adapter is merged into the weights, with no slot."""

from __future__ import annotations

from functools import cache

import torch

from slotproof.counterexamples.reference.metadata import LAYERS
from slotproof.counterexamples.reference.network import (
    AdapterWeights,
    adapter_weights,
    attend,
    attention_part,
    base_weights,
    experts,
    inner,
    norm,
    prompt_of,
)


class Alone:
    """One request with one adapter (``None``: the base model); its tokens are computed as they are asked."""

    def __init__(self, prompt: tuple[int, ...], adapter: AdapterWeights | None) -> None:
        self.adapter = adapter
        self.prompt = prompt
        self.tokens: list[int] = []
        self.keys: torch.Tensor | None = None
        self.values: torch.Tensor | None = None
        self.prompt_kv: tuple[torch.Tensor, torch.Tensor] | None = None

    def token(self, position: int) -> int:
        """The token at a place of the answer, from 0."""
        while len(self.tokens) <= position:
            self._go_on(list(self.prompt) if not self.tokens else [self.tokens[-1]])
        return self.tokens[position]

    def prefilled(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of the prompt, as a prefill server sends them."""
        self.token(0)
        assert self.prompt_kv is not None
        return self.prompt_kv

    def _linear(self, layer: str, x: torch.Tensor) -> torch.Tensor:
        weights = base_weights()
        y = x @ weights[layer].T
        return y + self._delta(layer, x)

    def _delta(self, layer: str, x: torch.Tensor) -> torch.Tensor:
        if self.adapter is None:
            return torch.zeros((), dtype=x.dtype)
        return x @ self.adapter.a[layer].T @ self.adapter.b[layer].T * self.adapter.scaling

    def _go_on(self, tokens: list[int]) -> None:
        weights = base_weights()
        past = 0 if self.keys is None else self.keys.shape[0]
        places = weights["positions"][past : past + len(tokens)]

        def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            self.keys = k if self.keys is None else torch.cat([self.keys, k])
            self.values = v if self.values is None else torch.cat([self.values, v])
            return attend(q, self.keys, self.values)

        h = attention_part(self._linear, torch.tensor(tokens), places, attention)
        m = norm(h)
        moe = experts(m, weights["experts"], weights["router"], 0, 1) + self._delta("MOE", m)
        h = h + self._linear("DOWN", inner(self._linear("MERGED_COLUMN", m))) + moe
        logits = self._linear("LM_HEAD", norm(h[-1:]))
        self.tokens.append(int(logits.argmax(-1).item()))
        if self.prompt_kv is None:
            assert self.keys is not None
            assert self.values is not None
            self.prompt_kv = (self.keys, self.values)


@cache
def alone(request: str, adapter: str | None, targets: frozenset[str] = frozenset(LAYERS)) -> Alone:
    """The request of a name with the adapter of a name (``None``: the base model)."""
    return Alone(prompt_of(request), None if adapter is None else adapter_weights(adapter, targets))
