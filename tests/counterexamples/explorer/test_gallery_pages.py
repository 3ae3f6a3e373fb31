"""Every gallery trace is drawn by the server's own drawing, in the server's words."""

from __future__ import annotations

import pytest

from slotproof.checker.commands.explain import program_of_file
from slotproof.counterexamples.explorer.picture import picture
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.verify import choices_of
from slotproof.model.language.interpreter import Interpreter
from tests.counterexamples.explorer.conftest import GALLERY

ONE_EACH = sorted({p.name.split(".")[0]: p for p in sorted(GALLERY.glob("*.itf.json"))}.values())


@pytest.mark.parametrize("path", ONE_EACH, ids=lambda p: p.name.split(".")[0])
def test_slots_requests_and_streams_are_drawn(path: object) -> None:
    from pathlib import Path

    assert isinstance(path, Path)
    file = read(path)
    program = program_of_file(file, None)
    trace = file.trace(program)
    interpreter = Interpreter(program, choices_of(trace, program))
    bands = {b.title: b for b in picture(program, interpreter, trace.states)}
    ranks = program.parameters["ranks"]
    no_gate = trace.choices.get("gate_on_reservation") == "only_memory_decides"
    for title in ("Slots", "Streams" if no_gate else "Gate and streams"):
        assert len([name for name in bands if name.startswith(title)]) == ranks
    assert len(bands["Requests"].rows) == program.parameters["requests"]
    for title, band in bands.items():
        if title.startswith("Slots"):
            assert len(band.rows) == program.parameters["slots"]
    for time, state in enumerate(trace.states):
        server = interpreter.object(state)
        for k in server.ranks:
            title = "Slots" if ranks == 1 else f"Slots, {k}"
            shown = {
                s.text.split()[0] for r in bands[title].rows for s in r.segments if s.first <= time <= s.last
            }
            assert shown == {str(a) for a in server.ranks[k].pool.resident}
