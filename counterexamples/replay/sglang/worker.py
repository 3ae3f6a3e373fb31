"""The child process in which a release is imported once; each job runs in a fork of it.

``python -m slotproof.counterexamples.replay.sglang.worker DIR RESULTS`` reads jobs from standard input, one
JSON object a line, and writes one JSON object a line to the file RESULTS. SGLang may print what it likes.
Exit status 0: every job has a result, the error of a job included. Any other: the process could not begin.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MODULES = (
    "sglang",
    "sglang.srt.server_args",
    "sglang.srt.managers.schedule_batch",
    "sglang.srt.lora.lora_manager",
    "sglang.srt.lora.lora_overlap_loader",
    "sglang.srt.managers.scheduler",
    "sglang.srt.disaggregation.decode",
    "sglang.srt.managers.tokenizer_manager",
    "sglang.srt.model_executor.forward_batch_info",
)


def begin(folder: Path) -> None:
    """Import the release, with stand-ins for what is missing."""
    from slotproof.counterexamples.replay.sglang import bytecode, neutral, standins

    warnings.simplefilter("ignore")
    sys.path.insert(0, str(folder))
    bytecode.install(folder)
    standins.install()
    neutral.install()
    for name in MODULES:
        importlib.import_module(name)
    logging.disable(logging.CRITICAL)


def work(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Do one job; what goes wrong in the harness is part of the result."""
    from slotproof.counterexamples.replay.sglang import jobs

    try:
        return jobs.KINDS[job["kind"]](folder, job)
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}, {frame.name}"
        return {
            "harness": f"{type(error).__name__}: {' '.join(str(error).split())} ({where})",
            "traceback": traceback.format_exc(),
        }


def in_a_fork(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Do one job in a child process, so that nothing of it is left for the next."""
    back, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(back)
        try:
            data = json.dumps(work(folder, job)).encode()
            with os.fdopen(there, "wb") as pipe:
                pipe.write(data)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(0)  # threads of the process group would hold the exit up
    os.close(there)
    with os.fdopen(back, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if not data:
        return {"harness": f"the process of the replay ended without a result (status {status})"}
    found: dict[str, Any] = json.loads(data)
    return found


def main() -> None:
    """Import, then do each job of standard input."""
    folder, results = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    jobs = [json.loads(line) for line in sys.stdin if line.strip()]
    begin(folder)
    with results.open("w", encoding="utf-8") as out:
        for job in jobs:
            out.write(json.dumps(in_a_fork(folder, job)) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
