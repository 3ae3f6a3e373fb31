"""What cannot influence what is asked is not searched; verdicts and traces are those of the whole."""

from dataclasses import replace
from typing import Annotated

import pytest

from slotproof.checker.explicit.engine import explore
from slotproof.checker.verdict import Holds, Violated
from slotproof.counterexamples.verify import verify
from slotproof.model.language import (
    Capacity,
    Domain,
    Map,
    Range,
    Seq,
    State,
    System,
    action,
    crash,
    field,
    implies,
    invariant,
    require,
    step_invariant,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from slotproof.model.language.slicing import sliced
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.checker.explicit import small
from tests.zoo.known import SMALL, Known


class Lamp(Domain, size=3):
    """A lamp that nobody looks at."""


class House(State):
    """A counter, lamps beside it, and a list of what happened that is never read."""

    n: Annotated[int, Range(0, 5)] = field(0, "what the properties are about")
    limit: Annotated[int, Range(3, 5)] = field(5, "how far the counter goes; another action changes it")
    lit: Map[Lamp, bool] = field(False, "whether each lamp is lit")
    seen: Annotated[Seq[Lamp], Capacity(2)] = field((), "the last lamps that were switched")


def remember(s: House, x: Lamp) -> None:
    """Keep the last two."""
    if len(s.seen) == 2:
        s.seen.pop(0)
    s.seen.append(x)


@action
def up(s: House) -> None:
    """Count, and switch the first lamp."""
    require(s.n < s.limit)
    if not s.lit[Lamp(0)]:
        remember(s, Lamp(0))
    s.lit[Lamp(0)] = not s.lit[Lamp(0)]
    s.n += 1


@action
def switch(s: House, x: Lamp) -> None:
    """Switch {x}."""
    s.lit[x] = not s.lit[x]
    remember(s, x)


@action
def lower(s: House) -> None:
    """Let the counter go less far."""
    require(s.limit > 3)
    s.limit -= 1


@action
def burn(s: House) -> None:
    """All lamps at once are too much."""
    require(all(s.lit[x] for x in Lamp))
    crash("fuse")


@invariant
def small_enough(s: House) -> bool:
    """The counter stays below five."""
    return s.n < 5


@invariant
def lit_after_odd(s: House) -> bool:
    """Holds of the limit alone."""
    return implies(s.limit == 4, s.limit > 3)


@step_invariant
def by_one(before: House, after: House) -> bool:
    """No step counts by two."""
    return after.n - before.n < 2


@step_invariant(on=lower)
def lowers(before: House, after: House) -> bool:
    """Is about one action."""
    return after.limit < before.limit


calm = System(
    "calm", House, actions=[up, switch, lower], properties=[small_enough, lit_after_odd, by_one, lowers]
)
deadly = replace(calm, name="deadly", actions=[up, switch, lower, burn])


def left_out(program: Program, *asked: str) -> tuple[set[str], set[str]]:
    part = sliced(program, asked)
    return set(part.columns), set(part.actions)


LAMPS = {"lit[]", "seen.len", "seen[#]"}


def test_the_cone_of_influence() -> None:
    program = compile_system(calm)
    assert left_out(program, "small-enough") == (LAMPS, {"switch"})
    assert left_out(program, "lit-after-odd") == (LAMPS | {"n"}, {"up", "switch"})
    assert left_out(program, "lowers") == (LAMPS | {"n"}, {"up", "switch"})
    assert left_out(program, "lit-after-odd", "small-enough") == (LAMPS, {"switch"})


def test_every_step_and_every_guard_count_where_they_are_asked_for() -> None:
    program = compile_system(calm)
    assert left_out(program, "by-one") == (LAMPS, set())
    assert left_out(program, "deadlock") == (LAMPS, set())


def test_a_crash_ends_a_run_and_is_never_left_out() -> None:
    program = compile_system(deadly)
    assert left_out(program, "small-enough") == ({"seen.len", "seen[#]"}, set())
    assert left_out(program, "no-crash-fuse") == ({"seen.len", "seen[#]"}, set())


def test_the_search_is_smaller_and_says_what_it_leaves_out() -> None:
    program = compile_system(calm)
    whole, part = explore(program), explore(program, asked=["small-enough"])
    assert part.coverage.states < whole.coverage.states / 20
    assert list(part.verdicts()) == ["small-enough"]
    variables, steps = part.coverage.notes
    assert variables == "sliced: lit[], seen.len, seen[#] cannot make a difference to what is asked"
    assert steps == "sliced: steps of switch cannot make a difference to what is asked"
    assert set(part.coverage.fired) == {"up", "lower"}


def test_a_trace_of_a_part_is_one_of_the_whole() -> None:
    program = compile_system(calm)
    (verdict,) = explore(program, asked=["small-enough"]).verdicts().values()
    assert isinstance(verdict, Violated)
    trace = verdict.trace
    assert len(trace) == 5
    lit = next(c for c in program.columns if c.name == "lit[]").offset
    assert [state[lit] for state in trace.states] == [0, 1, 0, 1, 0, 1]
    verify(trace, program)


def assert_same_verdicts(program: Program, choices: tuple[int, ...]) -> None:
    for name, verdict in explore(program, choices).verdicts().items():
        part = explore(program, choices, asked=[name])
        (only,) = part.verdicts().values()
        assert type(only) is type(verdict), name
        if isinstance(verdict, Violated) and isinstance(only, Violated):
            assert [(len(t), t.part) for t in only.traces] == [(len(t), t.part) for t in verdict.traces]


@pytest.mark.parametrize(
    "system", [calm, deadly, small.counter, small.stuck, small.stops], ids=lambda s: s.name
)
def test_verdicts_are_those_of_the_whole(system: System) -> None:
    assert_same_verdicts(compile_system(system), ())


@pytest.mark.parametrize("known", SMALL[::2], ids=lambda k: k.name)
def test_verdicts_are_those_of_the_whole_zoo(known: Known) -> None:
    program = compile_system(known.sized)
    assert_same_verdicts(program, program.choices(known.sized.choices))


def test_a_part_of_the_server_has_the_verdicts_of_the_whole() -> None:
    system = SCENARIOS["overlap-cancel"].system(release("0.5.12.post1"))
    program = compile_system(system)
    choices = program.choices(system.choices)
    asked = ["no-slot-leak", "use-count", "deadlock"]
    whole, part = explore(program, choices).verdicts(), explore(program, choices, asked=asked)
    assert {n: type(v) for n, v in part.verdicts().items()} == {n: type(whole[n]) for n in asked}
    assert isinstance(part.verdicts()["no-slot-leak"], Violated)
    assert isinstance(part.verdicts()["deadlock"], Holds)
    assert any("sliced" in note for note in part.coverage.notes)
