"""A system under one release's choices as a complete Promela model, for the model checker Spin.

    text = promela(program, choices, ["no-slot-leak", "deadlock"])

Every step, an action with its arguments, is one ``d_step`` that begins with the guard, so that Spin's
states and transitions are those of the engine ``explicit``. What a step computes on its way stands in
hidden variables. A crash is a state variable; no step follows a crash. A property that is asked about is an
assertion: of a state in a step of its own, which is possible only where it fails; of a step at its end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from slotproof.checker.export.build import FALSE, TRUE, both, either, negated
from slotproof.checker.export.errors import ExportError
from slotproof.checker.export.failure import failure
from slotproof.checker.export.judged import Before, Judged
from slotproof.checker.export.names import Names
from slotproof.checker.export.pure import NotPure, Pure
from slotproof.checker.export.shared import Shared
from slotproof.checker.export.statements import Emitter
from slotproof.checker.export.text import Text, declared_type
from slotproof.counterexamples.encoding import setting
from slotproof.model.language.columns import Column
from slotproof.model.language.ir import (
    Action,
    Assign,
    Block,
    Call,
    Const,
    Decide,
    Die,
    Expr,
    Read,
    Write,
)
from slotproof.model.language.program import DEADLOCK, Program
from slotproof.model.language.walk import expressions_of, statements_of

GUARD = 100_000
"""The most nodes of a guard that is written out."""

COPIES = 4_000
"""An effect is repeated for every combination of arguments while that gives no more lines than this."""

REFUSAL = "#error cannot use BFS on models with variables declared hidden"
"""Spin's caution against hidden variables that carry something from step to step."""

Arguments = tuple[int, ...]


def promela(program: Program, choices: Sequence[int] = (), properties: Sequence[str] = ()) -> str:
    """The model's text, with assertions of these properties.

    ``ExportError`` where Promela has no room for a part of the system; ``KeyError`` for a property that the
    program does not have.
    """
    return "\n".join(_Model(program, choices, properties).lines()) + "\n"


class _Model:
    def __init__(self, program: Program, choices: Sequence[int], properties: Sequence[str]) -> None:
        self.program = program
        self.choices = choices
        self.functions = _reachable(program, choices)
        written = self._written()
        constant = {i: c.initial for i, c in enumerate(program.columns) if i not in written}
        shown = {i: c.initial for i, c in enumerate(program.columns) if c.output}
        self.guards = Pure(program, choices, {**constant, **shown})
        moved = Pure(program, choices, constant)
        self.judged = Judged(program, properties, self.guards, moved)
        read = self._read_in_effects() | self.judged.columns("before") | self.judged.columns("after")
        self.state = [i for i, c in enumerate(program.columns) if i in written and not c.output]
        self.outputs = [i for i, c in enumerate(program.columns) if i in written and c.output and i in read]
        called = (program.functions[i].name for i in self.functions)
        actions = (a.name for a in (*program.initial, *program.actions))
        self.names = Names(program.columns, (*called, *actions))
        kept = frozenset((*self.state, *self.outputs))
        self.shared = Shared(program, choices, moved, self.names, kept)
        columns = sorted(self.judged.columns("before"))
        copies = {i: self.names.fresh(f"before_{self.names.columns[i]}") for i in columns}
        self.before = Before(program, self.names, copies)
        self.deadly = any(isinstance(s, Die) for block in self._blocks() for s in statements_of(block))
        self.macros: list[str] = []
        self.possible: list[str] = []
        """Each step's condition."""

    # ------------------------------------------------------------------ what there is

    def _blocks(self) -> Iterator[Block]:
        for action in (*self.program.initial, *self.program.actions):
            yield action.effect
        for number in self.functions:
            yield self.program.functions[number].body

    def _written(self) -> set[int]:
        return {s.column for b in self._blocks() for s in statements_of(b) if isinstance(s, Write)}

    def _read_in_effects(self) -> set[int]:
        return {
            e.column
            for b in self._blocks()
            for s in statements_of(b)
            for e in expressions_of(s)
            if isinstance(e, Read)
        }

    # ------------------------------------------------------------------ the text

    def lines(self) -> Iterator[str]:
        """The whole model, line by line."""
        starts = [line for a in self.program.initial for line in self._action(a, initial=True)]
        steps = [line for a in self.program.actions for line in self._action(a, initial=False)]
        steps += self._violations()
        variables = list(self._variables())  # they name constants, too
        yield from self._head()
        yield from self._constants()
        yield from variables
        for name, body in self.shared.inlines.values():
            yield f"inline {name}() {{"
            yield from body
            yield "}"
            yield ""
        yield from self.macros
        yield f"active proctype {self.names.fresh(self.program.name)}() {{"
        if self.program.initial:
            yield "end_start:"
            yield "  if /* the initial states */"
            yield from starts or ["  :: false"]
            yield "  fi;"
        yield "end:"
        if steps:
            yield "  do"
            yield from steps
            yield "  od"
        else:
            yield "  false"
        yield "}"

    def _head(self) -> Iterator[str]:
        program = self.program
        yield "/*"
        yield f" * {program.name}"
        for name, value in program.parameters.items():
            yield f" *   {name} = {_comment(setting(value))}"
        for point, choice in zip(program.decisions, self.choices, strict=True):
            yield f" *   {point.name}: {point.alternatives[choice]}"
        yield " *"
        yield " * Written by slotproof. One d_step is one step: an action with its arguments."
        yield " *   spin -a -o2 MODEL && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000"
        yield " * Without -o2 Spin leaves variables out of the state that no step reads."
        yield " * Spin counts one transition more than there are steps."
        if program.initial:
            yield " * It counts the initial steps, too, and the state before them; all depths are one more."
        for name in self.judged.names:
            yield f" * A failed assertion is a state or step that violates {name}."
        if self.shared.hidden or self.outputs:
            yield " * Hidden variables carry nothing from one step to the next: they are set before they"
            yield " * are read. Spin refuses to search breadth-first (-DBFS) with them; here it is sound:"
            yield f" * remove '{REFUSAL}' from pan.h."
        yield " */"
        yield ""

    def _constants(self) -> Iterator[str]:
        yield "#define NONE 0 /* an optional's other values are one more than the item */"
        for name, code in self.names.constants.items():
            yield f"#define {name} {code}"
        yield ""

    def _variables(self) -> Iterator[str]:
        for i in self.state:
            yield self._declared(i, "")
        if self.deadly:
            yield "byte crash; /* the crash that ended the run; 0 while there is none */"
            for i, cause in enumerate(self.program.crashes):
                yield f"/*   {i + 1}: {_comment(cause)} */"
        yield ""
        for i in self.outputs:
            yield self._declared(i, "hidden ")
        yield from self.before.declarations()
        for name, type_ in self.shared.hidden.items():
            yield f"hidden {type_} {name};"
        yield ""

    def _declared(self, number: int, prefix: str) -> str:
        column = self.program.columns[number]
        name = self.names.columns[number]
        values = _values(column)
        text = Text(self.program.columns, self.names, lambda e: e.name)
        type_ = declared_type(column.type, f"state variable {column.name}")
        extent = f"[{column.cells}]" if column.cells > 1 else ""
        if len(set(values)) == 1:
            start = f" = {text.of(Const(column.type, values[0]))}" if values[0] else ""
        else:
            start = f" = {{ {', '.join(map(str, values))} }}"
        keys = f"{column.name}: " if column.cells > 1 else ""
        type_ = "byte" if prefix and type_ in ("bit", "bool") else type_  # Spin hides no bits
        return f"{prefix}{type_} {name}{extent}{start}; /* {_comment(keys + column.meaning)} */"

    # ------------------------------------------------------------------ actions

    def _action(self, action: Action, *, initial: bool) -> Iterator[str]:
        """Add the macro and the inline of an action; its options."""
        guard = self._guard(action)
        name = self.names.fresh(action.name)
        tokens = [self.names.parameter(p.name) for p in action.parameters]
        by_name = dict(zip(_names(action), tokens, strict=True))
        text = Text(self.program.columns, self.names, lambda e: by_name[e.name])
        self._macro(f"can_{name}", tokens, action, guard, text, initial=initial)
        failing = failure(both(guard))
        if failing != FALSE:
            head = f"fails_{name}({', '.join(tokens)})" if tokens else f"fails_{name}"
            self.macros += [f"#define {head} {self._alive(text.of(failing), initial)}", ""]
        combinations = [c for c in _combinations(action) if self._possible(action, guard, c)]
        lines = self._effect(action, name, tokens, initial=initial)
        once = lines * len(combinations) > COPIES
        variables: list[str] = []
        if once or any(
            s.local.name in by_name for s in statements_of(action.effect) if isinstance(s, Assign)
        ):
            variables = [self.shared.hide(f"{name}__{p.name}", p.type) for p in action.parameters]
        if combinations:
            yield f"  /* {_comment(action.name)}: {_comment(self._meaning(action, initial=initial))} */"
        for numbers in combinations:
            values = [text.of(Const(p.type, n)) for p, n in zip(action.parameters, numbers, strict=True)]
            arguments = f"({', '.join(values)})" if values else ""
            stored = "".join(f"{t} = {v}; " for t, v in zip(variables, values, strict=False))
            passed = ", ".join(variables or values)
            effect = f"c_code {{ goto do_{name}; }}" if once else f"{name}({passed})"
            yield f"  :: d_step {{ can_{name}{arguments} -> {stored}{effect} }}"
            if not initial:
                self.possible.append(f"can_{name}{arguments}")
            if failing != FALSE:
                yield f"  :: d_step {{ fails_{name}{arguments} -> assert(false) {self._origin(action)} }}"
        if once:
            call = f"{name}({', '.join(variables)})"
            yield f"  :: d_step {{ false -> c_code {{ do_{name}: ; }}; {call} }} /* they all go on here */"

    def _origin(self, action: Action) -> str:
        """A comment that says where a guard that can fail stands."""
        return self.shared.place(next(c.site for c in action.guard))

    def _alive(self, text: str, initial: bool) -> str:
        return f"(!crash && {text})" if self.deadly and not initial else text

    def _guard(self, action: Action) -> list[Expr]:
        try:
            return [self.guards.expression(c.condition, {}, GUARD) for c in action.guard]
        except NotPure:
            raise ExportError(
                f"the guard of {action.name} is too long as one expression; make its helpers simpler"
            ) from None

    def _possible(self, action: Action, guard: Sequence[Expr], numbers: Arguments) -> bool:
        bindings = {p.name: Const(p.type, n) for p, n in zip(action.parameters, numbers, strict=True)}
        return both(self.guards.expression(g, bindings, GUARD) for g in guard) != FALSE

    def _macro(
        self,
        name: str,
        tokens: Sequence[str],
        action: Action,
        guard: Sequence[Expr],
        text: Text,
        *,
        initial: bool,
    ) -> None:
        parts = [("!crash", "")] if self.deadly and not initial else []
        parts += [
            (text.of(g), " ".join(c.site.text.split()))
            for g, c in zip(guard, action.guard, strict=True)
            if g != TRUE
        ]
        head = f"#define {name}({', '.join(tokens)})" if tokens else f"#define {name}"
        if not parts:
            self.macros += [f"{head} true", ""]
            return
        self.macros.append(f"{head} ( \\")
        for i, (condition, source) in enumerate(parts):
            comment = f" /* {_comment(source)} */" if source else ""
            self.macros.append(f"  {'&& ' if i else ''}{condition}{comment} \\")
        self.macros += [")", ""]

    def _effect(self, action: Action, name: str, tokens: Sequence[str], *, initial: bool) -> int:
        """Write the inline of an effect; how many lines a copy of it has."""
        emitter = Emitter(self.shared, name, dict(zip(_names(action), tokens, strict=True)))
        for i in self.outputs:
            for cell, value in enumerate(_values(self.program.columns[i])):
                extent = f"[{cell}]" if self.program.columns[i].cells > 1 else ""
                emitter.write(f"{self.names.columns[i]}{extent} = {value};")
        if not initial:
            for line in self.before.kept():
                emitter.write(line)
        body = emitter.function(action.effect)
        if not initial:
            body += self._asserted(action, tokens, body)
        if body[-1].endswith((";", ")")) and "=" not in body[-1]:
            body.append("  skip")  # Spin takes the exit of a loop at the end for a way out of the d_step
        self.macros += [
            f"inline {name}({', '.join(tokens)}) {{",
            f"  /* {_comment(self._meaning(action, initial=initial))} */",
            *body,
            "}",
            "",
        ]
        return _expanded(body, dict(self.shared.inlines.values()))

    def _asserted(self, action: Action, tokens: Sequence[str], body: list[str]) -> list[str]:
        """What is asked of a step at its end."""
        asserted = self.judged.of(action, self.program.actions.index(action), tokens, self.before)
        if asserted and ";" not in body[-1]:
            body[-1] += ";"
        return asserted

    def _violations(self) -> Iterator[str]:
        """Steps that are possible where a property of states fails, and end the search."""
        text = Text(self.program.columns, self.names, lambda e: e.name)
        for name, holds in self.judged.states:
            failing = failure(holds)
            wrong = text.of(negated(holds) if failing == FALSE else either([failing, negated(holds)]))
            yield f"  :: d_step {{ {self._alive(wrong, False)} -> assert(false) /* {_comment(name)} */ }}"
        for cause in self.judged.causes:
            if self.deadly:
                name = _comment(self.program.crashes[cause])
                yield f"  :: d_step {{ crash == {cause + 1} -> assert(false) /* {name} */ }}"
        if self.judged.deadlock:
            final = [] if self.judged.final is None else [text.of(self.judged.final)]
            some = " || ".join([*self.possible, *final]) or "false"
            yield f"  :: d_step {{ {self._alive(f'!({some})', False)} -> assert(false) /* {DEADLOCK} */ }}"

    def _meaning(self, action: Action, *, initial: bool) -> str:
        declared = self.program.system.initial if initial else self.program.system.actions
        function = next((a.function for a in declared if a.name == action.name), None)
        return " ".join((getattr(function, "__doc__", None) or action.name).split())


def _expanded(lines: Sequence[str], inlines: Mapping[str, Sequence[str]]) -> int:
    total = 0
    for line in lines:
        name = line.strip().removesuffix("();")
        total += _expanded(inlines[name], inlines) if name in inlines else 1
    return total


def _reachable(program: Program, choices: Sequence[int]) -> list[int]:
    """The functions that steps can call under these choices."""
    found: dict[int, None] = {}

    def look(e: Expr) -> None:
        for x in expressions_of(e):
            if isinstance(x, Call | Decide):
                number = x.function if isinstance(x, Call) else x.functions[choices[x.point]]
                if number not in found:
                    found[number] = None
                    for s in statements_of(program.functions[number].body):
                        for inner in expressions_of(s):
                            look(inner)

    for action in (*program.initial, *program.actions):
        for conjunct in action.guard:
            look(conjunct.condition)
        for s in statements_of(action.effect):
            for e in expressions_of(s):
                look(e)
    return list(found)


def _names(action: Action) -> list[str]:
    return [p.name for p in action.parameters]


def _combinations(action: Action) -> Iterator[Arguments]:
    """Every combination of arguments, the first parameter varying slowest."""
    ranges = []
    for p in action.parameters:
        low = p.type.low
        ranges.append(range(low, low + p.type.size))
    return itertools.product(*ranges)


def _values(column: Column) -> list[int]:
    """The numbers that a column's cells start with."""
    low = column.type.low
    return [code + low for code in column.initial]


def _comment(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")
