"""Finite domains and parameters: what a system is made of, before its sizes are chosen.

A domain is a class whose elements are numbered from 0; a parameter is a named value that a scenario
or the command line sets. Neither has a size or value of its own. ``link.py`` gives them one for each
system, so that one text of a model serves all sizes::

    requests = parameter("requests", int, 3, "requests that clients may send")

    class Request(Domain, size=requests, names="r{n}"):
        '''A client's request.'''
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, cast

from slotproof.model.language.errors import LanguageError, Site, callers_line, unbound

T = TypeVar("T")
D = TypeVar("D", bound="Domain")


@dataclass(frozen=True, eq=False)
class Parameter:
    """A named constant of a system, with its type, its default and its meaning."""

    name: str
    kind: Any
    default: Any
    meaning: str
    site: Site

    def __repr__(self) -> str:
        return f"parameter {self.name}"

    def __bool__(self) -> bool:
        unbound(repr(self), "read it inside an action, a property or a function of the language")


def parameter(name: str, kind: type[T], default: Any, meaning: str) -> T:
    """Declare a constant that a scenario or ``--set NAME=VALUE`` chooses.

    ``kind`` is a type of the language (``int``, ``bool``, an enum, ``Set[Adapter]``,
    ``Map[Request, Set[Adapter]]``…); elements of a domain may be given by their names.
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise LanguageError(
            f"parameter {name!r}: its name is no word, and --set NAME=VALUE needs one; rename it",
            callers_line(),
        )
    return cast(T, Parameter(name, kind, default, meaning, callers_line()))


class DomainMeta(type):
    """Makes a domain class iterable and sized, for the type checker and for linked code."""

    def __iter__(cls: type[D]) -> Iterator[D]:  # type: ignore[misc]  # mypy wants a subclass of type here
        unbound(f"domain {cls.__name__}", f"write 'for x in {cls.__name__}' inside the language")

    def __len__(cls) -> int:
        unbound(f"domain {cls.__name__}", f"write 'len({cls.__name__})' inside the language")

    def __bool__(cls) -> bool:
        return True


class Domain(metaclass=DomainMeta):
    """A finite domain; subclass it with ``size`` (an int or an int parameter) and ``names``.

    ``names`` is a format of ``{n}`` (from 1) or ``{i}`` (from 0), or a sequence of names; elements beyond
    its end are numbered. Elements are equal by domain and number, and ordered by number.
    """

    size: ClassVar[Any]
    names: ClassVar[str | Sequence[str]]
    __slots__ = ("index",)

    def __init_subclass__(cls, *, size: int, names: str | Sequence[str] = "") -> None:
        declared: Any = size
        if not isinstance(declared, (int, Parameter)) or isinstance(declared, bool):
            raise LanguageError(
                f"domain {cls.__name__}: size is {size!r}; write a number or an int parameter", callers_line()
            )
        wrong = _wrong_names(names, 1 if declared == 1 else 64) if names else None
        if wrong is not None:
            raise LanguageError(
                f"domain {cls.__name__}: names={names!r} {wrong}; write a format with {{i}} or {{n}},"
                f' such as "{cls.__name__.lower()}{{n}}", or a tuple of different names',
                callers_line(),
            )
        cls.size = declared
        cls.names = names or cls.__name__.lower() + "{i}"

    def __init__(self, index: int) -> None:
        if type(index) is not int:
            raise LanguageError(
                f"{type(self).__name__}({index!r}): an element is named by its number,"
                f" such as {type(self).__name__}(0)",
                callers_line(),
            )
        self.index = index

    @classmethod
    def name_of(cls, index: int) -> str:
        """The name of element ``index`` as traces print it."""
        if isinstance(cls.names, str):
            return cls.names.format(i=index, n=index + 1)
        return cls.names[index] if index < len(cls.names) else f"{cls.__name__.lower()}{index}"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.index == self.index

    def __lt__(self, other: Self) -> bool:
        return self.index < other.index if type(other) is type(self) else NotImplemented

    def __le__(self, other: Self) -> bool:
        return self.index <= other.index if type(other) is type(self) else NotImplemented

    def __gt__(self, other: Self) -> bool:
        return self.index > other.index if type(other) is type(self) else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return self.index >= other.index if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self.index))

    def __repr__(self) -> str:
        return self.name_of(self.index)


def _wrong_names(names: Any, elements: int) -> str | None:
    """What is wrong with the names of a domain's first elements, if anything is."""
    if isinstance(names, str):
        try:
            found = [names.format(i=i, n=i + 1) for i in range(elements)]
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            return f"is no format of {{i}} and {{n}} ({error})"
        return None if len(set(found)) == elements else "gives elements the same name"
    if not isinstance(names, Sequence) or not all(isinstance(name, str) and name for name in names):
        return "is no sequence of names"
    return None if len(set(names)) == len(names) else "has a name twice"
