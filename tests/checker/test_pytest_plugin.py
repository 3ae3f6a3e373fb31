"""The pytest plugin: a test that names scenario, candidate and property fails with the story."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checker.report.conftest import CANDIDATE

TESTS = """\
ONLY = "decode-admission-pinned"

def test_holds(slotproof):
    slotproof.holds(ONLY, "slot-capacity", candidate="lora/mine.py")
    slotproof.holds(ONLY, "no-crash", candidate="lora/mine.py")

def test_is_violated(slotproof):
    slotproof.holds(ONLY, "unload-clears", candidate="lora/mine.py")

def test_finds_it(slotproof):
    assert len(slotproof.violated(ONLY, "unload-clears", candidate="lora/mine.py")) == 6

def test_finds_nothing(slotproof):
    slotproof.violated(ONLY, "slot-capacity", candidate="lora/mine.py")

def test_of_a_release(slotproof):
    slotproof.holds(ONLY, "unload-clears", release="0.5.23")

def test_of_a_system(slotproof):
    slotproof.violated(system="counter.py", property="below", settings={"top": "2"})

def test_breaks(slotproof):
    slotproof.holds(system="breaks.py")

def test_breaks_after_it(slotproof):
    slotproof.violated(system="breaks.py")

def test_breaks_before(slotproof):
    slotproof.violated(system="breaks.py", property="deadlock")

def test_wrong_use(slotproof):
    slotproof.holds("decode-admision", "slot-capacity")

def test_wrong_property(slotproof):
    slotproof.holds(ONLY, "slot-capacit", candidate="lora/mine.py")
"""

COUNTER = """\
from slotproof.model.language import *

top = parameter("top", int, 3, "where the counter stops")

class Counter(State):
    n: Annotated[int, Range(0, top)] = field(0, "the counter")

@action
def count(s: Counter) -> None:
    '''It counts.'''
    require(s.n < top)
    s.n += 1

@invariant
def below(s: Counter) -> bool:
    '''It stays below its top.'''
    return s.n < top

counter = System("counter", Counter, actions=[count], properties=[below])
"""


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Pytest with this plugin alone, whether it is installed with its entry point or not."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "slotproof.checker.pytest_plugin", *arguments],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What a session of all these tests prints, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "lora").mkdir()
    (folder / "lora" / "mine.py").write_text(CANDIDATE)
    (folder / "counter.py").write_text(COUNTER)
    broken = COUNTER.replace("s.n += 1", "s.n += 2").replace("return s.n < top", "return s.n < 2")
    (folder / "breaks.py").write_text(broken)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_scheduler.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = _pytest(folder / "tests", "-v", "--slotproof-traces", "kept")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder, done.stdout


@pytest.mark.parametrize("name", ["holds", "finds_it", "of_a_release", "of_a_system", "breaks_after_it"])
def test_passes(outcome: tuple[Path, str], name: str) -> None:
    assert f"test_scheduler.py::test_{name} PASSED" in outcome[1]


def test_a_violation_fails_with_its_story_and_keeps_the_trace(outcome: tuple[Path, str]) -> None:
    folder, printed = outcome
    story = printed.split("_ test_is_violated _")[1].split("\n___")[0]
    assert "decode-admission-pinned on 0.5.23+mine: unload-clears is violated after 6 steps." in story
    assert "\n  6. " in story
    assert "Why unload-clears is false" in story
    assert "def test_is_violated" not in story
    assert "The trace: kept/decode-admission-pinned.unload-clears.0.5.23+mine.itf.json" in story
    assert [p.name for p in (folder / "tests" / "kept").glob("decode-*")] == [
        "decode-admission-pinned.unload-clears.0.5.23+mine.itf.json"
    ]


def test_a_violation_before_a_model_error_is_told_with_it(outcome: tuple[Path, str]) -> None:
    told = outcome[1].split("_ test_breaks _")[1].split("\n___")[0]
    assert "counter: below is violated after 1 step." in told
    assert "breaks.py:12: 4 leaves the range 0..3" in told


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("breaks_before", "no violation is found: ROOT/breaks.py: model error: ROOT/breaks.py:12: 4 leaves"),
        ("finds_nothing", "slotproof: no violation is found: slot-capacity: holds"),
        ("wrong_use", "slotproof: there is no scenario 'decode-admision'; did you mean decode-admission"),
        ("wrong_property", "slotproof: there is no property 'slot-capacit'; did you mean slot-capacity?"),
    ],
)
def test_other_failures_are_one_line(outcome: tuple[Path, str], name: str, message: str) -> None:
    told = outcome[1].split(f"_ test_{name} _")[1].split("\n___")[0]
    assert message.replace("ROOT", str(outcome[0])) in told
    assert "Traceback" not in told
    assert "During handling" not in told


def test_the_plugin_costs_others_nothing(tmp_path: Path) -> None:
    """Whoever has it installed and does not use it imports neither the model nor an engine."""
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_other():\n"
        "    loaded = {m for m in sys.modules if m.startswith('slotproof.')}\n"
        "    assert loaded <= {'slotproof.checker', 'slotproof.checker.pytest_plugin'}\n"
        "    assert not {'numba', 'z3', 'click'} & set(sys.modules)\n"
    )
    done = _pytest(tmp_path, "-q")
    assert done.returncode == 0, done.stdout + done.stderr
