"""Why the modelled program dies in a step: the condition above the ``crash(…)`` line, and what it read.

The step is run once more in the interpreter, whose frames have the values; the condition is the innermost
``if`` around the line, as it stands in the model.
"""

from __future__ import annotations

import ast
import enum
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any, TypeVar

from slotproof.counterexamples.encoding import label
from slotproof.counterexamples.words import declared, place
from slotproof.model.language.columns import Valuation
from slotproof.model.language.domains import Domain
from slotproof.model.language.errors import Crash, Site
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.values import Seq

Branch = TypeVar("Branch", ast.FunctionDef, ast.If)


@dataclass(frozen=True, slots=True)
class CrashSite:
    """Where the program dies: the function with its docstring, the condition that led there, and why."""

    function: str
    meaning: str
    condition: str
    place: str
    why: str


def crash_site(
    interpreter: Interpreter, before: Valuation, number: int, numbers: tuple[int, ...]
) -> CrashSite | None:
    """Where the step of action ``number`` from ``before`` crashes; ``None`` if it does not."""
    program = interpreter.program
    compiled = program.actions[number]
    action = declared(program, compiled.name)
    assert action is not None
    function = interpreter.linker.function(action.function)
    subject = interpreter.object(interpreter.fresh(before))
    try:
        function(subject, **interpreter.arguments(compiled, numbers))
    except Crash as error:
        frames = []
        trace = error.__traceback__
        while trace is not None:
            frames.append((trace.tb_frame, trace.tb_lineno))
            trace = trace.tb_next
        return _site(*frames[-2])  # the last one is crash() itself
    return None


def _site(frame: FrameType, line: int) -> CrashSite:
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    where = Site(file, line, linecache.getline(file, line).strip())
    text = "".join(linecache.getlines(file))
    module = _parsed(text)
    function = _innermost(module, ast.FunctionDef, line)
    meaning = " ".join((ast.get_docstring(function) or "").split()) if function else ""
    around = _innermost(module, ast.If, line)
    if around is None:
        return CrashSite(name, meaning, where.text, place(where), "")
    condition = " ".join((ast.get_source_segment(text, around.test) or "").split())
    facts = tuple(dict.fromkeys(_facts(around.test, frame)))
    why = f"{condition}, with {', '.join(facts)}" if facts else condition
    return CrashSite(name, meaning, condition, place(where), f"{name} finds {why}")


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _innermost(module: ast.Module, kind: type[Branch], line: int) -> Branch | None:
    """The innermost definition, or ``if`` by its first branch, around a line."""
    around = [
        node
        for node in ast.walk(module)
        if isinstance(node, kind) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno) if around else None


def _facts(condition: ast.expr, frame: FrameType) -> Iterator[str]:
    """The values of the names and fields in a condition, the largest expressions first."""
    targets = [c.target for c in ast.walk(condition) if isinstance(c, ast.comprehension)]
    own = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    for node in ast.walk(condition):
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            continue
        if any(isinstance(n, ast.Name) and n.id in own for n in ast.walk(node)):
            continue
        text = ast.unparse(node)
        try:
            value = eval(compile(ast.Expression(node), "condition", "eval"), frame.f_globals, frame.f_locals)
        except Exception:
            continue
        if isinstance(value, enum.Enum) and text.endswith(f".{value.name}"):
            continue  # a name in the source, whose value is itself
        shown = _shown(value)
        if shown is not None and shown != text:
            yield f"{text} = {shown}"


def _shown(value: Any) -> str | None:
    if isinstance(value, Seq):
        return "[" + ", ".join(label(v) for v in value) + "]"
    if value is None or isinstance(value, bool | int | enum.Enum | Domain | set | frozenset):
        return label(value)
    return None
