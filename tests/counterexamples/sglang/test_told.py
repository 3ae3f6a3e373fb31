"""What the command tells of a step that real code refuses, of a difference, and of a trace that is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from slotproof.checker.cli import main
from slotproof.checker.commands.explain import program_of_file
from slotproof.counterexamples.itf import read, write
from slotproof.counterexamples.replay.sglang.elsewhere import on_release
from slotproof.counterexamples.replay.sglang.parent import run_jobs
from tests.counterexamples.sglang.conftest import GALLERY, Releases

RELEASE = "0.5.12.post1"
LEAK = GALLERY / f"overlap-cancel.no-slot-leak.{RELEASE}.itf.json"
SAMPLES = GALLERY / "use-counts.unload-safe.0.5.23.itf.json"


@dataclass(frozen=True)
class Replayed:
    """Traces of one run of real code, and what came of each."""

    folder: Path
    traces: Mapping[str, Path]
    found: Mapping[str, Mapping[str, Any]]


def moved(source: Path, version: str, place: Path) -> Path:
    """The steps of a trace as the model of another release takes them, under the name of this release."""
    file = read(source)
    assert file.scenario is not None
    there, program, _ = on_release(file.trace(program_of_file(file, None)), file.scenario, version)
    write(replace(there, release=RELEASE, kind="difference"), program, place, file.scenario)
    return place


@pytest.fixture(scope="module")
def replayed(release_folder: Releases, tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    """All of them in one process, because the import of a release takes longest."""
    folder, place = release_folder(RELEASE), tmp_path_factory.mktemp("traces")
    edited = place / "edited.itf.json"
    edited.write_text(LEAK.read_text().replace('"pending": {"#set": []}', '"pending": {"#set": ["A"]}'))
    traces = {
        "refused": moved(SAMPLES, RELEASE, place / "refused.itf.json"),
        "differs": moved(LEAK, "0.5.13", place / "differs.itf.json"),
        "edited": edited,
    }
    jobs = [{"kind": "trace", "trace": str(path)} for path in traces.values()]
    return Replayed(folder, traces, dict(zip(traces, run_jobs(folder, jobs), strict=True)))


Command = Callable[[str], Result]


@pytest.fixture
def command(replayed: Replayed, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``slotproof replay``, which gets what the run above has found of a trace."""

    def run(name: str) -> Result:
        monkeypatch.setattr(
            "slotproof.counterexamples.replay.sglang.parent.run_jobs", lambda *_: [replayed.found[name]]
        )
        trace, folder = str(replayed.traces[name]), str(replayed.folder)
        return CliRunner().invoke(main, ["replay", trace, "--on", "sglang", "--sglang", folder])

    return run


def test_a_step_that_real_code_refuses_is_wrong_use(command: Command, replayed: Replayed) -> None:
    """One line with the step, why, and the remedy; status 2."""
    run = command("refused")
    assert run.exit_code == 2, run.output
    assert len(run.stderr.splitlines()) == 1
    for words in (str(replayed.traces["refused"]), "arrive_for_two", "several samples", "slotproof explain"):
        assert words in run.stderr
    assert run.stdout == ""


def test_a_difference_is_told_with_its_step(command: Command) -> None:
    """The loader of 0.5.12 keeps the entry that the trace says is reaped; status 1."""
    run = command("differs")
    assert run.exit_code == 1, run.output
    assert "differs at step 7, schedule: ranks[rank0]." in run.stdout
    assert "in the model and" in run.stdout


def test_a_trace_that_the_model_does_not_have_is_none(command: Command) -> None:
    """Its states were edited by hand: one line, status 2, and nothing of it is blamed on real code."""
    run = command("edited")
    assert run.exit_code == 2, run.output
    assert len(run.stderr.splitlines()) == 1
    assert "edited.itf.json: states[0] is not the declared one" in run.stderr
