"""Boolean terms: shared, simplified while they are built, independent of any solver.

A term is a number, its *literal*: twice the place of its node, plus one if it is negated. Equal terms
have equal literals. What is constant, contradicts itself or is absorbed is found here, in Python,
before a solver sees it; the relation of a step is a few thousand nodes then, not a few million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Literal = int

TRUE: Literal = 0
FALSE: Literal = 1

# A conjunction of more parts than this is kept as one part of another: to copy long ones costs more
# than the contradictions that would be found.
LONG = 24
SHORT_CLAUSE = 6
LOOK_EVERY = 64
"""Nodes between two looks at whether there is still time: some hundredths of a second."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A free Boolean. Of the variables of one ``group`` exactly one is true (0: no group)."""

    name: str
    group: int


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All of these literals, in increasing order."""

    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """``then`` if ``condition`` else ``otherwise``; the first two are not negated."""

    condition: Literal
    then: Literal
    otherwise: Literal


Node = Variable | Conjunction | Choice


def operands(node: Node) -> tuple[Literal, ...]:
    """What a node is made of."""
    match node:
        case Conjunction(literals):
            return literals
        case Choice(condition, then, otherwise):
            return condition, then, otherwise
        case Variable():
            return ()


class Booleans:
    """Makes terms. Node 0 is the constant true. ``look`` is called now and then while there is much to make,
    and may raise."""

    def __init__(self, look: Callable[[], None] = lambda: None) -> None:
        self._look = look
        self._nodes: list[Node] = [Conjunction(())]
        self._conjunctions: dict[tuple[Literal, ...], Literal] = {(): TRUE}
        self._in_full: dict[tuple[Literal, ...], Literal] = {}
        self._asked: dict[tuple[Literal, ...], Literal] = {}
        self._choices: dict[tuple[Literal, Literal, Literal], Literal] = {}
        self._groups: list[tuple[Literal, ...]] = [()]
        self._group_of: dict[Literal, int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, literal: Literal) -> Node:
        """The node of a literal, its sign aside."""
        return self._nodes[literal >> 1]

    def name(self, variable: Literal) -> str:
        """What a variable is called."""
        node = self._nodes[variable >> 1]
        assert isinstance(node, Variable)
        return node.name

    def variable(self, name: str) -> Literal:
        """A new free variable."""
        self._nodes.append(Variable(name, 0))
        return 2 * (len(self._nodes) - 1)

    def one_of(self, names: Sequence[str]) -> tuple[Literal, ...]:
        """New variables of which exactly one is true. The user asserts that; see ``exactly_one``."""
        group = len(self._groups)
        literals = []
        for name in names:
            self._nodes.append(Variable(name, group))
            literals.append(2 * (len(self._nodes) - 1))
        self._groups.append(tuple(literals))
        self._group_of.update(dict.fromkeys(literals, group))
        return tuple(literals)

    def groups(self) -> tuple[tuple[Literal, ...], ...]:
        """The groups of variables of which exactly one is true."""
        return tuple(self._groups[1:])

    def conj(self, *literals: Literal) -> Literal:
        """All of these."""
        return self.all(literals)

    def disj(self, *literals: Literal) -> Literal:
        """Any of these."""
        return self.all([x ^ 1 for x in literals]) ^ 1

    def any(self, literals: Iterable[Literal]) -> Literal:
        """Any of these."""
        return self.all([x ^ 1 for x in literals]) ^ 1

    def all(self, literals: Iterable[Literal]) -> Literal:
        """All of these, simplified."""
        wanted = set(literals)
        wanted.discard(TRUE)
        if FALSE in wanted:
            return FALSE
        if len(wanted) < 2:
            return wanted.pop() if wanted else TRUE
        key = tuple(sorted(wanted))
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = self._simplified(key)
        return found

    def _simplified(self, key: tuple[Literal, ...]) -> Literal:
        if len(self._nodes) % LOOK_EVERY == 0:
            self._look()
        parts = self._flattened(key)
        for _ in range(4):
            for x in parts:
                if x ^ 1 in parts:
                    return FALSE
            false = self._grouped(parts)
            if false is None:
                return FALSE
            clauses = [x for x in parts if x & 1 and isinstance(self._nodes[x >> 1], Conjunction)]
            if not clauses:
                break
            changed = self._absorbed(parts, clauses, false) or self._resolved(parts)
            if not changed:
                break
            if FALSE in parts:
                return FALSE
            parts.discard(TRUE)
            parts = self._flattened(parts)
        if len(parts) < 2:
            return parts.pop() if parts else TRUE
        ordered = tuple(sorted(parts))
        made = self._conjunctions.get(ordered)
        if made is None:
            self._nodes.append(Conjunction(ordered))
            made = self._conjunctions[ordered] = 2 * (len(self._nodes) - 1)
        return made

    def _flattened(self, literals: Iterable[Literal]) -> set[Literal]:
        parts: set[Literal] = set()
        for x in literals:
            node = self._nodes[x >> 1]
            if not x & 1 and isinstance(node, Conjunction) and len(node.literals) <= LONG:
                parts.update(node.literals)
            else:
                parts.add(x)
        return parts

    def _grouped(self, parts: set[Literal]) -> set[Literal] | None:
        """Use that exactly one of a group is true: which literals are false then; ``None`` if all are."""
        false: set[Literal] = set()
        refused: dict[int, int] = {}
        for x in list(parts):
            group = self._group_of.get(x & ~1)
            if group is None:
                continue
            if x & 1:
                refused[group] = refused.get(group, 0) + 1
                continue
            for other in self._groups[group]:
                if other != x:
                    if other in parts:
                        return None
                    false.add(other)
                    parts.discard(other ^ 1)
        for group, count in refused.items():
            members = self._groups[group]
            missing = [x for x in members if x ^ 1 not in parts]
            if count == len(members):
                return None
            if len(missing) == 1:
                for x in members:
                    parts.discard(x ^ 1)
                parts.add(missing[0])
                false.update(x for x in members if x != missing[0])
        return false

    def _absorbed(self, parts: set[Literal], clauses: list[Literal], false: set[Literal]) -> bool:
        """Drop clauses that another part implies, and parts of clauses that cannot be true."""
        changed = False
        for clause in clauses:
            node = self._nodes[clause >> 1]
            assert isinstance(node, Conjunction)
            kept = []
            for x in node.literals:  # the clause says: not all of these
                if x ^ 1 in parts or x in false:
                    parts.discard(clause)
                    changed = True
                    break
                if x not in parts and x ^ 1 not in false:
                    kept.append(x)
            else:
                if len(kept) < len(node.literals):
                    parts.discard(clause)
                    parts.add(self.all(kept) ^ 1)
                    changed = True
        return changed

    def _resolved(self, parts: set[Literal]) -> bool:
        """Join two clauses that differ in the sign of one literal: how cases fall together again."""
        for clause in sorted(parts):
            node = self._nodes[clause >> 1]
            if not (clause & 1 and isinstance(node, Conjunction) and 1 < len(node.literals) <= SHORT_CLAUSE):
                continue
            for x in node.literals:
                twin = self._conjunctions.get(tuple(sorted([x ^ 1, *(y for y in node.literals if y != x)])))
                if twin is not None and twin ^ 1 in parts:
                    parts.difference_update((clause, twin ^ 1))
                    parts.add(self.all([y for y in node.literals if y != x]) ^ 1)
                    return True
        return False

    def choose(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """``then`` if ``condition`` else ``otherwise``."""
        if condition & 1:
            condition, then, otherwise = condition ^ 1, otherwise, then
        if condition == TRUE or then == otherwise:
            return then
        if then == condition:
            then = TRUE
        elif then == condition ^ 1:
            then = FALSE
        if otherwise == condition:
            otherwise = FALSE
        elif otherwise == condition ^ 1:
            otherwise = TRUE
        if then == TRUE:
            return self.disj(condition, otherwise)
        if then == FALSE:
            return self.conj(condition ^ 1, otherwise)
        if otherwise == TRUE:
            return self.disj(condition ^ 1, then)
        if otherwise == FALSE:
            return self.conj(condition, then)
        sign = then & 1
        key = (condition, then ^ sign, otherwise ^ sign)
        made = self._choices.get(key)
        if made is None:
            self._nodes.append(Choice(*key))
            made = self._choices[key] = 2 * (len(self._nodes) - 1)
        return made ^ sign

    def same(self, left: Literal, right: Literal) -> Literal:
        """Whether both are true or both false."""
        if left >> 1 > right >> 1:
            left, right = right, left
        return self.choose(left, right, right ^ 1)

    def exactly_one(self, group: Sequence[Literal]) -> Literal:
        """That exactly one of these variables is true, stated in full (not taken as known)."""
        pairs = [(x, y) for i, x in enumerate(group) for y in group[i + 1 :]]
        return self._stated([self._stated([x ^ 1 for x in group]) ^ 1, *(self._stated(p) ^ 1 for p in pairs)])

    def _stated(self, literals: Iterable[Literal]) -> Literal:
        """A conjunction as it stands: nothing that is known of groups is used."""
        ordered = tuple(sorted(set(literals)))
        if len(ordered) == 1:
            return ordered[0]
        made = self._in_full.get(ordered)
        if made is None:
            self._nodes.append(Conjunction(ordered))
            made = self._in_full[ordered] = 2 * (len(self._nodes) - 1)
        return made

    def reachable(self, roots: Iterable[Literal], since: int = 0) -> list[int]:
        """The nodes that some roots rest on, operands first; of those that were made ``since`` a place."""
        seen = set[int]()
        stack = [0, *(x >> 1 for x in roots)]
        while stack:
            place = stack.pop()
            if place < since or place in seen:
                continue
            seen.add(place)
            stack.extend(x >> 1 for x in self.operands(place))
        return sorted(seen)  # a node is made after its operands

    def operands(self, place: int) -> tuple[Literal, ...]:
        """What a node, by its number, is made of."""
        return operands(self._nodes[place])

    def value(self, roots: Sequence[Literal], true: set[Literal]) -> list[bool]:
        """The values of terms when exactly the variables in ``true`` are."""
        values: dict[int, bool] = {}

        def of(literal: Literal) -> bool:
            return values[literal >> 1] ^ bool(literal & 1)

        for place in self.reachable(roots):
            match self._nodes[place]:
                case Conjunction(literals):
                    values[place] = all(map(of, literals))
                case Choice(condition, then, otherwise):
                    values[place] = of(then) if of(condition) else of(otherwise)
                case Variable():
                    values[place] = 2 * place in true
        return [of(x) for x in roots]
