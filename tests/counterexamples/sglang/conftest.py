"""Releases for the tests: real ones, as pip lays them.

A release is taken from ``$SLOTPROOF_SGLANG/X`` if that folder is there, else installed with pip into pytest's
cache. Where neither can be, or a package that a release imports is missing, the test is skipped with the
reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from slotproof.counterexamples.replay.sglang import folder as folders
from slotproof.counterexamples.replay.sglang.parent import run_jobs

GALLERY = Path(__file__).parents[3] / "counterexamples" / "gallery"

Releases = Callable[[str], Path]
Jobs = Callable[..., list[dict[str, Any]]]
Replayed = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def release_folder(request: pytest.FixtureRequest) -> Releases:
    """The folder of a release."""
    missing: list[str] = []

    def find(version: str) -> Path:
        try:
            folders.need_packages()
            given = Path(os.environ.get("SLOTPROOF_SGLANG", "/nowhere")) / version
            if given.is_dir():
                return given
            if missing:
                pytest.skip(missing[0])
            return folders.fetch(version, request.config.cache.mkdir("sglang"))
        except folders.Unusable as reason:
            missing.append(str(reason))
            pytest.skip(str(reason))

    return find


@pytest.fixture(scope="session")
def done(release_folder: Releases) -> Jobs:
    """Does jobs on a release; none of them may be wrong use, nor fail in the harness."""

    def do(version: str, *jobs: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = run_jobs(release_folder(version), jobs)
        for one in found:
            assert "harness" not in one, one
            assert "wrong" not in one, one
        return found

    return do


@pytest.fixture(scope="session")
def replayed(done: Jobs) -> Replayed:
    """Replays a trace of the gallery on a release."""

    def run(name: str | Path, version: str, other: bool = False) -> dict[str, Any]:
        path = name if isinstance(name, Path) else GALLERY / f"{name}.itf.json"
        (found,) = done(version, {"kind": "trace", "trace": str(path), "other": other})
        return found

    return run
