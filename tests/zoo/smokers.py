"""Three smokers, each with plenty of one thing, and a dealer who offers the two others.

Patil (1971). After Mariusz Ryndzionek's module `specifications/CigaretteSmokers/CigaretteSmokers.tla`
of https://github.com/tlaplus/Examples, whose manifest gives 6 distinct states, 15 generated and
depth 2.
"""

import enum

from slotproof.model.language import Map, State, System, action, field, initial, invariant, require


class Ingredient(enum.Enum):
    """What a cigarette is made of; each smoker has plenty of one."""

    MATCHES = "matches"
    PAPER = "paper"
    TOBACCO = "tobacco"


class Room(State):
    """Smokers and dealer."""

    smokes: Map[Ingredient, bool] = field(False, "whether the smoker who has this smokes")
    lacks: Ingredient | None = field(None, "what the offer on the table lacks, if there is one")


@initial
def first_offer(s: Room, missing: Ingredient) -> None:
    """The dealer starts with an offer."""
    s.lacks = missing


@action
def start_smoking(s: Room) -> None:
    """The one who has what is missing smokes."""
    require(s.lacks is not None)
    for i in Ingredient:
        s.smokes[i] = s.lacks == i
    s.lacks = None


@action
def stop_smoking(s: Room, missing: Ingredient) -> None:
    """The smoker ends, and the dealer makes an offer without {missing}."""
    require(s.lacks is None)
    s.smokes[next(i for i in Ingredient if s.smokes[i])] = False
    s.lacks = missing


@invariant
def one_smokes_at_most(s: Room) -> bool:
    """Never do two smoke."""
    return sum(1 for i in Ingredient if s.smokes[i]) <= 1


smokers = System(
    "smokers",
    Room,
    actions=[start_smoking, stop_smoking],
    initial=[first_offer],
    properties=[one_smokes_at_most],
)
