"""A can of black and white coffee beans: two are drawn, one is put back, until one is left.

From Gries, "The Science of Programming" (1981), page 165. After Andrew Helwer's module
`specifications/CoffeeCan/CoffeeCan.tla` of https://github.com/tlaplus/Examples, whose manifest gives
for up to 100 beans 5,150 distinct states, 20,002 generated and depth 1: all states are initial. Its
steps that change nothing, one in each of two final states, are no steps here.
"""

from slotproof.model.language import (
    Annotated,
    Range,
    State,
    System,
    action,
    field,
    initial,
    invariant,
    parameter,
    require,
    step_invariant,
)

beans = parameter("beans", int, 10, "the most beans in the can")


class Can(State):
    """What is in the can."""

    black: Annotated[int, Range(0, beans)] = field(0, "black beans")
    white: Annotated[int, Range(0, beans)] = field(1, "white beans")


@initial
def fill(s: Can, black: Annotated[int, Range(0, beans)], white: Annotated[int, Range(0, beans)]) -> None:
    """The can starts with at least one bean."""
    require(1 <= black + white <= beans)
    s.black = black
    s.white = white


@action
def draw_two_black(s: Can) -> None:
    """Two black beans: one of them goes back."""
    require(s.black >= 2)
    s.black -= 1


@action
def draw_two_white(s: Can) -> None:
    """Two white beans: a black one goes back instead."""
    require(s.white >= 2)
    s.white -= 2
    s.black += 1


@action
def draw_both_colors(s: Can) -> None:
    """A black and a white bean: the white one goes back."""
    require(s.black >= 1 and s.white >= 1)
    s.black -= 1


@step_invariant
def one_bean_fewer(before: Can, after: Can) -> bool:
    """Every step takes one bean out."""
    return after.black + after.white == before.black + before.white - 1


@step_invariant
def parity_stays(before: Can, after: Can) -> bool:
    """The white beans stay even, or odd."""
    return after.white % 2 == before.white % 2


@invariant
def never_empty(s: Can) -> bool:
    """There is always a bean left."""
    return s.black + s.white >= 1


def one_is_left(s: Can) -> bool:
    """Two beans cannot be drawn."""
    return s.black + s.white == 1


coffee_can = System(
    "coffee-can",
    Can,
    actions=[draw_two_black, draw_two_white, draw_both_colors],
    initial=[fill],
    properties=[one_bean_fewer, parity_stays, never_empty],
    final=one_is_left,
)
