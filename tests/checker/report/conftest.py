"""A candidate with one rule of its own that is harmless and one that brings a violation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checker.conftest import Run, run, shops

__all__ = ["Run", "candidate", "run", "shops"]

ONLY = ("--scenario", "decode-admission-pinned")

CANDIDATE = """\
from slotproof.model.language import *
from slotproof.model.releases import release
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.vocabulary import Request


def unfinished(scheduler: Scheduler) -> Set[Request]:
    '''Those that have not finished.'''
    return scheduler.running - scheduler.finished


candidate = release("0.5.23").replace(
    occupied_on_decode=unfinished,
    unload_and_slot="slot_kept",
)
"""


@pytest.fixture
def candidate(run: Run) -> Path:
    """The file, in the folder in which the command runs."""
    path = Path("changes/mine.py")
    path.parent.mkdir()
    path.write_text(CANDIDATE)
    return path
