"""Systems of one's own: ``--system FILE[:NAME]`` and ``--set NAME=VALUE``.

The file is run as a script is run. Whatever is wrong in it is reported at its own line, never as a
traceback of this library.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from slotproof.checker.usage import UsageProblem
from slotproof.model.language.errors import LanguageError, ModelError
from slotproof.model.language.source import remember_text
from slotproof.model.language.system import System
from slotproof.model.near import near, near_or_all


def load_system(given: str) -> System:
    """The system that ``FILE`` or ``FILE:NAME`` names; ``UsageProblem`` if there is none."""
    path, name = _split(given)
    found = _systems(run_file(path))
    if name is not None:
        for variable, system in found.items():
            if name in (variable, system.name):
                return system
        raise UsageProblem(f"{path}: there is no System '{name}'{near_or_all(name, found)}")
    distinct = list({id(s): s for s in found.values()}.values())
    if not distinct:
        raise UsageProblem(f"{path}: no System is in it; write 'name = System(…)' at its top level")
    if len(distinct) > 1:
        names = ", ".join(found)
        raise UsageProblem(
            f"{path}: there are {len(distinct)} Systems in it; write {path}:NAME, one of {names}"
        )
    return distinct[0]


def _split(given: str) -> tuple[Path, str | None]:
    path, name = Path(given), None
    if not path.exists() and ":" in given:
        file, _, name = given.rpartition(":")
        path = Path(file)
    must_exist(path, "the System")
    return path, name


def must_exist(path: Path, what: str) -> None:
    """``UsageProblem`` unless there is a file; ``what`` says what it defines."""
    if path.is_dir():
        raise UsageProblem(f"{path}: is a folder; name the Python file in it that defines {what}")
    if not path.exists():
        if path.is_symlink():
            raise UsageProblem(f"{path}: is a link to nothing; name the file itself")
        beside = [str(p) for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise UsageProblem(f"{path}: there is no such file{near(str(path), beside)}")


def _systems(module: types.ModuleType) -> dict[str, System]:
    return {name: value for name, value in vars(module).items() if isinstance(value, System)}


_run: dict[str, types.ModuleType] = {}
"""The files that this command has run; it does not look at them again, whoever edits them meanwhile."""


def forget_files() -> None:
    """Another command begins: it reads files as they are now."""
    _run.clear()


def run_file(path: Path) -> types.ModuleType:
    """The module of a file. It is compiled here, so that nothing is written beside the user's file."""
    full = str(path.resolve())
    if full not in _run:
        _run[full] = _run_now(path, full)
    return _run[full]


def _run_now(path: Path, full: str) -> types.ModuleType:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageProblem(f"{path}: cannot be read: {error.strerror}") from None
    name = f"slotproof_system_{hashlib.sha256(os.fsencode(full) + text).hexdigest()[:12]}"
    with contextlib.suppress(UnicodeDecodeError, SyntaxError):  # compilation says what is wrong
        # The source of functions is read when it is needed; the file may have been edited by then.
        remember_text(full, importlib.util.decode_source(text))
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = full
    try:
        code = compile(text, full, "exec")
    except SyntaxError as error:
        raise UsageProblem(f"{path}:{error.lineno or 1}: syntax error: {error.msg}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{path}: is no Python source: {error}") from None
    sys.modules[name] = module  # classes of the file are looked up there when results are passed on
    beside = str(path.resolve().parent)
    sys.path.append(beside)  # at the end: a file named like a library does not take its place
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, vars(module))
    except (LanguageError, ModelError) as error:
        del sys.modules[name]
        raise UsageProblem(located(error, full)) from None
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:  # the file may raise whatever it likes
        del sys.modules[name]
        raise UsageProblem(
            f"{path}:{_line(error, full)}: {type(error).__name__}: {_one_line(error)}"
        ) from None
    finally:
        sys.path.remove(beside)
    return module


def located(error: LanguageError | ModelError, file: str) -> str:
    """The error with its place; where it has none, the line of the user's file that led to it."""
    if error.site is not None:
        return _one_line(error)
    line = _line(error, file)
    return f"{file}:{line}: {_one_line(error)}" if line else f"{file}: {_one_line(error)}"


def _line(error: BaseException, file: str) -> int:
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 1
    lines = [f.lineno or 1 for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return lines[-1] if lines else 0


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no message"


def parse_settings(given: Sequence[str]) -> dict[str, Any]:
    """The values of ``--set NAME=VALUE``, each as its text says.

    A value is a whole number, ``true`` or ``false``, ``none``, the name of an element or member, a set
    ``{A,B}``, or a map ``{r1: {A,B}, r2: {C}}``; the system says whether it fits the parameter's type.
    """
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise UsageProblem(f"--set {text}: write --set NAME=VALUE, such as --set requests=3")
        if name in values:
            raise UsageProblem(f"--set {text}: '{name}' is set twice; keep one of the two")
        if not value.strip():
            raise UsageProblem(f"--set {text}: there is no value; write the empty set as {{}}")
        values[name] = _Reader(text, value).whole()
    return values


class _Reader:
    """Reads one value: ``3``, ``true``, ``A``, ``{A, B}``, ``{r1: A, r2: {B}}``."""

    def __init__(self, option: str, text: str) -> None:
        self.option = option
        self.text = text.strip()
        self.at = 0
        self.depth = 0

    def whole(self) -> Any:
        value = self._value()
        self._space()
        if self.at < len(self.text):
            self._fail(f"'{self.text[self.at :]}' is left over; write a list of elements as {{A,B}}")
        return value

    def _value(self) -> Any:
        self._space()
        return self._braces() if self._next() == "{" else self._word()

    def _braces(self) -> Any:
        self.at += 1
        self.depth += 1
        if self.depth > 2:
            self._fail("there are braces in braces in braces; write {A,B} or {r1: {A,B}, r2: {C}}")
        items: list[Any] = []
        pairs: dict[Any, Any] = {}
        self._space()
        while self._next() != "}":
            key = self._value()
            self._space()
            if self._next() == ":":
                self.at += 1
                pairs[str(key)] = self._value()
                self._space()
            else:
                items.append(key)
            if self._next() == ",":
                self.at += 1
                self._space()
            elif self._next() != "}":
                self._fail("a } is missing")
        self.at += 1
        self.depth -= 1
        if items and pairs:
            self._fail("a set and a map are mixed; write {A,B} or {r1: A, r2: B}")
        return pairs or items

    def _word(self) -> Any:
        start = self.at
        while self._next() not in ("", ",", ":", "{", "}") and not self._next().isspace():
            self.at += 1
        word = self.text[start : self.at]
        if not word:
            self._fail(f"a value is missing before '{self._next() or 'the end'}'")
        known = {"true": True, "false": False, "none": None}
        if word.lower() in known:
            return known[word.lower()]
        digits = word.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            return word
        try:
            return int(word)
        except ValueError:  # Python reads no more than some thousand digits
            self._fail(f"a number of {len(digits)} digits is too large")

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _space(self) -> None:
        while self._next().isspace():
            self.at += 1

    def _fail(self, message: str) -> NoReturn:
        shown = self.option if len(self.option) <= 60 else f"{self.option[:57]}..."
        raise UsageProblem(f"--set {shown}: {message}")
