"""The comparison with the peers: it runs, demands equal counts, and prints ratios alone."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from slotproof.checker.benchmarks.__main__ import main
from slotproof.checker.benchmarks.peers import STATERIGHT, TLC, Figures, Library, PeerError, Printing, Work
from slotproof.checker.benchmarks.python import NotForPython, python
from slotproof.checker.benchmarks.table import Different, Measured, Section, document
from slotproof.checker.explicit.engine import explore
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.zoo.allocator import allocator
from tests.zoo.known import LARGE, SMALL, Known

TLC_SAYS = """2 states generated, 2 distinct states found, 0 states left on queue.
16675151 states generated, 1383250 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 33.
"""
STATERIGHT_SAYS = (
    "Checking. states=4, unique=4, depth=1\nDone. states=16675151, unique=1383250, depth=33, sec=9\n"
)


def counted(states: int = 4, seconds: float = 1.0, peak: int = 100) -> Figures:
    return Figures(states, 6, 2, seconds, seconds, 1.0, peak)


def test_the_command_measures_at_a_tiny_size(tmp_path: Path) -> None:
    out = tmp_path / "table.md"
    options = [
        "--runs",
        "1",
        "--requests",
        "2",
        "--shared-requests",
        "2",
        "--no-scenario",
    ]
    result = CliRunner().invoke(main, [*options, "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = out.read_text()
    covered = explore(compile_system(allocator.with_parameters(requests=2))).coverage
    assert f"{covered.states} states, {covered.transitions} transitions, depth {covered.depth}:" in text
    for name, program in {"Spin": "spin", "TLC": "", "Stateright": ""}.items():
        there = bool(program and shutil.which(program) and shutil.which("gcc"))
        assert bool(re.search(rf"\| {name} \| [\d.]+× \|", text)) == there
    assert not re.search(r"\d s\b|\dms|seconds: \d", text), "a time stands alone"


def test_a_peer_that_counts_differently_is_an_error() -> None:
    ours = Measured("slotproof", (counted(),))
    with pytest.raises(Different, match="spin counts 5 states, slotproof 4"):
        Section("work", (ours, Measured("spin", (counted(), counted(states=5)))))


def test_ratios_are_of_medians_and_say_what_is_absent() -> None:
    ours = Measured("slotproof", (counted(), counted(seconds=100.0), counted()))
    spin = Measured(
        "Spin", (counted(seconds=8.0), counted(seconds=8.0, peak=400), counted(seconds=0.1, peak=400))
    )
    text = document([Section("work", (ours, spin), (("TLC", "not found"),))], "A machine.")
    assert "| Spin | 8.0× | 8.0× | 4.5× | 0.25 of it |" in text
    assert "| TLC | not found |" in text


@pytest.mark.parametrize(("pattern", "text"), [(TLC, TLC_SAYS), (STATERIGHT, STATERIGHT_SAYS)])
def test_counts_of_printing_peers_are_transitions_and_steps(pattern: str, text: str, tmp_path: Path) -> None:
    says = tmp_path / "says.txt"
    says.write_text(text)
    peer = Printing("peer", [sys.executable, "-c", f"print(open({str(says)!r}).read())"], pattern)
    figures = peer.search(Work({}, "work"))
    assert (figures.states, figures.transitions, figures.depth) == (1_383_250, 16_675_150, 32)


def test_a_peer_that_fails_is_told_in_its_own_words() -> None:
    peer = Printing("peer", [sys.executable, "-c", "print('no such spec')"], TLC)
    with pytest.raises(PeerError, match="peer: no such spec"):
        peer.search(Work({}, "work"))
    assert Printing("TLC", [], TLC).missing() == "not found (name it by its option)"


@pytest.mark.parametrize(
    "known", [k for k in SMALL + LARGE if k.states is None or k.states < 2000], ids=lambda k: k.name
)
def test_plain_python_has_the_states_that_the_interpreter_has(known: Known) -> None:
    program = compile_system(known.sized)
    module: dict[str, object] = {}
    try:
        exec(python(program, program.choices(known.sized.choices)), module)
    except NotForPython:
        assert program.initial or program.crashes or any(p.over == "step" for p in program.properties)
        return
    steps = module["ACTIONS"]
    assert isinstance(steps, list)
    seen = {module["INITIAL"]}
    frontier = list(seen)
    interpreter = Interpreter(program, program.choices(known.sized.choices))
    while frontier:
        state = frontier.pop()
        assert isinstance(state, tuple)
        found = [effect(state) for _, guard, effect in steps if guard(state)]
        assert found == [outcome.state for _, _, outcome in interpreter.successors(state)]
        new = {s for s in found if s not in seen}
        seen |= new
        frontier += new


def test_systems_that_peers_have_no_word_for_are_refused() -> None:
    program = compile_system(SCENARIOS["overlap-cancel"].system(release("0.5.23")))
    with pytest.raises(NotForPython, match=r"crashes|properties of steps"):
        python(program, program.choices(release("0.5.23").names()))


def test_a_library_that_is_not_there_is_named() -> None:
    assert "pip install" in str(Library("no_such_checker").missing())
