"""``slotproof explore``: a trace as a page, also where something is in the way."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.checker.conftest import Run

SHOP = (Path(__file__).parents[1] / "counterexamples" / "shop.py").read_text()
GALLERY = Path(__file__).parents[2] / "counterexamples" / "gallery"
TRACE = "slotproof-traces/shop.room-for-more.itf.json"


@pytest.fixture
def trace(run: Run, tmp_path: Path) -> Path:
    """A trace of a system file that lies beside it."""
    (tmp_path / "my_shop.py").write_text(SHOP)
    assert run("check", "--system", "my_shop.py:shop", "--set", "goods=2").exit_code == 1
    return tmp_path / TRACE


def data_of(page: Path) -> dict[str, Any]:
    """The data that a page holds."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.usefixtures("trace")
def test_the_page_is_one_small_file_that_loads_nothing(run: Run, tmp_path: Path) -> None:
    result = run("explore", TRACE, "--html", "page.html")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    page = (tmp_path / "page.html").read_text()
    assert len(page) < 2_000_000
    assert re.findall(r"\b(?:src|href)=\"(?!#|data:)", page) == []
    assert "url(" not in page
    assert "default-src 'none'" in html.unescape(page)
    assert data_of(tmp_path / "page.html")["finding"]["headline"] == "room-for-more is violated"


def test_the_longest_gallery_trace_fits_and_says_what_is_known_of_it(run: Run, tmp_path: Path) -> None:
    name = "whole-server.no-crash-fit-test-unknown-adapter.0.5.13.post1.itf.json"
    assert run("explore", str(GALLERY / name), "--html", "page.html").exit_code == 0
    assert (tmp_path / "page.html").stat().st_size < 2_000_000
    data = data_of(tmp_path / "page.html")
    assert "#27597" in data["finding"]["known"]
    assert data["notices"] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
@pytest.mark.usefixtures("trace")
def test_a_folder_that_cannot_be_written_is_an_error_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o500)
    result = run("explore", TRACE, "--html", "mine/page.html")
    assert result.exit_code == 2
    assert "mine/page.html: the page cannot be written: Permission denied" in result.stderr


@pytest.mark.usefixtures("trace")
def test_a_folder_that_is_not_there_is_an_error_line(run: Run) -> None:
    result = run("explore", TRACE, "--html", "nowhere/page.html")
    assert result.exit_code == 2
    assert "nowhere/page.html: the page cannot be written: No such file or directory" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("trace")
def test_a_model_that_has_changed_and_still_takes_the_trace_is_a_notice(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my_shop.py").write_text(
        SHOP.replace("require(len(s.queue) > 0)", "require(len(s.queue) >= 1)")
    )
    assert run("explore", TRACE, "--html", "page.html").exit_code == 0
    (notice,) = data_of(tmp_path / "page.html")["notices"]
    assert "Every step was checked again" in notice


@pytest.mark.parametrize(
    ("old", "new", "first", "then"),
    [
        (
            "require(len(s.queue) > 0)",
            "require(len(s.queue) > 1)",
            "its guard is false: len(s.queue) > 1",
            "cannot happen: len(s.queue) > 1 is false",
        ),
        (
            '    mode: Mode = field(Mode.IDLE, "what the shop does")',
            '    mode: Mode = field(Mode.IDLE, "what the shop does")\n    more: bool = field(False, "m")',
            "field 'more' is missing",
            "Its end still violates room-for-more.",
        ),
        ("def buy(", "def purchase(", "shop has no action 'buy'", "shop has no action 'buy'"),
        (
            "s.store.left = 1 - len(s.store.held)",
            "s.store.left = 0",
            "store.left is 0 in the model, the trace says -1",
            "Its end still violates room-for-more.",
        ),
    ],
)
@pytest.mark.usefixtures("trace")
def test_a_trace_of_another_version_opens_with_what_differs(
    run: Run, tmp_path: Path, old: str, new: str, first: str, then: str
) -> None:
    changed = SHOP.replace(old, new)
    if "purchase" in new:
        changed = changed.replace("on=buy", "on=purchase").replace("[order, buy]", "[order, purchase]")
    (tmp_path / "my_shop.py").write_text(changed)
    assert run("explore", TRACE, "--html", "page.html").exit_code == 0
    notices = " ".join(data_of(tmp_path / "page.html")["notices"])
    assert "found with another version of the model" in notices
    assert first in notices
    assert then in notices


def test_a_file_that_was_edited_is_refused_with_the_step(run: Run, trace: Path) -> None:
    document = json.loads(trace.read_text())
    document["states"][1]["#meta"].update(action="buy", arguments={})
    trace.write_text(json.dumps(document))
    result = run("explore", TRACE, "--html", "page.html")
    assert result.exit_code == 2
    assert "step 1, buy(), is no step of the model" in result.stderr
    assert result.stderr.count("\n") == 1
