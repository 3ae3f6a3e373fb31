"""Spin as a peer: an exported model is compiled and searched, and its counts are read from what it prints.

    counts = Verifier(text, folder).run()

Spin's transitions are the stored and the matched states, so that the state before the first step counts
as one; ``Counts.corrected`` takes that off, and what a model with initial steps has besides.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from slotproof.checker.export.promela import REFUSAL

OPTIONS = ("-DBFS", "-DNOREDUCE")
"""Breadth-first, and never with partial-order reduction, which leaves states out."""


class SpinError(Exception):
    """Spin or the C compiler did not do what was asked; the message has their words."""


def missing() -> str | None:
    """What is not installed, or ``None``."""
    absent = [name for name in ("spin", "gcc") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not installed" if absent else None


@dataclass(frozen=True, slots=True)
class Counts:
    """What Spin reports of a search. ``seconds`` and ``peak`` (bytes) are of the search alone."""

    states: int
    transitions: int
    depth: int
    errors: int
    vector: int
    seconds: float
    peak: int

    def corrected(self, initial: int | None) -> tuple[int, int, int]:
        """States, transitions and depth as the engines count them.

        ``initial`` is the number of initial steps (each enabled initial action with its arguments), or
        ``None`` where the declared values are the initial state.
        """
        if initial is None:
            return self.states, self.transitions - 1, self.depth
        return self.states - 1, self.transitions - 1 - initial, max(self.depth - 1, 0)


@dataclass
class Verifier:
    """The program that Spin makes of a model, in a folder of its own."""

    text: str
    folder: Path
    optimize: str = "-O2"
    options: tuple[str, ...] = OPTIONS
    compile_seconds: float = field(default=0.0, init=False)
    patched: bool = field(default=False, init=False)
    """Whether the model has hidden variables, so that Spin's refusal had to be taken out."""

    def __post_init__(self) -> None:
        start = time.perf_counter()
        (self.folder / "model.pml").write_text(self.text, encoding="utf-8")
        said = self._call("spin", "-a", "-o2", "model.pml")
        header = self.folder / "pan.h"
        if not header.exists():
            raise SpinError(said)
        code = header.read_text()
        if REFUSAL in code:
            self.patched = True
            header.write_text(code.replace(REFUSAL, "/* hidden variables are set before they are read */"))
        self._call("gcc", self.optimize, "-w", *self.options, "-o", "pan", "pan.c")
        self.compile_seconds = time.perf_counter() - start

    def _call(self, *command: str) -> str:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SpinError(f"{' '.join(command)}: {(done.stdout + done.stderr).strip()[:1000]}")
        return done.stdout + done.stderr

    def run(self, *options: str) -> Counts:
        """Search; what Spin has counted."""
        start = time.perf_counter()
        command = [str(self.folder / "pan"), "-m1000000", *options]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said = process.stdout.read()
        usage = _wait(process)
        return Counts(
            states=_number(r"([\d.e+]+) states, stored", said),
            transitions=_number(r"([\d.e+]+) transitions", said),
            depth=_number(r"depth reached (\d+)", said),
            errors=_number(r"errors: (\d+)", said),
            vector=_number(r"State-vector (\d+)", said),
            seconds=time.perf_counter() - start,
            peak=usage.ru_maxrss * 1024,
        )


def _wait(process: subprocess.Popen[str]) -> resource.struct_rusage:
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if found is None:
        raise SpinError(f"pan: {text.strip()[:1000]}")
    return round(float(found.group(1)))
