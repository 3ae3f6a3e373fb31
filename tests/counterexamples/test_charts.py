"""A trace as a chart, as a graph of the states around it, and as a test."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from slotproof.counterexamples.as_test import pytest_file
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.rerun import begun, parsed, rerun
from slotproof.counterexamples.sequence import mermaid
from slotproof.counterexamples.surroundings import dot, surroundings, svg
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call, choices_of
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from tests.counterexamples import shop

ENDS = ["room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind"]


def test_a_sequence_chart_says_who_acts_on_what(traces: dict[str, Trace], program: Program) -> None:
    chart = mermaid(traces["room-for-more"], program, scenario="market")
    assert chart.startswith('---\ntitle: "market: room-for-more"\n---\nsequenceDiagram\n')
    names = {
        line.split(" as ")[1]: line.split()[1] for line in chart.splitlines() if "participant" in line
    }  # what is drawn, by its name
    assert f"    {names['client']}->>{names['mode']}: 1. order(a=A, urgent=False)\n" in chart
    assert f"    {names['shop']}->>{names['store']}: 4. buy()\n" in chart
    assert chart.endswith("room-for-more is violated\n")


def test_a_loop_is_drawn_as_one_and_letters_of_the_language_are_escaped(
    traces: dict[str, Trace], program: Program
) -> None:
    trace = replace(traces["room-for-more"], loop=1, release='x"; %%\nevil')
    chart = mermaid(trace, program)
    lines = chart.splitlines()
    assert lines.index("    loop again and again") < lines.index("    end")
    assert "\nevil" not in chart
    crash = mermaid(traces["no-crash-third-of-a-kind"], program)
    assert "the modelled program dies: third-of-a-kind" in crash


def test_a_chart_that_no_one_could_read_is_refused(traces: dict[str, Trace], program: Program) -> None:
    trace = traces["room-for-more"]
    long = replace(trace, steps=trace.steps * 40, states=trace.states * 40)
    with pytest.raises(TraceError, match="could not be read"):
        mermaid(long, program)


@pytest.mark.parametrize("name", ENDS)
def test_the_graph_holds_the_trace_and_what_is_near(
    name: str, traces: dict[str, Trace], program: Program
) -> None:
    trace = traces[name]
    alone = surroundings(trace, program, 0)
    assert {about["distance"] for _, about in alone.nodes(data=True)} == {0}
    around = surroundings(trace, program, 1)
    assert set(alone.nodes) < set(around.nodes)
    taken = {(s, g) for s, g, about in around.edges(data=True) if about["taken"]}
    assert len(taken) == len({(a, b) for a, b in zip(trace.states, trace.states[1:], strict=False)})
    interpreter = Interpreter(program, choices_of(trace, program))
    first = interpreter.stored(trace.states[0])
    expected = {interpreter.stored(o.state) for _, _, o in interpreter.successors(first)}
    assert set(around.successors(first)) == expected


def test_a_graph_that_no_one_could_read_is_refused(traces: dict[str, Trace], program: Program) -> None:
    with pytest.raises(TraceError, match=r"more than 100 states .* choose --distance"):
        surroundings(traces["room-for-more"], program, 12)


def test_graph_texts_are_what_their_readers_take(traces: dict[str, Trace], program: Program) -> None:
    trace = traces["no-crash-third-of-a-kind"]
    graph = surroundings(trace, program, 1)
    picture = ElementTree.fromstring(svg(graph, trace))
    circles = [e for e in picture.iter() if e.tag.endswith("circle")]
    assert len(circles) == len(graph)
    text = dot(graph, trace)
    assert text.count(" -> ") == graph.number_of_edges()
    assert text.count("doubleoctagon") == 1


@pytest.mark.parametrize("name", ENDS)
def test_steps_are_read_back_from_their_text(name: str, traces: dict[str, Trace], program: Program) -> None:
    trace = traces[name]
    assert [parsed(call(s), program.actions) for s in trace.steps] == list(trace.steps)
    walk = begun(program, choices_of(trace, program), trace.start)
    for step in trace.steps:
        walk.take(call(step))
    assert tuple(walk.states) == trace.states
    assert walk.crash == trace.crash
    assert walk.violates(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ordr(a=A, urgent=False)", "there is no action 'ordr'; did you mean order?"),
        ("order(a=A)", "order: parameter 'urgent' is missing"),
        ("order(a=Z, urgent=False)", "order: a: 'Z' is no Good; it is one of: A, B"),
        ("order(A, False)", "order: 'A' is no argument; write parameter=value"),
        ("order(a=A, urgent=False, b=1)", "order has no parameter 'b'"),
        ("<b>", "'<b>' is no step; write it as action(parameter=value, …)"),
        ("buy()", "step 1, buy(), cannot happen: s.mode == Mode.BUSY is false"),
    ],
)
def test_a_step_that_is_none_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        rerun(shop.shop, [text])
    assert str(caught.value).startswith(message)


def test_the_written_test_passes_and_fails_where_a_step_cannot_happen(
    traces: dict[str, Trace], program: Program, tmp_path: Path
) -> None:
    trace = traces["no-crash-third-of-a-kind"]
    (tmp_path / "my_shop.py").write_text(Path(shop.__file__).read_text(), encoding="utf-8")
    text = pytest_file(trace, program, scenario="shop", system_file="my_shop.py:shop")
    test = tmp_path / "test_shop.py"

    def passed() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    test.write_text(text, encoding="utf-8")
    assert passed().returncode == 0
    test.write_text(text.replace("'may_order': 'always'", "'may_order': 'only_new'"), encoding="utf-8")
    failed = passed()
    assert failed.returncode == 1
    assert "cannot happen: may_order(s, a) is false" in failed.stdout
