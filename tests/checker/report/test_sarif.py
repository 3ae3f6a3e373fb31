"""``--format sarif``: valid against the standard's schema, with the way as a code flow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fluidattacks_core import sarif as standard

from tests.checker.conftest import Run
from tests.checker.report.conftest import ONLY


def _run(text: str) -> dict[str, Any]:
    """The one run of a log that is valid: the classes are generated from the schema and allow no more."""
    standard.SarifLog.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    assert isinstance(run, dict)
    return run


def test_the_schema_refuses_what_it_does_not_know() -> None:
    """Else the test below could not fail."""
    with pytest.raises(ValueError, match="levl"):
        standard.SarifLog.model_validate({"version": "2.1.0", "runs": [], "levl": 1})


def test_a_candidates_violation_is_at_its_line_with_the_way_to_it(run: Run, candidate: Path) -> None:
    found = _run(run("check", "--candidate", str(candidate), *ONLY, "--format", "sarif").stdout)
    (result,) = found["results"]
    assert (result["ruleId"], result["level"], result["baselineState"]) == ("unload-clears", "error", "new")
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {
        "uri": "changes/mine.py",
        "uriBaseId": "%SRCROOT%",
    }
    line = location["physicalLocation"]["region"]["startLine"]
    assert candidate.read_text().splitlines()[line - 1].strip() == 'unload_and_slot="slot_kept",'
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert steps[-1]["location"]["message"]["text"] == "unload(a=A)"
    assert "model/serving/" in steps[-1]["location"]["physicalLocation"]["artifactLocation"]["uri"]
    rule = found["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == "unload-clears"
    assert rule["fullDescription"]["text"].startswith("An unloaded adapter is in no slot")


@pytest.mark.usefixtures("shops")
def test_what_is_known_is_suppressed_with_its_reason(run: Run) -> None:
    run("check", "--no-baseline", "--scenario", "market", "--write-baseline", "known.json")
    text = Path("known.json").read_text().replace("not yet explained", "the shop is small")
    Path("known.json").write_text(text)
    found = _run(run("check", "--scenario", "market", "--baseline", "known.json", "--format", "sarif").stdout)
    assert found["results"]
    for result in found["results"]:
        assert result["baselineState"] == "unchanged"
        (suppression,) = result["suppressions"]
        assert "the shop is small" in suppression["justification"]
    assert len({r["partialFingerprints"]["slotproof/v1"] for r in found["results"]}) == len(found["results"])


@pytest.mark.usefixtures("shops")
def test_unknown_stays_open(run: Run) -> None:
    arguments = ("--no-baseline", "--max-states", "1", "--scenario", "kiosk", "--format", "sarif")
    found = _run(run("check", *arguments).stdout)
    assert found["results"]
    assert {(r["kind"], r["level"]) for r in found["results"]} == {("open", "none")}
    assert found["invocations"][0]["exitCode"] == 3
