"""Which scenarios ask a decision, and what ``compare`` says where a change has no part in a scenario."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotproof.checker.asked import decisions_asked, notes, scenarios_asking
from slotproof.checker.identity import identity
from slotproof.checker.runs import Subject, chosen, program_of
from slotproof.model.releases import RELEASES
from slotproof.properties import SCENARIOS
from tests.checker.conftest import Run
from tests.checker.test_cli_candidate import HEAD

NEWEST = RELEASES[-1]
REAP = """\
from slotproof.model.serving.loader import Loader

def mine(loader: Loader) -> None:
    '''What has ended, written otherwise.'''
    loader.pending = {a for a in loader.pending if a in loader.copies}

candidate = release("0.5.23").replace(reap_first=mine)
"""
ASKING = [
    "overlap-cancel",
    "finite-traffic",
    "endless-traffic",
    "drained-traffic",
    "copy-race",
    "whole-server",
]


def _pair(scenario: str) -> tuple[Subject, Subject]:
    """The newest release and ``mine.py`` beside it."""
    return Subject(scenario, NEWEST, False, None, ()), Subject(
        scenario, "0.5.23+", False, None, (), "mine.py"
    )


@pytest.mark.parametrize("scenario", ["overlap-cancel", "idle-rank", "decode-admission"])
def test_what_is_not_asked_makes_no_difference_and_what_is_asked_does(scenario: str) -> None:
    """The part of the program that runs is the same for every answer, or not."""
    subject = Subject(scenario, NEWEST, False, None, ())
    program = program_of(subject)
    given = chosen(subject, program)
    asked = decisions_asked(program, program.choices(given))
    assert asked < {point.name for point in program.decisions}
    before = identity(program, program.choices(given))
    for point in program.decisions:
        for answer in point.alternatives:
            if answer != given[point.name]:
                after = identity(program, program.choices({**given, point.name: answer}))
                assert (after != before) == (point.name in asked), (point.name, answer)


def test_the_scenarios_that_ask_a_decision_are_found_once_and_kept() -> None:
    asking = scenarios_asking(NEWEST)
    assert asking["reap_first"] == ASKING
    assert asking["occupied_on_decode"] == [s for s in SCENARIOS if s.startswith("decode-")]
    assert scenarios_asking(NEWEST) == asking


def test_the_list_of_decisions_names_them(run: Run) -> None:
    reaping = run("list", "decisions").stdout.split("\nreap_first\n")[1].split("\ncopy_status\n")[0]
    assert f"asked in {', '.join(ASKING)}" in " ".join(reaping.split())


def test_a_comparison_without_any_difference_says_where_the_change_is_asked(run: Run) -> None:
    Path("mine.py").write_text(HEAD + REAP)
    given = ["compare", "0.5.23", "mine.py", "--scenario", "decode-admission"]
    result = run(*given, "--output", "json=out.json", "--output", "markdown=out.md")
    assert result.exit_code == 0
    said = f"reap_first is not asked in this scenario; it is in {', '.join(ASKING)}"
    assert said in " ".join(result.stdout.split())
    assert f"  - {said}" in Path("out.md").read_text().splitlines()
    (line,) = [d for d in map(json.loads, Path("out.json").read_text().splitlines()) if d["change"] == "same"]
    assert line["notes"] == [said]


def test_where_a_compared_scenario_asks_it_the_others_are_not_named(run: Run) -> None:
    Path("mine.py").write_text(HEAD + REAP)
    sides = {name: _pair(name) for name in ("decode-admission", "overlap-cancel")}
    assert notes(sides, list(sides)) == {
        "decode-admission": ["reap_first is not asked in this scenario"],
        "overlap-cancel": ["reap_first is asked here, and in no order of events does it make a difference"],
    }
    assert notes(sides, []) == {}


def test_an_action_that_no_compared_scenario_has_is_told_with_those_that_have_it(run: Run) -> None:
    Path("mine.py").write_text(
        HEAD + "@action\ndef copy_ends(s: Server) -> None:\n    require(s.ranks[Rank(0)].loader.filling)\n\n"
        'candidate = release("0.5.23").with_actions(copy_ends)\n'
    )
    name = "decode-admission"
    ((said,),) = notes({name: _pair(name)}, [name]).values()
    assert said.startswith("copy_ends is not a step in this scenario; it is in overlap-cancel, ")
