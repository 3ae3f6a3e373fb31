"""The one place that speaks to Z3: terms become its formulas, once and then by substitution.

A check runs in a thread of its own, so that a limit or Ctrl-C ends it at once.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any
from typing import Literal as Word

import z3

from slotproof.checker.symbolic.booleans import Booleans, Choice, Conjunction, Literal, Variable

Answer = Word["sat", "unsat"]
Formula = Any
"""A Boolean formula of Z3, whose stubs do not say so."""

POLL_SECONDS = 0.05


class Stopped(Exception):
    """A limit or an interrupt ended a search; the message says which."""


class GaveUp(Stopped):
    """A solver has ended without an answer, and within the budget."""


class Budget:
    """Wall time and memory that a search may use."""

    def __init__(self, seconds: float | None, memory: int | None) -> None:
        self.started = time.monotonic()
        self._deadline = None if seconds is None else self.started + seconds
        self._seconds = seconds
        self._memory = memory
        self._interrupted: str | None = None

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self.started

    def interrupt(self, reason: str) -> None:
        """Let the search end."""
        self._interrupted = reason

    def exceeded(self) -> str | None:
        """Why the search has to end, if it has."""
        if self._interrupted is not None:
            return self._interrupted
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return f"time limit of {self._seconds:g} s"
        if self._memory is not None and z3.Z3_get_estimated_alloc_size() > self._memory:
            return f"memory limit of {self._memory} bytes"
        return None

    def check(self) -> None:
        """Raise ``Stopped`` if the search has to end."""
        limit = self.exceeded()
        if limit:
            raise Stopped(limit)


@contextmanager
def until_interrupted(budget: Budget) -> Iterator[None]:
    """Turn SIGINT and SIGTERM into the end of a search; elsewhere than in the main thread do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def received(number: int, _: FrameType | None) -> None:
        budget.interrupt(f"interrupted by {signal.Signals(number).name}")

    previous = {s: signal.signal(s, received) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class Formulas:
    """Translates terms of one ``Booleans`` to Z3, each node once."""

    def __init__(self, booleans: Booleans) -> None:
        self.context = z3.Context()
        self.booleans = booleans
        self._made: dict[int, Formula] = {0: z3.BoolVal(True, self.context)}

    def of(self, literals: Sequence[Literal]) -> list[Formula]:
        """The formulas of these terms."""
        context = self.context
        for place in self.booleans.reachable(literals):
            if place in self._made:
                continue
            match self.booleans.node(2 * place):
                case Variable(name, _):
                    made = z3.Bool(name, context)
                case Conjunction(parts):
                    made = z3.And([self._signed(x) for x in parts])
                case Choice(condition, then, otherwise):
                    made = z3.If(self._signed(condition), self._signed(then), self._signed(otherwise))
            self._made[place] = made
        return [self._signed(x) for x in literals]

    def variables(self, literals: Sequence[Literal]) -> list[Literal]:
        """The variables that terms rest on."""
        places = self.booleans.reachable(literals)
        return [2 * p for p in places if isinstance(self.booleans.node(2 * p), Variable)]

    def fresh(self, variable: Literal, mark: str) -> Formula:
        """A variable of its own, named after another."""
        node = self.booleans.node(variable)
        assert isinstance(node, Variable)
        return z3.Bool(f"{node.name}@{mark}", self.context)

    def named(self, name: str) -> Formula:
        """A variable that is in no term."""
        return z3.Bool(name, self.context)

    def _signed(self, literal: Literal) -> Formula:
        made = self._made[literal >> 1]
        return z3.Not(made) if literal & 1 else made


class Template:
    """Terms to be made formulas for one step after another, under other names."""

    def __init__(self, formulas: Formulas, literals: Sequence[Literal]) -> None:
        self._formulas = formulas
        self.variables = formulas.variables(literals)
        roots = formulas.of(literals)
        sorts = [z3.BoolSort(formulas.context)] * (len(roots) + 1)
        # One term that holds them all: what they share is then substituted once.
        self._all = z3.Function("all", *sorts)(*roots)

    def at(self, names: Mapping[Literal, Formula]) -> list[Formula]:
        """The formulas, with these in the place of variables."""
        known = list(names)
        pairs = list(zip(self._formulas.of(known), (names[x] for x in known), strict=True))
        made: list[Formula] = z3.substitute(self._all, *pairs).children()
        return made


def _interrupt(context: Any) -> None:
    with suppress(z3.Z3Exception):  # it says so if it is interrupted already
        context.interrupt()


def in_thread(context: Any, budget: Budget, ask: Callable[[], Any]) -> Any:
    """What Z3 answers to a question, asked in a thread; ``Stopped`` when the budget ends it."""
    budget.check()
    answers: list[Any] = []

    def run() -> None:
        try:
            answers.append(ask())
        except z3.Z3Exception as error:
            answers.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    limit = None
    try:
        while worker.is_alive():
            worker.join(POLL_SECONDS)
            limit = limit or budget.exceeded()
            if limit:
                _interrupt(context)
    except BaseException:
        while worker.is_alive():
            _interrupt(context)
            worker.join(POLL_SECONDS)
        raise
    if limit or isinstance(answers[0], z3.Z3Exception):
        # An answer that comes with the limit is of no use: the context was told to stop, and has no model.
        raise Stopped(limit or f"Z3 gave up: {answers[0]}")
    return answers[0]


class _Solving:
    """Runs a solver of Z3 in a thread, so that a limit or an interrupt can end it."""

    def __init__(self, formulas: Formulas, budget: Budget) -> None:
        self.context = formulas.context
        self.budget = budget
        self._model: Any = None

    def _solve(self, solver: Any, *assumptions: Formula) -> Answer:
        solver.set("ctrl_c", False)  # Python keeps the signal
        answer = in_thread(self.context, self.budget, lambda: solver.check(*assumptions))
        if answer == z3.sat:
            self._model = solver.model()
            return "sat"
        if answer == z3.unsat:
            return "unsat"
        raise GaveUp(f"Z3 gave up: {solver.reason_unknown()}")

    def true(self, formulas: Mapping[Literal, Formula]) -> set[Literal]:
        """Which of these variables are true in the model of the last ``check``."""
        return {literal for literal, formula in formulas.items() if z3.is_true(self._model[formula])}

    def holds(self, formula: Formula) -> bool:
        """Whether a formula is true in the model of the last ``check``."""
        return bool(z3.is_true(self._model.eval(formula, model_completion=True)))


class Solver(_Solving):
    """An incremental Z3 solver for Boolean formulas: many small questions."""

    def __init__(self, formulas: Formulas, budget: Budget, logic: str = "QF_FD") -> None:
        super().__init__(formulas, budget)
        self._solver = z3.SolverFor(logic, ctx=self.context)

    def add(self, *formulas: Formula) -> None:
        """Assert formulas for good."""
        self._solver.add(*formulas)

    def refuse(self, *formulas: Formula) -> None:
        """Assert for good that these are false."""
        self._solver.add(*map(z3.Not, formulas))

    def add_under(self, condition: Formula, formulas: Sequence[Formula]) -> None:
        """Assert that one of these is true where the condition is."""
        self._solver.add(z3.Or(z3.Not(condition), *formulas))

    def add_any(self, formulas: Sequence[Formula]) -> None:
        """Assert for good that one of these is true."""
        self._solver.add(z3.Or(*formulas, self.context))

    def check(self, *assumptions: Formula) -> Answer:
        """Solve; ``Stopped`` when the budget ends it."""
        return self._solve(self._solver, *assumptions)


def satisfiable(booleans: Booleans, literals: Sequence[Literal], budget: Budget | None = None) -> bool:
    """Whether any of these terms can be true; ``Stopped`` when the budget ends it."""
    formulas = Formulas(booleans)
    solver = Solver(formulas, budget or Budget(None, None))
    solver.add_any(formulas.of(literals))
    return solver.check() == "sat"


class OneShot(_Solving):
    """A solver that starts afresh with each question: few large ones."""

    def __init__(
        self, formulas: Formulas, budget: Budget, tactic: str = "qfbv", conflicts: int | None = None
    ) -> None:
        super().__init__(formulas, budget)
        self._tactic = tactic
        self._conflicts = conflicts
        self._asserted: list[Formula] = []

    def add(self, *formulas: Formula) -> None:
        """Assert formulas for good."""
        self._asserted.extend(formulas)

    def refuse(self, *formulas: Formula) -> None:
        """Assert for good that these are false."""
        self._asserted.extend(map(z3.Not, formulas))

    def check(self, question: Sequence[Formula]) -> Answer:
        """Solve for one of these to be true; ``Stopped`` when the budget ends it."""
        solver = z3.Tactic(self._tactic, ctx=self.context).solver()
        if self._conflicts is not None:
            solver.set("max_conflicts", self._conflicts)
        solver.add(*self._asserted, z3.Or(*question, self.context))
        return self._solve(solver)


class Horn:
    """Z3's Spacer on a safety question: is there an invariant that keeps the wrong states away?"""

    def __init__(self, formulas: Formulas, budget: Budget, variables: Sequence[Literal]) -> None:
        self.context = formulas.context
        self._budget = budget
        self._formulas = formulas
        self._engine = z3.Fixedpoint(ctx=self.context)
        # Where no step leads on from a step, it would put the start and a step into the question itself, and
        # say nothing of what is reached.
        self._engine.set(engine="spacer", ctrl_c=False, **{"xform.inline_eager": False})
        bool_ = z3.BoolSort(self.context)
        self._names = formulas.of(variables)
        self._reached = z3.Function("reached", *[bool_] * (len(variables) + 1))
        self._wrong = z3.Function("wrong", bool_)
        self._engine.register_relation(self._reached, self._wrong)

    def rules(
        self,
        free: Sequence[Literal],
        start: tuple[Sequence[Literal], Sequence[Literal]],
        step: tuple[Sequence[Literal], Sequence[Literal]],
        wrong: Sequence[Literal],
    ) -> None:
        """``start`` and ``step`` are the values of the variables there, and the conditions for it."""
        of, reached = self._formulas.of, self._reached
        self._engine.declare_var(*self._names, *of(free))
        self._engine.rule(reached(*of(start[0])), of(start[1]))
        self._engine.rule(reached(*of(step[0])), [reached(*self._names), *of(step[1])])
        self._engine.rule(self._wrong(), [reached(*self._names), *of(wrong)])

    def check(self) -> Answer:
        """Whether a wrong state is reached; ``Stopped`` when the budget ends it."""
        answer = in_thread(self.context, self._budget, lambda: self._engine.query(self._wrong()))
        if answer == z3.unknown:
            raise Stopped(f"Z3 gave up: {self._engine.reason_unknown()}")
        return "sat" if answer == z3.sat else "unsat"

    @property
    def level(self) -> int:
        """How many steps from the start are known to lead to no wrong state."""
        return max(int(self._engine.get_num_levels(self._reached)) - 1, 0)

    def invariant(self) -> str:
        """The invariant that ``check`` has found, in SMT-LIB over the names of the variables."""
        found = self._engine.get_cover_delta(-1, self._reached)
        return str(z3.substitute_vars(found, *self._names).sexpr())
