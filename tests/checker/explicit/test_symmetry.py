"""A search of orbits: the same verdicts, real traces, counted members, and false declarations refused."""

from dataclasses import replace
from typing import Annotated, Any

import pytest

from slotproof.checker.explicit.engine import explore, layers
from slotproof.checker.explicit.native import native
from slotproof.checker.explicit.search import Search
from slotproof.checker.explicit.symmetry import orbit_sizes
from slotproof.checker.verdict import Limits, Violated
from slotproof.model.language import (
    Alike,
    Capacity,
    Domain,
    LanguageError,
    Map,
    Seq,
    Set,
    State,
    Swapped,
    System,
    action,
    crash,
    field,
    invariant,
    require,
    step_invariant,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.language.symmetry import Interchangeable, group, moved
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.zoo import allocator, readers_writers, simple_allocator, transaction_commit, two_phase_commit


class Worker(Domain, size=3, names="w{n}"):
    """Someone who waits in line."""


class Tool(Domain, size=2, names="t{n}"):
    """Something of which there are two."""


class Shop(State):
    """Workers in line for tools; every kind of value that renaming has to reach."""

    line: Annotated[Seq[Worker], Capacity(3)] = field((), "who waits, the first in front")
    user: Map[Tool, Worker | None] = field(None, "who has each tool")
    done: Set[Worker] = field(frozenset(), "who has finished")
    last: Worker | None = field(None, "who came last")


@action
def come(s: Shop, w: Worker) -> None:
    """{w} joins the line."""
    require(all(x != w for x in s.line))
    require(w not in s.done and all(s.user[t] != w for t in Tool))
    s.line.append(w)
    s.last = w


@action
def take(s: Shop, t: Tool) -> None:
    """The first in line takes {t}."""
    require(len(s.line) > 0 and s.user[t] is None)
    s.user[t] = s.line[0]
    s.line.pop(0)


@action
def give_back(s: Shop, t: Tool) -> None:
    """{t} is given back."""
    require(s.user[t] is not None)
    for w in Worker:
        if s.user[t] == w:
            s.done |= {w}
    s.user[t] = None
    if len(s.done) == len(Worker):
        crash("all done")


@invariant
def never_two_done(s: Shop) -> bool:
    """Fails when two have finished."""
    return len(s.done) < 2


@step_invariant
def tools_rest(before: Shop, after: Shop) -> bool:
    """Fails when both tools are taken."""
    return not all(after.user[t] is not None for t in Tool)


shop = System(
    "shop",
    Shop,
    actions=[come, take, give_back],
    properties=[never_two_done, tools_rest],
    interchangeable=[Alike(Worker), Alike(Tool)],
)


@action
def first_come(s: Shop) -> None:
    """The first worker joins the line, and none else can."""
    require(len(s.line) == 0)
    s.line.append(Worker(0))


def compiled(system: System) -> tuple[Program, tuple[int, ...]]:
    program = compile_system(system)
    return program, program.choices(system.choices)


SYSTEMS = [
    shop,
    allocator.allocator,
    allocator.allocator.with_parameters(requests=5),
    replace(two_phase_commit.two_phase_commit, interchangeable=[Alike(two_phase_commit.Manager)]),
    replace(transaction_commit.transaction_commit, interchangeable=[Alike(transaction_commit.Manager)]),
    replace(
        simple_allocator.simple_allocator,
        interchangeable=[Alike(simple_allocator.Client), Alike(simple_allocator.Resource)],
    ),
    replace(readers_writers.readers_writers, interchangeable=[Alike(readers_writers.Actor)]),
]


def assert_like_the_whole(system: System) -> None:
    """Verdicts, lengths of traces and depth are those of the whole graph, whose states the orbits sum to."""
    program, choices = compiled(system)
    whole, orbits = explore(program, choices), explore(program, choices, symmetric=True)
    assert orbits.coverage.depth == whole.coverage.depth
    assert orbits.coverage.premises == whole.coverage.premises
    assert orbits.coverage.witnesses == whole.coverage.witnesses
    one, other = whole.verdicts(), orbits.verdicts()
    assert {n: type(v) for n, v in one.items()} == {n: type(v) for n, v in other.items()}
    for name, verdict in one.items():
        if isinstance(verdict, Violated):
            found = other[name]
            assert isinstance(found, Violated)
            assert [(len(t), t.part) for t in found.traces] == [(len(t), t.part) for t in verdict.traces]
            for trace in found.traces:
                assert_real(program, choices, trace.states, trace.steps)
    search = Search(program, choices, Limits(), symmetric=True)
    search.run()
    assert sum(orbit_sizes(program, search, group(program))) == whole.coverage.states


def assert_real(program: Program, choices: tuple[int, ...], states: Any, steps: Any) -> None:
    interpreter = Interpreter(program, choices)
    for before, step, after in zip(states, steps, states[1:], strict=False):
        found = [
            o.state
            for number, numbers, o in interpreter.successors(before)
            if (program.actions[number].name, interpreter.arguments(program.actions[number], numbers))
            == (step.action, step.arguments)
        ]
        assert found == [after]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_orbits_answer_as_the_whole_graph(system: System) -> None:
    assert_like_the_whole(system)


def test_there_are_fewer_orbits_than_states_and_they_are_said_to_be_orbits() -> None:
    program, choices = compiled(shop)
    whole, orbits = explore(program, choices).coverage, explore(program, choices, symmetric=True).coverage
    assert orbits.states * 6 < whole.states
    assert whole.notes == ()
    assert orbits.notes == ("one state of each orbit of 12 renamings: Alike(Worker), Alike(Tool)",)


def test_the_canonical_state_is_the_least_image() -> None:
    program, choices = compiled(shop)
    code = native(program, symmetric=True)
    context = code.slots.fresh(choices)
    renamings = group(program)
    for state in (s for layer in layers(program, choices) for s in layer):
        images = [code.layout.pack(moved(program, p, state)).tolist()[: code.layout.words] for p in renamings]
        assert code.canonical(context, code.layout.pack(state)).tolist() == min(images)


@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_workers_finds_the_same_orbits(workers: int) -> None:
    program, choices = compiled(allocator.allocator.with_parameters(requests=6))
    one = explore(program, choices, symmetric=True)
    more = explore(program, choices, symmetric=True, workers=workers)
    assert replace(more.coverage, seconds=0.0) == replace(one.coverage, seconds=0.0)


def test_swapped_moves_several_domains_at_once() -> None:
    pairs = (
        (allocator.Adapter, "A", "B"), (allocator.Request, "r1", "r2"), (allocator.Request, "r4", "r5")
    )  # fmt: skip
    system = replace(
        allocator.allocator.with_parameters(requests=6),
        interchangeable=[Alike(allocator.Slot), Swapped(*pairs)],
    )
    assert_like_the_whole(system)


WRONG: list[tuple[System, Interchangeable, str]] = [
    (shop, Alike(Worker, by=lambda n, _: n // 2), ""),
    (
        replace(shop, actions=[first_come, take, give_back]),
        Alike(Worker),
        "w1 and w2 cannot be exchanged",
    ),
    (
        allocator.allocator,
        Alike(allocator.Request),
        r"r3 and r4 cannot be exchanged: step \w+\(r=.*\) differs in phase",
    ),
    (allocator.allocator, Alike(allocator.Adapter), r"A and B cannot be exchanged: step"),
    (
        allocator.allocator,
        Swapped((allocator.Adapter, "A", "B"), (allocator.Request, "r1", "r3")),
        r"A and B, r1 and r3 cannot be exchanged",
    ),
]


@pytest.mark.parametrize(("system", "declared", "what"), WRONG)
def test_a_wrong_declaration_is_refused_with_what_breaks_it(
    system: System, declared: Interchangeable, what: str
) -> None:
    program, choices = compiled(replace(system, interchangeable=[declared]))
    if not what:  # true of the shop
        explore(program, choices, symmetric=True)
        return
    with pytest.raises(LanguageError, match=what):
        explore(program, choices, symmetric=True)


def test_a_property_of_one_element_alone_is_refused() -> None:
    @invariant
    def first_never_done(s: Shop) -> bool:
        """Names one worker."""
        return Worker(0) not in s.done

    system = replace(shop, properties=[first_never_done])
    program, choices = compiled(system)
    with pytest.raises(LanguageError, match="property first-never-done differs"):
        explore(program, choices, symmetric=True)


def test_what_cannot_be_meant_is_named() -> None:
    class Other(Domain, size=2):
        """Of nothing."""

    cases: list[tuple[Interchangeable, str]] = [
        (Alike(Other), "nothing in its state is of that domain"),
        (Swapped((Worker, "w1", "w9")), "Worker has no element 'w9'; it has: w1, w2, w3"),
    ]
    for declared, what in cases:
        program, choices = compiled(replace(shop, interchangeable=[declared]))
        with pytest.raises(LanguageError, match=what):
            explore(program, choices, symmetric=True)
    with pytest.raises(LanguageError, match=r"write Alike\(Domain\)"):
        replace(shop, interchangeable=[Worker])  # type: ignore[list-item]


def test_requests_of_equal_names_are_interchangeable_in_the_server() -> None:
    old = release("0.5.12.post1")
    names = {"r1": ["A"], "r2": ["A"], "r3": ["C"]}
    system = SCENARIOS["overlap-cancel"].system(old).with_parameters(names=names)
    program, choices = compiled(system)
    whole, orbits = explore(program, choices), explore(program, choices, symmetric=True)
    assert {n: type(v) for n, v in whole.verdicts().items()} == {
        n: type(v) for n, v in orbits.verdicts().items()
    }
    assert [len(v.trace) for v in whole.violations] == [len(v.trace) for v in orbits.violations]
    assert orbits.coverage.states < 0.6 * whole.coverage.states


@pytest.mark.deep
@pytest.mark.parametrize("name", ["0.5.12", "0.5.16", "0.5.23"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_requests_of_equal_names_are_interchangeable_in_every_scenario(scenario: str, name: str) -> None:
    system = SCENARIOS[scenario].system(release(name), full=True)
    program, choices = compiled(system)
    whole, orbits = explore(program, choices), explore(program, choices, symmetric=True)
    assert {n: type(v) for n, v in whole.verdicts().items()} == {
        n: type(v) for n, v in orbits.verdicts().items()
    }
    assert whole.coverage.depth == orbits.coverage.depth
