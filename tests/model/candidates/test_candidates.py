"""The candidates that this project ships: what each is for, that it loses nothing (D17, F10, X-2, X-6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from slotproof.checker.cli import main

FOLDER = Path(__file__).resolve().parents[3] / "model" / "candidates"


class Cure(NamedTuple):
    """A candidate, the release beside which it is shown, where it is shown, and what it gains."""

    file: str
    release: str
    scenarios: tuple[str, ...]
    gained: frozenset[tuple[str, str]]


CURES = (
    # F10 and X-2: on every role finished rows hold their slots, and no fit test meets what has been unloaded.
    Cure(
        "unload_sweeps_first.py",
        "0.5.23",
        ("decode-admission-pinned", "finish-unload"),
        frozenset({("decode-admission-pinned", "no-crash-fit-test-unknown-adapter")}),
    ),
    # L16: three streams, and the zeroing of a slot before the copy into it.
    Cure(
        "zeroing_before_copy.py",
        "0.5.23",
        ("overlap-cancel",),
        frozenset({("overlap-cancel", "right-adapter")}),
    ),
    # D17: nobody on the decode role passes a candidate that the gate refuses.
    Cure(
        "decode_in_order.py",
        "0.5.23",
        ("decode-endless-traffic",),
        frozenset({("decode-endless-traffic", "progress")}),
    ),
    # with the drainer on, a drain that ends.
    Cure(
        "drain_to_the_end.py",
        "0.5.23",
        ("drained-traffic",),
        frozenset({("drained-traffic", "progress")}),
    ),
)


def compared(
    cure: Cure, scenarios: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[tuple[str, str], str]:
    """The change of each property."""
    monkeypatch.chdir(tmp_path)
    chosen = [argument for name in scenarios for argument in ("--scenario", name)]
    given = ["compare", cure.release, str(FOLDER / cure.file), "--format", "json", *chosen]
    result = CliRunner().invoke(main, given, prog_name="slotproof")
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return {(d["scenario"], d["property"]): d["change"] for d in lines if d["property"] != "behaviour"}


def test_every_candidate_is_shown() -> None:
    files = {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
    assert files == {cure.file for cure in CURES}


@pytest.mark.parametrize("cure", CURES, ids=lambda c: c.file)
def test_a_candidate_cures_and_loses_nothing(
    cure: Cure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = compared(cure, cure.scenarios, tmp_path, monkeypatch)
    assert {key for key, change in found.items() if change == "gained"} == cure.gained
    assert set(found.values()) <= {"gained", "kept"}


@pytest.mark.deep
@pytest.mark.parametrize("cure", CURES, ids=lambda c: c.file)
def test_a_candidate_loses_nothing_anywhere(
    cure: Cure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(compared(cure, (), tmp_path, monkeypatch).values()) <= {"gained", "kept"}
