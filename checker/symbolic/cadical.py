"""CaDiCaL (Biere and others, CAV 2024), which python-sat brings (Ignatiev and others, SAT 2018): the extra
``[prove]``."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

from slotproof.checker.symbolic.booleans import Choice, Conjunction, Node
from slotproof.checker.symbolic.solving import Budget

AT_A_TIME = 5000
"""Conflicts between two looks at the budget: about a second."""


def has_cadical() -> bool:
    """Whether the extra ``[prove]`` is installed."""
    return find_spec("pysat") is not None


class Cadical:
    """One solver. It calls a variable by a number from 1, and what is not true by the negative of that."""

    def __init__(self, budget: Budget) -> None:
        from pysat.solvers import Cadical195

        self._budget = budget
        self._solver: Any = Cadical195()

    def add(self, *literals: int) -> None:
        """One of these is true."""
        self._solver.add_clause(literals)

    def define(self, made: int, node: Node, operands: Sequence[int]) -> None:
        """A variable stands for a node over these operands (Tseitin 1968); one of its own is left free."""
        match node:
            case Conjunction():
                for x in operands:
                    self.add(-made, x)
                self.add(made, *(-x for x in operands))
            case Choice():
                test, then, otherwise = operands
                self.add(-made, -test, then)
                self.add(-made, test, otherwise)
                self.add(-made, then, otherwise)
                self.add(made, -test, -then)
                self.add(made, test, -otherwise)
                self.add(made, -then, -otherwise)

    def possible(self, assumptions: Sequence[int], conflicts: int | None = None) -> bool | None:
        """Whether these can be true at once; ``None`` if it is not known after so many conflicts.

        ``Stopped`` when the budget ends it. It is asked in a thread: in the main one python-sat takes
        SIGINT for itself, jumps out of the solver, and the process may hang.
        """
        left = conflicts
        with ThreadPoolExecutor(1) as thread:
            while left is None or left > 0:
                self._budget.check()
                now = AT_A_TIME if left is None else min(left, AT_A_TIME)
                self._solver.conf_budget(now)
                answer = thread.submit(self._solver.solve_limited, assumptions=assumptions).result()
                if answer is not None:
                    return bool(answer)
                left = None if left is None else left - now
        return None

    def true(self) -> set[int]:
        """What is true in the example that has been found."""
        return set(self._solver.get_model())

    def excluding(self) -> list[int]:
        """Assumptions that exclude each other."""
        return sorted(self._solver.get_core() or (), key=abs)
