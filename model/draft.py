"""A candidate to start from: one decision answered as a release answers it, in a function of its own.

What a rule may read stands in the docstring of the drafted file, so that nothing else has to be looked up
before the first change.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, get_type_hints

from slotproof.model import language
from slotproof.model.decisions import DECISIONS
from slotproof.model.language import Record
from slotproof.model.language.surface import Decision
from slotproof.model.language.values import Field
from slotproof.model.releases import release
from slotproof.model.serving import vocabulary

RULE = "my_rule"
WIDTH = 88


def draft(decision: str, name: str, asking: Sequence[str] = ()) -> str:
    """The text of a candidate that starts from release ``name`` and still answers ``decision`` as it does.

    ``asking`` are the scenarios that ask the decision.
    """
    (point,) = (known.point for known in DECISIONS if known.point.name == decision)
    answer = release(name).choices[decision]
    source = textwrap.dedent(inspect.getsource(answer))
    imports = {"slotproof.model.releases": {"release"}}
    for used in _globals_of(source, answer):
        imports.setdefault(_module_of(used, answer), set()).add(used)
    return "\n".join(
        [
            f'"""A change of {name}: another answer to the decision {decision}.',
            "",
            *textwrap.wrap(" ".join(point.meaning.split()), WIDTH),
            *_scenarios(asking),
            *_fields(point),
            '"""',
            "",
            *(f"from {module} import {', '.join(sorted(imports[module]))}" for module in sorted(imports)),
            "",
            "",
            *_renamed(source, f"{answer.__name__}, as {name} does it; write here what yours does."),
            "",
            "",
            f'candidate = release("{name}").replace({decision}={RULE})',
            "",
        ]
    )


def _globals_of(source: str, answer: Callable[..., Any]) -> Iterator[str]:
    """The names of its module that a function uses, those of its annotations included."""
    found = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    yield from sorted(n for n in found if n in answer.__globals__ and not hasattr(builtins, n))


def _module_of(name: str, answer: Callable[..., Any]) -> str:
    """From where a candidate imports what the answer calls by this name."""
    value = answer.__globals__[name]
    if getattr(language, name, None) is value:
        return language.__name__
    if getattr(vocabulary, name, None) is value:
        return vocabulary.__name__
    defines_it = isinstance(value, (type, FunctionType))
    return value.__module__ if defines_it else answer.__module__


def _renamed(source: str, says: str) -> Iterator[str]:
    """The function's lines under another name and with another docstring."""
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    lines = source.rstrip().split("\n")
    first, body = function.body[0], function.body[0].lineno - 1
    yield from (line.replace(f"def {function.name}(", f"def {RULE}(") for line in lines[:body])
    yield f'    """{says}"""'
    assert first.end_lineno is not None  # the docstring, which every alternative has
    yield from lines[first.end_lineno :]


def _scenarios(asking: Sequence[str]) -> Iterator[str]:
    """In which scenarios a rule makes a difference, if anywhere."""
    if asking:
        text = f"Scenarios that ask it: {', '.join(asking)}."
        yield from ["", *textwrap.wrap(text, WIDTH, break_on_hyphens=False)]


def _fields(point: Decision[..., Any]) -> Iterator[str]:
    """What the records among the decision's parameters hold."""
    if not inspect.signature(point.function).parameters:
        yield from ["", "A rule is given nothing to read: it has the same answer always."]
    for parameter, record in get_type_hints(point.function).items():
        if parameter != "return" and isinstance(record, type) and issubclass(record, Record):
            yield from [
                "",
                f"The fields of {parameter} (class {record.__name__} of {record.__module__}):",
                "",
            ]
            written = inspect.get_annotations(record)
            for name, value in vars(record).items():
                if isinstance(value, Field):
                    text = f"  {name}: {written[name]}  # {value.meaning}"
                    yield from textwrap.wrap(text, WIDTH, subsequent_indent="      ")
