"""``slotproof check --reach EXPR``: the shortest way to a state that a person describes."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slotproof.checker.usage import UsageProblem

if TYPE_CHECKING:
    from slotproof.checker.explicit.search import Search
    from slotproof.checker.runs import Subject
    from slotproof.checker.verdict import Limits
    from slotproof.counterexamples.trace import Trace
    from slotproof.model.language.program import Program

REACHED, NOT_REACHED, UNKNOWN = 0, 1, 3


@dataclass(frozen=True)
class Question:
    """What is asked, and how it is answered."""

    expression: str
    subject: Subject
    limits: Limits
    format: str
    out: Path | None


def reach(question: Question) -> int:
    """Tell the shortest way to the state, and write it as a trace."""
    from slotproof.checker.reach import compiled, located, of_expression, shortest_way
    from slotproof.checker.runs import build, chosen, program_of, under
    from slotproof.checker.systemfile import located as in_file
    from slotproof.model.language.errors import LanguageError, ModelError

    subject = question.subject
    program_of(subject)  # errors of the system itself are told as ever
    system = build(subject)
    program = compiled(system, question.expression)
    given = chosen(subject, program)
    progress, stop = _progress(subject)
    try:
        trace, search, stopped = shortest_way(
            program, program.choices(given), question.expression, question.limits, progress
        )
    except (ModelError, LanguageError) as error:
        if error.site is not None and of_expression(error.site):
            raise UsageProblem(located(question.expression, error.site, error.message)) from None
        told = in_file(error, subject.file or subject.candidate or program.name)
        raise UsageProblem(f"{told}{under(error, subject)}") from None
    finally:
        stop()
    if trace is None:
        return _not_reached(question, program, search, stopped)
    from dataclasses import replace

    trace = replace(trace, release=subject.release, choices=given)
    path = _written(question, program, trace)
    if question.format == "json":
        _json(question, program, search, trace, path, None)
        return REACHED
    from slotproof.counterexamples.story import story

    click.echo(story(trace, program, scenario=subject.scenario or program.name), nl=False)
    click.echo(f"\n{path}")
    return REACHED


def _not_reached(question: Question, program: Program, search: Search, stopped: str | None) -> int:
    from slotproof.checker.reach import one_line
    from slotproof.checker.report import words

    states = f"{words.count(search.states, 'state')}, depth {search.depth}"
    if question.format == "json":
        _json(question, program, search, None, None, stopped)
        return NOT_REACHED if stopped is None else UNKNOWN
    name = f"{program.name}{f' on {question.subject.release}' if question.subject.release else ''}"
    expression = one_line(question.expression)
    if stopped is None:
        verdict = f"{name}: not reachable: {expression}"
        seen = f"in none of {states}, searched to the end, for {words.scope(question.subject)}"
    else:
        verdict = f"{name}: unknown whether it is reachable: {expression}"
        seen = f"in none of {states}; {stopped}"
    click.echo("\n".join([*_wrapped(verdict, ""), *_wrapped(seen, "  ")]))
    return NOT_REACHED if stopped is None else UNKNOWN


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, 80, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )


def _written(question: Question, program: Program, trace: Trace) -> Path:
    from slotproof.checker.traces import DEFAULT_FOLDER, file_name
    from slotproof.counterexamples.itf import write
    from slotproof.counterexamples.verify import verify

    verify(trace, program)
    subject, folder = question.subject, question.out or DEFAULT_FOLDER
    scenario = subject.scenario or program.name
    path = folder / f"{file_name(subject, scenario, trace.property)}.itf.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write(trace, program, path, scenario, subject.file, subject.candidate)
    except OSError as error:
        raise UsageProblem(f"{path}: the trace cannot be written: {error.strerror}") from None
    return path


def _json(
    question: Question,
    program: Program,
    search: Search,
    trace: Trace | None,
    path: Path | None,
    stopped: str | None,
) -> None:
    answer = {
        "release": question.subject.release,
        "scenario": question.subject.scenario or program.name,
        "reach": question.expression,
        "reached": True if trace is not None else None if stopped else False,
        "steps": None if trace is None else len(trace),
        "complete": trace is None and stopped is None,
        "states": search.states,
        "transitions": search.transitions,
        "depth": search.depth,
        "seconds": round(search.seconds, 3),
        "trace": None if path is None else str(path),
        "reason": stopped,
    }
    click.echo(json.dumps(answer, ensure_ascii=False))


def _progress(subject: Subject) -> tuple[Callable[[Any], None] | None, Callable[[], None]]:
    if not sys.stderr.isatty():
        return None, lambda: None
    from slotproof.checker.progress import SearchProgress, Titled
    from slotproof.checker.runs import status_of

    bar, line = (
        SearchProgress(),
        Titled(f"{subject.scenario or subject.file} {subject.release or ''}".strip()),
    )
    return (lambda raw: bar(line, status_of(raw))), bar.stop
