"""The interpreter: a system's own Python functions, run on state objects, one step at a time.

It is the meaning of the language that the other engines are compared with, and what every trace is
replayed in before it is reported. A breakpoint in an action stops here.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from slotproof.model.language import ir
from slotproof.model.language.bind import Binding
from slotproof.model.language.columns import Valuation, decode, encode
from slotproof.model.language.errors import Crash, ModelError, NotEnabled, users_line
from slotproof.model.language.link import Linker
from slotproof.model.language.operands import from_code, to_code
from slotproof.model.language.program import Program
from slotproof.model.language.source import Source, parts_of
from slotproof.model.language.surface import Action, Property
from slotproof.model.language.walk import expressions_of

MOST_READ = 256
"""State objects that are kept while properties and fairness are judged: of a lasso the same ones again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step leads to: the state with its outputs, and the cause if it crashed."""

    state: Valuation
    crash: str | None


class Interpreter:
    """Runs a program's source with one alternative chosen at each decision point.

    Arguments of actions are numbers as the IR has them, in the order of the parameters.
    """

    def __init__(self, program: Program, choices: Sequence[int]) -> None:
        self.program = program
        system = program.system
        self.binding = Binding(system.name, system.parameters)
        points = {p.name: p.alternatives[c] for p, c in zip(program.decisions, choices, strict=True)}
        chosen = {}
        for d in system.decisions:
            name = points.get(d.point.name)
            chosen[d.point] = next((f for f in d.functions if f.__name__ == name), d.functions[0])
        self.linker = Linker(self.binding, chosen)
        by_name = {a.name: a for a in (*system.actions, *system.initial)}
        self._actions = [by_name[a.name] for a in program.actions]
        self._initial = [by_name[a.name] for a in program.initial]
        self._outputs = [
            (c.offset, c.offset + c.cells, c.initial) for c in program.columns if c.output and c.cells
        ]
        self._conjuncts: dict[int, list[Callable[..., bool]]] = {}
        self._read: dict[Valuation, Any] = {}
        self._judged: dict[str, list[Callable[..., bool]]] = {}
        self._where = [system.fairness[f.declared].where for f in program.fairness]

    # -- values --------------------------------------------------------------------------------------

    def arguments(self, action: ir.Action, numbers: Sequence[int]) -> dict[str, Any]:
        """The values of an action's parameters by name."""
        return {
            p.name: p.type.decode(to_code(p.type, n)) for p, n in zip(action.parameters, numbers, strict=True)
        }

    def numbers(self, action: ir.Action, values: dict[str, Any]) -> tuple[int, ...]:
        """The numbers of an action's arguments, of their values."""
        return tuple(from_code(p.type, p.type.encode(values[p.name])) for p in action.parameters)

    def all_arguments(self, action: ir.Action) -> Iterator[tuple[int, ...]]:
        """Every combination of arguments, the first parameter varying slowest."""
        yield from itertools.product(
            *([from_code(p.type, c) for c in range(p.type.size)] for p in action.parameters)
        )

    def fresh(self, state: Valuation) -> Valuation:
        """The state with every output at its initial value."""
        cells = list(state)
        for start, end, initial in self._outputs:
            cells[start:end] = initial
        return tuple(cells)

    def stored(self, state: Valuation) -> Valuation:
        """What identifies a state: its valuation with outputs at their initial values."""
        return self.fresh(state)

    def object(self, state: Valuation) -> Any:
        """The state object of a valuation."""
        return decode(self.program.state, state)

    def _to_read(self, state: Valuation) -> Any:
        """The state object of a valuation with outputs as before a step, for functions that write nothing."""
        if state not in self._read:
            if len(self._read) >= MOST_READ:
                self._read.clear()
            self._read[state] = self.object(self.fresh(state))
        return self._read[state]

    # -- steps ---------------------------------------------------------------------------------------

    def initial(self) -> list[tuple[int | None, tuple[int, ...], Valuation]]:
        """The initial states, with the initial action and arguments that make each."""
        if not self.program.initial:
            return [(None, (), self.program.start)]
        found: list[tuple[int | None, tuple[int, ...], Valuation]] = []
        for number, action in enumerate(self.program.initial):
            for numbers in self.all_arguments(action):
                try:
                    outcome = self._run(self._initial[number], action, self.program.start, numbers)
                except NotEnabled:
                    continue
                found.append((number, numbers, outcome.state))
        return found

    def start(self, number: int, numbers: Sequence[int]) -> Valuation:
        """The initial state that an initial action makes; ``NotEnabled`` if its guard is false."""
        return self._run(
            self._initial[number], self.program.initial[number], self.program.start, numbers
        ).state

    def step(self, state: Valuation, number: int, numbers: Sequence[int]) -> Outcome:
        """Take a step; ``NotEnabled`` if its guard is false, ``ModelError`` if it leaves the model."""
        return self._run(self._actions[number], self.program.actions[number], self.fresh(state), numbers)

    def _run(
        self, declared: Action[Any], action: ir.Action, state: Valuation, numbers: Sequence[int]
    ) -> Outcome:
        subject = self.object(state)
        function = self.linker.function(declared.function)
        crash = None
        with model_errors():
            try:
                function(subject, **self.arguments(action, numbers))
            except Crash as e:
                crash = e.cause
        return Outcome(encode(self.program.state, subject), crash)

    def successors(self, state: Valuation) -> Iterator[tuple[int, tuple[int, ...], Outcome]]:
        """Every enabled step in order of declaration: action, arguments, outcome."""
        for number, action in enumerate(self.program.actions):
            for numbers in self.all_arguments(action):
                try:
                    yield number, numbers, self.step(state, number, numbers)
                except NotEnabled:
                    continue

    def blocked(self, state: Valuation, number: int, numbers: Sequence[int]) -> list[ir.Conjunct]:
        """The conjuncts of an action's guard that are false; those after an error are left out."""
        subject = self.object(self.fresh(state))
        action = self.program.actions[number]
        arguments = self.arguments(action, numbers)
        false = []
        for conjunct, test in zip(action.guard, self._guard(number), strict=True):
            try:
                with model_errors():
                    if not test(subject, **arguments):
                        false.append(conjunct)
            except ModelError:
                if not false:
                    raise
                break
        return false

    def possible(self, state: Valuation, number: int) -> list[tuple[int, ...]]:
        """The arguments with which an action is enabled."""
        subject = self._to_read(state)
        action = self.program.actions[number]
        names = {p.name for p in action.parameters}
        for_all: list[Callable[..., bool]] = []
        for_each: list[Callable[..., bool]] = []
        for conjunct, test in zip(action.guard, self._guard(number), strict=True):
            read = {e.name for e in expressions_of(conjunct.condition) if isinstance(e, ir.Local)}
            (for_each if read & names else for_all).append(test)
        found: list[tuple[int, ...]] = []
        with model_errors():
            for numbers in self.all_arguments(action):
                arguments = self.arguments(action, numbers)
                if for_all and not all(test(subject, **arguments) for test in for_all):
                    return []
                for_all = []  # true of all the others, too
                if all(test(subject, **arguments) for test in for_each):
                    found.append(numbers)
        return found

    def _guard(self, number: int) -> list[Callable[..., bool]]:
        if number not in self._conjuncts:
            function = self._actions[number].function
            conditions: list[ast.expr] = []
            for statement in Source(function).numbered().body:
                guarding = len(conditions) < len(self.program.actions[number].guard)
                if guarding and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                    conditions.extend(p for argument in statement.value.args for p in parts_of(argument))
            self._conjuncts[number] = self._parts(function, [], conditions)
        return self._conjuncts[number]

    def _parts(
        self, function: Callable[..., Any], setup: list[ast.stmt], conditions: Sequence[ast.expr]
    ) -> list[Callable[..., bool]]:
        """One function for each part of a condition, in the scope of the function that it is part of."""
        parts = []
        for condition in conditions:
            part = Source(function).numbered()
            part.name = "part"
            returned = ast.copy_location(ast.Return(condition), condition)
            part.body = copy.deepcopy([*setup, returned])
            parts.append(self.linker.part(part, function))
        return parts

    def walk(
        self, start: tuple[int | None, Sequence[int]], path: Sequence[tuple[int, Sequence[int]]]
    ) -> tuple[list[Valuation], str | None]:
        """The states along a path, the initial one first, and the crash that ends it if there is one.

        ``start`` is the initial action (``None`` where the system has none) with its arguments.
        ``NotEnabled`` if a step's guard is false.
        """
        number, numbers = start
        states = [self.program.start if number is None else self.start(number, numbers)]
        crash = None
        for action, arguments in path:
            outcome = self.step(states[-1], action, arguments)
            states.append(outcome.state)
            crash = outcome.crash
        return states, crash

    # -- judgements ----------------------------------------------------------------------------------

    def holds(
        self, property: int, before: Valuation | None, numbers: Sequence[int], after: Valuation
    ) -> list[bool]:
        """Whether each conjunct of a property holds: of the state ``after``, or of the step to it.

        Where a conjunct is false, one after it that fails counts as true: Python would not evaluate it.
        """
        compiled = self.program.properties[property]
        declared = next(p for p in self.program.system.properties if p.name == compiled.name)
        subject: list[Any] = [
            self.object(self.fresh(after)) if compiled.over == "state" else self.object(after)
        ]
        arguments: list[Any] = []
        if compiled.over == "step":
            assert before is not None
            subject.insert(0, self.object(self.fresh(before)))
            arguments = [
                p.type.decode(to_code(p.type, n)) for p, n in zip(compiled.parameters, numbers, strict=False)
            ]
        if len(compiled.conjuncts) == 1:
            with model_errors():
                return [bool(self.linker.function(declared.function)(*subject, *arguments))]
        results: list[bool] = []
        for test in self._judged_parts(declared):
            try:
                with model_errors():
                    results.append(bool(test(*subject, *arguments)))
            except ModelError:
                if all(results):
                    raise
                results.append(True)
        return results

    def _judged_parts(self, declared: Property) -> list[Callable[..., bool]]:
        """The conjuncts of a property, or the premise and the goal of one of progress, linked once."""
        if declared.name not in self._judged:
            *setup, last = Source(declared.function).numbered().body
            assert isinstance(last, ast.Return)
            assert last.value is not None
            parts = list(parts_of(last.value))
            if declared.over == "run":
                assert isinstance(last.value, ast.Call)
                parts = last.value.args
            self._judged[declared.name] = self._parts(declared.function, setup, parts)
        return self._judged[declared.name]

    def pending(self, progress: int, values: Sequence[int], state: Valuation) -> tuple[bool, bool]:
        """Whether a state meets the premise of a progress property, and whether it meets the goal."""
        compiled = self.program.progress[progress]
        declared = next(p for p in self.program.system.properties if p.name == compiled.name)
        arguments = decoded(compiled.parameters, values)
        with model_errors():
            premise, goal = (
                bool(part(self._to_read(state), **arguments)) for part in self._judged_parts(declared)
            )
        return premise, goal

    def fair(
        self, sets: int, values: Sequence[int], state: Valuation, action: int, numbers: Sequence[int]
    ) -> bool:
        """Whether a step from a state is in the fair set of these values, of the sets of that number."""
        compiled = self.program.fairness[sets]
        if action not in compiled.actions:
            return False
        given = self.arguments(self.program.actions[action], numbers)
        own = decoded(compiled.instances, values)
        if any(given[name] != own.pop(f"each {name}") for name in compiled.each):
            return False
        where = self._where[sets]
        if where is None:
            return True
        where = self.linker.function(where)
        wanted = where.__code__.co_varnames[1 : where.__code__.co_argcount]
        with model_errors():
            return bool(where(self._to_read(state), **{n: {**given, **own}[n] for n in wanted}))

    def witnessed(self, witness: int, state: Valuation) -> bool:
        """Whether a state is the one that a witness describes."""
        name = self.program.witnesses[witness].name
        declared = next(w for w in self.program.system.witnesses if w.name == name)
        with model_errors():
            return bool(self.linker.function(declared.function)(self.object(self.fresh(state))))

    def final(self, state: Valuation) -> bool:
        """Whether the system may stop in a state."""
        final = self.program.system.final
        with model_errors():
            return final is not None and bool(self.linker.function(final)(self.object(self.fresh(state))))


def decoded(parameters: Sequence[ir.Local], numbers: Sequence[int]) -> dict[str, Any]:
    """The values of parameters by name."""
    return {p.name: p.type.decode(to_code(p.type, n)) for p, n in zip(parameters, numbers, strict=True)}


class model_errors:
    """Gives a model error the user's line, and makes one of what Python raises for empty choices."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, NotEnabled | Crash):
            return
        if isinstance(error, ModelError):
            if error.site is None:
                raise ModelError(error.message, users_line(trace)) from None
            return
        if isinstance(error, StopIteration) or (isinstance(error, ValueError) and "empty" in str(error)):
            raise ModelError("the least, greatest or first of nothing is taken", users_line(trace)) from None
        if isinstance(error, TypeError | AttributeError) and "None" in str(error):
            raise ModelError("an empty optional is read", users_line(trace)) from None
