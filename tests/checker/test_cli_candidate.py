"""``check --candidate``: a change of a release, judged like one; each fault in its file is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotproof.checker.candidatefile import label_of, labels_apart
from tests.checker.conftest import Run

HEAD = """\
from slotproof.model.language import *
from slotproof.model.releases import release
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Adapter, Rank, Request

"""
RULE = """\
def mine(scheduler: Scheduler) -> Set[Request]:
    \'\'\'Those that have not finished.\'\'\'
    return scheduler.running - scheduler.finished

candidate = release("0.5.23").replace(occupied_on_decode=mine)
"""
ONLY = ("--scenario", "decode-admission-pinned")


def _write(text: str, name: str = "mine.py") -> None:
    Path(name).write_text(HEAD + text)


def _answer(rule: str) -> str:
    return rule + 'candidate = release("0.5.23").replace(occupied_on_decode=mine)\n'


FAULTS: list[tuple[str, str, str]] = [
    ("no candidate", 'x = release("0.5.23")\n', "mine.py: no candidate is in it; rename 'x' to 'candidate'"),
    ("nothing", "x = 1\n", "no candidate is in it; write 'candidate = release("),
    ("another thing", "candidate = 3\n", "mine.py:7: candidate is a int; write 'candidate = release("),
    ("an unknown release", 'candidate = release("0.5.24")\n', "mine.py:7: there is no release '0.5.24'"),
    (
        "an unknown decision",
        'candidate = release("0.5.23").replace(occupied_on_decod="x")\n',
        "mine.py:7: there is no decision 'occupied_on_decod'; did you mean occupied_on_decode?",
    ),
    (
        "an unknown alternative",
        'candidate = release("0.5.23").replace(occupied_on_decode="x")\n',
        "mine.py:7: decision occupied_on_decode has no alternative 'x'; it has: finished_rows_too",
    ),
    (
        "no function",
        'candidate = release("0.5.23").replace(occupied_on_decode=3)\n',
        "mine.py:7: decision occupied_on_decode is answered by 3; write a function without a mark",
    ),
    (
        "a taken name",
        "def finished_rows_too(scheduler: Scheduler) -> Set[Request]:\n    return scheduler.running\n\n"
        'candidate = release("0.5.23").replace(occupied_on_decode=finished_rows_too)\n',
        "mine.py:10: decision occupied_on_decode has an alternative 'finished_rows_too' already; rename",
    ),
    (
        "another parameter",
        _answer("def mine(s: Server) -> Set[Request]:\n    return set()\n\n"),
        "mine.py:7: mine is no answer to decision occupied_on_decode;"
        " write 'def mine(scheduler: Scheduler) -> Set[Request]:'",
    ),
    (
        "a parameter too many",
        _answer("def mine(scheduler: Scheduler, r: Request) -> Set[Request]:\n    return set()\n\n"),
        "mine.py:7: mine is no answer to decision occupied_on_decode",
    ),
    (
        "another result",
        _answer("def mine(scheduler: Scheduler) -> bool:\n    return True\n\n"),
        "mine.py:7: mine is no answer to decision occupied_on_decode",
    ),
    (
        "an unknown field",
        _answer("def mine(scheduler: Scheduler) -> Set[Request]:\n    return scheduler.runing\n\n"),
        "mine.py:8: Scheduler has no field 'runing'; did you mean running?",
    ),
    (
        "an unknown type",
        _answer("def mine(scheduler: Schedule) -> Set[Request]:\n    return scheduler.running\n\n"),
        "mine.py:7: mine: annotation names 'Schedule', which is not defined",
    ),
    (
        "a value of another type",
        _answer("def mine(scheduler: Scheduler) -> Set[Request]:\n    return len(scheduler.running)\n\n"),
        "mine.py:8: ",
    ),
    (
        "another language",
        _answer("def mine(scheduler: Scheduler) -> Set[Request]:\n    print(1)\n    return set()\n\n"),
        "mine.py:8: ",
    ),
    (
        "an error of the model",
        _answer(
            "def mine(scheduler: Scheduler) -> Set[Request]:\n"
            "    return {next(r for r in scheduler.running)}\n\n"
        ),
        "mine.py:8: the least, greatest or first of nothing is taken",
    ),
    (
        "no action",
        'def answer(s: Server) -> None: ...\n\ncandidate = release("0.5.23").with_actions(answer)\n',
        "mine.py:9: with_actions(answer): is no action; write '@action' above it",
    ),
    (
        "an action of another name",
        "@action\ndef answr(s: Server, r: Request) -> None:\n    s.adapter[r] = Adapter(0)\n\n"
        'candidate = release("0.5.23").with_actions(answr)\n',
        "mine.py:7: no scenario has an action 'answr' to replace; did you mean answer?",
    ),
    (
        "an action whose arguments a property needs",
        "@action\ndef unload(s: Server) -> None:\n    s.registry.unloading = set()\n\n"
        'candidate = release("0.5.23").with_actions(unload)\n',
        "mine.py:7: property unload-safe is about the arguments of unload; write 'def unload(s: Server,",
    ),
    (
        "state of another system",
        'class Mine(State):\n    x: bool = field(False, "x")\n\n'
        'candidate = release("0.5.23").with_state(Mine)\n',
        "mine.py:10: with_state(Mine): adds nothing to the server; write 'class Mine(Server):'",
    ),
    (
        "state without bounds",
        'class Mine(Server):\n    x: int = field(0, "x")\n\ncandidate = release("0.5.23").with_state(Mine)\n',
        "mine.py:8: Mine.x: 'int' has no bounds; write 'Annotated[int, Range(low, high)]'",
    ),
    ("an error of its own", 'raise OSError("gone")\n', "mine.py:7: OSError: gone"),
    ("a syntax error", "candidate = release(\n", "mine.py:7: syntax error"),
]


@pytest.mark.parametrize(("text", "message"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_of_a_candidate_is_one_line_with_its_place(text: str, message: str, run: Run) -> None:
    _write(text)
    result = run("check", "--candidate", "mine.py", *ONLY)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_candidate_that_is_not_there_or_beside_a_system_is_one_line(run: Run) -> None:
    for arguments, message in (
        (["mine.py"], "mine.py: there is no such file"),
        (["."], ".: is a folder; name the Python file in it that defines the candidate"),
        (["mine.py", "--system", "x.py"], "--candidate does not go with --system"),
    ):
        result = run("check", "--candidate", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_candidate_is_judged_beside_its_release_by_the_entries_of_its_release(run: Run) -> None:
    """What the change cures is no news, and what the release is known for is known of the change."""
    _write(RULE)
    result = run("check", "--candidate", "mine.py", "--release", "0.5.23", *ONLY, "--format", "json")
    found = {(d["release"], d["property"]): d for d in map(json.loads, result.stdout.splitlines())}
    crash = "no-crash-fit-test-unknown-adapter"
    assert result.exit_code == 0, result.stdout
    assert found["0.5.23", crash]["verdict"] == "violated"
    assert found["0.5.23+mine", crash]["verdict"] == "holds"
    _write('candidate = release("0.5.23").replace(unload_and_slot="slot_kept")\n')
    result = run("check", "--candidate", "mine.py", *ONLY, "--format", "json")
    found = {(d["release"], d["property"]): d for d in map(json.loads, result.stdout.splitlines())}
    assert result.exit_code == 1
    assert found["0.5.23+mine", crash]["reason"].startswith("known: ")
    assert found["0.5.23+mine", "unload-clears"]["reason"] == "not in the baseline"
    told = run("explain", found["0.5.23+mine", "unload-clears"]["trace"])
    assert told.exit_code == 0
    assert "decode-admission-pinned on 0.5.23+mine: unload-clears is violated" in told.stdout
    Path("mine.py").unlink()
    lost = run("explain", found["0.5.23+mine", "unload-clears"]["trace"])
    assert lost.exit_code == 2
    assert "#meta.candidate_file: mine.py is not there" in lost.stderr


def test_a_property_about_an_action_is_about_the_one_that_takes_its_place(run: Run) -> None:
    """Else it would be about nothing, and hold of any candidate."""
    _write(
        "@action\ndef unload(s: Server, a: Adapter) -> None:\n"
        "    require(a in s.registry.unloading)\n    s.registry.unloading -= {a}\n"
        "    for k in Rank:\n        s.ranks[k].manager.gone |= {a}\n\n"
        'candidate = release("0.5.23").with_actions(unload)\n'
    )
    result = run("check", "--candidate", "mine.py", *ONLY, "--property", "unload-*", "--format", "json")
    found = {d["property"]: d["verdict"] for d in map(json.loads, result.stdout.splitlines())}
    assert found == {"unload-safe": "violated", "unload-clears": "violated"}


def test_candidates_are_told_apart_by_their_files_wherever_a_trace_is(run: Run) -> None:
    """By the names of the traces and what is above them: two ideas in one folder do not mix."""
    slot = 'candidate = release("0.5.23").replace(unload_and_slot="slot_kept")\n'
    for file, name in {"gate.py": "gate", "my idea (2).py": "my-idea-2", "späte.py": "späte"}.items():
        _write(slot, file)
        result = run("check", "--candidate", file, *ONLY, "--property", "unload-clears")
        assert result.exit_code == 1
        trace = f"slotproof-traces/decode-admission-pinned.unload-clears.0.5.23+{name}.itf.json"
        assert trace in result.stdout
        told = run("explain", trace)
        assert told.stdout.startswith(f"decode-admission-pinned on 0.5.23+{name}: unload-clears is violated")
        assert run("explore", trace, "--html", "page.html").exit_code == 0
        assert f"0.5.23+{name}" in Path("page.html").read_text()
    assert len(list(Path("slotproof-traces").iterdir())) == 3


def test_a_baseline_of_a_candidate_is_its_own(run: Run) -> None:
    """What was written for one file is expected of it, and of no other."""
    for file in ("gate.py", "other.py"):
        _write('candidate = release("0.5.23").replace(unload_and_slot="slot_kept")\n', file)
    only = [*ONLY, "--property", "unload-clears"]
    run("check", "--candidate", "gate.py", *only, "--no-baseline", "--write-baseline", "known.json")
    assert [e["release"] for e in json.loads(Path("known.json").read_text())["violations"]] == ["0.5.23+gate"]
    assert run("check", "--candidate", "gate.py", *only, "--baseline", "known.json").exit_code == 0
    assert run("check", "--candidate", "other.py", *only, "--baseline", "known.json").exit_code == 1


def test_a_matrix_with_a_candidate_of_a_long_name_fits(run: Run) -> None:
    name = "a_gate_that_forgets_the_rows_that_have_finished_and_then_some"
    _write(RULE, f"{name}.py")
    result = run("check", "--candidate", f"{name}.py", "--release", "0.5.23", *ONLY)
    rows = [line for line in result.stdout.splitlines() if "slotproof-traces" not in line]
    assert all(len(line) <= 80 for line in rows), result.stdout
    assert f"0.5.23+{name}"[:60] in "".join(line[1:25].strip() for line in rows)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("gate.py", "gate"),
        ("deep/er/gate.v2.py", "gate.v2"),
        ("a b\n+c.py", "a-b-c"),
        (".py", "py"),
        ("(((.py", ""),
        ("x" * 200 + ".py", "x" * 60),
        ("caf\udce9.py", "caf"),
    ],
)
def test_a_label_is_fit_for_any_file_name_and_heading(path: str, label: str) -> None:
    assert label_of([Path(path).stem]) == label


@pytest.mark.parametrize(
    ("one", "other", "labels"),
    [
        ("base/c.py", "c.py", ("base-c", "c")),
        ("c.py", "new/c.py", ("c", "new-c")),
        ("base/lora/c.py", "lora/c.py", ("base-lora-c", "c")),
        ("a/c.py", "b/c.py", ("a-c", "c")),
        ("c.py", "c.py", ("c", "c")),
    ],
)
def test_two_checkouts_of_a_file_have_labels_of_their_own(
    one: str, other: str, labels: tuple[str, str]
) -> None:
    assert labels_apart(one, other) == labels
