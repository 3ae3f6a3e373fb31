"""Layouts: every valuation survives packing, no cell straddles a word, outputs lie behind the state."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotproof.model.language.columns import Column
from slotproof.model.language.domains import Domain
from slotproof.model.language.errors import LanguageError
from slotproof.model.language.layout import Layout, place
from slotproof.model.language.types import (
    BoolType,
    IndexType,
    IntType,
    OptionalType,
    ScalarType,
    SetType,
)


class Thing(Domain, size=64):
    """Something to put into sets."""


def things(size: int) -> IndexType:
    return IndexType(Thing, size)


SCALARS: st.SearchStrategy[ScalarType] = st.one_of(
    st.just(BoolType()),
    st.builds(lambda low, size: IntType(low, low + size), st.integers(-50, 50), st.integers(0, 3000)),
    st.builds(things, st.integers(1, 64)),
    st.builds(lambda n: SetType(things(n)), st.sampled_from([1, 2, 3, 5, 17, 33, 63, 64])),
    st.builds(lambda n: OptionalType(things(n)), st.integers(1, 64)),
    st.builds(lambda n: OptionalType(SetType(things(n))), st.sampled_from([1, 4, 63])),
)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Column, ...]:
    """Columns of any types and dimensions; some are outputs."""
    made: list[Column] = []
    offset = 0
    for i in range(draw(st.integers(1, 8))):
        type_ = draw(SCALARS)
        dims = tuple(draw(st.lists(st.integers(1, 5), max_size=3)))
        output = draw(st.booleans())
        initial = (0,) * prod(dims)
        made.append(Column(f"c{i}", (), dims, type_, offset, initial, "", output))
        offset += prod(dims)
    return tuple(made)


@st.composite
def valuations(draw: st.DrawFn) -> tuple[Layout, tuple[int, ...], int, int]:
    """A layout, a valuation that fits it, a number of crash causes, and a crash code."""
    drawn = draw(columns())
    causes = draw(st.integers(0, 5))
    layout = place(drawn, causes, range(len(drawn)))
    codes = tuple(draw(st.integers(0, c.type.size - 1)) for c in drawn for _ in range(c.cells))
    return layout, codes, causes, draw(st.integers(0, causes))


@given(valuations())
def test_a_valuation_survives_packing(drawn: tuple[Layout, tuple[int, ...], int, int]) -> None:
    layout, codes, _, crash = drawn
    words = layout.pack(codes, crash)
    assert words.dtype == np.uint64
    assert len(words) == layout.words + layout.outputs
    assert layout.unpack(words) == codes
    assert layout.crashed(words) == (crash - 1 if crash else None)


@given(valuations())
def test_stored_words_alone_give_outputs_their_initial_values(
    drawn: tuple[Layout, tuple[int, ...], int, int],
) -> None:
    layout, codes, _, crash = drawn
    expected: list[int] = []
    for c in layout.columns:
        expected.extend(c.initial if c.output else codes[c.offset : c.offset + c.cells])
    words = layout.pack(codes, crash)[: layout.words]
    assert layout.unpack(words) == tuple(expected)
    assert layout.crashed(words) == (crash - 1 if crash else None)


@given(valuations())
def test_cells_share_no_bit_and_straddle_no_word(drawn: tuple[Layout, tuple[int, ...], int, int]) -> None:
    layout, _, _, _ = drawn
    taken: set[tuple[int, int]] = set()
    for column, where in [*zip(layout.columns, layout.places, strict=True), (None, layout.crash)]:
        for cell in range(where.cells if where.width else 0):
            word, bit = where.bit(cell)
            assert bit + where.width <= 64
            bits = {(word, b) for b in range(bit, bit + where.width)}
            assert not bits & taken
            taken |= bits
            stored = column is None or not column.output
            assert (word < layout.words) == stored
            assert word < layout.total


def scalars(*types: ScalarType, dims: tuple[int, ...] = ()) -> tuple[Column, ...]:
    cells = prod(dims)
    return tuple(
        Column(f"c{i}", (), dims, t, i * cells, (0,) * cells, "", False) for i, t in enumerate(types)
    )


def test_small_columns_share_one_word() -> None:
    layout = place(scalars(BoolType(), IntType(0, 1000), SetType(things(40)), BoolType()), 3, range(4))
    assert layout.words == 1


def test_a_column_that_no_step_writes_takes_no_room() -> None:
    layout = place(scalars(SetType(things(64)), BoolType()), 0, {1})
    assert layout.words == 1
    assert layout.unpack(layout.pack((0, 1))) == (0, 1)
    with pytest.raises(ValueError, match="no step writes 'c0'"):
        layout.pack((5, 1))


def test_a_state_without_bits_takes_one_word() -> None:
    layout = place(scalars(IntType(3, 3)), 0, {0})
    assert layout.words == 1
    assert layout.unpack(layout.pack((0,))) == (0,)


def test_a_value_that_fits_no_word_is_an_error_that_names_it() -> None:
    wide: Any = OptionalType(SetType(things(64)))
    with pytest.raises(LanguageError, match=r"'c0' of type .* needs 65 bits"):
        place(scalars(wide), 0, {0})
