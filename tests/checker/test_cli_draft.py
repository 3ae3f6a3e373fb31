"""`slotproof draft` as a user calls it."""

import pytest

from slotproof.checker.asked import scenarios_asking
from slotproof.model.draft import draft
from slotproof.model.releases import RELEASES
from tests.checker.conftest import Run


def test_the_command_prints_it_with_the_scenarios_that_ask_it(run: Run) -> None:
    old, newest = scenarios_asking("0.5.13"), scenarios_asking(RELEASES[-1])
    assert run("draft", "occupied_on_prefill", "--release", "0.5.13").stdout == draft(
        "occupied_on_prefill", "0.5.13", old["occupied_on_prefill"]
    )
    text = run("draft", "idle_metadata").stdout
    assert text == draft("idle_metadata", RELEASES[-1], newest["idle_metadata"])
    assert "Scenarios that ask it: idle-rank." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["occupied_on_prefil"],
            "there is no decision 'occupied_on_prefil'; did you mean occupied_on_prefill?",
        ),
        (["looks_again", "--release", "0.6"], "there is no release '0.6'"),
        ([], "Missing argument 'DECISION'"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], message: str, run: Run) -> None:
    result = run("draft", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
