"""``--output FORMAT=FILE``: one search, as many reports as a job keeps."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.checker.conftest import Run

pytestmark = pytest.mark.usefixtures("shops")

ARGUMENTS = ("check", "--no-baseline", "--scenario", "kiosk")


def timeless(text: str) -> str:
    """A report without the seconds that each search took."""
    return re.sub(r"\d+\.\d s\b", "… s", text)


def test_each_format_is_written_to_its_file_beside_the_text(run: Run) -> None:
    outputs = [
        f"--output={name}=out.{name}" for name in ("text", "json", "markdown", "junit", "sarif", "github")
    ]
    result = run(*ARGUMENTS, *outputs)
    assert result.stdout == Path("out.text").read_text()
    assert timeless(result.stdout) == timeless(run(*ARGUMENTS).stdout)
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"
    assert ElementTree.parse("out.junit").getroot().tag == "testsuites"
    assert Path("out.markdown").read_text().startswith("# slotproof check\n")
    assert "::error title=" in Path("out.github").read_text()
    assert all(json.loads(line)["scenario"] == "kiosk" for line in Path("out.json").read_text().splitlines())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["junit"], "--output junit: write --output FORMAT=FILE, such as junit=slotproof.xml"),
        (["junit="], "--output junit=: write --output FORMAT=FILE"),
        (["junitt=x"], "there is no format 'junitt'; did you mean junit?"),
        (["junit=no/x"], "--output junit=no/x: there is no folder no; make it first"),
        (["junit=."], "--output junit=.: is a folder; name a file in it"),
        (["junit=x", "--output", "json=x"], "--output json=x: x is written twice; name another file"),
    ],
)
def test_a_place_that_cannot_be_is_said_before_the_search(run: Run, given: list[str], message: str) -> None:
    result = run(*ARGUMENTS, "--output", *given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full here")
def test_a_file_that_cannot_be_written_does_not_lose_the_others(run: Run) -> None:
    result = run(*ARGUMENTS, "--output", "json=/dev/full", "--output", "junit=kept.xml")
    assert result.exit_code == 2
    assert "verdicts:" in result.stdout
    assert "--output json=/dev/full: cannot be written: No space left on device" in result.stderr
    assert ElementTree.parse("kept.xml").getroot().tag == "testsuites"
