"""Terms in SMT-LIB."""

from __future__ import annotations

from collections.abc import Sequence

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Choice, Conjunction, Literal, Variable


def smtlib(booleans: Booleans, conjuncts: Sequence[Literal], defined: int = 0) -> str:
    """The conjunction of terms in SMT-LIB, over the names of their variables; shared parts have names.

    With ``defined`` it is over the names that a certificate gives to the first so many nodes at step 0.
    """
    places = [p for p in booleans.reachable(conjuncts, defined) if p]
    depth: dict[int, int] = {0: 0}
    levels: dict[int, list[str]] = {}
    for place in places:
        node = booleans.node(2 * place)
        match node:
            case Variable():
                depth[place] = 0
                continue
            case Conjunction(literals):
                parts: Sequence[Literal] = literals
                operator = "and"
            case Choice(condition, then, otherwise):
                parts = (condition, then, otherwise)
                operator = "ite"
        depth[place] = 1 + max(depth.get(x >> 1, 0) for x in parts)
        text = f"(t{place} ({operator} {' '.join(_named(booleans, x, defined) for x in parts)}))"
        levels.setdefault(depth[place], []).append(text)
    lines = [f"(let ({' '.join(levels[level])})" for level in sorted(levels)]
    whole = f"(and true {' '.join(_named(booleans, x, defined) for x in conjuncts)}){')' * len(lines)}"
    return "\n".join([*lines, whole])


def _named(booleans: Booleans, literal: Literal, defined: int) -> str:
    if literal in (TRUE, FALSE):
        return "true" if literal == TRUE else "false"
    node = booleans.node(literal)
    name = f"|{node.name}|" if isinstance(node, Variable) else f"t{literal >> 1}"
    if literal >> 1 < defined:
        name = f"|{node.name}@0|" if isinstance(node, Variable) else f"{name}@0"
    return f"(not {name})" if literal & 1 else name
