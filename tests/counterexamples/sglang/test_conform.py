"""Conformance of real code: walks of the model show no difference, and one that is there is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from slotproof.checker.cli import main
from slotproof.counterexamples.replay.sglang import folder as folders
from slotproof.counterexamples.replay.sglang import limits
from slotproof.properties import SCENARIOS
from tests.counterexamples.sglang.conftest import Jobs, Releases
from tests.counterexamples.sglang.folders import make_release

DEEP = ("0.5.12.post1", "0.5.16", "0.5.19", "0.5.20", "0.5.23")
STEPS = 2_000


def walks(scenario: str, steps: int, seed: int = 0) -> dict[str, object]:
    """A job."""
    return {"kind": "walks", "scenario": scenario, "steps": steps, "seed": seed, "full": False}


def test_a_seed_that_found_a_difference(done: Jobs) -> None:
    """The model asked the gate once more after a pick that had taken the last token of the pass."""
    (found,) = done("0.5.12.post1", walks("whole-server", 45))
    assert found["difference"] is None, found["path"]
    assert found["steps"] == 45


def test_the_command_walks_and_tells_what_is_not_driven(release_folder: Releases) -> None:
    """Seeds that have found what the harness saw wrongly: the moment at which a slot is overwritten, how far
    a use count is off, an abort of a transfer; a scenario is driven by its role, whatever its name. Status 0
    without a difference."""
    scenarios = [
        "overlap-cancel",
        "use-counts",
        "decode-admission",
        "decode-endless-traffic",
        "drained-traffic",
    ]
    arguments = [*(f"--scenario={s}" for s in scenarios), "--sglang", str(release_folder("0.5.20"))]
    run = CliRunner().invoke(
        main,
        ["conform", "--release", "0.5.20", "--on", "sglang", "--steps", "300", "--seed", "0", *arguments],
    )
    assert run.exit_code == 0, run.output
    told = run.output.splitlines()
    for scenario, line in zip(scenarios, told, strict=True):
        assert line.startswith(f"{scenario} on sglang 0.5.20: 60 steps"), line
        assert "no difference" in line
    assert told[1].endswith("(not driven: prompts with several samples)")


def test_steps_of_a_scenario_that_is_not_driven_go_to_the_others(release_folder: Releases) -> None:
    """From 0.5.21 on ranks exchange adapter ids; all the steps that were asked for are walked, or none."""
    conform = ["conform", "--release", "0.5.23", "--on", "sglang", "--sglang", str(release_folder("0.5.23"))]
    idle = "--scenario=idle-rank"
    run = CliRunner().invoke(main, [*conform, "--steps", "12", idle, "--scenario=overlap-cancel"])
    assert run.exit_code == 0, run.output
    first, second = run.output.splitlines()
    assert first == f"idle-rank on sglang 0.5.23: not driven: {limits.COLLECTIVES}"
    assert second.startswith("overlap-cancel on sglang 0.5.23: 12 steps")
    run = CliRunner().invoke(main, [*conform, "--steps", "12", idle])
    assert run.exit_code == 2
    assert run.output.splitlines()[-1].endswith("use --on reference")


@pytest.mark.deep
def test_a_seed_that_found_what_the_harness_foresaw(done: Jobs) -> None:
    """An end by length that the model names where no token is due, at a piece of a prompt or in a part of an
    iteration that takes no results, ended the request at its next token."""
    (found,) = done("0.5.23", walks("whole-server", 200, seed=1))
    assert found["difference"] is None, found["path"]
    assert found["steps"] == 200


@pytest.mark.deep
@pytest.mark.parametrize("name", DEEP)
def test_many_walks_show_no_difference(name: str, done: Jobs) -> None:
    """2,000 steps a release, over all scenarios that are driven."""
    chosen = [scenario for scenario in SCENARIOS if limits.never_walked(scenario, name) is None]
    found = done(name, *(walks(scenario, STEPS // len(chosen) + 1) for scenario in chosen))
    for one in found:
        assert one["difference"] is None, (one["scenario"], one["difference"], one["path"])
    assert sum(one["steps"] for one in found) >= STEPS


def test_the_command_finds_what_a_release_does_otherwise(release_folder: Releases, tmp_path: Path) -> None:
    """0.5.12.post1 under the name of 0.5.13, whose loader reaps finished copies: status 1, a short way."""
    disguised = tmp_path / "disguised"
    metadata = disguised / "sglang-0.5.13.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.4\nName: sglang\nVersion: 0.5.13\n")
    (disguised / "sglang").symlink_to(release_folder("0.5.12.post1") / "sglang")
    arguments = ["--release", "0.5.13", "--sglang", str(disguised), "--scenario", "overlap-cancel"]
    run = CliRunner().invoke(main, ["conform", "--on", "sglang", *arguments, "--steps", "400"])
    assert run.exit_code == 1, run.output
    assert "overlap-cancel on sglang 0.5.13" in run.output
    assert "differs at step" in run.output
    assert "  1. " in run.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give --sglang DIR with a release"),
        (["--sglang", "nowhere"], "nowhere: there is no such folder"),
        (["--sglang", "{other}"], "holds SGLang 0.5.16; give a folder with 0.5.20, or --release 0.5.16"),
        (["--sglang", "{old}"], "supported are 0.5.12 to 0.5.23"),
        (["--sglang", "{other}", "--fetch", "0.5.20"], "give --sglang DIR with a release"),
        (["--fetch", "0.4.0"], "no supported release '0.4.0'"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2, with the remedy."""
    monkeypatch.setattr(folders, "NEEDED", ())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    places = {"{other}": make_release(tmp_path, "0.5.16"), "{old}": make_release(tmp_path, "0.5.9")}
    given = [str(places.get(a, a)) for a in arguments]
    run = CliRunner().invoke(main, ["conform", "--release", "0.5.20", "--on", "sglang", *given])
    assert run.exit_code == 2, run.output
    assert words in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_a_folder_is_for_real_code_alone(tmp_path: Path) -> None:
    """Status 2."""
    run = CliRunner().invoke(main, ["conform", "--release", "0.5.20", "--sglang", str(tmp_path)])
    assert run.exit_code == 2
    assert "--sglang and --fetch are for --on sglang" in run.stderr
