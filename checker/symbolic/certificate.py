"""A proof as one SMT-LIB file that whoever does not trust this tool can give to a solver of their own.

The file states the relation of one system, the invariant of each stage, and questions. The proof is
right if the answer to every question is ``unsat``:

- of an invariant: it is not false in an initial state, no step leads out of it, and nothing wrong is in it,
  asked of each action and of each lemma that it consists of; a *hint* is asked about before it is taken for
  granted in the questions after it about the same action;
- of an induction of depth k: nothing is wrong within k steps from an initial state, and k different
  states in which nothing is wrong do not lead to one in which something is.

Each speaks of inputs alone that stand for a step: what the terms of the relation say of others means nothing.

What the file says of the system is not believed: ``check`` writes it anew from the system's source, takes
the invariants alone from the file, and compares every byte.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotproof.checker.symbolic.booleans import Choice, Conjunction, Literal, Variable
from slotproof.checker.symbolic.proof import Induction, Invariant, Proof, Stage
from slotproof.checker.symbolic.relation import Relation, relation
from slotproof.checker.symbolic.safety import Safety, of_relation
from slotproof.counterexamples.encoding import setting
from slotproof.model.language.program import Program

VERSION = 5
HEADER = "(set-info :slotproof-certificate "
INVARIANT = "; invariant of stage "
HINT = "; hint of stage "
END = "; end"
SEAL = "; sha256 "
ALL_OF = "(and\n"
MARK = re.compile(rf"(?:{INVARIANT}|{HINT})(?P<stage>\d{{1,9}})(?: in action (?P<action>\d{{1,9}}))?")
COMMAND = re.compile(r"\([ \n]*(?:assert|check-|declare-|define-|echo|exit|get-|pop|push|reset|set-)")
"""What no term begins with, and what means something to whoever reads a certificate line by line."""
TOKENS = re.compile(r"(?:[ \n]++|[()]|[\w~!@$%^&*+=<>.?/-]++|\|[^|\\]*+\|)*+", re.A)
"""What a term is made of: what all solvers take for the same. Comments and strings are not among it, nor is
what begins one in some solver (``#|`` does in Z3) or ends a quoted name (``\\|`` may)."""
QUOTED = re.compile(r"\|[^|]*\|")


class Refused(Exception):
    """A certificate that proves nothing here; the message says why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a certificate says that it proves, and of what."""

    subject: Mapping[str, Any]
    system: str
    digest: str
    choices: tuple[str, ...]
    parameters: Mapping[str, str]
    stages: tuple[Mapping[str, Any], ...]

    @property
    def property(self) -> str:
        """The property that is proven; the stages before it are its lemmas."""
        return str(self.stages[-1]["properties"][-1])


def written(program: Program, choices: Sequence[int], proof: Proof, subject: Mapping[str, Any]) -> str:
    """The certificate of a proof; ``subject`` is kept, so that a reader can find the system again."""
    body = "\n".join(_lines(relation(program, choices), proof, subject)) + "\n"
    return f"{body}{SEAL}{hashlib.sha256(body.encode()).hexdigest()}\n"


def claim(text: str) -> Claim:
    """What a certificate is about; ``Refused`` if it is none, or not as it was written."""
    body, _, seal = text.rpartition(SEAL)
    if not body or HEADER not in body[:400]:
        raise Refused("is no certificate of slotproof")
    if seal != f"{hashlib.sha256(body.encode()).hexdigest()}\n":
        raise Refused("was changed after it was written: its check sum is another")
    try:
        line = next(x for x in body.splitlines() if x.startswith(HEADER))
        head = json.loads(line.removeprefix(HEADER).removesuffix(")").strip('"').replace('""', '"'))
        if head["version"] != VERSION:
            raise Refused(f"is of version {head['version']}; this program reads version {VERSION}")
        stages = tuple(head["stages"])
        if not stages or not all(map(_is_stage, stages)):
            raise ValueError
        return Claim(
            head["subject"],
            head["system"],
            head["digest"],
            tuple(head["choices"]),
            head["parameters"],
            stages,
        )
    except (StopIteration, ValueError, KeyError, TypeError, RecursionError):
        raise Refused("has a head that cannot be read") from None


def _is_stage(told: Any) -> bool:
    """Whether something says by what properties are shown. An induction has no depth below 0: it would ask
    nothing."""
    depth, names = told["depth"], told["properties"]
    listed = isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
    return listed and type(depth) is int and depth >= 0 and told["by"] in ("induction", "invariant")


def proof_of(text: str) -> Proof:
    """The stages of a certificate, as far as it has to be believed: their kinds, depths and formulas."""
    formulas: dict[int, str] = {}
    hints: dict[int, dict[int, list[str]]] = {}
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if line.startswith((INVARIANT, HINT)):
            found = MARK.fullmatch(line)
            end = next((i for i in range(at, len(lines)) if lines[i] == END), None)
            if end is None or found is None:
                raise Refused("has an invariant or a hint without an end")
            term = "\n".join(lines[at + 2 : end - 1])
            if found["action"] is None:
                formulas[int(found["stage"])] = term
            elif is_one_term(term):
                hints.setdefault(int(found["stage"]), {}).setdefault(int(found["action"]), []).append(term)
            else:
                raise Refused("has a hint that is no term")
    stages: list[Stage] = []
    for place, stage in enumerate(claim(text).stages):
        names = tuple(stage["properties"])
        if stage["by"] == "induction":
            stages.append(Induction(names, int(stage["depth"])))
        elif place in formulas and is_one_term(formulas[place]):
            given = {action: tuple(terms) for action, terms in hints.get(place, {}).items()}
            stages.append(Invariant(names, formulas[place], int(stage["depth"]), hints=given))
        else:
            raise Refused(f"has no invariant for {', '.join(names)}")
    return tuple(stages)


def belongs(text: str, program: Program, choices: Sequence[int]) -> None:
    """``Refused`` for a certificate that says that it is of another system."""
    stated = claim(text)
    if stated.digest != program.digest or stated.choices != _choices(program, choices):
        raise Refused(
            f"is of another system: {stated.system} with digest {stated.digest[:12]},"
            f" not {program.name} with {program.digest[:12]}, or of other decisions"
        )


def questions(made: Relation, proof: Proof, text: str, look: Callable[[], None] = lambda: None) -> int:
    """How many questions a certificate of this proof asks; ``Refused`` if it is not one of this system.

    Its text is compared while it is written anew, which ends where they differ: what a certificate says of
    depths must not cost more than what it has to show for them. ``look`` is called now and then and ends it
    by raising.
    """
    at, count = 0, 0
    try:
        for line in _lines(made, proof, claim(text).subject):
            look()
            if not text.startswith(f"{line}\n", at):
                break
            at += len(line) + 1
            count += line == "(check-sat)"
    except KeyError as error:
        raise Refused(f"is of a property that this system does not have: {error}") from None
    if at != text.rindex(SEAL):
        raise Refused("does not state the relation or the questions of this system")
    return count


def is_one_term(text: str) -> bool:
    """Whether a text is a single term, so that nothing but a term can stand in its place."""
    if not TOKENS.fullmatch(text) or not all(map(str.isprintable, QUOTED.findall(text))):
        return False
    bare = QUOTED.sub(" | ", text).strip(" \n")
    if not bare.startswith("("):
        return bool(bare) and not any(x in bare for x in " \n()")
    codes = np.frombuffer(bare.encode(), np.uint8)
    depth = np.cumsum((codes == ord("(")).astype(np.int64) - (codes == ord(")")))
    return not COMMAND.search(bare) and depth[-1] == 0 and bool(np.all(depth[:-1] > 0))


def parts_of(formula: str) -> list[str]:
    """The parts of an invariant that is written as all of several, one after the other; or the whole."""
    if not formula.startswith(ALL_OF) or not is_one_term(formula):
        return [formula]
    parts: list[str] = []
    depth = 0
    for line in formula.removeprefix(ALL_OF).removesuffix(")").splitlines():
        if depth == 0:
            parts.append(line)
        else:
            parts[-1] += f"\n{line}"
        bare = QUOTED.sub("", line)
        depth += bare.count("(") - bare.count(")")
    return parts


def _choices(program: Program, choices: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{p.name}={p.alternatives[c]}" for p, c in zip(program.decisions, choices, strict=True))


def _lines(made: Relation, proof: Proof, subject: Mapping[str, Any]) -> Iterator[str]:
    program, choices = made.program, made.choices
    head = {
        "version": VERSION,
        "subject": dict(subject),
        "system": program.name,
        "digest": program.digest,
        "choices": _choices(program, choices),
        "parameters": {name: setting(value) for name, value in program.parameters.items()},
        "stages": [
            {
                "properties": s.properties,
                "by": "induction" if isinstance(s, Induction) else "invariant",
                "depth": s.depth,
            }
            for s in proof
        ],
    }
    told = json.dumps(head, sort_keys=True).replace('"', '""')
    yield f'{HEADER}"{told}")'
    yield "(set-logic QF_UF)"
    yield "; The proof is right if every answer is unsat."
    asked = [of_relation(made, s.properties) for s in proof]
    variables = asked[0].variables
    parameters = " ".join(f"({quoted(made.booleans.name(x))} Bool)" for x in variables)
    for number, stage in enumerate(proof):
        if isinstance(stage, Invariant):
            yield f"{INVARIANT}{number}"
            yield f"(define-fun invariant{number} ({parameters}) Bool"
            yield from stage.formula.split("\n")
            yield ")"
            yield END
            for place, part in enumerate(parts_of(stage.formula)):
                yield f"(define-fun invariant{number}.{place} ({parameters}) Bool"
                yield part
                yield ")"
    writer = _Terms(asked, any(isinstance(s, Invariant) and s.hints for s in proof))
    yield f"(define-fun valid ({parameters}) Bool"
    yield writer.valid()
    yield ")"
    for time in range(max([s.depth for s in proof if isinstance(s, Induction)], default=0) + 1):
        yield from writer.at(time)
    known: list[Literal] = []
    for number, (stage, question) in enumerate(zip(proof, asked, strict=True)):
        yield f"; {', '.join(stage.properties)}"
        if isinstance(stage, Invariant):
            yield from writer.invariant(number, stage, question, known)
        else:
            yield from writer.induction(question, stage.depth, known)
        known.append(question.wrong ^ 1)


class _Terms:
    """Names the terms of the questions at each step of a run, and asks about them."""

    def __init__(self, asked: Sequence[Safety], whole: bool) -> None:
        """``whole``: all terms of the relation get a name, for hints may speak of them."""
        self._booleans = asked[0].relation.booleans
        self._first = asked[0]
        q = asked[0]
        roots = [
            q.valid,
            q.possible,
            q.start.possible,
            q.start.error,
            *q.start.values,
            *q.after,
            *q.variables,
        ]
        made = q.relation
        self._step, self._begun = made.valid(made.moves), made.valid(made.initial_moves)
        chosen = [self._step, self._begun, *(m.chosen for m in made.moves)]
        spoken = range(0, 2 * made.size, 2) if whole else ()
        self._places = self._booleans.reachable([*roots, *chosen, *(a.wrong for a in asked), *spoken])

    def at(self, time: int) -> Iterator[str]:
        """The variables and terms of the step from state number ``time``."""
        for place in self._places[1:]:
            match self._booleans.node(2 * place):
                case Variable(name, _):
                    yield f"(declare-const {quoted(f'{name}@{time}')} Bool)"
                case Conjunction(parts):
                    yield self._defined(place, time, f"(and {self._all(parts, time)})")
                case Choice(condition, then, otherwise):
                    parts = (condition, then, otherwise)
                    yield self._defined(place, time, f"(ite {self._all(parts, time)})")

    def _defined(self, place: int, time: int, term: str) -> str:
        return f"(define-fun t{place}@{time} () Bool {term})"

    def _term(self, literal: Literal, time: int) -> str:
        if literal < 2:
            return "false" if literal else "true"
        node = self._booleans.node(literal)
        name = quoted(f"{node.name}@{time}") if isinstance(node, Variable) else f"t{literal >> 1}@{time}"
        return f"(not {name})" if literal & 1 else name

    def _all(self, literals: Sequence[Literal], time: int) -> str:
        return " ".join(self._term(x, time) for x in literals)

    def valid(self) -> str:
        """That variables stand for values: the term itself, over the variables of any state."""
        return self._nested(self._first.valid)

    def _nested(self, literal: Literal) -> str:
        node = self._booleans.node(literal)
        match node:
            case _ if literal < 2:
                return "false" if literal else "true"
            case Variable(name, _):
                term = quoted(name)
            case Conjunction(parts):
                term = f"(and {' '.join(map(self._nested, parts))})"
            case Choice(condition, then, otherwise):
                term = f"(ite {' '.join(map(self._nested, (condition, then, otherwise)))})"
        return f"(not {term})" if literal & 1 else term

    def _applied(self, name: str, values: Sequence[Literal], time: int) -> str:
        return f"({name} {self._all(values, time)})" if values else name

    def invariant(self, number: int, stage: Invariant, q: Safety, known: Sequence[Literal]) -> Iterator[str]:
        """The questions about an invariant and its parts. It speaks of states alone whose variables stand
        for values; that there are no others is part of it."""
        parts = len(parts_of(stage.formula))
        names = [f"invariant{number}.{i}" for i in range(parts)] + ["valid"]

        def inside(values: Sequence[Literal]) -> str:
            return f"(and {' '.join(self._applied(name, values, 0) for name in names)})"

        here = [inside(q.variables), *(self._term(x, 0) for x in known)]
        possible = self._term(q.possible, 0)
        begun, wrong = self._term(self._begun, 0), self._term(q.wrong, 0)
        yield from _ask("an initial action fails", [begun, self._term(q.start.error, 0)])
        start = [begun, self._term(q.start.possible, 0)]
        yield from _ask("false in an initial state", [*start, f"(not {inside(q.start.values)})"])
        for name in names:
            yield f"(define-fun after.{number}.{name} () Bool {self._applied(name, q.after, 0)})"
        cases = [(m.action.name, [self._term(m.chosen, 0)]) for m in q.relation.moves]
        for place, (action, case) in enumerate(cases or [("no action", [])]):
            yield f"; with {action}"
            yield from _begin([*here, *case, self._term(self._step, 0)])
            for count, hint in enumerate(stage.hints.get(place, ())):
                name = f"hint.{number}.{place}.{count}"
                yield f"{HINT}{number} in action {place}"
                yield f"(define-fun {name} () Bool"
                yield from hint.split("\n")
                yield ")"
                yield END
                yield from _ask("false on the way", [f"(not {name})"])
                yield f"(assert {name})"
            yield from _ask("something wrong is inside", [wrong])
            yield f"(assert {possible})"
            for name in names:
                yield from _ask("a step leads out", [f"(not after.{number}.{name})"])
            yield "(pop 1)"

    def induction(self, q: Safety, depth: int, known: Sequence[Literal]) -> Iterator[str]:
        """The questions about an induction: one for each length from the start, and one from anywhere."""
        states = [[self._term(x, time) for x in q.variables] for time in range(depth + 1)]
        begun = self._term(self._begun, 0)
        start = [begun, self._term(q.start.possible, 0)]
        start += map(_same, states[0], [self._term(x, 0) for x in q.start.values])
        chain: list[str] = []
        yield from _ask("an initial action fails", [begun, self._term(q.start.error, 0)])
        for time in range(depth + 1):
            here = [self._applied("valid", q.variables, time), self._term(self._step, time)]
            here += [self._term(x, time) for x in known]
            wrong = self._term(q.wrong, time)
            if time < depth:
                yield from _ask(f"wrong after {time} steps", [*start, *chain, *here, wrong])
                after = [self._term(x, time) for x in q.after]
                chain += [*here, f"(not {wrong})", self._term(q.possible, time)]
                chain += map(_same, states[time + 1], after)
                continue
            pairs = [(states[i], states[j]) for j in range(depth + 1) for i in range(j)]
            differ = [f"(or false {' '.join(map(_differs, x, y))})" for x, y in pairs]
            yield from _ask("wrong after states that are not", [*chain, *differ, *here, wrong])


def _same(left: str, right: str) -> str:
    return f"(= {left} {right})"


def _differs(left: str, right: str) -> str:
    return f"(xor {left} {right})"


def _ask(question: str, assertions: Sequence[str]) -> Iterator[str]:
    yield f"; {question}?"
    yield from _begin(assertions)
    yield "(check-sat)"
    yield "(pop 1)"


def _begin(assertions: Sequence[str]) -> Iterator[str]:
    yield "(push 1)"
    yield from (f"(assert {x})" for x in assertions)


def quoted(name: str) -> str:
    """A name as a symbol of SMT-LIB."""
    return f"|{name}|"
