"""What a step of a long walk costs the browser: its work is bounded, its time is for a person to read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
RUNS = 9

WORK = """
const tracks = document.querySelector("#timeline .tracks"), steps = document.querySelector("#steps");
const observer = new MutationObserver(() => {});
const watched = { childList: true, subtree: true, attributes: true, characterData: true };
observer.observe(document.body, watched);
const everything = (node) => 1 + [...node.childNodes].reduce((sum, child) => sum + everything(child), 0);
return data.steps.map((_, at) => {
  go(at);
  const records = observer.takeRecords();
  const added = records.flatMap((record) => [...record.addedNodes]);
  return {
    added: added.reduce((sum, node) => sum + everything(node), 0),
    attributes: records.filter((record) => record.type === "attributes").length,
    redrawn: added.filter((node) => tracks.contains(node) || steps.contains(node)).length,
    all: document.getElementsByTagName("*").length,
  };
});
"""

TIMES = """
return data.steps.map((_, at) => {
  const before = performance.now();
  go(at);
  document.body.getBoundingClientRect();
  return performance.now() - before;
}).slice(1);
"""


def walk_at_random(steps: int, requests: int) -> Walk:
    """A random walk of the overlap-cancel scenario with many requests, the same on each run."""
    names = {f"r{i}": ["ABC"[i % 3]] for i in range(1, requests + 1)}
    system = SCENARIOS["overlap-cancel"].system(release("0.5.23"))
    program = compile_system(system.with_parameters(requests=requests, names=names))
    choices = program.choices(system.choices)
    interpreter, alternatives = Interpreter(program, choices), Alternatives(program, choices)
    chance = random.Random(1)
    states = [program.start]
    taken: list[Step] = []
    while len(taken) < steps:
        possible = list(alternatives.steps(interpreter.stored(states[-1])))
        by_action = sorted({number for number, _ in possible})
        action = chance.choice(by_action)
        numbers = chance.choice([n for number, n in possible if number == action])
        outcome = interpreter.step(states[-1], action, numbers)
        if outcome.crash is not None:
            continue
        compiled = program.actions[action]
        taken.append(Step(compiled.name, interpreter.arguments(compiled, numbers)))
        states.append(outcome.state)
    return Walk(program, choices, None, tuple(taken), tuple(states), subject="0.5.23")


def page_of_walk(walk: Walk, folder: Path) -> Path:
    page = folder / "long.html"
    page.write_text(render(Teller(walk.program, walk.choices).tell(walk)), encoding="utf-8")
    return page


def begin(browser: Browser, opened: bool) -> None:
    """The start of the walk, with the lists of what else could happen open or closed."""
    browser.run("parts.instead.box.open = parts.next.box.open = arguments[0]; now = -1; go(0)", opened)


@pytest.mark.parametrize(
    ("steps", "requests"), [(40, 4), pytest.param(STEPS, REQUESTS, marks=pytest.mark.deep)]
)
def test_a_step_draws_what_changes_and_no_more(
    browser: Browser, tmp_path: Path, steps: int, requests: int
) -> None:
    browser.look(1440, "light")
    browser.open(page_of_walk(walk_at_random(steps, requests), tmp_path))
    for opened, most in ((False, 200), (True, 600)):
        begin(browser, opened)
        work = browser.run(WORK)[1:]
        assert len(work) == steps
        assert max(one["added"] for one in work) <= most
        assert max(one["attributes"] for one in work) <= 40
        assert max(one["redrawn"] for one in work) == 0  # neither the picture nor the list of steps
        assert max(one["all"] for one in work) - min(one["all"] for one in work) <= most
        added = sorted(one["added"] for one in work)
        print(
            f"\n{steps} steps, {requests} requests, opened: {opened}: a step makes {middle(added)} nodes in"
            f" the middle, {added[-1]} at most, of {work[-1]['all']} on the page"
        )


@pytest.mark.deep
def test_each_step_of_a_long_walk(browser: Browser, tmp_path: Path) -> None:
    page = page_of_walk(walk_at_random(STEPS, REQUESTS), tmp_path)
    browser.driver.set_script_timeout(300)
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    browser.look(1440, "light")
    browser.open(page)
    for opened in (False, True):
        wall: list[list[float]] = []
        busy = 0.0
        for _ in range(RUNS):
            begin(browser, opened)
            before = spent(browser)
            wall.append(browser.run(TIMES))
            busy += (spent(browser) - before) / (RUNS * STEPS)
        assert [len(run) for run in wall] == [STEPS] * RUNS
        each, every = [min(runs) for runs in zip(*wall, strict=True)], [time for run in wall for time in run]
        what = "alternatives open" if opened else "alternatives closed"
        print(
            f"\n{STEPS} steps, {REQUESTS} requests, {page.stat().st_size / 1e6:.2f} MB, {what}, {RUNS} runs:"
            f" a step at its best takes {middle(each):.1f} ms in the middle and {max(each):.1f} ms at most,"
            f" in all runs {middle(every):.1f} and {max(every):.1f} ms; {busy:.1f} ms of computing on average"
        )


def spent(browser: Browser) -> float:
    """The milliseconds that the page's thread has computed."""
    found: dict[str, Any] = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})
    return 1000 * float(next(m["value"] for m in found["metrics"] if m["name"] == "TaskDuration"))


def middle(numbers: Sequence[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]
