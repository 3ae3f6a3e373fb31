"""``slotproof export``: a system as a model of another checker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.commands import completion, option
from slotproof.checker.commands.subject import one_subject
from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.model.language.program import Program

Writer = Callable[["Program", tuple[int, ...], tuple[str, ...], Path | None], str | bytes]

EXAMPLES = """\b
Examples:
  slotproof export idle-rank --release 0.5.16 --to promela --out idle_rank.pml
  slotproof export --system my_system.py --set requests=3 --to promela
  slotproof export finish-unload --property slot-capacity --to aiger \\
                   --out capacity.aig"""


@click.command(epilog=EXAMPLES, short_help="A system as a model of another checker.")
@click.argument("scenario", required=False, shell_complete=completion.scenarios)
@option.latest_release
@option.full_size
@click.option("--system", metavar="FILE[:NAME]", help="Export the System of a Python file.")
@option.settings
@option.properties("What the model asks about; by default nothing for Spin, in AIGER all.")
@click.option(
    "--to",
    "to",
    required=True,
    metavar="FORMAT",
    help="promela, for the model checker Spin; aiger, for those of hardware, such as ABC.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write; by default the terminal. AIGER is ASCII on it and in .aag, else binary.",
)
def export(
    scenario: str | None,
    release: str | None,
    full: bool,
    system: str | None,
    settings: tuple[str, ...],
    property: tuple[str, ...],
    to: str,
    out: Path | None,
) -> int:
    """Write a system as a complete model of another checker, with the same reachable states.

    The model's comment says how to run it, and what the other checker counts besides.
    """
    one_of("format", to, FORMATS, f"there are: {', '.join(FORMATS)}")
    if out is not None and out.is_dir():
        raise UsageProblem(f"--out {out}: is a folder; name a file")
    from slotproof.checker.export.errors import ExportError
    from slotproof.checker.progress import shown_work
    from slotproof.checker.runs import check_safety, chosen, program_of, start_afresh

    subject = one_subject(scenario, release, full, system, settings)
    start_afresh()
    with shown_work(f"writing {subject.scenario or subject.file} as {to}"):
        program = program_of(subject)
        for name in property:
            check_safety(name, program)
        asked = tuple(dict.fromkeys(property))
        try:
            written = FORMATS[to](program, program.choices(chosen(subject, program)), asked, out)
        except ExportError as error:
            raise UsageProblem(f"{program.name}: cannot be written as {to}: {error}") from None
    if out is None:
        click.echo(written, nl=False)
        return 0
    try:
        out.write_bytes(written if isinstance(written, bytes) else written.encode())
    except OSError as error:
        raise UsageProblem(f"--out {out}: cannot be written: {error.strerror}") from None
    return 0


def _promela(program: Program, choices: tuple[int, ...], properties: tuple[str, ...], _: Path | None) -> str:
    from slotproof.checker.export.promela import promela

    return promela(program, choices, properties)


def _aiger(
    program: Program, choices: tuple[int, ...], properties: tuple[str, ...], out: Path | None
) -> str | bytes:
    from slotproof.checker.export.aiger import aiger
    from slotproof.checker.runs import names_of

    circuit = aiger(program, choices, properties or names_of(program))
    return circuit.ascii() if out is None or out.suffix == ".aag" else circuit.binary()


FORMATS: dict[str, Writer] = {"promela": _promela, "aiger": _aiger}
"""Who writes each format."""
