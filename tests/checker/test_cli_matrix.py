"""The matrix release × property: shared searches, formats, and the baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker import baseline
from slotproof.model.language import witness
from slotproof.model.language.system import Alternatives, System
from tests.checker import fakes
from tests.checker.conftest import Run
from tests.counterexamples import shop

pytestmark = pytest.mark.usefixtures("shops")

VIOLATED_BEFORE = {"room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind"}


def _json(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_release_meets_every_scenario(run: Run) -> None:
    result = run("check", "--no-baseline", "--format", "json")
    assert result.exit_code == 1
    lines = _json(result.stdout)
    assert {(line["release"], line["scenario"]) for line in lines} == {
        (release, scenario) for release in ("0.1", "0.2.post1", "0.3") for scenario in ("market", "kiosk")
    }
    at = {(line["release"], line["property"]): line for line in lines if line["scenario"] == "market"}
    for name in VIOLATED_BEFORE:
        assert at["0.1", name]["verdict"] == at["0.2.post1", name]["verdict"] == "violated"
        assert at["0.1", name]["trace"] == f"slotproof-traces/market.{name}.0.1.itf.json"
    assert at["0.3", "no-crash-third-of-a-kind"]["verdict"] == "holds"


def test_releases_with_equal_decisions_share_one_search(run: Run) -> None:
    lines = _json(run("check", "--no-baseline", "--scenario", "market", "--format", "json").stdout)
    seconds = {line["release"]: line["seconds"] for line in lines}
    assert seconds["0.1"] == seconds["0.2.post1"]
    text = run("check", "--no-baseline", "--scenario", "market").stdout
    assert "0.1        a" in text
    assert "0.2.post1  a" in text
    assert "0.3        b" in text
    assert "Releases with the same letter share one search" in text


def test_a_shared_trace_names_the_release_that_it_is_for(run: Run, tmp_path: Path) -> None:
    run("check", "--no-baseline", "--scenario", "market")
    for release in ("0.1", "0.2.post1"):
        path = tmp_path / "slotproof-traces" / f"market.room-for-more.{release}.itf.json"
        meta = json.loads(path.read_text())["#meta"]
        assert (meta["release"], meta["scenario"], meta["system_file"]) == (release, "market", None)
        assert run("explain", str(path)).stdout.startswith(f"market on {release}: room-for-more is violated")


def test_what_some_search_met_is_not_called_never_met(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 0.3 nobody may order, so that nothing happens there; on the others everything does."""

    def nobody(s: shop.Shop, a: shop.Good) -> bool:
        return False

    @witness
    def something_came(s: shop.Shop) -> bool:
        return len(s.store.held) > 0

    class Hostile(fakes.Scenario):
        def system(self, release: fakes.Release, full: bool = False, lemmas: bool = False) -> System:
            alternatives = [Alternatives(shop.may_order, shop.always, nobody)]
            name = "nobody" if release.name == "0.3" else "always"
            return replace(
                shop.shop, decisions=alternatives, witnesses=[something_came], choices={"may_order": name}
            )

    monkeypatch.setitem(fakes.SCENARIOS, "hostile", Hostile("hostile", "Nobody may order.", {}, {}))
    arguments = ["check", "--no-baseline", "--scenario", "hostile"]
    assert "every action happened, every premise was met, every witness was" in run(*arguments).stdout
    alone = run(*arguments, "--release", "0.3").stdout
    assert "0 of 2 actions happened; never enabled: order, buy" in alone
    assert "0 of 1 witness reached; never: something-came" in alone
    each = run(*arguments, "--verbose").stdout
    assert each.count("0 of 2 actions happened") == each.count("2 of 2 actions happened") == 1


def test_the_matrix_fits_80_columns(run: Run) -> None:
    result = run("check", "--no-baseline")
    lines = result.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines if "slotproof-traces" not in line)
    assert "market, explicit, 3 releases" in lines
    assert "  for goods = 2, room = 2, counts = 3" in lines or any("goods = 2" in line for line in lines)
    assert any(line.strip().startswith("room-for-more on 0.1 to 0.3: 4 steps") for line in lines)


def test_one_release_and_one_scenario_is_a_list(run: Run) -> None:
    lines = run("check", "--no-baseline", "--scenario", "market", "--release", "0.3").stdout.splitlines()
    assert lines[0] == "market on 0.3, explicit"


def test_the_same_search_with_one_worker_and_with_two(run: Run) -> None:
    def without_time(text: str) -> list[dict[str, Any]]:
        return [{k: v for k, v in line.items() if k != "seconds"} for line in _json(text)]

    one = run("check", "--no-baseline", "--format", "json", "--workers", "1")
    two = run("check", "--no-baseline", "--format", "json", "--workers", "2")
    assert without_time(one.stdout) == without_time(two.stdout)


def test_full_sizes_are_larger(run: Run) -> None:
    arguments = ["check", "--no-baseline", "--scenario", "market", "--release", "0.3", "--format", "json"]
    quick, full = _json(run(*arguments).stdout), _json(run(*arguments, "--full").stdout)
    assert full[0]["states"] > quick[0]["states"]


def test_set_works_on_scenarios(run: Run) -> None:
    arguments = ["check", "--scenario", "market", "--release", "0.3", "--format", "json"]
    full = _json(run(*arguments, "--no-baseline", "--full").stdout)
    given = _json(run(*arguments, "--no-baseline", "--set", "goods=3").stdout)
    assert full[0]["states"] == given[0]["states"]


def test_markdown_says_which_releases_share_a_search(run: Run) -> None:
    text = run("check", "--no-baseline", "--scenario", "market", "--format", "markdown").stdout
    assert "| property | 0.1 | 0.2.post1 | 0.3 |" in text
    assert "| room-for-more | **fails 4** | **fails 4** | **fails 4** |" in text
    assert "One search for 0.1 to 0.2.post1: their decisions are equal here." in text


def _baseline(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def test_a_written_baseline_makes_the_next_run_pass(run: Run, tmp_path: Path) -> None:
    written = run("check", "--no-baseline", "--write-baseline", "known.json")
    assert written.exit_code == 0
    assert "write the reason of each new one" in written.stderr
    entries = _baseline(tmp_path / "known.json")["violations"]
    assert entries[0]["reason"] == "not yet explained"
    assert set(entries[0]) == {"scenario", "property", "release", "size", "steps", "parts", "reason"}
    result = run("check", "--baseline", "known.json")
    assert result.exit_code == 0
    assert "known 4" in result.stdout
    assert "known: not yet explained" in result.stdout


def test_a_baseline_of_what_was_not_searched_to_the_end_is_unknown(run: Run) -> None:
    arguments = ["check", "--no-baseline", "--scenario", "market", "--max-depth", "5"]
    found = run(*arguments, "--format", "json")
    assert {line["verdict"] for line in _json(found.stdout)} == {"violated", "unknown"}
    assert found.exit_code == 1
    assert run(*arguments, "--write-baseline", "known.json").exit_code == 3


@pytest.fixture
def known(run: Run, tmp_path: Path) -> Path:
    """A baseline of the market on 0.1, with a reason for each."""
    run(
        "check", "--no-baseline", "--scenario", "market", "--release", "0.1", "--write-baseline", "known.json"
    )
    path = tmp_path / "known.json"
    path.write_text(path.read_text().replace("not yet explained", "a shop is like that"))
    return path


MARKET = ["check", "--baseline", "known.json", "--scenario", "market", "--release", "0.1"]


def test_a_known_violation_is_expected_and_says_why(run: Run, known: Path) -> None:
    result = run(*MARKET, "--format", "json")
    assert result.exit_code == 0
    line = next(line for line in _json(result.stdout) if line["property"] == "buys-news")
    assert (line["verdict"], line["reason"]) == ("violated", "known: a shop is like that")


def _edit(path: Path, name: str, **changes: Any) -> None:
    baseline = _baseline(path)
    for entry in baseline["violations"]:
        if entry["property"] == name:
            entry.update(changes)
    path.write_text(json.dumps(baseline))


def test_an_unlisted_violation_is_news(run: Run, known: Path) -> None:
    baseline = _baseline(known)
    baseline["violations"] = [e for e in baseline["violations"] if e["property"] != "buys-news"]
    known.write_text(json.dumps(baseline))
    result = run(*MARKET)
    assert result.exit_code == 1
    assert "4 steps; not in the baseline" in result.stdout


def test_a_listed_violation_that_no_longer_occurs_is_an_error(run: Run, known: Path) -> None:
    _edit(known, "buys-news", property="deadlock")
    result = run(*MARKET, "--property", "deadlock")
    assert result.exit_code == 1
    assert "the baseline lists it as violated" in " ".join(result.stdout.split())


def test_a_listed_property_that_is_gone_is_an_error(
    run: Run, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a file of the user's it is a name that there is not: ``test_cli_bad_input.py``."""
    _edit(known, "buys-news", property="sells-news")
    assert run(*MARKET).exit_code == 2
    monkeypatch.setattr(baseline, "shipped", lambda: baseline.read(known))
    result = run(*(a for a in MARKET if a not in ("--baseline", "known.json")))
    assert result.exit_code == 1
    assert "the baseline lists sells-news (a shop is like that), and there is no such property" in " ".join(
        result.stdout.split()
    )


@pytest.mark.parametrize("changes", [{"steps": 3}, {"parts": 2}])
def test_another_length_or_number_of_parts_is_news(changes: dict[str, int], run: Run, known: Path) -> None:
    _edit(known, "buys-news", **changes)
    assert run(*MARKET).exit_code == 1
    assert run(*MARKET, "--property", "few-of-each").exit_code == 0


def test_a_baseline_is_for_its_size(run: Run, known: Path) -> None:
    assert run(*MARKET, "--full").exit_code == 1


def test_another_scope_is_not_held_against_the_lengths_of_the_baseline(run: Run, known: Path) -> None:
    assert run(*MARKET, "--set", "counts=2").exit_code == 1  # a standstill that is not listed
    _edit(known, "buys-news", property="deadlock")
    assert run(*MARKET, "--set", "counts=2", "--property", "deadlock").exit_code == 0


def test_writing_keeps_reasons_and_what_was_not_searched(run: Run, known: Path) -> None:
    run(
        "check", "--baseline", "known.json", "--scenario", "kiosk", "--release", "0.1",
        "--write-baseline", "known.json",
    )  # fmt: skip
    entries = _baseline(known)["violations"]
    assert {e["scenario"] for e in entries} == {"kiosk", "market"}
    assert {e["reason"] for e in entries if e["scenario"] == "market"} == {"a shop is like that"}


def test_unknown_is_weaker_than_news(run: Run, known: Path) -> None:
    assert run(*MARKET, "--max-depth", "1").exit_code == 3
    assert run(*MARKET, "--max-depth", "5").exit_code == 3
    _edit(known, "buys-news", steps=3)
    assert run(*MARKET, "--max-depth", "5").exit_code == 1


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        (
            "releases",
            [
                "0.1",
                "    may_order = always (#1)",
                "0.2.post1",
                "    no decision changed",
                "0.3",
                "    may_order = only_new (#3)",
            ],
        ),
        (
            "scenarios",
            ["market", "    Two kinds of goods.", "    quick: goods = 2", "    full, beyond that: goods = 3"],
        ),
        (
            "properties",
            [
                "room-for-more",
                "    The shop never has everything while nobody waits.",
                "    in market, kiosk",
            ],
        ),
        ("decisions", ["may_order", "    Whether a client may order.", "    always: Nobody is refused."]),
    ],
)
def test_lists(what: str, lines: list[str], run: Run) -> None:
    result = run("list", what)
    assert result.exit_code == 0
    printed = result.stdout.splitlines()
    start = printed.index(lines[0])
    assert printed[start : start + len(lines)] == lines
    assert all(len(line) <= 80 for line in printed)
