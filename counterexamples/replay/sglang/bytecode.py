"""Where the compiled code of a release is kept, so that it is compiled once and not by every replay.

``pip install --no-compile``, as ``--fetch`` calls it, leaves no compiled files; a folder may be read-only;
and a user may have told Python to write none. To compile the five hundred modules of a release that a replay
imports takes as long as all the rest of it. Their code lies in the cache folder of ``slotproof``, for each
folder of a release apart, never in that folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType

from slotproof.checker.explicit.cache import directory

KEPT = 20
"""Folders of releases whose code stays, some 15 MB each; the ones not used for longest go."""


def install(folder: Path) -> None:
    """Keep the compiled code of the modules in a folder, where there is a place to; before their import."""
    place = _place(folder)
    if place is None:
        return

    class Kept(SourceFileLoader):
        """Python itself sees to it that a file that has changed is compiled again."""

        def get_code(self, fullname: str) -> CodeType | None:
            before = sys.pycache_prefix, sys.dont_write_bytecode
            sys.pycache_prefix, sys.dont_write_bytecode = str(place), False
            try:
                return super().get_code(fullname)
            finally:
                sys.pycache_prefix, sys.dont_write_bytecode = before

    sys.path_hooks.insert(0, _hook(folder, Kept))
    sys.path_importer_cache.clear()


def _hook(folder: Path, loader: type[SourceFileLoader]) -> Callable[[str], FileFinder]:
    def find(path: str) -> FileFinder:
        if not Path(path).is_relative_to(folder) or not Path(path).is_dir():
            raise ImportError(f"not in {folder}", path=path)
        return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (loader, SOURCE_SUFFIXES))

    return find


def _place(folder: Path) -> Path | None:
    """The folder for the code of this release, made and marked as used; too many others go."""
    cache = directory()
    if cache is None:
        return None
    places = cache / "bytecode"
    place = places / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    try:
        place.mkdir(parents=True, exist_ok=True)
        os.utime(place)
        used = sorted(places.iterdir(), key=lambda path: path.stat().st_mtime)
    except OSError:  # no room, or another run has just forgotten one
        return place if place.is_dir() else None
    for path in used[: max(len(used) - KEPT, 0)]:
        with contextlib.suppress(OSError):
            shutil.rmtree(path)
    return place
