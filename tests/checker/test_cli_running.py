"""A search that is interrupted, and what a terminal shows while it runs."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ALLOCATOR = str(Path(__file__).parents[1] / "zoo" / "allocator.py")
ENDLESS = ["--set", "requests=12", "--set", "adapters=4", "--set", "slots=3"]
COMMAND = [sys.executable, "-m", "slotproof.checker", "check"]


class Terminal:
    """The other side of a terminal: keeps all that is shown, as a person's terminal does."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the last one who writes has gone
            while data := os.read(self.ours, 4096):
                self.shown += data

    def started(self) -> None:
        """The process has its side; from here on read."""
        os.close(self.theirs)
        self._reader.start()

    def wait_for(self, *words: bytes, seconds: float = 120) -> None:
        """Wait until all words have been shown."""
        deadline = time.monotonic() + seconds
        while not all(word in self.shown for word in words):
            assert time.monotonic() < deadline, self.shown
            time.sleep(0.05)

    def close(self) -> None:
        """Read to the end."""
        self._reader.join(10)
        os.close(self.ours)


@contextlib.contextmanager
def started(command: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Terminal]]:
    """A command with a terminal as its standard error; it does not outlive the test."""
    terminal = Terminal()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=terminal.theirs, cwd=folder, env=environment
    )
    terminal.started()
    try:
        yield process, terminal
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        terminal.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_unknown_with_what_was_covered(number: signal.Signals, tmp_path: Path) -> None:
    command = [*COMMAND, "--system", ALLOCATOR, *ENDLESS, "--format", "json"]
    with started(command, tmp_path) as (process, terminal):
        terminal.wait_for(b"states", b"depth", b"queue")
        process.send_signal(number)
        output, _ = process.communicate(timeout=120)
    lines = [json.loads(line) for line in output.decode().splitlines()]
    assert process.returncode == 3
    assert lines
    for line in lines:
        assert line["verdict"] == "unknown"
        assert "interrupt" in line["reason"]
        assert line["states"] > 0


TWO = """\
import sys
sys.path.insert(0, {root!r})
import pytest
from tests.checker import fakes
from tests.zoo import allocator
from slotproof.model.language.system import System

class Small(fakes.Scenario):
    pass

class Large(fakes.Scenario):
    def system(self, release, full=False, lemmas=False):
        return allocator.allocator.with_parameters(requests=12, adapters=4, slots=3)

patch = pytest.MonkeyPatch()
fakes.SCENARIOS["endless"] = Large("endless", "It does not end.", {{}}, {{}}, (), ())
fakes.install(patch)
from slotproof.checker.cli import main
main(sys.argv[1:], prog_name="slotproof")
"""


def test_finished_results_are_kept_when_others_are_interrupted(tmp_path: Path) -> None:
    """Two workers and three searches, of which the last does not end."""
    script = tmp_path / "two.py"
    script.write_text(TWO.format(root=str(Path(__file__).parents[2])))
    command = [sys.executable, str(script), "check", "--no-baseline", "--release", "0.1", "--format", "json"]
    with started(command, tmp_path) as (process, terminal):
        terminal.wait_for(b"endless")
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    lines = [json.loads(line) for line in output.decode().splitlines()]
    verdicts: dict[str, set[str]] = {}
    for line in lines:
        verdicts.setdefault(line["scenario"], set()).add(line["verdict"])
    assert set(verdicts) == {"market", "kiosk", "endless"}
    assert verdicts["endless"] == {"unknown"}
    # The third search began when one of the first two had ended.
    assert "unknown" not in verdicts["market"] or "unknown" not in verdicts["kiosk"]
    assert process.returncode == 1  # the violation is news, and news comes before unknown


def test_a_pipe_sees_no_progress(tmp_path: Path) -> None:
    result = subprocess.run(
        [*COMMAND, "--system", ALLOCATOR], capture_output=True, cwd=tmp_path, check=True, text=True
    )
    assert result.stderr == ""
    assert "\x1b" not in result.stdout


PRINTING = [["check", "--system", ALLOCATOR], ["list", "properties"], ["--help"], ["check", "--help"]]
ROOT = [sys.executable, "-m", "slotproof.checker"]


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_reader_that_goes_away_is_neither_a_traceback_nor_a_violation(
    arguments: list[str], unbuffered: str, tmp_path: Path
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as gone:
        result = subprocess.run(
            [*ROOT, *arguments],
            stdout=gone,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert (result.returncode, result.stderr) == (3, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_output_that_cannot_be_written_is_one_line(
    arguments: list[str], unbuffered: str, tmp_path: Path
) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*ROOT, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert result.returncode == 2
    assert result.stderr == b"slotproof: reading or writing failed: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_do_not_change_the_exit_status(closed: str, tmp_path: Path) -> None:
    def status(*arguments: str) -> int:
        command = f"{shlex.join([*ROOT, *arguments])} {closed}"
        return subprocess.run(command, shell=True, cwd=tmp_path, check=False, capture_output=True).returncode

    assert status("check", "--system", ALLOCATOR) == 0
    assert status("check", "--system", "nothing.py") == 2


def test_letters_that_the_output_does_not_have_are_escaped(tmp_path: Path) -> None:
    system = tmp_path / "größe.py"
    system.write_text(
        "from slotproof.model.language import *\n"
        "class Zustand(State):\n    größe: bool = field(False, 'wie groß')\n"
        "größe = System('größe', Zustand, actions=[])\n",
        encoding="utf-8",
    )
    result = subprocess.run(
        [*COMMAND, "--system", str(system)],
        capture_output=True,
        cwd=tmp_path,
        check=False,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert (result.returncode, result.stderr) == (1, b"")
    assert rb"gr\xf6\xdfe, explicit" in result.stdout
    (trace,) = (tmp_path / "slotproof-traces").iterdir()
    assert trace.name.encode() in result.stdout
    assert subprocess.run([*ROOT, "explain", str(trace)], capture_output=True, check=False).returncode == 0


COMPARED = [*ROOT, "compare", "0.5.19", "0.5.20", "--scenario", "decode-admission"]


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
@pytest.mark.parametrize("command", [[*COMMAND, "--system", ALLOCATOR], COMPARED], ids=["check", "compare"])
def test_colours_are_for_terminals_and_respect_no_color(
    command: list[str], variables: dict[str, str], coloured: bool, tmp_path: Path
) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    terminal = Terminal()
    process = subprocess.Popen(
        command,
        stdout=terminal.theirs,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env={**environment, "TERM": "xterm", **variables},
    )
    terminal.started()
    process.wait(timeout=120)
    terminal.close()
    assert b"holds" in terminal.shown
    assert (b"\x1b[32" in terminal.shown) is coloured


def test_every_run_writes_the_same_traces(tmp_path: Path) -> None:
    """Byte for byte, whatever Python's hashes are."""

    def traces(seed: str) -> dict[str, bytes]:
        command = [*ROOT, "check", "--scenario", "finish-unload-normal", "--release", "0.5.13.post1"]
        out = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(
            [*command, "--out", out], cwd=tmp_path, env=environment, capture_output=True, check=True
        )
        return {path.name: path.read_bytes() for path in out.iterdir()}

    first = traces("1")
    assert first
    assert first == traces("2")


INTERRUPTED_IMPORT = """
import importlib.abc, os, signal, sys

class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "slotproof.checker.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["slotproof", "list", "releases"]
from slotproof.checker.__main__ import run
run()
"""


def test_an_interrupt_while_the_command_is_imported_ends_it_as_later_ones_do() -> None:
    told = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, text=True)
    assert (told.returncode, told.stdout, told.stderr) == (3, "", "slotproof: interrupted\n")


def test_an_interrupt_that_is_ignored_stays_so_while_the_command_is_imported() -> None:
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + INTERRUPTED_IMPORT
    told = subprocess.run([sys.executable, "-c", ignored], capture_output=True, text=True)
    assert told.returncode == 0
    assert "0.5.23" in told.stdout
