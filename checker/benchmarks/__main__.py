"""``python -m slotproof.checker.benchmarks``: measure this checker against the peers that are installed."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from slotproof.checker.benchmarks.peers import (
    STATERIGHT,
    TLC,
    Figures,
    Library,
    Peer,
    PeerError,
    Printing,
    Slotproof,
    Spin,
    Work,
)
from slotproof.checker.benchmarks.table import Different, Measured, Section, document
from slotproof.checker.usage import UsageProblem

ALLOCATOR = Path("tests/zoo/allocator.py")
FILE = click.Path(exists=True, dir_okay=False)


@click.command()
@click.option("--runs", type=click.IntRange(1), default=5, show_default=True, help="Runs of each checker.")
@click.option("--requests", type=click.IntRange(1), default=8, show_default=True, help="Allocator's size.")
@click.option(
    "--libraries/--no-libraries",
    default=True,
    help="Measure the peers that are Python libraries too: minutes each.",
)
@click.option(
    "--shared-requests",
    type=click.IntRange(1),
    default=9,
    show_default=True,
    help="Allocator's size for the comparison of two workers with one.",
)
@click.option("--release", default="0.5.23", show_default=True, help="Release of the whole-server scenario.")
@click.option("--scenario/--no-scenario", default=True, help="Measure the whole-server scenario too.")
@click.option(
    "--python", default=sys.executable, metavar="FILE", help="Interpreter that has musil (Python 3.12)."
)
@click.option(
    "--tlc", nargs=2, type=FILE, metavar="JAR SPEC", help="tla2tools.jar and the allocator in TLA+."
)
@click.option("--stateright", type=FILE, metavar="FILE", help="A Stateright program of the allocator.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("docs/benchmarks.md"), show_default=True)
def main(
    runs: int,
    requests: int,
    libraries: bool,
    shared_requests: int,
    release: str,
    scenario: bool,
    python: str,
    tlc: tuple[str, str] | None,
    stateright: str | None,
    out: Path,
) -> None:
    """Measure and write a table of ratios.

    Run it where the repository is: the allocator is a system of its tests.
    """
    if not ALLOCATOR.exists():
        raise click.UsageError(f"{ALLOCATOR}: there is no such file here; go to the repository's folder")
    java = ["java", "-XX:+UseParallelGC", "-jar", tlc[0], "-workers", "1", tlc[1]] if tlc else []
    slow: list[Peer] = [Library("musil", python), Library("minicheck")]
    peers: list[Peer] = [
        Spin(),
        *(slow if libraries else []),
        Printing("TLC", java, TLC),
        Printing("Stateright", [stateright] if stateright else [], STATERIGHT),
    ]
    try:
        sections = [_measure(_allocator(requests), [Slotproof(), *peers], runs)]
        if scenario:
            whole = {"scenario": "whole-server", "release": release}
            sections.append(
                _measure(Work(whole, f"whole-server, quick, {release}"), [Slotproof(), Spin()], runs)
            )
        sections.append(_measure(_allocator(shared_requests), [Slotproof(2), Slotproof()], runs))
    except (PeerError, Different, UsageProblem) as error:
        raise click.ClickException(str(error)) from None
    text = document(sections, _machine())
    out.write_text(text, encoding="utf-8")
    click.echo(text, nl=False)


def _allocator(requests: int) -> Work:
    what = {"system": str(ALLOCATOR), "settings": [f"requests={requests}"]}
    return Work(what, f"allocator ({requests}, 3, 2)")


def _measure(work: Work, peers: Sequence[Peer], runs: int) -> Section:
    """Every checker in turn, round after round, so that what disturbs one disturbs all."""
    absent = tuple((p.name, why) for p in peers if (why := p.missing()) is not None)
    present = [p for p in peers if p.missing() is None]
    found: dict[str, list[Figures]] = {p.name: [] for p in present}
    for number in range(runs):
        for peer in present:
            _say(f"{work.title}: {peer.name}, run {number + 1} of {runs}")
            found[peer.name].append(peer.search(work))
    _say("")
    return Section(work.title, tuple(Measured(p.name, tuple(found[p.name])) for p in present), absent)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def _machine() -> str:
    return (
        f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.system()}"
        f" {platform.machine()}. Ratios above 1 are in favour of this checker, memory below 1."
    )


if __name__ == "__main__":
    main(prog_name="python -m slotproof.checker.benchmarks")
