"""What an exported model asks about its states and steps: a violated property is a failed assertion."""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.export.build import FALSE, negated
from slotproof.checker.export.errors import ExportError
from slotproof.checker.export.failure import failure
from slotproof.checker.export.names import Names
from slotproof.checker.export.pure import NotPure, Pure
from slotproof.checker.export.text import Text, declared_type
from slotproof.model.language.ir import Action, Assign, Expr, Local, Property, Read
from slotproof.model.language.program import DEADLOCK, Program, no_crash
from slotproof.model.language.walk import expressions_of, statements_of

LONGEST = 100_000
"""The most nodes of a property that is written out."""


class Judged:
    """The properties of a model, by name. ``KeyError`` for one that the program does not have.

    ``rested`` writes out what is asked of states, with outputs at their initial values, ``moved`` what is
    asked of steps. ``ExportError`` where a property is too long as one expression.
    """

    def __init__(self, program: Program, names: Sequence[str], rested: Pure, moved: Pure) -> None:
        self.program = program
        self.names = tuple(names)
        self.deadlock = DEADLOCK in names
        self.causes = [i for i, cause in enumerate(program.crashes) if no_crash(cause) in names]
        found = [p for p in program.properties if p.name in names]
        for name in names:
            if name not in program.safety:
                raise KeyError(name)
        self.states = [(p.name, _written(p, rested)) for p in found if p.over == "state"]
        self.steps = [(p, _written(p, moved)) for p in found if p.over == "step"]
        self.final = None
        if self.deadlock and program.final is not None:
            self.final = rested.expression(program.final, {}, LONGEST)

    def columns(self, root: str) -> set[int]:
        """The columns that are read of the state before, or after, a step."""
        reads = (e for _, holds in self.steps for e in expressions_of(holds) if isinstance(e, Read))
        return {e.column for e in reads if e.root == root}

    def of(self, action: Action, number: int, tokens: Sequence[str], text: Before) -> list[str]:
        """The assertions about a step of an action, whose arguments have these names."""
        lines: list[str] = []
        for asked, holds in self.steps:
            if asked.actions is not None and number not in asked.actions:
                continue
            if asked.parameters and any(
                s.local in action.parameters for s in statements_of(action.effect) if isinstance(s, Assign)
            ):
                raise ExportError(f"{action.name} changes an argument, which {asked.name} would read")
            named = dict(zip((p.name for p in asked.parameters), tokens, strict=False))
            text.named = named
            failing = failure(holds)
            if failing != FALSE:
                lines.append(f"  assert({text.of(negated(failing))}); /* {asked.name} can be evaluated */")
            lines.append(f"  assert({text.of(holds)}); /* {asked.name} */")
        return lines


class Before(Text):
    """Writes expressions over the states before and after a step."""

    def __init__(self, program: Program, names: Names, copies: dict[int, str]) -> None:
        super().__init__(program.columns, names, self._local)
        self.named: dict[str, str] = {}
        self._copies = copies

    def of(self, e: Expr) -> str:
        """The expression, in parentheses unless it is one word."""
        if isinstance(e, Read) and e.root == "before":
            declared = self.columns[e.column]
            name = self._copies[e.column]
            return name if declared.cells == 1 else f"{name}[{self._linear(e.indices, declared.dims)}]"
        return super().of(e)

    def _local(self, local: Local) -> str:
        return self.named[local.name]

    def declarations(self) -> list[str]:
        """The hidden variables that hold the state before a step."""
        lines = []
        for number, name in self._copies.items():
            column = self.columns[number]
            declared = declared_type(column.type, f"state variable {column.name}")
            type_ = "byte" if declared in ("bit", "bool") else declared  # Spin hides no bits
            lines.append(f"hidden {type_} {name}{f'[{column.cells}]' if column.cells > 1 else ''};")
        return lines

    def kept(self) -> list[str]:
        """Statements that keep the state before a step."""
        lines = []
        for number, name in self._copies.items():
            own, cells = self.names.columns[number], self.columns[number].cells
            places = [""] if cells == 1 else [f"[{i}]" for i in range(cells)]
            lines += [f"{name}{place} = {own}{place};" for place in places]
        return lines


def _written(asked: Property, pure: Pure) -> Expr:
    try:
        return pure.judged(asked.setup, [c.condition for c in asked.conjuncts], LONGEST)
    except NotPure:
        raise ExportError(f"{asked.name} is too long as one expression; make its helpers simpler") from None
