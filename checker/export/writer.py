"""The lines of one ``inline``: indentation, branches, variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from slotproof.checker.export.build import (
    WIDEST,
    bounds,
)
from slotproof.checker.export.shared import Shared
from slotproof.checker.export.text import Text
from slotproof.model.language.ir import (
    Arithmetic,
    Expr,
    Local,
)
from slotproof.model.language.types import ScalarType


class Writer:
    """Collects the lines of one function or effect; ``scope`` is its name."""

    def __init__(self, shared: Shared, scope: str, fixed: Mapping[str, str] | None = None) -> None:
        self.shared = shared
        self.scope = scope
        self.lines: list[str] = []
        self._names = dict(fixed or {})
        self._bound: dict[str, Expr] = {}
        self._indent = 1
        self._temporaries = 0
        self._open: list[int] = []
        """Where the open branches begin; negative after ``else``."""
        self.text = Text(shared.program.columns, shared.names, self.variable)

    def variable(self, local: Local) -> str:
        """The name of a parameter or local variable."""
        if local.name not in self._names:
            self._names[local.name] = self.shared.hide(f"{self.scope}__{local.name}", local.type)
        return self._names[local.name]

    def write(self, line: str) -> None:
        """Add a statement."""
        self.lines.append("  " * self._indent + line)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self._indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.write("skip")
        self._indent -= 1

    def _temporary(self, type_: ScalarType) -> Local:
        self._temporaries += 1
        local = Local(type_, f"#{self._temporaries}")
        self._names[local.name] = self.shared.hide(f"{self.scope}__t", type_)
        return local

    def _set(self, target: str, value: Expr) -> None:
        self.write(f"{target} = {self._bare(value)};")
        low, high = bounds(value)
        if isinstance(value, Arithmetic) and not (low >= -WIDEST and high <= WIDEST):
            self.write(f"assert(-{WIDEST} <= {target} && {target} <= {WIDEST});")

    def _bare(self, e: Expr) -> str:
        text = self.text.of(e)
        return text[1:-1] if text.startswith("(") and _closes_at_the_end(text) and "->" not in text else text

    @contextmanager
    def _choice(self, condition: Expr) -> Iterator[None]:
        """``if :: condition -> … :: else … fi``; ``_otherwise`` begins the second part."""
        self.write("if")
        self.write(f":: {self._bare(condition)} ->")
        self._open.append(len(self.lines))
        self._indent += 2
        yield
        self._close_branch()
        self._indent -= 2
        if self._open.pop() >= 0:
            self.write(":: else")
        self.write("fi;")

    def _close_branch(self) -> None:
        if len(self.lines) == abs(self._open[-1]):
            self.write("skip")

    def _otherwise(self) -> None:
        self._close_branch()
        self._indent -= 2
        self.write(":: else ->")
        self._indent += 2
        self._open[-1] = -len(self.lines)


def _closes_at_the_end(text: str) -> bool:
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i == len(text) - 1
    return False
