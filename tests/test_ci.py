"""What other repositories use: the example workflow, the action and the hooks, run as they are written."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = ROOT / "docs" / "examples" / "slotproof.yml"
ACTION = ROOT / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"

GOOD = """\
from slotproof.model.language import *
from slotproof.model.releases import release
from slotproof.model.serving.scheduler import Scheduler
from slotproof.model.serving.vocabulary import Request


def unfinished(scheduler: Scheduler) -> Set[Request]:
    '''Rows that have finished hold no slot.'''
    return scheduler.running - scheduler.finished


candidate = release("0.5.23").replace(occupied_on_decode=unfinished)
"""
RULE = "    return scheduler.running - scheduler.finished\n"
BROKEN = GOOD.replace(RULE, "    return set()\n")
OPTIONS = "--scenario decode-admission"

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def _read(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path)


def _schema(name: str) -> Any:
    text = files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{name}.json"
    return json.loads(text.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "schema"), [(WORKFLOW, "github-workflows"), (ACTION, "github-actions")])
def test_it_is_what_the_runner_reads(path: Path, schema: str) -> None:
    raw = json.loads(json.dumps(_read(path)))
    jsonschema.validate(
        {("on" if key == "true" else key): value for key, value in raw.items()}, _schema(schema)
    )


@dataclass
class Ran:
    """What the steps of a job printed, and their exit statuses, by name; one that was left out has none."""

    printed: dict[str, str]
    status: dict[str, int]
    summary: str


class Repository:
    """A repository with a candidate, on a machine with pip, as a hosted runner has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.folder.mkdir()
        binaries = folder / "bin"
        binaries.mkdir()
        # The package is installed here already; pip is told to fetch nothing, and its command is kept.
        self.installed = folder / "pip.txt"
        self._script(binaries / "python", f'echo "$@" >> {shlex.quote(str(self.installed))}')
        self._script(binaries / "slotproof", f'exec {shlex.quote(sys.executable)} -m slotproof.checker "$@"')
        self.environment = {
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            "HOME": os.environ.get("HOME", str(folder)),  # compiled code is cached there
            "LANG": "C.UTF-8",
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }
        self.git("init", "-q", "-b", "main")
        self.commit(GOOD)
        self.base = self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        """Run git here; what it prints."""
        named = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
        done = subprocess.run(["git", *named, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, text: str) -> None:
        """The candidate's text as the next commit."""
        path = self.folder / "lora" / "candidate.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change the gate", "--allow-empty")

    def run(self, steps: list[Any], given: Mapping[str, str], environment: Mapping[str, str]) -> Ran:
        """The steps that are commands, in order, as a runner runs them."""
        ran = Ran({}, {}, "")
        failed = False
        for step in steps:
            condition = step.get("if", "")
            if "run" not in step or (failed and "!cancelled()" not in condition):
                continue
            own = {k: EXPRESSION.sub(lambda m: given[m[1]], v) for k, v in step.get("env", {}).items()}
            assert not EXPRESSION.search(step["run"]), "what others write must not become part of a script"
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                env={**self.environment, **environment, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            ran.printed[step["name"]], ran.status[step["name"]] = done.stdout, done.returncode
            failed = failed or done.returncode != 0
        summary = Path(self.environment["GITHUB_STEP_SUMMARY"])
        ran.summary = summary.read_text() if summary.exists() else ""
        return ran

    @staticmethod
    def _script(path: Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A fresh one."""
    return Repository(tmp_path)


def _workflow(repository: Repository, options: str = OPTIONS) -> Ran:
    workflow = _read(WORKFLOW)
    environment = {**workflow["env"], "OPTIONS": options}
    given = {"github.event.pull_request.base.sha": repository.base}
    return repository.run(workflow["jobs"]["check"]["steps"], given, environment)


def _action(repository: Repository, base: str) -> Ran:
    action = _read(ACTION)
    given = {
        f"inputs.{name}": value["default"] for name, value in action["inputs"].items() if "default" in value
    }
    given |= {"inputs.candidate": "lora/candidate.py", "inputs.options": OPTIONS, "inputs.base": base}
    return repository.run(action["runs"]["steps"], given, {})


def _annotated(repository: Repository, printed: str) -> set[str]:
    """The text of each line that an annotation is at."""
    found = re.findall(r"^::error file=([^,]*),line=(\d+),", printed, re.MULTILINE)
    return {(repository.folder / file).read_text().splitlines()[int(line) - 1] for file, line in found}


def test_the_workflow_fails_on_a_broken_candidate_at_its_line(repository: Repository) -> None:
    repository.commit(BROKEN)
    ran = _workflow(repository)
    assert repository.installed.read_text() == "-m pip install slotproof\n"
    assert ran.status == {"Install": 0, "Check": 1, "Compare with the base": 1, "Pages": 0}
    assert _annotated(repository, ran.printed["Check"]) == {
        "def unfinished(scheduler: Scheduler) -> Set[Request]:"
    }
    assert "slot-capacity%3A violated" in ran.printed["Check"]
    assert re.search(
        r"lost +slot-capacity: holds, then violated after \d+ steps", ran.printed["Compare with the base"]
    )
    report = repository.folder / "report"
    kept = {path.relative_to(report).as_posix() for path in report.rglob("*") if path.is_file()}
    assert {"check.xml", "check.sarif", "compare.md"} <= kept
    assert "traces/decode-admission.slot-capacity.0.5.23+candidate.itf.json" in kept
    page = (report / "traces" / "decode-admission.slot-capacity.0.5.23+candidate.html").read_text()
    assert "slot-capacity" in page
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "# lora/candidate.py beside base/lora/candidate.py" in ran.summary
    assert "| **lost** | decode-admission | slot-capacity |" in ran.summary
    assert "<details><summary>decode-admission on 0.5.23+candidate: slot-capacity is violated" in ran.summary


def test_the_workflow_passes_on_a_good_candidate(repository: Repository) -> None:
    repository.commit(GOOD.replace("Rows that have finished", "Finished rows"))
    ran = _workflow(repository)
    assert set(ran.status.values()) == {0}, ran.printed
    assert "::error" not in "".join(ran.printed.values())
    assert "**lost**" not in ran.summary


@pytest.mark.deep
@pytest.mark.parametrize(("text", "status"), [(GOOD + "\n", 0), (BROKEN, 1)])
def test_the_workflow_as_it_is_in_every_scenario(repository: Repository, text: str, status: int) -> None:
    repository.commit(text)
    ran = _workflow(repository, options="")
    assert (ran.status["Check"], ran.status["Compare with the base"]) == (status, status), ran.printed


@pytest.mark.deep
def test_the_action_compares_with_a_revision_and_with_a_release(repository: Repository) -> None:
    repository.commit(BROKEN)
    ran = _action(repository, repository.base)
    assert ran.status == {"Install": 0, "Check": 1, "Compare": 1, "Pages": 0}
    assert "lora/candidate.py beside slotproof-base/lora/candidate.py" in ran.summary
    repository.git("worktree", "remove", "--force", "slotproof-base")
    ran = _action(repository, "0.5.23")
    assert ran.status["Compare"] == 1
    assert "# candidate.py beside 0.5.23" in ran.summary


def test_a_candidate_that_is_new_is_compared_with_nothing(repository: Repository) -> None:
    repository.git("rm", "-q", "--cached", "lora/candidate.py")
    repository.git("commit", "-q", "-m", "without it")
    before = repository.git("rev-parse", "HEAD")
    repository.commit(GOOD)
    ran = _action(repository, before)
    assert ran.status["Compare"] == 0
    assert ran.printed["Compare"].endswith("lora/candidate.py is new: there is nothing to compare it with.\n")


@pytest.mark.deep
@pytest.mark.parametrize("arguments", [["--candidate", "lora/candidate.py"], ["0.5.23", "lora/candidate.py"]])
def test_a_hook_fails_on_a_broken_candidate(repository: Repository, arguments: list[str]) -> None:
    hooks = {hook["id"]: hook for hook in _read(HOOKS)}
    hook = hooks["slotproof-check" if "--candidate" in arguments else "slotproof-compare"]
    assert hook["language"] == "python"
    command = [*shlex.split(hook["entry"]), *arguments, *OPTIONS.split()]
    environment = {**os.environ, **repository.environment}
    for text, status in ((GOOD, 0), (BROKEN, 1)):
        repository.commit(text)
        done = subprocess.run(command, cwd=repository.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
