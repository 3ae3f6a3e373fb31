"""The results as SARIF 2.1.0, the format of static analysis that code hosts show beside the code.

The way to a violation is the result's code flow: one location a step, the action that is taken there. What
the baseline lists is there too, suppressed with its reason; ``unknown`` is a result that stays open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from slotproof.checker.report import words
from slotproof.checker.report.places import Place, as_place, place_of, step_site
from slotproof.checker.results import Cell, Results, Standing
from slotproof.checker.runs import program_of
from slotproof.checker.verdict import Violated
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

REPOSITORY, PACKAGE = "%SRCROOT%", "SLOTPROOF"
"""What paths are relative to: the repository, or the place where this package is installed."""


def lines(results: Results) -> Iterator[str]:
    """The document, line by line."""
    yield from json.dumps(document(results), indent=1, ensure_ascii=False).splitlines()


def document(results: Results) -> dict[str, Any]:
    """The whole log: one run with a rule for each property."""
    rules = {c.name: _rule(c) for c in results.cells}
    order = list(rules)
    telling = [c for c in results.cells if c.word != "holds" or c.standing is not Standing.EXPECTED]
    run = {
        "tool": {
            "driver": {
                "name": "slotproof",
                "version": version("slotproof"),
                "rules": list(rules.values()),
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            REPOSITORY: {"description": {"text": "The root of the checked repository."}},
            PACKAGE: {"description": {"text": "The folder in which slotproof is installed."}},
        },
        "invocations": [
            {
                "executionSuccessful": not results.failures and not results.interrupted,
                "exitCode": results.status,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": text}} for text in _notices(results)
                ],
            }
        ],
        "results": [_result(c, order.index(c.name), listed=results.baseline is not None) for c in telling],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _notices(results: Results) -> Iterator[str]:
    yield from results.failures
    for (scenario, name, release, _), _known in results.gone:
        yield f"the baseline lists {name} of {scenario} on {release}, and there is no such property"
    if results.interrupted:
        yield "interrupted"


def _rule(cell: Cell) -> dict[str, Any]:
    says = words.meaning(cell)
    return {
        "id": cell.name,
        "shortDescription": {"text": re.split(r"(?<=[.?!]) ", says)[0]},
        "fullDescription": {"text": says},
        "defaultConfiguration": {"level": "error"},
    }


def _result(cell: Cell, rule: int, *, listed: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": cell.name,
        "ruleIndex": rule,
        "kind": "open" if cell.standing is Standing.UNKNOWN else "fail",
        "level": "none" if cell.standing is Standing.UNKNOWN else "error",
        "message": {"text": words.headline(cell)},
        "locations": [_location(place_of(cell))],
        "partialFingerprints": {"slotproof/v1": "/".join(filter(None, cell.key))},
        "properties": {"scenario": cell.scenario, "release": cell.release, "engine": cell.engine},
    }
    if isinstance(cell.verdict, Violated):
        found["codeFlows"] = [_flow(trace, cell) for trace in cell.verdict.traces if trace.steps]
        known = cell.standing is Standing.EXPECTED
        found["suppressions"] = [{"kind": "external", "justification": cell.note or ""}] if known else []
        if listed:
            found["baselineState"] = "unchanged" if known else "new"
    return found


def _flow(trace: Trace, cell: Cell) -> dict[str, Any]:
    program = program_of(cell.subject)
    locations = [
        {"location": {**_location(as_place(step_site(program, step))), "message": {"text": call(step)}}}
        for step in (*([trace.start] if trace.start else []), *trace.steps)
    ]
    return {"threadFlows": [{"locations": locations}]}


def _location(place: Place) -> Mapping[str, Any]:
    base = REPOSITORY if place.in_repository else PACKAGE
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(place.path), "uriBaseId": base},
            "region": {"startLine": place.line},
        }
    }
