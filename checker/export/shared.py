"""What all parts of one exported model share: names, hidden variables, helpers written so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from slotproof.checker.export.build import (
    has_range,
    limits,
)
from slotproof.checker.export.names import Names
from slotproof.checker.export.pure import Pure
from slotproof.checker.export.text import declared_type
from slotproof.model.language.errors import Site
from slotproof.model.language.ir import (
    Block,
    Call,
    Decide,
    Die,
    Fail,
    Statement,
    Write,
)
from slotproof.model.language.program import Program
from slotproof.model.language.types import IntType, ScalarType
from slotproof.model.language.walk import expressions_of, statements_of


@dataclass
class Shared:
    """What all parts of one exported model share."""

    program: Program
    choices: Sequence[int]
    pure: Pure
    names: Names
    kept: frozenset[int]
    """The columns that something reads or that are part of the state: only those are written."""
    hidden: dict[str, str] = field(default_factory=dict)
    """Declared types of hidden variables."""
    inlines: dict[int, tuple[str, list[str]]] = field(default_factory=dict)
    """Name and text of the helper functions that are called, by number."""
    parameters: dict[str, list[str]] = field(default_factory=dict)
    """The variables that take the arguments of a helper, by its name."""
    results: dict[str, str] = field(default_factory=dict)
    """The variables of the helpers' results."""
    _effects: dict[int, bool] = field(default_factory=dict)
    _deadly: dict[int, bool] = field(default_factory=dict)

    def writes(self, function: int) -> bool:
        """Whether a call can write the state, or crash."""
        return self._some(function, self._effects, lambda s: isinstance(s, Write | Die | Fail))

    def dies(self, function: int) -> bool:
        """Whether a call can crash."""
        return self._some(function, self._deadly, lambda s: isinstance(s, Die))

    def _some(self, function: int, known: dict[int, bool], test: Callable[[Statement], bool]) -> bool:
        if function not in known:
            known[function] = False
            body = self.program.functions[function].body
            known[function] = any(test(s) for s in statements_of(body)) or any(
                self._some(f, known, test) for f in self.called(body)
            )
        return known[function]

    def called(self, block: Block) -> Iterator[int]:
        """The functions that a block calls."""
        for s in statements_of(block):
            for e in expressions_of(s):
                if isinstance(e, Call | Decide):
                    yield self.pure.callee(e)

    def hide(self, wanted: str, type_: ScalarType, *, loop: bool = False) -> str:
        """A hidden variable for values of a type; a loop's runs one past its last value."""
        name = self.names.fresh(wanted)
        wide = isinstance(type_, IntType) and not has_range(type_)
        declared = "int" if wide else declared_type(type_, f"variable {wanted}")
        if declared in ("bool", "bit", "byte"):  # Spin hides no bits
            declared = "short" if loop and limits(type_)[1] == 255 else "byte"
        self.hidden[name] = declared
        return name

    def place(self, site: Site) -> str:
        """A comment that names a place in the model's source."""
        return f"/* {PurePath(site.file).name}:{site.line} */"
