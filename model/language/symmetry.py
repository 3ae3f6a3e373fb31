"""Which elements of a domain are interchangeable: what a system declares, and what follows from it.

    System(…, interchangeable=[Alike(Slot), Alike(Request, by=lambda n, given: n % given["adapters"])])

A *permutation* renames the elements of some domains. States that differ by one are alike in all that the
properties ask, and a search may visit one of each such *orbit* (Ip and Dill, "Better verification through
symmetry", 1996). Whether a declaration is true of a system is for an engine to check.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from slotproof.model.language.columns import Column, Valuation
from slotproof.model.language.domains import Domain
from slotproof.model.language.errors import LanguageError, Site, callers_line
from slotproof.model.language.types import IndexType, OptionalType, ScalarType, SetType

if TYPE_CHECKING:
    from slotproof.model.language.ir import Action
    from slotproof.model.language.program import Program

MOST_PERMUTATIONS = 1024
"""A state is compared with its image under each."""

Permutation = Mapping[str, tuple[int, ...]]
"""By a domain's name, the new number of each element; what is not in it stays."""

Key = Callable[[int, Mapping[str, Any]], object]


@dataclass(frozen=True)
class Alike:
    """The elements of a domain can be exchanged for each other, all of them or those with equal ``by``.

    ``by`` is called with an element's number and the system's parameters.
    """

    domain: type[Domain]
    by: Key | None = None
    site: Site = field(default_factory=lambda: callers_line(3), repr=False, compare=False)

    def generators(self, program: Program) -> Iterator[Permutation]:
        """Exchanges of neighbours, from which every permutation is made."""
        size = size_of(program, self.domain, self.site)
        groups: dict[object, list[int]] = {}
        for n in range(size):
            groups.setdefault(None if self.by is None else self.by(n, program.parameters), []).append(n)
        for group in groups.values():
            for a, b in itertools.pairwise(group):
                yield {self.domain.__name__: _exchanged(size, a, b)}

    @property
    def domains(self) -> tuple[type[Domain], ...]:
        """The domains that it speaks of."""
        return (self.domain,)

    def __str__(self) -> str:
        return f"Alike({self.domain.__name__})"


@dataclass(frozen=True)
class Swapped:
    """Pairs of elements, of several domains or of one, that can be exchanged all at the same time.

    ``Swapped((Adapter, "A", "B"), (Request, "r1", "r2"))``: adapters with the requests that name them.
    """

    pairs: tuple[tuple[type[Domain], str, str], ...]
    site: Site

    def __init__(self, *pairs: tuple[type[Domain], str, str]) -> None:
        object.__setattr__(self, "pairs", pairs)
        object.__setattr__(self, "site", callers_line())

    def generators(self, program: Program) -> Iterator[Permutation]:
        """The one exchange."""
        moved: dict[str, tuple[int, ...]] = {}
        for domain, first, second in self.pairs:
            size = size_of(program, domain, self.site)
            names = [domain.name_of(i) for i in range(size)]
            for name in (first, second):
                if name not in names:
                    raise LanguageError(
                        f"{self}: {domain.__name__} has no element '{name}'; it has: {', '.join(names)}",
                        self.site,
                    )
            exchanged = _exchanged(size, names.index(first), names.index(second))
            before = moved.get(domain.__name__, tuple(range(size)))
            moved[domain.__name__] = tuple(exchanged[i] for i in before)
        yield moved

    @property
    def domains(self) -> tuple[type[Domain], ...]:
        """The domains that it speaks of."""
        return tuple(domain for domain, _, _ in self.pairs)

    def __str__(self) -> str:
        return f"Swapped({', '.join(f'{d.__name__} {a}/{b}' for d, a, b in self.pairs)})"


Interchangeable = Alike | Swapped


def _exchanged(size: int, a: int, b: int) -> tuple[int, ...]:
    return tuple(b if i == a else a if i == b else i for i in range(size))


def size_of(program: Program, domain: type[Domain], site: Site) -> int:
    """How many elements a domain has in a system."""
    for type_ in _index_types(program):
        if type_.cls is domain:
            return type_.size
    raise LanguageError(
        f"system {program.name}: {domain.__name__} is declared interchangeable, but nothing in its state"
        " is of that domain; take the declaration out",
        site,
    )


def _index_types(program: Program) -> Iterator[IndexType]:
    for column in program.columns:
        yield from (key for key in column.keys if isinstance(key, IndexType))
        inner: Any = column.type
        while isinstance(inner, OptionalType | SetType):
            inner = inner.item
        if isinstance(inner, IndexType):
            yield inner


def generators(program: Program) -> list[tuple[Interchangeable, Permutation]]:
    """The permutations that a system declares, each with its declaration."""
    return [(d, p) for d in program.system.interchangeable for p in d.generators(program)]


def group(program: Program) -> list[dict[str, tuple[int, ...]]]:
    """Every permutation that follows from the declarations, the one that moves nothing first."""
    given = [dict(p) for _, p in generators(program)]
    names = sorted({name for p in given for name in p})
    sizes = {name: len(next(p[name] for p in given if name in p)) for name in names}
    nothing = tuple(tuple(range(sizes[name])) for name in names)
    steps = [tuple(p.get(name, nothing[i]) for i, name in enumerate(names)) for p in given]
    found = {nothing: None}
    frontier = [nothing]
    while frontier:
        known = frontier.pop()
        for step in steps:
            product = tuple(tuple(s[x] for x in k) for k, s in zip(known, step, strict=True))
            if product not in found:
                found[product] = None
                frontier.append(product)
                if len(found) > MOST_PERMUTATIONS:
                    raise LanguageError(
                        f"system {program.name}: more than {MOST_PERMUTATIONS:,} permutations follow from its"
                        " interchangeable elements, and a state is compared with its image under each;"
                        " declare fewer",
                        program.system.interchangeable[0].site,
                    )
    return [dict(zip(names, p, strict=True)) for p in found]


def moved_code(type_: ScalarType, permutation: Permutation, code: int) -> int:
    """The code of a value after its elements have been renamed."""
    match type_:
        case IndexType() if type_.name in permutation:
            return permutation[type_.name][code]
        case OptionalType():
            return 0 if code == 0 else moved_code(type_.item, permutation, code - 1) + 1
        case SetType() if type_.item.name in permutation:
            to = permutation[type_.item.name]
            return sum(1 << to[i] for i in range(type_.item.size) if code >> i & 1)
        case _:
            return code


def moves_values(type_: ScalarType, permutation: Permutation) -> bool:
    """Whether values of the type have elements that are renamed."""
    while isinstance(type_, OptionalType | SetType):
        type_ = type_.item
    return isinstance(type_, IndexType) and type_.name in permutation


def moved_cells(column: Column, permutation: Permutation) -> list[int]:
    """For each cell of a column, the cell where its value goes."""
    maps: list[Sequence[int]] = [permutation.get(k.name, range(k.size)) for k in column.keys]
    maps += [range(size) for size in column.dims[len(column.keys) :]]  # the places of a sequence
    return [
        sum(m[i] * prod(column.dims[d + 1 :]) for d, (m, i) in enumerate(zip(maps, index, strict=True)))
        for index in itertools.product(*map(range, column.dims))
    ]


def length_of(program: Program, column: Column) -> Column | None:
    """The column with the lengths of the sequences whose items this column has; ``None`` if it has none."""
    if len(column.dims) == len(column.keys):
        return None
    name = column.name[: column.name.rindex("[#]")] + ".len"
    return next(c for c in program.columns if c.name == name)


class Renaming:
    """Renames the elements in states: what lies behind a sequence's end stays 0."""

    def __init__(self, program: Program, permutation: Permutation) -> None:
        self._sources = [0] * program.cells
        self._looked_up: list[tuple[int, tuple[int, ...]]] = []
        self._other: list[tuple[int, ScalarType]] = []
        self._items: list[tuple[int, int, int]] = []
        self._permutation = permutation
        for column in program.columns:
            lengths = length_of(program, column)
            renamed = moves_values(column.type, permutation)
            for cell, to in enumerate(moved_cells(column, permutation)):
                target = column.offset + to
                self._sources[target] = column.offset + cell
                if not renamed:
                    continue
                if column.type.size > 256:
                    self._other.append((target, column.type))
                else:
                    codes = range(column.type.size)
                    table = tuple(moved_code(column.type, permutation, code) for code in codes)
                    self._looked_up.append((target, table))
                if lengths is not None:
                    capacity = column.dims[-1]
                    length = lengths.offset + moved_cells(lengths, permutation)[cell // capacity]
                    self._items.append((target, length, cell % capacity))

    def __call__(self, state: Valuation) -> Valuation:
        """The state with its elements renamed."""
        result = [state[source] for source in self._sources]
        for cell, table in self._looked_up:
            result[cell] = table[result[cell]]
        for cell, type_ in self._other:
            result[cell] = moved_code(type_, self._permutation, result[cell])
        for cell, length, place in self._items:
            if place >= result[length]:
                result[cell] = 0
        return tuple(result)


def moved(program: Program, permutation: Permutation, state: Valuation) -> Valuation:
    """A state with its elements renamed."""
    return Renaming(program, permutation)(state)


def moved_arguments(action: Action, permutation: Permutation, arguments: Sequence[int]) -> tuple[int, ...]:
    """The arguments of a step after its elements have been renamed. All are as the IR represents them."""
    return tuple(
        moved_code(p.type, permutation, a) for p, a in zip(action.parameters, arguments, strict=True)
    )
