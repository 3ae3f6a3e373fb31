"""Counterexample files: one for each violated part, named after scenario, property and release."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from slotproof.checker.compare import Comparison
from slotproof.checker.results import Cell
from slotproof.checker.runs import TEMPORAL, Subject, program_of
from slotproof.checker.verdict import Violated
from slotproof.counterexamples.itf import write
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import verify

DEFAULT_FOLDER = Path("slotproof-traces")


def write_traces(
    cells: Sequence[Cell], folder: Path, engines: Sequence[str]
) -> tuple[list[Cell], str | None]:
    """The cells with the files of their traces, which are written under ``folder``.

    With them what ended the writing early, if anything did: the cells after it have no files.
    """
    done: list[Cell] = []
    try:
        if any(isinstance(c.verdict, Violated) for c in cells):
            folder.mkdir(parents=True, exist_ok=True)
        for cell in cells:
            done.append(_written(cell, folder, engines))
    except OSError as error:
        failure = f"{error.filename or folder}: traces cannot be written: {error.strerror}"
        return [*done, *cells[len(done) :]], failure
    return done, None


def _written(cell: Cell, folder: Path, engines: Sequence[str]) -> Cell:
    if not isinstance(cell.verdict, Violated):
        return cell
    paths = []
    for number, trace in enumerate(cell.verdict.traces, 1):
        name = file_name(cell.subject, cell.scenario, cell.name)
        marks = [] if cell.engine in (engines[0], TEMPORAL) else [cell.engine]
        marks += [str(number)] if number > 1 else []
        path = folder / ".".join([name, *marks, "itf.json"])
        subject = cell.subject
        write(trace, program_of(subject), path, cell.scenario, subject.file, subject.candidate)
        paths.append(path)
    return replace(cell, traces=tuple(paths))


def file_name(subject: Subject, scenario: str, name: str) -> str:
    """The name of a trace file without its ending."""
    parts = [scenario, name, *([subject.release] if subject.release else [])]
    plain = ".".join(re.sub(r"[^\w.+-]+", "-", part) for part in parts)
    try:
        os.fsencode(plain)
    except UnicodeEncodeError:  # file names of this locale have no such letters
        plain = plain.encode("ascii", "backslashreplace").decode().replace("\\", "")
    return plain


def write_compared(found: Comparison, folder: Path) -> str | None:
    """Write the traces that a comparison tells of, and name them in it; what ended the writing, if anything.

    Each is verified first, from the start: it is what a reader of the comparison goes by.
    """
    try:
        for i, row in enumerate(found.rows):
            if row.telling is None:
                continue
            whose, violated = row.telling
            side = found.base if whose == "base" else found.candidate
            subject = side.subjects[row.scenario]
            path = folder / f"{file_name(subject, row.scenario, row.name)}.itf.json"
            _write_verified(violated.trace, subject, row.scenario, path)
            found.rows[i] = replace(row, trace=path)
        for i, behaviour in enumerate(found.behaviours):
            sides = {"base_can": found.base, "candidate_can": found.candidate}
            named = {}
            for name, side in sides.items():
                only = getattr(behaviour, name)
                if only is not None:
                    subject = side.subjects[behaviour.scenario]
                    what = "only-base" if side is found.base else "only-candidate"
                    path = folder / f"{file_name(subject, behaviour.scenario, what)}.itf.json"
                    _write_verified(only.trace, subject, behaviour.scenario, path)
                    named[name] = replace(only, path=path)
            found.behaviours[i] = replace(behaviour, **named)
    except OSError as error:
        return f"{error.filename or folder}: traces cannot be written: {error.strerror}"
    return None


def _write_verified(trace: Trace, subject: Subject, scenario: str, path: Path) -> None:
    program = program_of(subject)
    verify(trace, program)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(trace, program, path, scenario, subject.file, subject.candidate)
