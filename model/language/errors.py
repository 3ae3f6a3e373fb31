"""The two ways in which a user's text can be wrong: outside the language, or wrong at run time.

A ``LanguageError`` is found while a system is compiled, a ``ModelError`` while it is explored. Both
point at the user's own file and line and say what to write instead.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NoReturn


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the user's source: the file, the line (from 1) and the text that stands there.

    ``column`` counts from 1; it is 0 where a whole line or function is meant.
    """

    file: str
    line: int
    text: str = ""
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LanguageError(Exception):
    """A construct that the language does not have, or a declaration that does not fit.

    The message reads ``file:line: what is wrong; what to write instead``.
    """

    def __init__(self, message: str, site: Site | None = None) -> None:
        self.message = message
        self.site = site
        super().__init__(f"{site}: {message}" if site else message)


class FileChanged(LanguageError):
    """The source of a function is not what it was when the file was read first."""


class ModelError(Exception):
    """A transition that leaves a range, overfills a sequence or reads an empty optional.

    Nothing wraps or clamps: every engine ends with this error, with the same message and line.
    """

    def __init__(self, message: str, site: Site | None = None) -> None:
        self.message = message
        self.site = site
        super().__init__(f"{site}: {message}" if site else message)


class Crash(Exception):
    """The modelled program dies, with a named cause; the state after it is terminal."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(cause)


class NotEnabled(Exception):
    """A guard of the action is false in this state."""

    def __init__(self, site: Site) -> None:
        self.site = site
        super().__init__(f"{site}: {site.text}" if site.text else str(site))


LIBRARY = Path(__file__).parent


def users_line(trace: TracebackType | None) -> Site | None:
    """The innermost line of a traceback that is not the language's own."""
    frames = [f for f in traceback.extract_tb(trace) if Path(f.filename).parent != LIBRARY]
    if not frames:
        return None
    return Site(os.path.realpath(frames[-1].filename), frames[-1].lineno or 0, frames[-1].line or "")


def callers_line(depth: int = 2) -> Site:
    """The line that called the caller: where a declaration stands."""
    frame = sys._getframe(depth)
    return Site(os.path.realpath(frame.f_code.co_filename), frame.f_lineno)


def unbound(what: str, remedy: str) -> NoReturn:
    """Report the use of something that has a meaning only inside a system."""
    raise LanguageError(f"{what} has no meaning outside a system; {remedy}", callers_line(3))
