"""``--format github``: annotations at the line that has to change, and the step's summary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from slotproof.checker.report.github import command
from slotproof.checker.report.places import Place
from tests.checker.conftest import Run
from tests.checker.report.conftest import CANDIDATE, ONLY

ANNOTATION = re.compile(
    r"^::(?P<level>error|warning) (?:file=(?P<file>[^,]*),line=(?P<line>\d+),)?title=(.*?)::"
)


def _annotations(text: str) -> list[tuple[str, str | None, str]]:
    """Level, file, and the text of the line that each annotation is at."""
    found = []
    for line in text.splitlines():
        if match := ANNOTATION.match(line):
            file = match["file"]
            at = Path(file).read_text().splitlines()[int(match["line"]) - 1].strip() if file else ""
            found.append((match["level"], file, at))
    return found


def test_the_annotation_is_at_the_rule_that_brings_the_violation(run: Run, candidate: Path) -> None:
    """Of two changes one is harmless: taking the other back takes the violation away."""
    result = run("check", "--candidate", str(candidate), *ONLY, "--format", "github")
    assert result.exit_code == 1
    assert _annotations(result.stdout) == [("error", "changes/mine.py", 'unload_and_slot="slot_kept",')]
    (line,) = (text for text in result.stdout.splitlines() if text.startswith("::"))
    assert "title=unload-clears%3A violated::decode-admission-pinned on 0.5.23+mine: unload-clears" in line
    assert "%0A6. unload(a=A)" in line
    assert "15 verdicts: 14 hold, 1 violated, 0 unknown." in result.stdout


def test_the_annotation_is_at_the_candidates_own_function(run: Run, candidate: Path) -> None:
    text = CANDIDATE.replace("scheduler.running - scheduler.finished", "set()")
    candidate.write_text(text.replace("    unload_and_slot", "    # unload_and_slot"))
    arguments = ("--candidate", str(candidate), "--scenario", "decode-admission", "--format", "github")
    result = run("check", *arguments)
    assert result.exit_code == 1
    assert {at for _, _, at in _annotations(result.stdout)} == {
        "def unfinished(scheduler: Scheduler) -> Set[Request]:"
    }


def test_the_annotation_is_at_the_candidates_action(run: Run, candidate: Path) -> None:
    candidate.write_text(
        "from slotproof.model.language import *\nfrom slotproof.model.releases import release\n"
        "from slotproof.model.serving.server import Server\n"
        "from slotproof.model.serving.vocabulary import Adapter, Rank\n\n"
        "@action(\n    actor='operator',\n)\ndef unload(s: Server, a: Adapter) -> None:\n"
        "    require(a in s.registry.unloading)\n    s.registry.unloading -= {a}\n"
        "    for k in Rank:\n        s.ranks[k].manager.gone |= {a}\n\n"
        'candidate = release("0.5.23").with_actions(unload)\n'
    )
    arguments = ("--candidate", str(candidate), *ONLY, "--property", "unload-*", "--format", "github")
    found = _annotations(run("check", *arguments).stdout)
    assert [at for _, _, at in found] == ["def unload(s: Server, a: Adapter) -> None:"] * 2


def test_what_is_unknown_is_one_warning_at_the_candidate(run: Run, candidate: Path) -> None:
    result = run("check", "--candidate", str(candidate), *ONLY, "--max-states", "3", "--format", "github")
    assert result.exit_code == 3
    assert _annotations(result.stdout) == [
        ("warning", "changes/mine.py", 'candidate = release("0.5.23").replace(')
    ]


def test_paths_start_at_the_repositorys_root(
    run: Run, candidate: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(candidate.parent)
    result = run("check", "--candidate", candidate.name, *ONLY, "--format", "github")
    monkeypatch.chdir(tmp_path)
    assert [file for _, file, _ in _annotations(result.stdout)] == ["changes/mine.py"]


@pytest.mark.usefixtures("shops")
def test_a_release_has_no_line_in_the_repository(run: Run) -> None:
    result = run("check", "--no-baseline", "--scenario", "market", "--release", "0.1", "--format", "github")
    assert "::error title=room-for-more%3A violated::market on 0.1" in result.stdout
    assert "file=" not in result.stdout


def test_an_annotation_of_a_system_is_at_its_property(run: Run) -> None:
    source = (Path(__file__).parents[2] / "counterexamples" / "shop.py").read_text()
    Path("shop.py").write_text(source)
    result = run("check", "--system", "shop.py:shop", "--format", "github")
    at = [at for _, file, at in _annotations(result.stdout) if file == "shop.py"]
    assert "def room_for_more(s: Shop) -> bool:" in at


def test_the_summary_is_added_to_and_tells_each_story(
    run: Run, candidate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    run("check", "--candidate", str(candidate), *ONLY, "--format", "github")
    text = Path("summary.md").read_text()
    assert text.startswith("before\n# slotproof check\n")
    assert "| unload-clears | **fails 6** |" in text
    assert "<details><summary>decode-admission-pinned on 0.5.23+mine: unload-clears is violated" in text
    assert "Why unload-clears is false" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_a_summary_that_cannot_be_written_is_one_line(
    run: Run, candidate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "nowhere/summary.md")
    result = run("check", "--candidate", str(candidate), *ONLY, "--format", "github")
    assert result.exit_code == 2
    assert "GITHUB_STEP_SUMMARY=nowhere/summary.md: cannot be written" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_command_is_escaped_as_the_runner_reads_it() -> None:
    line = command("error", "50% of\nall: a,b", title="a: b,c", place=Place("x,y.py", 3, True))
    assert line == "::error file=x%2Cy.py,line=3,title=a%3A b%2Cc::50%25 of%0Aall: a,b"
