"""What the command line says of itself: help, examples, exit statuses, completion."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from slotproof.checker.cli import main
from tests.checker.conftest import Run

COMMANDS = sorted(main.commands)
STATUSES = Path(__file__).parents[2] / "docs" / "exit-status.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns_and_ends_with_examples(name: str, run: Run) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    examples = result.stdout.split("\n  Example")[-1]
    assert f"slotproof {name}" in examples


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_are_calls_that_the_command_takes(name: str) -> None:
    command = main.commands[name]
    text = (command.epilog or "").replace("\\\n", " ")
    calls = [line.strip() for line in text.splitlines() if line.startswith("  slotproof ")]
    assert calls
    for call in calls:
        words = shlex.split(call)
        assert words[:2] == ["slotproof", name]
        command.make_context(name, words[2:])


def test_every_command_has_a_line_that_is_not_cut_off(run: Run) -> None:
    listed = run("--help").stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    assert not [line for line in listed if line.endswith("...")]


def test_every_option_says_what_it_does() -> None:
    for command in main.commands.values():
        for param in command.params:
            if isinstance(param, click.Option):
                assert param.help, f"{command.name} {param.opts[0]}"


def test_the_page_of_exit_statuses_has_every_command() -> None:
    text = STATUSES.read_text().partition("## Output")[0]
    rows = re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
    assert sorted(rows) == COMMANDS


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("slotproof che", {"check"}),
        ("slotproof check --scenario over", {"overlap-cancel"}),
        ("slotproof check --release 0.5.13", {"0.5.13", "0.5.13.post1"}),
        ("slotproof check --engine ex", {"explicit"}),
        ("slotproof check --format ju", {"junit"}),
        ("slotproof check --property no-slot", {"no-slot-leak"}),
        ("slotproof list rel", {"releases"}),
        ("slotproof compare 0.5.12", {"0.5.12", "0.5.12.post1"}),
        ("slotproof explain x.itf", {"x.itf"}),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_offers_what_fits(line: str, offered: set[str], shell: str) -> None:
    words = line.split()
    environment = {
        "_SLOTPROOF_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    result = CliRunner().invoke(main, [], prog_name="slotproof", env=environment)
    assert offered <= set(re.split(r"[\s,]+", result.output))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_printed(shell: str, tmp_path: Path) -> None:
    environment = {**os.environ, "_SLOTPROOF_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [Path(sys.executable).with_name("slotproof")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert f"_SLOTPROOF_COMPLETE={shell}_complete" in done.stdout
