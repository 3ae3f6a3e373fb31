"""The canonical state of an orbit: the one whose words are the least of all its images.

Exported: ``i64 canonical(context, state)`` replaces the words of a state; 1 if it was another one.

An image is made word by word. Values that only change their place are moved together, as many as go the
same way; values that are elements of a renamed domain are looked up in a table. Most images are given up
at their first word, which is greater.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from slotproof.checker.explicit.assembly import Assembly
from slotproof.model.language.columns import Column
from slotproof.model.language.layout import WORD, Layout, Place
from slotproof.model.language.program import Program
from slotproof.model.language.symmetry import (
    Permutation,
    length_of,
    moved_cells,
    moved_code,
    moves_values,
)

TABLE_BITS = 6
"""Values of more bits are not looked up in a table of constants: it would be too large."""


def canonical_text(program: Program, layout: Layout, permutations: Sequence[Permutation]) -> str:
    """The functions for these permutations, of which the first moves nothing."""
    functions = [_Image(program, layout, p).text(i) for i, p in enumerate(permutations) if i]
    asm = Assembly()
    changed = asm.variable()
    asm.store("0", changed)
    least = asm.variable(f"[{layout.words} x i64]")
    for word in range(layout.words):
        asm.store(asm.load(asm.at("%state", word)), asm.at(least, word))
    for i in range(1, len(permutations)):
        smaller = asm.get(f"call i64 @image{i}(ptr %state, ptr {least})")
        asm.store(asm.get(f"or i64 {asm.load(changed)}, {smaller}"), changed)
    for word in range(layout.words):
        asm.store(asm.load(asm.at(least, word)), asm.at("%state", word))
    asm.ret(f"i64 {asm.load(changed)}")
    whole = asm.function("i64 @canonical(ptr noalias %ctx, ptr noalias %state) nounwind")
    return "\n\n".join([*functions, whole])


class _Image:
    """Emits the function that compares one image with the least so far, and keeps it if it is less."""

    def __init__(self, program: Program, layout: Layout, permutation: Permutation) -> None:
        self.program = program
        self.layout = layout
        self.permutation = permutation
        self.asm = Assembly()
        self.moves: dict[int, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
        """By the word of the image: masks of the bits that come from a word, shifted left by so much."""
        self.looked_up: dict[int, list[tuple[Column, Place, int, int]]] = defaultdict(list)
        """By the word of the image: cells whose values are renamed, and the bit where they go."""
        for column, place in zip(program.columns, layout.places, strict=True):
            if not column.output and place.width:
                self._column(column, place)
        if layout.crash.width:
            crash = layout.crash
            self.moves[crash.word][crash.word, 0] |= crash.mask << crash.shift

    def _column(self, column: Column, place: Place) -> None:
        renamed = moves_values(column.type, self.permutation)
        for cell, to in enumerate(moved_cells(column, self.permutation)):
            word, bit = place.bit(cell)
            target, shift = place.bit(to)
            if renamed:
                self.looked_up[target].append((column, place, cell, shift))
            else:
                self.moves[target][word, shift - bit] |= place.mask << bit

    def text(self, number: int) -> str:
        """The function ``i64 imageN(state, least)``: 1 if the image is less, which is then the least."""
        asm, words = self.asm, self.layout.words
        greater, less = asm.label("greater"), asm.label("less")
        image = []
        for word in range(words):
            image.append(self._word(word))
            known = asm.load(asm.at("%least", word))
            differs, smaller, after = asm.label("differs"), less, asm.label("same")
            asm.branch(asm.get(f"icmp eq i64 {image[word]}, {known}"), after, differs)
            asm.place(differs)
            asm.branch(asm.get(f"icmp ult i64 {image[word]}, {known}"), smaller, greater)
            asm.place(after)
        asm.jump(greater)  # the same
        asm.place(less)
        for word in range(words):
            asm.store(self._word(word), asm.at("%least", word))
        asm.ret("i64 1")
        asm.place(greater)
        asm.ret("i64 0")
        return asm.function(
            f"internal i64 @image{number}(ptr noalias readonly %state, ptr noalias %least) noinline nounwind"
        )

    def _word(self, word: int) -> str:
        asm = self.asm
        value = "0"
        for (source, shift), mask in self.moves[word].items():
            part = asm.get(f"and i64 {asm.load(asm.at('%state', source))}, {mask}")
            value = self._or(value, self._shifted(part, shift))
        for column, place, cell, shift in self.looked_up[word]:
            value = self._or(value, self._shifted(self._renamed(column, place, cell), shift))
        return value

    def _or(self, a: str, b: str) -> str:
        return b if a == "0" else self.asm.get(f"or i64 {a}, {b}")

    def _shifted(self, value: str, by: int) -> str:
        if by == 0:
            return value
        return self.asm.get(f"{'shl' if by > 0 else 'lshr'} i64 {value}, {abs(by)}")

    def _cell(self, place: Place, cell: int) -> str:
        word, bit = place.bit(cell)
        value = self._shifted(self.asm.load(self.asm.at("%state", word)), -bit)
        return value if place.width == WORD else self.asm.get(f"and i64 {value}, {place.mask}")

    def _renamed(self, column: Column, place: Place, cell: int) -> str:
        """The code of a cell after its elements are renamed; 0 behind the end of a sequence."""
        asm = self.asm
        code = self._cell(place, cell)
        result = "0"
        if column.type.size <= 1 << TABLE_BITS:
            for old in range(column.type.size):
                new = moved_code(column.type, self.permutation, old)
                if new:
                    same = asm.get(f"icmp eq i64 {code}, {old}")
                    result = asm.get(f"select i1 {same}, i64 {new}, i64 {result}")
        else:  # a set of many elements: bit by bit
            for bit in range(place.width):
                new = moved_code(column.type, self.permutation, 1 << bit)
                there = self._shifted(asm.get(f"and i64 {code}, {1 << bit}"), new.bit_length() - 1 - bit)
                result = self._or(result, there)
        lengths = length_of(self.program, column)
        if lengths is None:
            return result
        length_place = self.layout.places[self.program.columns.index(lengths)]
        capacity = column.dims[-1]
        length = str(lengths.initial[cell // capacity])
        if length_place.width:
            length = self._cell(length_place, cell // capacity)
        inside = asm.get(f"icmp ult i64 {cell % capacity}, {length}")
        return asm.get(f"select i1 {inside}, i64 {result}, i64 {code}")
