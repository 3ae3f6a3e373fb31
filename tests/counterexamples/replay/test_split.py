"""Split and single server give the same text for every request, and the decode role keeps to its slots.

The end-to-end test of the first pull request: the base model and three adapters on two slots, eight
requests at once (D12, D13, X-7).
"""

import pytest

from slotproof.model.releases import release
from tests.counterexamples.reference.serving import (
    ADAPTERS,
    REQUESTS,
    answered,
    decode_server,
    single_server,
    texts,
)


def agree(seed: int) -> None:
    """On the fixed release."""
    names = release("0.5.20").names()
    split = texts(answered(decode_server(names), seed))
    assert split == texts(answered(single_server(names), seed))
    assert {name: len(tokens) for name, tokens in split.items()} == {n: length for n, _, length in REQUESTS}


@pytest.mark.parametrize("seed", range(6))
def test_split_equals_single(seed: int) -> None:
    """Some orders in which handshakes, transfers and answers end."""
    agree(seed)


@pytest.mark.deep
def test_split_equals_single_in_many_orders() -> None:
    """200 of them."""
    for seed in range(200):
        agree(seed)


@pytest.mark.parametrize("seed", range(6))
def test_without_the_gate_it_dies(seed: int) -> None:
    """The release before: more adapters than slots reach the active set."""
    with pytest.raises(AssertionError, match="adapters for 2 slots"):
        answered(decode_server(release("0.5.19").names()), seed)


def test_every_adapter_differs_from_the_base_model() -> None:
    """For each prompt, so that a text tells which adapter made it."""
    server = single_server(release("0.5.20").names())
    for name, _, length in REQUESTS:
        alone = {a: tuple(server.alone(name, a).token(i) for i in range(length)) for a in ADAPTERS}
        assert len(set(alone.values())) == len(ADAPTERS)


def test_texts_are_those_of_requests_run_alone() -> None:
    """Of both servers."""
    names = release("0.5.20").names()
    for server in (decode_server(names), single_server(names)):
        for name, tokens in texts(answered(server, 3)).items():
            adapter = next(a for n, a, _ in REQUESTS if n == name)
            assert tokens == tuple(server.alone(name, adapter).token(i) for i in range(len(tokens)))
