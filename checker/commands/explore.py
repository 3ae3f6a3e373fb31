"""``slotproof explore``: a counterexample as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.usage import UsageProblem

if TYPE_CHECKING:
    from slotproof.counterexamples.explorer.opening import Opened
    from slotproof.counterexamples.itf import TraceFile
    from slotproof.model.language.program import Program

EXAMPLES = """\b
Example:
  slotproof explore overlap-cancel.no-slot-leak.0.5.12.post1.itf.json --html leak.html"""


@click.command(epilog=EXAMPLES)
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write the page to FILE.")
@click.option("--system", metavar="FILE[:NAME]", help="The system file, if it is not where it was.")
def explore(trace: Path, html: Path | None, system: str | None) -> int:
    """Show a trace step by step as a page: what each step does, what is false, and what else could be.

    The page is one file that needs no network: it opens from disk, and can be kept or mailed.
    """
    from slotproof.checker.commands.explain import program_of_file
    from slotproof.counterexamples.itf import read

    file = read(trace)
    program = program_of_file(file, system)
    if html is None:
        raise UsageProblem("name the file for the page: --html FILE")
    write_page(html, page_of(file, program))
    return 0


def page_of(file: TraceFile, program: Program) -> str:
    """The page of a trace file."""
    from slotproof.counterexamples.explorer.opening import opened
    from slotproof.counterexamples.explorer.page import render
    from slotproof.counterexamples.explorer.walk import Teller

    found = opened(file, program, known_as(file))
    teller = Teller(program, found.walk.choices)
    data = teller.tell(found.walk, found.finding, title=file.scenario)
    return render({**data, "notices": list(found.notices)}, _story(file, program, found))


def _story(file: TraceFile, program: Program, found: Opened) -> str:
    from slotproof.counterexamples.story import story

    if found.finding is None:
        return "\n".join(found.notices)
    return story(file.trace(program), program, scenario=file.scenario, width=100)


def known_as(file: TraceFile) -> str:
    """What the shipped baseline says of the violation, if it lists it."""
    from slotproof.checker.baseline import shipped

    entries = shipped()
    for size in ("quick", "full"):
        known = entries.get((file.scenario, file.property, file.release, size))
        if known is not None and file.system_file is None and file.candidate_file is None:
            return known.reason
    return ""


def write_page(path: Path, page: str) -> None:
    """Write the page, whole or not at all; ``UsageProblem`` says why it cannot be."""
    from slotproof.counterexamples.files import write_whole

    try:
        write_whole(path, page)
    except OSError as error:
        raise UsageProblem(
            f"{path}: the page cannot be written: {error.strerror}; name a file in a folder that is yours"
        ) from None
