"""A coin that is tossed again and again, or once.

Baier and Katoen, "Principles of Model Checking" (2008), section 3.5: nothing but strong fairness of both
sides makes heads and tails come up again and again. Tossed once, the coin shows one side: that it shows
heads in the end, and that it shows tails, contradict each other, and neither is certain.
"""

import enum

from slotproof.model.language import (
    State,
    System,
    action,
    eventually,
    field,
    leads_to,
    parameter,
    require,
    strong,
    weak,
)

again = parameter("again", bool, True, "the coin is tossed again")


class Side(enum.Enum):
    """Where the coin is."""

    AIR = "in the air"
    HEADS = "heads"
    TAILS = "tails"


class Coin(State):
    """The coin."""

    shows: Side = field(Side.AIR, "the side that it shows")


@action
def lands(s: Coin, side: Side) -> None:
    """The coin shows {side}."""
    require(s.shows == Side.AIR and side != Side.AIR)
    s.shows = side


@action
def toss(s: Coin) -> None:
    """The coin is tossed."""
    require(again)
    require(s.shows != Side.AIR)
    s.shows = Side.AIR


@eventually
def heads(s: Coin) -> bool:
    """A coin in the air shows heads in the end."""
    return leads_to(s.shows == Side.AIR, s.shows == Side.HEADS)


@eventually
def tails(s: Coin) -> bool:
    """A coin in the air shows tails in the end."""
    return leads_to(s.shows == Side.AIR, s.shows == Side.TAILS)


@eventually
def lands_at_all(s: Coin) -> bool:
    """A coin in the air comes down."""
    return leads_to(s.shows == Side.AIR, s.shows != Side.AIR)


def rests(s: Coin) -> bool:
    """The coin lies."""
    return s.shows != Side.AIR


PROPERTIES = [heads, tails, lands_at_all]

fair_coin = System(
    "fair-coin",
    Coin,
    actions=[lands, toss],
    properties=PROPERTIES,
    final=rests,
    fairness=[weak(toss), strong(lands, each="side")],
)
any_coin = System(
    "any-coin",
    Coin,
    actions=[lands, toss],
    properties=PROPERTIES,
    final=rests,
    fairness=[weak(toss), weak(lands)],
)
