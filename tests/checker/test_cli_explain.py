"""``slotproof explain``: a trace as a story, after every step was checked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checker.conftest import Run

SHOP = (Path(__file__).parents[1] / "counterexamples" / "shop.py").read_text()
TRACE = "slotproof-traces/shop.room-for-more.itf.json"


@pytest.fixture
def trace(run: Run, tmp_path: Path) -> Path:
    """A trace of a system file that lies beside it."""
    (tmp_path / "my_shop.py").write_text(SHOP)
    assert run("check", "--system", "my_shop.py:shop", "--set", "goods=2").exit_code == 1
    return tmp_path / TRACE


def _edit(path: Path, *keys: Any, value: Any) -> None:
    document = at = json.loads(path.read_text())
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    path.write_text(json.dumps(document))


@pytest.mark.usefixtures("trace")
def test_a_trace_of_a_system_file_finds_its_file(run: Run) -> None:
    result = run("explain", TRACE)
    assert result.exit_code == 0
    assert result.stdout.startswith("shop: room-for-more is violated after 4 steps.\n")
    assert "store.held: {A} -> {A, B}" in result.stdout
    assert result.stdout.endswith("      len(queue) = 0\n      store.held = {A, B}\n")
    assert result.stderr == ""


def test_a_system_file_that_was_moved_is_named_by_hand(run: Run, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "my_shop.py").rename(tmp_path / "our_shop.py")
    result = run("explain", TRACE)
    assert result.exit_code == 2
    assert result.stderr == (
        f"slotproof: {TRACE}: #meta.system_file: my_shop.py:shop is not there; name it with --system FILE\n"
    )
    assert run("explain", TRACE, "--system", "our_shop.py:shop").exit_code == 0


def test_a_step_that_is_none_names_step_and_guard(run: Run, trace: Path) -> None:
    _edit(trace, "states", 1, "#meta", "action", value="buy")
    _edit(trace, "states", 1, "#meta", "arguments", value={})
    result = run("explain", TRACE)
    assert result.exit_code == 2
    assert result.stdout == ""
    expected = "step 1, buy(), is no step of the model: its guard is false: s.mode == Mode.BUSY (my_shop.py:"
    assert expected in result.stderr.replace(f"{trace.parents[1]}/", "")
    assert result.stderr.count("\n") == 1


def test_a_changed_model_that_still_takes_the_trace_is_only_a_remark(
    run: Run, trace: Path, tmp_path: Path
) -> None:
    (tmp_path / "my_shop.py").write_text(
        SHOP.replace("require(len(s.queue) > 0)", "require(len(s.queue) >= 1)")
    )
    result = run("explain", TRACE)
    assert result.exit_code == 0
    assert "the model has changed since; every step was checked again and is still one" in result.stderr


def test_a_changed_model_that_does_not_says_so(run: Run, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "my_shop.py").write_text(
        SHOP.replace("require(len(s.queue) > 0)", "require(len(s.queue) > 1)")
    )
    result = run("explain", TRACE)
    assert result.exit_code == 2
    assert "is no step of the model" in result.stderr
    assert "(the model has changed since the trace was found)" in result.stderr


def test_a_parameter_that_is_gone_names_the_field(run: Run, trace: Path) -> None:
    _edit(trace, "#meta", "parameters", value={"gods": 2})
    result = run("explain", TRACE)
    assert result.exit_code == 2
    assert "#meta.parameters: system shop has no parameter 'gods'; did you mean goods?" in result.stderr


@pytest.mark.usefixtures("shops")
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("scenario", "markt", "#meta.scenario: there is no 'markt'; did you mean market?"),
        ("release", "0.33", "#meta.release: there is no '0.33'"),
        ("release", None, "#meta.release: there is no 'None'"),
        (
            "property",
            "rom-for-more",
            "#meta.property: shop has no property 'rom-for-more'; did you mean room-for-more?",
        ),
        ("decisions", {}, "#meta.decisions: no alternative is named for decision 'may_order'"),
    ],
)
def test_edited_metadata_names_its_field(
    key: str, value: Any, message: str, run: Run, tmp_path: Path
) -> None:
    run("check", "--no-baseline", "--scenario", "market", "--release", "0.3")
    path = tmp_path / "slotproof-traces" / "market.room-for-more.0.3.itf.json"
    _edit(path, "#meta", key, value=value)
    result = run("explain", str(path))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
