"""``check --reach EXPR``: the shortest way to a state that a person describes, or that there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checker.conftest import Run
from tests.checker.test_cli_candidate import HEAD, RULE

ASK = ("check", "--scenario", "overlap-cancel", "--release", "0.5.12.post1", "--reach")
BOTH = "any(len(s.ranks[k].loader.copies) == 2 and r2 in s.ranks[k].scheduler.waiting for k in Rank)"

COUNTER = """\
from slotproof.model.language import *

class Place(Domain, size=2, names=("left", "right")):
    '''A place.'''

class Counter(State):
    n: Annotated[int, Range(0, 6)] = field(0, "the counter")
    at: Place = field(Place(0), "where it stands")

@action
def count(s: Counter, by: Annotated[int, Range(1, 2)]) -> None:
    '''It counts.'''
    require(s.n + by <= 6)
    s.n += by

@action
def go(s: Counter) -> None:
    '''It goes to the other side.'''
    require(s.n == 3)
    s.at = Place(1)

def even(s: Counter) -> bool:
    return s.n % 2 == 0

counter = System("counter", Counter, actions=[count, go])
"""


def test_two_copies_in_flight_and_r2_waiting(run: Run) -> None:
    """The state of the issue, told as a story, written, and told again from its file."""
    result = run(*ASK, BOTH)
    assert result.exit_code == 0, result.output
    assert "for k in Rank) after 4 steps." in result.stdout
    assert "ranks[rank0].scheduler.waiting[1] = r2" in result.stdout
    path = result.stdout.splitlines()[-1]
    assert path == "slotproof-traces/overlap-cancel.reach.0.5.12.post1.itf.json"
    told = run("explain", path)
    assert (told.exit_code, told.stderr) == (0, "")
    assert result.stdout.startswith(told.stdout)
    Path(path).write_text(Path(path).read_text().replace("== 2 and", "== 0 and"))
    told = run("explain", path)
    assert told.exit_code == 2
    assert "the end of the trace is not reach" in told.stderr


def test_the_way_is_the_shortest_and_no_way_is_said_with_what_was_searched(run: Run) -> None:
    Path("counter.py").write_text(COUNTER)
    ask = ("check", "--system", "counter.py", "--format", "json", "--reach")
    for expression, steps in {
        "s.n == 0": 0,
        "s.n == 5": 3,
        "s.at == right": 3,
        "s.at == right and even(s) and s.n > 4": 5,
        "s.n == 6 and\ns.at == Place(1)": 5,
    }.items():
        result = run(*ask, expression)
        answer = json.loads(result.stdout)
        assert (result.exit_code, answer["reached"], answer["steps"]) == (0, True, steps), expression
    result = run(*ask, "s.at == right and s.n < 3")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["reached"], answer["complete"]) == (1, False, True)
    assert answer["states"] == 11
    result = run(*ask, "s.n == 6", "--max-depth", "1")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["reached"]) == (3, None)
    assert answer["reason"] == "limit of depth 1 reached"
    text = run("check", "--system", "counter.py", "--reach", "s.n == 2 and s.at == right")
    assert text.exit_code == 1
    assert text.stdout == (
        "counter: not reachable: s.n == 2 and s.at == right\n"
        "  in none of 11 states, depth 5, searched to the end, for\n"
    )


def test_it_looks_in_a_candidate_too(run: Run) -> None:
    Path("mine.py").write_text(HEAD + RULE)
    ask = ("--scenario", "decode-admission-pinned", "--format", "json", "--reach")
    gone = "any(s.adapter[r] in s.ranks[rank0].manager.gone for r in s.ranks[rank0].scheduler.finished)"
    result = run("check", "--candidate", "mine.py", *ask, gone)
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["release"]) == (0, "0.5.23+mine")
    assert run("explain", answer["trace"]).exit_code == 0


def test_an_error_under_a_candidate_names_it(run: Run) -> None:
    Path("reap.py").write_text(
        HEAD + "from slotproof.model.serving.loader import Loader\n\ndef mine(loader: Loader) -> None:\n"
        "    left = {a for a in loader.pending if a in loader.copies}\n"
        "    loader.pending = left if len(loader.copies) > 1 else set()\n\n"
        'candidate = release("0.5.23").replace(reap_first=mine)\n'
    )
    never = "len(s.ranks[rank0].loader.copies) > 2"
    result = run("check", "--candidate", "reap.py", "--scenario", "overlap-cancel", "--reach", never)
    assert result.exit_code == 2
    assert result.stderr.endswith("it comes up under reap.py, which replaces reap_first\n")


BAD: list[tuple[list[str], str]] = [
    (["1 +"], "--reach '1 +': column 4: invalid syntax"),
    (["(1) or (2"], "column 8: '(' was never closed"),
    (["1) or (2"], "column 2: unmatched ')'"),
    (["  "], "--reach: there is no expression; write one over s"),
    (["s.n == 1 and s.m == 2"], "column 14: Counter has no field 'm'"),
    (["even(s) and odd(s)"], "column 13: function 'odd' is not defined"),
    (["s.n ==\nnobody"], "--reach 's.n == nobody': column 8: 'nobody' is not defined"),
    (["s.at == 1"], "column 1: "),
    (["lambda: 3"], "column 1: a lambda is not in the language"),
    (["s.n"], "column 1: "),
    (["s.n == 6 and Place(s.n) == right"], "column 14: "),
    (["s.n == 1", "--property", "x"], "--property does not go with --reach"),
    (["s.n == 1", "--engine", "bounded"], "--engine does not go with --reach"),
    (["s.n == 1", "--format", "markdown"], "--format markdown does not go with --reach; take text or json"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[a[0] + " ".join(a[1:]) for a, _ in BAD])
def test_a_wrong_expression_is_one_line_with_its_column(arguments: list[str], message: str, run: Run) -> None:
    Path("counter.py").write_text(COUNTER)
    result = run("check", "--system", "counter.py", "--reach", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_it_looks_in_one_system(run: Run) -> None:
    for arguments, message in (
        ([], "--reach looks in one system; name it with --scenario S or --system FILE"),
        (["--scenario", "idle-rank", "--scenario", "use-counts"], "keep one --scenario"),
        (["--scenario", "idle-rank", "--release", "0.5.22", "--release", "0.5.23"], "keep one --release"),
        (["--scenario", "idle-rank", "--release", "0.5.24"], "there is no release '0.5.24'"),
        (["--scenario", "idle-rnk"], "there is no scenario 'idle-rnk'; did you mean idle-rank?"),
    ):
        result = run("check", "--reach", "True", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
