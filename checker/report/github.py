"""For GitHub Actions: annotations at the lines that a pull request changes, and the step's summary.

Annotations are lines of the form ``::error file=…,line=…::message`` that the runner picks out of the log
(GitHub's "workflow commands"); the summary is the Markdown file that ``$GITHUB_STEP_SUMMARY`` names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from slotproof.checker.report import words
from slotproof.checker.report.places import Place, place_of
from slotproof.checker.results import Cell, Results, Standing
from slotproof.checker.usage import UsageProblem
from slotproof.checker.verdict import Violated

SUMMARY = "GITHUB_STEP_SUMMARY"

MOST_BYTES = 900_000
"""GitHub refuses a summary over one MiB whole; stories stop below that."""


def lines(results: Results) -> Iterator[str]:
    """One annotation for each line of source and kind of verdict, shortest trace first."""
    groups: dict[tuple[Place, str, str], list[Cell]] = {}
    telling = [c for c in results.cells if c.standing is not Standing.EXPECTED]
    for cell in sorted(telling, key=lambda c: (c.standing.value, c.depth)):
        name = cell.name if cell.standing is Standing.NEWS else ""
        groups.setdefault((place_of(cell), cell.word, name), []).append(cell)
    for (place, word, name), cells in groups.items():
        level = "warning" if cells[0].standing is Standing.UNKNOWN else "error"
        yield command(level, _message(cells), title=f"{name or 'slotproof'}: {word}", place=place)
    for (scenario, name, release, _), _known in results.gone:
        text = f"the baseline lists {name} of {scenario} on {release}, and there is no such property"
        yield command("error", text, title=f"{name}: gone")
    for failure in results.failures:
        yield command("error", failure, title="slotproof")


def command(level: str, message: str, *, title: str, place: Place | None = None) -> str:
    """One workflow command; ``level`` is ``error``, ``warning`` or ``notice``."""
    given = {"title": title}
    if place is not None and place.in_repository:
        given = {"file": place.path, "line": str(place.line), **given}
    properties = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in given.items())
    return f"::{level} {properties}::{_escaped(message)}"


def _message(cells: list[Cell]) -> str:
    if cells[0].standing is Standing.UNKNOWN:
        where = dict.fromkeys(f"{c.scenario}{f' on {c.release}' if c.release else ''}" for c in cells)
        return f"{words.count(len(cells), 'verdict')} unknown ({', '.join(where)}): {words.detail(cells[0])}"
    first = words.headline(cells[0])
    more = [f"in {c.scenario}{f' on {c.release}' if c.release else ''} {words.detail(c)}" for c in cells[1:]]
    return "\n".join([first, *(["also " + "; ".join(more)] if more else []), *_way(cells[0])])


def _way(cell: Cell) -> Iterator[str]:
    if isinstance(cell.verdict, Violated):
        yield from words.way(cell.verdict.trace)


def summarise(document: Iterable[str], results: Results) -> None:
    """Add a Markdown document to the step's summary, if this runs in one, then the stories."""
    given = os.environ.get(SUMMARY)
    if not given:
        return
    text = "\n".join(document) + "\n"
    for cell in results.cells:
        if cell.standing is Standing.NEWS and isinstance(cell.verdict, Violated):
            story = _folded(words.headline(cell), words.told(cell))
            if len((text + story).encode()) > MOST_BYTES:
                text += "\nThe other stories are in the traces.\n"
                break
            text += story
    try:
        with Path(given).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageProblem(f"{SUMMARY}={given}: cannot be written: {error.strerror}") from None


def _folded(title: str, body: str) -> str:
    return f"\n<details><summary>{title}</summary>\n\n```text\n{body}```\n\n</details>\n"


def _escaped(text: str, more: str = "") -> str:
    """Percent-escaped as the runner reads it."""
    for letter in "%\r\n" + more:
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text
