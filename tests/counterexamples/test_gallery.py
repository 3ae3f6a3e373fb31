"""The gallery: every trace is one of the model as it is, and every known violation has one."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from slotproof.checker import baseline
from slotproof.checker.commands.explain import program_of_file
from slotproof.counterexamples.itf import read
from slotproof.counterexamples.story import story
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import choices_of, verify
from slotproof.counterexamples.words import step_in_words
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "counterexamples" / "gallery"
TRACES = sorted(GALLERY.glob("*.itf.json"))
KNOWN = {key: known for key, known in baseline.shipped().items() if key[3] == "quick"}

FOUR = {
    "overlap-cancel.no-slot-leak.0.5.12.post1",
    "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1",
    "idle-rank.fresh-batch-info.0.5.16",
    "decode-admission.slot-capacity.0.5.19",
}


def name_of(path: Path) -> str:
    return path.name.removesuffix(".itf.json")


LAST = {
    "overlap-cancel.no-slot-leak.0.5.12.post1": "A, whose copy has ended but is still in the loader's table,"
    " though no request names it any more",
    "finish-unload.no-crash-fit-test-unknown-adapter.0.5.13.post1": "There the process dies"
    " (fit-test-unknown-adapter): because C is pinned, the fit test looks each one up that it counts,"
    " and A, which r1, finished and not swept, still names, has left the catalogue.",
    "idle-rank.fresh-batch-info.0.5.16": "rank0: It has no rows, and runs an idle forward. The batch metadata"
    " that every layer reads is left over from an earlier forward.",
    "decode-admission.slot-capacity.0.5.19": "There the process dies (make-resident-too-many): A and B have"
    " to be in slots at once, and there is 1 slot.",
}


@cache
def opened(path: Path) -> tuple[Trace, Program]:
    """A trace of the gallery, with its program."""
    file = read(path)
    program = program_of_file(file, None)
    return file.trace(program), program


@pytest.mark.parametrize("path", TRACES, ids=name_of)
def test_each_step_says_what_is_true_of_it_alone(path: Path) -> None:
    trace, program = opened(path)
    interpreter = Interpreter(program, choices_of(trace, program))
    texts = [step_in_words(trace, n, interpreter) for n in range(1, len(trace) + 1)]
    for (one, other), (first, second) in zip(pairwise(trace.steps), pairwise(texts), strict=True):
        assert first != second, (one, other)
    dying = [n for n, text in enumerate(texts, 1) if "dies" in text]
    assert dying == ([len(trace)] if trace.crash is not None else [])
    if trace.crash is not None:
        assert f"There the process dies ({trace.crash}): " in texts[-1]
        assert "launched" not in texts[-1]
    if trace.choices.get("gate_on_reservation") == "only_memory_decides":
        assert not [text for text in texts if "gate" in text]
    assert LAST.get(name_of(path), "") in texts[-1]


@pytest.mark.parametrize("path", TRACES, ids=name_of)
def test_a_trace_of_the_gallery_is_one_of_the_model_and_as_short_as_the_baseline_says(path: Path) -> None:
    scenario, property_, release = name_of(path).split(".", 2)
    file = read(path)
    trace, program = opened(path)
    verify(trace, program)
    assert (file.scenario, trace.property, file.release) == (scenario, property_, release)
    assert file.digest == program.digest
    assert len(trace) == KNOWN[scenario, property_, release, "quick"].steps
    told = story(trace, program, scenario=file.scenario)
    assert f"{len(trace)}. " in told
    assert "is false" in told or "dies" in told or "crash" in told


def test_every_known_violation_has_a_trace_on_the_newest_release_that_has_it() -> None:
    shown = {tuple(name_of(p).split(".", 2)[:2]) for p in TRACES}
    assert shown == {key[:2] for key in KNOWN}
    assert {name_of(p) for p in TRACES} >= FOUR


def test_every_known_violation_is_explained_on_the_page_of_findings() -> None:
    headings = {
        line.lstrip("# ").strip()
        for line in (ROOT / "docs" / "findings.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("###")
    }
    for key, known in KNOWN.items():
        page, _, heading = known.reason.partition("docs/findings.md, '")[2].rpartition("'")
        assert (page or heading) in headings, key
