"""``compare`` in the formats of a CI job: what is lost counts, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fluidattacks_core import sarif as standard

from tests.checker.conftest import Run
from tests.checker.report.conftest import ONLY


def test_one_comparison_in_every_format(run: Run, candidate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 0.5.23 a crash is known; the candidate cures it and keeps a slot that was cleared."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    outputs = [f"--output={name}=out.{name}" for name in ("text", "json", "markdown", "junit", "sarif")]
    result = run("compare", "0.5.23", str(candidate), *ONLY, "--format", "github", *outputs)
    assert result.exit_code == 1
    annotations = [line for line in result.stdout.splitlines() if line.startswith("::")]
    (line,) = annotations
    number = candidate.read_text().splitlines().index('    unload_and_slot="slot_kept",') + 1
    assert line.startswith(f"::error file=changes/mine.py,line={number},title=unload-clears%3A violated::")
    assert "(6 steps; it holds on 0.5.23)" in line
    assert result.stdout.startswith(Path("out.text").read_text())

    summary = Path("summary.md").read_text()
    assert summary.startswith(Path("out.markdown").read_text())
    assert summary.count("<details><summary>decode-admission-pinned on 0.5.23+mine: unload-clears") == 1

    root = ElementTree.parse("out.junit").getroot()
    (failed,) = (case for case in root.iter("testcase") if case.find("failure") is not None)
    assert failed.get("name") == "unload-clears"
    assert root.get("errors") == root.get("skipped") == "0"

    text = Path("out.sarif").read_text()
    standard.SarifLog.model_validate_json(text)
    assert [r["ruleId"] for r in json.loads(text)["runs"][0]["results"]] == ["unload-clears"]
    changes = [json.loads(line)["change"] for line in Path("out.json").read_text().splitlines()]
    assert changes.count("lost") == changes.count("gained") == 1


def test_what_is_unknown_on_either_side_is_an_error(run: Run, candidate: Path) -> None:
    arguments = ("compare", "0.5.23", str(candidate), *ONLY, "--max-states", "3", "--format", "junit")
    result = run(*arguments)
    root = ElementTree.fromstring(result.stdout)
    assert result.exit_code == 3
    names = [case.get("name") for case in root.iter("testcase") if case.find("error") is not None]
    assert "behaviour" in names
    assert root.get("tests") == root.get("errors")
