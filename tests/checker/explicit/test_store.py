"""What the states of a search cost, by the store's own accounting."""

import os
import subprocess
import sys

import numpy as np
import pytest

from slotproof.checker.explicit.search import Search
from slotproof.checker.explicit.store import ENTRY_BYTES, Store
from slotproof.checker.verdict import Limits
from slotproof.model.language.compile import compile_system
from tests.zoo.allocator import allocator

MOST = 24
"""Bytes of a state beyond its own words."""


def grown(states: int, words: int) -> Store:
    """A store whose table has grown as it does for so many states."""
    store = Store(words, 2 << 30)
    while states > store.most_filled:
        assert store.grow_table(store.most_filled)
    return store


@pytest.mark.parametrize("words", [1, 2, 4])
def test_ten_million_states_cost_little_beyond_their_words(words: int) -> None:
    states = 10_000_000
    assert grown(states, words).peak(states) / states <= 8 * words + MOST


def test_the_peak_counts_both_tables_while_one_replaces_the_other() -> None:
    store = Store(1, 1 << 30)
    before = store.table.nbytes
    states = store.most_filled
    assert store.grow_table(states)
    assert store.peak(states) == states * (8 + 4) + before + store.table.nbytes
    assert store.table.nbytes == ENTRY_BYTES << store.bits == 2 * before


def test_the_accounting_is_of_what_a_search_writes() -> None:
    search = Search(compile_system(allocator.with_parameters(requests=6)), (), Limits())
    search.run()
    store, states = search.store, search.states
    written = store.arena[: states * store.words].nbytes + store.parents[:states].nbytes + store.table.nbytes
    assert store.bytes_at(states) == written
    assert int(np.count_nonzero(store.table)) == states
    assert not store.arena[states * store.words :][:4096].any()


@pytest.mark.deep
def test_a_search_of_ten_million_states_stays_below_the_limit() -> None:
    search = Search(compile_system(allocator.with_parameters(requests=10)), (), Limits(states=10_000_000))
    search.run()
    assert search.states == 10_000_000
    assert search.store.peak(search.states) / search.states <= 8 * search.store.words + MOST


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")
def test_what_searches_may_take_keeps_no_process_from_being_forked() -> None:
    """A search takes addresses for all that it may need; several lie side by side before they are freed."""
    code = """
import os
from slotproof.checker.explicit.store import Store
machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
stores = [Store(1, machine * 3 // 4) for _ in range(4)]
child = os.fork()
if not child:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), stores[0].capacity > 0)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (told.stdout, told.stderr) == ("7 True\n", "")
