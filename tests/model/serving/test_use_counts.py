"""References and unloads, in every way they are taken and given back: X-3 of the obligations, B.1.6."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slotproof.model.releases import RELEASES, release
from slotproof.model.serving import front
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter
from tests.model.serving.runs import R1, R2, RANK0, A, Script, known, system_of, violations

LEAKS = "s.registry.drift[a] <= 0"
UP_TO_0_5_21 = RELEASES[: RELEASES.index("0.5.22")]


def schedule(run: Script, ends: set = frozenset(), by_length: set = frozenset()) -> Server:  # type: ignore[type-arg,assignment]
    """One iteration of the scheduler."""
    return run.do("schedule", k=RANK0, ends=set(ends), by_length=set(by_length), room=6)


def drift(run: Script) -> int:
    """How far A's use count is off."""
    return run.state.registry.drift[A]


@pytest.mark.parametrize(("version", "lost"), [("0.5.12", 1), ("0.5.21", 1), ("0.5.22", 0), ("0.5.23", 0)])
def test_an_abort_echo_loses_the_reference(version: str, lost: int) -> None:
    """X-3, #34205."""
    run = Script(system_of("use-counts", version))
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.do("abort", r=R1)
    run.do("echo", r=R1)
    assert drift(run) == lost


@pytest.mark.parametrize(
    ("version", "lost"), [("0.5.13.post1", 0), ("0.5.14", 1), ("0.5.19", 1), ("0.5.20", 0)]
)
def test_a_handler_that_fails_after_dispatch(version: str, lost: int) -> None:
    """X-3: 0.5.14 to 0.5.19 drop the state, and with it the reference."""
    run = Script(system_of("use-counts", version))
    run.do("arrive", k=RANK0, r=R1, a=A)
    schedule(run)
    if lost:
        run.do("disconnect", r=R1)
    else:
        run.cannot("disconnect", r=R1)
    assert drift(run) == lost


def test_a_handler_that_fails_before_dispatch() -> None:
    """X-3, #31808: the reference is lost up to 0.5.21, and the unload waits for ever."""
    run = Script(system_of("use-counts", "0.5.21"))
    run.do("fail_before_sending", a=A)
    run.do("unregister", a=A)
    run.cannot("unload", a=A)
    Script(system_of("use-counts", "0.5.22")).cannot("fail_before_sending", a=A)


@pytest.mark.parametrize(("version", "off"), [("0.5.21", -1), ("0.5.22", 0)])
def test_two_samples_release_three_times(version: str, off: int) -> None:
    """X-3, #36894: n + 1 releases for n references."""
    run = Script(system_of("use-counts", version))
    run.do("arrive_for_two", k=RANK0, r=R1, q=R2, a=A)
    schedule(run)
    schedule(run, ends={R1}, by_length={R1} if off == 0 else set())
    if off:
        schedule(run)
    run.do("start_sampling", k=RANK0, r=R1)
    assert drift(run) == off
    run.do("send_second_sample", k=RANK0, q=R2)
    schedule(run)
    if off:
        schedule(run, ends={R2})
        run.do("answer", r=R2)
        run.do("unregister", a=A)
        state = run.do("unload", a=A)
        assert state.ranks[RANK0].scheduler.running >= {R1}, "the other sample still runs"


@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.21"])
def test_an_unload_passes_a_running_sample(version: str) -> None:
    """X-3, #25864: released too often, the count is zero while a sample runs."""
    assert known("use-counts", version)["unload-safe"] == 11


@pytest.mark.parametrize("version", ["0.5.22", "0.5.23"])
def test_an_unload_passes_the_warm_up_of_a_client_that_has_gone(version: str) -> None:
    """X-3: a finding on the newest release. The references are given back while the warm-up still runs."""
    assert known("use-counts", version)["unload-safe"] == 5
    run = Script(system_of("use-counts", version))
    run.do("arrive_for_two", k=RANK0, r=R1, q=R2, a=A)
    schedule(run)
    run.do("fail_warm_up", r=R1)
    run.do("unregister", a=A)
    state = run.do("unload", a=A)
    assert state.ranks[RANK0].scheduler.last == {R1}
    assert state.ranks[RANK0].manager.gone == {A}


@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.16", "0.5.23"])
def test_an_unload_slips_between_the_look_up_and_the_references_of_a_list(version: str) -> None:
    """X-3: the acquire of a list is not atomic; the request reaches a server without its adapter."""
    assert known("use-counts", version)["no-crash-make-resident-unknown-adapter"] == 5
    run = Script(system_of("use-counts", version))
    run.do("look_up", r=R1, a=A)
    run.do("unregister", a=A)
    run.do("unload", a=A)
    run.do("take_references", k=RANK0, r=R1)
    schedule(run)
    assert run.crash == "make-resident-unknown-adapter"


def test_a_string_is_acquired_in_one_step() -> None:
    """X-3: with string acquires and without samples, nothing reaches a server without its adapter."""
    system = system_of("use-counts", "0.5.23", batches=False, parallel=False)
    assert violations(replace(system, witnesses=())) == {}


@pytest.mark.parametrize(("version", "remembered"), [("0.5.20", False), ("0.5.21", True)])
def test_an_unload_that_is_given_up(version: str, remembered: bool) -> None:
    """X-3: up to 0.5.20 its id is lost, and the host copy stays for good."""
    run = Script(system_of("use-counts", version))
    run.do("arrive", k=RANK0, r=R1, a=A)
    run.do("unregister", a=A)
    run.do("give_up_unload", a=A)
    if remembered:
        run.do("unload_again", a=A)
        assert run.state.registry.unloading == {A}
    else:
        run.cannot("unload_again", a=A)
        assert known("use-counts", version)["unload-clears"] == 2


@pytest.mark.parametrize(("version", "stays"), [("0.5.15.post1", True), ("0.5.16", False)])
def test_an_unloaded_adapter_leaves_its_slot(version: str, stays: bool) -> None:
    """#21381."""
    assert ("unload-clears" in known("finish-unload", version)) is stays


def nobody_counts(s: Server, a: Adapter) -> int:
    """A use count that is always zero."""
    return 0


def test_mutation_an_unload_that_does_not_wait_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """X-3, #9084."""
    monkeypatch.setattr(front, "use_count", nobody_counts)
    mutated = replace(system_of("finish-unload", "0.5.23"), name="unload does not wait")
    assert "unload-safe" in violations(mutated)


@pytest.mark.deep
@pytest.mark.parametrize("version", RELEASES)
def test_full_size(version: str) -> None:
    """X-3 at full size."""
    found = violations(system_of("use-counts", version, full=True))
    assert found["unload-safe"] == (11 if version in UP_TO_0_5_21 else 5)
    assert not {"slot-capacity", "no-slot-leak", "work-conserving"} & found.keys()


def test_the_releases_of_a_decision_follow_from_the_table() -> None:
    """X-4: a release differs from the one before in what the table says, and in nothing else."""
    assert release("0.5.14").names() != release("0.5.13.post1").names()
    assert release("0.5.12").names() == release("0.5.12.post1").names()
    assert release("0.5.13").names() == release("0.5.13.post1").names()
    assert release("0.5.14").names() == release("0.5.15.post1").names()
    assert release("0.5.23").replace(foresees_the_end="decodes_until_finished").name == "0.5.23+"
