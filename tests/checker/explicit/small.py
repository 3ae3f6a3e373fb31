"""Small systems, each for one promise of the search."""

from slotproof.model.language import (
    Annotated,
    Domain,
    Range,
    Set,
    State,
    System,
    action,
    crash,
    field,
    implies,
    invariant,
    output,
    parameter,
    require,
    some,
    step_invariant,
    witness,
)

top = parameter("top", int, 5, "the counter's greatest value")


class Counter(State):
    """A counter and a switch."""

    n: Annotated[int, Range(0, top)] = field(0, "the number")
    on: bool = field(False, "the switch")
    moved: Annotated[int, Range(-5, 5)] = output(0, "by how much the last step moved the number")


@action
def up(s: Counter, by: Annotated[int, Range(1, 2)]) -> None:
    """Count up by {by}."""
    require(s.n + by <= top)
    s.n += by
    s.moved = by


@action
def down(s: Counter) -> None:
    """Count down."""
    require(s.n > 3)
    s.n -= 1
    s.moved = -1


@action
def stay(s: Counter) -> None:
    """Change nothing."""
    require(s.n == 2)


@action
def die(s: Counter) -> None:
    """Crash with the switch on."""
    require(s.n == 4 and not s.on)
    s.on = True
    s.moved = 5
    crash("four")


@invariant
def small_and_off(s: Counter) -> bool:
    """Violated by n = 3 first; the second part never, for a crash state is not judged."""
    return s.n < 3 and not s.on


@step_invariant
def moves_little(before: Counter, after: Counter) -> bool:
    """Violated by the crashing step alone."""
    return after.moved < 5


@step_invariant(on=up)
def never_to_five_by_one(before: Counter, after: Counter, by: Annotated[int, Range(1, 2)]) -> bool:
    """Violated by a step to a known state: five is reached by two first."""
    return not (after.n == 5 and by == 1)


@invariant
def premise_met(s: Counter) -> bool:
    """Holds, and says something."""
    return implies(s.n > 2, s.n > 1)


@invariant
def premise_not_met(s: Counter) -> bool:
    """Holds because the switch is never on."""
    return implies(s.on, s.n == 0)


@invariant
def noted_below_a_false_premise(s: Counter) -> bool:
    """Holds: the switch is never on. All that it implies is evaluated all the same."""
    return implies(s.on, all(n > 4 for n in range(1, 6) if s.n == n) and any(s.n == n for n in range(6)))


@step_invariant(on=stay)
def staying_keeps(before: Counter, after: Counter) -> bool:
    """Holds."""
    return before.n == after.n


@witness
def reaches_four(s: Counter) -> bool:
    """Met at depth two."""
    return s.n == 4


@witness
def switches_on(s: Counter) -> bool:
    """Never met: a crash state does not count."""
    return s.on


def at_the_top(s: Counter) -> bool:
    """Where the counter may stop."""
    return s.n == 5


PROPERTIES = [
    small_and_off,
    moves_little,
    never_to_five_by_one,
    premise_met,
    premise_not_met,
    staying_keeps,
]

counter = System(
    "counter",
    Counter,
    actions=[up, down, stay, die],
    properties=PROPERTIES,
    witnesses=[reaches_four],
)

stuck = System("stuck", Counter, actions=[up], properties=[premise_met], final=None)
stops = System("stops", Counter, actions=[up], properties=[premise_met], final=at_the_top)
vacuous = System("vacuous", Counter, actions=[up, down], properties=[premise_met], witnesses=[switches_on])
noting = System("noting", Counter, actions=[up], properties=[noted_below_a_false_premise])
idle = System("idle", Counter, actions=[up, down, stay], properties=[staying_keeps])


class Holder(State):
    """Something that may hold a number."""

    held: Annotated[int, Range(0, 3)] | None = field(2, "a number or nothing")
    steps: Annotated[int, Range(0, 3)] = field(0, "how many steps")


@action
def lose(s: Holder) -> None:
    """Let go."""
    require(s.held is not None)
    s.held = None


@action
def guarded(s: Holder, at_least: Annotated[int, Range(0, 3)]) -> None:
    """Reads what it holds only where the condition before has made sure of it."""
    require(s.held is not None or at_least > 5)
    require(some(s.held) >= at_least)
    require(s.steps < 3)
    s.steps += 1


@action
def careless(s: Holder) -> None:
    """Reads what it may not hold."""
    require(some(s.held) > 7)


@action
def overflowing(s: Holder) -> None:
    """Leaves its range at the fourth step."""
    s.steps += 1


@invariant
def judged_part_by_part(s: Holder) -> bool:
    """The second part means nothing where the first is false."""
    return s.held is not None and some(s.held) == 2


@invariant
def careless_property(s: Holder) -> bool:
    """Reads what may not be there."""
    return some(s.held) == 2


holder = System("holder", Holder, actions=[lose, guarded], properties=[judged_part_by_part])
careless_guard = System("careless-guard", Holder, actions=[lose, careless])
careless_judge = System("careless-judge", Holder, actions=[lose], properties=[careless_property])
overflow = System("overflow", Holder, actions=[overflowing])

bits = parameter("bits", int, 24, "switches")


class Bit(Domain, size=bits):
    """A switch."""


class Switches(State):
    """Many switches: a state graph of any size."""

    on: Set[Bit] = field(frozenset(), "the switches that are on")


@action
def switch(s: Switches, b: Bit) -> None:
    """Turn {b}."""
    s.on ^= {b}


switches = System("switches", Switches, actions=[switch])


@action
def falling(s: Holder) -> None:
    """Goes back to the start."""
    require(s.steps == 3)
    s.steps = 0


@invariant
def early(s: Holder) -> bool:
    """Violated a step before the model error."""
    return s.steps < 3


@invariant
def never(s: Holder) -> bool:
    """Not violated before the model error."""
    return s.steps < 9


@step_invariant
def never_falls(before: Holder, after: Holder) -> bool:
    """Violated from the state alone from which another step leaves the model."""
    return before.steps <= after.steps


JUDGED = [early, never, never_falls]
ending = System("ending", Holder, actions=[falling, overflowing], properties=JUDGED)
ending_first = System("ending-first", Holder, actions=[overflowing, falling], properties=JUDGED)
