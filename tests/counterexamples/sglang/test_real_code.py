"""The four pull requests on real code: the fault on the last release without the fix, none on the first with.

A release is taken from ``$SLOTPROOF_SGLANG/X`` if that folder is there, else installed with pip into pytest's
cache. Where neither can be, or a package that a release imports is missing, the test is skipped with the
reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker.cli import main
from slotproof.counterexamples.replay.sglang import folder as folders
from slotproof.counterexamples.replay.sglang.parent import run_jobs

GALLERY = Path(__file__).parents[3] / "counterexamples" / "gallery"
LEAK = "overlap-cancel.no-slot-leak.0.5.12.post1"
UNKNOWN = "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1"
TOO_MANY = "decode-admission.no-crash-make-resident-too-many.0.5.19"

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def replayed(request: pytest.FixtureRequest) -> Run:
    """Replays a trace of the gallery on a release."""
    missing: list[str] = []

    def run(name: str | Path, version: str, other: bool = False) -> dict[str, Any]:
        path = name if isinstance(name, Path) else GALLERY / f"{name}.itf.json"
        try:
            folders.need_packages()
            given = Path(os.environ.get("SLOTPROOF_SGLANG", "/nowhere")) / version
            if not given.is_dir():
                if missing:
                    pytest.skip(missing[0])
                given = folders.fetch(version, request.config.cache.mkdir("sglang"))
        except folders.Unusable as reason:
            missing.append(str(reason))
            pytest.skip(str(reason))
        job = {"kind": "trace", "trace": str(path), "other": other}
        (found,) = run_jobs(given, [job])
        assert "harness" not in found, found
        assert "wrong" not in found, found
        return found

    return run


def test_the_entry_that_no_one_reaps_keeps_refusing(replayed: Run) -> None:
    found = replayed(LEAK, "0.5.12.post1")
    assert found["difference"] is None
    assert found["symptom"][0] == "refused"


def test_finished_copies_are_reaped(replayed: Run) -> None:
    found = replayed(LEAK, "0.5.13", other=True)
    assert found["difference"] is None
    assert found["died"] is None


def test_the_fit_test_meets_an_unloaded_adapter(replayed: Run) -> None:
    found = replayed(UNKNOWN, "0.5.13.post1")
    assert found["happened"]
    assert found["cause"] == "fit-test-unknown-adapter"
    assert "validate_lora_batch raised AssertionError" in found["died"]


def test_finished_rows_do_not_count(replayed: Run) -> None:
    found = replayed(UNKNOWN, "0.5.14", other=True)
    assert found["difference"] is None
    assert found["died"] is None


def test_one_adapter_too_many_reaches_make_resident(replayed: Run) -> None:
    found = replayed(TOO_MANY, "0.5.19")
    assert found["happened"]
    assert found["cause"] == "make-resident-too-many"
    assert "fetch_new_loras raised AssertionError" in found["died"]


def test_decode_asks_the_gate(replayed: Run) -> None:
    found = replayed(TOO_MANY, "0.5.20", other=True)
    assert found["difference"] is None
    assert found["died"] is None


def idle_trace(folder: Path) -> Path:
    """The old block met on an idle forward, with the one layer that is driven on real code."""
    size = ["--scenario", "idle-rank", "--release", "0.5.16", "--set", "targets=ROW"]
    with pytest.raises(SystemExit):
        main(["check", *size, "--property", "fresh-batch-info", "--no-baseline", "--out", str(folder)])
    return folder / "idle-rank.fresh-batch-info.0.5.16.itf.json"


def test_an_idle_forward_meets_the_old_batch_info(replayed: Run, tmp_path: Path) -> None:
    found = replayed(idle_trace(tmp_path), "0.5.16")
    assert found["happened"]
    assert "on an idle forward the kernels" in found["symptom"][1]


def test_an_idle_forward_takes_the_base_path(replayed: Run, tmp_path: Path) -> None:
    found = replayed(idle_trace(tmp_path), "0.5.17", other=True)
    assert found["difference"] is None
    assert found["died"] is None
    assert found["symptom"] is None
