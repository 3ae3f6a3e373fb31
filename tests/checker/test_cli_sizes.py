"""A scenario with one integer more: it runs, or one line says what else has to be set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import Result

from slotproof.model.language.link import parameters_of
from slotproof.model.releases import RELEASES, release
from slotproof.properties import SCENARIOS
from tests.checker.conftest import Run

NEWEST = RELEASES[-1]


def _raised(scenario: str) -> Iterator[str]:
    """``NAME=VALUE`` for each integer parameter of a scenario, one more than it is."""
    system = SCENARIOS[scenario].system(release(NEWEST))
    for name, parameter in parameters_of(system).items():
        if parameter.kind is int:
            yield f"{name}={system.parameters.get(name, parameter.default) + 1}"


def _check(run: Run, scenario: str, *settings: str) -> Result:
    sets = [word for setting in settings for word in ("--set", setting)]
    return run(
        "check", "--scenario", scenario, "--release", NEWEST, *sets, "--max-states", "20000", "--quiet"
    )


def _is_one_line(result: Result) -> bool:
    return (
        result.exit_code == 2 and result.stderr.startswith("slotproof: ") and result.stderr.count("\n") == 1
    )


@pytest.mark.deep
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_one_more_of_anything_runs_or_says_what_else_to_set(scenario: str, run: Run) -> None:
    raised = list(_raised(scenario))
    assert len(raised) >= 4
    for setting in raised:
        result = _check(run, scenario, setting)
        assert result.exit_code in (0, 1, 3) or _is_one_line(result), f"{setting}: {result.output}"
        if result.exit_code == 2:
            assert "model error" not in result.stderr or "makes room for one more" in result.stderr, setting


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_one_request_more_needs_its_names(scenario: str, run: Run) -> None:
    (setting,) = (setting for setting in _raised(scenario) if setting.startswith("requests="))
    result = _check(run, scenario, setting)
    assert _is_one_line(result)
    assert f"parameter names: there is nothing for key r{setting.partition('=')[2]}" in result.stderr


def test_slots_beyond_the_copies_that_fit_on_the_load_stream(run: Run) -> None:
    """The line names the parameter to raise with them, and then it runs."""
    result = _check(run, "overlap-cancel", "slots=3")
    assert _is_one_line(result)
    assert "its capacity is the parameter stream: '--set stream=3' makes room for one more" in result.stderr
    assert _check(run, "overlap-cancel", "slots=3", "stream=3").exit_code in (0, 1, 3)
