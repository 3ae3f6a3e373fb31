"""A drafted candidate loads as it is, and does what its release does."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker.candidatefile import load_candidate
from slotproof.model.decisions import DECISIONS
from slotproof.model.draft import RULE, draft
from slotproof.model.releases import HISTORY, release
from slotproof.model.serving.scheduler import Scheduler

CASES = {
    (alternatives.point.name, cell.alternative.__name__): cell.since
    for alternatives in DECISIONS
    for cell in HISTORY[alternatives.point]
}


def _body(function: Callable[..., Any]) -> tuple[str, dict[str, object]]:
    """What a function does: its statements without the docstring, and what their names mean."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    meant = {name: function.__globals__[name] for name in used if name in function.__globals__}
    return "; ".join(ast.dump(part) for part in [tree.args, *tree.body[1:]]), meant


@pytest.mark.parametrize(("point", "answer"), CASES)
def test_a_draft_that_is_not_changed_does_what_the_release_does(
    point: str, answer: str, tmp_path: Path
) -> None:
    name = CASES[point, answer]
    path = tmp_path / "drafted.py"
    path.write_text(draft(point, name))
    candidate = load_candidate(str(path))
    assert candidate.base == name
    assert candidate.names() == {**release(name).names(), point: RULE}
    assert _body(candidate.choices[point]) == _body(release(name).choices[point])


def test_a_decision_that_reads_nothing_says_so() -> None:
    assert "A rule is given nothing to read" in draft("partial_prompt_occupies", "0.5.23")
    assert "A rule is given nothing to read" not in draft("reap_first", "0.5.23")


def test_it_says_which_fields_a_rule_may_read() -> None:
    text = draft("occupied_on_prefill", "0.5.23")
    assert all(f"  {name}: " in text for name in Scheduler.__annotations__)
    assert "  running: Set[Request]  # rows of running_batch" in text
