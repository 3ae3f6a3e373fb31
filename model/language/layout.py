"""A state as machine words: where each cell of a valuation stands, and how to pack and unpack it.

A state takes a whole number of 64-bit words, as few as first-fit packing finds. No cell straddles a
word, and the cells of one column stand side by side, so that a computed index costs a shift. Outputs
take words of their own behind the state's: an engine neither stores, hashes nor compares those. One
hidden field more holds 0 or, after a crash, one more than the cause. Columns that no step writes take
no room.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotproof.model.language.columns import Column, Valuation
from slotproof.model.language.errors import LanguageError
from slotproof.model.language.ir import Write
from slotproof.model.language.program import Program
from slotproof.model.language.types import bits
from slotproof.model.language.walk import statements_of

WORD = 64

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Place:
    """Where cells of equal width stand: cell ``i`` is at bit ``shift + i % per_word * width`` of word
    ``word + i // per_word``. ``shift`` is 0 if there is more than one word. A cell of width 0 always has
    its initial value.
    """

    word: int
    shift: int
    width: int
    per_word: int
    cells: int

    @property
    def words(self) -> int:
        """How many words the cells touch."""
        return -(-self.cells // self.per_word) if self.width else 0

    @property
    def mask(self) -> int:
        """The bits of one cell, not shifted."""
        return (1 << self.width) - 1

    def bit(self, cell: int) -> tuple[int, int]:
        """The word and the bit where a cell begins."""
        return self.word + cell // self.per_word, self.shift + cell % self.per_word * self.width


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of a program's columns. ``words`` are the state's, ``outputs`` those behind it."""

    columns: tuple[Column, ...]
    places: tuple[Place, ...]
    crash: Place
    words: int
    outputs: int

    @property
    def total(self) -> int:
        """Words of a state with its outputs."""
        return self.words + self.outputs

    def pack(self, valuation: Valuation, crash: int = 0) -> Words:
        """The words of a valuation, outputs included; ``crash`` is 0 or one more than the cause.

        ``ValueError`` if a cell that no step writes has another value than at the start.
        """
        packed = [0] * self.total
        for column, place in zip(self.columns, self.places, strict=True):
            codes = valuation[column.offset : column.offset + column.cells]
            if place.width:
                for cell, code in enumerate(codes):
                    word, shift = place.bit(cell)
                    packed[word] |= code << shift
            elif codes != column.initial:
                raise ValueError(f"no step writes '{column.name}'; it is {column.initial}, not {codes}")
        if crash:
            packed[self.crash.word] |= crash << self.crash.shift
        return np.array(packed, np.uint64)

    def unpack(self, words: Words) -> Valuation:
        """The valuation of a state's words; outputs have their initial values if their words are missing."""
        return self.unpack_all(words[np.newaxis])[0]

    def unpack_all(self, states: Words) -> list[Valuation]:
        """The valuations of many states, one row each."""
        shown = states.shape[1] >= self.total
        cells: list[list[int]] = []
        for column, place in zip(self.columns, self.places, strict=True):
            if not place.width or (column.output and not shown):
                cells.extend([code] * len(states) for code in column.initial)
                continue
            for cell in range(column.cells):
                word, shift = place.bit(cell)
                codes = states[:, word] >> np.uint64(shift) & np.uint64(place.mask)
                cells.append(codes.tolist())
        return list(zip(*cells, strict=True))

    def crashed(self, words: Words) -> int | None:
        """The cause of the crash that made this state, if one did."""
        if not self.crash.width:
            return None
        code = int(words[self.crash.word]) >> self.crash.shift & self.crash.mask
        return code - 1 if code else None


def layout_of(program: Program) -> Layout:
    """Place the columns of a program."""
    blocks = [*(a.effect for a in (*program.initial, *program.actions)), *(f.body for f in program.functions)]
    written = {s.column for block in blocks for s in statements_of(block) if isinstance(s, Write)}
    return place(program.columns, len(program.crashes), written)


def place(columns: Sequence[Column], causes: int, written: Container[int]) -> Layout:
    """Place columns of which these are written, in a system that can crash for this many causes."""
    widths = [bits(c.type.size) if i in written else 0 for i, c in enumerate(columns)]
    for column, width in zip(columns, widths, strict=True):
        if width > WORD:
            raise LanguageError(
                f"state variable '{column.name}' of type {column.type} needs {width} bits; "
                f"a value has at most {WORD}: make its domain smaller"
            )
    stored = [i for i, c in enumerate(columns) if not c.output]
    shown = [i for i, c in enumerate(columns) if c.output]
    hidden = len(columns)
    cells = [c.cells for c in columns] + [1]
    widths.append(bits(causes + 1))
    places, words = _placed([*stored, hidden], cells, widths, 0)
    more, end = _placed(shown, cells, widths, words)
    places |= more
    return Layout(tuple(columns), tuple(places[i] for i in range(hidden)), places[hidden], words, end - words)


def _placed(
    items: Sequence[int], cells: Sequence[int], widths: Sequence[int], start: int
) -> tuple[dict[int, Place], int]:
    """Places by item from word ``start`` on, and the first word after them. Widest first, first fit."""
    places: dict[int, Place] = {}
    used: list[int] = []  # bits taken of each word; every word is filled from its low end
    for i in sorted(items, key=lambda i: -widths[i] * cells[i]):
        width = widths[i]
        size = width * cells[i]
        if not size:
            places[i] = Place(start, 0, 0, max(cells[i], 1), cells[i])
        elif size > WORD:
            per_word = WORD // width
            places[i] = Place(start + len(used), 0, width, per_word, cells[i])
            full, rest = divmod(cells[i], per_word)
            used.extend([WORD] * full + ([rest * width] if rest else []))
        else:
            at = next((w for w, taken in enumerate(used) if taken + size <= WORD), len(used))
            if at == len(used):
                used.append(0)
            places[i] = Place(start + at, used[at], width, cells[i], cells[i])
            used[at] += size
    # A state of no bits still takes a word: a store of states needs something to keep.
    return places, start + max(len(used), 1 if start == 0 else 0)
