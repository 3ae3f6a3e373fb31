"""``slotproof explore``: a counterexample as a page, or a system to walk through."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.commands import option
from slotproof.checker.commands.subject import one_subject
from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.checker.runs import Subject
    from slotproof.counterexamples.explorer.live import Ground
    from slotproof.counterexamples.explorer.opening import Opened
    from slotproof.counterexamples.explorer.settings import History
    from slotproof.counterexamples.itf import TraceFile
    from slotproof.model.language.program import Program

EXAMPLES = """\b
Examples:
  slotproof explore overlap-cancel.no-slot-leak.0.5.12.post1.itf.json \\
                    --html leak.html
  slotproof explore overlap-cancel --release 0.5.12.post1 --beside 0.5.13"""


@click.command(epilog=EXAMPLES, short_help="A trace or a scenario as a page to step through.")
@click.argument("subject", metavar="TRACE|SCENARIO", required=False)
@click.option(
    "--html", metavar="FILE", type=click.Path(path_type=Path), help="Write the page of a trace to FILE."
)
@click.option("--release", metavar="R", help="Walk this release; by default the latest.")
@click.option("--beside", metavar="R", help="Take the same steps on this release, and show where they part.")
@option.full_size
@click.option("--system", metavar="FILE[:NAME]", help="A system of one's own, or the one of the trace.")
@option.settings
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Answer on this port.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def explore(
    subject: str | None,
    html: Path | None,
    release: str | None,
    beside: str | None,
    full: bool,
    system: str | None,
    settings: tuple[str, ...],
    port: int | None,
    no_browser: bool,
) -> int:
    """Show a trace step by step as a page, or walk through a scenario by hand.

    With --html the page is one file that needs no network: it opens from disk, and can be kept or mailed.
    Without, a server on this machine's loopback address shows it, where steps can be taken and taken back,
    and a search runs to the next violation. The address names the steps: it can be kept and sent.
    """
    if subject is not None and (subject.endswith(".json") or Path(subject).is_file()):
        for name, given in {"--release": release, "--full": full, "--set": settings}.items():
            if given:
                raise UsageProblem(f"{name} does not go with a trace, which says itself what it is of")
        return _trace(Path(subject), html, beside, system, port, no_browser)
    if html is not None:
        raise UsageProblem("--html writes the page of a trace; name its file (slotproof check writes them)")
    ground = _ground(one_subject(subject, release, full, system, settings), beside, ())
    return _serve(ground, port, no_browser)


def _trace(
    path: Path, html: Path | None, beside: str | None, system: str | None, port: int | None, no_browser: bool
) -> int:
    from slotproof.checker.commands.explain import program_of_file
    from slotproof.counterexamples.itf import read

    file = read(path)
    program = program_of_file(file, system)
    if html is not None:
        if beside:
            raise UsageProblem("--beside needs the live page; leave --html out")
        write_page(html, page_of(file, program))
        return 0
    return _serve(_ground_of_trace(file, program, beside), port, no_browser)


# -- the page of a trace ---------------------------------------------------------------------------------


def page_of(file: TraceFile, program: Program) -> str:
    """The page of a trace file."""
    from slotproof.counterexamples.explorer.opening import opened
    from slotproof.counterexamples.explorer.page import render
    from slotproof.counterexamples.explorer.walk import Teller

    found = opened(file, program, known_as(file))
    teller = Teller(program, found.walk.choices, history_of(program))
    data = teller.tell(found.walk, found.finding, title=file.scenario)
    return render({**data, "notices": list(found.notices)}, _story(file, program, found))


def history_of(program: Program) -> History | None:
    """The releases' answers to the program's decisions, if they are the server's."""
    from slotproof.counterexamples.explorer.settings import History
    from slotproof.model.releases import HISTORY, RELEASES, release, when

    if not any(d.point in HISTORY for d in program.system.decisions):
        return None
    return History(RELEASES[-1], release(RELEASES[-1]).names(), when)


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


# -- live ------------------------------------------------------------------------------------------------


def _ground(subject: Subject, beside: str | None, path: tuple[str, ...]) -> Ground:
    """A scenario on every release, or a system of one's own alone."""
    from dataclasses import replace

    from slotproof.checker.runs import chosen, program_of, start_afresh
    from slotproof.counterexamples.explorer.live import Ground, Place

    start_afresh()

    def build(name: str) -> tuple[Program, tuple[int, ...]]:
        one = subject if subject.file else replace(subject, release=name)
        program = program_of(one)
        return program, program.choices(chosen(one, program))

    if subject.file is not None:
        if beside:
            raise UsageProblem("--beside names a release, and a system of one's own has none; leave it out")
        program, _ = build("")
        return Ground(program.name, (program.name,), build, Place(program.name, "", path), history=history_of)
    from slotproof.model.releases import RELEASES

    assert subject.release is not None
    _known(beside)
    title = f"{subject.scenario}, {subject.size} size" if subject.full else str(subject.scenario)
    build(subject.release)  # what is wrong with it is said before a page opens
    first = Place(subject.release, beside or "", path)
    return Ground(title, tuple(RELEASES), build, first, history=history_of)


def _ground_of_trace(file: TraceFile, program: Program, beside: str | None) -> Ground:
    """The trace's own system, with its steps as the first path, and the other releases of its scenario."""
    from slotproof.counterexamples.explorer.live import Ground, Place
    from slotproof.counterexamples.explorer.opening import opened
    from slotproof.counterexamples.verify import call

    found = opened(file, program, known_as(file))
    walk = found.walk
    finding = found.finding if walk.loop is None else None  # a walk by hand has no loop
    path = [*([call(walk.start)] if walk.start else []), *(call(step) for step in walk.steps)]
    own = walk.subject or program.name
    notices = list(found.notices)
    if walk.loop is not None:
        notices.append(f"The steps from {walk.loop + 1} on repeat for ever; --html shows the loop as one.")
    releases = _others(file)
    if beside:
        one_of("release", beside, releases, "slotproof list releases")

    def build(name: str) -> tuple[Program, tuple[int, ...]]:
        if name == own:
            return program, walk.choices
        from slotproof.model.language.compile import compile_system
        from slotproof.model.releases import release
        from slotproof.properties import SCENARIOS

        system = SCENARIOS[file.scenario].system(release(name)).with_parameters(**file.parameters)
        compiled = compile_system(system)
        return compiled, compiled.choices(system.choices)

    names = releases if own in releases else (own, *releases)
    first = Place(own, beside or "", tuple(path))
    return Ground(file.scenario, names, build, first, tuple(notices), finding, history_of)


def _others(file: TraceFile) -> tuple[str, ...]:
    if file.system_file is not None:
        return ()
    from slotproof.model.releases import RELEASES

    return tuple(RELEASES)


def _known(release: str | None) -> None:
    if release is not None:
        from slotproof.model.releases import RELEASES

        one_of("release", release, RELEASES, "slotproof list releases")


def _serve(ground: Ground, port: int | None, no_browser: bool) -> int:
    try:
        from slotproof.counterexamples.explorer.server import listening, serve
    except ImportError as error:
        raise UsageProblem(
            f"a live page needs '{error.name}', which is not installed: pip install 'slotproof[explore]',"
            " or write the page of a trace with --html FILE"
        ) from None
    try:
        on = listening(port)
    except OSError as error:
        raise UsageProblem(
            f"--port {port}: cannot be had: {error.strerror}; name another, or none to take a free one"
        ) from None

    def ready(address: str) -> None:
        click.echo(f"The explorer is at {address} (Ctrl-C ends it)")
        if not no_browser:  # a browser may run in the foreground, and the page has to answer meanwhile
            threading.Thread(target=_show, args=(address,), daemon=True).start()

    serve(ground, on, ready)
    return 0


def _show(address: str) -> None:
    if not _opened(address):
        port = address.rstrip("/").rpartition(":")[2]
        click.echo(
            "No browser could be started: open the address in one on this machine, or on another after"
            f" 'ssh -L {port}:127.0.0.1:{port} HOST'.",
            err=True,
        )


def _opened(address: str) -> bool:
    """Open a browser that draws the page. One of a terminal runs no scripts, and is not asked."""
    import webbrowser

    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in screens):
        return False
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
