"""Tests of folders that need torch are skipped with the remedy where it is not installed."""

from importlib.util import find_spec
from pathlib import Path

import pytest

REASON = "torch is not installed: pip install 'slotproof[replay]'"


class Skipped(pytest.Module):
    """A test file that is not imported."""

    def collect(self) -> list[pytest.Item]:
        """Nothing, with the reason."""
        pytest.skip(REASON, allow_module_level=True)


def module_or_skip(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """For ``pytest_pycollect_makemodule``: ``None`` leaves the file to pytest."""
    if find_spec("torch") is not None:
        return None
    return Skipped.from_parent(parent, path=module_path)
