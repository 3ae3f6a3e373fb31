"""The transition relation of a program, as Boolean terms over named variables.

Bounded search, induction and PDR all work on this one object. A state is a number of Boolean
variables (``Cell``): there is a set of them for the state before a step, one for the state after it,
and *inputs* that say which action runs with which arguments. Outputs stand among the cells after a
step alone: before it they have their initial values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal as Word

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Literal
from slotproof.checker.symbolic.execution import Execution, Part, Result, column_cells, initial_cells
from slotproof.checker.symbolic.paths import Cells, Stop
from slotproof.checker.symbolic.values import Value, Values, are_alike, constant, frozen, kind
from slotproof.model.language import ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.program import DEADLOCK, Program, no_crash
from slotproof.model.language.slicing import columns_read
from slotproof.model.language.types import BoolType, OptionalType, ScalarType, SetType, bits
from slotproof.model.language.walk import statements_of

Encoding = Word["one-hot", "binary"]

ONE_HOT_UP_TO = 16
"""Numbers of more values are in binary, whatever the encoding: one variable a value would be many."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The variables of one cell of a state: one of a bool, several of a number or a set.

    A cell that cannot change has none; ``fixed`` is then its code.
    """

    type: ScalarType
    encoding: Encoding
    variables: tuple[Literal, ...]
    value: Value
    fixed: int = 0

    def terms(self, booleans: Booleans, value: Value) -> tuple[Literal, ...]:
        """What each variable has to be for the cell to hold a value."""
        if not self.variables:
            return ()
        if isinstance(value, tuple):
            return value
        if isinstance(value, int):
            return (value,)
        start = self.type.low
        if self.type.size == 2:
            return (value.get(start + 1, FALSE),)
        if self.encoding == "one-hot":
            return tuple(value.get(start + code, FALSE) for code in range(self.type.size))
        return tuple(
            booleans.any([x for v, x in value.items() if (v - start) >> i & 1])
            for i in range(len(self.variables))
        )

    def code(self, true: Callable[[Literal], bool]) -> int:
        """The code that the cell holds when these of its variables are true."""
        if not self.variables:
            return self.fixed
        found = [true(x) for x in self.variables]
        match self.type:
            case SetType() | BoolType():
                return sum(1 << i for i, x in enumerate(found) if x)
            case OptionalType(SetType()):
                return 1 + sum(1 << i for i, x in enumerate(found[1:]) if x) if found[0] else 0
            case _ if self.encoding == "one-hot" and self.type.size > 2:
                return found.index(True)
            case _:
                return sum(1 << i for i, x in enumerate(found) if x)

    def valid(self, booleans: Booleans) -> Literal:
        """That the variables stand for some value at all."""
        if not self.variables:
            return TRUE
        match self.type:
            case SetType() | BoolType():
                return TRUE
            case OptionalType(SetType()):
                return booleans.disj(self.variables[0], booleans.all([x ^ 1 for x in self.variables[1:]]))
            case _ if self.type.size <= 2:
                return TRUE
            case _ if self.encoding == "one-hot":
                return booleans.exactly_one(self.variables)
            case _:
                assert isinstance(self.value, Mapping)
                return booleans.any(self.value.values())


@dataclass(frozen=True, slots=True)
class Move:
    """An action with its arguments as inputs; see ``execution.Result``. ``chosen`` says that it runs."""

    number: int
    action: ir.Action
    chosen: Literal
    arguments: tuple[Cell, ...]
    result: Result


@dataclass(frozen=True, slots=True)
class Bad:
    """One way in which a property fails, over the inputs and the cells before and after a step.

    ``over`` a state it is a term over ``next_state`` alone, and not asked of the state that a crash
    leaves. ``part`` counts the property's conjuncts, or the causes of crashes. ``literal`` has no
    meaning where ``error`` holds: a model error while the property is evaluated.
    """

    property: str
    over: Word["state", "step"]
    part: int
    literal: Literal
    error: Literal


@dataclass(frozen=True, slots=True)
class Seen:
    """The cells that a property reads, and what it says of values that they had."""

    cells: Sequence[int]
    answers: dict[tuple[Hashable, ...], Literal] = field(default_factory=dict)


class Relation:
    """The relation of ``program`` with the alternatives ``choices``.

    ``state`` are the cells before a step, ``next_state`` those after it, in the order of a valuation.
    Cells that no action writes have no variables, nor do outputs before a step.
    ``next_state`` is constrained to equal ``init_state`` by the initial actions, or ``after`` by ``moves``.
    Whoever asserts that asserts ``valid(moves)`` too, and asks for ``error`` first: where it holds, the
    other terms say nothing.
    """

    def __init__(
        self, program: Program, choices: Sequence[int], encoding: Encoding, look: Callable[[], None]
    ) -> None:
        self.program = program
        self.choices = tuple(choices)
        self.encoding: Encoding = encoding
        self.booleans = Booleans(look)
        self.values = Values(self.booleans)
        self.stored = tuple(not c.output for c, _ in column_cells(program.columns))
        start = initial_cells(program.columns)
        constant = [n for n in range(len(program.columns)) if n not in _written(program)]
        fixed = {program.columns[n].offset + i for n in constant for i in range(program.columns[n].cells)}
        outputs = {at for at, stored in enumerate(self.stored) if not stored}
        self.state = self._cells("s", fixed | outputs)
        self.next_state = self._cells("n", fixed)
        self.start = start
        self._seen: dict[str, Seen] = {}
        self._slots: dict[tuple[str, int, int], Cell] = {}
        self._before: Cells = tuple(c.value for c in self.state)
        self._after: Cells = tuple(c.value for c in self.next_state)
        # A property of a state sees the state as it is stored.
        self._rested: Cells = self.stored_of(self._after)
        self.moves = self._moves(program.actions, self._before, "act")
        self.initial_moves = self._moves(program.initial, start, "init")
        self.size = len(self.booleans)
        """How many nodes it consists of: those are numbered alike wherever it is made."""

    # Variables

    def _cells(self, prefix: str, fixed: Collection[int]) -> tuple[Cell, ...]:
        """Cells of a state; those that are known to have their initial value get no variables."""
        cells = []
        for at, (column, place) in enumerate(column_cells(self.program.columns)):
            if at in fixed:
                code = column.initial[place]
                value = constant(column.type, code + column.type.low)
                cells.append(Cell(column.type, self.encoding, (), value, code))
            else:
                cells.append(self._cell(f"{prefix}.{column.name}.{place}", column.type))
        return tuple(cells)

    def _cell(self, name: str, type_: ScalarType) -> Cell:
        booleans = self.booleans
        encoding: Encoding = self.encoding if type_.size <= ONE_HOT_UP_TO else "binary"
        match kind(type_):
            case "bool":
                made: Literal = booleans.variable(name)
                return Cell(type_, encoding, (made,), made)
            case "set" | "optional set":
                item = type_.item if isinstance(type_, OptionalType) else type_
                assert isinstance(item, SetType)
                count = item.item.size + (item is not type_)
                bit = tuple(booleans.variable(f"{name}.{i}") for i in range(count))
                return Cell(type_, encoding, bit, bit)
        size, start = type_.size, type_.low
        if size == 1:
            return Cell(type_, encoding, (), {start: TRUE})
        if size == 2:
            made = booleans.variable(name)
            return Cell(type_, encoding, (made,), {start: made ^ 1, start + 1: made})
        if encoding == "one-hot":
            group = booleans.one_of([f"{name}={i}" for i in range(size)])
            return Cell(type_, encoding, group, {start + i: x for i, x in enumerate(group)})
        bit = tuple(booleans.variable(f"{name}.{i}") for i in range(bits(size)))
        cases = {
            start + n: booleans.all([x ^ (n >> i & 1 ^ 1) for i, x in enumerate(bit)]) for n in range(size)
        }
        return Cell(type_, encoding, bit, cases)

    def _moves(self, actions: Sequence[ir.Action], cells: Cells, prefix: str) -> tuple[Move, ...]:
        """Actions share the variables of their arguments: only one action runs in a step."""
        if len(actions) == 1:
            chosen: tuple[Literal, ...] = (TRUE,)
        else:
            chosen = self.booleans.one_of([f"{prefix}.{a.name}" for a in actions])
        arguments = [self._arguments(prefix, a) for a in actions]
        results: dict[int, Result] = {}
        for group, shared in _alike(actions):
            running = [(chosen[n], actions[n]) for n in group]
            made = self._execution(cells).together(running, [a.value for a in arguments[group[0]]], shared)
            results.update(zip(group, made or (), strict=made is not None))
        for number, action in enumerate(actions):
            if number not in results:
                values = [a.value for a in arguments[number]]
                results[number] = self._execution(cells).action(action, values)
        return tuple(Move(n, a, chosen[n], arguments[n], results[n]) for n, a in enumerate(actions))

    def _arguments(self, prefix: str, action: ir.Action) -> tuple[Cell, ...]:
        taken: dict[int, int] = {}
        arguments = []
        for parameter in action.parameters:
            size = parameter.type.size
            place = taken[size] = taken.get(size, -1) + 1
            arguments.append(self._argument(prefix, parameter.type, place))
        return tuple(arguments)

    def _argument(self, prefix: str, type_: ScalarType, place: int) -> Cell:
        key = (f"{prefix} {kind(type_)}", type_.size, place)
        shared = self._slots.get(key)
        if shared is None:
            word = "arg" if kind(type_) == "number" else kind(type_).replace(" ", "-")  # each has its name
            shared = self._slots[key] = self._cell(f"{prefix}.{word}{place}of{type_.size}", type_)
        if kind(type_) != "number" or shared.type.low == type_.low:
            return Cell(type_, shared.encoding, shared.variables, shared.value)
        cases = {v - shared.type.low + type_.low: x for v, x in self.values.number(shared.value).items()}
        return Cell(type_, shared.encoding, shared.variables, cases)

    def _execution(self, cells: Cells, roots: Mapping[ir.Root, Cells] | None = None) -> Execution:
        return Execution(self.values, self.program, self.choices, cells, roots)

    # The relation

    def valid(self, moves: Sequence[Move]) -> Literal:
        """That one of these is chosen, and that its inputs stand for arguments."""
        arguments = {a.variables: a for m in moves for a in m.arguments}
        parts = [a.valid(self.booleans) for a in arguments.values()]
        if len(moves) > 1:
            parts.append(self.booleans.exactly_one([m.chosen for m in moves]))
        return self.booleans.all(parts)

    def state_valid(self, cells: Sequence[Cell]) -> Literal:
        """That variables stand for values, for states that are not known to be reached by steps."""
        return self.booleans.all([c.valid(self.booleans) for c in cells])

    def equals(self, cells: Sequence[Cell], value: Cells, *, outputs: bool = True) -> Literal:
        """That cells hold these values."""
        parts: list[Literal] = []
        for cell, wanted, stored in zip(cells, value, self.stored, strict=True):
            if stored or outputs:
                terms = cell.terms(self.booleans, wanted)
                parts.extend(map(self.booleans.same, cell.variables, terms))
        return self.booleans.all(parts)

    def symbolic(self, valuation: Valuation) -> Cells:
        """A known state: the values of its codes, one for each cell."""
        cells = column_cells(self.program.columns)
        return tuple(
            constant(c.type, code + c.type.low) for (c, _), code in zip(cells, valuation, strict=True)
        )

    @cached_property
    def error(self) -> Literal:
        """That the step meets a model error, in a guard (of any action, enabled or not) or an effect."""
        return self._chosen(self.moves, lambda m: m.result.error)

    @cached_property
    def enabled(self) -> Literal:
        """That the chosen action can run with the chosen arguments."""
        return self._chosen(self.moves, lambda m: m.result.enabled)

    @cached_property
    def crash(self) -> Literal:
        """That the step ends in a crash: the state after it has no successors."""
        return self._chosen(self.moves, lambda m: self.booleans.any(m.result.crashes.values()))

    def crashes(self, cause: int) -> Literal:
        """That the step ends in a crash of this cause."""
        return self._chosen(self.moves, lambda m: m.result.crashes.get(cause, FALSE))

    @cached_property
    def after(self) -> Cells:
        """The state after the step, in terms of the state before it and the inputs."""
        return self._mux(self.moves, self._before)

    @cached_property
    def init_error(self) -> Literal:
        """That the chosen initial action meets a model error."""
        return self._chosen(self.initial_moves, lambda m: m.result.error)

    @cached_property
    def init_enabled(self) -> Literal:
        """That the chosen initial action can run."""
        return self._chosen(self.initial_moves, lambda m: m.result.enabled) if self.initial_moves else TRUE

    @cached_property
    def init_crash(self) -> Literal:
        """That the chosen initial action ends in a crash."""
        return self._chosen(self.initial_moves, lambda m: self.booleans.any(m.result.crashes.values()))

    @cached_property
    def init_state(self) -> Cells:
        """The initial state, in terms of the inputs."""
        return self._mux(self.initial_moves, self.start)

    def _chosen(self, moves: Sequence[Move], of: Callable[[Move], Literal]) -> Literal:
        return self.booleans.any([self.booleans.conj(m.chosen, of(m)) for m in moves])

    def _mux(self, moves: Sequence[Move], unchanged: Cells) -> Cells:
        """The cells after any of the moves; a cell that a move does not write costs nothing."""
        cells = []
        for at, old in enumerate(unchanged):
            writers = [m for m in moves if m.result.after[at] is not old and m.result.after[at] != old]
            if not writers:
                cells.append(old)
                continue
            others = self.booleans.all([m.chosen ^ 1 for m in writers])
            written: dict[int, tuple[list[Literal], Value]] = {}
            for m in writers:  # moves that were run together have the same object
                value = m.result.after[at]
                written.setdefault(id(value), ([], value))[0].append(m.chosen)
            choices = [(self.booleans.any(chosen), value) for chosen, value in written.values()]
            cells.append(self.values.select([*choices, (others, old)] if others != FALSE else choices))
        return tuple(cells)

    # What is asked about it

    def bads(self, name: str, *, before: bool = False) -> tuple[Bad, ...]:
        """The ways in which a property fails; ``KeyError`` if there is no such property.

        In terms of ``next_state`` as well; or, with ``before``, in terms of ``state`` and the inputs alone,
        a property of states then being asked of the state before the step.
        """
        cells = self._before if before else self._rested
        if name == DEADLOCK:
            return (self._deadlock(cells),)
        causes = [*map(no_crash, self.program.crashes)]
        if name in causes:
            cause = causes.index(name)
            return (Bad(name, "step", cause, self.crashes(cause), FALSE),)
        for found in self.program.properties:
            if found.name == name:
                return (
                    self._state_bads(found, cells)
                    if found.over == "state"
                    else self._step_bads(found, self.after if before else self._after)
                )
        raise KeyError(name)

    @property
    def before(self) -> Cells:
        """The values of the cells before a step."""
        return self._before

    def stored_of(self, cells: Cells) -> Cells:
        """A state as it is stored: outputs at their initial values."""
        return tuple(c if stored else s for stored, c, s in zip(self.stored, cells, self.start, strict=True))

    def holds_in(self, name: str, cells: Cells) -> Literal:
        """That a property of states is true in a state; where its evaluation fails it is not."""
        found = next((p for p in self.program.properties if (p.name, p.over) == (name, "state")), None)
        if found is None:
            raise KeyError(name)
        return self._true_in(found, cells, {})

    def holds_at(self, name: str, move: Move, stop: Stop) -> Literal:
        """That a property is true at a stop of an action: of the state that it would leave there, or of the
        step as far as it has come; TRUE where nothing is asked of that."""
        found = next((p for p in self.program.properties if p.name == name), None)
        if found is None or (found.actions is not None and move.number not in found.actions):
            return TRUE
        if found.over == "state":
            return self._true_in(found, self.stored_of(stop.cells), {})
        values = (a.value for a in move.arguments)
        names = [p.name for p in found.parameters]
        return self._true_in(found, stop.cells, dict(zip(names, values, strict=bool(names))))

    def on_the_way(self, stop: Stop) -> Iterator[tuple[str, Literal]]:
        """What is hoped to be true at a stop, with its name, as far as the variables are known there.

        A variable of that name whose values are of another kind is another one.
        """
        for hoped in self.program.on_the_way:
            arguments: dict[str, Value] = {}
            for p in hoped.parameters:
                if p.name in stop.locals:
                    value = self.values.convert(stop.locals[p.name], p.type)
                    if are_alike(value, constant(p.type, p.type.low)):
                        arguments[p.name] = value
            if len(arguments) == len(hoped.parameters):
                yield hoped.name, self._true_in(hoped, stop.cells, arguments)

    def _true_in(self, found: ir.Property, cells: Cells, arguments: Mapping[str, Value]) -> Literal:
        """That a property is true of cells, of a step from the state before if it is of steps.

        It is looked at again only where something is different that it reads.
        """
        seen = self._seen.get(found.name)
        if seen is None:
            columns = [
                self.program.columns[n] for n in sorted(columns_read(self.program, self.choices, found))
            ]
            at = [i for c in columns for i in range(c.offset, c.offset + c.cells)]
            seen = self._seen[found.name] = Seen(at)
        key = (*(frozen(cells[i]) for i in seen.cells), *map(frozen, arguments.values()))
        if key not in seen.answers:
            conditions = [c.condition for c in found.conjuncts]
            roots: Mapping[ir.Root, Cells] = {"before": self._before, "after": cells}
            parts = self._execution(cells, roots).conjuncts(found.setup, conditions, arguments)
            wrong = [x for part in parts for x in (part.violated, part.error)]
            seen.answers[key] = self.booleans.any(wrong) ^ 1
        return seen.answers[key]

    def _state_bads(self, found: ir.Property, cells: Cells) -> tuple[Bad, ...]:
        conditions = [c.condition for c in found.conjuncts]
        parts = self._execution(cells).conjuncts(found.setup, conditions, {})
        return tuple(Bad(found.name, "state", i, p.violated, p.error) for i, p in enumerate(parts))

    def _step_bads(self, found: ir.Property, after: Cells) -> tuple[Bad, ...]:
        conditions = [c.condition for c in found.conjuncts]
        roots: Mapping[ir.Root, Cells] = {"before": self._before, "after": after}

        def parts(arguments: Mapping[str, Value]) -> list[Part]:
            return self._execution(after, roots).conjuncts(found.setup, conditions, arguments)

        if found.actions is None:
            return tuple(Bad(found.name, "step", i, p.violated, p.error) for i, p in enumerate(parts({})))
        every = []
        for number in found.actions:
            move = self.moves[number]
            names = [p.name for p in found.parameters]
            arguments = dict(zip(names, (a.value for a in move.arguments), strict=bool(names)))
            every.append((move.chosen, parts(arguments)))
        conj, any_ = self.booleans.conj, self.booleans.any
        return tuple(
            Bad(
                found.name,
                "step",
                i,
                any_([conj(chosen, p[i].violated) for chosen, p in every]),
                any_([conj(chosen, p[i].error) for chosen, p in every]),
            )
            for i in range(len(conditions))
        )

    def _deadlock(self, cells: Cells) -> Bad:
        """No action is enabled for any argument, and the state is not final."""
        enabled, error = self.any_enabled(cells)
        final = FALSE
        if self.program.final is not None:
            (part,) = self._execution(cells).conjuncts((), [self.program.final], {})
            final = part.violated ^ 1
            error = self.booleans.disj(error, self.booleans.conj(enabled ^ 1, part.error))
        return Bad(DEADLOCK, "state", 0, self.booleans.conj(enabled ^ 1, final ^ 1), error)

    def any_enabled(self, cells: Cells) -> tuple[Literal, Literal]:
        """That some action can run in a state; and that some guard meets a model error there."""
        enabled, errors = [], []
        for action in self.program.actions:
            guard = ir.Action(action.name, action.parameters, action.guard, ())
            for numbers in product(*(range(p.type.size) for p in action.parameters)):
                arguments = [
                    constant(p.type, n + p.type.low) for p, n in zip(action.parameters, numbers, strict=True)
                ]
                result = self._execution(cells).action(guard, arguments)
                enabled.append(result.enabled)
                errors.append(result.error)
        return self.booleans.any(enabled), self.booleans.any(errors)


def relation(
    program: Program,
    choices: Sequence[int],
    encoding: Encoding = "one-hot",
    look: Callable[[], None] = lambda: None,
) -> Relation:
    """The transition relation of a program with these alternatives.

    Over large domains that is seconds of work: ``look`` is called now and then and ends it by raising.
    """
    return Relation(program, choices, encoding, look)


def _written(program: Program) -> set[int]:
    """The columns that some action or helper writes."""
    blocks = [x.effect for x in (*program.initial, *program.actions)] + [f.body for f in program.functions]
    return {s.column for block in blocks for s in statements_of(block) if isinstance(s, ir.Write)}


def _alike(actions: Sequence[ir.Action]) -> Iterator[tuple[list[int], int]]:
    """Actions of the same parameters whose effects end alike, and how many statements they share."""
    groups: dict[tuple[ir.Local, ...], dict[ir.Statement, list[int]]] = {}
    for number, action in enumerate(actions):
        if action.effect and isinstance(action.effect[-1], ir.If | ir.For | ir.Do):
            groups.setdefault(action.parameters, {}).setdefault(action.effect[-1], []).append(number)
    for alike in groups.values():
        for numbers in alike.values():
            if len(numbers) > 1:
                effects = [actions[n].effect[::-1] for n in numbers]
                same = [all(s == group[0] for s in group) for group in zip(*effects, strict=False)]
                yield numbers, (*same, False).index(False)
