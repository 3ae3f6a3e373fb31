"""Two systems side by side: the shortest way to where one can take a step that the other cannot.

    found = compare_runs(first, choices, second, other_choices)
    found.first_can      # a step that the first system can take and the second cannot, or None

Both take the same steps from the start on: the same actions with the same arguments, with equal values of
every field that both have, outputs included. A step decides by its arguments alone where it leads, so that
two systems have the same runs if and only if no pair that is reached this way has a step of one side that
the other lacks. Where the first system has none that the second lacks, it *refines* the second: each of its
runs is one of the second, as far as the common fields tell.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache as once
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slotproof.checker.explicit.context import FIXED, LABEL_BITS, STRIDE_EXTRA, arguments_of
from slotproof.checker.explicit.machine import Code, machine_code, parse
from slotproof.checker.explicit.native import Native, Rows, native
from slotproof.checker.explicit.registers import NO_PARENT
from slotproof.checker.explicit.search import Functions, NativeSearch, Report
from slotproof.checker.verdict import Limits
from slotproof.counterexamples.evidence import different_cells
from slotproof.counterexamples.trace import Step, Trace
from slotproof.model.language.columns import Column, Valuation
from slotproof.model.language.errors import ModelError
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.ir import Action
from slotproof.model.language.program import Program

# Words of the context behind those of every context; ``pairing.py`` reads them.
DEADLOCK = FIXED  # never kept: a pair may have no step that is the same
FIRST = FIXED + 1  # eight words of each side: see ``_side_words``
SECOND = FIRST + 8
LABELS = SECOND + 8  # address of the second system's number of each action of the first, or -1
CELLS = LABELS + 1  # address of the first cell to compare, and of the end; six words each
CELLS_END = CELLS + 1
CRASHES = CELLS_END + 1  # address of the second system's crash code for each of the first
ONE_SIDED = CRASHES + 1  # which side met a model error
KINDS = ONE_SIDED + 1  # of each kind of difference the pair's number from 1 and the step's label
OTHERWISE = 2
SIZE = KINDS + 6
MOVE = 6
MIX = 0x9E3779B97F4A7C15  # odd, without structure
ALL = (1 << 64) - 1


StartKey = tuple[str, tuple[int, ...]]
"""The initial action and its arguments that make an initial state; no name where it is declared."""


class Kind(enum.Enum):
    """How a step differs."""

    ONLY_FIRST = "only the first system can take it"
    ONLY_SECOND = "only the second system can take it"
    OTHERWISE = "both can take it, and it leads to something else"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A shortest run that both systems have, and a step after it that they do not have in common.

    ``first`` and ``second`` are the run as each side takes it, with the step where it can be taken.
    ``reasons`` say why the other side cannot take it, or in which fields it leads to something else.
    """

    kind: Kind
    step: Step
    first: Trace
    second: Trace
    reasons: tuple[str, ...]

    @property
    def length(self) -> int:
        """Steps, the last one included."""
        return max(len(self.first), len(self.second))


@dataclass(frozen=True, slots=True)
class Pairs:
    """What was found about two systems; ``stopped`` says which limit came before the end.

    ``start`` names what differs before any step, and ``first_starts`` says whether the first system has a
    start that the second has not. ``only_first`` and ``only_second`` are fields that one
    side alone has, or has with other sizes: they are not compared.
    """

    pairs: int
    transitions: int
    depth: int
    seconds: float
    stopped: str | None
    start: tuple[str, ...]
    first_starts: bool
    second_starts: bool
    first_can: Divergence | None
    second_can: Divergence | None
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def compare_runs(
    first: Program,
    first_choices: tuple[int, ...],
    second: Program,
    second_choices: tuple[int, ...],
    *,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> Pairs:
    """Take the steps that both systems have in common, breadth first, until each has one of its own.

    ``ModelError`` where a step of either side leaves the model.
    """
    pairing = _Pairing(_Side(first, first_choices), _Side(second, second_choices))
    return pairing.compare(limits or Limits(), progress)


class _Side:
    """One of the two systems, with the memory that its native code writes to."""

    def __init__(self, program: Program, choices: tuple[int, ...]) -> None:
        self.program = program
        self.choices = choices
        self.code: Native = native(program)
        self.context = self.code.slots.fresh(choices)
        self.out = np.empty(self.code.most * self.code.stride, np.uint64)
        self.interpreter = Interpreter(program, choices)

    def words(self) -> list[int]:
        """What ``pairing.py`` needs to know of this side, in its order."""
        code, crash = self.code, self.code.layout.crash
        return [
            code.code.address("expand"),
            self.context.ctypes.data,
            self.out.ctypes.data,
            code.layout.words,
            code.stride,
            crash.word,
            crash.shift,
            crash.mask,
        ]

    def starts(self) -> dict[StartKey, NDArray[np.uint64]]:
        """The initial states by the initial action and its arguments: rows of native code."""
        count = self.code.initial(self.context, self.out)
        if count < 0:
            self.interpreter.initial()  # raises the error
        rows = self.out[: max(count, 0) * self.code.stride].reshape(-1, self.code.stride).copy()
        if not self.program.initial:
            return {("", ()): rows[0]}
        found = {}
        for row in rows:
            action, numbers = self.labelled(int(row[-1]), self.program.initial)
            found[action.name, numbers] = row
        return found

    @staticmethod
    def labelled(label: int, actions: Sequence[Action]) -> tuple[Action, tuple[int, ...]]:
        """The action and the arguments of a label."""
        action = actions[label >> LABEL_BITS]
        return action, arguments_of(action, label & ((1 << LABEL_BITS) - 1))


class _Pairing:
    def __init__(self, first: _Side, second: _Side) -> None:
        self.first = first
        self.second = second
        self.common = [
            (a, b) for a in first.program.columns for b in second.program.columns if _same_field(a, b)
        ]
        self.labels = np.array(
            [_counterpart(a, second.program.actions) for a in first.program.actions] or [-1], np.int64
        )
        mapped = [n for n in self.labels if n >= 0]
        assert mapped == sorted(mapped), "the two systems list their actions in different orders"
        self.cells = np.array(self._cells(), np.int64).reshape(-1, MOVE)
        causes = {cause: i + 1 for i, cause in enumerate(second.program.crashes)}
        self.crashes = np.array([0, *(causes.get(c, -1) for c in first.program.crashes)], np.int64)
        self.context = self._context()

    def compare(self, limits: Limits, progress: Report | None) -> Pairs:
        """Search the pairs and tell what was found."""
        begun: list[tuple[StartKey, NDArray[np.uint64]]] = []
        start, first_starts, second_starts = self._start(begun)
        words = self.first.code.layout.words + self.second.code.layout.words
        stride = words + STRIDE_EXTRA

        def initial(context: NDArray[np.int64], out: Rows) -> int:
            for number, (_, row) in enumerate(begun):
                out[number * stride : (number + 1) * stride] = row
            return len(begun)

        code = _code()
        search = NativeSearch(
            Functions(*(code.address(name) for name in EXPORTS)),
            initial,
            self.context,
            words=words,
            stride=stride,
            most=max(self.first.code.most, self.second.code.most, len(begun)),
            deadlock=DEADLOCK,
            limits=limits,
        )
        stopped = search.run(progress)
        if search.broken is not None:
            side = int(self.context[ONE_SIDED])
            if side:
                self._model_error(search, search.broken.state, (self.first, self.second)[side - 1], begun)
            stopped = None  # each side has had a step of its own: there is nothing more to learn
        found = {kind: self._divergence(kind, number, search, begun) for number, kind in enumerate(Kind)}
        return Pairs(
            pairs=search.states,
            transitions=search.transitions,
            depth=search.depth,
            seconds=search.seconds,
            stopped=stopped,
            start=tuple(start),
            first_starts=first_starts,
            second_starts=second_starts,
            first_can=_nearest(found[Kind.ONLY_FIRST], found[Kind.OTHERWISE]),
            second_can=_nearest(found[Kind.ONLY_SECOND], found[Kind.OTHERWISE]),
            only_first=_left_out(self.first.program, [a.name for a, _ in self.common]),
            only_second=_left_out(self.second.program, [b.name for _, b in self.common]),
        )

    def _context(self) -> NDArray[np.int64]:
        context = np.zeros(SIZE, np.int64)
        context[FIRST : FIRST + 8] = self.first.words()
        context[SECOND : SECOND + 8] = self.second.words()
        context[LABELS] = self.labels.ctypes.data
        context[CELLS] = self.cells.ctypes.data
        context[CELLS_END] = self.cells.ctypes.data + self.cells.nbytes
        context[CRASHES] = self.crashes.ctypes.data
        return context

    def _cells(self) -> list[list[int]]:
        """Where each cell of a common field stands on either side; a constant has no word."""
        one, other = self.first.code.layout, self.second.code.layout
        if self.first.program is self.second.program:
            whole = -1  # every bit of a word: fields and crash alike
            return [[word, 0, word, 0, whole, 0] for word in range(one.total)]
        places_a = {c.name: p for c, p in zip(one.columns, one.places, strict=True)}
        places_b = {c.name: p for c, p in zip(other.columns, other.places, strict=True)}
        found = []
        for a, b in self.common:
            x, y = places_a[a.name], places_b[b.name]
            if not (x.width or y.width):
                continue  # never written: compared at the start
            for cell in range(a.cells):
                left = x.bit(cell) if x.width else (-1, 0)
                right = y.bit(cell) if y.width else (-1, 0)
                constant = a.initial[cell] if not x.width else b.initial[cell]
                found.append([*left, *right, max(x.mask, y.mask), constant])
        return found

    def _start(self, begun: list[tuple[StartKey, NDArray[np.uint64]]]) -> tuple[list[str], bool, bool]:
        """What differs at the start, in words, and whether either side has a start of its own.

        The pairs to begin with are added to ``begun``.
        """
        one, other = self.first.starts(), self.second.starts()
        said = [f"only the first can start with {_call(*key)}" for key in one if key not in other]
        said += [f"only the second can start with {_call(*key)}" for key in other if key not in one]
        alone = any(key not in other for key in one), any(key not in one for key in other)
        for key in (k for k in one if k in other):
            a, b = one[key], other[key]
            left = self.first.code.layout.unpack(a[: self.first.code.layout.total])
            right = self.second.code.layout.unpack(b[: self.second.code.layout.total])
            different = self._different(left, right)
            if different:
                said += different
                alone = True, True
                continue
            words = [a[: self.first.code.layout.words], b[: self.second.code.layout.words]]
            tail = np.array([_hash(int(a[-2]), int(b[-2])), 0], np.uint64)
            begun.append((key, np.concatenate([*words, tail])))
        return list(dict.fromkeys(said)), *alone

    def _different(self, left: Valuation, right: Valuation) -> list[str]:
        """The common fields in which two states differ, with both values."""
        found = []
        for a, b in self.common:
            x, y = left[a.offset : a.offset + a.cells], right[b.offset : b.offset + b.cells]
            found += [f"{name}: {one} and {other}" for name, one, other in different_cells(a, x, y)]
        return found

    def _labels_to(self, search: NativeSearch, pair: int) -> tuple[int, list[int]]:
        """The number of the first pair on the way to a pair, and the labels of the first system's steps."""
        store = search.store
        way = [pair]
        while (parent := int(store.parents[way[-1]])) != NO_PARENT:
            way.append(parent)
        way.reverse()
        scratch = self._context()
        expand = _caller(_code())
        labels = []
        words = store.words
        out = np.empty(max(self.first.code.most, self.second.code.most) * (words + STRIDE_EXTRA), np.uint64)
        for parent, child in pairwise(way):
            scratch[KINDS:] = 0
            state = np.ascontiguousarray(store.state(parent))
            count = expand(scratch.ctypes.data, state.ctypes.data, out.ctypes.data)
            rows = out[: max(count, 0) * (words + STRIDE_EXTRA)].reshape(-1, words + STRIDE_EXTRA)
            same = np.all(rows[:, :words] == store.state(child), axis=1)
            labels.append(int(rows[int(np.argmax(same)), -1]))
        return way[0], labels

    def _divergence(
        self,
        kind: Kind,
        number: int,
        search: NativeSearch,
        begun: Sequence[tuple[StartKey, NDArray[np.uint64]]],
    ) -> Divergence | None:
        pair, label = int(self.context[KINDS + 2 * number]), int(self.context[KINDS + 2 * number + 1])
        if not pair:
            return None
        first_pair, labels = self._labels_to(search, pair - 1)
        state = search.store.state(first_pair)
        start = next(key for key, row in begun if np.array_equal(row[: search.store.words], state))
        own = self.second if kind is Kind.ONLY_SECOND else self.first
        action, numbers = _Side.labelled(label, own.program.actions)
        step = Step(action.name, own.interpreter.arguments(action, numbers))
        common = [_Side.labelled(at, self.first.program.actions) for at in labels]
        last = [(action, numbers)]
        runs = [
            _trace(side, start, common + (last if kind is not other else []), str(step))
            for side, other in ((self.first, Kind.ONLY_SECOND), (self.second, Kind.ONLY_FIRST))
        ]
        if kind is Kind.OTHERWISE:
            reasons = self._different(runs[0].states[-1], runs[1].states[-1])
            crashes = [r.crash or "no crash" for r in runs]
            if crashes[0] != crashes[1]:
                reasons.insert(0, f"it ends in {crashes[0]} and in {crashes[1]}")
        else:
            lacking = self.first if kind is Kind.ONLY_SECOND else self.second
            reasons = _blocked(lacking, runs[0 if lacking is self.first else 1].states[-1], action, numbers)
        return Divergence(kind, step, runs[0], runs[1], tuple(reasons))

    def _model_error(
        self,
        search: NativeSearch,
        pair: int,
        side: _Side,
        begun: Sequence[tuple[StartKey, NDArray[np.uint64]]],
    ) -> None:
        """Raise the error that ended the search, as the interpreter words it."""
        first_pair, labels = self._labels_to(search, pair)
        state = search.store.state(first_pair)
        start = next(key for key, row in begun if np.array_equal(row[: search.store.words], state))
        path = [_Side.labelled(label, self.first.program.actions) for label in labels]
        trace = _trace(side, start, path, "")
        for _ in side.interpreter.successors(trace.states[-1]):
            pass
        raise ModelError("a step of this system is a model error that does not come up when replayed")


def _hash(first: int, second: int) -> int:
    """The hash of a pair from those of its states, as ``pairing.py`` computes it."""
    turned = (second << 17 | second >> 47) & ALL
    return first ^ (turned * MIX & ALL)


def _same_field(a: Column, b: Column) -> bool:
    return (a.name, a.keys, a.dims, a.type, a.output) == (b.name, b.keys, b.dims, b.type, b.output)


def _counterpart(action: Action, actions: Sequence[Action]) -> int:
    """The number of the action with this name and these parameters, or -1."""
    same = [i for i, a in enumerate(actions) if (a.name, a.parameters) == (action.name, action.parameters)]
    return same[0] if same else -1


def _left_out(program: Program, common: Sequence[str]) -> tuple[str, ...]:
    known = set(common)
    return tuple(c.name for c in program.columns if c.name not in known and c.cells)


def _nearest(one_sided: Divergence | None, otherwise: Divergence | None) -> Divergence | None:
    found = [d for d in (one_sided, otherwise) if d is not None]
    return min(found, key=lambda d: d.length, default=None)


def _call(name: str, numbers: tuple[int, ...]) -> str:
    return f"{name}{numbers}" if name else "the declared initial state"


def _trace(
    side: _Side,
    start: StartKey,
    path: Sequence[tuple[Action, tuple[int, ...]]],
    part: str,
) -> Trace:
    """A run of one side, rebuilt by its interpreter."""
    program, interpreter = side.program, side.interpreter
    names = [a.name for a in program.actions]
    initial = next((i for i, a in enumerate(program.initial) if a.name == start[0]), None)
    numbered = [(names.index(action.name), numbers) for action, numbers in path]
    states, crash = interpreter.walk((initial, start[1]), numbered)
    begin = None
    if initial is not None:
        begin = Step(start[0], interpreter.arguments(program.initial[initial], start[1]))
    return Trace.of(
        program,
        side.choices,
        property="behaviour",
        part=part,
        engine="explicit",
        start=begin,
        steps=(
            Step(program.actions[n].name, interpreter.arguments(program.actions[n], numbers))
            for n, numbers in numbered
        ),
        states=states,
        crash=crash,
        kind="difference",
    )


def _blocked(side: _Side, state: Valuation, action: Action, numbers: tuple[int, ...]) -> list[str]:
    """Why a side cannot take a step: the parts of its guard that are false."""
    program = side.program
    same = _counterpart(action, program.actions)
    if same >= 0:
        return [c.site.text for c in side.interpreter.blocked(state, same, numbers)]
    if action.name in program.dropped:
        return [f"{action.name} is not possible at this size"]
    others = [a for a in program.actions if a.name == action.name]
    shown = ", ".join(p.name for p in others[0].parameters) if others else ""
    return [f"{action.name} has the parameters ({shown})" if others else f"there is no {action.name}"]


EXPORTS = ("expand", "check", "final")


@once
def _code() -> Code:
    """The machine code of ``pairing.py``."""
    names = ("context", "intrinsics", "pairing", "pairs", "registers")
    source = [Path(__file__).with_name(f"{name}.py").read_text() for name in names]
    try:
        source.append(version("numba"))
    except PackageNotFoundError:
        source.append("?")
    return machine_code(source, EXPORTS, _module)


def _module() -> Any:
    from slotproof.checker.explicit.pairing import text  # numba, which takes a second to import

    symbol, body = text()
    whole = parse(body)
    whole.get_function(symbol).name = "pairs_of"
    whole.link_in(parse(WRAPPERS))
    return whole


WRAPPERS = """
declare i32 @pairs_of(ptr, ptr, i64, i64, i64)

define i64 @expand(i64 %context, i64 %state, i64 %out) {
  %result = alloca i64
  %status = call i32 @pairs_of(ptr %result, ptr null, i64 %context, i64 %state, i64 %out)
  %count = load i64, ptr %result
  ret i64 %count
}

define i64 @check(i64 %context, i64 %state) {
  ret i64 0
}

define i64 @final(i64 %context, i64 %state) {
  ret i64 1
}
"""
"""numba's function with the convention of native code; a pair has no property, and may always stop."""


def _caller(code: Code) -> Callable[..., int]:
    import ctypes

    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(code.address("expand"))
