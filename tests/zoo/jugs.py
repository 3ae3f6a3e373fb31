"""Four gallons are to be measured with a jug of five and a jug of three.

After Leslie Lamport's module `specifications/DieHard/DieHard.tla` of
https://github.com/tlaplus/Examples: six steps are the shortest solution, and TLC, asked for no
solution, reports 97 states generated, 16 distinct and depth 8.
"""

from slotproof.model.language import Annotated, Range, State, System, action, field, invariant


class Jugs(State):
    """What is in the jugs."""

    big: Annotated[int, Range(0, 5)] = field(0, "gallons in the big jug")
    small: Annotated[int, Range(0, 3)] = field(0, "gallons in the small jug")


@action
def fill_big(s: Jugs) -> None:
    """The big jug is filled."""
    s.big = 5


@action
def fill_small(s: Jugs) -> None:
    """The small jug is filled."""
    s.small = 3


@action
def empty_big(s: Jugs) -> None:
    """The big jug is emptied."""
    s.big = 0


@action
def empty_small(s: Jugs) -> None:
    """The small jug is emptied."""
    s.small = 0


@action
def pour_into_big(s: Jugs) -> None:
    """The small jug is poured into the big one, as far as it goes."""
    poured = min(s.small, 5 - s.big)
    s.big += poured
    s.small -= poured


@action
def pour_into_small(s: Jugs) -> None:
    """The big jug is poured into the small one, as far as it goes."""
    poured = min(s.big, 3 - s.small)
    s.small += poured
    s.big -= poured


@invariant
def never_four_gallons(s: Jugs) -> bool:
    """Does not hold: what breaks it is the solution."""
    return s.big != 4


jugs = System(
    "jugs",
    Jugs,
    actions=[fill_big, fill_small, empty_big, empty_small, pour_into_big, pour_into_small],
    properties=[never_four_gallons],
)
