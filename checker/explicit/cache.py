"""Machine code and verdicts on disk, each by the digest of what it was made from.

The folder is ``$SLOTPROOF_CACHE``, else ``slotproof`` in the user's cache folder, else one in the
folder for temporary files. Entries are written whole or not at all, so that several runs can share
them; an entry that does not have the content it promises is ignored and written again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

KEPT = 256
"""How many entries of machine code stay; the ones not used for longest go."""
CODE = ".o"


def directory() -> Path | None:
    """The cache folder, made if need be; ``None`` if there is no place that can be written."""
    asked = os.environ.get("SLOTPROOF_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    own = f"slotproof-{os.getuid()}" if hasattr(os, "getuid") else "slotproof"
    candidates = [Path(asked)] if asked else []
    for path in [*candidates, Path(home) / "slotproof", Path(tempfile.gettempdir()) / own]:
        if _usable(path):
            return path
    return None


def _usable(path: Path) -> bool:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What lies here is executed: nobody else may have made it.
        mine = not hasattr(os, "getuid") or path.stat().st_uid in (os.getuid(), 0)
    except OSError:
        return False
    return mine and os.access(path, os.W_OK | os.X_OK)


def load(key: str, kind: str = CODE) -> bytes | None:
    """The entry of that key, if it is there and sound; ``kind`` is the ending of its file."""
    folder = directory()
    if folder is None:
        return None
    path = folder / f"{key}{kind}"
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:32], data[32:]
    if not content or hashlib.sha256(content).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return content


def store(key: str, content: bytes, kind: str = CODE, kept: int = KEPT) -> None:
    """Keep an entry beside at most ``kept`` others of its kind; without effect where that is not possible."""
    folder = directory()
    if folder is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=folder, suffix=".new")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(name, folder / f"{key}{kind}")
        _forget(folder, kind, kept)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _forget(folder: Path, kind: str, kept: int) -> None:
    entries: list[tuple[float, Path]] = []
    for path in folder.glob(f"*{kind}"):
        with contextlib.suppress(OSError):  # another run has forgotten it
            entries.append((path.stat().st_mtime, path))
    for _, path in sorted(entries)[: max(len(entries) - kept, 0)]:
        path.unlink(missing_ok=True)
