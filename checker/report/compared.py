"""What ``compare`` found as results, for the formats that know verdicts alone: junit, github, sarif.

What is lost counts, as a violation that no baseline lists does; what both sides violate is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slotproof.checker.compare import Change, Comparison, Relation, Row
from slotproof.checker.report import comparison, github, junit, sarif
from slotproof.checker.results import Cell, Results, Standing
from slotproof.checker.runs import NOTHING
from slotproof.checker.verdict import Unknown, Verdict, Violated


def as_results(found: Comparison) -> Results:
    """A cell for each verdict of the candidate, and one for each behaviour that is unknown."""
    numbers = {key: n for n, key in enumerate(dict.fromkeys((r.scenario, r.engine) for r in found.rows))}
    cells = [
        cell
        for row in found.rows
        if (cell := _cell(row, found, numbers[row.scenario, row.engine])) is not None
    ]
    for behaviour in found.behaviours:
        if behaviour.relation is Relation.UNKNOWN:
            verdict = Unknown("behaviour", behaviour.why or "the search did not end", NOTHING)
            subject = found.candidate.subjects[behaviour.scenario]
            number = len(numbers) + len(cells)
            cells.append(
                Cell(
                    subject,
                    behaviour.scenario,
                    "behaviour",
                    "explicit",
                    verdict,
                    number,
                    Standing.UNKNOWN,
                    None,
                )
            )
    return Results(cells, failures=found.failures, interrupted=found.interrupted, baseline={})


def _cell(row: Row, found: Comparison, number: int) -> Cell | None:
    verdict: Verdict | None = row.candidate
    standing, note = Standing.EXPECTED, None
    if verdict is None:
        return None
    if row.change is Change.UNKNOWN:
        standing = Standing.UNKNOWN
        if not isinstance(verdict, Unknown) and row.base is not None:
            verdict, note = row.base, f"on {found.base.label}"
    elif row.change is Change.LOST:
        standing, note = Standing.NEWS, f"it holds on {found.base.label}"
    elif isinstance(verdict, Violated):
        too = f"violated on {found.base.label} too"
        note = too if row.change is Change.KEPT else f"{found.base.label} is not asked"
    subject = found.candidate.subjects[row.scenario]
    own = row.trace is not None and row.telling is not None and row.telling[0] == "candidate"
    traces = (row.trace,) if own and row.trace is not None else ()
    return Cell(subject, row.scenario, row.name, row.engine, verdict, number, standing, note, traces)


def _text(found: Comparison) -> Iterator[str]:
    return (line for line, _ in comparison.text(found))


def _github(found: Comparison) -> Iterator[str]:
    yield from _text(found)
    yield from github.lines(as_results(found))


WRITERS: dict[str, Callable[[Comparison], Iterator[str]]] = {
    "text": _text,
    "json": comparison.jsonlines,
    "markdown": comparison.markdown,
    "junit": lambda found: junit.lines(as_results(found)),
    "github": _github,
    "sarif": lambda found: sarif.lines(as_results(found)),
}
