"""``--format text``: tables that fit 80 columns and lose nothing."""

from __future__ import annotations

import json
from pathlib import Path

from tests.checker.conftest import Run

REASON = (
    "decode counts finished rows while an unload forgets the adapter, 'as the findings say at some length'"
)

SYSTEM = """\
from slotproof.model.language import *

class S(State):
    n: Annotated[int, Range(0, 3)] = field(0, "a number")

@action
def count(s: S) -> None:
    '''It counts.'''
    require(s.n < 3)
    s.n += 1
    if s.n == 3:
        crash("fit-test-unknown-adapter")
    if s.n == 0:
        crash("never-first")
    if s.n == 0:
        crash("never-second")

system = System("s", S, actions=[count])
"""


def test_a_list_breaks_no_name_and_loses_no_letter(run: Run) -> None:
    Path("s.py").write_text(SYSTEM)
    name = "no-crash-fit-test-unknown-adapter"
    entry = {"scenario": "s", "property": name, "release": None, "size": "quick", "steps": 3, "parts": 1}
    Path("known.json").write_text(json.dumps({"violations": [{**entry, "reason": REASON}]}))
    result = run("check", "--system", "s.py", "--baseline", "known.json", "--property", "no-crash")
    assert result.exit_code == 0, result.stdout
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if "itf.json" not in line) <= 80
    row = next(i for i, line in enumerate(lines) if line.startswith(f"  violated  {name}  3 steps; known: "))
    column = lines[row].index("3 steps")
    told = [line[column:] for line in lines[row:] if not line[2:column].strip() or line == lines[row]]
    assert " ".join(told[: len(told)]).startswith(f"3 steps; known: {REASON}")
    assert any(
        line.endswith("no-crash-…                         2 causes; --verbose names them") for line in lines
    )
