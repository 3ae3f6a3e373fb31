"""Conformance of the reference: walks of the model show no difference, and each seeded slip is found."""

import itertools

import pytest
from click.testing import CliRunner

from slotproof.checker.cli import main
from slotproof.checker.commands.conform import told
from slotproof.counterexamples.replay.conform import Conformance, conform
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.model.releases import Release, release
from slotproof.properties import SCENARIOS
from tests.counterexamples.replay.runs import program_of
from tests.counterexamples.replay.slips import SLIPS, Slip

DEEP = ("0.5.12.post1", "0.5.16", "0.5.19", "0.5.20", "0.5.23")
EACH = 10_000 // (2 * len(SCENARIOS)) + 1


def walked(scenario: str, name: str | Release, steps: int, seed: int = 0, late: bool = False) -> Conformance:
    """Walks on the reference, which goes on beyond faults of kernels."""
    chosen = release(name) if isinstance(name, str) else name
    names, name = chosen.names(), chosen.base
    program = program_of(scenario, name)
    return conform(
        program, names, scenario, name, lambda: ReferenceTarget(strict=False, late=late), steps, seed
    )


@pytest.mark.parametrize("name", ["0.5.12.post1", "0.5.19", "0.5.23"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_walks_show_no_difference(scenario: str, name: str) -> None:
    """States, crashes and tokens agree."""
    found = walked(scenario, name, 150)
    assert found.difference is None, found.path
    assert found.steps == 150


@pytest.mark.parametrize(
    ("scenario", "name", "seed", "late"),
    [
        ("idle-rank", "0.5.12.post1", 0, False),  # base rows computed with another rank's adapter
        ("use-counts", "0.5.12", 0, False),  # how far a use count is off
        ("whole-server", "0.5.23", 0, False),  # a pass keeps its room
        ("overlap-cancel", "0.5.16", 1, True),  # a slot is zeroed after the copy into it
    ],
)
def test_seeds_that_found_a_difference(scenario: str, name: str, seed: int, late: bool) -> None:
    """Each was a fault of the model, which has been mended."""
    assert walked(scenario, name, 200, seed, late).difference is None


@pytest.mark.parametrize(
    ("scenario", "decision", "alternative"),
    [
        ("finite-traffic", "refusal_ends_the_pass", "stops_at_the_refused"),
        ("decode-endless-traffic", "refusal_ends_reservation", "stops_at_the_refused_candidate"),
        ("decode-admission-pinned", "occupied_on_decode", "unfinished_rows_only"),
        ("overlap-cancel", "unload_and_slot", "slot_zeroed_by_the_loader"),
        ("drained-traffic", "drainer_allows", "nobody_joins_a_drain"),
        ("drained-traffic", "base_can_starve", "like_any_adapter"),
    ],
)
def test_walks_agree_on_what_no_release_does(scenario: str, decision: str, alternative: str) -> None:
    """The alternatives that are there for candidates."""
    found = walked(scenario, release("0.5.23").replace(**{decision: alternative}), 300)
    assert found.difference is None, found.path


@pytest.mark.deep
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("scenario", "name"), list(itertools.product(SCENARIOS, DEEP)))
def test_many_walks_show_no_difference(scenario: str, name: str, late: bool) -> None:
    """About 10,000 steps a release, over all scenarios; half of them with forwards as late as they may be."""
    found = walked(scenario, name, EACH, 1, late)
    assert found.difference is None, found.path


@pytest.mark.parametrize(("slip", "scenario", "name"), SLIPS, ids=[slip.__name__ for slip, _, _ in SLIPS])
def test_every_slip_is_found(slip: Slip, scenario: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 5,000 steps."""
    slip(monkeypatch)
    found = walked(scenario, name, 5_000)
    assert found.difference is not None
    assert found.path


def test_the_command_tells_steps_and_edges() -> None:
    """Status 0 without a difference; a line for each scenario."""
    arguments = ["--release", "0.5.23", "--on", "reference", "--steps", "20", "--seed", "3"]
    run = CliRunner().invoke(main, ["conform", *arguments, "--scenario", "overlap-cancel"])
    assert run.exit_code == 0, run.output
    assert run.output.startswith("overlap-cancel on reference: 20 steps")
    assert run.output.endswith("no difference\n")


def test_the_command_prints_the_shortest_way_to_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 1."""
    from tests.counterexamples.replay.slips import releases_on_every_echo

    releases_on_every_echo(monkeypatch)
    arguments = ["--release", "0.5.20", "--steps", "3000", "--scenario", "overlap-cancel"]
    run = CliRunner().invoke(main, ["conform", *arguments])
    assert run.exit_code == 1
    assert "differs at step 3, echo: registry.drift[B] is 1 in the model and 0 in the target" in run.output
    assert [line.split("(")[0] for line in run.output.splitlines()[1:]] == [
        "  1. arrive",
        "  2. abort",
        "  3. echo",
        "  no shorter way ends in a difference",
    ]


def test_a_way_is_as_short_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever walk has come upon the difference; leaving steps out alone ends with longer ways."""
    from tests.counterexamples.replay.slips import releases_on_every_echo

    releases_on_every_echo(monkeypatch)
    walks = [walked("overlap-cancel", "0.5.20", 3_000, seed) for seed in range(4)]
    assert {(len(found.path), found.shortest) for found in walks} == {(3, True)}


def test_a_way_that_is_not_gone_through_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any run left to search with."""
    from tests.counterexamples.replay.slips import releases_on_every_echo

    monkeypatch.setattr("slotproof.counterexamples.replay.shorter.MOST_RUNS", 0)
    releases_on_every_echo(monkeypatch)
    found = walked("overlap-cancel", "0.5.20", 3_000, 1)
    assert found.difference is not None
    assert not found.shortest
    assert "not every shorter way was gone through" in told(found, "overlap-cancel", "reference")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--release", "0.5.99"], "there is no release '0.5.99'"),
        (["--release", "0.5.23", "--scenario", "overlap"], "did you mean overlap-cancel"),
        (["--release", "0.5.23", "--steps", "0"], "at least one step"),
        (["--release", "0.5.23", "--on", "vllm"], "there are: reference, sglang"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], words: str) -> None:
    """Status 2, with the remedy."""
    run = CliRunner().invoke(main, ["conform", *arguments])
    assert run.exit_code == 2
    assert words in run.stderr
    assert len(run.stderr.splitlines()) == 1
