"""The page of obligations and the tests name the same rows."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from slotproof.checker.cli import main

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "obligations.md"
TOLD = ROOT / "properties" / "obligations.json"
ROW = re.compile(r"\b(?:[DFIL]\d\d|X-\d)\b")
LAST = {"D": 22, "F": 11, "I": 19, "L": 17}
THE_LIST_LEAVES_OUT = {"D21"}
ROWS = [f"{kind}{n:02}" for kind, last in LAST.items() for n in range(1, last + 1)]
ROWS = [r for r in ROWS if r not in THE_LIST_LEAVES_OUT] + [f"X-{n}" for n in range(1, 8)]


def table() -> list[list[str]]:
    """The cells of each line of the page that is one of its rows."""
    lines = (line.strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines())
    return [[cell.strip() for cell in cells] for cells in lines if ROW.fullmatch(cells[0].strip())]


def entries() -> dict[str, list[str]]:
    """What the page says of each row: as often as it stands there."""
    found: dict[str, list[str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and ROW.fullmatch(cells[0]):
            found.setdefault(cells[0], []).append(cells[2])
    return found


def named_in_tests(path: Path) -> set[str]:
    """The rows in the docstrings of a file's tests, or of the file itself or a class of it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    has_docstring = (ast.FunctionDef, ast.ClassDef, ast.Module)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, has_docstring)]
    assert any(isinstance(n, ast.FunctionDef) and n.name.startswith("test_") for n in ast.walk(tree)), path
    return {row for text in texts for row in ROW.findall(text)}


def test_the_page_has_every_row_once() -> None:
    assert {row: len(said) for row, said in entries().items()} == dict.fromkeys(ROWS, 1)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_a_test_that_names_it_or_a_reason(row: str) -> None:
    (where,) = entries()[row]
    links = re.findall(r"\]\((\.\./[^)]+)\)", where)
    if not links:
        assert len(where.split()) >= 5, "a reason"
    for link in links:
        path = (PAGE.parent / link).resolve()
        assert row in named_in_tests(path), f"{link} does not name {row}"


def test_the_command_line_tells_what_the_page_says() -> None:
    """``properties/obligations.json`` is what the package has of the page; it is written anew on demand."""
    said = [
        {
            "row": row,
            "asked": cells[1],
            "tests": [link.removeprefix("../") for link in re.findall(r"\]\(([^)]+)\)", cells[2])],
            "reason": None if "](" in cells[2] else cells[2],
        }
        for row in ROWS
        for cells in [next(c for c in table() if c[0] == row)]
    ]
    text = "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in said) + "\n]\n"
    if os.environ.get("SLOTPROOF_WRITE_OBLIGATIONS"):
        TOLD.write_text(text, encoding="utf-8")
    assert TOLD.read_text(encoding="utf-8") == text, "set SLOTPROOF_WRITE_OBLIGATIONS=1 to write it"


def test_the_list_has_every_row() -> None:
    result = CliRunner().invoke(main, ["list", "obligations"], prog_name="slotproof")
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if not line.startswith(" ")] == ROWS
    assert "    not checked: out of the model: it has no time" in result.stdout.splitlines()


def test_no_test_names_a_row_that_is_not_on_the_page() -> None:
    named = {
        row for path in (ROOT / "tests").rglob("test_*.py") for row in ROW.findall(path.read_text("utf-8"))
    }
    assert named <= {*ROWS, *THE_LIST_LEAVES_OUT}
