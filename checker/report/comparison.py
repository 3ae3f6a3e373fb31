"""What ``compare`` found, for a person, for a pull request, and for a program."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from slotproof.checker.compare import Behaviour, Change, Comparison, Only, Relation, Row
from slotproof.checker.report import words
from slotproof.checker.runs import AT_ANY_DEPTH
from slotproof.checker.verdict import Holds, Unknown, Verdict, Violated

MOST_REASONS = 6


def text(found: Comparison) -> Iterator[tuple[str, str]]:
    """The lines, each with its colour or none."""
    base, candidate = found.base.label, found.candidate.label
    for scenario in _scenarios(found):
        yield f"{scenario}: {candidate} beside {base}", "bold"
        for side, subject in (
            ("", found.base.subjects[scenario]),
            (candidate, found.candidate.subjects[scenario]),
        ):
            scope = words.scope(subject)
            if not side or scope != words.scope(found.base.subjects[scenario]):
                yield from _wrapped(f"{side and f'{side}: '}for {scope}", 2)
        for label, is_base in ((base, True), (candidate, False)):
            if (scenario, is_base) in found.coverages:
                coverage, remembered = found.coverages[scenario, is_base]
                yield from _wrapped(f"{label}: {words.covered(coverage, remembered)}", 2)
        for row in _told(found, scenario):
            yield from _row(row)
        calm = [r for r in found.rows if r.scenario == scenario and _calm(r)]
        for said, rows in _by_depth(calm):
            yield from _wrapped(f"kept, holding{said}: {', '.join(r.name for r in rows)}", 2)
        for behaviour in found.behaviours:
            if behaviour.scenario == scenario:
                yield from _behaviour(behaviour, base, candidate)
        yield "", ""
    if found.rows:
        yield total(found), "bold"
    first = _first_trace(found)
    if first is not None:
        yield "Read a trace with:", ""
        yield f"  slotproof explain {shlex.quote(str(first))}", ""


def _first_trace(found: Comparison) -> Path | None:
    """The trace to read first: of what is lost, else of another verdict, else of the behaviour."""
    order = list(Change)
    traces = [r.trace for r in sorted(found.rows, key=lambda r: order.index(r.change))]
    traces += [o.path for b in found.behaviours for o in (b.candidate_can, b.base_can) if o is not None]
    return next((path for path in traces if path is not None), None)


def _by_depth(calm: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Those that a search of all states has shown, and those that are proven."""
    for said, proven in (("", False), (" at any depth", True)):
        rows = [r for r in calm if (r.engine in AT_ANY_DEPTH) == proven]
        if rows:
            yield said, rows


def _row(row: Row) -> Iterator[tuple[str, str]]:
    colour = {Change.LOST: "red", Change.GAINED: "green", Change.UNKNOWN: "yellow"}.get(row.change, "")
    yield from _wrapped(f"{row.change.value:<7} {row.name}: {became(row)}", 2, colour)
    if row.trace is not None:
        yield f"          {row.trace}", ""


def became(row: Row) -> str:
    """Both verdicts and what there is to say of them."""
    notes = f" ({', '.join(row.notes)})" if row.notes else ""
    if row.change is Change.UNKNOWN:
        return f"{verdict(row.base)}, then {verdict(row.candidate)}: {row.reason}"
    if row.change is Change.NEW:
        return f"{verdict(row.candidate)}; the base is not asked"
    if row.change is Change.DROPPED:
        return f"{verdict(row.base)}; the candidate is not asked"
    return f"{verdict(row.base)}, then {verdict(row.candidate)}{notes}"


def verdict(verdict: Verdict | None) -> str:
    """A verdict in a few words."""
    match verdict:
        case Holds():
            return "holds"
        case Violated():
            return f"violated after {words.count(len(verdict.trace), 'step')}"
        case Unknown():
            return "unknown"
        case _:
            return "not asked"


def _behaviour(found: Behaviour, base: str, candidate: str) -> Iterator[tuple[str, str]]:
    yield from _wrapped(f"behaviour: {relation(found, base, candidate)}", 2)
    for note in found.notes:
        yield from _wrapped(note, 4)
    for only, label, other in _alone(found, base, candidate):
        if only is not None:
            yield from _wrapped(f"{label} alone: {ways(only, label, other)}", 4)
            for reason in reasons(only):
                yield from _wrapped(reason, 8)
            if only.path is not None:
                yield f"          {only.path}", ""
    for text in found.start:
        yield from _wrapped(f"at the start: {text}", 4)
    for label, names in ((base, found.only_base), (candidate, found.only_candidate)):
        if names:
            yield from _wrapped(f"{label} alone has, and it is not compared: {', '.join(names)}", 4)


def _alone(found: Behaviour, base: str, candidate: str) -> list[tuple[Only | None, str, str]]:
    """What each side can do alone; a step that both take, with another outcome, is told once."""
    sides: list[tuple[Only | None, str, str]] = [
        (found.base_can, base, candidate),
        (found.candidate_can, candidate, base),
    ]
    same = found.base_can is not None and found.base_can.both
    same &= found.candidate_can is not None and found.candidate_can.both
    return sides[:1] if same else sides


def relation(found: Behaviour, base: str, candidate: str) -> str:
    """How the runs of the two sides relate, in a sentence."""
    followed = f" ({words.count(found.pairs, 'pair')} of states)" if found.pairs else ""
    match found.relation:
        case Relation.SAME:
            return f"the same{f': {found.why}' if found.why else followed}"
        case Relation.REFINES:
            return f"{candidate} refines {base}: it does nothing that {base} could not do{followed}"
        case Relation.REFINED:
            return f"{base} refines {candidate}, which can do all that it could and more{followed}"
        case Relation.DIFFERS:
            return "each can do what the other cannot"
    return f"unknown: {found.why}{followed}"


def ways(only: Only, label: str, other: str) -> str:
    """The step that makes the difference and where it stands."""
    before = "at once" if only.steps == 1 else f"after {words.count(only.steps - 1, 'step')}"
    if only.both:
        return f"{before}, {only.step}, which {other} can take too, with another outcome"
    return f"{before}, {only.step}"


def reasons(only: Only) -> list[str]:
    """Why the other side cannot, at most a handful."""
    told = list(only.reasons) if only.both else [f"false there: {r}" for r in only.reasons]
    more = len(told) - MOST_REASONS
    return [*told[:MOST_REASONS], f"and {more} more"] if more > 1 else told


def total(found: Comparison) -> str:
    """One sentence over all rows."""
    counts = {c: sum(r.change is c for r in found.rows) for c in Change}
    said = [f"{counts[c]} {c.value}" for c in Change if counts[c] or c in (Change.LOST, Change.GAINED)]
    return f"{words.count(len(found.rows), 'verdict')}: {', '.join(said)}."


def _scenarios(found: Comparison) -> list[str]:
    return list(dict.fromkeys([*(r.scenario for r in found.rows), *(b.scenario for b in found.behaviours)]))


def _calm(row: Row) -> bool:
    return row.change is Change.KEPT and isinstance(row.candidate, Holds)


def _told(found: Comparison, scenario: str) -> list[Row]:
    order = list(Change)
    rows = [r for r in found.rows if r.scenario == scenario and not _calm(r)]
    return sorted(rows, key=lambda r: order.index(r.change))


def _wrapped(text: str, indent: int, colour: str = "") -> Iterator[tuple[str, str]]:
    space = " " * indent
    more = f"{space}  "
    for line in textwrap.wrap(
        text, 80, initial_indent=space, subsequent_indent=more, break_on_hyphens=False, break_long_words=False
    ):
        yield line, colour


def markdown(found: Comparison) -> Iterator[str]:
    """A comment for a pull request: what is lost first, what is kept folded away."""
    base, candidate = found.base.label, found.candidate.label
    yield f"# {_escaped(candidate)} beside {_escaped(base)}"
    yield ""
    yield total(found)
    told = [r for s in _scenarios(found) for r in _told(found, s)]
    order = list(Change)
    told.sort(key=lambda r: order.index(r.change))
    if told:
        yield ""
        yield f"| | scenario | property | {_escaped(base)} | {_escaped(candidate)} | |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for row in told:
            word = (
                f"**{row.change.value}**" if row.change in (Change.LOST, Change.UNKNOWN) else row.change.value
            )
            trace = f" `{row.trace}`" if row.trace is not None and row.change is Change.LOST else ""
            note = _escaped(", ".join(row.notes) or row.reason or "") + trace
            cells = [
                word,
                row.scenario,
                row.name,
                verdict(row.base),
                verdict(row.candidate),
                note.strip(),
            ]
            yield f"| {' | '.join(cells)} |"
    yield ""
    yield "## Behaviour"
    yield ""
    for behaviour in found.behaviours:
        yield f"- {behaviour.scenario}: {_escaped(relation(behaviour, base, candidate))}"
        for note in behaviour.notes:
            yield f"  - {_escaped(note)}"
        for only, label, other in _alone(behaviour, base, candidate):
            if only is not None:
                yield f"  - {_escaped(f'{label} alone: {ways(only, label, other)}')}"
                if reasons(only):
                    yield f"    ({_escaped('; '.join(reasons(only)))})"
    calm = [r for r in found.rows if _calm(r)]
    if calm:
        yield ""
        yield f"<details><summary>{words.count(len(calm), 'verdict')} kept: they hold on both sides</summary>"
        yield ""
        for scenario in dict.fromkeys(r.scenario for r in calm):
            for said, rows in _by_depth([r for r in calm if r.scenario == scenario]):
                yield f"- {scenario}{said}: {', '.join(r.name for r in rows)}"
        yield ""
        yield "</details>"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def jsonlines(found: Comparison) -> Iterator[str]:
    """One object a line for each property of each scenario, then one for each scenario's behaviour."""
    for row in found.rows:
        yield _line(
            scenario=row.scenario,
            property=row.name,
            change=row.change.value,
            notes=row.notes,
            base=None if row.base is None else row.base.word,
            candidate=None if row.candidate is None else row.candidate.word,
            base_steps=_steps(row.base),
            candidate_steps=_steps(row.candidate),
            engine=row.engine,
            trace=None if row.trace is None else str(row.trace),
            reason=row.reason,
        )
    for behaviour in found.behaviours:
        alone = [o for o in (behaviour.candidate_can, behaviour.base_can) if o is not None]
        yield _line(
            scenario=behaviour.scenario,
            property="behaviour",
            change=behaviour.relation.value,
            notes=[r for o in alone[:1] for r in reasons(o)] + [*behaviour.start, *behaviour.notes],
            base=None if behaviour.base_can is None else behaviour.base_can.step,
            candidate=None if behaviour.candidate_can is None else behaviour.candidate_can.step,
            base_steps=None if behaviour.base_can is None else behaviour.base_can.steps,
            candidate_steps=None if behaviour.candidate_can is None else behaviour.candidate_can.steps,
            engine="explicit",
            trace=next((str(o.path) for o in alone if o.path is not None), None),
            reason=behaviour.why,
        )


def _line(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _steps(found: Verdict | None) -> int | None:
    return len(found.trace) if isinstance(found, Violated) else None
