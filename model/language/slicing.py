"""Only what matters: a program without the state and the actions that cannot influence what is asked.

    part = sliced(program, ["no-slot-leak"])

The cone of influence: state variables that the asked properties, their premises and the witnesses read,
then whatever the steps that write those read to decide whether and what they write, and so on. What is
left keeps its numbers. Actions outside the cone become actions that no state enables; writes outside it
vanish, and with them the room of their variables. A crash ends a run and is always inside;
``deadlock`` and properties of every step keep the guard of every action.

Every step of the part is a step of the whole, with the same values of all that was kept; a step of the
whole that is none of the part changes none of them. A model error outside the cone is not met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slotproof.model.language.errors import Site
from slotproof.model.language.ir import (
    Action,
    Assign,
    Block,
    Break,
    Call,
    Conjunct,
    Const,
    Continue,
    Decide,
    Die,
    Do,
    Expr,
    Fail,
    For,
    If,
    Local,
    Property,
    Read,
    Statement,
    Write,
    subexpressions,
)
from slotproof.model.language.program import DEADLOCK, Program
from slotproof.model.language.types import BoolType
from slotproof.model.language.walk import expressions_of, statements_of


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a program; ``columns`` and ``actions`` are the names of what was left out."""

    program: Program
    kept: frozenset[int]
    """The numbers of the columns that have their values."""
    columns: tuple[str, ...]
    actions: tuple[str, ...]


def sliced(program: Program, asked: Sequence[str]) -> Slice:
    """The part of a program that properties of these names depend on, ``deadlock`` and crashes included."""
    return _Cone(program, frozenset(asked)).slice()


def columns_read(program: Program, choices: Sequence[int], judged: Property) -> frozenset[int]:
    """The numbers of the columns that a property reads, itself or through functions that it calls."""
    bodies = {i: f.body for i, f in enumerate(program.functions)}
    asked = [*_expressions(judged.setup), *(c.condition for c in judged.conjuncts)]
    return frozenset(_read(asked, bodies, choices))


class _Cone:
    def __init__(self, program: Program, asked: frozenset[str]) -> None:
        self.program = program
        self.asked = asked
        self.columns: set[int] = set()
        self.bodies: dict[int, Block] = {i: f.body for i, f in enumerate(program.functions)}
        """The functions' bodies as they are sliced now."""
        asks_all = DEADLOCK in asked or any(
            p.name in asked and p.over == "step" and p.actions is None for p in program.properties
        )
        self.judged = set(range(len(program.actions))) if asks_all else set()
        for p in program.properties:
            if p.name in asked:
                self.judged.update(p.actions or ())

    def slice(self) -> Slice:
        """Grow the cone until nothing more gets into it, then leave out the rest."""
        program = self.program
        self._take(self._asked())
        while True:
            before = len(self.columns)
            self._functions()
            effects = [self._block(a.effect) for a in program.actions]
            inside = [i in self.judged or self._does(effect) for i, effect in enumerate(effects)]
            for action, effect, relevant in zip(program.actions, effects, inside, strict=True):
                if relevant:
                    self._take(c.condition for c in action.guard)
                    self._take(_expressions(effect))
            starts = [self._block(a.effect) for a in program.initial]
            for action, effect in zip(program.initial, starts, strict=True):
                self._take(c.condition for c in action.guard)
                self._take(_expressions(effect))
            if len(self.columns) == before:
                break
        actions = tuple(
            replace(a, effect=effect) if relevant else _never(a)
            for a, effect, relevant in zip(program.actions, effects, inside, strict=True)
        )
        part = replace(
            program,
            functions=tuple(replace(f, body=self.bodies[i]) for i, f in enumerate(program.functions)),
            actions=actions,
            initial=tuple(replace(a, effect=e) for a, e in zip(program.initial, starts, strict=True)),
            properties=tuple(p if p.name in self.asked else _silent(p) for p in program.properties),
        )
        written = {
            s.column for block in _blocks(program) for s in statements_of(block) if isinstance(s, Write)
        }
        return Slice(
            part,
            frozenset(self.columns),
            tuple(c.name for i, c in enumerate(program.columns) if i in written - self.columns),
            tuple(a.name for a, relevant in zip(program.actions, inside, strict=True) if not relevant),
        )

    def _asked(self) -> Iterator[Expr]:
        program = self.program
        for p in program.properties:
            if p.name in self.asked:
                yield from _expressions(p.setup)
                yield from (c.condition for c in p.conjuncts)
        for w in program.witnesses:
            yield from _expressions(w.setup)
            yield w.condition
        if DEADLOCK in self.asked and program.final is not None:
            yield program.final

    def _take(self, expressions: Iterator[Expr] | Sequence[Expr]) -> None:
        """Let everything that expressions read into the cone, through the functions that they call."""
        self.columns |= _read(expressions, self.bodies)

    def _functions(self) -> None:
        """Slice every function's body; again as long as that makes a call do nothing any more."""
        self.bodies = {i: f.body for i, f in enumerate(self.program.functions)}
        while True:
            before = self.bodies
            self.bodies = {i: self._block(f.body) for i, f in enumerate(self.program.functions)}
            if self.bodies == before:
                return

    def _does(self, block: Block) -> bool:
        """Whether a block writes something of the cone or may crash, itself or by a call."""
        return any(isinstance(s, Write | Die) or self._calls(s) for s in statements_of(block))

    def _calls(self, s: Statement) -> bool:
        """Whether an expression of a statement itself calls a function that does something."""
        return any(
            self._does(self.bodies[n]) for x in expressions_of(s) for e in _parts(x) for n in _callees(e)
        )

    def _block(self, block: Block) -> Block:
        """What is left of a block; locals that nothing left reads are not computed."""
        needed: set[str] = set()
        while True:
            left = tuple(t for s in block if (t := self._statement(s, needed)) is not None)
            read = {e.name for x in _expressions(left) for e in _parts(x) if isinstance(e, Local)}
            if read <= needed:
                return left
            needed |= read

    def _statement(self, s: Statement, needed: set[str]) -> Statement | None:
        match s:
            case Write():
                return s if s.column in self.columns or self._calls(s) else None
            case Assign():
                return s if s.local.name in needed or self._calls(s) else None
            case Do():
                return s if self._calls(s) else None
            case If():
                then, otherwise = self._inner(s.then, needed), self._inner(s.otherwise, needed)
                idle = all(isinstance(t, Fail) for t in (*then, *otherwise)) and not self._guards(s, needed)
                return None if idle and not self._calls(s) else replace(s, then=then, otherwise=otherwise)
            case For():
                body = self._inner(s.body, needed)
                idle = all(isinstance(t, Continue | Break) for t in body)
                return None if idle and not self._calls(s) else replace(s, body=body)
            case _:
                return s

    def _inner(self, block: Block, needed: set[str]) -> Block:
        return tuple(t for s in block if (t := self._statement(s, needed)) is not None)

    def _guards(self, s: If, needed: set[str]) -> bool:
        """Whether a test for a model error is about something that is kept."""
        parts = list(_parts(s.condition))
        return any(
            (isinstance(e, Read) and e.column in self.columns) or (isinstance(e, Local) and e.name in needed)
            for e in parts
        )


def _blocks(program: Program) -> Iterator[Block]:
    for action in (*program.initial, *program.actions):
        yield action.effect
    for function in program.functions:
        yield function.body


def _expressions(block: Block) -> list[Expr]:
    """Every expression that a block's statements evaluate, nested statements included."""
    return [e for s in statements_of(block) for e in expressions_of(s)]


def _parts(expression: Expr) -> Iterator[Expr]:
    yield expression
    for inner in subexpressions(expression):
        yield from _parts(inner)


def _read(
    expressions: Iterable[Expr], bodies: Mapping[int, Block], choices: Sequence[int] | None = None
) -> set[int]:
    """The columns that expressions read, through functions with these bodies; with ``choices`` those alone
    that are chosen."""
    found: set[int] = set()
    called: set[int] = set()
    waiting = list(expressions)
    while waiting:
        for e in _parts(waiting.pop()):
            if isinstance(e, Read):
                found.add(e.column)
            callees = _callees(e)
            if choices is not None and isinstance(e, Decide):
                callees = (e.functions[choices[e.point]],)
            for number in callees:
                if number not in called:
                    called.add(number)
                    waiting += _expressions(bodies[number])
    return found


def _callees(expression: Expr) -> tuple[int, ...]:
    match expression:
        case Call():
            return (expression.function,)
        case Decide():
            return expression.functions
        case _:
            return ()


NEVER = Conjunct(Const(BoolType(), 0), Site("", 0, text="False"))


def _never(action: Action) -> Action:
    """The action with a guard that is never true."""
    return replace(action, guard=(NEVER,), effect=())


def _silent(property_: Property) -> Property:
    """The property with nothing left to say."""
    return replace(property_, actions=(), setup=(), conjuncts=())
