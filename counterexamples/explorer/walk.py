"""Everything that the page shows of a walk through a system, as plain JSON.

A walk is a trace, or what a person has chosen step by step. ``Teller`` computes one position after the
other and keeps what it has computed, so that one more step of a long walk costs one step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from slotproof.counterexamples.crash import crash_site
from slotproof.counterexamples.evidence import Evidence
from slotproof.counterexamples.explorer.alternatives import Alternatives, Choice
from slotproof.counterexamples.explorer.glossary import glossary, texts_of
from slotproof.counterexamples.explorer.judging import FalsePart, Judgement, Taken, judgements
from slotproof.counterexamples.explorer.lasso import lasso_reasons
from slotproof.counterexamples.explorer.picture import picture
from slotproof.counterexamples.explorer.settings import History, blamed, decisions, settings
from slotproof.counterexamples.origins import origins
from slotproof.counterexamples.story import differences
from slotproof.counterexamples.trace import Step, Trace
from slotproof.counterexamples.verify import action_index, call, choices_of, numbers_of
from slotproof.counterexamples.words import declared, place, sentence, told
from slotproof.model.language.columns import Valuation, decode
from slotproof.model.language.errors import Site
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import DEADLOCK, NO_CRASH, Program, no_crash


@dataclass(frozen=True)
class Walk:
    """A way through a system: ``steps[i]`` leads from ``states[i]`` to ``states[i + 1]``.

    ``crash`` is the cause if the last step kills the modelled program, ``loop`` the state at which it goes
    on after the last one, ``subject`` what is walked (a release).
    """

    program: Program
    choices: tuple[int, ...]
    start: Step | None
    steps: tuple[Step, ...]
    states: tuple[Valuation, ...]
    crash: str | None = None
    loop: int | None = None
    subject: str = ""


@dataclass(frozen=True)
class Finding:
    """What a walk is shown for, as a trace names it; ``kind`` is that of a trace.

    ``known`` says what the reader is told about it from elsewhere, such as an entry of a baseline.
    """

    property: str
    part: str
    kind: str = "violation"
    engine: str = ""
    known: str = ""


def trace_of(walk: Walk, name: str) -> Trace:
    """The walk as a trace that ends in a violation of this property."""
    return Trace.of(
        walk.program,
        walk.choices,
        release=walk.subject or None,
        property=name,
        part="",
        engine="explorer",
        start=walk.start,
        steps=walk.steps,
        states=walk.states,
        crash=walk.crash,
        loop=walk.loop,
    )


def walk_of(trace: Trace, program: Program) -> Walk:
    """The walk of a trace that is one (``verify``)."""
    return Walk(
        program,
        choices_of(trace, program),
        trace.start,
        trace.steps,
        trace.states,
        trace.crash,
        trace.loop,
        trace.release or "",
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A variable that a step changed, or an output that it showed (``old`` is then empty)."""

    path: str
    meaning: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Position:
    """One place of a walk: the step that led there and what it did. At the start there is no step.

    ``sentence`` is what the action says of itself, ``told`` what the system tells of this step.
    """

    call: str
    sentence: str
    told: tuple[str, ...]
    actor: str
    source: str
    place: str
    changes: tuple[Change, ...]
    shown: tuple[Change, ...]
    judgements: tuple[Judgement, ...]
    crash: str

    def false(self, name: str) -> Judgement | None:
        """The judgement of a property that is false here."""
        return next((j for j in self.judgements if j.name == name and j.status == "false"), None)

    def why(self, name: str, first: str) -> list[str]:
        """Why a property is false here; the reasons of the part ``first`` come first."""
        judged = self.false(name)
        if judged is None:
            return []
        parts = sorted(judged.parts, key=lambda part: part.text != first)
        reasons = dict.fromkeys(w for part in parts for w in part.why)
        return [*([judged.note] if judged.note else []), *reasons]


@dataclass
class Teller:
    """Tells walks through one program under one choice vector; ``history`` is that of its decisions."""

    program: Program
    choices: tuple[int, ...]
    history: History | None = None
    interpreter: Interpreter = field(init=False)
    _alternatives: Alternatives = field(init=False)
    _meanings: dict[str, str] = field(init=False)
    _crashing: dict[str, str] = field(default_factory=dict)
    _positions: dict[Any, Position] = field(default_factory=dict)
    _choices: dict[Valuation, tuple[Choice, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.interpreter = Interpreter(self.program, self.choices)
        self._alternatives = Alternatives(self.program, self.choices)
        self._meanings = {
            c.name.removesuffix(".len"): c.meaning.removeprefix("length of: ") for c in self.program.columns
        }

    def position(
        self, before: Valuation | None, step: Step | None, after: Valuation, crash: str | None = None
    ) -> Position:
        """The position ``after`` a step; ``before`` is ``None`` at the start of a walk."""
        key = (before, step and call(step), after, crash)
        if key not in self._positions:
            self._positions[key] = self._position(before, step, after, crash)
        return self._positions[key]

    def choices_in(self, state: Valuation) -> tuple[Choice, ...]:
        """What can happen in a state, and what blocks the rest."""
        state = self.interpreter.stored(state)
        if state not in self._choices:
            self._choices[state] = tuple(self._alternatives.of(state))
        return self._choices[state]

    def _position(
        self, before: Valuation | None, step: Step | None, after: Valuation, crash: str | None
    ) -> Position:
        taken = None
        if before is not None and step is not None:
            index = action_index(self.program, step.action)
            taken = Taken(index, numbers_of(self.program.actions[index], step))
        judged = judgements(self.program, self.interpreter, self.choices, before, taken, after, crash)
        if crash is not None and before is not None and taken is not None:
            site = crash_site(self.interpreter, before, taken.action, taken.numbers)
            if site is not None:
                part = FalsePart(site.condition, site.place, (site.why,) if site.why else (), ())
                judged[-1] = replace(judged[-1], parts=(part,))
                self._crashing[site.function] = site.meaning
        changes, shown = self._changes(self.program.start if before is None else before, after)
        if step is None:
            words = "Every variable has its declared initial value."
            return Position("", words, (), "", "", "", changes, shown, tuple(judged), "")
        action = declared(self.program, step.action)
        where = ""
        if action is not None:
            code = action.function.__code__
            where = place(Site(code.co_filename, code.co_firstlineno))
        return Position(
            call(step),
            sentence(action, step),
            tuple(told(self.interpreter, before, step, after, crash)) if before is not None else (),
            action.actor if action else "",
            action.source if action else "",
            where,
            changes,
            shown,
            tuple(judged),
            crash or "",
        )

    def _changes(self, before: Valuation, after: Valuation) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        type_ = self.program.state
        old, new, fresh = (decode(type_, v) for v in (before, after, self.program.start))
        changed = (Change(p, self.meaning(p), a, b) for p, a, b in differences(type_, old, new))
        shows = (
            Change(p, self.meaning(p), "", b) for p, _, b in differences(type_, fresh, new, outputs=True)
        )
        return tuple(changed), tuple(shows)

    def meaning(self, path: str) -> str:
        """What is declared of a variable; ``ranks[rank0].copies`` is in the column ``ranks[].copies``."""
        name, inside = "", 0
        for letter in path:
            inside += letter == "["
            name += letter if not inside or letter in "[]" else ""
            inside -= letter == "]"
        return self._meanings.get(name, "")

    # -- the whole ---------------------------------------------------------------------------------------

    def tell(self, walk: Walk, finding: Finding | None = None, *, title: str = "") -> dict[str, Any]:
        """The page's data. ``finding`` is what the walk is shown for, else the first that goes wrong."""
        positions = [self.position(None, walk.start, walk.states[0])]
        for i, step in enumerate(walk.steps):
            crash = walk.crash if i + 1 == len(walk.steps) else None
            positions.append(self.position(walk.states[i], step, walk.states[i + 1], crash))
        following = [self.choices_in(state) for state in walk.states]
        if walk.crash is not None:
            following[-1] = ()
        found = self._finding(walk, positions, following, finding)
        bands = [asdict(band) for band in picture(self.program, self.interpreter, walk.states)]
        said = [walk.program.system.meaning, found, bands, [(p.sentence, p.told) for p in positions]]
        return {
            "title": title or walk.program.name,
            "subject": walk.subject,
            "meaning": walk.program.system.meaning,
            "finding": found,
            "loop": walk.loop,
            "steps": [asdict(p) for p in positions],
            "following": [[asdict(c) for c in choices] for choices in following],
            "actors": list(dict.fromkeys(a for a in self._actors() if a)),
            "bands": bands,
            "glossary": glossary(self.program.system.words, texts_of(said)),
            "properties": self._properties(),
            "settings": [asdict(s) for s in settings(self.program)],
            "decisions": [asdict(d) for d in decisions(self.program, self.choices, self.history)],
            "newest": self.history.newest if self.history is not None else "",
            "never": list(walk.program.dropped),
        }

    def _actors(self) -> list[str]:
        known = {a.name for a in self.program.actions}
        return [a.actor for a in self.program.system.actions if a.name in known]

    def _properties(self) -> dict[str, dict[str, str]]:
        found = {}
        for p in self.program.system.properties:
            code = p.function.__code__
            where = place(Site(code.co_filename, code.co_firstlineno))
            found[p.name] = {"meaning": p.meaning, "place": where}
        found["no-crash"] = {
            "meaning": "No assertion, look-up or size check of the program fails.",
            "place": "",
        }
        stuck = "Something can happen in every state that is not final."
        found[DEADLOCK] = {"meaning": stuck, "place": ""}
        return found

    def _words(self, name: str, why: Sequence[str]) -> list[tuple[str, str]]:
        """What the helpers of a property mean that its reasons name, by their docstrings."""
        if name == "no-crash":
            return [(name, meaning) for name, meaning in self._crashing.items() if meaning]
        prop = next((p for p in self.program.system.properties if p.name == name), None)
        if prop is None:
            return []
        scope = prop.function.__globals__
        named = dict.fromkeys(word for text in why for word in re.findall(r"(\w+)\(", text))
        helpers = ((word, getattr(scope.get(word), "__doc__", None)) for word in named)
        return [
            (word, " ".join(doc.split())) for word, doc in helpers if isinstance(doc, str) and word != "len"
        ]

    def _finding(
        self,
        walk: Walk,
        positions: Sequence[Position],
        following: Sequence[Sequence[Choice]],
        finding: Finding | None,
    ) -> dict[str, Any] | None:
        """What went wrong, as the top of the page says it."""
        finding = finding or self._first_wrong(walk, positions, following)
        if finding is None:
            return None
        name = finding.property
        short = "no-crash" if name.startswith(NO_CRASH) else name
        at = len(positions) - 1
        why: list[str] = []
        fair: list[str] = []
        if finding.kind == "violation" and walk.loop is None and name != DEADLOCK:
            at = next((i for i, p in enumerate(positions) if p.false(short)), at)
            why = positions[at].why(short, finding.part)
        elif finding.kind == "violation" and walk.loop is not None:
            why, fair = lasso_reasons(trace_of(walk, name), self.program, self.interpreter)
        elif name == DEADLOCK:
            why = [f"{c.action}: {b.text} is false" for c in following[-1] for b in c.blocked[:1]]
        elif finding.kind == "witness":
            why = self._witnessed(name, walk.states[-1])
        traced = finding.kind == "violation" and walk.loop is None and at > 0
        died = positions[at].crash if finding.kind == "violation" and short != "no-crash" else ""
        also = {
            no_crash(p.crash) if j.name == "no-crash" else j.name: i
            for i, p in reversed(list(enumerate(positions)))
            for j in p.judgements
            if j.status == "false" and j.name != short and not (died and j.name == "no-crash")
        }
        return {
            "property": name,
            "kind": finding.kind,
            "headline": _headline(finding, died),
            "step": at,
            "must": self._properties().get(short, {}).get("meaning", ""),
            "part": finding.part,
            "why": why,
            "died": positions[at].why("no-crash", "") if died else [],
            "fair": fair,
            "words": self._words(short, why),
            "rests": self._rests(walk, at, name) if traced else [],
            "blamed": self._blamed(walk, at, name) if traced else [],
            "also": list(also.items()),
            "engine": finding.engine,
            "known": finding.known,
        }

    def _rests(self, walk: Walk, at: int, name: str) -> list[dict[str, Any]]:
        """What makes the property false, as it stood before step ``at``, with the step that left it so."""
        step = walk.steps[at - 1]
        index = action_index(self.program, step.action)
        numbers = numbers_of(self.program.actions[index], step)
        found = origins(self.program, self.choices, walk.states[: at + 1], index, numbers, name)
        return [{**asdict(o), "meaning": self.meaning(o.path)} for o in found]

    def _blamed(self, walk: Walk, at: int, name: str) -> list[dict[str, Any]]:
        """The decisions without which the steps up to ``at`` would not violate the property."""
        steps, states = walk.steps[:at], walk.states[: at + 1]
        return [asdict(b) for b in blamed(self.program, self.choices, states, steps, name, self.history)]

    def _witnessed(self, name: str, state: Valuation) -> list[str]:
        witness = next((w for w in self.program.witnesses if w.name == name), None)
        if witness is None:
            return []
        return list(Evidence(self.program, self.choices, {"state": state}).witness(witness).facts[:8])

    def _first_wrong(
        self, walk: Walk, positions: Sequence[Position], following: Sequence[Sequence[Choice]]
    ) -> Finding | None:
        for position in positions:
            for judged in position.judgements:
                if judged.status == "false":
                    name = no_crash(position.crash) if judged.name == "no-crash" else judged.name
                    return Finding(name, judged.parts[0].text if judged.parts else "")
        stuck = walk.crash is None and not any(c.enabled for c in following[-1])
        if stuck and not self.interpreter.final(walk.states[-1]):
            return Finding(DEADLOCK, "")
        return None


def _headline(finding: Finding, died: str) -> str:
    if finding.kind == "witness":
        return f"{finding.part or finding.property} is reached"
    if finding.kind == "difference":
        return f"a difference: {finding.part}" if finding.part else "a difference"
    and_dies = f", and the program dies in the same step: {died}" if died else ""
    return f"{finding.property} is violated{and_dies}"
