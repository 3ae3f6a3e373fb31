"""One JSON object a line for each (release, scenario, property, engine).

A verdict on progress has one key more, the fairness that it assumes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from slotproof.checker.report import words
from slotproof.checker.results import Cell, Results
from slotproof.checker.runs import TEMPORAL, program_of
from slotproof.checker.verdict import Unknown


def lines(results: Results) -> Iterator[str]:
    """The lines, in the order of the cells."""
    for cell in results.cells:
        yield json.dumps(_object(cell), ensure_ascii=False)


def _object(cell: Cell) -> dict[str, object]:
    coverage = cell.verdict.coverage
    assumed = {"fairness": words.assumptions(program_of(cell.subject))} if cell.engine == TEMPORAL else {}
    return {
        "release": cell.release,
        "scenario": cell.scenario,
        "property": cell.name,
        "engine": cell.engine,
        "verdict": cell.word,
        "complete": coverage.complete,
        "states": coverage.states,
        "transitions": coverage.transitions,
        "depth": cell.depth,
        "seconds": round(coverage.seconds, 3),
        "cached": cell.remembered,
        "trace": str(cell.traces[0]) if cell.traces else None,
        "reason": cell.verdict.reason if isinstance(cell.verdict, Unknown) else cell.note,
        **assumed,
    }
