"""Options that several commands have, each said once."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from slotproof.checker.commands import completion

PATH = click.Path(path_type=Path)
NO_CACHE = "SLOTPROOF_NO_CACHE"
"""Set to 1 it says ``--no-cache`` for every command."""

FORMATS = ("text", "json", "markdown", "junit", "github", "sarif")
"""What a report can be."""

Command = TypeVar("Command", bound=Callable[..., Any])


class Seconds(click.FloatRange):
    """A length of time; ``nan`` is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of seconds."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


def timeout(meaning: str) -> Callable[[Command], Command]:
    """When to give up."""
    return click.option("--timeout", type=Seconds(0, min_open=True), metavar="S", help=meaning)


def limits(command: Command) -> Command:
    """When a search stops: states, depth, time."""
    command = timeout("Stop a search after S seconds: unknown.")(command)
    command = click.option(
        "--max-depth", type=click.IntRange(0), metavar="N", help="Stop a search at depth N: unknown."
    )(command)
    return click.option(
        "--max-states", type=click.IntRange(1), metavar="N", help="Stop a search at N states: unknown."
    )(command)


def scenarios(command: Command) -> Command:
    """Which scenarios."""
    return click.option(
        "--scenario",
        multiple=True,
        metavar="S",
        shell_complete=completion.scenarios,
        help="A scenario; all if none is named.",
    )(command)


def properties(meaning: str) -> Callable[[Command], Command]:
    """Which properties."""
    return click.option(
        "--property",
        "property",
        multiple=True,
        metavar="P",
        shell_complete=completion.properties,
        help=meaning,
    )


def engines(meaning: str) -> Callable[[Command], Command]:
    """Which engines."""
    return click.option(
        "--engine", multiple=True, metavar="E", shell_complete=completion.engines, help=meaning
    )


def latest_release(command: Command) -> Command:
    """One release."""
    return click.option(
        "--release",
        metavar="R",
        shell_complete=completion.releases,
        help="A release of SGLang; by default the latest.",
    )(command)


def settings(command: Command) -> Command:
    """Other values of parameters."""
    return click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value of a parameter."
    )(command)


def full_sizes(command: Command) -> Command:
    """The full sizes of all scenarios that are asked."""
    return click.option(
        "--full", is_flag=True, help="Take the scenarios' full sizes; minutes instead of seconds."
    )(command)


def full_size(command: Command) -> Command:
    """The full size of the one scenario."""
    return click.option("--full", is_flag=True, help="Take the scenario's full size.")(command)


def reports(command: Command) -> Command:
    """What is printed, what is written beside it, and where the traces go."""
    command = click.option(
        "--out", type=PATH, metavar="DIR", help="Folder of the traces; by default slotproof-traces."
    )(command)
    command = click.option(
        "--output",
        multiple=True,
        metavar="F=FILE",
        shell_complete=completion.outputs(FORMATS),
        help="Write a format to a file, beside --format.",
    )(command)
    return click.option(
        "--format",
        "format",
        default="text",
        metavar="F",
        shell_complete=completion.one_of(FORMATS),
        help=f"{', '.join(FORMATS)}.",
    )(command)


def no_cache(command: Command) -> Command:
    """Whether to search anew."""
    return click.option(
        "--no-cache", is_flag=True, envvar=NO_CACHE, help="Search again what an earlier run has found."
    )(command)
