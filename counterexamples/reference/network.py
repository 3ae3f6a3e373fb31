"""A tiny decoder of random weights with ten wrapped layers, each of which an adapter changes.

One block: attention with a few extra projections, then a feed-forward part and a mixture of two experts,
both cut over the data-parallel ranks, then the logits; the next token is the greatest. All numbers are
float64, so that a row gives the same token alone and in a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import torch

from slotproof.counterexamples.reference.metadata import LAYERS

HIDDEN = 16
INNER = 32
TOKENS = 251
MOST_RANKS = 4
POSITIONS = 512
PROMPT = 16
"""Tokens of every prompt."""

DTYPE = torch.float64

SEED = "35"
"""The first of the seeds with which a forward that reads another adapter gives another token: of three
prompts, the base model and three adapters, at each of twelve places. The tests see to it.
"""

SHAPES: Mapping[str, tuple[int, int]] = {
    "EMBEDDING": (TOKENS, HIDDEN),
    "QKV": (HIDDEN, 3 * HIDDEN),
    "COLUMN": (HIDDEN, HIDDEN),
    "REPLICATED": (HIDDEN, HIDDEN),
    "ROW": (HIDDEN, HIDDEN),
    "SIDE_STREAM": (HIDDEN, HIDDEN),
    "MERGED_COLUMN": (HIDDEN, 2 * INNER),
    "DOWN": (INNER, HIDDEN),
    "MOE": (HIDDEN, HIDDEN),
    "LM_HEAD": (HIDDEN, TOKENS),
}
"""Inputs and outputs of each wrapped layer, before it is cut."""


@dataclass(frozen=True)
class AdapterWeights:
    """One adapter on the host: its rank, its scaling, and for each layer A (rank, in) and B (out, rank)."""

    name: str
    rank: int
    scaling: float
    a: Mapping[str, torch.Tensor]
    b: Mapping[str, torch.Tensor]


def _random(name: str, *shape: int, scale: float) -> torch.Tensor:
    seed = int.from_bytes(f"{SEED}{name}".encode(), "little") % (2**63 - 25)
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=DTYPE) * scale


@cache
def base_weights() -> Mapping[str, torch.Tensor]:
    """The weights of the base model by layer, (out, in), and the tables ``experts`` and ``positions``."""
    made = {
        layer: _random(f"w/{layer}", outputs, inputs, scale=1 / math.sqrt(inputs))
        for layer, (inputs, outputs) in SHAPES.items()
    }
    made["EMBEDDING"] = _random("w/embed", HIDDEN, TOKENS, scale=1.0)
    made["experts"] = _random("w/experts", 2, HIDDEN, HIDDEN, scale=1 / math.sqrt(HIDDEN))
    made["router"] = _random("w/router", 2, HIDDEN, scale=1.0)
    made["positions"] = _random("w/pos", POSITIONS, HIDDEN, scale=0.5)
    return made


@cache
def adapter_weights(name: str, targets: frozenset[str] = frozenset(LAYERS)) -> AdapterWeights:
    """The weights of an adapter, made from its name; it changes the layers ``targets``."""
    rank = 1 + sum(name.encode()) % (MOST_RANKS - 1)
    a, b = {}, {}
    for layer, (inputs, outputs) in SHAPES.items():
        scale = 1.0 if layer in targets else 0.0
        a[layer] = _random(f"a/{name}/{layer}", rank, inputs, scale=1 / math.sqrt(inputs))
        b[layer] = _random(f"b/{name}/{layer}", outputs, rank, scale=scale / rank)
    b["EMBEDDING"] = b["EMBEDDING"] * math.sqrt(TOKENS)
    b["LM_HEAD"] = b["LM_HEAD"] * 4
    return AdapterWeights(name, rank, 0.75 + 0.25 * rank, a, b)


def cut_inputs(layer: str, part: int, parts: int) -> slice:
    """Which inputs of a layer a rank has: those of row-parallel layers are cut."""
    inputs = SHAPES[layer][0]
    if layer not in ("DOWN", "MOE"):
        return slice(0, inputs)
    return slice(part * inputs // parts, (part + 1) * inputs // parts)


def cut_outputs(layer: str, part: int, parts: int) -> list[int]:
    """Which outputs of a layer a rank has: those of the feed-forward input are cut, gate and up alike."""
    if layer != "MERGED_COLUMN":
        return list(range(SHAPES[layer][1]))
    own = range(part * INNER // parts, (part + 1) * INNER // parts)
    return [*own, *(INNER + i for i in own)]


@cache
def prompt_of(name: str) -> tuple[int, ...]:
    """The prompt of a request, made from its name."""
    seed = int.from_bytes(f"p/{name}".encode()[:8], "little")
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(TOKENS, (PROMPT,), generator=generator).tolist())


def norm(x: torch.Tensor) -> torch.Tensor:
    """Rows scaled to a root mean square of one."""
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


def one_hot(tokens: torch.Tensor) -> torch.Tensor:
    """Tokens as rows of the embedding layer's input."""
    return torch.nn.functional.one_hot(tokens, TOKENS).to(DTYPE)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of the last rows of a sequence over all of it."""
    scores = q @ k.T / math.sqrt(HIDDEN)
    past = k.shape[0] - q.shape[0]
    reach = torch.arange(k.shape[0], device=q.device)[None, :]
    own = torch.arange(q.shape[0], device=q.device)[:, None] + past
    return torch.softmax(scores.masked_fill(reach > own, float("-inf")), -1) @ v


def experts(
    x: torch.Tensor, weights: torch.Tensor, router: torch.Tensor, part: int, parts: int
) -> torch.Tensor:
    """What the experts of a rank add: each row goes to one of two, and expert e is on rank e % parts."""
    chosen = (x @ router.T).argmax(-1)
    out = torch.zeros_like(x)
    for e in range(2):
        if e % parts == part:
            out = out + torch.where((chosen == e)[:, None], x @ weights[e].T, torch.zeros_like(x))
    return out


Linear = Callable[[str, torch.Tensor], torch.Tensor]
"""A wrapped layer by name, applied to its input."""


def attention_part(
    linear: Linear, tokens: torch.Tensor, positions: torch.Tensor, attention: Callable[..., torch.Tensor]
) -> torch.Tensor:
    """From tokens to the hidden rows behind the attention. ``attention(q, k, v)`` knows the past."""
    x = linear("EMBEDDING", one_hot(tokens)) + positions
    n = norm(x)
    q, k, v = linear("QKV", n).chunk(3, -1)
    column, replicated = linear("COLUMN", n), linear("REPLICATED", n)
    mixed = attention(q, k, v) + column * torch.sigmoid(replicated)
    return x + linear("ROW", mixed) + linear("SIDE_STREAM", n)


def inner(merged_column: torch.Tensor) -> torch.Tensor:
    """The input of the feed-forward part's output projection."""
    gate, up = merged_column.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up
