"""Helpers for tests of the model: exhaustive verdicts of a scenario, and scripts that go through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from slotproof.checker.explicit.engine import Exploration, explore
from slotproof.checker.verdict import Violated
from slotproof.model.language import System
from slotproof.model.language.columns import Valuation, encode
from slotproof.model.language.compile import compile_system
from slotproof.model.language.errors import NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.releases import Release, release
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request
from slotproof.properties import SCENARIOS

BASE, A, B, C = (Adapter(i) for i in range(4))
R1, R2, R3 = (Request(i) for i in range(3))
RANK0, RANK1 = (Rank(i) for i in range(2))


def system_of(scenario: str, of: str | Release, full: bool = False, **parameters: Any) -> System:
    """A scenario of a release, with other values of some parameters."""
    chosen = release(of) if isinstance(of, str) else of
    return SCENARIOS[scenario].system(chosen, full).with_parameters(**parameters)


_PROGRAMS: dict[str, Program] = {}


def compiled(system: System) -> Program:
    """The program of a system; releases that differ in their choices alone share one."""
    properties = [p.function.__qualname__ for p in system.properties]
    alternatives = [d.names for d in system.decisions]
    key = repr((system.name, sorted(system.parameters.items()), properties, alternatives))
    if key not in _PROGRAMS:
        _PROGRAMS[key] = compile_system(system)
    return _PROGRAMS[key]


def explored(system: System) -> Exploration:
    """The whole graph of a system; the search must have come to its end."""
    program = compiled(system)
    exploration = explore(program, program.choices(system.choices))
    assert exploration.coverage.complete
    return exploration


def violations(system: System) -> dict[str, int]:
    """The length of the shortest trace to a violation, for each property that is violated."""
    found = {name: v for name, v in explored(system).verdicts().items() if isinstance(v, Violated)}
    return {name: len(v.traces[0]) for name, v in found.items()}


@cache
def known(scenario: str, of: str) -> dict[str, int]:
    """``violations`` of a scenario at its quick size."""
    return violations(system_of(scenario, of))


class Script:
    """A run of a system, step by step, in the interpreter. ``state`` is what the last step showed."""

    def __init__(self, system: System, **start: Any) -> None:
        self.program = compiled(system)
        self.interpreter = Interpreter(self.program, self.program.choices(system.choices))
        self.crash: str | None = None
        initial = self.program.initial
        self.valuation: Valuation = (
            self.interpreter.start(0, self.interpreter.numbers(initial[0], start))
            if initial
            else self.program.start
        )

    @property
    def state(self) -> Server:
        """The state with the outputs of the last step; changing it changes nothing."""
        server = self.interpreter.object(self.valuation)
        assert isinstance(server, Server)
        return server

    def stored(self) -> Valuation:
        """The state without outputs, to compare."""
        return self.interpreter.stored(self.valuation)

    def edit(self, change: Callable[[Server], None]) -> Script:
        """Go on from a state that is put together by hand."""
        server = self.state
        change(server)
        self.valuation = encode(self.program.state, server)
        return self

    def do(self, action: str, **arguments: Any) -> Server:
        """Take a step; it must be enabled."""
        number = next(i for i, a in enumerate(self.program.actions) if a.name == action)
        numbers = self.interpreter.numbers(self.program.actions[number], arguments)
        outcome = self.interpreter.step(self.interpreter.fresh(self.valuation), number, numbers)
        self.valuation, self.crash = outcome.state, outcome.crash
        return self.state

    def cannot(self, action: str, **arguments: Any) -> None:
        """The step must not be enabled."""
        try:
            self.do(action, **arguments)
        except NotEnabled:
            return
        raise AssertionError(f"{action} is enabled")
