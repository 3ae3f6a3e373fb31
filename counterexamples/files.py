"""Files that are written whole or not at all: a full disk or an interrupt leaves the old content."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text file in UTF-8; ``OSError`` names the file and leaves what was there.

    What UTF-8 cannot hold (a part of a file's name that is no text) is written as JSON escapes it.
    """
    content = text.encode("utf-8", errors="backslashreplace")
    target = path.resolve()  # of a link the file, not the link
    if target.exists() and not target.is_file():
        path.write_bytes(content)  # a pipe or a device has no content to keep; a folder is refused
        return
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(target)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise
