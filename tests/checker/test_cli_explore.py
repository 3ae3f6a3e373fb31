"""``slotproof explore``: a trace as a page, also where something is in the way."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
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


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    """A folder that nobody writes to: root writes into any of its own, but into none of the kernel's."""
    if os.geteuid() == 0:
        if not Path("/sys").is_dir():
            pytest.skip("root writes everywhere, and there is no /sys")
        return Path("/sys")
    folder = tmp_path / "not-mine"
    folder.mkdir()
    folder.chmod(0o500)
    return folder


@pytest.mark.usefixtures("trace")
def test_a_folder_that_cannot_be_written_is_an_error_line(run: Run, read_only: Path) -> None:
    result = run("explore", TRACE, "--html", str(read_only / "page.html"))
    assert result.exit_code == 2
    assert f"{read_only / 'page.html'}: the page cannot be written: " in result.stderr
    assert "name a file in a folder that is yours" in result.stderr
    assert result.stderr.count("\n") == 1


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


# -- live ------------------------------------------------------------------------------------------------


def served(folder: Path, *arguments: str, **more: str) -> tuple[subprocess.Popen[str], str]:
    """``slotproof explore`` in a process of its own, and the address that it prints."""
    pytest.importorskip("uvicorn", reason="the extra [explore] is not installed")
    command = [sys.executable, "-m", "slotproof.checker", "explore", *arguments]
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    without = {name: value for name, value in os.environ.items() if name not in screens}
    started = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**without, "PYTHONUNBUFFERED": "1", **more},
    )  # fmt: skip
    assert started.stdout is not None
    line = started.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/", line)
    if found is None:
        _, errors = started.communicate(timeout=60)
        pytest.fail(f"no address: {line!r} {errors}")
    return started, found[0]


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The status and the errors of a process after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


@pytest.mark.usefixtures("trace")
def test_two_explorers_at_once_and_a_port_that_is_taken(run: Run, tmp_path: Path) -> None:
    one, first = served(tmp_path, TRACE, "--no-browser")
    other, second = served(tmp_path, "--system", "my_shop.py:shop", "--no-browser")
    try:
        assert first != second
        page = urllib.request.urlopen(first, timeout=60).read().decode()
        assert "room-for-more is violated" in page
        assert '"path":["opens(a=' in page
        walk = json.load(urllib.request.urlopen(f"{second}walk", timeout=60))
        assert walk["finding"] is None
        port = first.rstrip("/").rpartition(":")[2]
        taken = run("explore", TRACE, "--port", port, "--no-browser")
        assert taken.exit_code == 2
        assert f"--port {port}: cannot be had: Address already in use; name another" in taken.stderr
    finally:
        ends = [ended(one), ended(other)]
    assert ends == [(0, ""), (0, "")]


def test_without_a_browser_the_address_is_enough_to_go_on(trace: Path, read_only: Path) -> None:
    """Neither a browser nor a folder to write to is needed."""
    process, address = served(read_only, str(trace), "--system", str(trace.parents[1] / "my_shop.py:shop"))
    try:
        assert "room-for-more is violated" in urllib.request.urlopen(address, timeout=60).read().decode()
    finally:
        status, errors = ended(process)
    assert status == 0
    port = address.rstrip("/").rpartition(":")[2]
    assert errors == (
        "No browser could be started: open the address in one on this machine, or on another after"
        f" 'ssh -L {port}:127.0.0.1:{port} HOST'.\n"
    )


@pytest.mark.usefixtures("trace")
def test_a_browser_gets_the_address_and_may_stay_in_the_foreground(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    asked = tmp_path / "asked"
    browser.write_text(
        '#!/bin/sh\necho "$$ $1" > asked.tmp && mv asked.tmp asked\nexec sleep 99 > /dev/null 2>&1\n'
    )
    browser.chmod(0o700)
    process, address = served(tmp_path, TRACE, BROWSER=f"{browser} %s")
    try:
        assert urllib.request.urlopen(address, timeout=60).status == 200
        for _ in range(600):
            if asked.exists():
                break
            time.sleep(0.1)
        number, got = asked.read_text().split()
        assert got == address
    finally:
        status, errors = ended(process)
    assert (status, errors) == (0, "")
    os.kill(int(number), signal.SIGTERM)  # it has been in the foreground all the time


@pytest.mark.usefixtures("trace")
def test_without_the_extra_the_message_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "slotproof.counterexamples.explorer.server", raising=False)
    result = run("explore", TRACE, "--no-browser")
    assert result.exit_code == 2
    assert "pip install 'slotproof[explore]', or write the page of a trace with --html FILE" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["overlap-cancle"], "there is no scenario 'overlap-cancle'; did you mean overlap-cancel?"),
        (["overlap-cancel", "--release", "0.5.99"], "there is no release '0.5.99'"),
        (["overlap-cancel", "--beside", "0.5.99"], "there is no release '0.5.99'"),
        (["overlap-cancel", "--html", "x.html"], "--html writes the page of a trace"),
        ([], "name a scenario"),
        (["nothing.itf.json"], "nothing.itf.json: there is no such file"),
        (["nothing.itf.json", "--full"], "--full does not go with a trace"),
    ],
)
def test_wrong_use_is_one_line(run: Run, arguments: list[str], message: str) -> None:
    result = run("explore", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
