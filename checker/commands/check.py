"""``slotproof check``: every release against its scenarios, or one system of one's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.commands import completion, option
from slotproof.checker.commands.option import FORMATS, PATH
from slotproof.checker.commands.outputs import (
    must_be_out_folder,
    must_be_writable_file,
    parse_outputs,
    write_all,
)
from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.checker.baseline import Baseline
    from slotproof.checker.commands.outputs import Output
    from slotproof.checker.results import Results
    from slotproof.checker.runs import Finding, Search, Subject

EXAMPLES = """\b
Examples:
  slotproof check
  slotproof check --release 0.5.12.post1 --scenario overlap-cancel
  slotproof check --scenario idle-rank --property no-crash --engine bounded
  slotproof check --candidate my_change.py --scenario overlap-cancel
  slotproof check --scenario idle-rank --reach "A in s.registry.unloading"
  slotproof check --system my_system.py --set requests=3 --format json"""


@dataclass(frozen=True)
class Options:
    """The options of one ``check``."""

    release: tuple[str, ...]
    scenario: tuple[str, ...]
    property: tuple[str, ...]
    engine: tuple[str, ...]
    candidate: str | None
    system: str | None
    settings: tuple[str, ...]
    reach: str | None
    full: bool
    baseline: Path | None
    no_baseline: bool
    write_baseline: Path | None
    format: str
    output: tuple[str, ...]
    out: Path | None
    workers: int | None
    symmetry: bool
    max_states: int | None
    max_depth: int | None
    timeout: float | None
    no_cache: bool
    verbose: bool
    quiet: bool


@click.command(epilog=EXAMPLES, short_help="A verdict for each property, release and scenario.")
@click.option(
    "--release",
    multiple=True,
    metavar="R",
    shell_complete=completion.releases,
    help="A release of SGLang; all if none is named.",
)
@option.scenarios
@option.properties("Report this property alone.")
@option.engines("explicit, temporal (both by default), bounded, induction or pdr.")
@click.option(
    "--candidate",
    metavar="FILE",
    shell_complete=completion.file,
    help="Check a change: a Python file with a candidate.",
)
@click.option(
    "--system",
    metavar="FILE[:NAME]",
    shell_complete=completion.file,
    help="Check the System of a Python file.",
)
@option.settings
@click.option("--reach", metavar="EXPR", help="The shortest way to a state of which this is true.")
@option.full_sizes
@click.option("--baseline", type=PATH, metavar="FILE", help="Known violations; by default the shipped file.")
@click.option("--no-baseline", is_flag=True, help="Every violation counts.")
@click.option("--write-baseline", type=PATH, metavar="FILE", help="Write what is found as known.")
@option.reports
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Threads of all searches; by default 2 searches of 1.",
)
@click.option("--symmetry", is_flag=True, help="Search orbits of interchangeable elements.")
@option.limits
@option.no_cache
@click.option("-v", "--verbose", is_flag=True, help="Every action, premise, witness and trace.")
@click.option("-q", "--quiet", is_flag=True, help="Only what is not as expected.")
def check(**given: object) -> int:
    """Check releases against scenarios, exhaustively, and report a verdict for each property.

    Without options: every release, every scenario at its quick size, as a matrix. 'holds' means for every
    order of events at the sizes that are printed; 'violated' comes with a shortest trace; 'unknown' is
    neither, and never counts as a pass.
    """
    options = Options(**given)  # type: ignore[arg-type]
    _consistent(options)
    outputs = parse_outputs(options.output, FORMATS)
    from slotproof.checker.runs import DEFAULT_ENGINES, plan, programs_of, start_afresh

    start_afresh()
    if options.reach is not None:
        return _reach(options, options.reach)
    subjects = _subjects(options)
    baseline = _baseline(options)
    # What is asked is clear; from here on it costs time.
    from slotproof.checker.results import chosen_properties

    engines = tuple(dict.fromkeys(options.engine)) or DEFAULT_ENGINES
    programs = programs_of(subjects)
    if options.baseline is not None and baseline is not None:
        _names_must_be_known(baseline, options.baseline, subjects)
    asked = chosen_properties(options.property, programs, listed=options.system is None)
    searches = plan(subjects, engines, asked)
    if not searches:
        raise UsageProblem(
            f"--engine {', '.join(engines)} has nothing to answer here: 'temporal' is for the progress"
            " properties of a system, 'explicit' alone counts reachable-states, all engines but 'temporal'"
            " are for the other properties"
        )
    if options.symmetry:
        if not any(p.system.interchangeable for p in programs):
            raise UsageProblem(
                "--symmetry: nothing is declared interchangeable; write"
                " System(…, interchangeable=[Alike(Domain)])"
            )
        searches = [replace(search, symmetric=True) for search in searches]
    findings, interrupted = _search(searches, options)
    results = _results(findings, asked, baseline, options, engines)
    results.interrupted = interrupted
    if options.write_baseline is not None:
        try:
            _write_baseline(options.write_baseline, results, baseline or {})
        except UsageProblem as problem:
            results.failures.append(str(problem))
    _print(results, options, outputs)
    for failure in dict.fromkeys(results.failures):
        click.echo(f"slotproof: {failure}", err=True)
    if options.write_baseline is not None and results.status == 1:
        return 3 if results.unknown else 0  # what is violated is known from here on
    return results.status


def _reach(options: Options, expression: str) -> int:
    """Look for one state of one system."""
    from slotproof.checker.commands.reach import Question, reach
    from slotproof.checker.commands.subject import one_subject
    from slotproof.checker.verdict import Limits

    given = {
        "--property": options.property,
        "--engine": options.engine,
        "--baseline": options.baseline,
        "--no-baseline": options.no_baseline,
        "--write-baseline": options.write_baseline,
    }
    for name in (name for name, value in given.items() if value):
        raise UsageProblem(f"{name} does not go with --reach, which looks for a state and judges nothing")
    if options.format not in ("text", "json"):
        raise UsageProblem(f"--format {options.format} does not go with --reach; take text or json")
    for name, values in {"--scenario": options.scenario, "--release": options.release}.items():
        if len(values) > 1:
            raise UsageProblem(f"--reach looks in one system; keep one {name}")
    if options.system is None and not options.scenario:
        raise UsageProblem("--reach looks in one system; name it with --scenario S or --system FILE")
    subject = one_subject(
        next(iter(options.scenario), None),
        next(iter(options.release), None),
        options.full,
        options.system,
        options.settings,
        options.candidate,
    )
    limits = Limits(options.max_states, options.max_depth, options.timeout)
    return reach(Question(expression, subject, limits, options.format, options.out))


def _consistent(options: Options) -> None:
    from slotproof.checker.runs import ENGINES

    if options.system is not None:
        given = {
            "--release": options.release,
            "--scenario": options.scenario,
            "--candidate": options.candidate,
            "--full": options.full,
        }
        for name in (name for name, value in given.items() if value):
            raise UsageProblem(f"{name} does not go with --system; choose its sizes with --set NAME=VALUE")
    for engine in options.engine:
        one_of("engine", engine, ENGINES, f"there are: {', '.join(ENGINES)}")
    if options.symmetry and set(options.engine) - {"explicit"}:
        raise UsageProblem("--symmetry is for engine explicit alone; take it or the other engine out")
    one_of("format", options.format, FORMATS, f"there are: {', '.join(FORMATS)}")
    if options.baseline is not None and options.no_baseline:
        raise UsageProblem("--baseline and --no-baseline contradict each other; keep one of the two")
    if options.verbose and options.quiet:
        raise UsageProblem("--verbose and --quiet contradict each other; keep one of the two")
    # A place that cannot be written is found now, not after the search.
    if options.out is not None:
        must_be_out_folder(options.out)
    if options.write_baseline is not None:
        must_be_writable_file(f"--write-baseline {options.write_baseline}", options.write_baseline)


def _subjects(options: Options) -> list[Subject]:
    from slotproof.checker.candidatefile import load_candidate
    from slotproof.checker.runs import Subject
    from slotproof.checker.systemfile import load_system, parse_settings

    parse_settings(options.settings)
    if options.system is not None:
        load_system(options.system)
        return [Subject(None, None, False, options.system, options.settings)]
    from slotproof.model.releases import RELEASES
    from slotproof.properties import SCENARIOS

    for name in options.release:
        one_of("release", name, RELEASES, "slotproof list releases")
    for name in options.scenario:
        one_of("scenario", name, SCENARIOS, "slotproof list scenarios")
    releases = options.release or (() if options.candidate else RELEASES)
    sides = [(release, None) for release in RELEASES if release in releases]
    candidate = None if options.candidate is None else load_candidate(options.candidate)
    return [
        Subject(scenario, name, options.full, None, options.settings, file)
        for scenario in SCENARIOS
        if scenario in (options.scenario or SCENARIOS)
        for name, file in [*sides, *([(candidate.name, options.candidate)] if candidate else [])]
    ]


def _baseline(options: Options) -> Baseline | None:
    from slotproof.checker.baseline import read, shipped

    if options.no_baseline:
        return None
    if options.baseline is not None:
        return read(options.baseline)
    if options.system is not None:
        return None
    return shipped()


def _names_must_be_known(baseline: Baseline, path: Path, subjects: Sequence[Subject]) -> None:
    """``UsageProblem`` for a baseline that speaks of what there is not."""
    from slotproof.checker.baseline import names_must_be_known
    from slotproof.checker.results import known_properties
    from slotproof.checker.runs import program_of

    searched: dict[str, list[str]] = {}
    for subject in subjects:
        program = program_of(subject)
        searched.setdefault(subject.scenario or program.name, []).extend(known_properties([program]))
    if any(subject.file is not None for subject in subjects):
        others = {key[0]: [key[1]] for key in baseline if key[0] not in searched}
        return names_must_be_known(baseline, path, [key[2] or "" for key in baseline], {**others, **searched})
    from slotproof.model.releases import RELEASES
    from slotproof.properties import SCENARIOS

    properties: dict[str, list[str]] = {}
    for name, scenario in SCENARIOS.items():
        declared = [p.name for p in scenario.properties]
        if name not in searched:  # how its programs can crash is known when they are compiled
            declared += [key[1] for key in baseline if key[1] == "deadlock" or key[1].startswith("no-crash-")]
        properties[name] = [*declared, *searched.get(name, ())]
    names_must_be_known(baseline, path, RELEASES, properties)


def _search(searches: Sequence[Search], options: Options) -> tuple[list[Finding], bool]:
    from slotproof.checker.remembered import run_remembered
    from slotproof.checker.verdict import Limits

    limits = Limits(options.max_states, options.max_depth, options.timeout)
    remember = not options.no_cache
    workers = options.workers or 2
    if options.workers is not None:  # what is more than the searches is shared among them
        threads = max(options.workers // max(len(searches), 1), 1)
        searches = [replace(search, workers=threads) for search in searches]
    if options.quiet or not sys.stderr.isatty():
        return run_remembered(searches, limits, workers, None, remember=remember)
    from slotproof.checker.progress import SearchProgress

    progress = SearchProgress()
    try:
        return run_remembered(searches, limits, workers, progress, remember=remember)
    finally:
        progress.stop()


def _results(
    findings: Sequence[Finding],
    asked: Sequence[str] | None,
    baseline: Baseline | None,
    options: Options,
    engines: Sequence[str],
) -> Results:
    from slotproof.checker.results import collect
    from slotproof.checker.traces import DEFAULT_FOLDER, write_traces

    results = collect(findings, asked, baseline, exact=not options.settings)
    results.cells, failure = write_traces(results.cells, options.out or DEFAULT_FOLDER, engines)
    if failure is not None:
        results.failures.append(failure)
    return results


def _write_baseline(path: Path, results: Results, old: Baseline) -> None:
    from slotproof.checker.baseline import Known, write
    from slotproof.checker.verdict import Unknown, Violated

    found = {
        c.key: Known(len(c.verdict.trace), len(c.verdict.traces), "")
        for c in reversed(results.cells)  # the first engine has the last word
        if isinstance(c.verdict, Violated)
    }
    covered = {c.key for c in results.cells if not isinstance(c.verdict, Unknown)}
    write(path, found, covered | {key for key, _ in results.gone}, old)
    click.echo(f"slotproof: {path} lists {len(found)} violations; write the reason of each new one", err=True)


def _print(results: Results, options: Options, outputs: Sequence[Output]) -> None:
    from slotproof.checker.report import github, markdown, text
    from slotproof.checker.report.formats import WRITERS

    if options.format == "text":
        text.show(results, text.console(), verbose=options.verbose, quiet=options.quiet)
    else:
        for line in WRITERS[options.format](results):
            click.echo(line)
    results.failures += write_all(outputs, lambda name: WRITERS[name](results))
    if options.format == "github":
        github.summarise(markdown.lines(results), results)
