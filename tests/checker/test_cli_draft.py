"""`slotproof draft` as a user calls it."""

import pytest

from slotproof.model.draft import draft
from slotproof.model.releases import RELEASES
from tests.checker.conftest import Run


def test_the_command_prints_it(run: Run) -> None:
    assert run("draft", "occupied_on_prefill", "--release", "0.5.13").stdout == draft(
        "occupied_on_prefill", "0.5.13"
    )
    assert run("draft", "looks_again").stdout == draft("looks_again", RELEASES[-1])


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
