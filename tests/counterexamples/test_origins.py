"""Which earlier steps a violation rests on, and that the step which shows it is the interpreter's."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotproof.checker.commands.explain import program_of_file
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.origins import Flow, Origin, origins
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import action_index, choices_of, numbers_of
from slotproof.model.language import (
    Domain,
    Set,
    State,
    System,
    action,
    crash,
    field,
    invariant,
    output,
    require,
    step_invariant,
)
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from tests.counterexamples.explorer.conftest import GALLERY
from tests.counterexamples.finding import find

ONE_EACH = sorted({p.name.split(".")[0]: p for p in sorted(GALLERY.glob("*.itf.json"))}.values())


def of(trace: Trace, program: Program) -> list[Origin]:
    last = trace.steps[-1]
    index = action_index(program, last.action)
    numbers = numbers_of(program.actions[index], last)
    return origins(program, choices_of(trace, program), trace.states, index, numbers, trace.property)


@pytest.mark.parametrize("path", ONE_EACH, ids=lambda p: p.name.split(".")[0])
def test_every_step_is_told_as_the_interpreter_takes_it(path: Path) -> None:
    """The values that carry their cells through a step are those of the step, a crash's included."""
    file = read(path)
    program = program_of_file(file, None)
    trace = file.trace(program)
    choices = choices_of(trace, program)
    interpreter = Interpreter(program, choices)
    for before, step, after in zip(trace.states, trace.steps, trace.states[1:], strict=False):
        state = interpreter.fresh(before)
        flow = Flow(program, choices, {"before": state})
        action = program.actions[action_index(program, step.action)]
        flow.run(action, numbers_of(action, step))
        assert tuple(flow.after) == after, step.action
        changed = {i for i, (a, b) in enumerate(zip(state, after, strict=True)) if a != b}
        assert changed <= set(flow.written)


@pytest.mark.parametrize(
    ("name", "decisive"),
    [
        ("idle-rank.fresh-batch-info.0.5.16", ("ranks[rank0].routing.held", "{ROWS, LM_HEAD}", 3)),
        ("overlap-cancel.no-slot-leak.0.5.12.post1", ("ranks[rank0].scheduler.waiting", "[r2, r3]", 6)),
        (
            "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1",
            ("ranks[rank0].manager.gone", "{A}", 7),
        ),
        ("decode-admission.slot-capacity.0.5.19", ("ranks[rank0].decode.transferring", "[r1, r2]", 3)),
    ],
)
def test_each_pull_request_s_finding_leads_back_to_the_step_that_prepared_it(
    name: str, decisive: tuple[str, str, int]
) -> None:
    file = read(GALLERY / f"{name}.itf.json")
    program = program_of_file(file, None)
    trace = file.trace(program)
    found = of(trace, program)
    assert decisive in [(o.path, o.value, o.step) for o in found]
    assert len(found) < 10 < len(program.columns)
    for origin in found:
        assert 0 < origin.step < len(trace)


def test_elements_of_a_set_that_came_apart_are_told_apart() -> None:
    file = read(GALLERY / "overlap-cancel.no-slot-leak.0.5.12.post1.itf.json")
    program = program_of_file(file, None)
    pending = next(o for o in of(file.trace(program), program) if o.path.endswith("loader.pending"))
    assert pending.since == (("A", 2), ("B", 7))


# -- what a value rests on -------------------------------------------------------------------------------


class Guest(Domain, size=3, names="g{n}"):
    """Someone who may come."""


class Hall(State):
    """A hall, and a light that nobody looks at."""

    there: Set[Guest] = field(frozenset(), "who is there")
    light: bool = field(False, "whether there is light")
    open: bool = field(False, "whether the door is open")
    counted: Set[Guest] = output(frozenset(), "who is counted in this step")


@action
def come(s: Hall, g: Guest) -> None:
    """{g} comes."""
    require(g not in s.there)
    s.there |= {g}


@action
def unlock(s: Hall) -> None:
    """The door is opened."""
    require(not s.open)
    s.open = True


@action
def light_up(s: Hall) -> None:
    """Light is made."""
    require(not s.light)
    s.light = True


def counted(s: Hall) -> Set[Guest]:
    """Whom the porter counts: nobody behind a closed door."""
    if not s.open:
        return frozenset()
    return s.there


@action
def count(s: Hall) -> None:
    """The porter counts."""
    require(len(s.there) > 1, s.light)
    s.counted = counted(s)
    if s.open and len(s.there) > 2:
        crash("too-many")


@step_invariant
def few(before: Hall, after: Hall) -> bool:
    """The porter never counts two."""
    return len(after.counted) < 2


@invariant
def dark_when_full(s: Hall) -> bool:
    """There is no light when all are there."""
    return not (len(s.there) == 3 and s.light)


def hall(*asked: object) -> Program:
    every = [come, unlock, light_up, count]
    return compile_system(System("hall", Hall, actions=every, properties=list(asked)))  # type: ignore[arg-type]


def test_what_a_step_shows_leads_through_helpers_and_conditions_to_what_is_stored() -> None:
    """The door decided, and so it counts; the light was asked for before the step could happen, and the
    property did not read it."""
    program = hall(few)
    trace = find(program, "few", {})
    found = {o.path: o for o in of(trace, program)}
    assert set(found) == {"there", "open"}
    calls = [s.action for s in trace.steps]
    assert found["open"].step == calls.index("unlock") + 1
    assert found["there"].since == tuple(
        (str(s.arguments["g"]), at) for at, s in enumerate(trace.steps, 1) if s.action == "come"
    )


def test_a_variable_that_the_last_step_itself_wrote_leads_to_what_it_was_made_of() -> None:
    program = hall(dark_when_full)
    trace = find(program, "dark-when-full", {})
    found = {o.path: o.step for o in of(trace, program)}
    assert all(step < len(trace) for step in found.values())
    assert "there" in found


def test_a_crash_rests_on_the_conditions_around_it() -> None:
    program = hall()
    trace = find(program, "no-crash-too-many", {})
    assert {o.path for o in of(trace, program)} == {"there", "open"}


def test_what_stands_since_the_start_is_left_out(traces: dict[str, Trace], program: Program) -> None:
    for trace in traces.values():
        for origin in of(trace, program):
            assert origin.step > 0
