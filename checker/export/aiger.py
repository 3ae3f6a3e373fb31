"""A system under one release's choices as a sequential circuit in AIGER, for model checkers of hardware.

    circuit = aiger(program, choices, ["no-slot-leak", "deadlock"])
    Path("system.aig").write_bytes(circuit.binary())

The latches are the state, coded in binary; the inputs choose the action and its arguments. All of it is
made of the terms of the relation that bounded search, induction and PDR work on.

Where the inputs choose a step that is not possible the state stays as it is, and so it does where a step
crashes or leaves the model. The circuit's relation is total, then, and needs no constraint that could hide a
state without successors: such a state is asked about like every other. An idle step leads to no new
state and makes no shortest trace longer. What a step violates is remembered by a latch, so that a violation
after n steps is seen in frame n, the first being frame 0; where initial actions choose the initial state,
frame 0 does that, and all frames are one more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from slotproof.checker.export.circuit import FALSE as NEVER
from slotproof.checker.export.circuit import TRUE as ALWAYS
from slotproof.checker.export.circuit import Bad, Graph, Latch
from slotproof.checker.export.errors import ExportError
from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans, Choice, Conjunction, Literal, Variable
from slotproof.checker.symbolic.execution import column_cells
from slotproof.checker.symbolic.relation import Bad as Wrong
from slotproof.checker.symbolic.relation import Move, relation
from slotproof.checker.symbolic.solving import satisfiable
from slotproof.counterexamples.encoding import setting
from slotproof.model.language.columns import Column
from slotproof.model.language.program import Program
from slotproof.model.language.types import bits

MODEL_ERROR = "model-error"
"""The bad literal of runs that leave the model, where there can be any."""

BEGUN = "(begun)"
"""The latch that says that an initial action has chosen the initial state; no cell has such a name."""


@dataclass(frozen=True, slots=True)
class Circuit:
    """A circuit with what each latch becomes, what must not become true, and what a reader has to know."""

    graph: Graph
    following: tuple[int, ...]
    bads: tuple[Bad, ...]
    comment: tuple[str, ...]

    def ascii(self) -> str:
        """The file as text, ``.aag``."""
        return self.graph.ascii(self.following, self.bads, self.comment)

    def binary(self) -> bytes:
        """The file in the binary format, ``.aig``: the only one that ABC reads."""
        return self.graph.binary(self.following, self.bads, self.comment)


def aiger(program: Program, choices: Sequence[int], properties: Sequence[str]) -> Circuit:
    """The circuit with one bad literal for each of these properties, in their order.

    There is one more, ``model-error``, where a run might leave the model: the others rest on its being false.
    ``KeyError`` for a property that the program does not have; ``ExportError`` where no run begins, so that
    every property of the circuit would hold.
    """
    return _Writer(program, choices).circuit(tuple(dict.fromkeys(properties)))


@dataclass(frozen=True, slots=True)
class _Code:
    """The bits that stand for some variables of the relation.

    Of ``one_of`` several variables exactly one is true: the bits are the number of that one, and numbers
    that are left over stand for the last. So no bits are without meaning. Else there is a bit for each.
    """

    variables: tuple[Literal, ...]
    names: tuple[str, ...]
    one_of: bool

    def variable(self, graph: Graph, bit: Sequence[int]) -> Iterator[int]:
        """What each variable is, for these bits."""
        if not self.one_of:
            yield from bit
            return
        single = [
            graph.all([x if number >> i & 1 else x ^ 1 for i, x in enumerate(bit)])
            for number in range(len(self.variables) - 1)
        ]
        yield from single
        yield graph.any(single) ^ 1

    def bits(self, graph: Graph, values: Sequence[int]) -> list[int]:
        """The bits for these values of the variables."""
        if not self.one_of:
            return list(values)
        return [
            graph.any([x for number, x in enumerate(values) if number >> i & 1])
            for i in range(len(self.names))
        ]


@dataclass(frozen=True, slots=True)
class _Step:
    """A step, or the choice of the initial state: when it is possible, when it leaves the model, and what
    the variables are after it."""

    possible: Literal
    strays: Literal
    after: tuple[tuple[Literal, ...], ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A property: what violates it where nothing has left the model. ``over`` is of a ``Bad``."""

    name: str
    over: str
    wrong: Literal


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked. ``strays`` says that a step leaves the model, ``lost`` that the question about a state
    does; ``terms`` are all nodes that the answers rest on, operands first."""

    asked: tuple[_Asked, ...]
    strays: Literal
    lost: Literal
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Wires:
    """The literals of a circuit: of any term of the relation, of the state's bits, of what is remembered."""

    of: Callable[[Literal], int]
    begun: int
    state: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]


class _Writer:
    def __init__(self, program: Program, choices: Sequence[int]) -> None:
        self._program = program
        self._choices = choices
        r = self._relation = relation(program, choices)
        b = self._booleans = r.booleans
        self._groups = {x: group for group in b.groups() for x in group}
        stored = [i for i, c in enumerate(r.state) if r.stored[i] and c.variables]
        names = list(_names(program.columns))
        self._state = [self._code(names[i], r.state[i].variables) for i in stored]
        taken, chosen = self._arguments(r.moves), self._arguments(r.initial_moves)
        self._clean = b.conj(taken, r.enabled, r.error ^ 1)
        self._step = _Step(
            b.conj(self._clean, r.crash ^ 1),
            b.conj(taken, r.error),
            tuple(r.state[i].terms(b, r.after[i]) for i in stored),
        )
        self._start = _Step(
            b.conj(chosen, r.init_enabled, r.init_error ^ 1, r.init_crash ^ 1),
            b.conj(chosen, r.init_error),
            tuple(r.state[i].terms(b, r.init_state[i]) for i in stored),
        )
        valid = r.valid(r.initial_moves)
        if not satisfiable(b, [b.conj(valid, x) for x in (self._start.possible, self._start.strays)]):
            raise ExportError("there is no initial state, so that whatever is asked of it would hold")

    # What is coded how

    def _code(self, name: str, variables: tuple[Literal, ...]) -> _Code:
        one_of = len(variables) > 1 and variables[0] in self._groups
        count = bits(len(variables)) if one_of else len(variables)
        names = (name,) if count == 1 else tuple(f"{name} bit {i}" for i in range(count))
        return _Code(variables, names, one_of)

    def _arguments(self, moves: Sequence[Move]) -> Literal:
        """That the inputs stand for arguments; where exactly one of some has to be true, the code says so."""
        cells = {a.variables: a for m in moves for a in m.arguments}
        return self._booleans.all(
            [a.valid(self._booleans) for v, a in cells.items() if v and v[0] not in self._groups]
        )

    def _inputs(self, used: Iterable[int]) -> Iterator[_Code]:
        """The inputs, each named once, of those variables that are used."""
        r = self._relation
        places = set(used)
        for prefix, moves in (("initial ", r.initial_moves), ("", r.moves)):
            chosen = tuple(m.chosen for m in moves) if len(moves) > 1 else ()
            arguments = dict.fromkeys(a.variables for m in moves for a in m.arguments)
            named = {f"{prefix}argument {i}": v for i, v in enumerate(arguments)}
            for name, variables in {f"{prefix}action": chosen, **named}.items():
                if any(x >> 1 in places for x in variables):
                    yield self._code(name, variables)

    # The circuit

    def circuit(self, properties: Sequence[str]) -> Circuit:
        """The circuit that asks about these."""
        question = self._question(properties)
        inputs = list(self._inputs(question.terms))
        can_stray = (question.strays, question.lost, self._start.strays) != (FALSE, FALSE, FALSE)
        remembered = [f"(violated {a.name})" for a in question.asked if a.over == "step"]
        memory = [Latch(name) for name in (*remembered, *["(stray)"] * can_stray)]
        graph = Graph([name for code in inputs for name in code.names], [*self._latches(), *memory])
        wires = self._wires(graph, inputs, question.terms)
        following = self._following(graph, wires)
        bads: list[Bad] = []
        memories = iter(wires.memory)
        for a in question.asked:
            now = graph.both(wires.begun, wires.of(a.wrong))
            if a.over == "step":
                seen = next(memories)
                following.append(graph.any([seen, now]))
                now = seen
            bads.append(Bad(a.name, now))
        if can_stray:
            strayed = next(memories)
            strays = graph.choose(wires.begun, wires.of(question.strays), wires.of(self._start.strays))
            following.append(graph.any([strayed, strays]))
            lost = graph.both(wires.begun, wires.of(question.lost))
            bads.append(Bad(MODEL_ERROR, graph.any([strayed, lost])))
        return Circuit(graph, tuple(following), tuple(bads), tuple(self._comment(inputs)))

    def _question(self, properties: Sequence[str]) -> _Question:
        b, start, step = self._booleans, self._start, self._step
        bads = {name: self._relation.bads(name, before=True) for name in properties}
        asked = tuple(_asked(b, name, found, self._clean) for name, found in bads.items())
        errors = [(bad.over, bad.error) for found in bads.values() for bad in found]
        lost = b.any([x for over, x in errors if over == "state"])
        in_step = b.any([x for over, x in errors if over == "step"])
        strays = b.disj(step.strays, b.conj(self._clean, in_step))
        of_steps = [
            x for s in (start, step) for x in (s.possible, s.strays, *(t for c in s.after for t in c))
        ]
        terms = b.reachable([*of_steps, strays, lost, *(a.wrong for a in asked)])
        return _Question(asked, strays, lost, tuple(terms))

    def _latches(self) -> Iterator[Latch]:
        """The state; where no initial action chooses it, with its values at the start."""
        if self._program.initial:
            yield Latch(BEGUN)
        for code, terms in zip(self._state, self._start.after, strict=True):
            start: Sequence[int] = [NEVER] * len(code.names)
            if not self._program.initial:
                start = code.bits(Graph([], []), [ALWAYS if t == TRUE else NEVER for t in terms])
            yield from (Latch(n, x == ALWAYS) for n, x in zip(code.names, start, strict=True))

    def _wires(self, graph: Graph, inputs: Sequence[_Code], terms: Sequence[int]) -> _Wires:
        values: dict[Literal, int] = {}
        bit = map(graph.input, range(len(graph.inputs)))
        for code in inputs:
            values.update(_read(graph, code, list(islice(bit, len(code.names)))))
        latch = map(graph.latch, range(len(graph.latches)))
        begun = next(latch) if self._program.initial else ALWAYS
        state = tuple(tuple(islice(latch, len(code.names))) for code in self._state)
        for code, held in zip(self._state, state, strict=True):
            values.update(_read(graph, code, held))
        return _Wires(_translation(self._booleans, graph, terms, values), begun, state, tuple(latch))

    def _following(self, graph: Graph, wires: _Wires) -> list[int]:
        """What the latches of the state are after a frame."""
        step, start, of = self._step, self._start, wires.of
        opens = of(start.possible)
        following = [graph.any([wires.begun, opens])] if self._program.initial else []
        for code, held, after, first in zip(self._state, wires.state, step.after, start.after, strict=True):
            moved = code.bits(graph, [of(x) for x in after])
            opened = code.bits(graph, [of(x) for x in first]) if self._program.initial else held
            for old, new, initial in zip(held, moved, opened, strict=True):
                stepped = graph.choose(of(step.possible), new, old)
                following.append(graph.choose(wires.begun, stepped, graph.choose(opens, initial, old)))
        return following

    # What a reader has to know

    def _comment(self, inputs: Sequence[_Code]) -> Iterator[str]:
        program = self._program
        yield f"{program.name}, written by slotproof"
        for name, value in program.parameters.items():
            yield f"  {name} = {setting(value)}"
        for point, choice in zip(program.decisions, self._choices, strict=True):
            yield f"  {point.name}: {point.alternatives[choice]}"
        yield "A frame is a step. One that the inputs make impossible leaves the state as it is, and so does"
        yield "one that crashes: each state has a next one, and 'deadlock' says where there is only itself."
        first = "n + 1: frame 0 chooses the initial state" if program.initial else "n, the first being 0"
        yield f"The state after n steps, and what these violate, is seen in frame {first}."
        yield f"Bad '{MODEL_ERROR}', where there is one, is a run that leaves the model: where it is"
        yield "reached the others mean nothing."
        yield "  berkeley-abc -c 'read_aiger FILE.aig; pdr'    proves that none is reached"
        yield "  berkeley-abc -c 'read_aiger FILE.aig; bmc3'   finds a shortest way to one"
        yield "A number, bit 0 being the lowest, counts the values of its type from 0 in their order; of an"
        yield "optional 0 is none. A set has a bit for each element, an optional set one more in front."
        by_variables = {code.variables: code for code in inputs}
        for prefix, moves in (("initial ", self._relation.initial_moves), ("", self._relation.moves)):
            for m in moves:
                told = [
                    f"{p.name} by {by_variables[a.variables].names[0].removesuffix(' bit 0')}"
                    for p, a in zip(m.action.parameters, m.arguments, strict=True)
                    if a.variables in by_variables
                ]
                yield f"{prefix}action {m.number}: {m.action.name}{' with ' if told else ''}{', '.join(told)}"


def _asked(b: Booleans, name: str, bads: Sequence[Wrong], clean: Literal) -> _Asked:
    wrong = b.any([b.conj(x.literal, x.error ^ 1) for x in bads])
    over = bads[0].over
    return _Asked(name, over, b.conj(clean, wrong) if over == "step" else wrong)


def _read(graph: Graph, code: _Code, bit: Sequence[int]) -> Mapping[Literal, int]:
    return dict(zip(code.variables, code.variable(graph, bit), strict=True))


def _translation(
    booleans: Booleans, graph: Graph, used: Sequence[int], values: Mapping[Literal, int]
) -> Callable[[Literal], int]:
    """Terms as gates: ``used`` are their nodes, operands first."""
    made: dict[int, int] = {}

    def of(literal: Literal) -> int:
        return made[literal >> 1] ^ literal & 1

    for place in used:
        match booleans.node(2 * place):
            case Variable():
                made[place] = values[2 * place]
            case Conjunction(literals):
                made[place] = graph.all(map(of, literals))
            case Choice(condition, then, otherwise):
                made[place] = graph.choose(of(condition), of(then), of(otherwise))
    return of


def _names(columns: Sequence[Column]) -> Iterator[str]:
    """The name of each cell: the column's, with its keys' numbers filled in."""
    for column, place in column_cells(columns):
        keys = []
        for extent in reversed(column.dims):
            place, key = divmod(place, extent)
            keys.append(key)
        name = column.name.replace("[#]", "[]")
        for key in reversed(keys):
            name = name.replace("[]", f"[{key}]", 1)
        yield name
