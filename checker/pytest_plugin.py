"""Tests that ask for a verdict, by pytest: the fixture ``slotproof``.

A test names a scenario, a release or the file of a candidate, and a property, and fails with the story of a
shortest trace::

    def test_finished_rows_hold_no_slot(slotproof):
        slotproof.holds("decode-admission", "slot-capacity", candidate="lora/candidate.py")

One search answers all tests of a session that are about the same scenario and release. Nothing but this file
is imported until a test asks for the fixture; ``-p no:slotproof`` turns it off.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from slotproof.checker.results import Cell, Results
    from slotproof.checker.runs import Finding, Subject
    from slotproof.counterexamples.trace import Trace

OPTION = "--slotproof-traces"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option."""
    group = parser.getgroup("slotproof", "verdicts on schedulers")
    group.addoption(OPTION, metavar="DIR", help="keep the traces of failing verdicts in this folder")


@pytest.fixture(scope="session")
def slotproof(pytestconfig: pytest.Config) -> Verdicts:
    """Verdicts on a scenario of a release or of a candidate, or on a system file; see ``Verdicts``."""
    folder = pytestconfig.getoption(OPTION)
    return Verdicts(None if folder is None else Path(folder), pytestconfig.rootpath)


class Verdicts:
    """What a test may ask. Made by the fixture ``slotproof``.

    Files are named from the root of the tests (pytest's ``rootdir``). ``settings`` are those of ``--set``,
    as texts: ``{"requests": "3"}``.
    """

    def __init__(self, traces: Path | None, root: Path) -> None:
        self._traces = traces
        self._root = root
        self._findings: dict[Subject, Finding] = {}

    def holds(
        self,
        scenario: str | None = None,
        property: str = "*",
        *,
        release: str | None = None,
        candidate: str | Path | None = None,
        system: str | Path | None = None,
        settings: Mapping[str, str] | None = None,
        full: bool = False,
    ) -> None:
        """Fail unless the property holds, for every order of events, with the story of a shortest trace.

        Either a ``scenario`` with a ``release`` (the latest by default) or the file of a ``candidate``, or
        the file of a ``system``. ``property`` may be ``no-crash`` for every cause, or a pattern (``*`` for
        all). What the search leaves ``unknown`` fails too.
        """
        __tracebackhide__ = True
        results = self._ask(scenario, property, release, candidate, system, settings, full)
        failed = [self._told(cell) for cell in results.cells if cell.word != "holds"]
        failed += [f"slotproof: {failure}" for failure in results.failures]
        if failed:
            pytest.fail("\n\n".join(failed), pytrace=False)

    def violated(
        self,
        scenario: str | None = None,
        property: str = "*",
        *,
        release: str | None = None,
        candidate: str | Path | None = None,
        system: str | Path | None = None,
        settings: Mapping[str, str] | None = None,
        full: bool = False,
    ) -> Trace:
        """A shortest trace to the violation; fail unless there is one. What to ask is said at ``holds``."""
        __tracebackhide__ = True
        from slotproof.checker.verdict import Violated

        results = self._ask(scenario, property, release, candidate, system, settings, full)
        traces = [c.verdict.trace for c in results.cells if isinstance(c.verdict, Violated)]
        if not traces:
            said = "; ".join([*(f"{c.name}: {c.word}" for c in results.cells), *results.failures])
            pytest.fail(f"slotproof: no violation is found: {said}", pytrace=False)
        return min(traces, key=len)

    def _ask(
        self,
        scenario: str | None,
        property: str,
        release: str | None,
        candidate: str | Path | None,
        system: str | Path | None,
        settings: Mapping[str, str] | None,
        full: bool,
    ) -> Results:
        __tracebackhide__ = True
        from slotproof.checker.usage import UsageProblem

        texts = tuple(f"{name}={value}" for name, value in (settings or {}).items())
        try:
            subject = self._subject(scenario, release, candidate, system, texts, full)
            return self._results(subject, property)
        except UsageProblem as problem:
            message = f"slotproof: {problem}"
        pytest.fail(message, pytrace=False)

    def _subject(
        self,
        scenario: str | None,
        release: str | None,
        candidate: str | Path | None,
        system: str | Path | None,
        settings: tuple[str, ...],
        full: bool,
    ) -> Subject:
        from dataclasses import replace

        from slotproof.checker.candidatefile import load_candidate
        from slotproof.checker.commands.subject import one_subject
        from slotproof.checker.usage import UsageProblem

        if candidate is not None and (release is not None or system is not None):
            raise UsageProblem(
                "a candidate starts from a release in its own file; leave out release and system"
            )
        file = None if system is None else str(self._root / system)
        subject = one_subject(scenario, release, full, file, settings)
        if candidate is None:
            return subject
        given = str(self._root / candidate)
        return replace(subject, release=load_candidate(given).name, candidate=given)

    def _results(self, subject: Subject, property: str) -> Results:
        from slotproof.checker.results import chosen_properties, collect
        from slotproof.checker.runs import perform, plan, program_of
        from slotproof.checker.verdict import Limits

        asked = chosen_properties([property], [program_of(subject)])
        if subject not in self._findings:
            (search,) = plan([subject], ["explicit"], None)
            self._findings[subject] = perform(search, Limits(), None)
        return collect([self._findings[subject]], asked, None, exact=False)

    def _told(self, cell: Cell) -> str:
        from slotproof.checker.report import words
        from slotproof.checker.verdict import Violated

        if not isinstance(cell.verdict, Violated):
            return words.headline(cell)
        text = words.told(cell).rstrip()
        if self._traces is not None:
            from slotproof.checker.traces import write_traces

            (cell,), failure = write_traces([cell], self._traces, [cell.engine])
            text += f"\n\n{failure}" if failure else "".join(f"\n\nThe trace: {path}" for path in cell.traces)
        return text
