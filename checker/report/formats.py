"""Every format of the results by its name, for standard output and for files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

from slotproof.checker.report import github, jsonlines, junit, markdown, sarif, text
from slotproof.checker.results import Results

Writer = Callable[[Results], Iterator[str]]


def _text(results: Results) -> Iterator[str]:
    """The report for a person, as it is in a pipe: 80 columns, no colours."""
    file = io.StringIO()
    text.show(results, text.console(file), verbose=False, quiet=False)
    yield from file.getvalue().splitlines()


def _github(results: Results) -> Iterator[str]:
    """The report for the log, then the annotations, which the runner takes out of it."""
    yield from _text(results)
    yield from github.lines(results)


WRITERS: dict[str, Writer] = {
    "text": _text,
    "json": jsonlines.lines,
    "markdown": markdown.lines,
    "junit": junit.lines,
    "github": _github,
    "sarif": sarif.lines,
}
