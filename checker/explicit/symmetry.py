"""Whether the elements that a system declares as interchangeable are: checked on a small scope.

For a sample of the states that are reached first, and each exchange that is declared, the steps of the
renamed state have to be the renamed steps of the state, and whatever the properties, premises, witnesses
and the final condition say of the one they have to say of the other. Then the orbits that are found down
to a small depth have to have as many members as there are states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotproof.checker.explicit.context import (
    SHIFT,
    TABLE,
    arguments_of,
)
from slotproof.checker.explicit.native import native
from slotproof.checker.explicit.paths import expanded
from slotproof.checker.explicit.search import Search
from slotproof.checker.verdict import Limits
from slotproof.model.language.columns import Valuation
from slotproof.model.language.errors import LanguageError, ModelError
from slotproof.model.language.program import Program
from slotproof.model.language.symmetry import (
    Interchangeable,
    Permutation,
    Renaming,
    generators,
    group,
    moved,
    moved_arguments,
)

REACHED = 20_000
"""How many states are reached, from which the sample is taken."""
SAMPLE = 200
COUNTED = 1_000
"""How many states are counted in orbits at most."""


@dataclass(frozen=True)
class Said:
    """All that native code says of a state and its steps."""

    steps: Counter[tuple[int, tuple[int, ...], Valuation, int | None]]
    """The action, its arguments, the state after it and the cause of a crash, of every step."""
    found: tuple[bool, ...]
    """Which premises were met, conjuncts violated, witnesses seen; and whether the system may stop here."""


def assert_interchangeable(program: Program, choices: tuple[int, ...]) -> None:
    """``LanguageError`` at a declaration that is wrong, with what tells the elements apart."""
    given = generators(program)
    for declaration, permutation in given:
        _constant(program, declaration, permutation)
    search = Search(program, choices, Limits(states=REACHED))
    search.run()
    if search.broken is not None:
        return  # the search itself will say so
    layout, words = search.native.layout, search.store.words
    rows = search.store.arena[: search.states * words].reshape(-1, words)
    chosen = np.unique(np.linspace(0, search.states - 1, min(SAMPLE, search.states)).astype(int))
    judge = _Judge(program, choices)
    initial = set(judge.initial())
    for declaration, permutation in given:
        for state in initial:
            if moved(program, permutation, state) not in initial:
                raise _wrong(declaration, permutation, program, "an initial state becomes none", state)
    renamings = [(declaration, p, Renaming(program, p)) for declaration, p in given]
    for row in chosen:
        if layout.crashed(rows[row]) is not None:
            continue
        state = layout.unpack(rows[row])
        said = judge.says(state)
        if said is None:
            continue
        for declaration, permutation, renamed in renamings:
            judge.compare(declaration, permutation, renamed, state, said)
    _count(program, choices, search)


class _Judge:
    def __init__(self, program: Program, choices: tuple[int, ...]) -> None:
        self.program = program
        self.code = native(program)
        self.choices = choices
        self.context = self.code.slots.fresh(choices)
        self.table = np.zeros(64, np.uint64)  # for the prefetches of generated code

    def initial(self) -> list[Valuation]:
        """The initial states."""
        out = np.empty(self.code.most * self.code.stride, np.uint64)
        count = self.code.initial(self._fresh(), out)
        rows = out[: max(count, 0) * self.code.stride].reshape(-1, self.code.stride)
        return self.code.layout.unpack_all(rows[:, : self.code.layout.words])

    def _fresh(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        self.context = self.code.slots.fresh(self.choices)
        self.context[TABLE], self.context[SHIFT] = self.table.ctypes.data, 63
        return self.context

    def says(self, state: Valuation) -> Said | None:
        """What native code says; ``None`` after a model error."""
        program, code, context = self.program, self.code, self._fresh()
        words = code.layout.pack(state)
        try:
            rows = expanded(code, context, words)
        except ModelError:
            return None
        if not code.check(context, words):
            return None
        final = code.final(context, words)
        steps: Counter[tuple[int, tuple[int, ...], Valuation, int | None]] = Counter()
        states = code.layout.unpack_all(rows.rows[:, : code.layout.words])
        for row, after in enumerate(states):
            action, combination = rows.label(row)
            crash = code.layout.crashed(rows.rows[row])
            steps[action, arguments_of(program.actions[action], combination), after, crash] += 1
        slots = code.slots
        premises = context[slots.premises : slots.fired]
        firsts = context[slots.violations :: 2]
        return Said(steps, (*map(bool, premises), *map(bool, firsts), final == 1))

    def compare(
        self,
        declaration: Interchangeable,
        permutation: Permutation,
        renamed: Renaming,
        state: Valuation,
        said: Said,
    ) -> None:
        """``LanguageError`` unless the renamed state is told of as the state is."""
        program = self.program
        other = self.says(renamed(state))
        if other is None:
            raise _wrong(declaration, permutation, program, "a step becomes a model error", state)
        expected = Counter(
            (number, moved_arguments(program.actions[number], permutation, arguments),
             renamed(after), crash)
            for number, arguments, after, crash in said.steps.elements()
        )  # fmt: skip
        for number, arguments, *_ in (expected - other.steps) + (other.steps - expected):
            action = program.actions[number]
            shown = ", ".join(
                f"{p.name}={p.type.decode(a) if not hasattr(p.type, 'low') else a}"
                for p, a in zip(action.parameters, arguments, strict=True)
            )
            raise _wrong(declaration, permutation, program, f"step {action.name}({shown}) differs", state)
        if other.found != said.found:
            place = next(i for i, (a, b) in enumerate(zip(said.found, other.found, strict=True)) if a != b)
            raise _wrong(declaration, permutation, program, f"{self._name(place)} differs", state)

    def _name(self, place: int) -> str:
        program, slots = self.program, self.code.slots
        names = [f"a premise of {p.property}" for p in program.premises]
        names += [f"property {program.properties[p.property].name}" for p in slots.parts]
        names += [f"a crash with '{cause}'" for cause in program.crashes]
        names += ["a deadlock", *(f"witness {w.name}" for w in program.witnesses), "the final condition"]
        return names[place]


def _constant(program: Program, declaration: Interchangeable, permutation: Permutation) -> None:
    """Columns that no step writes are not stored, and have to look the same after every exchange."""
    layout = native(program).layout
    after = moved(program, permutation, program.start)
    for column, place in zip(program.columns, layout.places, strict=True):
        cells = slice(column.offset, column.offset + column.cells)
        if not column.output and not place.width and after[cells] != program.start[cells]:
            raise _wrong(
                declaration, permutation, program, f"'{column.name}', which no step writes, differs", None
            )


def _count(program: Program, choices: tuple[int, ...], reached: Search) -> None:
    """Demand that the orbits' members are as many as the states, down to a small depth."""
    permutations = group(program)
    depth: int | None = None
    full = reached
    if reached.states > COUNTED:
        probe = Search(program, choices, Limits(states=COUNTED))
        probe.run()
        depth = probe.depth - 1
        if depth < 0:
            return
        full = Search(program, choices, Limits(depth=depth))
        full.run()
    orbits = Search(program, choices, Limits(depth=depth), symmetric=True)
    orbits.run()
    members = sum(orbit_sizes(program, orbits, permutations))
    if members != full.states:
        raise LanguageError(
            f"system {program.name}: the orbits of its interchangeable elements have {members} members,"
            f" but there are {full.states} states; take a declaration out",
            program.system.interchangeable[0].site,
        )


def orbit_sizes(program: Program, search: Search, permutations: Sequence[Permutation]) -> list[int]:
    """How many states each canonical state of a search stands for. For small systems."""
    layout, words = search.native.layout, search.store.words
    rows = search.store.arena[: search.states * words].reshape(-1, words)
    renamings = [Renaming(program, p) for p in permutations]
    return [len({renamed(state) for renamed in renamings}) for state in layout.unpack_all(rows)]


def _wrong(
    declaration: Interchangeable,
    permutation: Permutation,
    program: Program,
    what: str,
    state: Valuation | None,
) -> LanguageError:
    names = []
    for domain, numbers in permutation.items():
        cls = next(d for d in declaration.domains if d.__name__ == domain)
        names += [f"{cls.name_of(i)} and {cls.name_of(n)}" for i, n in enumerate(numbers) if i < n]
    where = "" if state is None else f" in {_shown(program, state)}"
    return LanguageError(
        f"system {program.name}: {declaration} is wrong, as {', '.join(names)} cannot be exchanged:"
        f" {what}{where}; take it out, or declare fewer elements",
        declaration.site,
    )


def _shown(program: Program, state: Valuation) -> str:
    """What differs from the declared initial values, shortly."""
    parts = [
        f"{column.name}={list(state[column.offset : column.offset + column.cells])}"
        for column in program.columns
        if not column.output and state[column.offset : column.offset + column.cells] != column.initial
    ]
    text = ", ".join(parts) or "the initial state"
    return text if len(text) < 300 else f"{text[:300]}…"
