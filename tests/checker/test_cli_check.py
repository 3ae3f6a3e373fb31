"""``slotproof check``: verdicts, formats, traces, limits, exit statuses."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from slotproof.counterexamples.itf import read
from tests.checker.conftest import Run

SHOP = str(Path(__file__).parents[1] / "counterexamples" / "shop.py")
ALLOCATOR = str(Path(__file__).parents[1] / "zoo" / "allocator.py")

KEYS = [
    "release",
    "scenario",
    "property",
    "engine",
    "verdict",
    "complete",
    "states",
    "transitions",
    "depth",
    "seconds",
    "cached",
    "trace",
    "reason",
]

COUNTER = """\
from slotproof.model.language import *

top = parameter("top", int, 3, "where the counter stops")

class Counter(State):
    n: Annotated[int, Range(0, top)] = field(0, "the counter")

@action
def count(s: Counter) -> None:
    '''It counts.'''
    require(s.n < top)
    s.n += 1

@action
def again(s: Counter) -> None:
    '''It starts again.'''
    require(s.n == top)
    s.n = 0

@witness
def full(s: Counter) -> bool:
    '''The counter is at its top.'''
    return s.n == top

def done(s: Counter) -> bool:
    return s.n == top

counter = System("counter", Counter, actions=[count, again], witnesses=[full], meaning="It counts.")
stopping = System("stopping", Counter, actions=[count], final=done)
stuck = System("stuck", Counter, actions=[count])
"""


def _json(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """A file with three small systems."""
    path = tmp_path / "counter.py"
    path.write_text(COUNTER)
    return path


def test_the_allocator_has_the_known_counts(run: Run) -> None:
    sizes = ["--set", "requests=6", "--set", "adapters=3", "--set", "slots=2"]
    result = run("check", "--system", ALLOCATOR, *sizes, "--format", "json")
    assert result.exit_code == 0
    for line in _json(result.stdout):
        assert (line["states"], line["transitions"], line["depth"]) == (96_508, 908_832, 26)
        assert (line["verdict"], line["complete"], line["scenario"]) == ("holds", True, "allocator")


def test_a_json_line_has_exactly_the_documented_keys(run: Run, tmp_path: Path) -> None:
    result = run("check", "--system", f"{SHOP}:shop", "--format", "json")
    assert result.exit_code == 1
    lines = _json(result.stdout)
    assert all(list(line) == KEYS for line in lines)
    violated = {line["property"]: line for line in lines if line["verdict"] == "violated"}
    assert {name: line["depth"] for name, line in violated.items()} == {
        "room-for-more": 4,
        "buys-news": 4,
        "few-of-each": 4,
        "no-crash-third-of-a-kind": 6,
    }
    for name, line in violated.items():
        assert line["trace"] == f"slotproof-traces/shop.{name}.itf.json"
        assert read(tmp_path / line["trace"]).scenario == "shop"
        assert line["release"] is None


def test_a_system_without_properties_is_about_its_reachable_states(run: Run, counter: Path) -> None:
    result = run("check", "--system", "counter.py:counter", "--set", "top=5", "--format", "json")
    assert result.exit_code == 0
    (line,) = _json(result.stdout)
    assert line["property"] == "reachable-states"
    assert (line["verdict"], line["states"], line["transitions"], line["depth"]) == ("holds", 6, 6, 5)


@pytest.mark.parametrize("engine", ["bounded", "induction", "pdr"])
def test_an_engine_that_goes_through_no_states_reports_none(run: Run, counter: Path, engine: str) -> None:
    for system in ("stuck", "stopping"):
        result = run("check", "--system", f"counter.py:{system}", "--engine", engine, "--format", "json")
        (line,) = _json(result.stdout)
        unproven = "unknown" if engine == "bounded" else "holds"
        assert (line["property"], line["verdict"]) == (
            "deadlock",
            "violated" if system == "stuck" else unproven,
        )


def test_a_standstill_is_reported_also_without_properties(run: Run, counter: Path) -> None:
    lines = _json(run("check", "--system", "counter.py:stuck", "--format", "json").stdout)
    assert {line["property"]: line["verdict"] for line in lines} == {
        "reachable-states": "holds",
        "deadlock": "violated",
    }
    assert run("check", "--system", "counter.py:stopping").exit_code == 0


def test_a_system_is_named_by_its_variable_or_by_itself(run: Run, tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(COUNTER.replace('System("stuck"', 'System("standing-still"'))
    for name in ("stuck", "standing-still"):
        assert run("check", "--system", f"named.py:{name}").exit_code == 1


def test_what_a_system_file_prints_stays_out_of_the_output(run: Run, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("print('hello')\n" + COUNTER)
    result = run("check", "--system", "loud.py:counter", "--format", "json")
    assert len(_json(result.stdout)) == 1
    assert not (tmp_path / "__pycache__").exists()


def test_a_system_file_imports_what_lies_beside_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "helping_module.py").write_text("LIMIT = 4\n")
    (tmp_path / "own.py").write_text(
        "from helping_module import LIMIT\n" + COUNTER.replace("int, 3", "int, LIMIT")
    )
    assert _json(run("check", "--system", "own.py:counter", "--format", "json").stdout)[0]["states"] == 5


def test_the_text_names_scope_coverage_verdicts_and_traces(run: Run) -> None:
    result = run("check", "--system", f"{SHOP}:shop")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "shop, explicit"
    assert any(line.startswith("  for ") and "room = 2" in line for line in lines)
    assert any("states," in line and line.endswith("searched to the end") for line in lines)
    assert "  2 of 2 actions happened" in lines
    assert "  violated  room-for-more             4 steps" in lines
    assert "  slotproof-traces/shop.room-for-more.itf.json" in lines
    assert lines[-1] == "  slotproof explain slotproof-traces/shop.room-for-more.itf.json"
    assert all(len(line) <= 80 for line in lines)
    assert not any(line.endswith(" ") for line in lines)
    assert "\x1b" not in result.stdout


def test_verbose_names_every_action_premise_and_witness(run: Run, counter: Path) -> None:
    text = run("check", "--system", "counter.py:counter", "--verbose").stdout
    assert "  action count: 3 times" in text
    assert "  witness full: at depth 3" in text
    text = run("check", "--system", f"{SHOP}:shop", "--verbose").stdout
    assert "premise of few-of-each" in text


def test_quiet_is_silent_about_what_is_expected(run: Run, counter: Path) -> None:
    assert run("check", "--system", "counter.py:counter", "--quiet").stdout.splitlines() == [
        "1 verdict: 1 holds, 0 violated, 0 unknown."
    ]


def test_markdown_is_a_table(run: Run) -> None:
    text = run("check", "--system", f"{SHOP}:shop", "--format", "markdown").stdout
    assert text.startswith("# slotproof check\n")
    assert "| property | verdict |\n| --- | --- |\n| room-for-more | **fails 4** |\n" in text
    assert "- **room-for-more**: violated, 4 steps `slotproof-traces/shop.room-for-more.itf.json`" in text


def test_a_property_that_is_picked_has_the_verdict_of_the_whole_search(run: Run) -> None:
    everything = _json(run("check", "--system", f"{SHOP}:shop", "--format", "json").stdout)
    picked = _json(
        run(
            "check", "--system", f"{SHOP}:shop", "--property", "few-of-each", "--property", "no-crash",
            "--format", "json",
        ).stdout
    )  # fmt: skip
    assert [line["property"] for line in picked] == ["few-of-each", "no-crash-third-of-a-kind"]
    answers = {line["property"]: (line["verdict"], line["depth"]) for line in everything}
    assert all((line["verdict"], line["depth"]) == answers[line["property"]] for line in picked)
    assert picked[0]["states"] <= everything[0]["states"]


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (["--max-states", "7"], "limit of 7 states reached"),
        (["--max-depth", "2"], "limit of depth 2 reached"),
        (["--timeout", "0.000001"], "seconds reached"),
    ],
)
def test_a_limit_is_unknown_with_what_was_covered(limit: list[str], reason: str, run: Run) -> None:
    result = run("check", "--system", ALLOCATOR, *limit, "--format", "json")
    assert result.exit_code == 3
    for line in _json(result.stdout):
        assert (line["verdict"], line["complete"]) == ("unknown", False)
        assert reason in line["reason"]
        assert line["states"] > 0


def test_a_violation_before_the_limit_counts(run: Run) -> None:
    result = run("check", "--system", f"{SHOP}:shop", "--max-depth", "5", "--format", "json")
    assert result.exit_code == 1
    verdicts = {line["property"]: line["verdict"] for line in _json(result.stdout)}
    assert verdicts["room-for-more"] == "violated"
    assert verdicts["no-crash-third-of-a-kind"] == "unknown"


def test_traces_go_where_they_are_asked_to(run: Run, tmp_path: Path) -> None:
    run("check", "--system", f"{SHOP}:shop", "--out", "there/deep")
    assert (tmp_path / "there" / "deep" / "shop.buys-news.itf.json").exists()
    assert not (tmp_path / "slotproof-traces").exists()


def test_no_folder_is_made_where_nothing_is_violated(run: Run, counter: Path, tmp_path: Path) -> None:
    run("check", "--system", "counter.py:counter")
    assert not (tmp_path / "slotproof-traces").exists()


def test_further_parts_get_a_number(run: Run, tmp_path: Path) -> None:
    text = (
        Path(SHOP)
        .read_text()
        .replace("len(s.store.held) <= len(Good) and", "len(s.store.held) < len(Good) and")
    )
    (tmp_path / "two.py").write_text(text)
    run("check", "--system", "two.py:shop", "--property", "room-for-more")
    names = sorted(p.name for p in (tmp_path / "slotproof-traces").iterdir())
    assert names == ["shop.room-for-more.2.itf.json", "shop.room-for-more.itf.json"]


def test_a_disk_that_is_full_costs_no_verdict(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Traces and the baseline are not written, nor parts of them; all that was found is printed."""
    (tmp_path / "known.json").write_text("old")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    arguments = ["check", "--system", f"{SHOP}:shop", "--format", "json", "--write-baseline", "known.json"]
    result = run(*arguments)
    assert result.exit_code == 2
    lines = _json(result.stdout)
    assert {line["verdict"] for line in lines} == {"holds", "violated"}
    assert {line["trace"] for line in lines} == {None}
    traces, known = [line for line in result.stderr.splitlines() if line.startswith("slotproof: ")]
    assert traces.endswith("traces cannot be written: No space left on device")
    assert known == "slotproof: known.json: cannot be written: No space left on device"
    assert (tmp_path / "known.json").read_text() == "old"
    assert not list(tmp_path.rglob("*.part"))


def test_an_engine_that_is_named_twice_runs_once(run: Run, counter: Path) -> None:
    arguments = ["check", "--system", "counter.py:counter", "--format", "json", "--engine", "explicit"]
    assert len(_json(run(*arguments, "--engine", "explicit").stdout)) == len(_json(run(*arguments).stdout))


def test_the_command_for_a_trace_can_be_pasted(run: Run) -> None:
    result = run("check", "--system", f"{SHOP}:shop", "--out", "my traces")
    assert result.stdout.splitlines()[-1].startswith("  slotproof explain 'my traces/shop.")


def _slotproof(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slotproof.checker", *arguments]
    environment = {**os.environ, **more}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_module_is_the_command(tmp_path: Path) -> None:
    result = _slotproof("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("slotproof, version ")
    assert (
        _slotproof("chek").stderr
        == "slotproof: there is no command 'chek'; did you mean check? (slotproof --help)\n"
    )


def test_no_engine_is_imported_before_it_is_needed() -> None:
    heavy = "('numba', 'z3', 'rich', 'jsonschema')"
    code = f"import sys, slotproof.checker.cli; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("arguments", [["check"], ["compare"], ["list"], ["explain"], []])
def test_help_fits_80_columns_and_has_an_example(arguments: list[str], run: Run) -> None:
    text = run(*arguments, "--help").stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "xample" in text or not arguments
