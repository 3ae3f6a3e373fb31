"""The page of obligations and the tests name the same rows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "obligations.md"
ROW = re.compile(r"\b(?:[DFIL]\d\d|X-\d)\b")
LAST = {"D": 22, "F": 11, "I": 19, "L": 17}
THE_LIST_LEAVES_OUT = {"D21"}
ROWS = [f"{kind}{n:02}" for kind, last in LAST.items() for n in range(1, last + 1)]
ROWS = [r for r in ROWS if r not in THE_LIST_LEAVES_OUT] + [f"X-{n}" for n in range(1, 8)]


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


def test_no_test_names_a_row_that_is_not_on_the_page() -> None:
    named = {
        row for path in (ROOT / "tests").rglob("test_*.py") for row in ROW.findall(path.read_text("utf-8"))
    }
    assert named <= {*ROWS, *THE_LIST_LEAVES_OUT}
