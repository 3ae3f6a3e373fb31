"""Runs the real ABC on a circuit, and reads what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = "berkeley-abc"

needs_abc = pytest.mark.skipif(shutil.which(PROGRAM) is None, reason=f"{PROGRAM} not installed")


def abc(circuit: bytes, command: str, folder: Path) -> str:
    """What ABC says to a command about a circuit."""
    (folder / "c.aig").write_bytes(circuit)
    asked = [PROGRAM, "-q", f"read_aiger c.aig; {command}"]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True)
    assert "ailed" not in done.stdout, done.stdout
    print(done.stdout)
    return done.stdout


def proves(circuit: bytes, folder: Path) -> bool:
    """Whether PDR proves that no bad literal is ever true; if it does not it has found a run."""
    said = abc(circuit, "pdr", folder)
    if "Property proved" in said:
        return True
    assert re.search(r"Output \d+ of miter .* was asserted in frame \d+", said), said
    return False


def violated(circuit: bytes, folder: Path) -> set[int]:
    """The numbers of the bad literals that PDR finds a run to; of all others it proves that there is none."""
    said = abc(circuit, "pdr -a", folder)
    found = {int(x) for x in re.findall(r"Output (\d+) was asserted in frame", said)}
    counts = re.search(r"Proved = (\d+)\. Disproved = (\d+)\. Undecided = 0\.", said)
    assert counts is not None, said
    assert int(counts[2]) == len(found)
    return found


def shortest(circuit: bytes, folder: Path) -> int | None:
    """In which frame bounded search first finds a bad literal true; ``None`` if not in a hundred."""
    said = abc(circuit, "bmc3 -F 100", folder)
    found = re.search(r"Output \d+ of miter .* was asserted in frame (\d+)", said)
    return int(found[1]) if found else None
