"""The checkers that are compared: each searches one system in a process of its own and says its counts."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from slotproof.checker.benchmarks.ours import subject_of
from slotproof.checker.benchmarks.python import python
from slotproof.checker.benchmarks.spin import SpinError, Verifier
from slotproof.checker.benchmarks.spin import missing as spin_missing
from slotproof.checker.runs import chosen, program_of
from slotproof.model.language.program import Program


class PeerError(Exception):
    """A peer did not do what was asked; the message has its words."""


@dataclass(frozen=True)
class Work:
    """A system to search: a JSON-like description (see ``ours.py``), its title and its size."""

    what: Mapping[str, Any]
    title: str

    @property
    def program(self) -> Program:
        """The compiled system."""
        return program_of(subject_of(dict(self.what)))

    @property
    def choices(self) -> tuple[int, ...]:
        """The alternatives in force."""
        subject = subject_of(dict(self.what))
        return self.program.choices(chosen(subject, self.program))


@dataclass(frozen=True)
class Figures:
    """What one search counted and cost. ``None`` is what a peer does not tell.

    ``seconds`` (wall) and ``cpu`` are of the search, ``built`` the wall time before it: what a first run
    pays to translate and compile. ``peak`` is the memory of the searching process in bytes.
    """

    states: int
    transitions: int | None
    depth: int | None
    seconds: float
    cpu: float
    built: float
    peak: int


class Peer(Protocol):
    """A checker that can be measured."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    def missing(self) -> str | None:
        """Why it cannot be measured here, or ``None``."""

    def search(self, work: Work) -> Figures:
        """Search once; ``PeerError`` if it cannot."""


@dataclass
class Slotproof:
    """This checker. ``built`` is measured with an empty cache, once; the searches are with a warm one."""

    workers: int = 1
    _cold: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``slotproof``, with its workers."""
        return "slotproof" if self.workers == 1 else f"{self.workers} workers"

    def missing(self) -> str | None:
        """It is always there."""
        return None

    def search(self, work: Work) -> Figures:
        """Search once in a fresh process."""
        if work.title not in self._cold:
            with tempfile.TemporaryDirectory() as empty:
                self._cold[work.title] = self._process(work, {"SLOTPROOF_CACHE": empty})["built"]
            self._process(work, {})
        said = self._process(work, {})
        return Figures(
            said["states"], said["transitions"], said["depth"], said["seconds"], said["cpu"],
            self._cold[work.title], said["peak"],
        )  # fmt: skip

    def _process(self, work: Work, more: Mapping[str, str]) -> dict[str, Any]:
        what = json.dumps({**work.what, "workers": self.workers})
        start = time.clock_gettime(time.CLOCK_MONOTONIC)
        environment = {**os.environ, **more, "SLOTPROOF_BENCHMARK_START": str(start)}
        return _json([sys.executable, "-m", "slotproof.checker.benchmarks.ours", what], environment)


@dataclass
class Spin:
    """Spin, breadth-first and without reduction, compiled with ``-O2``."""

    name: str = "Spin"
    _made: dict[str, tuple[Verifier, tempfile.TemporaryDirectory[str]]] = field(default_factory=dict)

    def missing(self) -> str | None:
        """What is not installed."""
        return spin_missing()

    def search(self, work: Work) -> Figures:
        """Search once; the verifier is made on the first call."""
        from slotproof.checker.export.promela import promela

        program = work.program
        try:
            if work.title not in self._made:
                folder = tempfile.TemporaryDirectory()
                text = promela(program, work.choices)
                self._made[work.title] = Verifier(text, Path(folder.name)), folder
            verifier = self._made[work.title][0]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            counts = verifier.run()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        except SpinError as error:
            raise PeerError(f"Spin: {error}") from None
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        initial = _initial_steps(program, work.choices)
        states, transitions, depth = counts.corrected(initial)
        return Figures(states, transitions, depth, counts.seconds, cpu, verifier.compile_seconds, counts.peak)


@dataclass
class Library:
    """A peer that is a Python library, run by ``interpreter`` on the system as plain Python over tuples."""

    name: str
    interpreter: str = sys.executable

    def missing(self) -> str | None:
        """Why it cannot be imported."""
        code = f"import {self.name}{'.core' if self.name == 'musil' else ''}"
        done = subprocess.run([self.interpreter, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None
        return f"not found by {Path(self.interpreter).name} (pip install 'slotproof[benchmarks]')"

    def search(self, work: Work) -> Figures:
        """Search once in a fresh process."""
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model.py"
            model.write_text(python(work.program, work.choices), encoding="utf-8")
            program = Path(__file__).with_name("library.py")
            start = time.perf_counter()
            said = _json([self.interpreter, str(program), self.name, str(model)], dict(os.environ))
            whole = time.perf_counter() - start
        seconds = said["seconds"]
        return Figures(said["states"], None, None, seconds, said["cpu"], whole - seconds, said["peak"])


@dataclass
class Printing:
    """A peer that is a program with a model of its own, whose counts are read from what it prints."""

    name: str
    command: Sequence[str]
    pattern: str
    """A regular expression with the groups ``states``, and ``generated`` and ``depth`` if it tells them."""
    extra: int = 1
    """How much its generated states and its depth count more than transitions and steps."""

    def missing(self) -> str | None:
        """What is not there."""
        if not self.command:
            return "not found (name it by its option)"
        program = self.command[0]
        return None if shutil.which(program) else f"not found: {program}"

    def search(self, work: Work) -> Figures:
        """Run it once."""
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(self.command, stdout=output, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - start
            output.seek(0)
            said = output.read()
        del before
        found = re.search(self.pattern, said, re.DOTALL)
        if process.returncode or found is None:
            raise PeerError(f"{self.name}: {' '.join(said.split())[-500:]}")
        told = {name: int(text.replace(",", "")) for name, text in found.groupdict().items() if text}
        generated, depth = told.get("generated"), told.get("depth")
        return Figures(
            told["states"],
            None if generated is None else generated - self.extra,
            None if depth is None else depth - self.extra,
            seconds,
            usage.ru_utime + usage.ru_stime,
            0.0,
            usage.ru_maxrss * 1024,
        )


TLC = r".*\b(?P<generated>[\d,]+) states generated, (?P<states>[\d,]+) distinct.*search is (?P<depth>\d+)"
"""What TLC 2.x prints at the end of a breadth-first search."""
STATERIGHT = r"Done\. states=(?P<generated>\d+), unique=(?P<states>\d+), depth=(?P<depth>\d+)"
"""What Stateright's ``report`` prints (0.30 and 0.31)."""


def _initial_steps(program: Program, choices: tuple[int, ...]) -> int | None:
    from slotproof.model.language.interpreter import Interpreter

    return len(Interpreter(program, choices).initial()) if program.initial else None


def _json(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, env=dict(environment), check=False)
    if done.returncode:
        raise PeerError(f"{' '.join(command[:4])}: {done.stderr.strip()[-800:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
