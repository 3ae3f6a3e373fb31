"""Queens on a chess board, placed row by row so that none attacks another.

Knuth, "The Art of Computer Programming" 7.2.2 (Backtrack programming): for eight queens the tree of
partial placements has 2,057 nodes, by rows 1, 8, 42, 140, 344, 568, 550, 312 and 92
(https://oeis.org/A319235). The last are the solutions (https://oeis.org/A000170).
"""

from slotproof.model.language import (
    Domain,
    Seq,
    State,
    System,
    action,
    field,
    invariant,
    parameter,
    require,
)

queens = parameter("queens", int, 4, "queens to place, and rows of the board")


class Column(Domain, size=queens, names=list("abcdefghijklmnop")):
    """A column of the board."""


class Board(State):
    """A partial placement."""

    placed: Seq[Column] = field((), "the column of the queen in each row, from the first")


def attacks(rows: int, c: Column, d: Column) -> bool:
    """Whether queens in these columns, so many rows apart, attack each other."""
    return c.index - d.index in {0, rows, -rows}


def safe(s: Board, c: Column) -> bool:
    """Whether a queen in the next row and column ``c`` is attacked by none."""
    return not any(
        attacks(len(s.placed) - row, c, s.placed[row]) for row in range(queens) if row < len(s.placed)
    )


@action
def place(s: Board, c: Column) -> None:
    """A queen is placed in the next row, column {c}."""
    require(len(s.placed) < len(Column))
    require(safe(s, c))
    s.placed.append(c)


@invariant
def unsolved(s: Board) -> bool:
    """Does not hold: what breaks it is a solution."""
    return len(s.placed) < len(Column)


def stuck(s: Board) -> bool:
    """All queens are placed, or the next one has no place."""
    return len(s.placed) == len(Column) or not any(safe(s, c) for c in Column)


eight_queens = System("queens", Board, actions=[place], properties=[unsolved], final=stuck)
