"""The faults of the four pull requests happen on the reference, and every other violation of the matrix."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from slotproof.checker.cli import main
from slotproof.counterexamples.itf import read, write
from slotproof.counterexamples.replay.log import as_trace
from slotproof.counterexamples.verify import verify
from slotproof.model.releases import RELEASES, release
from slotproof.properties import SCENARIOS
from tests.counterexamples.replay.runs import program_of, replayed, violations

FAULTS = [
    ("overlap-cancel", "0.5.12.post1", "no-slot-leak", "refused", "copy of A is still counted"),
    (
        "finish-unload",
        "0.5.13.post1",
        "no-crash-fit-test-unknown-adapter",
        "exception",
        "validate_lora_batch",
    ),
    ("idle-rank", "0.5.16", "fresh-batch-info", "exception", "batch metadata"),
    ("decode-admission", "0.5.19", "slot-capacity", "exception", "fetch_new_loras"),
]

GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@pytest.mark.parametrize(("scenario", "name", "property", "kind", "words"), FAULTS)
def test_the_four_faults_happen(scenario: str, name: str, property: str, kind: str, words: str) -> None:
    """Every state is the model's, and a user sees the violation."""
    for trace in violations(scenario, name)[property]:
        found = replayed(scenario, name, trace)
        assert found.difference is None
        assert found.symptom is not None
        assert found.symptom.kind == kind
        assert words in found.symptom.text


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize(("scenario", "name", "property", "kind", "words"), FAULTS)
def test_the_four_faults_happen_on_cuda(
    scenario: str, name: str, property: str, kind: str, words: str
) -> None:
    """The same with real streams, events and pinned copies."""
    for trace in violations(scenario, name)[property]:
        found = replayed(scenario, name, trace, "cuda")
        assert found.happened
        assert found.symptom is not None
        assert (found.symptom.kind, words in found.symptom.text) == (kind, True)


@pytest.mark.parametrize("scenario", ["overlap-cancel", "finish-unload-normal", "use-counts", "idle-rank"])
def test_every_violation_of_a_release_happens(scenario: str) -> None:
    """Of 0.5.12.post1, whose matrix has the most."""
    for traces in violations(scenario, "0.5.12.post1").values():
        for trace in traces:
            found = replayed(scenario, "0.5.12.post1", trace)
            assert found.happened, (trace.property, found.difference)


def _distinct() -> list[tuple[str, str]]:
    """Scenarios and releases, those with equal decisions once."""
    seen: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[str, str]] = {}
    for scenario, name in itertools.product(SCENARIOS, RELEASES):
        names: Mapping[str, str] = release(name).names()
        seen.setdefault((scenario, tuple(sorted(names.items()))), (scenario, name))
    return list(seen.values())


@pytest.mark.deep
@pytest.mark.parametrize(("scenario", "name"), _distinct())
def test_every_violation_of_the_matrix_happens(scenario: str, name: str) -> None:
    """Each scenario and release at the quick size."""
    for traces in violations(scenario, name).values():
        for trace in traces:
            found = replayed(scenario, name, trace)
            assert found.happened, (trace.property, found.difference)


def test_the_log_of_a_run_is_a_trace() -> None:
    """The model takes it, and it ends like the trace that was replayed."""
    scenario, name = "overlap-cancel", "0.5.12.post1"
    program = program_of(scenario, name)
    (trace,) = violations(scenario, name)["no-slot-leak"]
    log = as_trace(replayed(scenario, name, trace), trace, program)
    verify(log, program)
    assert log.states == trace.states


@pytest.fixture
def leak(tmp_path: Path) -> Path:
    """A trace file."""
    program = program_of("overlap-cancel", "0.5.12.post1")
    (trace,) = violations("overlap-cancel", "0.5.12.post1")["no-slot-leak"]
    path = tmp_path / "leak.itf.json"
    write(trace, program, path, "overlap-cancel")
    return path


def test_the_command_replays_a_file(leak: Path, tmp_path: Path) -> None:
    """Status 0, how many steps agreed, the symptom; the log is a trace file."""
    log = tmp_path / "log.itf.json"
    run = CliRunner().invoke(main, ["replay", str(leak), "--on", "reference", "--log", str(log)])
    assert run.exit_code == 0, run.output
    assert "8 of 8 steps end in the model's state" in run.output
    assert "(refused)" in run.output
    assert read(log).scenario == "overlap-cancel"


def test_a_difference_names_step_variable_and_values(leak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference that forgets an aborted request's echo; status 1."""
    monkeypatch.setattr("slotproof.counterexamples.reference.registry.Tokenizer.send_echo", lambda *_: None)
    run = CliRunner().invoke(main, ["replay", str(leak)])
    assert run.exit_code == 1
    assert "step 6, abort: replies.echoes is {r1} in the model and {} in the target" in run.output


def test_a_step_that_the_target_refuses_is_wrong_use(leak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the remedy, status 2."""
    monkeypatch.setattr("slotproof.counterexamples.reference.scheduler.Scheduler.has_work", lambda _: False)
    run = CliRunner().invoke(main, ["replay", str(leak)])
    assert run.exit_code == 2
    assert len(run.stderr.splitlines()) == 1
    assert "refuses a step" in run.stderr
    assert "slotproof explain" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--on", "referenz"], "did you mean reference"),
        (["--device", "tpu"], "there are: cpu, cuda"),
    ],
)
def test_wrong_use_is_one_line(leak: Path, arguments: list[str], words: str) -> None:
    """Status 2."""
    run = CliRunner().invoke(main, ["replay", str(leak), *arguments])
    assert run.exit_code == 2
    assert words in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_a_decision_of_ones_own_is_none_of_the_reference(leak: Path) -> None:
    """A candidate's rule is not implemented here."""
    text = leak.read_text().replace('"reap_nothing"', '"reap_all_ended"')
    leak.write_text(text)
    run = CliRunner().invoke(main, ["replay", str(leak)])
    assert run.exit_code == 2


def test_without_torch_the_remedy_is_told(leak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, status 2."""
    monkeypatch.setattr("slotproof.checker.commands.replay.find_spec", lambda name: None)
    run = CliRunner().invoke(main, ["replay", str(leak)])
    assert run.exit_code == 2
    assert "torch is not installed: pip install 'slotproof[replay]'" in run.stderr
    run = CliRunner().invoke(main, ["conform", "--release", "0.5.23"])
    assert run.exit_code == 2
    assert "torch is not installed: pip install 'slotproof[replay]'" in run.stderr
