"""The results for a person at a terminal: a list for one subject, a matrix for many; 80 columns."""

from __future__ import annotations

import re
import shlex
import string
import sys
from collections.abc import Iterable, Sequence
from itertools import count as numbers
from typing import IO

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slotproof.checker.report import words
from slotproof.checker.results import Cell, Results, Standing
from slotproof.checker.runs import TEMPORAL, program_of
from slotproof.checker.verdict import Holds, Violated

COLUMN = 9
"""The width of a matrix's column: of the longest verdict in it."""

MOST_OF_A_NAME = 44
"""The width in which a property's name is not broken in a list."""

MOST_OF_A_RELEASE = 24
"""The width in which the name of a release or candidate is not broken in a matrix."""

STYLES = {"holds": "green", "violated": "bold red", "unknown": "yellow", "known": "yellow"}


class _Output(Console):
    """A console whose reader may go away: that is for the command line to answer, not an exit status of 1."""

    def on_broken_pipe(self) -> None:
        """Let the error go on; rich would end the program with the status of a violation."""
        raise BrokenPipeError


def console(file: IO[str] | None = None) -> Console:
    """Standard output, or a file; 80 columns wide where it is no terminal."""
    on_terminal = file is None and sys.stdout.isatty()
    return _Output(highlight=False, width=None if on_terminal else 80, file=file)


def show(results: Results, console: Console, *, verbose: bool, quiet: bool) -> None:
    """Print everything. ``quiet`` leaves out what is as expected."""
    printer = _Printer(results, console, verbose, quiet)
    printer.everything()


class _Printer:
    def __init__(self, results: Results, console: Console, verbose: bool, quiet: bool) -> None:
        self.results = results
        self.console = console
        self.verbose = verbose
        self.quiet = quiet

    def everything(self) -> None:
        """Each scenario with each engine, then what the baseline misses, then the sum."""
        for scenario, engine in dict.fromkeys((c.scenario, c.engine) for c in self.results.cells):
            cells = [c for c in self.results.cells if (c.scenario, c.engine) == (scenario, engine)]
            if self.quiet and all(c.standing is Standing.EXPECTED for c in cells):
                continue
            if len({c.subject for c in cells}) > 1:
                self._matrix(scenario, engine, cells)
            else:
                self._list(scenario, engine, cells)
            self._print()
        for (scenario, name, release, _), known in self.results.gone:
            text = f"the baseline lists {name} ({known.reason}), and there is no such property"
            self._line(f"{scenario} on {release}: {text}", style="bold red")
        if self.results.cells:
            self._line(words.total(self.results.cells))
        first = next((c.traces[0] for c in self.results.cells if c.traces), None)
        if first is not None:
            self._line("Read a trace with:")
            self._exactly(f"  slotproof explain {shlex.quote(str(first))}")

    def _list(self, scenario: str, engine: str, cells: Sequence[Cell]) -> None:
        subject = cells[0].subject
        self._line(f"{scenario}{f' on {subject.release}' if subject.release else ''}, {engine}", style="bold")
        self._scope(cells)
        shown = list(self._compact(cells))
        names = [cell.name for cell in shown if not isinstance(cell, str)]
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(no_wrap=True)
        table.add_column(min_width=min(max(map(len, names), default=0), MOST_OF_A_NAME))
        table.add_column(ratio=1)
        for cell in shown:
            if isinstance(cell, str):
                table.add_row(Text("  holds", style="green"), "no-crash-…", cell)
            else:
                table.add_row(self._word(cell), Text(cell.name, overflow="fold"), words.detail(cell))
        self._print(table)
        for cell in cells:
            for path in cell.traces:
                self._exactly(f"  {path}")

    def _compact(self, cells: Sequence[Cell]) -> Iterable[Cell | str]:
        """The cells; the crash causes that never happen are one text unless more is asked for."""
        calm = [c for c in cells if c.name.startswith("no-crash-") and isinstance(c.verdict, Holds)]
        calm = [] if self.verbose or len(calm) < 2 else [c for c in calm if c.standing is Standing.EXPECTED]
        for cell in cells:
            if cell not in calm and not (self.quiet and cell.standing is Standing.EXPECTED):
                yield cell
        if len(calm) > 1 and not self.quiet:
            yield f"{len(calm)} causes; --verbose names them"

    def _matrix(self, scenario: str, engine: str, cells: Sequence[Cell]) -> None:
        releases = list(dict.fromkeys(c.release or "" for c in cells))
        properties = list(dict.fromkeys(c.name for c in cells))
        at = {(c.release or "", c.name): c for c in cells}
        telling = [p for p in properties if any(words.short(c) != "holds" for c in cells if c.name == p)]
        self._line(f"{scenario}, {engine}, {words.count(len(releases), 'release')}", style="bold")
        self._scope(cells)
        letters = dict(zip(dict.fromkeys(c.search for c in cells), _letters(), strict=False))
        longest = min(max(map(len, ["release", *releases])), MOST_OF_A_RELEASE)
        for part in self._parts(telling, longest) or [[]]:
            table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
            table.add_column("release", overflow="fold", min_width=longest, max_width=longest)
            table.add_column("search", no_wrap=True)
            for name in part:
                table.add_column("\n".join(_broken(name)), no_wrap=True)
            for release in releases:
                search = next(c.search for c in cells if (c.release or "") == release)
                row = [self._short(at.get((release, p))) for p in part]
                table.add_row(release, letters[search], *row)
            self._print(table)
        calm = [p for p in properties if p not in telling]
        if calm:
            self._line(f"Hold on all of them: {', '.join(calm)}.", indent=2)
        if len(letters) < len(releases):
            text = "Releases with the same letter share one search: their decisions are equal here."
            self._line(text, indent=2)
        self._violations(cells, releases)

    def _parts(self, properties: Sequence[str], longest: int) -> list[list[str]]:
        """Columns that fit in the console's width, beside each other and beside the releases."""
        parts: list[list[str]] = []
        room = 0
        for name in properties:
            width = max(COLUMN, *map(len, _broken(name))) + 1
            if not parts or width > room:
                parts.append([])
                room = min(self.console.width, 80) - max(longest + 12, 24)
            parts[-1].append(name)
            room -= width
        return parts

    def _violations(self, cells: Sequence[Cell], releases: Sequence[str]) -> None:
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            if cell.word != "holds" or cell.standing is not Standing.EXPECTED:
                # What is unknown for one reason is one group, whatever the property.
                name = "" if cell.word == "unknown" else cell.name
                groups.setdefault((name, words.detail(cell)), []).append(cell)
        for (_, text), group in groups.items():
            if self.quiet and all(c.standing is Standing.EXPECTED for c in group):
                continue
            where = words.spans({c.release or "" for c in group}, releases)
            names = list(dict.fromkeys(c.name for c in group))
            named = ", ".join(names) if len(names) <= 3 else f"{len(names)} properties"
            line = Text.assemble((named, STYLES[self._style(group[0])]), f" on {where}: {text}")
            self._print(Padding(line, (0, 0, 0, 2)))
            paths = [path for cell in group for path in cell.traces]
            for path in paths if self.verbose else paths[:1]:
                self._exactly(f"    {path}")
            if len(paths) > 1 and not self.verbose:
                self._line(f"and {len(paths) - 1} more beside it", indent=4)

    def _scope(self, cells: Sequence[Cell]) -> None:
        """What it is about, for which sizes, and how far each search went."""
        meaning = program_of(cells[0].subject).system.meaning
        if meaning:
            self._line(meaning, indent=2)
        scopes = dict.fromkeys(s for c in cells if (s := words.scope(c.subject)))
        for text in scopes:
            self._line(f"for {text}", indent=2)
        if cells[0].engine == TEMPORAL:
            for text in dict.fromkeys(a for c in cells for a in words.assumptions(program_of(c.subject))):
                self._line(text, indent=2)
        searches = {c.search: c for c in reversed(cells)}
        for note in dict.fromkeys(n for cell in searches.values() for n in cell.verdict.coverage.notes):
            self._line(note, indent=2)
        if len(searches) == 1 or self.verbose:
            for cell in reversed(searches.values()):
                self._line(words.covered(cell.verdict.coverage, cell.remembered), indent=2)
                lines = words.met([(cell.subject, cell.verdict.coverage)])
                if self.verbose:
                    lines += words.counted(cell.subject, cell.verdict.coverage)
                for text in lines:
                    self._line(text, indent=2)
            return
        coverages = [c.verdict.coverage for c in searches.values()]
        open_ones = sum(not c.complete for c in coverages)
        number = words.count(len(coverages), "search", "searches")
        if not any(c.states for c in coverages):
            self._line(f"{number}, {sum(c.seconds for c in coverages):.1f} s", indent=2)
            return
        states, seconds = sum(c.states for c in coverages), sum(c.seconds for c in coverages)
        end = f"{open_ones} not to the end" if open_ones else "each searched to the end"
        cached = sum(c.remembered for c in searches.values())
        end += f"; {cached} from the cache" if cached else ""
        self._line(f"{number}, {states:,} states, {seconds:.1f} s; {end}", indent=2)
        self._met_in_some(list(searches.values()))

    def _met_in_some(self, cells: Sequence[Cell]) -> None:
        """What no search met, though each may miss more: its verdicts say so."""
        lines = words.met([(c.subject, c.verdict.coverage) for c in cells])
        never = [text for text in lines if "; never" in text]
        for text in never:
            self._line(text, indent=2)
        if not never:
            self._line("every action happened, every premise was met, every witness was reached", indent=2)

    def _word(self, cell: Cell) -> Text:
        return Text(f"  {cell.word}", style=STYLES[self._style(cell)])

    def _short(self, cell: Cell | None) -> Text:
        if cell is None:
            return Text("-", style="dim")
        return Text(words.short(cell), style=STYLES[self._style(cell)])

    def _style(self, cell: Cell) -> str:
        if isinstance(cell.verdict, Violated) and cell.standing is Standing.EXPECTED:
            return "known"
        return "violated" if cell.standing is Standing.NEWS else cell.word

    def _line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        self._print(Padding(Text(text, style=style), (0, 0, 0, indent)))

    def _print(self, *things: RenderableType) -> None:
        """Print without the spaces with which lines are filled up, so that a file of it is clean."""
        with self.console.capture() as capture:
            self.console.print(*things)
        for line in capture.get().splitlines():
            self.console.file.write(line.rstrip() + "\n")

    def _exactly(self, text: str) -> None:
        """Print what is to be copied: never broken into lines."""
        self.console.print(Text(text), soft_wrap=True)


def _broken(name: str) -> list[str]:
    """A property's name in lines that fit a column, broken after dashes."""
    lines = [""]
    for word in re.findall(r"[^-]+-?", name):
        if lines[-1] and len(lines[-1]) + len(word) > COLUMN:
            lines.append("")
        lines[-1] += word
    return lines


def _letters() -> Iterable[str]:
    for round_ in numbers():
        for letter in string.ascii_lowercase:
            yield letter + (str(round_) if round_ else "")
