"""``slotproof prove``: a property at any depth, with a certificate; and a certificate checked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slotproof.checker.commands import completion, option
from slotproof.checker.commands.option import PATH
from slotproof.checker.commands.subject import one_subject
from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.checker.runs import Subject
    from slotproof.checker.verdict import Verdict
    from slotproof.model.language.program import Program

HOLDS, VIOLATED, WRONG_USE, UNKNOWN = 0, 1, 2, 3

EXAMPLES = """\b
Examples:
  slotproof prove --system my_system.py --property never-over --set clients=6
  slotproof prove idle-rank --property fresh-batch-info --out fresh.smt2
  slotproof prove --check fresh.smt2"""


@click.command(epilog=EXAMPLES, short_help="A property at any depth, with a certificate.")
@click.argument("scenario", required=False, shell_complete=completion.scenarios)
@option.latest_release
@option.full_size
@click.option("--system", metavar="FILE[:NAME]", help="Prove something of the System of a Python file.")
@click.option("--candidate", type=PATH, metavar="FILE", help="Prove it of the candidate of a Python file.")
@option.settings
@option.properties("What to prove; all by default.")
@click.option("--lemma", "lemmas", multiple=True, metavar="P", help="A property to prove first, and to use.")
@click.option("--engine", metavar="E", help="induction or pdr; by default one after the other.")
@click.option("--max-depth", type=click.IntRange(0), metavar="N", help="Give induction up at depth N.")
@option.timeout("Give up after S seconds: unknown.")
@click.option("--out", type=PATH, metavar="FILE", help="Write the certificate of the one property.")
@click.option("--check", "certificate", type=PATH, metavar="FILE", help="Check a certificate again.")
def prove(
    scenario: str | None,
    release: str | None,
    full: bool,
    system: str | None,
    candidate: Path | None,
    settings: tuple[str, ...],
    property: tuple[str, ...],
    lemmas: tuple[str, ...],
    engine: str | None,
    max_depth: int | None,
    timeout: float | None,
    out: Path | None,
    certificate: Path | None,
) -> int:
    """Show that a property holds however long the server runs, for the sizes that are set.

    'holds' comes with a certificate (--out): an invariant and the questions that show it right, as SMT-LIB.
    --check writes the questions anew from the system's source, compares, and asks fresh solvers. Exit
    status: 0 proven or right, 1 violated or refused, 2 wrong use, 3 unknown.
    """
    from slotproof.checker.runs import check_safety, lemmas_of, names_of, program_of, start_afresh
    from slotproof.checker.symbolic.proving import METHODS

    if engine is not None:
        one_of("engine", engine, METHODS, f"there are: {', '.join(METHODS)}")
    start_afresh()
    if certificate is not None:
        named = _named(scenario, release, full, system, settings, candidate) if scenario or system else None
        return _check(certificate, named, timeout)
    subject = _named(scenario, release, full, system, settings, candidate)
    helpers = lemmas_of(subject)
    program = program_of(subject)
    names = names_of(program)
    for name in (*property, *lemmas):
        check_safety(name, program)
    asked = property or tuple(n for n in names if n not in (*lemmas, *helpers))
    if out is not None and len(asked) != 1:
        raise UsageProblem("--out holds the certificate of one property; name it with --property")
    if out is not None and out.is_dir():
        raise UsageProblem(f"--out {out}: is a folder; name a file")
    return max(
        (_prove(subject, program, name, lemmas, helpers, engine, max_depth, timeout, out) for name in asked),
        key=(HOLDS, UNKNOWN, VIOLATED).index,
    )


def _prove(
    subject: Subject,
    program: Program,
    name: str,
    lemmas: tuple[str, ...],
    helpers: tuple[str, ...],
    engine: str | None,
    depth: int | None,
    seconds: float | None,
    out: Path | None,
) -> int:
    from slotproof.checker.progress import shown_questions
    from slotproof.checker.runs import chosen, costly_lemmas_of, under
    from slotproof.checker.symbolic import certificate
    from slotproof.checker.symbolic.proving import METHODS, prove
    from slotproof.checker.systemfile import located
    from slotproof.checker.verdict import Holds, Limits, Violated
    from slotproof.model.language.errors import ModelError

    choices = program.choices(chosen(subject, program))
    method = next((m for m in METHODS if m == engine), None)
    limits = Limits(depth=depth, seconds=seconds)
    try:
        with shown_questions() as shown:
            verdict, proof = prove(
                program,
                choices,
                name,
                method,
                lemmas=lemmas,
                helpers=helpers,
                costly=costly_lemmas_of(subject),
                limits=limits,
                asked=shown,
            )
    except ModelError as error:
        told = located(error, subject.file or f"scenario {subject.scenario}")
        raise UsageProblem(f"{told}{under(error, subject)}") from None
    click.echo(_line(program, verdict))
    by = [x for stage in proof for x in getattr(stage, "lemmas", ())]
    if by:
        click.echo(f"  by the lemmas {', '.join(by)}")
    if isinstance(verdict, Holds):
        if out is not None:
            _write(out, certificate.written(program, choices, proof, _told(subject)))
        return HOLDS
    return VIOLATED if isinstance(verdict, Violated) else UNKNOWN


def _named(
    scenario: str | None,
    release: str | None,
    full: bool,
    system: str | None,
    settings: tuple[str, ...],
    candidate: Path | None,
) -> Subject:
    """The system of a command's options, with its lemmas."""
    chosen = None if candidate is None else str(candidate)
    subject = one_subject(scenario, release, full, system, settings, chosen)
    return replace(subject, lemmas=subject.scenario is not None)


def _line(program: Program, verdict: Verdict) -> str:
    from slotproof.checker.verdict import Holds, Violated

    sizes = ", ".join(f"{k}={v}" for k, v in program.parameters.items() if isinstance(v, int | str))
    scope = f"{program.name}{f' ({sizes})' if sizes else ''}"
    match verdict:
        case Holds():
            said = f"holds at any depth, for {scope}"
        case Violated():
            steps = " -> ".join(map(str, verdict.trace.steps)) or "at the start"
            said = f"violated after {len(verdict.trace)} steps, for {scope}: {steps}"
        case _:
            said = f"unknown, for {scope}: {verdict.reason}"
    return f"{verdict.property}: {said} ({verdict.coverage.seconds:.1f} s)"


def _told(subject: Subject) -> dict[str, Any]:
    return {
        "scenario": subject.scenario,
        "release": subject.release,
        "full": subject.full,
        "file": subject.file,
        "settings": list(subject.settings),
        "candidate": subject.candidate,
    }


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageProblem(f"--out {path}: cannot be written: {error.strerror}") from None


def _check(path: Path, named: Subject | None, seconds: float | None) -> int:
    """Check a certificate of the system that it names, or of the one that the command names."""
    from slotproof.checker.runs import chosen, program_of
    from slotproof.checker.symbolic.certificate import Refused, claim
    from slotproof.checker.symbolic.rechecking import recheck
    from slotproof.checker.symbolic.solving import Budget, Stopped, until_interrupted

    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise UsageProblem(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        click.echo(f"{path}: refused: is no certificate of slotproof")
        return VIOLATED
    budget = Budget(seconds, None)
    try:
        stated = claim(text)
        subject = named or _subject(stated.subject)
        program = program_of(subject)
        with until_interrupted(budget):
            for line in recheck(text, program, program.choices(chosen(subject, program)), budget):
                click.echo(line)
    except Refused as refused:
        click.echo(f"{path}: refused: it {refused}")
        return VIOLATED
    except Stopped as stopped:
        click.echo(f"{path}: unknown: {stopped}")
        return UNKNOWN
    sizes = ", ".join(f"{k}={v}" for k, v in stated.parameters.items())
    click.echo(f"{stated.property}: proven at any depth, for {stated.system}{f' ({sizes})' if sizes else ''}")
    return HOLDS


def _subject(told: Mapping[str, Any]) -> Subject:
    """The system that a certificate names."""
    from slotproof.checker.symbolic.certificate import Refused

    try:
        candidate = told["candidate"]
        settings = told["settings"]
        texts = [candidate, told["scenario"], told["release"], told["file"]]
        if not isinstance(settings, list) or not all(isinstance(x, str) for x in settings):
            raise TypeError
        if not all(isinstance(x, str | None) for x in texts):
            raise TypeError
        return _named(
            told["scenario"],
            None if candidate else told["release"],
            bool(told["full"]),
            told["file"],
            tuple(settings),
            Path(candidate) if candidate else None,
        )
    except (KeyError, TypeError):
        raise Refused("does not say which system it is of; name it: SCENARIO or --system FILE") from None
