"""What an answer depends on: the part of a program that runs under one release's choices, and source files.

Two programs with the same identity have the same graph, the same properties and the same traces, however
many alternatives either has besides: an edited rule changes the identity of those that choose it, and of
no other.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from slotproof.model.language.errors import Site
from slotproof.model.language.ir import Call, Decide, Die
from slotproof.model.language.program import Program


def identity(program: Program, choices: tuple[int, ...]) -> str:
    """A digest of all that the engines read of a program, with the decisions taken."""
    return _Reader(program, choices).whole()


def add_sources(sha: Any, package: ModuleType, pattern: str) -> None:
    """Put the files of a package that match a pattern into a digest of ``hashlib``."""
    assert package.__file__ is not None
    for path in sorted(Path(package.__file__).parent.glob(pattern)):
        sha.update(path.name.encode() + b"\0" + path.read_bytes())


class _Reader:
    def __init__(self, program: Program, choices: tuple[int, ...]) -> None:
        self.program = program
        self.choices = choices
        self._functions: dict[int, bytes] = {}

    def whole(self) -> str:
        program = self.program
        content = (
            program.name,
            program.columns,
            program.crashes,
            program.premises,
            program.initial,
            program.actions,
            program.properties,
            program.witnesses,
            program.final,
            program.dropped,
            program.progress,
            program.fairness,
        )
        return self._digest(content).hex()

    def _digest(self, content: Any) -> bytes:
        sha = hashlib.sha256()
        self._feed(sha, content)
        return sha.digest()

    def _function(self, number: int) -> bytes:
        """A function's content in the place of its number, which depends on what else is compiled."""
        if number not in self._functions:
            self._functions[number] = self._digest(self.program.functions[number])
        return self._functions[number]

    def _feed(self, sha: Any, item: Any) -> None:
        match item:
            case Decide():
                sha.update(b"call" + self._function(item.functions[self.choices[item.point]]))
                self._feed(sha, (item.type, item.arguments))
            case Call():
                sha.update(b"call" + self._function(item.function))
                self._feed(sha, (item.type, item.arguments))
            case Die():
                sha.update(f"die {self.program.crashes[item.cause]};".encode())
            case Site():
                sha.update(repr(item.text).encode() + b";")
            case tuple():
                sha.update(f"({len(item)}".encode())
                for part in item:
                    self._feed(sha, part)
            case type():
                names = [m.name for m in cast(Any, item)] if hasattr(item, "__members__") else []
                sha.update(f"{item.__name__}{names};".encode())
            case _ if is_dataclass(item):
                sha.update(type(item).__name__.encode() + b"{")
                for field in fields(item):
                    value = getattr(item, field.name)
                    if field.name == "site" and not isinstance(value, Site):
                        value = value is None  # the number of a place where an error is told
                    self._feed(sha, value)
            case _:
                sha.update(repr(item).encode() + b";")
