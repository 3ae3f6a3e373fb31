"""Where the states of a search lie: whole, one after another, and a hash table of their numbers.

Address space is reserved for all that the memory limit allows, so that nothing moves when it grows;
the machine gives memory as it is written. A state costs its words, 4 bytes for its parent and its
part of a table of 8-byte entries, which is between three eighths and three quarters full: between 15
and 25 bytes beyond its words. While the table grows, the old one is there as well.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slotproof.checker.explicit.native import native_loop
from slotproof.checker.explicit.registers import BUCKET, INDEX_BITS

FIRST_TABLE_BITS = 14
PARENT_BYTES = 4
ENTRY_BYTES = 8
BUCKET_BITS = BUCKET.bit_length() - 1
HUGE_PAGES_FROM = 1 << 22
GENERIC_LINUX = ("x86_64", "i686", "aarch64", "armv7l", "riscv64", "s390x", "loongarch64")
"""Machines on which Linux numbers the flags of a mapping as ``asm-generic/mman.h`` does."""


class Store:
    """Memory for the states of one search; ``memory`` is its limit in bytes, tables included."""

    def __init__(self, words: int, memory: int) -> None:
        self.words = words
        while True:
            self.memory = memory
            least = words * 8 + PARENT_BYTES + ENTRY_BYTES
            self.capacity = min(max(memory // least, 1), (1 << INDEX_BITS) - 2)
            try:
                self.arena: NDArray[np.uint64] = _reserved(self.capacity * words * 8, np.uint64)
                self.parents: NDArray[np.uint32] = _reserved(self.capacity * PARENT_BYTES, np.uint32)
                break
            except OSError:  # a limit of address space: take what there is
                memory //= 2
                if memory < 1 << 20:
                    raise
        self.bits = FIRST_TABLE_BITS
        self.table: NDArray[np.uint64] = _reserved(ENTRY_BYTES << self.bits, np.uint64)
        self._full = False
        self._most = 0  # bytes while both tables were there

    @property
    def shift(self) -> int:
        """How far a hash is shifted to give a bucket of the table."""
        return 64 - (self.bits - BUCKET_BITS)

    @property
    def most_filled(self) -> int:
        """How many states the table takes; more than ever fit if it cannot grow any more."""
        size = 1 << self.bits
        return size * 15 // 16 if self._full else size * 3 // 4

    def bytes_at(self, states: int, table_bits: int = 0) -> int:
        """Memory that this many states take (with a second table of that many bits)."""
        tables = (ENTRY_BYTES << self.bits) + (ENTRY_BYTES << table_bits if table_bits else 0)
        return states * (self.words * 8 + PARENT_BYTES) + tables

    def peak(self, states: int) -> int:
        """The most memory that was taken so far, now that there are this many states."""
        return max(self._most, self.bytes_at(states))

    def grow_table(self, states: int) -> bool:
        """Double the table; whether there was memory for it. Without it, the old one is filled up."""
        if self._full:
            return False
        bits = self.bits + 1
        fits = self.bytes_at(states, bits) <= self.memory and bits <= INDEX_BITS
        try:
            new: NDArray[np.uint64] | None = _reserved(ENTRY_BYTES << bits, np.uint64) if fits else None
        except OSError:
            new = None
        if new is None:
            self._full = True
            return True
        self._most = max(self._most, self.bytes_at(states, bits))
        old, self.table, self.bits = self.table, new, bits
        addresses = old.ctypes.data, old.nbytes, new.ctypes.data
        native_loop().rehash(*addresses, len(new) // BUCKET - 1, self.shift)
        return True

    def most_states(self) -> int:
        """How many states the memory limit allows beside the present table."""
        left = self.memory - (ENTRY_BYTES << self.bits)
        return max(min(left // (self.words * 8 + PARENT_BYTES), self.capacity), 1)

    def state(self, number: int) -> NDArray[np.uint64]:
        """The words of a state."""
        return self.arena[number * self.words : (number + 1) * self.words]


def _reserved(size: int, kind: Any) -> NDArray[Any]:
    """Zeroed memory that costs nothing until it is written."""
    page = mmap.PAGESIZE
    flags = {}
    if hasattr(mmap, "MAP_ANONYMOUS"):
        flags["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _unaccounted()
    memory = mmap.mmap(-1, max(-(-size // page) * page, page), **flags)
    if size >= HUGE_PAGES_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a table is read all over: fewer pages, fewer page walks
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind, count=size // np.dtype(kind).itemsize)


def _unaccounted() -> int:
    """The flag of a mapping that counts for nothing until it is written.

    Without it Linux counts all of it, and two mappings side by side as one: when they are more than the
    machine has, no process can be forked any more. Python names the flag from 3.13 on.
    """
    generic = 0x4000 if sys.platform == "linux" and platform.machine() in GENERIC_LINUX else 0
    return getattr(mmap, "MAP_NORESERVE", generic)


def default_memory() -> int:
    """Three quarters of the memory that this process may have, in bytes; less if others use it."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _read(name).strip()
        if text.isdigit():
            total = min(total, int(text))
    free = total
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    return min(total * 3 // 4, free * 9 // 10)


def _read(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError:
        return ""
