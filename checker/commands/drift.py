"""``slotproof drift``: which of the functions that the model encodes have changed in a release."""

from __future__ import annotations

from pathlib import Path

import click

from slotproof.checker.commands import completion
from slotproof.checker.usage import UsageProblem, one_of

EXAMPLES = """\b
Example:
  slotproof drift --sglang DIR --against 0.5.22"""


@click.command(epilog=EXAMPLES, short_help="Which of the modelled functions a release has changed.")
@click.option(
    "--sglang", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
    help="A release, as 'pip install --no-deps --target DIR sglang==X' lays it.",
)  # fmt: skip
@click.option(
    "--against",
    metavar="R",
    shell_complete=completion.releases,
    help="Compare with this release (default: its own, or the newest).",
)
def drift(folder: Path, against: str | None) -> int:
    """Compare the functions that the model was written from with those of a recorded release.

    Exit status: 0 if none has changed, appeared or vanished, 1 if one has.
    """
    from slotproof.counterexamples.drift import compare, digests, recorded
    from slotproof.counterexamples.replay.sglang.folder import Unusable, version_of

    known = recorded()
    try:
        version = version_of(folder)
    except Unusable as error:
        raise UsageProblem(str(error)) from None
    if against is not None:
        one_of("release", against, known, "slotproof list releases")
    before = against or (version if version in known else list(known)[-1])
    found = digests(folder)
    drifts = compare(found, known[before])
    for d in drifts:
        decisions = f"; decides {', '.join(d.row.decisions)}" if d.row.decisions else ""
        click.echo(f"{d.what:9} {d.row.name} ({d.row.paths[0]}), component {d.row.component}{decisions}")
    same = len(found) - sum(d.what != "vanished" for d in drifts)
    click.echo(f"sglang {version} against {before}: {same} functions are the same, {len(drifts)} are not")
    return 1 if drifts else 0
