"""The four pull requests on real code: the fault on the last release without the fix, none on the first with
it."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotproof.checker.cli import main
from tests.counterexamples.sglang.conftest import Replayed

LEAK = "overlap-cancel.no-slot-leak.0.5.12.post1"
UNKNOWN = "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1"
TOO_MANY = "decode-admission.no-crash-make-resident-too-many.0.5.19"
LOGITS = "idle-rank.no-crash-lm-head-row-count.0.5.16"


def test_the_entry_that_no_one_reaps_keeps_refusing(replayed: Replayed) -> None:
    found = replayed(LEAK, "0.5.12.post1")
    assert found["difference"] is None
    assert found["symptom"][0] == "refused"


def test_finished_copies_are_reaped(replayed: Replayed) -> None:
    found = replayed(LEAK, "0.5.13", other=True)
    assert found["difference"] is None
    assert found["died"] is None


def test_the_fit_test_meets_an_unloaded_adapter(replayed: Replayed) -> None:
    found = replayed(UNKNOWN, "0.5.13.post1")
    assert found["happened"]
    assert found["cause"] == "fit-test-unknown-adapter"
    assert "validate_lora_batch raised AssertionError" in found["died"]


def test_finished_rows_do_not_count(replayed: Replayed) -> None:
    found = replayed(UNKNOWN, "0.5.14", other=True)
    assert found["difference"] is None
    assert found["died"] is None


def test_one_adapter_too_many_reaches_make_resident(replayed: Replayed) -> None:
    found = replayed(TOO_MANY, "0.5.19")
    assert found["happened"]
    assert found["cause"] == "make-resident-too-many"
    assert "fetch_new_loras raised AssertionError" in found["died"]


def test_decode_asks_the_gate(replayed: Replayed) -> None:
    found = replayed(TOO_MANY, "0.5.20", other=True)
    assert found["difference"] is None
    assert found["died"] is None


CANCELLED = "whole-server.no-slot-leak.0.5.12.post1"
"""On the other releases: a partial prompt is cancelled, and the next pass stands between two questions."""


@pytest.mark.parametrize("version", ["0.5.14", "0.5.20"])
def test_a_partial_prompt_is_cancelled(replayed: Replayed, version: str) -> None:
    """What is computed of it is where the release keeps it, and its echo is seen before the pass ends."""
    found = replayed(CANCELLED, version, other=True)
    assert found["difference"] is None
    assert found["died"] is None


def idle_trace(folder: Path) -> Path:
    """The old block met on an idle forward, by the attention's output projection alone."""
    size = ["--scenario", "idle-rank", "--release", "0.5.16", "--set", "targets=ROW"]
    with pytest.raises(SystemExit):
        main(["check", *size, "--property", "fresh-batch-info", "--no-baseline", "--out", str(folder)])
    return folder / "idle-rank.fresh-batch-info.0.5.16.itf.json"


def test_an_idle_forward_meets_the_old_batch_info(replayed: Replayed, tmp_path: Path) -> None:
    found = replayed(idle_trace(tmp_path), "0.5.16")
    assert found["happened"]
    assert "on an idle forward the kernels" in found["symptom"][1]


def test_an_idle_forward_takes_the_base_path(replayed: Replayed, tmp_path: Path) -> None:
    found = replayed(idle_trace(tmp_path), "0.5.17", other=True)
    assert found["difference"] is None
    assert found["died"] is None
    assert found["symptom"] is None


def test_the_logits_layer_meets_the_old_row_count(replayed: Replayed) -> None:
    found = replayed(LOGITS, "0.5.16")
    assert found["happened"]
    assert found["cause"] == "lm-head-row-count"
    assert "_get_lm_head_batch_info raised RuntimeError" in found["died"]
