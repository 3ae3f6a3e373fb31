"""``compare``: what a change gains and loses, what it does otherwise, and when that is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker.compare import Change, changed, still_there
from slotproof.checker.runs import NOTHING, Subject, chosen, program_of
from slotproof.checker.verdict import Holds, Unknown, Verdict, Violated
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.trace import Trace
from slotproof.model.candidates import unload_sweeps_first
from tests.checker.conftest import Run
from tests.checker.test_cli_candidate import HEAD, RULE

PINNED = "decode-admission-pinned"
CRASH = "no-crash-fit-test-unknown-adapter"


def _compared(run: Run, *arguments: str, status: int) -> dict[tuple[str, str], dict[str, Any]]:
    result = run("compare", *arguments, "--format", "json")
    assert result.exit_code == status, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return {(d["scenario"], d["property"]): d for d in lines}


def _flat(text: str) -> str:
    """The text without the places where lines are broken."""
    return " ".join(text.split())


def _changes(found: dict[tuple[str, str], dict[str, Any]], change: str) -> set[tuple[str, str]]:
    return {key for key, d in found.items() if d["change"] == change and key[1] != "behaviour"}


def test_the_reaping_of_copies_is_gained_and_nothing_lost(run: Run) -> None:
    """#25413, 0.5.12.post1 to 0.5.13, with traffic that never ends and with each request sent once."""
    found = _compared(run, "0.5.12.post1", "0.5.13", "--scenario", "overlap-cancel", status=0)
    assert _changes(found, "gained") == {("overlap-cancel", "no-slot-leak")}
    gained = found["overlap-cancel", "no-slot-leak"]
    assert (gained["base"], gained["candidate"], gained["base_steps"]) == ("violated", "holds", 8)
    assert read(Path(gained["trace"])).release == "0.5.12.post1"
    assert found["overlap-cancel", "use-count"]["change"] == "kept"
    assert found["overlap-cancel", "behaviour"]["change"] == "differs"
    once = ["--set", "traffic=ONCE"]
    found = _compared(run, "0.5.12.post1", "0.5.13", "--scenario", "overlap-cancel", *once, status=0)
    assert _changes(found, "gained") == {("overlap-cancel", "no-slot-leak")}


def test_what_a_candidate_loses_before_a_model_error_is_told_and_whose_the_error_is(run: Run) -> None:
    """The line of the error is one of the server; the reason is a rule of the candidate."""
    Path("reap.py").write_text(
        HEAD + "from slotproof.model.serving.loader import Loader\n\n"
        "def some(loader: Loader) -> None:\n"
        "    left = {a for a in loader.pending if a in loader.copies}\n"
        "    loader.pending = left if len(loader.copies) > 1 else set()\n\n"
        'candidate = release("0.5.23").replace(reap_first=some)\n'
    )
    only = ["--scenario", "overlap-cancel"]
    given = ["0.5.23", "reap.py", *only, "--scenario", "idle-rank"]
    result = run("compare", *given)
    assert result.exit_code == 2
    assert "lost    resident-at-launch: holds, then violated after 3 steps" in result.stdout
    (trace,) = Path("slotproof-traces").glob("overlap-cancel.resident-at-launch.*.itf.json")
    assert len(read(trace).document["states"]) == 4
    assert result.stdout.endswith(f"\nRead a trace with:\n  slotproof explain {trace}\n")
    assert trace.name == "overlap-cancel.resident-at-launch.0.5.23+reap.itf.json"
    assert "slot-capacity" not in result.stdout.split("idle-rank:")[0]
    assert "behaviour: " in result.stdout.split("idle-rank:")[1]
    (error,) = result.stderr.splitlines()
    assert "a sequence of 2 is full" in error
    assert "'--set stream=3' makes room for one more" in error
    assert error.endswith("it comes up under reap.py, which replaces reap_first")


def test_the_gate_of_the_decode_role_gains_the_size_and_loses_the_catalogue(run: Run) -> None:
    """#39332, 0.5.19 to 0.5.20: F10, shown by what the two pull requests did to each other."""
    both = ["--scenario", "decode-admission", "--scenario", PINNED]
    found = _compared(run, "0.5.19", "0.5.20", *both, status=1)
    assert _changes(found, "gained") == {
        ("decode-admission", "slot-capacity"),
        ("decode-admission", "no-crash-make-resident-too-many"),
    }
    assert _changes(found, "lost") == {(PINNED, CRASH)}
    assert found[PINNED, "use-count"]["notes"] == ["longer", "other cause"]
    lost = found[PINNED, CRASH]
    assert (lost["base"], lost["candidate"], lost["candidate_steps"]) == ("holds", "violated", 8)
    told = run("explain", lost["trace"])
    assert told.exit_code == 0
    assert f"{PINNED} on 0.5.20: {CRASH} is violated after 8 steps" in _flat(told.stdout)
    differs = found[PINNED, "behaviour"]
    assert differs["change"] == "differs"
    told = run("explain", differs["trace"])
    assert told.exit_code == 0
    assert "The step that makes the difference: decode_step(" in told.stdout


def test_a_candidate_is_compared_by_its_file(run: Run) -> None:
    Path("mine.py").write_text(HEAD + RULE)
    found = _compared(
        run, "0.5.23", "mine.py", "--scenario", PINNED, "--scenario", "overlap-cancel", status=0
    )
    assert _changes(found, "gained") == {(PINNED, CRASH)}
    assert _changes(found, "lost") == set()
    assert found[PINNED, "behaviour"]["change"] == "differs"
    assert found["overlap-cancel", "behaviour"]["change"] == "same"
    found = _compared(run, "mine.py", "0.5.23", "--scenario", PINNED, status=1)
    assert _changes(found, "lost") == {(PINNED, CRASH)}
    assert _changes(_compared(run, "mine.py", "mine.py", "--scenario", PINNED, status=0), "lost") == set()


def test_what_refines_its_base_loses_nothing_and_the_other_way_round_it_may_do_more(run: Run) -> None:
    """A failing handler that discards the states of its requests (0.5.14 to 0.5.19) is a step more."""
    arguments = ["--scenario", "decode-admission"]
    found = _compared(run, "0.5.14", "0.5.12", *arguments, status=0)
    behaviour = found["decode-admission", "behaviour"]
    assert (behaviour["change"], behaviour["base"]) == ("refines", "disconnect(r=r1)")
    assert behaviour["candidate"] is None
    found = _compared(run, "0.5.12", "0.5.14", *arguments, status=0)
    assert found["decode-admission", "behaviour"]["change"] == "refined"


MORE_STATE = """\
class Mine(Server):
    dropped: Annotated[int, Range(0, 2)] = field(0, "requests that have been aborted, at most two")


@action(actor="client")
def abort(s: Mine, r: Request) -> None:
    \'\'\'A client cancels {r}, and somebody counts.\'\'\'
    require(WHEN)
    BODY


candidate = release("0.5.23").with_state(Mine).with_actions(abort)
"""


def test_what_does_less_refines_its_release_and_what_adds_state_is_compared_without_it(run: Run) -> None:
    """A client that may not cancel does nothing new; the fields that it adds do not count."""
    Path("mine.py").write_text(
        HEAD + MORE_STATE.replace("WHEN", "s.dropped > 0").replace("BODY", "s.dropped -= 1")
    )
    arguments = ["--scenario", PINNED, "--property", "slot-capacity"]
    result = run("compare", "0.5.23", "mine.py", *arguments)
    assert "witness 'aborted-row' was never reached" in _flat(result.stdout)
    assert result.exit_code == 3  # nobody is aborted, so that a verdict of the scenario says little
    assert "mine.py refines 0.5.23: it does nothing that 0.5.23 could not do" in " ".join(
        result.stdout.split()
    )
    assert "mine.py alone has, and it is not compared: dropped" in result.stdout
    result = run("compare", "mine.py", "0.5.23", *arguments)
    assert "mine.py refines 0.5.23, which can do all that it could and more" in " ".join(
        result.stdout.split()
    )


def test_a_limit_is_unknown_and_never_kept(run: Run) -> None:
    limits = ["--scenario", "finish-unload", "--max-depth", "2"]
    found = _compared(run, "0.5.22", "0.5.23", *limits, status=3)
    assert {d["change"] for d in found.values()} == {"unknown"}
    assert found["finish-unload", "slot-capacity"]["reason"] == "limit of depth 2 reached"
    assert found["finish-unload", "behaviour"]["reason"] == "limit of depth 2 reached"


def test_releases_of_other_sizes_are_compared_and_what_is_asked_of_one_alone_is_new(run: Run) -> None:
    """From 0.5.17 on adapters can be unloaded under data parallelism."""
    found = _compared(run, "0.5.16", "0.5.17", "--scenario", "idle-rank", status=1)
    assert _changes(found, "new") == {("idle-rank", "unload-safe")}
    assert ("idle-rank", "fresh-batch-info") in _changes(found, "gained")
    assert ("idle-rank", "all-ranks-join") in _changes(found, "lost")


def test_two_checkouts_of_one_file_are_told_apart(run: Run) -> None:
    Path("base").mkdir()
    for path in ("mine.py", "base/mine.py"):
        Path(path).write_text(HEAD + RULE)
    result = run("compare", "base/mine.py", "mine.py", "--scenario", PINNED, "--max-states", "10")
    assert result.exit_code == 3
    assert result.stdout.splitlines()[0] == f"{PINNED}: mine.py beside base/mine.py"
    assert "Read a trace" not in result.stdout


def test_the_markdown_fits_a_pull_request(run: Run) -> None:
    Path("mine.py").write_text(HEAD + RULE)
    result = run("compare", "mine.py", "0.5.23", "--scenario", PINNED, "--format", "markdown")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "# 0.5.23 beside mine.py"
    assert lines[2] == "15 verdicts: 1 lost, 0 gained, 14 kept."
    assert (
        f"| **lost** | {PINNED} | {CRASH} | holds | violated after 8 steps | `slotproof-traces/"
        in result.stdout
    )
    assert f"- {PINNED}: each can do what the other cannot" in lines
    assert "<details><summary>14 verdicts kept: they hold on both sides</summary>" in lines


BAD: list[tuple[list[str], str]] = [
    (["0.5.23"], "Missing argument 'CANDIDATE'"),
    (
        ["0.5.2", "0.5.23"],
        "there is no release '0.5.2'; did you mean 0.5.20 or 0.5.21 or 0.5.22? (slotproof list",
    ),
    (["0.5.23", "nowhere.py"], "nowhere.py: there is no such file"),
    (["0.5.23", "."], ".: is a folder; name the Python file in it that defines the candidate"),
    (
        ["0.5.22", "0.5.23", "--scenario", "idle-rnk"],
        "there is no scenario 'idle-rnk'; did you mean idle-rank?",
    ),
    (["0.5.22", "0.5.23", "--property", "slot-capacty"], "there is no property 'slot-capacty'; did you mean"),
    (["0.5.22", "0.5.23", "--engine", "explict"], "there is no engine 'explict'; did you mean explicit?"),
    (
        ["0.5.22", "0.5.23", "--format", "junt"],
        "there is no format 'junt'; did you mean junit?"
        " (there are: text, json, markdown, junit, github, sarif)",
    ),
    (["0.5.22", "0.5.23", "--set", "slots"], "--set slots: write --set NAME=VALUE"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_wrong_use_is_one_line(arguments: list[str], message: str, run: Run) -> None:
    result = run("compare", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_candidate_that_leaves_the_model_is_one_line(run: Run) -> None:
    Path("mine.py").write_text(
        HEAD + "def mine(scheduler: Scheduler) -> Set[Request]:\n"
        "    return {next(r for r in scheduler.running)}\n\n"
        'candidate = release("0.5.23").replace(occupied_on_decode=mine)\n'
    )
    result = run("compare", "0.5.23", "mine.py", "--scenario", PINNED)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "mine.py:8: the least, greatest or first of nothing is taken" in result.stderr
    assert result.stderr.count("\n") == 1


SWEEPS_FIRST = str(Path(unload_sweeps_first.__file__))


def test_what_a_candidate_keeps_is_kept_at_any_depth(run: Run) -> None:
    """With the lemmas of the scenario; no run is gone through, so that none is compared."""
    sizes = ["--set", "requests=2", "--set", "names={r1: {A,B}, r2: {base}}"]
    asked = ["--scenario", "finish-unload", "--property", CRASH, "--engine", "induction", *sizes]
    result = run("compare", "0.5.23", SWEEPS_FIRST, *asked)
    assert result.exit_code == 0
    assert f"kept, holding at any depth: {CRASH}" in _flat(result.output)
    assert "run" not in result.output.lower().split()
    folded = run("compare", "0.5.23", SWEEPS_FIRST, *asked, "--format", "markdown")
    assert f"- finish-unload at any depth: {CRASH}" in folded.output


def test_a_proof_of_one_side_and_a_trace_of_the_other(run: Run) -> None:
    """F10: the trace is of the scenario as every other command has it, without lemmas."""
    asked = ["--scenario", PINNED, "--property", CRASH, "--engine", "induction"]
    found = _compared(run, "0.5.23", SWEEPS_FIRST, *asked, status=0)
    gained = found[PINNED, CRASH]
    assert (gained["change"], gained["base_steps"]) == ("gained", 8)
    program = program_of(Subject(PINNED, "0.5.23", False, None, ()))
    assert read(Path(gained["trace"])).digest == program.digest


HOLDS = Holds("p", NOTHING)
UNKNOWN = Unknown("p", "a limit", NOTHING)
VIOLATED = Violated("p", (), NOTHING)


@pytest.mark.parametrize(
    ("base", "candidate", "change"),
    [
        (HOLDS, HOLDS, Change.KEPT),
        (VIOLATED, VIOLATED, Change.KEPT),
        (VIOLATED, HOLDS, Change.GAINED),
        (HOLDS, VIOLATED, Change.LOST),
        (UNKNOWN, HOLDS, Change.UNKNOWN),
        (HOLDS, UNKNOWN, Change.UNKNOWN),
        (UNKNOWN, VIOLATED, Change.UNKNOWN),
        (VIOLATED, UNKNOWN, Change.UNKNOWN),
        (UNKNOWN, UNKNOWN, Change.UNKNOWN),
        (None, VIOLATED, Change.NEW),
        (HOLDS, None, Change.DROPPED),
    ],
)
def test_a_verdict_is_kept_gained_lost_or_unknown(
    base: Verdict | None, candidate: Verdict | None, change: Change
) -> None:
    assert changed(base, candidate) is change


def test_a_violation_is_still_there_where_its_steps_lead_to_it(run: Run) -> None:
    """Else the other side has another cause, however long its own trace is."""
    found = _compared(run, "0.5.19", "0.5.20", "--scenario", PINNED, status=1)

    def on(trace: Trace, release: str) -> bool:
        subject = Subject(PINNED, release, False, None, ())
        return still_there(trace, program_of(subject), chosen(subject, program_of(subject)))

    crash = read(Path(found[PINNED, CRASH]["trace"]))
    trace = crash.trace(program_of(Subject(PINNED, "0.5.20", False, None, ())))
    assert [on(trace, r) for r in ("0.5.19", "0.5.20", "0.5.23")] == [False, True, True]
