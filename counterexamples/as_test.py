"""A trace as a pytest file: the same steps, by name, and the same end."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

from slotproof.counterexamples.encoding import plain
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call, choices_of
from slotproof.counterexamples.words import step_in_words
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program


def pytest_file(
    trace: Trace,
    program: Program,
    *,
    scenario: str,
    system_file: str | None = None,
    candidate_file: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> str:
    """The text of the file. ``TraceError`` for a trace whose end no state or step shows."""
    if trace.loop is not None or trace.kind != "violation":
        raise TraceError(
            f"a test shows what a step violates, and this trace is about {trace.property} of a run;"
            " take --format text"
        )
    given = {name: plain(value) for name, value in (parameters or trace.parameters).items()}
    name = re.sub(r"\W+", "_", trace.property)
    imports, system = _system(trace, scenario, system_file, candidate_file)
    lines = [
        f'"""{_doc(f"{scenario}: {trace.property} is violated after {len(trace)} steps.")}"""',
        "",
        *imports,
        "from slotproof.counterexamples.rerun import rerun",
        "",
        f"PARAMETERS = {_dict(given)}",
        f"DECISIONS = {_dict(trace.choices)}",
        "STEPS = [",
    ]
    interpreter = Interpreter(program, choices_of(trace, program))
    for number, step in enumerate(trace.steps, 1):
        told = step_in_words(trace, number, interpreter)
        lines += [f"    # {line}" for line in textwrap.wrap(" ".join(told.split()), 100)]
        lines.append(f"    {call(step)!r},")
    start = f", start={call(trace.start)!r}" if trace.start is not None else ""
    lines += [
        "]",
        "",
        "",
        f"def test_{name}_is_violated():",
        f"    system = {system}.with_parameters(**PARAMETERS)",
        f"    end = rerun(system, STEPS, decisions=DECISIONS{start})",
        f"    assert end.violates({trace.property!r})",
    ]
    return "\n".join(lines) + "\n"


def _system(
    trace: Trace, scenario: str, system_file: str | None, candidate_file: str | None
) -> tuple[list[str], str]:
    if system_file is not None:
        return ["from slotproof.checker.systemfile import load_system"], f"load_system({system_file!r})"
    properties = "from slotproof.properties import SCENARIOS"
    if candidate_file is not None:
        loader = "from slotproof.checker.candidatefile import load_candidate"
        return [loader, properties], f"SCENARIOS[{scenario!r}].system(load_candidate({candidate_file!r}))"
    releases = "from slotproof.model.releases import release"
    return [releases, properties], f"SCENARIOS[{scenario!r}].system(release({trace.release!r}))"


def _dict(given: Mapping[str, Any]) -> str:
    inside = "".join(f"    {key!r}: {value!r},\n" for key, value in given.items())
    return f"{{\n{inside}}}" if inside else "{}"


def _doc(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")
