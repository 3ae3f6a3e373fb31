"""The model's states as flat mappings of plain values: what ``driver.py`` asks of a target's state."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from slotproof.counterexamples.encoding import label, names, plain
from slotproof.counterexamples.replay.driver import Plain, Setting
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.columns import Valuation
from slotproof.model.language.domains import Domain
from slotproof.model.language.program import Program
from slotproof.model.language.types import (
    EnumType,
    IndexType,
    OptionalType,
    ScalarType,
    SetType,
)


class Flat:
    """Makes flat mappings of a program's valuations, quickly: names and values are worked out once."""

    def __init__(self, program: Program) -> None:
        self._reads: list[tuple[str, ScalarType, int, int | None]] = []
        lengths = {c.name.removesuffix(".len"): c for c in program.columns if c.name.endswith(".len")}
        for column in program.columns:
            base = column.name.removesuffix("[#]")
            if column.name.endswith(".len"):
                continue
            items = 1 if base == column.name else column.dims[-1]
            keys = [[label(key.decode(i)) for i in range(key.size)] for key in column.keys]
            for place, names_ in enumerate(itertools.product(*keys)):
                name = base
                for key in names_:
                    name = name.replace("[]", f"[{key}]", 1)
                count = lengths[base].offset + place if base != column.name else None
                self._reads.append((name, column.type, column.offset + place * items, count))
        self._values: dict[tuple[int, int], Plain] = {}

    def __call__(self, state: Valuation) -> dict[str, Plain]:
        """A state by variable: ``{"ranks[rank0].pool.resident": frozenset({"base"}), …}``, with outputs."""
        found: dict[str, Plain] = {}
        for name, type_, at, count in self._reads:
            if count is None:
                found[name] = self._value(type_, state[at])
            else:
                found[name] = tuple(self._value(type_, code) for code in state[at : at + state[count]])
        return found

    def valuation(self, seen: Mapping[str, Plain], otherwise: Valuation) -> Valuation:
        """The valuation of a flat mapping; what it leaves out is taken from ``otherwise``."""
        cells = list(otherwise)
        for name, type_, at, count in self._reads:
            if name in seen and count is None:
                cells[at] = self._code(type_, seen[name])
            elif name in seen:
                assert count is not None
                for i in range(cells[count]):
                    cells[at + i] = 0
                cells[count] = len(seen[name])
                for i, item in enumerate(seen[name]):
                    cells[at + i] = self._code(type_, item)
        return tuple(cells)

    def _code(self, type_: ScalarType, value: Plain) -> int:
        return next(code for code in range(type_.size) if self._value(type_, code) == value)

    def _value(self, type_: ScalarType, code: int) -> Plain:
        key = (id(type_), code)
        if key not in self._values:
            self._values[key] = plain_of(type_, type_.decode(code))
        return self._values[key]


def plain_of(type_: ScalarType, value: Any) -> Plain:
    """A scalar of the language as ``driver.py`` has it."""
    match type_:
        case OptionalType():
            return None if value is None else plain_of(type_.item, value)
        case EnumType() | IndexType():
            return names(type_)[type_.encode(value)]
        case SetType():
            known = names(type_.item)
            return frozenset(known[type_.item.encode(v)] for v in value)
        case _:
            return value


def plain_argument(value: Any) -> Plain:
    """An argument of a step as ``driver.py`` has it."""
    match value:
        case frozenset() | set():
            return frozenset(label(v) for v in value)
        case Domain():
            return label(value)
        case None | bool() | int() | str():
            return value
    return label(value)


def plain_arguments(step: Step) -> dict[str, Plain]:
    """The arguments of a step by name."""
    return {name: plain_argument(value) for name, value in step.arguments.items()}


def setting_of(trace: Trace, scenario: str) -> Setting:
    """What a target has to be for this trace."""
    start = None if trace.start is None else (trace.start.action, plain_arguments(trace.start))
    parameters: Mapping[str, Any] = {name: plain(value) for name, value in trace.parameters.items()}
    return Setting(scenario, trace.release, parameters, dict(trace.choices), start, trace.property)
