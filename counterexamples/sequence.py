"""A trace as a sequence chart, in the language of Mermaid: who acts, and on which part of the state."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.story import differences
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call
from slotproof.counterexamples.words import declared
from slotproof.model.language.columns import decode
from slotproof.model.language.program import Program

MOST_STEPS = 120
"""Steps of a chart that a person still reads."""


def mermaid(trace: Trace, program: Program, *, scenario: str = "") -> str:
    """The chart. ``TraceError`` for a trace that is too long to be read as one."""
    if len(trace) > MOST_STEPS:
        raise TraceError(
            f"a chart of {len(trace)} steps could not be read ({MOST_STEPS} are the most);"
            " slotproof explore shows it"
        )
    body: list[str] = []
    names: dict[str, str] = {}
    for number, step in enumerate(trace.steps, 1):
        if trace.loop == number - 1:
            body.append("    loop again and again")
        action = declared(program, step.action)
        actor = (action.actor if action else "") or "system"
        old, new = (decode(program.state, v) for v in trace.states[number - 1 : number + 1])
        changes = list(differences(program.state, old, new))
        parts = list(dict.fromkeys(_part(path) for path, _, _ in changes)) or [actor]
        for i, part in enumerate(parts):
            own = [f"{p}: {a} → {b}" for p, a, b in changes if _part(p) == part]
            said = f"{number}. {call(step)}" if i == 0 else "; ".join(own)
            body.append(f"    {_name(actor, names)}->>{_name(part, names)}: {_text(said)}")
    if trace.loop is not None and trace.loop < len(trace):
        body.append("    end")
    last = body[-1].split("->>")[-1].split(":")[0] if trace.steps and "->>" in body[-1] else None
    for line in _ending(trace):
        over = last or _name("system", names)
        body.append(f"    Note over {over}: {_text(line)}")
    title = f"{scenario or trace.system}{f' on {trace.release}' if trace.release else ''}: {trace.property}"
    people = [f"    participant {short} as {_text(name)}" for name, short in names.items()]
    return "\n".join(["---", f"title: {_title(title)}", "---", "sequenceDiagram", *people, *body]) + "\n"


def _ending(trace: Trace) -> Sequence[str]:
    if trace.crash is not None:
        return [f"the modelled program dies: {trace.crash}"]
    if trace.kind == "violation":
        return [f"{trace.property} is violated"]
    return [f"{trace.part or trace.property} is reached"]


def _part(path: str) -> str:
    """The record that a variable is in: ``ranks[rank0].pool`` of ``ranks[rank0].pool.resident``."""
    record, dot, _ = path.rpartition(".")
    return record if dot else path.partition("[")[0]


def _name(part: str, names: dict[str, str]) -> str:
    return names.setdefault(part, f"p{len(names) + 1}")


def _text(text: str) -> str:
    """A text in which nothing has a meaning to Mermaid."""
    return "".join(f"#{ord(c)};" if c in '#;<>&"`' or not c.isprintable() else c for c in text)


def _title(text: str) -> str:
    return '"' + re.sub(r'["\\\n\r]', " ", text) + '"'
