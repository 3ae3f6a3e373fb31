"""How fast a long walk is to step through: numbers for a person to read, none is asserted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from slotproof.counterexamples.explorer.alternatives import Alternatives
from slotproof.counterexamples.explorer.page import render
from slotproof.counterexamples.explorer.walk import Teller, Walk
from slotproof.counterexamples.trace import Step
from slotproof.model.language.compile import compile_system
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS
from tests.counterexamples.explorer.browser import Browser

STEPS, REQUESTS = 200, 12

MEASURE = """
const times = data.steps.map((_, at) => {
  const before = performance.now();
  go(at);
  document.body.getBoundingClientRect();
  return performance.now() - before;
});
return times.slice(1);
"""


def long_walk() -> Walk:
    """A random walk of the overlap-cancel scenario with many requests, the same on each run."""
    names = {f"r{i}": ["ABC"[i % 3]] for i in range(1, REQUESTS + 1)}
    system = SCENARIOS["overlap-cancel"].system(release("0.5.23"))
    program = compile_system(system.with_parameters(requests=REQUESTS, names=names))
    choices = program.choices(system.choices)
    interpreter, alternatives = Interpreter(program, choices), Alternatives(program, choices)
    chance = random.Random(1)
    states = [program.start]
    steps: list[Step] = []
    while len(steps) < STEPS:
        possible = list(alternatives.steps(interpreter.stored(states[-1])))
        by_action = sorted({number for number, _ in possible})
        action = chance.choice(by_action)
        numbers = chance.choice([n for number, n in possible if number == action])
        outcome = interpreter.step(states[-1], action, numbers)
        if outcome.crash is not None:
            continue
        compiled = program.actions[action]
        steps.append(Step(compiled.name, interpreter.arguments(compiled, numbers)))
        states.append(outcome.state)
    return Walk(program, choices, None, tuple(steps), tuple(states), subject="0.5.23")


@pytest.mark.deep
def test_each_step_of_a_long_walk(browser: Browser, tmp_path: Path) -> None:
    walk = long_walk()
    page = tmp_path / "long.html"
    page.write_text(render(Teller(walk.program, walk.choices).tell(walk)), encoding="utf-8")
    browser.look(1440, "light")
    browser.open(page)
    for opened in (False, True):
        browser.run("open.instead = open.next = arguments[0]; now = -1; go(0)", opened)
        times = sorted(browser.run(MEASURE))
        assert len(times) == STEPS
        what = "alternatives open" if opened else "alternatives closed"
        print(
            f"\n{STEPS} steps, {REQUESTS} requests, {page.stat().st_size / 1e6:.2f} MB, {what}: a step takes"
            f" {times[len(times) // 2]:.1f} ms in the middle, {times[-1]:.1f} ms at most"
        )
