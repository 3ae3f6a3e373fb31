"""The exported page in Chromium, by what a person does with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotproof.counterexamples.explorer.page import render
from slotproof.counterexamples.explorer.walk import Finding, Teller, walk_of
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import choices_of
from slotproof.model.language.program import Program
from tests.counterexamples.explorer.browser import Browser
from tests.counterexamples.explorer.conftest import Page, longest

LEAK = "overlap-cancel.no-slot-leak.0.5.12.post1"
STALE = "idle-rank.fresh-batch-info.0.5.16"
LASSO = "copy-race.progress.0.5.23"

FOUR = {
    LEAK: [
        "no-slot-leak is violated",
        "A is not in it",
        "the fit test counts A, whose copy has ended but is still in the loader's table",
        "A: copied, still counted, no request names it, since step 6",
    ],
    "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1": [
        "no-crash-fit-test-unknown-adapter is violated",
        "manager.gone = {A}",
        "A, which r1, finished and not swept, still names, has left the catalogue",
        "r1: A: finished, not swept, since step 3",
    ],
    STALE: [
        "fresh-batch-info is violated, and the program dies in the same step: lm-head-row-count",
        "The batch metadata that every layer reads is left over from an earlier forward",
        "The modelled program dies: lm-head-row-count.",
    ],
    "decode-admission.slot-capacity.0.5.19": [
        "slot-capacity is violated, and the program dies in the same step: make-resident-too-many",
        "A and B have to be in slots at once, and there is 1 slot",
    ],
}


@pytest.fixture
def lasso(program: Program, traces: dict[str, Trace], tmp_path: Path) -> Path:
    """A page of a trace that goes round: its states do not matter to how a loop is drawn."""
    trace = traces["room-for-more"]
    walk = walk_of(trace, program)
    from dataclasses import replace

    teller = Teller(program, choices_of(trace, program))
    data = teller.tell(replace(walk, loop=1), Finding(trace.property, trace.part), title="shop")
    path = tmp_path / "lasso.html"
    path.write_text(render(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", [longest(), LASSO, STALE, "lasso"])
def test_every_step_fits_and_can_be_read(
    browser: Browser, gallery_page: Page, lasso: Path, name: str, width: int
) -> None:
    """No horizontal scroll of the page, and contrasts of WCAG AA, at every step and in both themes."""
    for theme in ("light", "dark"):
        browser.look(width, theme)
        browser.open(lasso if name == "lasso" else gallery_page(name))
        assert browser.at_every_step(width) == [], theme
    assert browser.complaints() == []


@pytest.mark.parametrize("name", sorted(FOUR))
def test_the_first_screen_says_what_went_wrong(browser: Browser, gallery_page: Page, name: str) -> None:
    browser.look(1440, "light", height=900)
    browser.open(gallery_page(name))
    shown = browser.text("#finding")
    for words in FOUR[name]:
        assert words in shown
    box = "return document.querySelector('{}').getBoundingClientRect()"
    assert browser.run(f"{box.format('#finding .why')}.bottom") < 560
    assert browser.run(f"{box.format('#timeline')}.top") < 700, "the timeline begins on the first screen"


RESTS = {
    LEAK: [
        ("step 6", "waiting = [r2, r3]"),
        ("step 7", "loader.pending = {A, B} (A in step 2, B in step 7)"),
    ],
    "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1": [("step 7", "manager.gone = {A}")],
    STALE: [("step 3", "ranks[rank0].routing.held = {ROWS, LM_HEAD}")],
    "decode-admission.slot-capacity.0.5.19": [("step 3", "decode.transferring = [r1, r2]")],
}


@pytest.mark.parametrize("name", sorted(RESTS))
def test_the_finding_names_the_steps_that_prepared_it(
    browser: Browser, gallery_page: Page, name: str
) -> None:
    """What step 4 reads, and that step 3 left it there, is said where the finding is."""
    browser.look(1440, "light")
    browser.open(gallery_page(name))
    lines = browser.text("#finding .rests").split("\n")
    for step, variable in RESTS[name]:
        at = next(i for i, line in enumerate(lines) if variable in line)
        assert next(line for line in reversed(lines[:at]) if line.startswith("step ")) == step


BLAMED = {
    LEAK: "With reap_all_ended, from 0.5.13 on (#25413)",
    "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1": (
        "With unfinished_rows, from 0.5.14 on (#27597)"
    ),
    STALE: "With clears_metadata, from 0.5.17 on (#32707)",
    "decode-admission.slot-capacity.0.5.19": "With gate_decides, from 0.5.20 on (#39332)",
}


@pytest.mark.parametrize("name", sorted(BLAMED))
def test_the_finding_names_the_decision_to_blame(browser: Browser, gallery_page: Page, name: str) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(name))
    blame = browser.text("#finding .blame")
    assert BLAMED[name] in blame
    assert "the same steps do not violate it" in blame[blame.index(BLAMED[name]) :]


def test_what_a_decision_means_is_told_to_who_asks(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light", height=900)
    browser.open(gallery_page(LEAK))
    meaning = "Every ended one"
    assert meaning not in browser.text("#finding .blame")
    browser.click("#finding .blame summary")
    assert meaning in browser.text("#finding .blame")


def test_one_line_says_the_sizes_and_opens_to_what_each_means(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(STALE))
    summary = browser.text("#finding .under > summary")
    for size in ("requests 2", "adapters 4", "ranks 2", "slots 2", "answered otherwise than in 0.5.23"):
        assert size in summary
    assert "device slots" not in browser.text("#finding")
    browser.run("document.querySelector('#finding .under > summary').focus()")
    browser.press("Enter")
    opened = browser.text("#finding .under")
    assert "2 device slots, each for the weights of one adapter (max_loras_per_batch)" in opened
    assert "SYNCHRONOUS (the forward itself, when it builds its batch)" in opened
    assert "In 0.5.23: clears_metadata, from 0.5.17 on (#32707): Calls LoRAManager.reset_lora_batch" in opened
    decisions = browser.run("return data.decisions.map((d) => [d.name, d.newest !== null])")
    assert [newer for _, newer in decisions] == sorted((newer for _, newer in decisions), reverse=True)


def test_the_words_of_a_page_are_told_to_who_asks(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(STALE))
    assert "A forward of a rank that has no rows" not in browser.text("#finding")
    browser.run("document.querySelector('#finding .glossary > summary').focus()")
    browser.press("Enter")
    words = browser.text("#finding .glossary")
    for meaning in (
        "idle forward\nA forward of a rank that has no rows",
        "batch metadata\nBatch metadata of one rank",
        "rank\nA scheduler process with its own queue",
    ):
        assert meaning in words
    assert "load stream" not in words
    browser.open(gallery_page(LEAK))
    words = browser.run("return document.querySelector('#finding .glossary').textContent")
    assert "fit test" in words
    assert "idle forward" not in words


def test_a_step_that_is_named_is_gone_to_by_keyboard_and_by_click(
    browser: Browser, gallery_page: Page
) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(STALE))
    browser.run("document.querySelector('#finding .rests a').focus()")
    browser.press("Enter")
    assert browser.text("#place") == "step 3 of 4"
    assert browser.run("return document.activeElement.id") == "now"
    browser.wait_until("return location.hash == '#step=3'")
    browser.press("ArrowRight")
    assert browser.text("#place") == "step 4 of 4"
    browser.click("#finding .also dt:last-of-type a")
    assert browser.text("#place") == "step 3 of 4"


def test_what_is_also_false_says_what_it_demands(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(STALE))
    also = " ".join(browser.text("#finding .also").split())
    assert "step 3 right-adapter: Each row whose token will be delivered reads the weights" in also
    for name, about in browser.run("return data.finding.also.map(([n]) => [n, data.properties[n].meaning])"):
        assert f"{name}: {about.split('.')[0]}." in also


def test_the_keyboard_alone_walks_through(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(LEAK))
    assert browser.text("#place") == "step 8 of 8"
    browser.press("ArrowLeft")
    assert browser.text("#place") == "step 7 of 8"
    assert browser.text("#now .sentence").startswith("The scheduler goes once through its loop")
    browser.press("Home")
    assert browser.text("#place") == "step 0 of 8"
    browser.press("ArrowLeft")
    assert browser.text("#place") == "step 0 of 8"
    browser.press("ArrowRight", "j")
    assert browser.text("#place") == "step 2 of 8"
    browser.press("v")
    assert browser.text("#place") == "step 8 of 8"
    assert "no-slot-leak is false" in browser.text("#said")
    browser.press("End", "ArrowRight")
    assert browser.text("#place") == "step 8 of 8"
    browser.press("?")
    assert "the step before" in browser.text("#keys")
    browser.press("Escape", "Home")
    assert browser.text("#place") == "step 0 of 8"


OVERLAPPING = """
timeline.box.scrollLeft = arguments[0];
return [...document.querySelectorAll(".row.band")].filter((row) => {
  const [title, legend] = [...row.children].map((part) => part.getBoundingClientRect());
  const beside = legend.left >= title.right || legend.top >= title.bottom;
  const inView = title.left >= 0 && legend.right <= innerWidth;
  return row.lastChild.textContent && !(beside && inView);
}).map((row) => row.textContent);
"""


@pytest.mark.parametrize("width", [390, 1440])
def test_titles_and_legends_stay_in_view_beside_each_other(
    browser: Browser, gallery_page: Page, width: int
) -> None:
    browser.look(width, "light")
    browser.open(gallery_page(LEAK))
    for scrolled in (0, 60, 1000):
        assert browser.run(OVERLAPPING, scrolled) == []


STOPS = """
const stops = "a[href], button:not(:disabled), summary, select, [tabindex='0']";
const shown = [...document.querySelectorAll(stops)].filter((e) => e.checkVisibility() && e.tabIndex >= 0);
return shown.filter((e) => !e.closest("dialog"));
"""


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", [LASSO, LEAK])
def test_everything_is_reached_with_tab_in_order_and_is_seen(
    browser: Browser, gallery_page: Page, name: str, width: int
) -> None:
    browser.look(width, "light")
    browser.open(gallery_page(name))
    browser.press("Home", "ArrowRight")
    browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.run(f"window.stops = (() => {{ {STOPS} }})()")
    count = browser.run("return stops.length")
    assert count > 20
    reached = []
    for _ in range(count):
        browser.press("Tab")
        at, seen = browser.run(FOCUS)
        reached.append(at)
        assert seen == "", browser.run("return document.activeElement.outerHTML.slice(0, 120)")
    assert reached == list(range(count))


FOCUS = """
const focused = document.activeElement, style = getComputedStyle(focused);
const box = focused.getBoundingClientRect(), bar = byId("controls").getBoundingClientRect();
const wrong = [];
if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) wrong.push("no outline");
const beside = box.right <= 0 || box.left >= innerWidth;
if (beside || box.bottom <= 0 || box.top >= innerHeight) wrong.push("not on the screen");
const covered = box.top >= bar.top && box.bottom <= bar.bottom;
if (covered && !focused.closest("#controls")) wrong.push("below the controls");
return [stops.indexOf(focused), wrong.join(", ")];
"""


def test_a_loop_goes_round(browser: Browser, lasso: Path) -> None:
    browser.look(1440, "light")
    browser.open(lasso)
    last = browser.run("return data.steps.length - 1")
    assert "again and again" in browser.text(".loop")
    browser.press("End", "ArrowRight")
    assert browser.text("#place") == f"step 2 of {last}"
    assert "From here it goes on as after step 1" in browser.text("#steps")


def test_a_step_shows_what_changed_and_what_else_could_have_happened(
    browser: Browser, gallery_page: Page
) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(LEAK))
    browser.press("Home", "ArrowRight", "ArrowRight", "ArrowRight", "e")
    browser.wait("#now", "← taken")  # what is opened is filled a moment later
    now = browser.text("#now")
    assert "ranks[rank0].loader.copies: [A] → []" in now
    assert "copies on the load stream that have not ended, in their order" in now
    assert "upstream: lora/lora_overlap_loader.py" in now
    assert "copy_ends(k=rank0, a=A) ← taken" in now
    assert "arrive(k=rank0, r=r2, a=B)" in now
    assert "s.ranks[k].scheduler.asked is not None is false" in now
    browser.press("ArrowRight")
    assert "arrive(k=rank0, r=r2, a=B) ← taken" in browser.text("#now")  # what was opened stays open


def test_an_address_names_a_step(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(LEAK).as_uri() + "#step=5")
    assert browser.text("#place") == "step 5 of 8"
    browser.press("ArrowRight")
    browser.wait_until("return location.hash == '#step=6'")  # it is written a few times a second


def test_the_theme_can_be_chosen(browser: Browser, gallery_page: Page) -> None:
    browser.look(1440, "light")
    browser.open(gallery_page(LEAK))
    white = browser.run("return getComputedStyle(document.documentElement).backgroundColor")
    browser.press("t")
    assert browser.run("return getComputedStyle(document.documentElement).backgroundColor") != white
    browser.press("t")
    assert browser.run("return getComputedStyle(document.documentElement).backgroundColor") == white
    browser.press("t")


EVIL = "</script><script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\"><!--"
ANSWER = {"name": EVIL, "meaning": EVIL, "when": EVIL}


def test_nothing_of_a_trace_is_run_or_read_as_markup(
    browser: Browser, program: Program, traces: dict[str, Trace], tmp_path: Path
) -> None:
    from dataclasses import replace

    evil = EVIL
    trace = traces["room-for-more"]
    walk = replace(walk_of(trace, program), subject=evil)
    teller = Teller(program, choices_of(trace, program))
    data = teller.tell(walk, Finding(trace.property, evil, known=evil), title=evil)
    page = tmp_path / "evil.html"
    everywhere = {
        "notices": [evil],
        "glossary": [[evil, evil]],
        "settings": [{"name": evil, "value": evil, "meaning": evil, "size": True}],
        "decisions": [{"name": evil, "meaning": evil, "chosen": ANSWER, "newest": ANSWER}],
        "finding": {
            **data["finding"],
            "rests": [{"path": evil, "value": evil, "step": 1, "since": [[evil, 1]], "meaning": evil}],
            "blamed": [{"name": evil, "chosen": ANSWER, "instead": ANSWER, "dies": evil, "ends": ""}],
            "also": [[evil, 1]],
        },
    }
    page.write_text(render({**data, **everywhere}, evil), encoding="utf-8")
    browser.look(1440, "light")
    browser.open(page)
    assert browser.run("return document.title") != "run"
    assert browser.run("return document.querySelectorAll('img').length") == 0
    for part in (".where", ".rests", ".blame", ".also", ".under", ".glossary"):
        assert evil in browser.run(
            "return document.querySelector(arguments[0]).textContent", f"#finding {part}"
        )
    assert browser.complaints() == []
