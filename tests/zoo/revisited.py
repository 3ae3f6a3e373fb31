"""Small graphs on which searches for liveness have gone wrong.

Stateright (https://github.com/stateright/stateright) names one in a test of its own,
`fixme_can_miss_counterexample_when_revisiting_a_state`: "odd in the end" is false on a cycle of even
numbers, and a search that does not go into a state twice never sees the cycle; another is a state that is
reached by two ways, one of which has met the goal.
"""

from slotproof.model.language import (
    Annotated,
    Range,
    State,
    System,
    action,
    eventually,
    field,
    initial,
    leads_to,
    parameter,
    require,
    weak,
)

Number = Annotated[int, Range(0, 6)]


class Walk(State):
    """Where one is."""

    at: Number = field(0, "the number where one is")
    start: bool = field(True, "whether no step has been taken")


@initial
def begin_at(s: Walk, odd: bool) -> None:
    """At 0 or 1."""
    s.at = 1 if odd else 0


cycle = parameter("cycle", bool, True, "one can go from 4 back to 2")


@action
def go(s: Walk, to: Number) -> None:
    """To {to}."""
    require(
        (s.at == 0 and to == 2)
        or (s.at == 2 and to == 4)
        or (cycle and s.at == 4 and to == 2)
        or (s.at == 1 and to == 4)
        or (s.at == 4 and to == 6)
        or (s.at == 6 and to == 5)
    )
    s.at = to
    s.start = False


@eventually
def odd_in_the_end(s: Walk) -> bool:
    """Every walk gets to an odd number."""
    return leads_to(s.start, s.at % 2 == 1)


@eventually
def even_in_the_end(s: Walk) -> bool:
    """Every walk gets to an even number."""
    return leads_to(s.start, s.at % 2 == 0)


@eventually
def even_again(s: Walk) -> bool:
    """Every walk gets to an even number again, wherever it is."""
    return leads_to(True, s.at % 2 == 0)


def done(s: Walk) -> bool:
    """At the end."""
    return s.at == 5


revisited = System(
    "revisited",
    Walk,
    actions=[go],
    initial=[begin_at],
    properties=[odd_in_the_end, even_in_the_end, even_again],
    final=done,
    fairness=[weak(go)],
)
