"""``slotproof compare``: a release or candidate beside another, property by property and run by run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slotproof.checker.commands import completion, option
from slotproof.checker.commands.option import FORMATS
from slotproof.checker.commands.outputs import Output, must_be_out_folder, parse_outputs, write_all
from slotproof.checker.usage import UsageProblem, one_of
from slotproof.model.near import near

if TYPE_CHECKING:
    from slotproof.checker.compare import Comparison, Side
    from slotproof.checker.runs import Finding, Search, Subject
    from slotproof.checker.verdict import Limits

EXAMPLES = """\b
Examples:
  slotproof compare 0.5.19 0.5.20 --scenario decode-admission
  slotproof compare 0.5.23 my_change.py
  slotproof compare 0.5.23 my_change.py --format markdown"""


@click.command(epilog=EXAMPLES, short_help="What a change gains, loses and does otherwise.")
@click.argument("base", shell_complete=completion.file_or_release)
@click.argument("candidate", shell_complete=completion.file_or_release)
@option.scenarios
@option.properties("Compare this property alone.")
@option.engines("explicit (default) or another of check's.")
@option.settings
@option.full_sizes
@option.reports
@click.option("--workers", type=click.IntRange(1, 64), metavar="N", help="Searches at a time; by default 2.")
@option.limits
@option.no_cache
def compare(
    base: str,
    candidate: str,
    scenario: tuple[str, ...],
    property: tuple[str, ...],
    engine: tuple[str, ...],
    settings: tuple[str, ...],
    full: bool,
    format: str,
    output: tuple[str, ...],
    out: Path | None,
    workers: int | None,
    max_states: int | None,
    max_depth: int | None,
    timeout: float | None,
    no_cache: bool,
) -> int:
    """Say what CANDIDATE gains, loses and does otherwise than BASE.

    Each is a release, or a Python file with a candidate. A verdict is kept, gained (it was violated and
    holds) or lost (it held and is violated); a shortest run shows where the behaviour begins to differ, and
    whether one side does nothing that the other could not do (with a proof, --engine induction or pdr, runs
    are not compared). Exit status: 0 nothing is lost, 1 something
    is, 2 wrong use, 3 something is unknown.
    """
    one_of("format", format, FORMATS, f"there are: {', '.join(FORMATS)}")
    outputs = parse_outputs(output, FORMATS)
    from slotproof.checker.runs import AT_ANY_DEPTH, DEFAULT_ENGINES, ENGINES, programs_of, start_afresh
    from slotproof.checker.systemfile import parse_settings
    from slotproof.checker.verdict import Limits
    from slotproof.properties import SCENARIOS

    for name in engine:
        one_of("engine", name, ENGINES, f"there are: {', '.join(ENGINES)}")
    for name in scenario:
        one_of("scenario", name, SCENARIOS, "slotproof list scenarios")
    parse_settings(settings)
    if out is not None:
        must_be_out_folder(out)
    start_afresh()
    names = [s for s in SCENARIOS if s in (scenario or SCENARIOS)]
    sides = _sides(base, candidate, names, full, settings)
    from slotproof.checker.compare import Comparison
    from slotproof.checker.results import chosen_properties

    subjects = [side.subjects[name] for name in names for side in sides]
    asked = chosen_properties(property, programs_of(subjects))
    found = Comparison(sides[0], sides[1])
    limits = Limits(max_states, max_depth, timeout)
    engines = tuple(dict.fromkeys(engine)) or DEFAULT_ENGINES
    with _Progress(format) as progress:
        _verdicts(found, names, engines, asked, limits, workers or 2, not no_cache, progress)
        if not set(engines) <= set(AT_ANY_DEPTH):
            _behaviours(found, names, limits, progress)
    from slotproof.checker.compare import add_notes
    from slotproof.checker.traces import DEFAULT_FOLDER, write_compared

    try:
        add_notes(found)
    except KeyboardInterrupt:  # what was found is told all the same
        found.interrupted = True

    failure = write_compared(found, out or DEFAULT_FOLDER)
    if failure is not None:
        found.failures.append(failure)
    _print(found, format, outputs)
    for problem in dict.fromkeys(found.failures):
        click.echo(f"slotproof: {problem}", err=True)
    return found.status


def _sides(
    base: str, candidate: str, names: Sequence[str], full: bool, settings: tuple[str, ...]
) -> tuple[Side, Side]:
    """Both sides. Two checkouts of a file differ by their folders, and are named with them."""
    from slotproof.checker.candidatefile import labels_apart

    labels: tuple[str | None, str | None] = None, None
    if Path(base).name == Path(candidate).name:
        labels = labels_apart(base, candidate)
    one, other = (
        _side(given, label, names, full, settings)
        for given, label in zip((base, candidate), labels, strict=True)
    )
    return one, other


def _side(given: str, label: str | None, names: Sequence[str], full: bool, settings: tuple[str, ...]) -> Side:
    """One side; a candidate under a label of its own if one is given."""
    from slotproof.checker.candidatefile import load_candidate
    from slotproof.checker.compare import Side
    from slotproof.checker.runs import Subject
    from slotproof.model.releases import RELEASES

    file, release = None, given
    if given not in RELEASES:
        if not (given.endswith(".py") or Path(given).exists()):
            raise UsageProblem(
                f"there is no release '{given}'{near(given, RELEASES)}"
                " (slotproof list releases, or the Python file of a candidate)"
            )
        found = load_candidate(given)
        file, release = given, found.name if label is None else found.called(label).name
    shown = Path(given).name if label is None and file is not None else given
    return Side(shown, {name: Subject(name, release, full, None, settings, file) for name in names})


class _Progress:
    """The progress bar, on a terminal alone."""

    def __init__(self, format: str) -> None:
        self.bar: Any = None
        if sys.stderr.isatty():
            from slotproof.checker.progress import SearchProgress

            self.bar = SearchProgress()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def of_pairs(self, scenario: str) -> Callable[[Any], None] | None:
        """What a search of pairs calls."""
        if self.bar is None:
            return None
        from slotproof.checker.progress import Titled
        from slotproof.checker.runs import status_of

        line = Titled(f"{scenario}, side by side")
        return lambda raw: self.bar(line, status_of(raw))


def _verdicts(
    found: Comparison,
    names: Sequence[str],
    engines: Sequence[str],
    asked: Sequence[str] | None,
    limits: Limits,
    workers: int,
    remember: bool,
    progress: _Progress,
) -> None:
    from slotproof.checker.compare import rows_of
    from slotproof.checker.remembered import run_remembered
    from slotproof.checker.runs import plan

    # The candidate's search compiles what both sides share; the base's finds it on disk.
    sides = (found.candidate, found.base)
    searches = plan([side.subjects[name] for side in sides for name in names], engines, asked)
    if len(names) == 1:  # both sides begin at the same time
        _compile_first(searches)
    findings, found.interrupted = run_remembered(searches, limits, workers, progress.bar, remember=remember)
    answers: dict[tuple[str, Subject], Finding] = {}
    for finding in findings:
        if finding.failure is not None:
            found.failures.append(finding.failure)
            found.broken |= {s.scenario for s in finding.search.subjects if s.scenario is not None}
            if not finding.verdicts:
                continue
        for subject in finding.search.subjects:
            answers[finding.search.engine, subject] = finding
    for name in names:
        for engine in engines:
            pair = [(side.subjects[name], answers.get((engine, side.subjects[name]))) for side in sides]
            (candidate, after), (base, before) = pair
            if before is None or after is None:
                continue
            found.rows += rows_of(name, (base, before), (candidate, after), asked)
            if (name, True) not in found.coverages:
                for finding, is_base in ((before, True), (after, False)):
                    if finding.coverage is not None:
                        found.coverages[name, is_base] = finding.coverage, finding.remembered


def _compile_first(searches: Sequence[Search]) -> None:
    """Compile the machine code that all of some searches share, so that not each of them does."""
    from slotproof.checker.explicit.native import native
    from slotproof.checker.runs import program_of
    from slotproof.model.language.errors import LanguageError

    programs = {id(p): p for p in (program_of(s.subjects[0]) for s in searches)}
    if len(searches) > 1 and len(programs) == 1:
        with contextlib.suppress(LanguageError):  # told by the search
            native(next(iter(programs.values())))


def _behaviours(found: Comparison, names: Sequence[str], limits: Limits, progress: _Progress) -> None:
    from slotproof.checker.compare import behaviour_of, untouched
    from slotproof.checker.explicit.pairs import compare_runs
    from slotproof.checker.runs import chosen, program_of
    from slotproof.model.language.errors import ModelError

    for name in names:
        subjects = found.base.subjects[name], found.candidate.subjects[name]
        programs = [program_of(s) for s in subjects]
        choices = [p.choices(chosen(s, p)) for s, p in zip(subjects, programs, strict=True)]
        if (programs[0].digest, choices[0]) == (programs[1].digest, choices[1]):
            found.behaviours.append(untouched(name))
            continue
        if found.interrupted or name in found.broken:
            continue
        try:
            pairs = compare_runs(
                programs[0],
                choices[0],
                programs[1],
                choices[1],
                limits=limits,
                progress=progress.of_pairs(name),
            )
        except ModelError as error:
            found.failures.append(f"{name}: model error: {error}")
            continue
        found.interrupted |= pairs.stopped is not None and pairs.stopped.startswith("interrupt")
        found.behaviours.append(behaviour_of(name, *subjects, pairs))


def _print(found: Comparison, format: str, outputs: Sequence[Output]) -> None:
    from slotproof.checker.report import comparison, github
    from slotproof.checker.report.compared import WRITERS, as_results

    if format == "text":
        for line, colour in comparison.text(found):
            click.echo(
                click.style(line, bold=True) if colour == "bold" else click.style(line, fg=colour or None)
            )
    else:
        for line in WRITERS[format](found):
            click.echo(line)
    found.failures += write_all(outputs, lambda name: WRITERS[name](found))
    if format == "github":
        github.summarise(comparison.markdown(found), as_results(found))
