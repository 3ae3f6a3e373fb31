"""A certificate as it stands in its text: which questions it asks, and the gates that they are made of.

Z3 reads the terms; nothing comes from the system or from whoever has found the proof. So a checker can ask
any solver of Boolean formulas (``answering.py``), and a slip in writing the certificate shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Choice, Conjunction, Literal, Node, Variable
from slotproof.checker.symbolic.certificate import Refused
from slotproof.checker.symbolic.solving import Budget, Stopped, in_thread

PUSH, POP, CHECK, ASSERT = "(push 1)", "(pop 1)", "(check-sat)", "(assert "


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: whether these terms can be true at once, where all that its scope asserts is."""

    wanted: tuple[Literal, ...]


@dataclass(slots=True)
class Scope:
    """What is asserted and asked between an outermost ``push`` and its ``pop``, in order: a term that is true
    from there on, or a question."""

    items: list[Literal | Asked] = field(default_factory=list)

    @property
    def questions(self) -> int:
        """How many questions it asks."""
        return sum(isinstance(x, Asked) for x in self.items)


@dataclass(frozen=True, slots=True)
class Script:
    """The scopes of a certificate, and the gates that their terms stand for (0: true)."""

    gates: Gates
    scopes: tuple[Scope, ...]


class Gates:
    """Conjunctions and choices over free variables: what the Boolean terms of SMT-LIB come to."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [Conjunction(())]
        self._places: dict[int, Literal] = {}

    def of(self, term: Any) -> Literal:
        """The gate of a term of Z3. All terms come from one context and live as long as this is used.

        Raises ``Refused`` for what is no Boolean term.
        """
        context = term.ctx.ref()
        stack = [term.as_ast()]
        known = self._places
        while stack:
            ast = stack[-1]
            number = z3.Z3_get_ast_id(context, ast)
            if number in known:
                stack.pop()
                continue
            if z3.Z3_get_ast_kind(context, ast) != z3.Z3_APP_AST:
                raise Refused("asks of more than Boolean terms")
            parts = [z3.Z3_get_app_arg(context, ast, i) for i in range(z3.Z3_get_app_num_args(context, ast))]
            numbers = [z3.Z3_get_ast_id(context, part) for part in parts]
            new = [part for part, n in zip(parts, numbers, strict=True) if n not in known]
            if new:
                stack.extend(new)
                continue
            stack.pop()
            declared = z3.Z3_get_app_decl(context, ast)
            kind = z3.Z3_get_decl_kind(context, declared)
            known[number] = self._made(kind, [known[n] for n in numbers], declared, context)
        return known[z3.Z3_get_ast_id(context, term.as_ast())]

    def _made(self, kind: int, parts: list[Literal], declared: Any, context: Any) -> Literal:
        if kind == z3.Z3_OP_TRUE:
            return TRUE
        if kind == z3.Z3_OP_FALSE:
            return FALSE
        if kind == z3.Z3_OP_NOT:
            return parts[0] ^ 1
        if kind == z3.Z3_OP_AND:
            return self._new(Conjunction(tuple(parts)))
        if kind == z3.Z3_OP_OR:
            return self._new(Conjunction(tuple(x ^ 1 for x in parts))) ^ 1
        if kind == z3.Z3_OP_IMPLIES:
            return self._new(Conjunction((parts[0], parts[1] ^ 1))) ^ 1
        if kind == z3.Z3_OP_ITE:
            return self._new(Choice(*parts))
        if kind in (z3.Z3_OP_EQ, z3.Z3_OP_IFF) and len(parts) == 2:
            return self._new(Choice(parts[0], parts[1], parts[1] ^ 1))
        if kind in (z3.Z3_OP_XOR, z3.Z3_OP_DISTINCT) and len(parts) == 2:
            return self._new(Choice(parts[0], parts[1] ^ 1, parts[1]))
        sort = z3.Z3_get_sort_kind(context, z3.Z3_get_range(context, declared))
        if kind == z3.Z3_OP_UNINTERPRETED and not parts and sort == z3.Z3_BOOL_SORT:
            symbol = z3.Z3_get_decl_name(context, declared)
            return self._new(Variable(z3.Z3_get_symbol_string(context, symbol), 0))
        raise Refused("asks of more than Boolean terms")

    def _new(self, node: Node) -> Literal:
        self.nodes.append(node)
        return 2 * (len(self.nodes) - 1)


def script(text: str, budget: Budget) -> Script:
    """The questions of a certificate.

    Raises ``Refused`` if Z3 cannot read it, ``Stopped`` when the budget ends it.
    """
    lines = text.splitlines()
    context = z3.Context()
    declared = "\n".join(line for line in lines if line not in (PUSH, POP, CHECK))
    terms = asserted(declared, context, budget)
    if len(terms) != sum(line.startswith(ASSERT) for line in lines):
        raise Refused("proves nothing: it does not assert one term a line")
    gates = Gates()
    literals = [gates.of(term) for term in terms]
    return Script(gates, tuple(_scopes(lines, literals)))


def asserted(text: str, context: z3.Context, budget: Budget) -> Any:
    """What a text without scopes asserts, as Z3 reads it.

    Raises ``Refused`` if Z3 cannot, ``Stopped`` when the budget ends it.
    """
    try:
        return in_thread(context, budget, lambda: z3.parse_smt2_string(text, ctx=context))
    except Stopped as error:
        if budget.exceeded():
            raise
        raise Refused("proves nothing: Z3 cannot read it") from error


def _scopes(lines: Sequence[str], terms: Sequence[Literal]) -> Iterator[Scope]:
    """What is asserted before every scope is asserted in each."""
    given = iter(terms)
    always: list[Literal | Asked] = []
    scope = Scope()
    inner: list[list[Literal]] = []  # what the scopes within the outermost one assert
    depth = 0
    for line in lines:
        if line == PUSH:
            depth += 1
            if depth == 1:
                scope = Scope(list(always))
            else:
                inner.append([])
        elif line == POP:
            depth -= 1
            if depth == 0:
                yield scope
            else:
                inner.pop()
        elif line == CHECK:
            asked = Asked(tuple(x for some in inner for x in some))
            if depth == 0:
                yield Scope([*always, asked])
            else:
                scope.items.append(asked)
        elif line.startswith(ASSERT):
            term = next(given)
            if depth == 0:
                always.append(term)
            elif depth == 1:
                scope.items.append(term)
            else:
                inner[-1].append(term)
