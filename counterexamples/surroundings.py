"""The states around a trace as a graph: what a person could have reached a few steps off it.

Drawn as DOT (for Graphviz) or as SVG. A graph that no one could read is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, TypeAlias

import networkx as nx

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.explorer.alternatives import Alternatives
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call, choices_of
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import ModelError
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program

MOST_STATES = 100
"""States of a graph that a person still reads."""

Graph: TypeAlias = "nx.DiGraph[Any]"


def surroundings(trace: Trace, program: Program, distance: int) -> Graph:
    """The trace's states and those at most ``distance`` steps from one of them, with the steps between.

    A node has its place in the trace (``at``, else ``None``), the distance from it, and the state of the
    trace that is nearest (``near``). An edge has the actions that lead along it. ``TraceError`` where there
    are more states than a person can read.
    """
    choices = choices_of(trace, program)
    interpreter = Interpreter(program, choices)
    alternatives = Alternatives(program, choices)
    graph: Graph = nx.DiGraph()
    keys: list[object] = []
    for at, state in enumerate(trace.states):
        key: object = interpreter.stored(state)
        if at == len(trace) and trace.crash is not None:
            key = ("crash", key)  # a crashed state is another one than the same without
        if key not in graph:
            graph.add_node(key, at=at, near=at, distance=0, crash=at == len(trace) and trace.crash)
        keys.append(key)
    layer = [k for k in dict.fromkeys(keys) if not (trace.crash is not None and k == keys[-1])]
    steps_of = {(keys[i], keys[i + 1]): step.action for i, step in enumerate(trace.steps)}
    for far in range(distance + 1):
        following: list[object] = []
        for key in layer:
            for name, target, crash in _steps(program, interpreter, alternatives, key):
                goal: object = ("crash", target) if crash else target
                if goal not in graph:
                    if far == distance:
                        continue
                    near = graph.nodes[key]["near"]
                    graph.add_node(goal, at=None, near=near, distance=far + 1, crash=crash, by=name)
                    if not crash:
                        following.append(goal)
                    _readable(graph, distance)
                _edge(graph, key, goal, name)
        layer = following
    for (source, goal), name in steps_of.items():
        _edge(graph, source, goal, name)
        graph.edges[source, goal]["taken"] = True
    return graph


def _steps(
    program: Program, interpreter: Interpreter, alternatives: Alternatives, state: object
) -> list[tuple[str, Valuation, str | None]]:
    assert isinstance(state, tuple)
    found = []
    for number, numbers in alternatives.steps(state):
        try:
            outcome = interpreter.step(state, number, numbers)
        except ModelError:
            continue
        found.append((program.actions[number].name, interpreter.stored(outcome.state), outcome.crash))
    return found


def _edge(graph: Graph, source: object, goal: object, name: str) -> None:
    if not graph.has_edge(source, goal):
        graph.add_edge(source, goal, actions=[], taken=False)
    if name not in graph.edges[source, goal]["actions"]:
        graph.edges[source, goal]["actions"].append(name)


def _readable(graph: Graph, distance: int) -> None:
    if len(graph) > MOST_STATES:
        less = f"choose --distance {distance - 1}" if distance else "slotproof explore shows it"
        raise TraceError(
            f"more than {MOST_STATES} states are at most {distance} steps from the trace, and a graph of them"
            f" could not be read; {less}"
        )


def _words(graph: Graph, trace: Trace) -> dict[object, str]:
    """What is written in each node: its number in the trace, else a letter and a number."""
    words: dict[object, str] = {}
    others = 0
    for node, about in graph.nodes(data=True):
        if about["at"] is not None:
            words[node] = f"{about['at']}"
        else:
            others += 1
            words[node] = f"s{others}"
        if about["crash"]:
            words[node] += f" ✗ {about['crash']}"
    return words


def dot(graph: Graph, trace: Trace) -> str:
    """The graph in the language of Graphviz; the trace is a bold line from left to right."""
    words = _words(graph, trace)
    names = {node: f"n{i}" for i, node in enumerate(graph)}
    lines = [f"digraph {_quoted(trace.property)} {{", "  rankdir=LR;", "  node [shape=circle, fontsize=11];"]
    for node, about in graph.nodes(data=True):
        style = "bold" if about["at"] is not None else "dashed"
        shape = ", shape=doubleoctagon" if _ends(graph, node, trace) else ""
        lines.append(f"  {names[node]} [label={_quoted(words[node])}, style={style}{shape}];")
    for source, goal, about in graph.edges(data=True):
        style = ", style=bold, weight=10" if about["taken"] else ", style=dashed"
        lines.append(
            f"  {names[source]} -> {names[goal]} [label={_quoted(_label(about['actions']))}{style}];"
        )
    steps = "\\n".join(f"{i}. {call(step)}" for i, step in enumerate(trace.steps, 1))
    lines.append(f"  label={_quoted(steps)};")
    lines.append("  labelloc=b; labeljust=l;")
    return "\n".join([*lines, "}"]) + "\n"


def _ends(graph: Graph, node: object, trace: Trace) -> bool:
    return trace.loop is None and graph.nodes[node]["at"] == len(trace)


def _label(actions: Sequence[str]) -> str:
    return ", ".join(actions) if len(actions) < 4 else f"{', '.join(actions[:3])} and {len(actions) - 3} more"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\\\\n", "\\n") + '"'


WIDE, HIGH, EDGE = 130, 64, 60


def svg(graph: Graph, trace: Trace) -> str:
    """The graph as a picture: the trace above, what lies off it below the nearest state."""
    words = _words(graph, trace)
    place: dict[object, tuple[int, int]] = {}
    below: dict[int, int] = {}
    for node, about in sorted(
        graph.nodes(data=True), key=lambda pair: (pair[1]["distance"], pair[1]["near"])
    ):
        row = 0 if about["at"] is not None else below.get(about["near"], 0) + 1
        if row:
            below[about["near"]] = row
        place[node] = (EDGE + WIDE * about["near"], EDGE + HIGH * row)
    rows = max(below.values(), default=0)
    width = 2 * EDGE + WIDE * len(trace)
    top = 2 * EDGE + HIGH * rows
    height = top + 20 * (len(trace) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(trace.property)}: the states around the trace</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9"'
        ' markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#3b434c"/></marker></defs>',
    ]
    for source, goal, about in graph.edges(data=True):
        parts.append(_arrow(place[source], place[goal], about))
    for node, (x, y) in place.items():
        on = graph.nodes[node]["at"] is not None
        fill = "#ffd9d6" if _ends(graph, node, trace) else "#cfe3ff" if on else "#ffffff"
        dashes = "" if on else ' stroke-dasharray="3 2"'
        parts.append(f'<circle cx="{x}" cy="{y}" r="16" fill="{fill}" stroke="#3b434c"{dashes}/>')
        name, *end = words[node].split()
        parts.append(f'<text x="{x}" y="{y + 4}" text-anchor="middle">{escape(name)}</text>')
        if not on:
            by = " ".join([graph.nodes[node]["by"], *end])
            parts.append(f'<text x="{x + 20}" y="{y + 4}" font-size="10">{escape(by)}</text>')
    for i, step in enumerate(trace.steps, 1):
        parts.append(f'<text x="{EDGE - 16}" y="{top + 20 * i}">{i}. {escape(call(step))}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _arrow(start: tuple[int, int], end: tuple[int, int], about: dict[str, object]) -> str:
    (x1, y1), (x2, y2) = start, end
    taken = about["taken"]
    actions = about["actions"]
    assert isinstance(actions, list)
    text = escape(_label(actions))
    look = 'stroke="#0550ae" stroke-width="2.5"' if taken else 'stroke="#6a737d" stroke-dasharray="4 3"'
    if start == end:
        path = f"M{x1 - 8} {y1 - 14}C{x1 - 22} {y1 - 44} {x1 + 22} {y1 - 44} {x1 + 8} {y1 - 14}"
    else:
        far = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1)
        dx, dy = (x2 - x1) / far, (y2 - y1) / far
        bend = 0 if taken else 18
        mx, my = (x1 + x2) / 2 - dy * bend, (y1 + y2) / 2 + dx * bend
        path = (
            f"M{x1 + 16 * dx:.0f} {y1 + 16 * dy:.0f}Q{mx:.0f} {my:.0f} {x2 - 18 * dx:.0f} {y2 - 18 * dy:.0f}"
        )
    arrow = f'<path d="{path}" fill="none" {look} marker-end="url(#tip)"><title>{text}</title></path>'
    if not taken:
        return arrow
    return (
        f'{arrow}<text x="{(x1 + x2) / 2:.0f}" y="{(y1 + y2) / 2 - 8:.0f}" text-anchor="middle">{text}</text>'
    )
