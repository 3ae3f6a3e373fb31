"""The gallery on real code: every trace on every release, driven or with the reason why it cannot be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from slotproof.checker.cli import main
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.replay.sglang import limits
from slotproof.counterexamples.replay.sglang.parent import run_jobs
from slotproof.model.releases import RELEASES
from tests.counterexamples.sglang.conftest import GALLERY, Releases

TRACES = sorted(GALLERY.glob("*.itf.json"))
REASONS = (
    limits.COLLECTIVES,
    limits.SEVERAL_RANKS,
    limits.STREAMS,
    *(f"not driven on real code: {why}" for why in limits.ACTIONS.values()),
)


def told(path: Path, own: bool, found: Mapping[str, Any]) -> str:
    """What came of one trace, in a line of the matrix's output."""
    name = path.name.removesuffix(".itf.json")
    if "wrong" in found:
        return f"{name}: {found['wrong']}"
    if "harness" in found:
        return f"{name}: the harness failed: {found['harness']}"
    if own:
        return f"{name}: happens, {found['symptom'][0]}" if found["happened"] else f"{name}: {found}"
    end = f"dies of {found['cause']}, as the model says" if found["crash"] else "ends well"
    return f"{name}: {found['difference'] or end}; {found['steps']} steps, {len(found['skipped'])} left out"


@pytest.mark.deep
@pytest.mark.parametrize("version", RELEASES)
def test_every_trace_on_a_release(version: str, release_folder: Releases) -> None:
    """A trace of the release happens; the actions of another's, as far as they exist, end in the model's
    states."""
    own = [read(path).release == version for path in TRACES]
    jobs = [
        {"kind": "trace", "trace": str(path), "other": not mine}
        for path, mine in zip(TRACES, own, strict=True)
    ]
    failed = []
    for path, mine, found in zip(TRACES, own, run_jobs(release_folder(version), jobs), strict=True):
        print(f"{version} {told(path, mine, found)}")
        if "wrong" in found:
            good = any(reason in found["wrong"] for reason in REASONS)
        else:
            good = "harness" not in found and (found["happened"] if mine else found["difference"] is None)
        if not good:
            failed.append((path.name, found))
    assert not failed, failed


@pytest.mark.deep
def test_a_release_is_fetched_into_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pip, once; the second replay finds it there."""
    if os.environ.get("SLOTPROOF_OFFLINE"):
        pytest.skip("there is no package index ($SLOTPROOF_OFFLINE)")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    trace = GALLERY / "overlap-cancel.no-slot-leak.0.5.12.post1.itf.json"
    for _ in range(2):
        run = CliRunner().invoke(main, ["replay", str(trace), "--on", "sglang", "--fetch", "0.5.12.post1"])
        assert run.exit_code == 0, run.output
        assert "(refused)" in run.output
        assert [p.name for p in (tmp_path / "slotproof").glob("*sglang*")] == ["sglang-0.5.12.post1"]
