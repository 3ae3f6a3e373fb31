"""Traces of the shop, one for each way to end."""

import pytest

from slotproof.counterexamples.trace import Trace
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.counterexamples import shop
from tests.counterexamples.finding import find

CHOSEN = {"may_order": "always"}


@pytest.fixture(scope="session")
def program() -> Program:
    """The shop, compiled."""
    return compile_system(shop.shop)


@pytest.fixture(scope="session")
def traces(program: Program) -> dict[str, Trace]:
    """A shortest trace for each property of the shop."""
    names = ("room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind")
    return {name: find(program, name, CHOSEN) for name in names}


@pytest.fixture(scope="session")
def standstill() -> tuple[Program, Trace]:
    """A shop that counts to 1 and ends in a standstill."""
    program = compile_system(shop.shop.with_parameters(counts=1))
    return program, find(program, "deadlock", CHOSEN)
