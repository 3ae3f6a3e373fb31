"""``slotproof list``: the releases, scenarios, properties, decisions and obligations that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import click

from slotproof.checker.commands import completion
from slotproof.checker.usage import one_of

Entry = tuple[str, str]
"""A name, and what is said about it."""

INDENT = "    "

EXAMPLES = """\b
Examples:
  slotproof list scenarios
  slotproof list decisions"""


@click.command(
    "list", epilog=EXAMPLES, short_help="The releases, scenarios, properties, decisions or obligations."
)
@click.argument("what", shell_complete=completion.of_names(lambda: LISTS))
def listing(what: str) -> int:
    """Print the releases, scenarios, properties, decisions or obligations, each with its meaning.

    An obligation is a row of what the four pull requests that the project started from are about: what is
    asked, and the tests of the project that check it, or why nothing does.
    """
    one_of("list", what, LISTS, f"there are: {', '.join(LISTS)}")
    import textwrap

    for name, text in LISTS[what]():
        click.echo(name)
        for paragraph in text.split("\n"):
            for line in textwrap.wrap(
                paragraph, 80, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
            ):
                click.echo(line)
    return 0


def _releases() -> Iterator[Entry]:
    from slotproof.model.releases import HISTORY, RELEASES

    for name in RELEASES:
        changed = [
            f"{decision.name} = {cell.alternative.__name__} ({cell.reference})"
            for decision, cells in HISTORY.items()
            for cell in cells
            if cell.since == name
        ]
        yield name, "\n".join(changed) or "no decision changed"


def _scenarios() -> Iterator[Entry]:
    from slotproof.properties import SCENARIOS

    for name, scenario in SCENARIOS.items():
        sizes = f"quick: {_sizes(scenario.quick)}\nfull, beyond that: {_sizes(scenario.full)}"
        yield name, f"{_line(scenario.meaning)}\n{sizes}"


def _properties() -> Iterator[Entry]:
    from slotproof.properties import SCENARIOS

    found: dict[str, tuple[str, list[str]]] = {}
    for name, scenario in SCENARIOS.items():
        for prop in scenario.properties:
            found.setdefault(prop.name, (prop.meaning, []))[1].append(name)
    for name, (meaning, scenarios) in found.items():
        yield name, f"{meaning}\nin {', '.join(scenarios)}"
    yield "no-crash-…", "No assertion, lookup or size check of the server fails: one property for each cause."
    yield "deadlock", "A state without successors that the system does not call final."


def _decisions() -> Iterator[Entry]:
    from slotproof.checker.asked import scenarios_asking
    from slotproof.model.decisions import DECISIONS
    from slotproof.model.releases import RELEASES

    asking = scenarios_asking(RELEASES[-1])
    for decision in DECISIONS:
        point = decision.point.function.__doc__ or ""
        alternatives = [f"{f.__name__}: {_line(f.__doc__ or '')}" for f in decision.functions]
        scenarios = ", ".join(asking.get(decision.point.name, ())) or "no scenario at its quick size"
        yield decision.point.name, "\n".join([_line(point), *alternatives, f"asked in {scenarios}"])


def _obligations() -> Iterator[Entry]:
    import json
    from importlib.resources import files

    text = files("slotproof.properties").joinpath("obligations.json").read_text(encoding="utf-8")
    for entry in json.loads(text):
        tests = ", ".join(entry["tests"])
        where = f"checked in {tests}" if tests else f"not checked: {entry['reason']}"
        yield entry["row"], f"{entry['asked']}\n{where}"


def _sizes(sizes: Mapping[str, object]) -> str:
    from slotproof.counterexamples.encoding import setting

    return ", ".join(f"{name} = {setting(value)}" for name, value in sizes.items())


def _line(text: str) -> str:
    return " ".join(text.split())


LISTS: dict[str, Callable[[], Iterator[Entry]]] = {
    "releases": _releases,
    "scenarios": _scenarios,
    "properties": _properties,
    "decisions": _decisions,
    "obligations": _obligations,
}
