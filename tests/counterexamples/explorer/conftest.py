"""Pages, and a real browser to open them in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.counterexamples.explorer.browser import Browser

GALLERY = Path(__file__).parents[3] / "counterexamples" / "gallery"

Page = Callable[[str], Path]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; tests that need it are skipped where it is missing."""
    pytest.importorskip("selenium", reason="selenium is not installed (pip install selenium)")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium or chromedriver is not installed (apt-get install chromium chromium-driver)")
    started = Browser(chromium, driver)
    yield started
    started.quit()


@pytest.fixture(scope="session")
def gallery_page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The exported page of a gallery trace, each written once."""
    from slotproof.checker.commands.explain import program_of_file
    from slotproof.checker.commands.explore import page_of
    from slotproof.counterexamples.itf import read

    folder = tmp_path_factory.mktemp("pages")

    def page(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            file = read(GALLERY / f"{name}.itf.json")
            path.write_text(page_of(file, program_of_file(file, None)), encoding="utf-8")
        return path

    return page


def longest() -> str:
    """The name of the gallery's longest trace."""
    import json

    def steps(path: Path) -> int:
        return len(json.loads(path.read_text(encoding="utf-8"))["states"])

    return max(sorted(GALLERY.glob("*.itf.json")), key=steps).name.removesuffix(".itf.json")


Data = dict[str, Any]
