"""Eight tiles on a board of nine cells: the blank changes places with a neighbor.

Reinefeld, "Complete solution of the eight-puzzle and the benefit of node ordering in IDA*" (IJCAI
1993): half of the 9! positions, 181,440, can be reached; none is more than 31 moves away, and two are.
A blank has 4 neighbors in the middle, 3 at an edge, 2 in a corner: 24 / 9 in the mean, which makes
483,840 moves.
"""

from slotproof.model.language import Domain, Map, State, System, action, field, require


class Cell(Domain, size=9, names="c{n}"):
    """A place on the board, row by row."""


class Tile(Domain, size=9, names=["1", "2", "3", "4", "5", "6", "7", "8", "blank"]):
    """What lies in a cell."""


class Board(State):
    """A position, starting from the solved one."""

    tile: Map[Cell, Tile] = field({Cell(i): Tile(i) for i in range(9)}, "what lies in each cell")


def blank(s: Board) -> Cell:
    """The cell without a tile."""
    return next(c for c in Cell if s.tile[c] == Tile(8))


def neighbors(c: Cell, d: Cell) -> bool:
    """Whether two cells share an edge."""
    down = c.index // 3 - d.index // 3
    right = c.index % 3 - d.index % 3
    return down * down + right * right == 1


@action
def slide(s: Board, c: Cell) -> None:
    """The tile in {c} slides into the blank."""
    require(neighbors(c, blank(s)))
    s.tile[blank(s)] = s.tile[c]
    s.tile[c] = Tile(8)


eight_puzzle = System("eight-puzzle", Board, actions=[slide])
