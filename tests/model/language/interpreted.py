"""Breadth-first search by the interpreter alone: what the engines are compared with."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from slotproof.model.language import ModelError
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import NotEnabled
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program


class TooLarge(Exception):
    """The system has more transitions than a test has time for."""


@dataclass
class Found:
    """What a search found.

    ``layers`` are the states by depth, without crash states; ``states`` and ``depth`` count those,
    too. ``violations`` gives the least depth by property, ``deadlock`` and ``no-crash-…`` included.
    ``errors`` are the model errors, with their places, of ``error_depth``, the least depth with any;
    a step or property that meets one leads nowhere and says nothing, and the search goes on.
    """

    layers: list[set[Valuation]] = field(default_factory=list)
    states: int = 0
    transitions: int = 0
    depth: int = 0
    violations: dict[str, int] = field(default_factory=dict)
    errors: set[str] = field(default_factory=set)
    error_depth: int | None = None


def explored(program: Program, choices: Sequence[int] = (), most: int = 10**6) -> Found:
    """Search all reachable states; ``TooLarge`` after this many transitions."""
    search = _Search(program, choices, most)
    search.start()
    while search.fresh:
        search.layer()
    return search.found


class _Search:
    def __init__(self, program: Program, choices: Sequence[int], most: int) -> None:
        self.program = program
        self.interpreter = Interpreter(program, choices)
        self.most = most
        self.found = Found()
        self.seen: set[tuple[Valuation, str | None]] = set()
        self.fresh: list[Valuation] = []

    def start(self) -> None:
        """Visit the initial states."""
        layer: list[Valuation] = []
        if not self.program.initial:
            self._visit(self.program.start, None, 0, layer)
        for number, action in enumerate(self.program.initial):
            for numbers in self.interpreter.all_arguments(action):
                try:
                    self._visit(self.interpreter.start(number, numbers), None, 0, layer)
                except NotEnabled:
                    pass
                except ModelError as e:
                    self._failed(e, 0)
        self._done(layer)

    def layer(self) -> None:
        """Take every step from the states found last."""
        depth = len(self.found.layers)
        layer: list[Valuation] = []
        for state in self.fresh:
            if not self._leave(state, depth, layer) and not self._may_stop(state, depth - 1):
                self._violated("deadlock", depth - 1)
        self._done(layer)

    def _done(self, layer: list[Valuation]) -> None:
        self.fresh = layer
        if layer:
            self.found.layers.append(set(layer))

    def _leave(self, state: Valuation, depth: int, layer: list[Valuation]) -> bool:
        """Take every step from a state; whether there is one, a failing one included."""
        some = False
        for number, action in enumerate(self.program.actions):
            for numbers in self.interpreter.all_arguments(action):
                try:
                    outcome = self.interpreter.step(state, number, numbers)
                except NotEnabled:
                    continue
                except ModelError as e:
                    self._failed(e, depth)
                    some = True
                    continue
                some = True
                self.found.transitions += 1
                if self.found.transitions > self.most:
                    raise TooLarge
                for i, judged in enumerate(self.program.properties):
                    if judged.over == "step" and (judged.actions is None or number in judged.actions):
                        self._judge(i, state, numbers, outcome.state, depth)
                self._visit(outcome.state, outcome.crash, depth, layer)
        return some

    def _visit(self, state: Valuation, crash: str | None, depth: int, layer: list[Valuation]) -> None:
        stored = self.interpreter.stored(state)
        if (stored, crash) in self.seen:
            return
        self.seen.add((stored, crash))
        self.found.states += 1
        self.found.depth = depth
        if crash is not None:
            self._violated(f"no-crash-{crash}", depth)
            return
        layer.append(stored)
        for i, judged in enumerate(self.program.properties):
            if judged.over == "state":
                self._judge(i, None, (), stored, depth)

    def _judge(
        self, number: int, before: Valuation | None, numbers: tuple[int, ...], after: Valuation, depth: int
    ) -> None:
        try:
            if not all(self.interpreter.holds(number, before, numbers, after)):
                self._violated(self.program.properties[number].name, depth)
        except ModelError as e:
            self._failed(e, depth)

    def _may_stop(self, state: Valuation, depth: int) -> bool:
        try:
            return self.interpreter.final(state)
        except ModelError as e:
            self._failed(e, depth)
            return True

    def _violated(self, name: str, depth: int) -> None:
        self.found.violations.setdefault(name, depth)

    def _failed(self, error: ModelError, depth: int) -> None:
        if self.found.error_depth is None or depth < self.found.error_depth:
            self.found.error_depth = depth
            self.found.errors = set()
        if depth == self.found.error_depth:
            self.found.errors.add(str(error))
