"""The engine ``temporal``: fair runs that wait for ever, found where they are and nowhere else."""

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, example, given, note, settings
from hypothesis import strategies as st

from slotproof.checker.explicit.fair import FairRuns
from slotproof.checker.explicit.graph import Graph
from slotproof.checker.temporal import check_progress
from slotproof.checker.verdict import Holds, Limits, Unknown, Verdict, Violated
from slotproof.counterexamples import itf
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import verify
from slotproof.model.language import ModelError
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.checker.conftest import Run
from tests.checker.independent import Fair, shortest
from tests.model.language.test_model_errors import compile_file
from tests.zoo import allocator, semaphore

Steps = list[tuple[int, int, frozenset[int]]]


@dataclass(frozen=True)
class Drawing:
    """A graph as a search leaves it: every state is reached from ``starts``, crashed ones go nowhere."""

    size: int
    steps: Steps
    strengths: tuple[str, ...]
    starts: frozenset[int]
    crashed: frozenset[int]
    premise: frozenset[int]
    goal: frozenset[int]

    @property
    def depths(self) -> dict[int, int]:
        """The fewest steps to each state."""
        found = dict.fromkeys(self.starts, 0)
        queue = sorted(self.starts)
        for state in queue:
            for a, b, _ in self.steps:
                if a == state and b not in found:
                    found[b] = found[a] + 1
                    queue.append(b)
        return found

    def reached(self) -> "Drawing":
        """The same without states that no run reaches."""
        numbers = {state: n for n, state in enumerate(sorted(self.depths))}

        def kept(states: frozenset[int]) -> frozenset[int]:
            return frozenset(numbers[s] for s in states if s in numbers)

        steps = [(numbers[a], numbers[b], sets) for a, b, sets in self.steps if a in numbers]
        sets_of = (kept(s) for s in (self.starts, self.crashed, self.premise, self.goal))
        return Drawing(len(numbers), steps, self.strengths, *sets_of)

    def fair(self) -> Fair:
        """The graph for the judges."""
        return Fair(
            frozenset(i for i, s in enumerate(self.strengths) if s == "weak"),
            frozenset(i for i, s in enumerate(self.strengths) if s == "strong"),
            [step for step in self.steps if step[1] not in self.crashed],
            {s: frozenset().union(*(f for a, _, f in self.steps if a == s)) for s in range(self.size)},
        )


class Made(Graph):
    """A drawing as the engine has it."""

    def __init__(self, drawing: Drawing) -> None:
        steps = drawing.steps
        self.size, self.steps = drawing.size, len(steps)
        self.strengths = [*drawing.strengths]  # type: ignore[list-item]
        self.words = max(-(-len(self.strengths) // 64), 1)
        self.sources = np.array([a for a, _, _ in steps], np.uint32)
        self.targets = np.array([b for _, b, _ in steps], np.uint32)
        self.first = np.searchsorted(self.sources, np.arange(self.size + 1)).astype(np.int64)
        bits = [[sum(1 << s % 64 for s in f if s // 64 == w) for w in range(self.words)] for _, _, f in steps]
        self.fair = np.array(bits, np.uint64).reshape(-1, self.words)
        self.enabled = np.zeros((self.size, self.words), np.uint64)
        np.bitwise_or.at(self.enabled, self.sources, self.fair)
        self.alive = ~np.isin(np.arange(self.size), sorted(drawing.crashed))
        self._levels = drawing.depths

    def depths(self) -> Any:
        """How far each state is from the nearest start."""
        return np.array([self._levels[s] for s in range(self.size)])


@st.composite
def graphs(draw: st.DrawFn) -> Drawing:
    """A graph of a few states with a few fair sets, sometimes over the border of a word of 64 bits."""
    size = draw(st.integers(1, 8))
    sets = draw(st.integers(0, 4))
    least = draw(st.sampled_from([0, 0, 0, 62]))
    states = st.integers(0, size - 1)
    some = st.frozensets(states)
    fair = st.frozensets(st.integers(least, least + sets - 1)) if sets else st.just(frozenset[int]())
    step = st.tuples(states, states, fair)
    # Around in a circle, so that there are loops, and anywhere.
    circle = st.tuples(states, fair).map(lambda s: (s[0], (s[0] + 1) % size, s[1]))
    crashed = draw(st.one_of(st.just(frozenset[int]()), some))
    steps = [s for s in draw(st.lists(st.one_of(step, circle), max_size=20)) if s[0] not in crashed]
    kinds = st.sampled_from(["weak", "strong"])
    strengths = ("weak",) * least + tuple(draw(kinds) for _ in range(sets))
    starts = draw(st.frozensets(states, min_size=1)) - crashed or frozenset({0}) - crashed
    return Drawing(
        size, sorted(steps, key=lambda s: s[:2]), strengths, starts, crashed, draw(some), draw(some)
    ).reached()


# The way back to the entry of a loop leads through a state in which another strong set is possible.
@example(
    Drawing(
        3,
        [(0, 1, frozenset({0})), (1, 2, frozenset()), (2, 0, frozenset()), (2, 0, frozenset({1}))],
        ("weak", "strong"),
        frozenset({0, 1, 2}),
        frozenset(),
        frozenset({0}),
        frozenset(),
    )
)
@given(graphs())
@settings(max_examples=500, deadline=None)
def test_lassos_are_found_where_the_definition_says_so(drawing: Drawing) -> None:
    compare_lasso(drawing)


@pytest.mark.deep
@given(graphs())
@settings(max_examples=20_000, deadline=None)
def test_lassos_are_found_where_the_definition_says_so_at_length(drawing: Drawing) -> None:
    compare_lasso(drawing)


def compare_lasso(drawing: Drawing) -> None:
    """Demand of the engine that it finds a fair lasso if three judges say so, with a shortest way to it."""
    size, steps, fair = drawing.size, drawing.steps, drawing.fair()
    premise, goal = set(drawing.premise - drawing.crashed), set(drawing.goal | drawing.crashed)
    starts = sorted(drawing.starts)
    expected = fair.shortest(starts, premise, goal)
    violated_ = expected is not None
    assert fair.violated(starts, premise, goal) == violated_
    assert fair.violated_by_some_set(starts, premise, goal) == violated_
    graph = Made(drawing)
    flags = [np.isin(np.arange(size), sorted(chosen)) for chosen in (drawing.premise, drawing.goal)]
    lasso = FairRuns(graph).violation(flags[0] & graph.alive, flags[1] & graph.alive)
    event("lasso" if lasso else "none")
    assert (lasso.length if lasso else None) == expected
    if lasso is not None:
        assert lasso.start in premise - goal
        assert drawing.depths[lasso.start] + len(lasso.stem) == lasso.length
        way = [lasso.start]
        for number in (*lasso.stem, *lasso.loop):
            assert steps[number][0] == way[-1]
            way.append(steps[number][1])
        assert not goal & set(way)
        entry = way[len(lasso.stem)]
        assert way[-1] == entry
        visited = {entry, *way[len(lasso.stem) :]}
        taken = frozenset().union(*(steps[n][2] for n in lasso.loop))
        possible = [fair.enabled[s] for s in visited]
        assert not (frozenset.intersection(*possible) & fair.weak) - taken
        assert not (frozenset.union(*possible) & fair.strong) - taken


def test_hundreds_of_steps_between_two_states_are_one_link() -> None:
    steps = [(a, 1 - a, frozenset({0})) for a in (0, 1) for _ in range(256)]
    both = np.array([True, True])
    drawing = Drawing(2, steps, ("weak",), frozenset({0, 1}), frozenset(), frozenset(), frozenset())
    lasso = FairRuns(Made(drawing)).violation(both, ~both)
    assert lasso is not None
    assert len(lasso.loop) == 2


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A system of one place to be, with actions between places, some of them crashing, and fairness.

    Sometimes one action does what another does, so that only its name tells their steps apart; there may be
    several places to begin at; and so many fair sets that the rest of them come behind the first 64.
    """
    places = draw(st.integers(2, 6))
    somewhere = st.integers(0, places - 1)
    actions, names, fair, bodies = [], [], [], list[str]()
    for i in range(draw(st.integers(1, 4))):
        moves = draw(
            st.lists(
                st.tuples(somewhere, somewhere, st.integers(0, 1)),
                min_size=1,
                max_size=5,
                unique_by=lambda m: (m[0], m[2]),
            )
        )
        guard = " or ".join(f"(s.at == {a} and e.index == {e})" for a, _, e in moves)
        effect = "\n".join(f"    if at == {a} and e.index == {e}:\n        s.at = {b}" for a, b, e in moves)
        dies = draw(st.sampled_from([None, None, None, *range(places)]))
        crash = "" if dies is None else f"    if at == {dies}:\n        crash('dies')\n"
        body = f"    require({guard})\n    at = s.at\n{crash}    s.way = at\n{effect}\n"
        if bodies and draw(st.integers(0, 3)) == 0:
            body = bodies[-1]
        bodies.append(body)
        actions.append(f"@action\ndef a{i}(s: S, e: E) -> None:\n{body}\n")
        names.append(f"a{i}")
        each = draw(st.sampled_from(["", ", each='e'", ", where=low", ", where=on"]))
        fair.append(f"{draw(st.sampled_from(['weak', 'strong']))}(a{i}{each})")
    if len(names) > 1:
        fair.append(f"{draw(st.sampled_from(['weak', 'strong']))}({', '.join(names)})")
    kept = draw(st.lists(st.sampled_from(fair), min_size=1, unique=True))
    if draw(st.integers(0, 3)) == 0:
        kept = ["weak(a0, where=many)", *kept]
    premise = draw(st.sets(somewhere, min_size=1, max_size=places))
    goal = draw(st.sets(somewhere, max_size=2))
    told = [" or ".join(f"s.at == {p}" for p in sorted(x)) or "s.at < 0" for x in (premise, goal)]
    begins = draw(st.sets(somewhere, max_size=2))
    initial = " or ".join(f"p == {p}" for p in sorted(begins)) or "p == 0"
    return (
        "from slotproof.model.language import *\n\n"
        "class E(Domain, size=2):\n    'one of two'\n\n"
        f"Place = Annotated[int, Range(0, {places - 1})]\n\n"
        "class S(State):\n    at: Place = field(0, 'where')\n"
        "    way: Place = output(0, 'where the step came from')\n\n"
        + "\n".join(actions)
        + f"\n@action\ndef begins(s: S, p: Place) -> None:\n    require({initial})\n    s.at = p\n\n"
        "def low(s: S, e: E) -> bool:\n    return s.at + e.index + s.way <= 3\n\n"
        "def on(s: S, x: E, e: E) -> bool:\n    return x == e or s.at == 0\n\n"
        "def many(s: S, n: Annotated[int, Range(0, 66)], e: E) -> bool:\n"
        "    return n < 65 or (n == 65 and s.at == 1) or (n == 66 and e.index == 1)\n\n"
        "@eventually\ndef arrives(s: S, e: E) -> bool:\n    wanted = s.at + e.index + s.way != 3\n"
        f"    return leads_to(wanted and ({told[0]}), {told[1]})\n\n"
        f"system = System('random', S, actions=[{', '.join(names)}], initial=[begins], properties=[arrives],"
        f" fairness=[{', '.join(kept)}])\n"
    )


@given(texts())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_systems_get_the_verdict_of_two_judges(text: str) -> None:
    compare(text)


@pytest.mark.deep
@given(texts())
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_many_random_systems_get_the_verdict_of_two_judges(text: str) -> None:
    compare(text)


def compare(text: str) -> None:
    """Demand that the engine, networkx and liveness to safety agree on the system of a text."""
    note(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_system.py"
        path.write_text(text)
        program = compile_file(path)
        found = check_progress(program).verdicts["arrives"]
        expected = shortest(program, ())["arrives"]
        event(type(found).__name__)
        if isinstance(found, Violated):
            verify(found.trace, program)
            assert found.trace.loop == expected
        else:
            assert expected is None
            assert isinstance(found, Holds) or "vacuous" in getattr(found, "reason", "")


ERRAND = """\
from slotproof.model.language import *

class Errand(State):
    place: Annotated[int, Range(0, 3)] = field(0, "how far it is")

@action
def set_out(s: Errand) -> None:
    "One sets out."
    require(s.place == 0)
    s.place = 1

@action
def walk(s: Errand) -> None:
    "One gets there, or falls."
    require(s.place == 1)
    {walk}

@action
def rest(s: Errand) -> None:
    "One rests on the way."
    require({rest})

def slowly(s: Errand) -> bool:
    return {where}

@eventually
def arrives(s: Errand) -> bool:
    "Who sets out arrives."
    return leads_to({premise}, s.place == 2)

@witness
def under_way(s: Errand) -> bool:
    "Somebody is on the way."
    return s.place == {witness}

errand = System("errand", Errand, actions=[set_out, walk, rest], properties=[arrives],
                witnesses=[under_way], final=slowly, fairness=[{fairness}])
"""

PARTS = {
    "walk": "s.place = 2",
    "rest": "s.place == 1",
    "where": "True",
    "premise": "s.place == 1",
    "witness": "1",
    "fairness": "weak(walk)",
}


def errand(tmp_path: Path, **parts: str) -> Program:
    path = tmp_path / "errand.py"
    path.write_text(ERRAND.format(**{**PARTS, **parts}).replace("errand = System", "system = System"))
    return compile_file(path)


def verdict(program: Program, **limits: int) -> Verdict:
    (found,) = check_progress(program, limits=Limits(**limits)).verdicts.values()
    return found


def test_a_fair_step_is_taken_in_the_end(tmp_path: Path) -> None:
    assert isinstance(verdict(errand(tmp_path)), Holds)


def test_without_fairness_of_a_step_a_run_may_stop_before_it(tmp_path: Path) -> None:
    found = verdict(errand(tmp_path, fairness="weak(set_out)"))
    assert isinstance(found, Violated)
    assert [s.action for s in found.trace.steps] == ["set_out"]
    assert found.trace.loop == len(found.trace)


def test_a_run_does_not_stop_where_a_fair_step_is_possible(tmp_path: Path) -> None:
    found = verdict(errand(tmp_path, fairness="weak(rest)"))
    assert isinstance(found, Violated)
    assert [s.action for s in found.trace.steps] == ["set_out", "rest"]
    assert found.trace.loop == 1


def test_a_state_that_nothing_leaves_waits_for_ever(tmp_path: Path) -> None:
    found = verdict(errand(tmp_path, walk="s.place = 3"))
    assert isinstance(found, Violated)
    assert found.trace.loop == len(found.trace) == 2


def test_a_run_that_crashes_is_judged_by_no_crash_alone(tmp_path: Path) -> None:
    assert isinstance(verdict(errand(tmp_path, walk="crash('fell')")), Holds)


def test_a_step_is_possible_though_it_crashes(tmp_path: Path) -> None:
    found = verdict(errand(tmp_path, walk="crash('fell')", fairness="weak(set_out), strong(rest)"))
    assert isinstance(found, Violated)
    assert [s.action for s in found.trace.steps] == ["set_out", "rest"]


def test_a_premise_that_is_never_met_proves_nothing(tmp_path: Path) -> None:
    found = verdict(errand(tmp_path, premise="s.place == 3"))
    assert isinstance(found, Unknown)
    assert found.reason.startswith("vacuous: premise 's.place == 3' at ")


def test_a_witness_that_is_never_reached_proves_nothing(tmp_path: Path) -> None:
    found = verdict(errand(tmp_path, witness="3"))
    assert isinstance(found, Unknown)
    assert found.reason == "vacuous: witness 'under-way' was never reached"


@pytest.mark.parametrize(
    "parts",
    [
        {"premise": "min(i for i in range(4) if s.place == 0) == 0"},
        {"where": "min(i for i in range(4) if s.place == 0) == 0", "fairness": "weak(walk, where=slowly)"},
    ],
    ids=["property", "fairness"],
)
def test_a_model_error_names_the_line(parts: dict[str, str], tmp_path: Path) -> None:
    program = errand(tmp_path, **parts)
    with pytest.raises(ModelError, match=r"errand\.py:\d+: the least, greatest or first of nothing is taken"):
        check_progress(program)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"states": 1}, "limit of 1 states"), ({"depth": 1}, "limit of depth 1"), ({"memory": 5000}, "memory")],
    ids=["states", "depth", "memory"],
)
def test_a_limit_leaves_progress_unknown(limits: dict[str, int], reason: str, tmp_path: Path) -> None:
    found = verdict(errand(tmp_path), **limits)
    assert isinstance(found, Unknown)
    assert reason in found.reason


@pytest.fixture(scope="module")
def starving() -> tuple[Program, Trace]:
    """A process that starves at a semaphore."""
    program = compile_system(semaphore.just)
    found = check_progress(program).verdicts["gets-in"]
    assert isinstance(found, Violated)
    return program, found.trace


def test_the_lasso_is_a_shortest_one(starving: tuple[Program, Trace]) -> None:
    _, trace = starving
    assert [str(s) for s in trace.steps] == ["want(p=p1)", "want(p=p2)", "request(p=p2)", "release(p=p2)"]
    assert trace.loop == 1


def test_a_lasso_is_read_as_it_was_written(starving: tuple[Program, Trace], tmp_path: Path) -> None:
    program, trace = starving
    itf.write(trace, program, tmp_path / "lasso.itf.json", "just")
    assert itf.read(tmp_path / "lasso.itf.json").trace(program) == trace


def test_what_is_no_fair_lasso_is_refused(starving: tuple[Program, Trace]) -> None:
    program, trace = starving
    verify(trace, program)
    wrong = {
        "loop: is missing": replace(trace, loop=None),
        r"loop: the last state is not states\[2\] again": replace(trace, loop=2),
        "loop: is not fair: request of p = p1 is possible all the time and never happens": replace(
            trace, steps=trace.steps[:1], states=trace.states[:2], loop=1
        ),
        "it never meets the premise: p in s.waiting": replace(
            trace, steps=(), states=trace.states[:1], loop=0
        ),
    }
    for words, changed in wrong.items():
        with pytest.raises(TraceError, match=words):
            verify(changed, program)


def test_the_command_prints_what_is_assumed(run: Run, tmp_path: Path) -> None:
    file = f"{semaphore.__file__}:just"
    told = run("check", "--system", file)
    assert told.exit_code == 1
    assert "weakly fair: request for each p; release" in told.output
    lines = [
        json.loads(line) for line in run("check", "--system", file, "--format", "json").output.splitlines()
    ]
    by_name = {line["property"]: line for line in lines}
    assert by_name["gets-in"]["engine"] == by_name["somebody-gets-in"]["engine"] == "temporal"
    assert by_name["gets-in"]["verdict"] == "violated"
    assert by_name["gets-in"]["fairness"] == ["weakly fair: request for each p; release"]
    assert "fairness" not in by_name["one-inside"]
    assert (
        "Weakly fair: request for each p; release."
        in run("check", "--system", file, "--format", "markdown").output
    )
    story = run("explain", str(tmp_path / "slotproof-traces" / "just.gets-in.itf.json"))
    assert story.exit_code == 0
    for words in (
        "gets-in is violated by 1 step and then a loop of 3 steps",
        "Here begins a loop of 3 steps.",
        "From here it goes on as after step 1, again and again.",
        "After step 1 its premise is true, for p = p1:",
        "request of p = p1 (weak): is not possible after step 3",
        "request of p = p2 (weak): happens in step 3",
    ):
        assert words in story.output


def test_only_temporal_answers_for_progress_and_for_nothing_else(run: Run) -> None:
    lines = run("check", "--system", f"{semaphore.__file__}:just", "--engine", "temporal", "--format", "json")
    names = [json.loads(line)["property"] for line in lines.output.splitlines()]
    assert names == ["gets-in", "somebody-gets-in"]
    for arguments in (
        ["--system", str(allocator.__file__), "--engine", "temporal"],
        ["--system", f"{semaphore.__file__}:just", "--engine", "bounded", "--property", "gets-in"],
    ):
        refused = run("check", *arguments)
        assert refused.exit_code == 2
        assert "has nothing to answer here" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    just = ["--system", f"{semaphore.__file__}:just", "--property", "gets-in"]
    for command in (["export", "--to", "aiger"], ["export", "--to", "promela"], ["prove"]):
        refused = run(*command, *just)
        assert refused.exit_code == 2
        assert "'gets-in' is a progress property, which only 'slotproof check' answers" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_progress_without_fairness_is_wrong_use(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "errand.py"
    path.write_text(ERRAND.format(**PARTS).replace("fairness=[weak(walk)]", "fairness=[]"))
    refused = run("check", "--system", str(path))
    assert refused.exit_code == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith(f"slotproof: {path}:27: arrives is a progress property, and system errand")
