"""``--format junit``: what a CI server shows as tests."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.checker.conftest import Run


def _cases(text: str) -> dict[str, list[ElementTree.Element]]:
    """The cases of a report by what became of them."""
    found: dict[str, list[ElementTree.Element]] = {"failure": [], "error": [], "skipped": [], "passed": []}
    for case in ElementTree.fromstring(text).iter("testcase"):
        fate = next((tag for tag in found if case.find(tag) is not None), "passed")
        found[fate].append(case)
    return found


@pytest.mark.usefixtures("shops")
def test_each_verdict_is_a_case_and_a_violation_fails_with_its_story(run: Run) -> None:
    result = run("check", "--no-baseline", "--scenario", "market", "--format", "junit")
    assert result.exit_code == 1
    root = ElementTree.fromstring(result.stdout)
    cases = _cases(result.stdout)
    assert [s.get("name") for s in root] == [f"market.{r} (explicit)" for r in ("0.1", "0.2.post1", "0.3")]
    assert root.get("tests") == str(sum(map(len, cases.values())))
    assert root.get("failures") == str(len(cases["failure"])) != "0"
    assert root.get("errors") == "0"
    assert cases["passed"]
    case = next(c for c in cases["failure"] if c.get("name") == "room-for-more")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "violated"
    assert "market on 0.1: room-for-more is violated after" in (failure.text or "")
    assert "Why room-for-more is false" in (failure.text or "")
    assert case.findtext("system-out") == "slotproof-traces/market.room-for-more.0.1.itf.json"


@pytest.mark.usefixtures("shops")
def test_the_time_of_a_search_is_counted_once(run: Run) -> None:
    text = run("check", "--no-baseline", "--scenario", "market", "--format", "junit").stdout
    root = ElementTree.fromstring(text)
    for suite in root:
        total = sum(float(case.get("time", "nan")) for case in suite)
        assert total == pytest.approx(float(suite.get("time", "nan")), abs=0.001 * len(suite))


@pytest.mark.usefixtures("shops")
def test_what_the_baseline_lists_is_skipped_and_what_is_gone_fails(run: Run) -> None:
    run("check", "--no-baseline", "--scenario", "market", "--write-baseline", "known.json")
    known = Path("known.json")
    result = run("check", "--scenario", "market", "--baseline", "known.json", "--format", "junit")
    cases = _cases(result.stdout)
    assert (result.exit_code, cases["failure"]) == (0, [])
    skipped = [case.find("skipped") for case in cases["skipped"]]
    assert all(s is not None and "known: not yet explained" in s.get("message", "") for s in skipped)
    held = "no-crash-third-of-a-kind"  # by the last release
    listed = json.loads(known.read_text())
    (deadlock,) = (e for e in listed["violations"] if (e["property"], e["release"]) == ("deadlock", "0.3"))
    deadlock["property"] = held
    known.write_text(json.dumps(listed))
    result = run("check", "--scenario", "market", "--baseline", "known.json", "--format", "junit")
    failed = {(case.get("classname"), case.get("name")) for case in _cases(result.stdout)["failure"]}
    assert failed == {("market.0.3", held), ("market.0.3", "deadlock")}


@pytest.mark.usefixtures("shops")
def test_unknown_is_an_error_and_never_a_pass(run: Run) -> None:
    result = run("check", "--no-baseline", "--max-states", "1", "--scenario", "kiosk", "--format", "junit")
    cases = _cases(result.stdout)
    assert result.exit_code == 3
    assert cases["passed"] == []
    assert all(case.find("error").get("type") == "unknown" for case in cases["error"])  # type: ignore[union-attr]


def test_a_search_without_an_answer_is_an_error(run: Run) -> None:
    Path("broken.py").write_text(
        "from slotproof.model.language import *\n\n"
        "class S(State):\n    n: Annotated[int, Range(0, 3)] = field(0, 'n')\n\n"
        "@action\ndef count(s: S) -> None:\n    s.n += 1\n\nsystem = System('s', S, actions=[count])\n"
    )
    result = run("check", "--system", "broken.py", "--format", "junit")
    (case,) = _cases(result.stdout)["error"]
    assert result.exit_code == 2
    assert "broken.py:8" in (case.find("error").get("message") or "")  # type: ignore[union-attr]
