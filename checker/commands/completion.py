"""What the shell offers after TAB for the names that options and arguments take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def of_names(names: Callable[[], Iterable[str]]) -> Complete:
    """Offer the names that begin with what is there; they are looked up only then."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def one_of(names: Sequence[str]) -> Complete:
    """Offer some of these."""
    return of_names(lambda: names)


def outputs(formats: Sequence[str]) -> Complete:
    """Offer ``FORMAT=``, to go on with a file."""
    return of_names(lambda: [f"{name}=" for name in formats])


def _releases() -> Iterable[str]:
    from slotproof.model.releases import RELEASES

    return RELEASES


def _scenarios() -> Iterable[str]:
    from slotproof.properties import SCENARIOS

    return SCENARIOS


def _properties() -> Iterable[str]:
    from slotproof.properties import SCENARIOS

    named = (p.name for scenario in SCENARIOS.values() for p in scenario.properties)
    return dict.fromkeys([*named, "no-crash", "deadlock"])


def _decisions() -> Iterable[str]:
    from slotproof.model.decisions import DECISIONS

    return [decision.point.name for decision in DECISIONS]


def _engines() -> Iterable[str]:
    from slotproof.checker.runs import ENGINES

    return ENGINES


def file_or_release(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer releases, and the shell's own completion of files."""
    return [*releases(ctx, param, incomplete), CompletionItem(incomplete, type="file")]


def file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer files."""
    return [CompletionItem(incomplete, type="file")]


releases = of_names(_releases)
scenarios = of_names(_scenarios)
properties = of_names(_properties)
decisions = of_names(_decisions)
engines = of_names(_engines)
