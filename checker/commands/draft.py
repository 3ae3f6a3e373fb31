"""``slotproof draft``: a candidate to start from."""

from __future__ import annotations

import click

from slotproof.checker.commands import completion, option
from slotproof.checker.usage import one_of

EXAMPLES = """\b
Examples:
  slotproof draft occupied_on_prefill
  slotproof draft copy_status --release 0.5.20"""


@click.command(epilog=EXAMPLES, short_help="A candidate to start from: one decision, to be changed.")
@click.argument("decision", shell_complete=completion.decisions)
@option.latest_release
def draft(decision: str, release: str | None) -> int:
    """Print a candidate that answers DECISION as a release does, ready to be changed.

    Put '> my_change.py' behind it, and give the file to 'slotproof compare' once it is changed. It says what
    the decision is about, which scenarios ask it, and which fields an answer may read. 'slotproof list
    decisions' has all decisions, with what releases have answered.
    """
    from slotproof.checker.asked import scenarios_asking
    from slotproof.model.decisions import DECISIONS
    from slotproof.model.draft import draft as drafted
    from slotproof.model.releases import RELEASES

    one_of("decision", decision, (d.point.name for d in DECISIONS), "slotproof list decisions")
    release = one_of("release", release or RELEASES[-1], RELEASES, "slotproof list releases")
    click.echo(drafted(decision, release, scenarios_asking(release).get(decision, [])), nl=False)
    return 0
