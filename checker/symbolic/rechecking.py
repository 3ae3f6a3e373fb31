"""Whether a certificate is right: in a fresh solver, in others, and on states that a search reaches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from math import prod
from random import Random
from typing import Any

import z3

from slotproof.checker.symbolic.answering import in_cadical
from slotproof.checker.symbolic.asking import TACTIC
from slotproof.checker.symbolic.cadical import has_cadical
from slotproof.checker.symbolic.certificate import Refused, belongs, proof_of, questions, quoted
from slotproof.checker.symbolic.proof import Invariant
from slotproof.checker.symbolic.reading import ASSERT, CHECK, POP, PUSH, asserted, script
from slotproof.checker.symbolic.relation import Relation, relation
from slotproof.checker.symbolic.solving import Budget, in_thread
from slotproof.model.language import ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.operands import from_code
from slotproof.model.language.program import Program
from slotproof.model.language.types import ScalarType, SetType

A_WHILE = 40.0
"""Wall seconds after which no further solver is asked, once one has answered all questions."""

SCOPE = 400
"""On how many states an invariant is tried out."""

EACH = 16
"""With how many arguments an action is tried in a state: with all, if there are no more."""

TRIES = 4000
"""How many actions are tried in all."""


def recheck(
    text: str, program: Program, choices: Sequence[int], budget: Budget, *, scope: int = SCOPE
) -> Iterator[str]:
    """Check a certificate of this system; says what was found right, one line each.

    Each question is asked of CaDiCaL where that is installed, else of Z3. The other solvers are asked as
    well, as long as the whole takes no longer than ``A_WHILE``.

    Raises ``Refused`` for one that is changed, of another system, or wrong, and ``Stopped`` when the budget
    ends it.
    """
    until = budget.seconds + A_WHILE
    belongs(text, program, choices)
    proof = proof_of(text)
    made = relation(program, choices, look=budget.check)
    count = questions(made, proof, text, budget.check)
    if has_cadical():
        yield _all("CaDiCaL", in_cadical(script(text, budget), budget), count)
        yield _some(f"Z3 {z3.get_version_string()}", in_z3(text, budget, until), count)
    else:
        yield _all(f"Z3 {z3.get_version_string()}", in_z3(text, budget), count)
    if find_spec("cvc5") is None:
        yield "cvc5 is not installed (pip install 'slotproof[certify]'): it was not asked"
    else:
        yield _some("cvc5", in_cvc5(text, budget, until), count)
    stages = [stage for stage in proof if isinstance(stage, Invariant)]
    if stages:
        seen, whole = _on_states(made, stages, budget, scope)
        of = "all" if whole else "the first" if seen == scope else "some"
        yield f"the invariant is true in {of} {seen} states that the interpreter reaches"


def _all(solver: str, answers: Iterable[str], count: int) -> str:
    answered = _unsat(solver, answers)
    if answered != count:
        raise Refused(f"proves nothing: {solver} answers {answered} questions of {count}")
    return f"{solver} answers unsat to all {count} questions"


def _some(solver: str, answers: Iterable[str], count: int) -> str:
    answered = _unsat(solver, answers)
    if answered == count:
        return f"{solver} answers unsat to all {count} questions"
    some = f"answers unsat to {answered} of the {count} questions, " if answered else ""
    return f"{solver} {some}was not asked {'the others' if answered else 'any'}: {A_WHILE:g} s have gone"


def _unsat(solver: str, answers: Iterable[str]) -> int:
    """How many answers there are; ``Refused`` if one is not what it has to be."""
    answered = 0
    for answer in answers:
        if answer != "unsat":
            raise Refused(f"proves nothing: {solver} answers {answer} where it has to be unsat")
        answered += 1
    return answered


def in_z3(text: str, budget: Budget, until: float | None = None) -> Iterator[str]:
    """Z3's answers to the questions of a certificate, in a context of their own.

    Each question is asked by itself, of Z3's SAT solver: what an action leaves as it is falls out then. It
    ends when the budget has run for ``until`` seconds, at a question that it does not answer in time.
    """
    if until is not None and budget.seconds >= until:
        return  # before the text is read
    context = z3.Context()
    for question in asserted(_conjunctions(text), context, budget):
        solver = z3.Tactic(TACTIC, ctx=context).solver()
        solver.set("ctrl_c", False)
        if until is not None:
            left = until - budget.seconds
            if left <= 0:
                return
            solver.set("timeout", max(int(1000 * left), 1))
        solver.add(question)
        answer = str(in_thread(context, budget, solver.check))
        if answer == "unknown" and until is not None:
            return
        yield answer


def _conjunctions(text: str) -> str:
    """The text with one assertion for each question in the place of scopes and commands."""
    lines: list[str] = []
    scopes: list[list[str]] = [[]]
    for line in text.splitlines():
        if line == PUSH:
            scopes.append([])
        elif line == POP:
            scopes.pop()
        elif line == CHECK:
            lines.append(f"{ASSERT}(and true {' '.join(x for scope in scopes for x in scope)}))")
        elif line.startswith(ASSERT):
            scopes[-1].append(line.removeprefix(ASSERT).removesuffix(")"))
        else:
            lines.append(line)
    return "\n".join(lines)


def in_cvc5(text: str, budget: Budget, until: float | None = None) -> Iterator[str]:
    """The answers of cvc5; ``until`` as for Z3."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("incremental", "true")
    if until is not None:
        left = until - budget.seconds
        if left <= 0:
            return
        solver.setOption("tlimit-per", str(max(int(1000 * left), 1)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "certificate")
    while True:
        budget.check()
        try:
            command = parser.nextCommand()
            if command.isNull() or (until is not None and budget.seconds >= until):
                return
            said = str(command.invoke(solver, parser.getSymbolManager()))
        except RuntimeError as error:
            raise Refused("proves nothing: cvc5 cannot read it") from error
        for answer in said.split():
            if answer == "unknown" and until is not None:
                return
            yield answer


def _on_states(made: Relation, stages: Sequence[Invariant], budget: Budget, scope: int) -> tuple[int, bool]:
    """Evaluate invariants in states as the interpreter reaches them; whether these are all there are."""
    interpreter = Interpreter(made.program, made.choices)
    names, solver = _parsed(made, stages)
    first = [interpreter.stored(s) for _, _, s in interpreter.initial()]
    queue, seen = deque(first), set(first)
    random = Random(0)
    count = tries = 0
    while queue and count < scope:
        budget.check()
        state = queue.popleft()
        count += 1
        # With a value for each variable there is nothing to search for: it is true or it is not.
        values = [v if t else other for (v, other), t in zip(names, _truths(made, state), strict=True)]
        if solver.check(*values) != z3.sat:
            raise Refused(f"proves nothing: its invariant is false in the reachable state {state}")
        for number, numbers in _tried(interpreter, random):
            tries += 1
            with suppress(NotEnabled):
                outcome = interpreter.step(state, number, numbers)
                after = interpreter.stored(outcome.state)
                if outcome.crash is None and after not in seen:
                    seen.add(after)
                    queue.append(after)
        if tries > TRIES:
            break
    return count, not queue and all(_arguments(a) <= EACH for a in made.program.actions)


def _tried(interpreter: Interpreter, random: Random) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each action with each of its arguments, or with some where they are many."""
    for number, action in enumerate(interpreter.program.actions):
        if _arguments(action) <= EACH:
            yield from ((number, numbers) for numbers in interpreter.all_arguments(action))
        else:
            for _ in range(EACH):
                yield number, tuple(_drawn(p.type, random) for p in action.parameters)


def _arguments(action: ir.Action) -> int:
    return prod(p.type.size for p in action.parameters)


def _drawn(type_: ScalarType, random: Random) -> int:
    """An argument's number; of sets small ones, for what must be in another set rarely is."""
    code = random.randrange(type_.size)
    if isinstance(type_, SetType):
        code &= random.randrange(type_.size) & random.randrange(type_.size)
    return from_code(type_, code)


def _parsed(made: Relation, stages: Sequence[Invariant]) -> tuple[list[tuple[Any, Any]], Any]:
    """Each variable of a state beside its negation, and a solver that knows the invariants."""
    cells = [c for c, stored in zip(made.state, made.stored, strict=True) if stored]
    names = [made.booleans.name(x) for c in cells for x in c.variables]
    declared = "\n".join(f"(declare-const {quoted(n)} Bool)" for n in names)
    asserted = "\n".join(f"(assert {s.formula})" for s in stages)
    solver = z3.SolverFor("QF_FD")
    solver.add(z3.parse_smt2_string(f"{declared}\n{asserted}"))
    return [(z3.Bool(n), z3.Not(z3.Bool(n))) for n in names], solver


def _truths(made: Relation, state: Valuation) -> list[bool]:
    """Which variables are true in a state."""
    cells = zip(made.state, made.symbolic(state), made.stored, strict=True)
    return [t == 0 for c, value, stored in cells if stored for t in c.terms(made.booleans, value)]
