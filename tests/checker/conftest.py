"""The command line as a function, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slotproof.checker.cli import main
from tests.checker import fakes

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``slotproof`` with these arguments; a traceback fails the test."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(main, arguments, prog_name="slotproof")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        print(result.output)  # pytest shows it where a test fails
        return result

    return run


@pytest.fixture
def shops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three releases of a small server instead of the real ones."""
    fakes.install(monkeypatch)
