"""What can happen in a state: the enabled steps, and for every other one the condition that blocks it.

The conjuncts of a guard are evaluated in the IR, each once for the values of the parameters that it reads,
so that an action with hundreds of argument combinations costs a few evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from math import prod

from slotproof.counterexamples.encoding import label
from slotproof.counterexamples.evidence import Evidence, Found
from slotproof.counterexamples.reason import Reason
from slotproof.counterexamples.words import place
from slotproof.model.language import ir
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError
from slotproof.model.language.operands import to_code
from slotproof.model.language.program import Program
from slotproof.model.language.types import ScalarType, SetType
from slotproof.model.language.walk import expressions_of

MOST_TRIED = 4096
"""Argument combinations of one action that are looked at. Where there are more, a set parameter takes
the empty set and sets of one element alone, which is said."""

MOST_NAMED = 48
"""Enabled steps of one action that are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A condition that blocks ``count`` argument combinations of an action; ``example`` is one."""

    text: str
    place: str
    count: int
    example: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What one action can do in a state: the calls that are enabled, and what blocks the others."""

    action: str
    actor: str
    tried: int
    total: int
    enabled: tuple[str, ...]
    more: int
    blocked: tuple[Blocked, ...]


@dataclass
class _Block:
    conjunct: ir.Conjunct
    example: tuple[int, ...]
    count: int = 0


@dataclass
class Alternatives:
    """Answers for one program under one choice vector; what guards read is looked up once."""

    program: Program
    choices: tuple[int, ...]
    actors: dict[str, str] = field(init=False)
    _read: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.actors = {a.name: a.actor for a in self.program.system.actions}

    def of(self, state: Valuation) -> list[Choice]:
        """Every action of the program in a state that has not crashed, in order of declaration."""
        evidence = Evidence(self.program, self.choices, {"state": state})
        return [self._choice(n, action, evidence) for n, action in enumerate(self.program.actions)]

    def steps(self, state: Valuation) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Every enabled step that ``of`` looks at: the action's number and its arguments."""
        evidence = Evidence(self.program, self.choices, {"state": state})
        for number, action in enumerate(self.program.actions):
            memo: dict[tuple[int, tuple[int, ...]], bool] = {}
            for numbers in _arguments(action, prod(p.type.size for p in action.parameters)):
                if self._first_false(number, action, numbers, evidence, memo) is None:
                    yield number, numbers

    def _choice(self, number: int, action: ir.Action, evidence: Evidence) -> Choice:
        total = prod(p.type.size for p in action.parameters)
        memo: dict[tuple[int, tuple[int, ...]], bool] = {}
        blocks: dict[int, _Block] = {}
        enabled: list[str] = []
        more = tried = 0
        for numbers in _arguments(action, total):
            tried += 1
            which = self._first_false(number, action, numbers, evidence, memo)
            if which is None:
                if len(enabled) < MOST_NAMED:
                    enabled.append(call_of(action, numbers))
                else:
                    more += 1
            else:
                block = blocks.setdefault(which, _Block(action.guard[which], numbers))
                block.count += 1
        blocked = tuple(
            _blocked(action, b, evidence) for b in sorted(blocks.values(), key=lambda b: -b.count)
        )
        actor = self.actors.get(action.name, "")
        return Choice(action.name, actor, tried, total, tuple(enabled), more, blocked)

    def _first_false(
        self,
        number: int,
        action: ir.Action,
        numbers: tuple[int, ...],
        evidence: Evidence,
        memo: dict[tuple[int, tuple[int, ...]], bool],
    ) -> int | None:
        """The first conjunct of the guard that is false; one that fails blocks as well."""
        for i, conjunct in enumerate(action.guard):
            reads = self._reads(number, i)
            key = (i, tuple(numbers[j] for j in reads))
            if key not in memo:
                local = {p.name: Found(v) for p, v in zip(action.parameters, numbers, strict=True)}
                try:
                    memo[key] = bool(evidence.value(conjunct.condition, local).value)
                except ModelError:
                    memo[key] = False
            if not memo[key]:
                return i
        return None

    def _reads(self, number: int, conjunct: int) -> tuple[int, ...]:
        """Which parameters a conjunct of a guard reads."""
        key = (number, conjunct)
        if key not in self._read:
            action = self.program.actions[number]
            expressions = expressions_of(action.guard[conjunct].condition)
            names = {e.name for e in expressions if isinstance(e, ir.Local)}
            self._read[key] = tuple(i for i, p in enumerate(action.parameters) if p.name in names)
        return self._read[key]


def call_of(action: ir.Action, numbers: Sequence[int]) -> str:
    """A step as a call of its action, of numbers as the IR has them."""
    values = (p.type.decode(to_code(p.type, n)) for p, n in zip(action.parameters, numbers, strict=True))
    given = (f"{p.name}={label(v)}" for p, v in zip(action.parameters, values, strict=True))
    return f"{action.name}({', '.join(given)})"


def _blocked(action: ir.Action, block: _Block, evidence: Evidence) -> Blocked:
    local = {p.name: Found(v) for p, v in zip(action.parameters, block.example, strict=True)}
    why = Reason(evidence).of(block.conjunct.condition, local)
    site = block.conjunct.site
    return Blocked(site.text, place(site), block.count, call_of(action, block.example), why)


def _arguments(action: ir.Action, total: int) -> Iterator[tuple[int, ...]]:
    """The argument combinations that are looked at, the first parameter varying slowest."""
    few = total > MOST_TRIED
    return islice(product(*(_values(p.type, few) for p in action.parameters)), MOST_TRIED)


def _values(type_: ScalarType, few: bool) -> Sequence[int]:
    if few and isinstance(type_, SetType):
        return (0, *(1 << i for i in range(type_.item.size)))
    low = type_.low
    return range(low, low + type_.size)
