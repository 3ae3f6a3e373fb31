"""Every command of the documentation is run, and what it prints is what the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import PAGES, ROOT, Block, Session, as_pattern, blocks, commands


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *, deep: bool) -> None:
    monkeypatch.chdir(folder)
    session = Session(folder)
    for block in blocks(page):
        if block.mark == "file":
            session.write(block)
        if block.mark in ("file", "not run") or (block.mark == "deep" and not deep):
            continue
        for command in commands(block):
            printed = session.run(command)
            where = f"{_name(page)}:{block.line}: {command.line}"
            shown = any(c.line == "echo $?" for c in commands(block))
            assert session.status in (0, 1) or shown, f"{where}\n{printed}"
            if command.printed is not None and not re.fullmatch(as_pattern(command.printed), printed):
                pytest.fail(f"{where}\n\nprints\n\n{printed}\nand the page says\n\n{_text(command.printed)}")


def _text(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _marked(page: Path, mark: str) -> list[Block]:
    return [block for block in blocks(page) if block.mark == mark]


WITH_COMMANDS = [page for page in PAGES if any(True for b in blocks(page) for _ in commands(b))]
DEEP = [page for page in WITH_COMMANDS if _marked(page, "deep")]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=_name)
def test_the_commands_of_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(page, tmp_path, monkeypatch, deep=False)


@pytest.mark.deep
@pytest.mark.parametrize("page", DEEP, ids=_name)
def test_the_long_commands_of_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(page, tmp_path, monkeypatch, deep=True)


def _hidden() -> Iterator[str]:
    """Commands that stand where the runner does not see them."""
    for page in PAGES:
        seen = {
            number
            for block in blocks(page)
            if block.mark == "not run" or block.language in ("console", "")
            for number in range(block.line, block.line + len(block.lines) + 2)
        }
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if re.match(r"\s*(\$ )?slotproof \S", line) and number not in seen:
                yield f"{_name(page)}:{number}: {line.strip()}"


def test_no_command_is_left_out() -> None:
    assert list(_hidden()) == []


def test_a_wrong_output_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing above could fail."""
    page = ROOT / "docs" / "nowhere.md"
    monkeypatch.setattr(type(page), "read_text", lambda self, **_: "```console\n$ echo one\ntwo\n```\n")
    with pytest.raises(pytest.fail.Exception, match=r"docs/nowhere.md:1: echo one\n\nprints\n\none\n"):
        _run(page, tmp_path, monkeypatch, deep=False)
