"""The results as JUnit's XML, which CI servers show as tests: one suite a search's subject.

A violation that counts fails, with the story of its shortest trace; one that the baseline lists is skipped
with its reason; ``unknown`` is an error, for it must never look like a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from slotproof.checker.report import words
from slotproof.checker.results import Cell, Results, Standing
from slotproof.checker.verdict import Violated

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The letters that no XML file may hold."""


def lines(results: Results) -> Iterator[str]:
    """The document, line by line."""
    root = ElementTree.Element("testsuites", name="slotproof")
    shares = _shares(results.cells)
    for subject, engine in dict.fromkeys((c.subject, c.engine) for c in results.cells):
        cells = [c for c in results.cells if (c.subject, c.engine) == (subject, engine)]
        named = ".".join([cells[0].scenario, *([subject.release] if subject.release else [])])
        _suite(root, named, engine, cells, shares)
    _rest(root, results)
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield from ElementTree.tostring(root, encoding="unicode").splitlines()


def _shares(cells: Sequence[Cell]) -> dict[int, float]:
    """The seconds of each search, shared equally among the verdicts that it gave."""
    return {
        number: next(c for c in cells if c.search == number).verdict.coverage.seconds
        / sum(c.search == number for c in cells)
        for number in {c.search for c in cells}
    }


def _suite(
    root: ElementTree.Element, named: str, engine: str, cells: Sequence[Cell], shares: dict[int, float]
) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=_plain(f"{named} ({engine})"))
    for cell in cells:
        case = ElementTree.SubElement(suite, "testcase", classname=_plain(named), name=_plain(cell.name))
        case.set("time", f"{shares[cell.search]:.3f}")
        _judged(case, cell)
    suite.set("time", f"{sum(shares[c.search] for c in cells):.3f}")
    _count(suite)


def _judged(case: ElementTree.Element, cell: Cell) -> None:
    detail = _plain(f"{cell.word}: {words.detail(cell)}")
    if cell.standing is Standing.UNKNOWN:
        ElementTree.SubElement(case, "error", type="unknown", message=detail)
    elif cell.standing is Standing.NEWS:
        failure = ElementTree.SubElement(case, "failure", type=cell.word, message=detail)
        failure.text = _plain(words.told(cell) if isinstance(cell.verdict, Violated) else detail)
    elif isinstance(cell.verdict, Violated):
        ElementTree.SubElement(case, "skipped", type="known", message=detail)
    if cell.traces:
        output = ElementTree.SubElement(case, "system-out")
        output.text = _plain("\n".join(map(str, cell.traces)))


def _rest(root: ElementTree.Element, results: Results) -> None:
    """What has no verdict: listed violations of properties that are gone, searches without an answer."""
    if not results.gone and not results.failures and not results.interrupted:
        return
    suite = ElementTree.SubElement(root, "testsuite", name="slotproof")
    for (scenario, name, release, _), known in results.gone:
        case = ElementTree.SubElement(suite, "testcase", classname="baseline", name=_plain(name))
        text = f"the baseline lists {name} of {scenario} on {release} ({known.reason}); it is not there"
        ElementTree.SubElement(case, "failure", type="gone", message=_plain(text))
    failures = [*results.failures, *(["interrupted"] if results.interrupted else [])]
    for number, text in enumerate(failures, 1):
        case = ElementTree.SubElement(suite, "testcase", classname="slotproof", name=f"search {number}")
        ElementTree.SubElement(case, "error", type="no answer", message=_plain(text))
    _count(suite)


def _count(suite: ElementTree.Element) -> None:
    suite.set("tests", str(len(suite)))
    for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(total, str(len(suite.findall(f"testcase/{tag}"))))


def _plain(text: str) -> str:
    return NO_XML.sub("?", text)
