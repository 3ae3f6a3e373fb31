"""The commands of a Markdown page, run in order in a folder of its own, and what they print compared.

A fence of the language ``console`` has commands (``$ …``, which may go on after a backslash) and what they
print; ``...`` stands for anything, and alone on a line for any lines. ``$ echo $?`` shows an exit status;
where a block does not show one, each command has to end with 0 or 1. An indented block of commands is run as
well, and only their statuses are looked at. Comments before a block say more:

    <!-- file: NAME -->      the block is the content of that file
    <!-- not run: WHY -->    a command that a test cannot run
    <!-- deep: WHY -->       run with the deep tests alone

Each folder has the files of ``docs/examples`` and the gallery of the repository.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from slotproof.checker.cli import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

MARK = re.compile(r"<!-- (file|not run|deep): (.*?) -->")
COMMAND = re.compile(r"(slotproof|python3?|pip|pipx|uv|pytest|git) ")
"""With what the lines of an indented block of commands begin."""


@dataclass(frozen=True)
class Block:
    """A fence or an indented block."""

    page: Path
    line: int
    language: str
    lines: tuple[str, ...]
    mark: str | None
    about: str

    @property
    def text(self) -> str:
        """Its content."""
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True)
class Command:
    """A command of a page, and the lines that it has to print, if they are told."""

    block: Block
    line: str
    printed: tuple[str, ...] | None


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, with the comment before each."""
    lines = page.read_text(encoding="utf-8").splitlines()
    mark: tuple[str | None, str] = (None, "")
    at = 0
    while at < len(lines):
        text = lines[at]
        if match := MARK.fullmatch(text.strip()):
            mark = match[1], match[2]
        elif text.startswith("```"):
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
            yield Block(page, at + 1, text[3:].strip(), tuple(lines[at + 1 : end]), *mark)
            mark, at = (None, ""), end
        elif text.startswith("    ") and COMMAND.match(text.strip()) and not lines[at - 1].strip():
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("    ")), len(lines))
            yield Block(page, at + 1, "", tuple(line[4:] for line in lines[at:end]), *mark)
            mark, at = (None, ""), end - 1
        elif text.strip():
            mark = (None, "")
        at += 1


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block."""
    if block.language not in ("console", ""):
        return
    told = block.language == "console"
    found: list[tuple[str, list[str]]] = []
    going_on = False
    for line in block.lines:
        if going_on:
            found[-1] = (f"{found[-1][0]} {line.strip()}", found[-1][1])
        elif not told or line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
            continue
        going_on = found[-1][0].endswith("\\")
        if going_on:
            found[-1] = (found[-1][0].removesuffix("\\").rstrip(), found[-1][1])
    for line, printed in found:
        yield Command(block, re.sub(r"\s{2,}#.*$", "", line), tuple(printed) if told else None)


class Session:
    """Runs a page's commands one after the other, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        for path in (ROOT / "docs" / "examples").glob("*.py"):
            (folder / path.name).write_bytes(path.read_bytes())
        (folder / "counterexamples").mkdir()
        (folder / "counterexamples" / "gallery").symlink_to(ROOT / "counterexamples" / "gallery")

    def write(self, block: Block) -> None:
        """Make the file that a block is."""
        path = self.folder / block.about
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def run(self, command: Command) -> str:
        """What a command prints."""
        if command.line == "echo $?":
            return f"{self.status}\n"
        words = shlex.split(command.line)
        if words[0] == "slotproof" and not {"|", ">", "&&"} & set(words):
            result = CliRunner().invoke(main, words[1:], prog_name="slotproof")
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            self.status = result.exit_code
            return result.output
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command.line],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "COLUMNS": "80"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.status = done.returncode
        return done.stdout


def as_pattern(printed: tuple[str, ...]) -> str:
    """The expression that a command's output has to match."""
    parts = []
    for line in printed:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(line.rstrip()).replace(r"\.\.\.", ".*?") + r"[ \t]*\n")
    return "".join(parts)
