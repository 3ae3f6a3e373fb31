"""The side of the command: check the folder, start the child process, read what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slotproof.counterexamples.replay.sglang.folder import need_packages, supported

HARNESS = 4
"""Exit status of a replay that an error of the harness ended: it says nothing about the fault."""


class HarnessError(Exception):
    """The harness, or the import of the release in it, failed."""


def run_jobs(folder: Path, jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Do the jobs on the release in a folder. ``Unusable`` for wrong use, ``HarnessError`` otherwise."""
    supported(folder)
    need_packages()
    with tempfile.TemporaryDirectory(prefix="slotproof-") as place:
        results = Path(place) / "results"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "slotproof.counterexamples.replay.sglang.worker",
                str(folder),
                str(results),
            ],
            input="".join(json.dumps(job) + "\n" for job in jobs),
            capture_output=True,
            text=True,
            env=_environment(),
            check=False,
        )
        if done.returncode != 0 or not results.is_file():
            last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise HarnessError(f"{folder}: the release cannot be imported here: {last}")
        return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def _environment() -> dict[str, str]:
    """One order of Python's sets for every run, and no thread pools for tensors of eight numbers."""
    return {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_OFFLINE": "1",
    }
