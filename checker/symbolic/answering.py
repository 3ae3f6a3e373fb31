"""CaDiCaL's answers to the questions of a certificate: a fresh solver for each scope.

What a scope asserts is true for all its questions. What follows from that at sight is used before the solver
sees anything: that one action runs makes the terms of all the others fall out. The rest is given to it as far
as a question rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slotproof.checker.symbolic.booleans import Choice, Conjunction, Literal, Variable, operands
from slotproof.checker.symbolic.cadical import Cadical
from slotproof.checker.symbolic.reading import Asked, Gates, Scope, Script
from slotproof.checker.symbolic.solving import Budget

YES = 1
"""What the solver calls the constant true."""


def in_cadical(script: Script, budget: Budget) -> Iterator[str]:
    """``sat`` or ``unsat`` to each question, in order; ``Stopped`` when the budget ends it."""
    for scope in script.scopes:
        yield from answers(script.gates, scope, budget)


def answers(gates: Gates, scope: Scope, budget: Budget) -> Iterator[str]:
    """The same for one scope."""
    solver = _Solver(gates, budget)
    for item in scope.items:
        if isinstance(item, Asked):
            yield "sat" if solver.possible(item.wanted) else "unsat"
        else:
            solver.add(item)


class _Solver:
    """Knows the values of gates that follow from what has been asserted, and the others as clauses."""

    def __init__(self, gates: Gates, budget: Budget) -> None:
        self._gates = gates
        self._solver = Cadical(budget)
        self._solver.add(YES)
        self._count = YES
        self._value: dict[int, bool] = {0: True}
        self._unknown: set[int] = set()  # gates whose operands do not tell their values
        self._number: dict[int, int] = {}
        self._contradiction = False

    # What is known

    def add(self, literal: Literal) -> None:
        """A term is true from now on."""
        open_: list[int] = []  # gates whose value is known, and not yet what it says of their operands
        todo = [literal]
        while todo:
            while todo:
                x = todo.pop()
                place, value = x >> 1, not x & 1
                known = self._value.get(place)
                if known is not None:
                    self._contradiction |= known != value
                    continue
                self._value[place] = value
                if place in self._number:
                    number = self._number[place]
                    self._solver.add(number if value else -number)
                match self._gates.nodes[place]:
                    case Conjunction(parts) if value:
                        todo.extend(parts)
                    case Variable():
                        self._unknown.clear()  # there may be more to tell now
                    case _:
                        open_.append(place)
            if self._contradiction:
                return
            open_ = [place for place in open_ if not self._passed_on(place, todo)]
        for place in open_:
            self._state(place)

    def _passed_on(self, place: int, todo: list[Literal]) -> bool:
        """Whether what the value of a gate says is said, in ``todo``, of operands alone."""
        value = self._value[place]
        match self._gates.nodes[place]:
            case Conjunction(parts):  # it is false
                left = []
                for x in parts:
                    known = self._of(x)
                    if known is False:
                        return True
                    if known is None:
                        left.append(x)
                if len(left) > 1:
                    return False
                if left:
                    todo.append(left[0] ^ 1)
                else:
                    self._contradiction = True
                return True
            case Choice(condition, then, otherwise):
                known = self._of(condition)
                if known is None:
                    return False
                todo.append((then if known else otherwise) ^ (not value))
                return True
        return True

    def _of(self, literal: Literal) -> bool | None:
        known = self._value.get(literal >> 1)
        return None if known is None else known ^ bool(literal & 1)

    def _state(self, place: int) -> None:
        """Clauses for what the value of a gate says of its operands."""
        match self._gates.nodes[place]:
            case Conjunction(parts):
                self._solver.add(*(-n for n in self._named(parts)))
            case Choice(condition, then, otherwise):
                sign = 1 if self._value[place] else -1
                test, yes, no = self._named((condition, then, otherwise))
                self._solver.add(-test, sign * yes)
                self._solver.add(test, sign * no)

    # Questions

    def possible(self, wanted: Sequence[Literal]) -> bool:
        """Whether these terms can be true at once."""
        if self._contradiction:
            return False
        return bool(self._solver.possible(self._named(wanted)))

    def _named(self, literals: Sequence[Literal]) -> list[int]:
        """What the solver calls terms; they are given to it, as far as their values are not known."""
        self._evaluate(literals)
        for literal in literals:
            self._give(literal >> 1)
        return [self._name(literal) for literal in literals]

    def _evaluate(self, literals: Sequence[Literal]) -> None:
        """Find the values of gates under terms that follow from those of their operands."""
        value, unknown = self._value, self._unknown
        stack = [x >> 1 for x in literals]
        while stack:
            place = stack[-1]
            if place in value or place in unknown:
                stack.pop()
                continue
            found = self._computed(place)  # some operands may be enough
            new = []
            if found is None:
                parts = operands(self._gates.nodes[place])
                new = [x >> 1 for x in parts if x >> 1 not in value and x >> 1 not in unknown]
            if new:
                stack.extend(new)
                continue
            stack.pop()
            if found is None:
                unknown.add(place)
            else:
                value[place] = found

    def _computed(self, place: int) -> bool | None:
        match self._gates.nodes[place]:
            case Conjunction(parts):
                value = self._value
                whole: bool | None = True
                for x in parts:
                    known = value.get(x >> 1)
                    if known is None:
                        whole = None
                    elif known == (x & 1):
                        return False
                return whole
            case Choice(condition, then, otherwise):
                test, yes, no = map(self._of, (condition, then, otherwise))
                if test is not None:
                    return yes if test else no
                return yes if yes == no else None
        return None

    def _name(self, literal: Literal) -> int:
        known = self._of(literal)
        if known is not None:
            return YES if known else -YES
        number = self._number[literal >> 1]
        return -number if literal & 1 else number

    def _give(self, root: int) -> None:
        """Clauses for a gate and those that it rests on."""
        stack = [root]
        while stack:
            place = stack[-1]
            if place in self._value or place in self._number:
                stack.pop()
                continue
            found = self._computed(place)  # more may have been asserted since it was looked at
            if found is not None:
                self._value[place] = found
                continue
            needed = self._left(place)
            new = [x >> 1 for x in needed if x >> 1 not in self._value and x >> 1 not in self._number]
            if new:
                stack.extend(new)
                continue
            stack.pop()
            self._define(place, [self._name(x) for x in needed])

    def _left(self, place: int) -> tuple[Literal, ...]:
        """The operands of a gate that matter."""
        match self._gates.nodes[place]:
            case Conjunction(parts):
                return tuple(x for x in parts if self._of(x) is None)
            case Choice(condition, then, otherwise):
                known = self._of(condition)
                if known is not None:
                    return (then if known else otherwise,)
                return condition, then, otherwise
        return ()

    def _define(self, place: int, parts: Sequence[int]) -> None:
        if len(parts) == 1:
            self._number[place] = parts[0]
            return
        self._count += 1
        self._number[place] = self._count
        self._solver.define(self._count, self._gates.nodes[place], parts)
