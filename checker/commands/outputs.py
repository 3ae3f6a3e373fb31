"""Where the results go: ``--format`` for standard output, ``--output FORMAT=FILE`` for files beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slotproof.checker.usage import UsageProblem, one_of
from slotproof.counterexamples.files import write_whole


@dataclass(frozen=True, slots=True)
class Output:
    """A file that is written in one of the formats."""

    format: str
    path: Path

    def write(self, lines: Iterable[str]) -> None:
        """Write the file, whole or not at all; ``UsageProblem`` if it cannot be written."""
        try:
            write_whole(self.path, "\n".join(lines) + "\n")
        except OSError as error:
            option = f"--output {self.format}={self.path}"
            raise UsageProblem(f"{option}: cannot be written: {error.strerror}") from None


def parse_outputs(given: Sequence[str], formats: Iterable[str]) -> list[Output]:
    """The files of ``--output``. A place that cannot be written is found now, not after the search."""
    formats = list(formats)
    found: list[Output] = []
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not file:
            raise UsageProblem(f"--output {text}: write --output FORMAT=FILE, such as junit=slotproof.xml")
        one_of("format", name, formats, f"there are: {', '.join(formats)}")
        path = Path(file)
        if any(path == other.path for other in found):
            raise UsageProblem(f"--output {text}: {path} is written twice; name another file")
        must_be_writable_file(f"--output {text}", path)
        found.append(Output(name, path))
    return found


def write_all(outputs: Sequence[Output], lines: Callable[[str], Iterable[str]]) -> list[str]:
    """Write every file, with the lines of its format; say what could not be written."""
    failures = []
    for output in outputs:
        try:
            output.write(lines(output.format))
        except UsageProblem as problem:
            failures.append(str(problem))
    return failures


def must_be_writable_file(option: str, path: Path) -> None:
    """``UsageProblem`` unless a file can be made there."""
    if path.is_dir():
        raise UsageProblem(f"{option}: is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageProblem(f"{option}: there is no folder {path.parent}; make it first")
    _must_be_writable(option, path.parent)


def must_be_out_folder(out: Path) -> None:
    """``UsageProblem`` if ``--out`` is no folder in which files can be made."""
    if out.exists() and not out.is_dir():
        raise UsageProblem(f"--out {out}: is a file; name a folder")
    _must_be_writable(f"--out {out}", out)


def _must_be_writable(option: str, folder: Path) -> None:
    """``UsageProblem`` if nothing can be made in a folder, or the folder itself cannot be."""
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not there.is_dir():
        raise UsageProblem(f"{option}: {there} is a file; name another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageProblem(f"{option}: nothing can be written in {there}; name another folder")
