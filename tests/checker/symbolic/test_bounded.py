"""Bounded search: shortest traces, replayed; crashes, deadlocks, model errors and limits."""

import os
import signal
import threading

import pytest

from slotproof.checker.symbolic.engine import Progress, check_bounded
from slotproof.checker.symbolic.replaying import Disagreement, Replay
from slotproof.checker.verdict import Limits, Unknown, Verdict, Violated
from slotproof.counterexamples.trace import Step
from slotproof.model.language import (
    Annotated,
    ModelError,
    Range,
    Set,
    State,
    System,
    action,
    field,
    invariant,
    require,
    some,
    step_invariant,
)
from slotproof.model.language.compile import compile_system
from tests.checker.symbolic import gym


class Counter(State):
    """A counter, and a number that may be missing."""

    count: Annotated[int, Range(0, 9)] = field(0, "how often")
    seen: Annotated[int, Range(0, 9)] | None = field(None, "the last number told")


@action
def up(s: Counter, by: Annotated[int, Range(1, 3)]) -> None:
    """Count."""
    require(s.count + by <= 9)
    s.count += by


@action
def tell(s: Counter) -> None:
    """Keep the number."""
    s.seen = s.count


@invariant
def below_eight(s: Counter) -> bool:
    """False after three steps."""
    return s.count < 8


@invariant
def parts(s: Counter) -> bool:
    """The second part is asked only where the first holds."""
    return (s.seen is not None and some(s.seen) < 9) or s.count < 5


@invariant
def two_parts(s: Counter) -> bool:
    """Both parts fail at the same depth."""
    return s.count != 4 and s.count != 5


@step_invariant
def small_steps(before: Counter, after: Counter) -> bool:
    """False at once."""
    return after.count - before.count < 3


@step_invariant(on=up)
def by_one(before: Counter, after: Counter, by: Annotated[int, Range(1, 3)]) -> bool:
    """False for the parameter's other values from the second step on."""
    return by == 1 or before.count == 0


@invariant
def never(s: Counter) -> bool:
    """Holds."""
    return s.count >= 0


counter = System(
    "counter",
    Counter,
    actions=[up, tell],
    properties=[below_eight, parts, two_parts, small_steps, by_one, never],
)


def violated(verdict: Verdict) -> Violated:
    assert isinstance(verdict, Violated), verdict
    return verdict


def unknown(verdict: Verdict) -> Unknown:
    assert isinstance(verdict, Unknown), verdict
    return verdict


def test_each_property_gets_a_trace_of_its_own_least_length() -> None:
    verdicts = check_bounded(compile_system(counter), (), limits=Limits(depth=6))
    lengths = {n: len(v.trace) for n, v in verdicts.items() if isinstance(v, Violated)}
    assert lengths == {"below-eight": 3, "parts": 2, "two-parts": 2, "small-steps": 1, "by-one": 2}
    assert unknown(verdicts["never"]).reason == "nothing to depth 6"
    assert unknown(verdicts["never"]).coverage.depth == 6
    assert not unknown(verdicts["never"]).coverage.complete


def test_lengths_do_not_depend_on_what_is_asked_together() -> None:
    program = compile_system(counter)
    for name, length in {"below-eight": 3, "parts": 2, "two-parts": 2, "small-steps": 1, "by-one": 2}.items():
        assert len(violated(check_bounded(program, (), [name])[name]).trace) == length


def test_a_trace_for_each_part_that_fails_at_the_depth() -> None:
    verdict = violated(check_bounded(compile_system(counter), (), ["two-parts"])["two-parts"])
    assert sorted(t.part for t in verdict.traces) == ["s.count != 4", "s.count != 5"]


def test_a_trace_says_what_happened() -> None:
    trace = violated(check_bounded(compile_system(counter), (), ["small-steps"])["small-steps"]).trace
    assert (trace.system, trace.engine, trace.crash, trace.start) == ("counter", "bounded", None, None)
    assert trace.steps == (Step("up", {"by": 3}),)
    assert trace.states == ((0, 0), (3, 0))


def test_a_property_can_fail_before_any_step() -> None:
    @invariant
    def wrong(s: Counter) -> bool:
        """False."""
        return s.count > 0

    at_once = compile_system(counter.with_properties([wrong]))
    assert len(violated(check_bounded(at_once, ())["wrong"]).trace) == 0


def test_crashes_end_a_run_and_have_a_property_for_each_cause() -> None:
    verdicts = check_bounded(compile_system(gym.fuse), (), limits=Limits(depth=7))
    early = violated(verdicts["no-crash-early"]).trace
    assert (len(early), early.crash, early.part) == (1, "early", "crash('early')")
    assert early.start == Step("cut", {"length": 3, "wet": True})
    bang = violated(verdicts["no-crash-bang"]).trace
    assert (len(bang), bang.crash) == (3, "bang")
    # The step that crashes is judged, the state that it leaves is not.
    assert len(violated(verdicts["fast-is-dry"]).trace) == 1
    assert violated(verdicts["never-one"]).trace.crash is None


def test_a_state_without_successors_is_a_deadlock_unless_it_is_final() -> None:
    deadlock = violated(check_bounded(compile_system(gym.fuse), (), ["deadlock"])["deadlock"]).trace
    assert (len(deadlock), deadlock.part, deadlock.crash) == (2, "some step is possible", None)
    stopping = check_bounded(compile_system(gym.stopping_fuse), (), ["deadlock"], limits=Limits(depth=7))
    assert unknown(stopping["deadlock"]).reason == "nothing to depth 7"


def test_crashes_and_errors_of_statements_that_are_run_once() -> None:
    program = compile_system(gym.kitchen)
    found = check_bounded(program, (), limits=Limits(depth=6))
    for name, length in {"no-crash-burnt": 3, "in-order": 3}.items():
        trace = violated(found[name]).trace
        assert len(trace) == length
    with pytest.raises(ModelError) as error:
        check_bounded(compile_system(gym.cleaned_kitchen), (), ["deadlock"], limits=Limits(depth=6))
    assert error.value.site is not None
    assert "s.log.append(n)" in error.value.site.text


# Model errors


class Leaky(State):
    """Ways to leave the model."""

    count: Annotated[int, Range(0, 3)] = field(0, "how often")
    maybe: bool | None = field(None, "perhaps")
    seen: Set[gym.Node] = field(frozenset(), "nodes")


@action
def count_up(s: Leaky) -> None:
    """Leaves the range with the fourth step."""
    s.count += 1


@action
def look(s: Leaky) -> None:
    """The guard reads what is not there."""
    require(s.count == 2 and some(s.maybe))
    s.count = 0


@action
def least(s: Leaky) -> None:
    """The least of nothing."""
    require(s.count == 1)
    s.count = min(n.index for n in s.seen)


@invariant
def reads(s: Leaky) -> bool:
    """Reads what is not there."""
    return s.count < 2 or some(s.maybe)


@step_invariant(on=count_up)
def short(before: Leaky, after: Leaky) -> bool:
    """False with the third step."""
    return before.count < 2


@invariant
def holds(s: Leaky) -> bool:
    """Holds."""
    return s.count <= 3


@pytest.mark.parametrize(
    ("actions", "asked", "depth", "line"),
    [
        ([count_up], ["holds"], 4, "s.count += 1"),
        ([count_up, look], ["holds"], 3, "require(s.count == 2 and some(s.maybe))"),
        ([count_up, least], ["holds"], 2, "s.count = min(n.index for n in s.seen)"),
        ([count_up], ["reads"], 2, "return s.count < 2 or some(s.maybe)"),
    ],
    ids=["effect", "guard", "fold", "property"],
)
def test_a_model_error_is_raised_at_its_depth_with_its_line(
    actions: list[object], asked: list[str], depth: int, line: str
) -> None:
    system = System("leaky", Leaky, actions=actions, properties=[reads, holds])  # type: ignore[arg-type]
    program = compile_system(system)
    assert all(
        isinstance(v, Unknown)
        for v in check_bounded(program, (), asked, limits=Limits(depth=depth - 1)).values()
    )
    with pytest.raises(ModelError) as error:
        check_bounded(program, (), asked, limits=Limits(depth=depth))
    site = error.value.site
    assert site is not None
    with open(site.file) as source:
        assert line in source.read().splitlines()[site.line - 1]


def test_a_violation_ends_the_search_before_an_error_that_is_not_nearer() -> None:
    program = compile_system(System("leaky", Leaky, actions=[count_up], properties=[short, holds]))
    assert len(violated(check_bounded(program, (), ["short"])["short"]).trace) == 3
    with pytest.raises(ModelError):
        check_bounded(program, (), ["short", "holds"])
    errors: list[ModelError] = []
    found = check_bounded(program, (), ["short", "holds"], broken=errors.append)
    assert {name: len(violated(verdict).trace) for name, verdict in found.items()} == {"short": 3}
    assert len(errors) == 1


# Limits and misuse


def test_no_time_is_left() -> None:
    verdict = unknown(
        check_bounded(compile_system(counter), (), ["never"], limits=Limits(seconds=0))["never"]
    )
    assert verdict.reason == "time limit of 0 s; nothing searched"


def test_memory_is_used_up() -> None:
    verdict = unknown(check_bounded(compile_system(counter), (), ["never"], limits=Limits(memory=1))["never"])
    assert verdict.reason == "memory limit of 1 bytes; nothing searched"


def test_what_was_found_is_kept_when_a_signal_ends_the_search() -> None:
    def stop(progress: Progress) -> None:
        if progress.depth == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    verdicts = check_bounded(compile_system(counter), (), ["small-steps", "never"], progress=stop)
    assert len(violated(verdicts["small-steps"]).trace) == 1
    assert unknown(verdicts["never"]).reason == "interrupted by SIGTERM; nothing to depth 2"
    assert signal.getsignal(signal.SIGTERM) is before


def test_it_runs_outside_the_main_thread() -> None:
    found: list[Verdict] = []
    worker = threading.Thread(
        target=lambda: found.extend(check_bounded(compile_system(counter), (), ["by-one"]).values())
    )
    worker.start()
    worker.join()
    assert len(violated(found[0]).trace) == 2


def test_an_unknown_property_names_its_neighbours() -> None:
    with pytest.raises(KeyError, match="did you mean by-one"):
        check_bounded(compile_system(counter), (), ["by-two"])


def test_a_run_that_the_interpreter_does_not_confirm_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replay, "_compare", lambda *_: (_ for _ in ()).throw(Disagreement("a state")))
    with pytest.raises(Disagreement, match="internal error, please report it"):
        check_bounded(compile_system(counter), (), ["by-one"])
