"""The drift watch: what counts as a change, what is recorded, and that the table names the model's words."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from slotproof.checker.cli import main
from slotproof.counterexamples import drift
from slotproof.model.decisions import DECISIONS
from slotproof.model.releases import RELEASES
from tests.counterexamples.sglang.folders import make_release


def digest_of(text: str) -> str:
    return drift.digest(ast.parse(text).body[0])


def test_comments_docstrings_layout_and_annotations_are_no_change() -> None:
    plain = "def f(a, b):\n    return a + b"
    assert digest_of(
        'def f(a: int,\n      b: int) -> int:\n    """Adds."""\n    # so\n    return (a + b)'
    ) == (digest_of(plain))


def test_another_operator_is_a_change() -> None:
    assert digest_of("def f(a, b):\n    return a + b") != digest_of("def f(a, b):\n    return a - b")


def test_a_dropped_await_is_a_change() -> None:
    assert digest_of("async def f(a):\n    await a()") != digest_of("async def f(a):\n    a()")


def test_every_release_of_the_model_is_recorded() -> None:
    assert tuple(drift.recorded()) == RELEASES


def test_every_function_of_the_table_is_in_some_release() -> None:
    known = {name for found in drift.recorded().values() for name in found}
    assert known == {row.name for row in drift.TABLE}


def test_the_table_names_decisions_of_the_model() -> None:
    known = {d.point.name for d in DECISIONS}
    assert {d for row in drift.TABLE for d in row.decisions} <= known


def test_every_decision_of_the_server_has_a_function_in_the_table() -> None:
    named = {d for row in drift.TABLE for d in row.decisions}
    assert {d.point.name for d in DECISIONS} <= named


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("0.5.12.post1", "0.5.13", "LoRAOverlapLoader.try_overlap_load_lora"),
        ("0.5.13.post1", "0.5.14", "Scheduler._get_new_batch_prefill_raw"),
        ("0.5.16", "0.5.17", "ForwardBatch.init_new"),
        ("0.5.19", "0.5.20", "DecodePreallocQueue.pop_preallocated"),
    ],
)
def test_the_fix_of_each_pull_request_is_seen(before: str, after: str, name: str) -> None:
    drifts = drift.compare(drift.recorded()[after], drift.recorded()[before])
    assert ("changed", name) in [(d.what, d.row.name) for d in drifts]


def test_post_releases_without_changes_have_none() -> None:
    assert drift.compare(drift.recorded()["0.5.13.post1"], drift.recorded()["0.5.13"]) == []


def test_a_release_that_nobody_knows_is_compared_with_the_newest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_release(tmp_path, "0.9.0", {"lora/lora_manager.py": "class LoRAManager:\n    pass\n"})
    with pytest.raises(SystemExit) as ended:
        main(["drift", "--sglang", str(folder)])
    said = capsys.readouterr().out
    assert ended.value.code == 1
    assert "vanished  LoRAManager.validate_lora_batch (lora/lora_manager.py), component manager" in said
    assert "sglang 0.9.0 against 0.5.23" in said


def test_a_folder_that_is_no_release_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["drift", "--sglang", str(tmp_path)])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("\n") == 1
    assert "holds no SGLang" in said
    assert "pip install --no-deps --target" in said
