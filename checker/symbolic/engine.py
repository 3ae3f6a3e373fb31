"""The engine ``bounded``: Z3 looks for a violation of at most so many steps.

    verdicts = check_bounded(program, choices, ["no-slot-leak", "deadlock"], Limits(depth=16))

A violation's trace is one of the shortest. Nothing found says nothing beyond the depth: the verdict
is then ``unknown``, whose reason names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slotproof.checker.symbolic.bounded import Run, Unrolling
from slotproof.checker.symbolic.layers import layers
from slotproof.checker.symbolic.relation import Bad, Encoding, Relation, relation
from slotproof.checker.symbolic.replaying import Disagreement, Replay
from slotproof.checker.symbolic.solving import Budget, Stopped, until_interrupted
from slotproof.checker.verdict import Coverage, Limits, Unknown, Verdict, Violated
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.errors import ModelError
from slotproof.model.language.program import Program
from slotproof.model.near import near_or_all

__all__ = [
    "DEFAULT_DEPTH",
    "Disagreement",
    "Progress",
    "Relation",
    "check_bounded",
    "layers",
    "relation",
]

DEFAULT_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: the depth that is searched now, and the properties not violated so far."""

    depth: int
    open: int
    seconds: float


Report = Callable[[Progress], None]


def check_bounded(
    program: Program,
    choices: Sequence[int] = (),
    properties: Sequence[str] | None = None,
    *,
    limits: Limits | None = None,
    progress: Report | None = None,
    encoding: Encoding = "one-hot",
    broken: Callable[[ModelError], None] | None = None,
) -> dict[str, Verdict]:
    """Search runs of 0, 1, … steps for violations of these properties (``None``: of all).

    A property is done with the depth at which it is first violated; it gets one trace for each of its
    conjuncts that fails at that depth. Depth (20 by default), seconds and memory of ``limits`` end
    the search, and so do SIGINT and SIGTERM: what is open then is ``unknown``. The coverage says how
    deep the search was; it counts no states. Raises ``ModelError`` where a run leaves the model, as the
    interpreter words it, unless all properties are violated by runs that are not longer; with ``broken`` this
    is called with the error, and the verdicts are those on what is violated by such runs. ``KeyError`` for
    a property that the program does not have.
    """
    limits = limits or Limits()
    names = tuple(dict.fromkeys(program.safety if properties is None else properties))
    _known(program, names)
    search = _Search(program, choices, names, limits, encoding)
    with until_interrupted(search.budget):
        return search.run(progress, broken)


def _known(program: Program, names: Sequence[str]) -> None:
    for name in names:
        if name not in program.safety:
            raise KeyError(f"{program.name} has no property '{name}'{near_or_all(name, program.safety)}")


class _Search:
    def __init__(
        self,
        program: Program,
        choices: Sequence[int],
        names: Sequence[str],
        limits: Limits,
        encoding: Encoding,
    ) -> None:
        self.budget = Budget(limits.seconds, limits.memory)
        self._program = program
        self._choices = tuple(choices)
        self._names = names
        self._depth = DEFAULT_DEPTH if limits.depth is None else limits.depth
        self._encoding: Encoding = encoding
        self._replay = Replay(program, choices, "bounded")
        self._traces: dict[str, list[Trace]] = {}
        self._violated_at: dict[str, float] = {}
        self._done = -1  # the greatest depth that is searched whole

    def run(self, progress: Report | None, broken: Callable[[ModelError], None] | None) -> dict[str, Verdict]:
        """The verdict on each property; after a model error on each that is violated."""
        stopped = f"depth limit of {self._depth}"
        try:
            self._deepen(progress)
        except Stopped as e:
            stopped = str(e)
        except ModelError as error:
            if broken is None:
                raise
            broken(error)
            return {name: self._verdict(name, "model error") for name in self._traces}
        return {name: self._verdict(name, stopped) for name in self._names}

    def _deepen(self, progress: Report | None) -> None:
        made = relation(self._program, self._choices, self._encoding, self.budget.check)
        bads = [bad for name in self._names for bad in made.bads(name)]
        unrolling = Unrolling(made, bads, self.budget)
        while self._done < self._depth and len(self._traces) < len(self._names):
            if progress:
                progress(Progress(self._done + 1, len(self._names) - len(self._traces), self.budget.seconds))
            unrolling.extend()
            open_ = [i for i, bad in enumerate(bads) if bad.property not in self._traces]
            self._find(unrolling, bads, open_)
            self._done += 1
            unrolling.close([i for i in open_ if bads[i].property not in self._traces])

    def _find(self, unrolling: Unrolling, bads: Sequence[Bad], open_: Sequence[int]) -> None:
        """Keep one run for each way of failing that is possible at this depth."""
        left = list(open_)
        wrong: Run | None = None
        while left:
            # An error is asked for until one is found, unless nothing has to be searched any deeper.
            errors = wrong is None and len(self._traces) < len(self._names)
            found = unrolling.run(left, errors=errors)
            if found is None:
                break
            run, violated = found
            wrong = wrong if violated else run
            for i in violated:
                name = bads[i].property
                self._traces.setdefault(name, []).append(self._replay.trace(run, bads[i]))
                self._violated_at.setdefault(name, self.budget.seconds)
            left = [i for i in left if i not in violated]
        if wrong is not None and len(self._traces) < len(self._names):
            self._replay.error(wrong, self._names)

    def _verdict(self, name: str, stopped: str) -> Verdict:
        traces = self._traces.get(name)
        if traces:
            coverage = self._coverage(len(traces[0]), self._violated_at[name], "violated")
            return Violated(name, tuple(traces), coverage)
        found = f"nothing to depth {self._done}" if self._done >= 0 else "nothing searched"
        reason = found if self._done == self._depth else f"{stopped}; {found}"
        return Unknown(name, reason, self._coverage(max(self._done, 0), self.budget.seconds, stopped))

    def _coverage(self, depth: int, seconds: float, stopped: str) -> Coverage:
        """Only the depth is known: a solver does not count states, and premises are not asked for."""
        return Coverage(
            states=0,
            transitions=0,
            depth=depth,
            seconds=seconds,
            complete=False,
            stopped=stopped,
            fired={},
            premises=(False,) * len(self._program.premises),
            witnesses={},
        )
