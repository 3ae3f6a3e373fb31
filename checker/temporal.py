"""The engine ``temporal``: progress under fairness, on the whole reachable graph.

    progression = check_progress(program, choices)
    progression.verdicts["served"]

A progress property is violated by a *lasso*: a way to a loop that the run can go round for ever, fairly,
while something waits. The loop is looked for in the strongly connected parts of the graph of states that
do not meet the goal (``explicit/fair.py``); where there is none, the property holds. Of all lassos one with
a shortest way to its loop is reported, replayed and judged by the interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from slotproof.checker.explicit.engine import coverage_of
from slotproof.checker.explicit.fair import FairRuns, Lasso
from slotproof.checker.explicit.graph import Graph, Stuck
from slotproof.checker.explicit.paths import Disagreement, Paths
from slotproof.checker.explicit.search import Report, Search
from slotproof.checker.explicit.store import default_memory
from slotproof.checker.vacuity import vacuous
from slotproof.checker.verdict import Coverage, Holds, Limits, Unknown, Verdict, Violated
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.lasso import check_lasso
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program


@dataclass(frozen=True, slots=True)
class Progression:
    """A verdict for each progress property that was asked for, and what was covered."""

    verdicts: dict[str, Verdict]
    coverage: Coverage


class _Limit(Exception):
    """A limit that ends the work on the graph; its message is the reason."""


def check_progress(
    program: Program,
    choices: tuple[int, ...] = (),
    asked: Sequence[str] | None = None,
    *,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> Progression:
    """Look for fair runs that wait for ever, for each progress property of a program (or those asked for).

    A limit or a signal ends in ``unknown``. ``progress`` is called a few times a second. Raises
    ``ModelError`` where a step, a property or a fairness condition leaves the model.
    """
    names = [p.name for p in program.progress if asked is None or p.name in asked]
    limits = limits or Limits()
    search = Search(program, choices, limits)
    stopped = search.run(progress)
    if search.broken is not None:
        Paths(search).error(search.broken)
    coverage = coverage_of(search, stopped)
    if stopped is not None:
        return Progression({name: Unknown(name, stopped, coverage) for name in names}, coverage)
    verdicts: dict[str, Verdict] = {}
    try:
        runs = _runs(search, limits, progress)
        for name in names:
            verdicts[name] = _verdict(search, runs, name, coverage)
    except _Limit as limit:
        verdicts |= {name: Unknown(name, str(limit), coverage) for name in names if name not in verdicts}
    except KeyboardInterrupt:
        reason = "interrupted by SIGINT"
        verdicts |= {name: Unknown(name, reason, coverage) for name in names if name not in verdicts}
    return Progression(verdicts, coverage)


def _runs(search: Search, limits: Limits, progress: Report | None) -> FairRuns:
    graph = Graph(search)
    memory = limits.memory or default_memory()
    if graph.memory > memory:
        raise _Limit(
            f"limit of memory reached: the graph of {search.transitions:,} steps takes"
            f" {graph.memory >> 20:,} MiB of {memory >> 20:,}"
        )

    def look() -> None:
        if limits.seconds is not None and time.monotonic() - search.started >= limits.seconds:
            raise _Limit(f"limit of {limits.seconds:g} seconds reached")
        if progress is not None:
            progress(search.progress())

    try:
        graph.build(look)
    except Stuck as stuck:
        _error(search, stuck.state)
    return FairRuns(graph, look)


def _verdict(search: Search, runs: FairRuns, name: str, coverage: Coverage) -> Verdict:
    program, graph = search.program, runs.graph
    found: tuple[Lasso, str] | None = None
    met = False
    for number, obligation in enumerate(graph.obligations):
        declared = program.progress[obligation.progress]
        if declared.name != name:
            continue
        premise = graph.premise(number)
        met = met or bool(premise.any())
        lasso = runs.violation(premise, graph.goal(number))
        if lasso is not None and (found is None or lasso.length < found[0].length):
            found = lasso, f"{declared.premise.site.text} leads to {declared.goal.site.text}"
    if found is not None:
        trace = _trace(search, graph, name, *found)
        return Violated(name, (trace,), coverage)
    declared = next(p for p in program.progress if p.name == name)
    site = declared.premise.site
    reason = vacuous(program, name, coverage)
    if reason is None and not met:
        reason = f"premise '{site.text}' at {site} was never met"
    return Holds(name, coverage) if reason is None else Unknown(name, f"vacuous: {reason}", coverage)


def _trace(search: Search, graph: Graph, name: str, lasso: Lasso, part: str) -> Trace:
    """The trace of a lasso, which the interpreter has found to be fair and to wait for ever."""
    onward = []
    for step in (*lasso.stem, *lasso.loop):
        source = int(graph.sources[step])
        onward.append((source, step - int(graph.first[source])))
    paths = Paths(search)
    trace = paths.lasso(name, part, lasso.start, onward, len(lasso.loop))
    try:
        check_lasso(trace, search.program, paths.interpreter)
    except TraceError as error:
        raise Disagreement(f"a lasso of {name} is none: {error}") from None
    return trace


def _error(search: Search, state: int) -> NoReturn:
    """Raise the model error of a progress property or fairness condition, as the interpreter words it."""
    program = search.program
    paths = Paths(search)
    valuation = paths.trace("", "", state).states[-1]
    interpreter: Interpreter = paths.interpreter
    graph = Graph(search)
    for obligation in graph.obligations:
        interpreter.pending(obligation.progress, obligation.values, valuation)
    for number, numbers, _ in interpreter.successors(valuation):
        for fair_set in graph.fair_sets:
            interpreter.fair(fair_set.sets, fair_set.values, valuation, number, numbers)
    raise Disagreement(f"a model error of system {program.name} does not come up when replayed")
