"""Three missionaries and three cannibals cross a river in a boat for two.

Amarel, "On representations of problems of reasoning about actions", Machine Intelligence 3 (1968):
16 positions can be reached, and eleven crossings are the shortest solution. The module
`specifications/MissionariesAndCannibals` of https://github.com/tlaplus/Examples is about the same.
"""

from slotproof.model.language import Annotated, Range, State, System, action, field, invariant, require


class River(State):
    """Who is where."""

    missionaries: Annotated[int, Range(0, 3)] = field(3, "missionaries on the first bank")
    cannibals: Annotated[int, Range(0, 3)] = field(3, "cannibals on the first bank")
    boat_is_away: bool = field(False, "whether the boat is at the other bank")


def safe(missionaries: int, cannibals: int) -> bool:
    """Whether nobody on a bank is eaten."""
    return missionaries == 0 or missionaries >= cannibals


@action
def cross(
    s: River, missionaries: Annotated[int, Range(0, 2)], cannibals: Annotated[int, Range(0, 2)]
) -> None:
    """The boat brings {missionaries} missionaries and {cannibals} cannibals to the other bank."""
    require(1 <= missionaries + cannibals <= 2)
    require(can_leave(s, missionaries, cannibals))
    require(safe(s.missionaries + change(s, missionaries), s.cannibals + change(s, cannibals)))
    require(safe(3 - s.missionaries - change(s, missionaries), 3 - s.cannibals - change(s, cannibals)))
    s.missionaries += change(s, missionaries)
    s.cannibals += change(s, cannibals)
    s.boat_is_away = not s.boat_is_away


def can_leave(s: River, missionaries: int, cannibals: int) -> bool:
    """Whether so many are where the boat is."""
    if s.boat_is_away:
        return missionaries <= 3 - s.missionaries and cannibals <= 3 - s.cannibals
    return missionaries <= s.missionaries and cannibals <= s.cannibals


def change(s: River, passengers: int) -> int:
    """How the boat's way changes the number on the first bank."""
    return passengers if s.boat_is_away else -passengers


@invariant
def nobody_is_eaten(s: River) -> bool:
    """On both banks the missionaries, if any, are no fewer than the cannibals."""
    return safe(s.missionaries, s.cannibals) and safe(3 - s.missionaries, 3 - s.cannibals)


@invariant
def somebody_is_left(s: River) -> bool:
    """Does not hold: what breaks it is the solution."""
    return s.missionaries + s.cannibals > 0


river = System("river", River, actions=[cross], properties=[nobody_is_eaten, somebody_is_left])
