"""Traces as files: ITF, the JSON format that Apalache and Quint write, with metadata of one's own.

``trace.schema.json`` describes the file. The metadata names scenario, release, decisions, property and
engine; each state's own metadata names the step that led to it::

    write(trace, program, Path("buffer.bounded.itf.json"), scenario="buffer")
    file = read(Path("buffer.bounded.itf.json"))
    file.trace(program) == trace

Reading takes two calls, because the states mean something only together with the program that the
metadata asks for.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itf_py

from slotproof.counterexamples.encoding import (
    EncodingError,
    field_name,
    from_itf,
    from_plain,
    plain,
    small_numbers,
    to_itf,
    to_plain,
)
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.files import write_whole
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.columns import decode, encode
from slotproof.model.language.ir import Action
from slotproof.model.language.program import Program
from slotproof.model.near import near, near_or_all

if TYPE_CHECKING:
    import jsonschema

SOURCE = "slotproof"
SCHEMA = 1
DESCRIPTIONS = {
    "violation": "{0} of {1} is violated",
    "witness": "{0} of {1} is reached",
    "difference": "a step of {1} that another release or candidate does not have",
}


@dataclass(frozen=True)
class TraceFile:
    """A file that has the form of a trace. Its states are read by ``trace``, with the program."""

    path: Path
    document: Mapping[str, Any]

    @builtins.property
    def scenario(self) -> str:
        """The scenario, or the name of a system of one's own."""
        return str(self._meta["scenario"])

    @builtins.property
    def system_file(self) -> str | None:
        """``FILE`` or ``FILE:NAME`` of a system of one's own, as it was given."""
        return self._meta.get("system_file")

    @builtins.property
    def candidate_file(self) -> str | None:
        """The file of the candidate on which the trace was found, as it was given."""
        return self._meta.get("candidate_file")

    @builtins.property
    def kind(self) -> str:
        """What the end is: ``violation``, ``witness`` or ``difference``."""
        return str(self._meta.get("status", "violation"))

    @builtins.property
    def part(self) -> str:
        """The source of what is false at the end, or true if it is a witness."""
        return str(self._meta["part"])

    @builtins.property
    def property(self) -> str:
        """The property that the end violates, or the witness that it is."""
        return str(self._meta["property"])

    @builtins.property
    def release(self) -> str | None:
        """The release on which the trace was found; ``0.5.23+gate`` for a candidate in ``gate.py``."""
        return self._meta["release"]  # type: ignore[no-any-return]

    @builtins.property
    def decisions(self) -> Mapping[str, str]:
        """The alternative in force at each decision point."""
        return dict(self._meta["decisions"])

    @builtins.property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters, as ``System.with_parameters`` takes them."""
        return dict(self._meta["parameters"])

    @builtins.property
    def digest(self) -> str:
        """Identifies the program with which the trace was found."""
        return str(self._meta["digest"])

    @builtins.property
    def _meta(self) -> Mapping[str, Any]:
        meta: Mapping[str, Any] = self.document["#meta"]
        return meta

    def start(self, program: Program) -> Step | None:
        """The initial action that the file names; ``EncodingError`` if the program has none such."""
        return _step(program, program.initial, self.document["states"][0]["#meta"], "states[0]")

    def step(self, number: int, program: Program) -> Step:
        """The step to ``states[number]``; ``EncodingError`` if it is none of the program's."""
        path = f"states[{number}]"
        step = _step(program, program.actions, self.document["states"][number]["#meta"], path)
        if step is None:
            raise EncodingError(f"{path}.#meta.action", "null, where an action has to stand")
        return step

    def trace(self, program: Program) -> Trace:
        """The trace; ``TraceError`` names a field that does not fit the program."""
        try:
            return self._trace(program)
        except EncodingError as error:
            raise TraceError(f"{self.path}: {error}") from None

    def _trace(self, program: Program) -> Trace:
        meta, states = self._meta, self.document["states"]
        variables = [field_name(f) for f in program.state.fields]
        for name in self.document["vars"]:
            if name not in variables:
                hint = near_or_all(name, variables, "it has")
                raise EncodingError("vars", f"{program.name} has no variable '{name}'{hint}")
        valuations = []
        for i, state in enumerate(states):
            values = {name: value for name, value in state.items() if name != "#meta"}
            valuations.append(encode(program.state, from_itf(program.state, values, f"states[{i}]")))
        start = self.start(program)
        if start is None and program.initial:
            raise EncodingError("states[0].#meta.action", "null, where an initial action has to stand")
        steps = [self.step(i, program) for i in range(1, len(states))]
        loop = self.document.get("loop")
        if loop is not None and loop >= len(states):
            raise EncodingError("loop", f"there is no state {loop}")
        for i, state in enumerate(states):
            if (index := state["#meta"]["index"]) != i:
                raise EncodingError(f"states[{i}].#meta.index", f"{index}, where {i} has to stand")
        return Trace(
            system=program.name,
            digest=meta["digest"],
            parameters=program.parameters,
            release=meta["release"],
            choices=dict(meta["decisions"]),
            property=meta["property"],
            part=meta["part"],
            engine=meta["engine"],
            start=start,
            steps=tuple(steps),
            states=tuple(valuations),
            crash=meta["crash"],
            loop=loop,
            kind=meta.get("status", "violation"),
        )


def _step(program: Program, known: tuple[Action, ...], meta: Mapping[str, Any], path: str) -> Step | None:
    name, raw = meta["action"], meta["arguments"]
    if name is None:
        return None
    action = next((a for a in known if a.name == name), None)
    if action is None:
        hint = near_or_all(name, [a.name for a in known], "it has")
        raise EncodingError(f"{path}.#meta.action", f"{program.name} has no action '{name}'{hint}")
    parameters = {p.name: p.type for p in action.parameters}
    where = f"{path}.#meta.arguments"
    for given in raw:
        if given not in parameters:
            raise EncodingError(where, f"{name} has no parameter '{given}'")
    for wanted in parameters:
        if wanted not in raw:
            raise EncodingError(where, f"parameter '{wanted}' of {name} is missing")
    return Step(name, {n: from_plain(type_, raw[n], f"{where}.{n}") for n, type_ in parameters.items()})


def document(
    trace: Trace,
    program: Program,
    scenario: str,
    system_file: str | None = None,
    candidate_file: str | None = None,
) -> dict[str, Any]:
    """The trace as the JSON object of its file."""
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "description": DESCRIPTIONS[trace.kind].format(trace.property, scenario),
        "source": SOURCE,
        "schema": SCHEMA,
        "status": trace.kind,
        "scenario": scenario,
        "system_file": system_file,
        **({"candidate_file": candidate_file} if candidate_file else {}),
        "release": trace.release,
        "decisions": dict(trace.choices),
        "parameters": {name: plain(value) for name, value in trace.parameters.items()},
        "property": trace.property,
        "part": trace.part,
        "engine": trace.engine,
        "crash": trace.crash,
        "digest": trace.digest,
    }
    states = []
    for i, valuation in enumerate(trace.states):
        step, known = (trace.start, program.initial) if i == 0 else (trace.steps[i - 1], program.actions)
        about = {"index": i, "action": step and step.action, "arguments": _arguments(step, known)}
        values = vars(to_itf(program.state, decode(program.state, valuation)))
        states.append(itf_py.State(meta=about, values=values))
    variables = [field_name(f) for f in program.state.fields]
    made = itf_py.Trace(meta=meta, params=[], vars=variables, states=states, loop=trace.loop)
    raw: dict[str, Any] = small_numbers(itf_py.trace_to_json(made))
    return raw


def _arguments(step: Step | None, known: tuple[Action, ...]) -> dict[str, Any]:
    if step is None:
        return {}
    action = next(a for a in known if a.name == step.action)
    return {p.name: to_plain(p.type, step.arguments[p.name]) for p in action.parameters}


def write(
    trace: Trace,
    program: Program,
    path: Path,
    scenario: str,
    system_file: str | None = None,
    candidate_file: str | None = None,
) -> None:
    """Write the trace to a file, whole or not at all."""
    text = _text(document(trace, program, scenario, system_file, candidate_file))
    write_whole(path, text)


def _text(raw: Mapping[str, Any]) -> str:
    """The JSON text with one state a line, so that a difference of two files is one of states."""
    parts = []
    for key, value in raw.items():
        if key == "states":
            lines = ",\n".join(json.dumps(state, ensure_ascii=False) for state in value)
            parts.append(f'"states": [\n{lines}\n]')
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@cache
def schema() -> Mapping[str, Any]:
    """The published JSON Schema of a trace file."""
    text = files("slotproof.counterexamples").joinpath("trace.schema.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def read(path: Path) -> TraceFile:
    """A trace file; ``TraceError`` says which field is wrong."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.itf.json")] if path.parent.is_dir() else []
        raise TraceError(f"{path}: there is no such file{near(path.name, beside)}") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TraceError(f"{path}: is no text; a trace is a file *.itf.json") from None
    except json.JSONDecodeError as error:
        end = error.pos >= len(error.doc.rstrip())
        what = "ends in the middle, it was cut off" if end else f"is no JSON: {error.msg}"
        raise TraceError(f"{path}: line {error.lineno}: {what}") from None
    except RecursionError:
        raise TraceError(f"{path}: is no trace: nested too deeply") from None
    except ValueError:  # Python reads no more than some thousand digits
        raise TraceError(f"{path}: is no trace: a number in it is too long") from None
    if not isinstance(raw, dict) or "states" not in raw or not isinstance(raw.get("#meta"), dict):
        raise TraceError(f"{path}: is no trace: an ITF file is an object with #meta, vars and states")
    if raw["#meta"].get("source") != SOURCE:
        raise TraceError(
            f"{path}: #meta.source: {raw['#meta'].get('source')!r}, where '{SOURCE}' has to stand:"
            " a trace of another tool does not name its steps"
        )
    import jsonschema  # takes a tenth of a second, which a run that only writes traces saves

    wrong = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema()).iter_errors(raw))
    if wrong is not None:
        raise TraceError(f"{path}: {_field(wrong)}")
    return TraceFile(path, raw)


def _field(error: jsonschema.ValidationError) -> str:
    place = ""
    for part in error.absolute_path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    message = error.message if len(error.message) <= 160 else error.message[:157] + "..."
    return f"{place.lstrip('.')}: {message}" if place else message
