"""``slotproof explain``: a counterexample as a numbered story."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.usage import UsageProblem, one_of
from slotproof.model.near import near

if TYPE_CHECKING:
    from slotproof.counterexamples.itf import TraceFile
    from slotproof.counterexamples.trace import Trace
    from slotproof.model.language.program import Program
    from slotproof.model.language.system import System

FORMATS = ("text", "mermaid", "svg", "dot", "pytest")

FORMAT_HELP = "text (default); mermaid: a sequence chart; svg, dot: the states around it; pytest: a test."
DISTANCE_HELP = "svg, dot: show states that are at most N steps off the trace (1)."

EXAMPLES = """\b
Example:
  slotproof explain idle-rank.fresh-batch-info.0.5.16.itf.json"""


@click.command(epilog=EXAMPLES, short_help="A trace as a story, step by step.")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--format", "format", default="text", metavar="F", help=FORMAT_HELP)
@click.option("--distance", default=1, metavar="N", type=click.IntRange(0), help=DISTANCE_HELP)
@click.option("--system", metavar="FILE[:NAME]", help="The system file, if it is not where it was.")
def explain(trace: Path, format: str, distance: int, system: str | None) -> int:
    """Tell a trace step by step, and why the property is false at its end.

    Every step is run again by the interpreter first: a trace that the model cannot take is an error that
    names the step and the condition that fails.
    """
    one_of("format", format, FORMATS, f"there are: {', '.join(FORMATS)}")
    from slotproof.counterexamples.errors import TraceError
    from slotproof.counterexamples.itf import read
    from slotproof.counterexamples.verify import verify

    file = read(trace)
    program = program_of_file(file, system)
    found = file.trace(program)
    changed = file.digest != program.digest
    try:
        verify(found, program)
    except TraceError as error:
        since = " (the model has changed since the trace was found)" if changed else ""
        raise TraceError(f"{trace}: {error}{since}") from None
    if changed:
        click.echo(
            f"slotproof: {trace}: the model has changed since; every step was checked again and is still one",
            err=True,
        )
    try:
        text = told(file, found, program, format, distance)
    except TraceError as error:
        raise TraceError(f"{trace}: {error}") from None
    click.echo(text, nl=False)
    return 0


def told(file: TraceFile, trace: Trace, program: Program, format: str, distance: int) -> str:
    """The trace in a format; ``TraceError`` where it cannot be read in it."""
    if format == "mermaid":
        from slotproof.counterexamples.sequence import mermaid

        return mermaid(trace, program, scenario=file.scenario)
    if format in ("svg", "dot"):
        from slotproof.counterexamples.surroundings import dot, surroundings, svg

        graph = surroundings(trace, program, distance)
        return svg(graph, trace) if format == "svg" else dot(graph, trace)
    if format == "pytest":
        from slotproof.counterexamples.as_test import pytest_file

        return pytest_file(
            trace,
            program,
            scenario=file.scenario,
            system_file=file.system_file,
            candidate_file=file.candidate_file,
            parameters=file.parameters,
        )
    from slotproof.counterexamples.story import story

    return story(trace, program, scenario=file.scenario)


def program_of_file(file: TraceFile, system_file: str | None) -> Program:
    """The program that a trace runs through, compiled with the parameters of its file."""
    from slotproof.model.language.compile import compile_system
    from slotproof.model.language.errors import LanguageError, ModelError

    system = _own_system(file, system_file) if system_file or file.system_file else _scenario(file)
    try:
        system = system.with_parameters(**file.parameters)
        if file.kind == "witness":
            from slotproof.checker.reach import compiled

            return compiled(system, file.part)
        return compile_system(system)
    except (LanguageError, ModelError) as error:
        raise UsageProblem(f"{file.path}: #meta.parameters: {error}") from None


def _own_system(file: TraceFile, given: str | None) -> System:
    from slotproof.checker.systemfile import load_system

    if given is not None:
        return load_system(given)
    assert file.system_file is not None
    named = Path(file.system_file.rpartition(":")[0] or file.system_file)
    if not (named.exists() or Path(file.system_file).exists()):
        missing = f"{file.system_file} is not there; name it with --system FILE"
        raise UsageProblem(f"{file.path}: #meta.system_file: {missing}")
    return load_system(file.system_file)


def _scenario(file: TraceFile) -> System:
    from slotproof.model.releases import RELEASES, release
    from slotproof.properties import SCENARIOS

    if file.scenario not in SCENARIOS:
        hint = near(file.scenario, SCENARIOS)
        raise UsageProblem(f"{file.path}: #meta.scenario: there is no '{file.scenario}'{hint}")
    if file.candidate_file is not None:
        from slotproof.checker.candidatefile import load_candidate

        if not Path(file.candidate_file).exists():
            raise UsageProblem(
                f"{file.path}: #meta.candidate_file: {file.candidate_file} is not there; run where it is"
            )
        found: System = SCENARIOS[file.scenario].system(load_candidate(file.candidate_file))
        return found
    if file.release not in RELEASES:
        hint = near(str(file.release), RELEASES)
        raise UsageProblem(f"{file.path}: #meta.release: there is no '{file.release}'{hint}")
    system: System = SCENARIOS[file.scenario].system(release(file.release))
    return system
