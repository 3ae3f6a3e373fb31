"""The results as Markdown, for a pull request or a step summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slotproof.checker.report import words
from slotproof.checker.results import Cell, Results, Standing
from slotproof.checker.runs import TEMPORAL, program_of


def lines(results: Results) -> Iterator[str]:
    """The document, line by line."""
    yield "# slotproof check"
    yield ""
    yield words.total(results.cells)
    for scenario, engine in dict.fromkeys((c.scenario, c.engine) for c in results.cells):
        cells = [c for c in results.cells if (c.scenario, c.engine) == (scenario, engine)]
        yield ""
        yield f"## {scenario} ({engine})"
        yield ""
        for scope in dict.fromkeys(s for c in cells if (s := words.scope(c.subject))):
            yield f"For {_escaped(scope)}."
            yield ""
        if engine == TEMPORAL:
            for told in dict.fromkeys(a for c in cells for a in words.assumptions(program_of(c.subject))):
                yield f"{_escaped(told[0].upper() + told[1:])}."
                yield ""
        yield from _matrix(cells)
        yield from _violations(cells)
    if results.gone:
        yield ""
        for (scenario, name, release, _), _ in results.gone:
            what = "the baseline lists it, and there is no such property"
            yield f"- **{name}** of {scenario} on {release}: {what}"


def _matrix(cells: Sequence[Cell]) -> Iterator[str]:
    releases = list(dict.fromkeys(c.release or "" for c in cells))
    at = {(c.release or "", c.name): c for c in cells}
    yield _row(["property", *(r or "verdict" for r in releases)])
    yield _row(["---"] * (len(releases) + 1))
    for name in dict.fromkeys(c.name for c in cells):
        yield _row([name, *(_short(at.get((r, name))) for r in releases)])
    shared: dict[int, list[str]] = {}
    for cell in cells:
        if cell.release and cell.release not in shared.setdefault(cell.search, []):
            shared[cell.search].append(cell.release)
    for group in shared.values():
        if len(group) > 1:
            yield ""
            yield f"One search for {words.spans(group, releases)}: their decisions are equal here."


def _violations(cells: Sequence[Cell]) -> Iterator[str]:
    telling = [c for c in cells if c.word != "holds" or c.standing is not Standing.EXPECTED]
    if telling:
        yield ""
    for cell in telling:
        where = f" on {cell.release}" if cell.release else ""
        trace = f" `{cell.traces[0]}`" if cell.traces else ""
        yield f"- **{cell.name}**{where}: {cell.word}, {_escaped(words.detail(cell))}{trace}"


def _short(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    text = words.short(cell)
    return text if cell.standing is Standing.EXPECTED else f"**{text}**"


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(t) for t in texts)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
