"""The known violations: which there are, how long the shortest is, and why they are there.

A violation that is listed is expected. One that is not, or that is now shorter or longer, or that shows
in other parts than before, is news; so is a listed one that no longer occurs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from slotproof.checker.usage import UsageProblem
from slotproof.counterexamples.files import write_whole
from slotproof.model.near import near

UNREVIEWED = "not yet explained"

Key = tuple[str, str, str | None, str]
"""Scenario, property, release, and the size at which it was searched: ``quick`` or ``full``."""


@dataclass(frozen=True, slots=True)
class Known:
    """One listed violation: the steps of its shortest trace, how many parts are violated, and why.

    ``line`` is where it stands in its file."""

    steps: int
    parts: int
    reason: str
    line: int = field(default=0, compare=False)


Baseline = Mapping[Key, Known]


def shipped() -> Baseline:
    """The baseline that belongs to this version's model; empty if none is shipped."""
    file = files("slotproof.counterexamples").joinpath("gallery").joinpath("baseline.json")
    if not file.is_file():
        return {}
    return _parsed(file.read_text(encoding="utf-8"), "the shipped baseline")


def read(path: Path) -> Baseline:
    """A baseline file; ``UsageProblem`` names the entry and field that is wrong."""
    try:
        return _parsed(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise UsageProblem(f"{path}: there is no such file; --write-baseline {path} writes it") from None
    except OSError as error:
        raise UsageProblem(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageProblem(f"{path}: is no text; a baseline is a JSON file") from None


def _parsed(text: str, name: str) -> Baseline:
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageProblem(f"{name}: line {error.lineno}: is no JSON: {error.msg}") from None
    except RecursionError:
        raise UsageProblem(f"{name}: is no baseline: nested too deeply") from None
    except ValueError:  # Python reads no more than some thousand digits
        raise UsageProblem(f"{name}: is no baseline: a number in it is too long") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("violations"), list):
        raise UsageProblem(f'{name}: is no baseline; it is an object with a list "violations"')
    found: dict[Key, Known] = {}
    lines = _lines(text, len(raw["violations"]))
    for i, entry in enumerate(raw["violations"]):
        where = f"{name}:{lines[i]}: violations[{i}]"
        key = (
            _field(entry, "scenario", str, where),
            _field(entry, "property", str, where),
            _field(entry, "release", str | None, where),
            _field(entry, "size", str, where),
        )
        if key[3] not in ("quick", "full"):
            raise UsageProblem(f"{where}.size: '{key[3]}', where quick or full has to stand")
        if key in found:
            raise UsageProblem(f"{where}: {key[1]} of {key[0]} on {key[2]} is listed twice")
        reason = _field(entry, "reason", str, where)
        if not reason.strip():
            raise UsageProblem(f"{where}.reason: is empty; say why the violation is there")
        steps, parts = (_field(entry, count, int, where) for count in ("steps", "parts"))
        found[key] = Known(steps, parts, reason, lines[i])
    return found


def _lines(text: str, count: int) -> list[int]:
    """The lines on which the entries begin; 1 for all of them in a file that is laid out in a strange way."""
    decoder = json.JSONDecoder()
    found: list[int] = []
    opening = re.search(r'"violations"\s*:\s*\[', text)
    at = opening.end() if opening is not None else len(text)
    line, counted = 1, 0
    while len(found) < count:
        gap = re.compile(r"[\s,]*").match(text, at)
        assert gap is not None
        try:
            _, end = decoder.raw_decode(text, gap.end())
        except ValueError:
            return [1] * count
        line += text.count("\n", counted, gap.end())
        counted = gap.end()
        found.append(line)
        at = end
    return found


def names_must_be_known(
    baseline: Baseline, path: Path, releases: Collection[str], properties: Mapping[str, Collection[str]]
) -> None:
    """``UsageProblem`` at the first entry that names a scenario, release or property which there is not.

    ``properties`` are the names by scenario, or by system. Entries without a release are those of systems,
    and any system may be one that is not asked about now.
    """
    from slotproof.model.releases import base_of

    for (scenario, name, release, _), known in baseline.items():
        where = f"{path}:{known.line}"
        if release is not None:
            _must_be_one("scenario", scenario, properties, where)
            _must_be_one("release", base_of(release), releases, where)
        if scenario in properties and "+" not in (release or ""):
            _must_be_one("property", name, properties[scenario], where)


def _must_be_one(kind: str, name: str, known: Iterable[str], where: str) -> None:
    known = list(dict.fromkeys(known))
    if name not in known:
        raise UsageProblem(
            f"{where}: there is no {kind} '{name}'{near(name, known)} (else take the entry out)"
        )


_WANTED = {str: "a text", str | None: "a text or null", int: "a whole number"}


def _field(entry: Any, name: str, kind: Any, where: str) -> Any:
    if not isinstance(entry, dict) or name not in entry:
        raise UsageProblem(f"{where}.{name}: is missing")
    value = entry[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageProblem(f"{where}.{name}: {value!r}, where {_WANTED[kind]} has to stand")
    return value


def write(path: Path, found: Mapping[Key, Known], covered: Iterable[Key], old: Baseline) -> None:
    """Write a baseline of what was found; entries that this run did not cover stay, reasons are kept."""
    covered = set(covered)
    kept = {key: known for key, known in old.items() if key not in covered}
    new = {
        key: Known(known.steps, known.parts, old[key].reason if key in old else UNREVIEWED)
        for key, known in found.items()
    }
    entries = [
        {
            "scenario": key[0],
            "property": key[1],
            "release": key[2],
            "size": key[3],
            "steps": known.steps,
            "parts": known.parts,
            "reason": known.reason,
        }
        for key, known in sorted({**kept, **new}.items(), key=lambda item: [str(part) for part in item[0]])
    ]
    lines = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in entries)
    text = f'{{\n "violations": [\n{lines}\n ]\n}}' if entries else '{\n "violations": []\n}'
    try:
        write_whole(path, text + "\n")
    except OSError as error:
        raise UsageProblem(f"{path}: cannot be written: {error.strerror}") from None
