"""These tests need torch."""

from pathlib import Path

import pytest

from tests.counterexamples.needs_torch import module_or_skip


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Skip the whole file without torch."""
    return module_or_skip(module_path, parent)
