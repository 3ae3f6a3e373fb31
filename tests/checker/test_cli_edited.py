"""Files that are edited while a command runs: it goes on with what it has read, or says so in one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker.runs import perform
from slotproof.counterexamples import verify
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.program import Program
from tests.checker.conftest import Run

SYSTEM = """\
from slotproof.model.language import *
from {helper} import further


class Counter(State):
    n: Annotated[int, Range(0, 9)] = field(0, "the counter")


@action
def count(s: Counter) -> None:
    \"\"\"It counts.\"\"\"
    require(s.n < 8)
    s.n = further(s.n)


@invariant
def small(s: Counter) -> bool:
    \"\"\"It stays small.\"\"\"
    return s.n < 3


counter = System("counter", Counter, actions=[count], properties=[small])
"""

HELPER = """\
def further(n: int) -> int:
    return n + 1
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A system, and a module beside it from which it takes a function."""
    name = f"helper_{tmp_path.name}"
    monkeypatch.setitem(sys.modules, name, sys)
    monkeypatch.delitem(sys.modules, name)  # and what the test imports by that name goes with it
    system, helper = tmp_path / "counter.py", tmp_path / f"{name}.py"
    system.write_text(SYSTEM.format(helper=name))
    helper.write_text(HELPER)
    return system, helper


def _while_searching(monkeypatch: pytest.MonkeyPatch, edit: Callable[[], object]) -> None:
    def edited(*arguments: Any) -> Any:
        edit()
        return perform(*arguments)

    monkeypatch.setattr("slotproof.checker.workers.perform", edited)


def _untimed(printed: str) -> str:
    return re.sub(r"\d+\.\d s;", "", printed)


@pytest.mark.parametrize("text", ["# a line more\n" + SYSTEM, "nothing of it\n", ""])
def test_the_system_file_is_edited(
    text: str, files: tuple[Path, Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is that about the file as it was, and tells its lines."""
    system, _ = files
    arguments = ("check", "--system", system.name, "--no-cache", "--format", "github")
    before = run(*arguments)
    assert before.exit_code == 1
    assert f"file={system.name},line=17" in before.stdout
    _while_searching(monkeypatch, lambda: system.write_text(text))
    assert _untimed(run(*arguments).stdout) == _untimed(before.stdout)
    assert _untimed(run(*arguments).stdout) != _untimed(before.stdout)  # that one reads the file as it is now


@pytest.mark.parametrize("text", ["# a line more\n" + HELPER, "nothing of it\n", HELPER.replace("1", "2")])
def test_a_file_that_it_imports_is_edited(
    text: str, files: tuple[Path, Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, helper = files
    _while_searching(monkeypatch, lambda: helper.write_text(text))
    result = run("check", "--system", system.name, "--no-cache")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert f"{helper}:1: the file has changed since this run read it; run the command again" in result.stderr


def test_it_is_edited_where_no_search_runs(
    files: tuple[Path, Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever reads a function then, the command ends with the same line."""
    system, helper = files
    run("check", "--system", system.name)
    genuine = verify.verify

    def edited(trace: Trace, program: Program) -> object:
        helper.write_text("# a line more\n" + HELPER)
        return genuine(trace, program)

    monkeypatch.setattr(verify, "verify", edited)
    result = run("explain", "slotproof-traces/counter.small.itf.json")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "the file has changed since this run read it; run the command again" in result.stderr
