"""Runs this checker once, as a process of its own, so that its memory can be told from a peer's.

    python -m slotproof.checker.benchmarks.ours '{"system": "FILE", "settings": ["requests=6"], "workers": 1}'

Prints JSON: the search's counts; ``seconds`` of wall time and ``cpu`` seconds of the search alone, with
the machine code already there; ``built`` seconds from the start of the process until it was there;
``peak`` in bytes of the whole process, and of that ``store`` for the states.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any

from slotproof.checker.runs import Subject, chosen, program_of


def subject_of(what: dict[str, Any]) -> Subject:
    """The system that is measured: a file's, or a scenario's on a release."""
    return Subject(
        what.get("scenario"), what.get("release"), False, what.get("system"), tuple(what.get("settings", ()))
    )


def main(given: str) -> None:
    """Search once and print what was counted."""
    what = json.loads(given)
    subject = subject_of(what)
    program = program_of(subject)
    choices = program.choices(chosen(subject, program))
    from slotproof.checker.explicit.engine import explore
    from slotproof.checker.explicit.native import native, native_loop

    native_loop()
    native(program)
    cpu = time.process_time()
    clock = time.clock_gettime(time.CLOCK_MONOTONIC)
    coverage = explore(program, choices, workers=what.get("workers", 1)).coverage
    seconds = time.clock_gettime(time.CLOCK_MONOTONIC) - clock
    if not coverage.complete:
        raise SystemExit(f"the search stopped: {coverage.stopped}")
    found = {
        "states": coverage.states,
        "transitions": coverage.transitions,
        "depth": coverage.depth,
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "built": clock - _started(),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(found))


def _started() -> float:
    """When this process was asked for, on the monotonic clock, as the process that asked says."""
    return float(os.environ["SLOTPROOF_BENCHMARK_START"])


if __name__ == "__main__":
    main(*sys.argv[1:])
