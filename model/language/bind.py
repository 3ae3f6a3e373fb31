"""Sizes and parameter values of one system, and the types that annotations mean under them."""

from __future__ import annotations

import enum
import os
import re
import types
import typing
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from slotproof.model.language.columns import encode, initial_value, is_scalar
from slotproof.model.language.domains import Domain, Parameter
from slotproof.model.language.errors import LanguageError, ModelError, Site
from slotproof.model.language.source import no_type
from slotproof.model.language.types import (
    BoolType,
    EnumType,
    FieldType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    ScalarType,
    SeqType,
    SetType,
    ValueType,
)
from slotproof.model.language.values import Capacity, Field, Map, Range, Record, Seq, State
from slotproof.model.near import near_or_all

WIDE = IntType(-(2**62), 2**62 - 1)
"""The type of whole numbers that are computed and not stored."""


@dataclass(frozen=True)
class BoundMap:
    """A parameter that is a map: its type and one value (as the IR represents it) a key."""

    type: MapType
    values: tuple[int, ...]


class Binding:
    """Gives each parameter its value and each domain its size."""

    def __init__(self, system: str, given: Mapping[str, Any]) -> None:
        self.system = system
        self.given = dict(given)
        self.used: dict[str, Parameter] = {}
        self._records: dict[type[Any], RecordType] = {}
        self._unfinished: list[type[Any]] = []

    def check_names(self, known: Mapping[str, Parameter]) -> None:
        """``LanguageError`` for a given parameter that the system does not have."""
        for name in self.given:
            if name not in known:
                hint = near_or_all(name, sorted(known), "it has")
                raise LanguageError(f"system {self.system} has no parameter '{name}'{hint}")

    def value(self, parameter: Parameter) -> Any:
        """The Python value of a parameter: an int, bool, member, element, frozen set or dict."""
        known = self.used.setdefault(parameter.name, parameter)
        if known is not parameter:
            raise LanguageError(
                f"two parameters are named '{parameter.name}'; the other is at {known.site}", parameter.site
            )
        raw = self.given.get(parameter.name, parameter.default)
        try:
            return self._converted(parameter.kind, raw)
        except (LanguageError, ModelError) as e:
            raise LanguageError(f"{parameter}: {e.message}", e.site or parameter.site) from None

    def _converted(self, kind: Any, raw: Any) -> Any:
        if kind is int:
            if type(raw) is not int:
                raise ModelError(f"{raw!r} is no int")
            return raw
        type_ = self.type_of(kind)
        if isinstance(type_, MapType):
            keys = [type_.key.decode(i) for i in range(type_.key.size)]
            if isinstance(raw, Mapping):
                named = {_name(k): v for k, v in raw.items()}
                unknown = set(named) - {_name(k) for k in keys} - {"*"}
                if unknown and not isinstance(type_.key, IndexType):
                    raise ModelError(f"{sorted(unknown)[0]!r} is no {type_.key}")
                missing = [_name(k) for k in keys if _name(k) not in named and "*" not in named]
                if missing:
                    raise ModelError(
                        f"there is nothing for key {missing[0]}; give every key a value, or all others one: *"
                    )
                return {k: self._scalar(type_.value, named.get(_name(k), named.get("*"))) for k in keys}
            return {k: self._scalar(type_.value, raw) for k in keys}
        return self._scalar(type_, raw)

    def _scalar(self, type_: ValueType, raw: Any) -> Any:
        match type_:
            case SetType() if raw is None:
                raise ModelError("None is no set; the empty one is {}")
            case SetType():
                items = raw if isinstance(raw, Set | tuple | list) else [raw]
                return frozenset(self._scalar(type_.item, x) for x in items)
            case OptionalType() if raw is not None:
                return self._scalar(type_.item, raw)
            case IndexType() | EnumType() if isinstance(raw, str):
                names = {_name(type_.decode(i)): type_.decode(i) for i in range(type_.size)}
                if raw not in names:
                    raise ModelError(f"'{raw}' is no {type_}{near_or_all(raw, names, 'it has')}")
                return names[raw]
            case RecordType() | SeqType() | MapType():
                raise ModelError(f"a parameter cannot be a {type_}")
            case _:
                type_.encode(raw)
                return raw

    def number(self, bound: Any, what: str, site: Site | None) -> int:
        """A bound: a number, an int parameter or a domain's size."""
        if isinstance(bound, Parameter):
            bound = self.value(bound)
        elif isinstance(bound, type) and issubclass(bound, Domain):
            bound = self.size(bound)
        if type(bound) is not int:
            raise LanguageError(f"{what} is {bound!r}; write a number, an int parameter or a domain", site)
        return bound

    def size(self, domain: type[Domain]) -> int:
        """How many elements a domain has in this system."""
        size = self.number(domain.size, f"the size of {domain.__name__}", None)
        if size < 1:
            raise LanguageError(f"domain {domain.__name__} has {size} elements; it needs at least one")
        return size

    def type_of(self, annotation: Any, site: Site | None = None) -> ValueType:
        """The type that an annotation means; ``LanguageError`` if it is none of the language's."""
        origin = get_origin(annotation)
        if annotation is bool:
            return BoolType()
        if annotation is int:
            raise LanguageError("'int' has no bounds; write 'Annotated[int, Range(low, high)]'", site)
        if annotation in (Domain, Record, State, enum.Enum):
            name = annotation.__name__
            raise LanguageError(
                f"{name} by itself is no type; write a subclass: 'class Name({name}, …)'", site
            )
        if isinstance(annotation, type) and origin is None:
            if issubclass(annotation, enum.Enum):
                if not len(annotation):
                    raise LanguageError(f"enum {annotation.__name__} has no members; give it some", site)
                return EnumType(annotation)
            if issubclass(annotation, Domain):
                return IndexType(annotation, self.size(annotation))
            if issubclass(annotation, Record):
                return self.record(annotation)
        if origin is Annotated:
            return self._annotated(annotation, site)
        if origin in (Union, types.UnionType):
            return self._optional(annotation, site)
        if origin is Map:
            key, value = get_args(annotation)
            return MapType(self._key(key, "a map's key", site), self.type_of(value, site))
        if origin in (Set, frozenset):
            item = self._key(get_args(annotation)[0], "a set's element", site)
            if item.size > 64:
                raise LanguageError(
                    f"a set of {item.size} elements; at most 64, so write Map[{item}, bool]", site
                )
            return SetType(item)
        if origin is Seq:
            item_type = self._item(get_args(annotation)[0], site)
            if not isinstance(item_type, IndexType):
                raise LanguageError("a sequence without bound; write 'Annotated[Seq[…], Capacity(n)]'", site)
            return SeqType(item_type, item_type.size)
        shown = getattr(annotation, "__name__", None) or str(annotation)
        remedies = {
            "float": "write 'Annotated[int, Range(low, high)]'",
            "str": "write an enum",
            "list": "write 'Seq[…]'",
            "dict": "write 'Map[…, …]'",
            "set": "write 'Set[…]'",
        }
        base = getattr(origin, "__name__", shown)
        remedy = remedies.get(
            base, "write bool, an enum, a domain, a range, X | None, Set, Map, Seq or a Record"
        )
        raise LanguageError(f"type {shown} is not in the language; {remedy}", site)

    def scalar_of(self, annotation: Any, what: str, site: Site | None) -> ScalarType:
        """The scalar type of an annotation."""
        type_ = self.type_of(annotation, site)
        if not is_scalar(type_):
            raise LanguageError(
                f"{what} is a {type_}; it has to be a bool, range, enum, element, optional or set", site
            )
        return typing.cast(ScalarType, type_)

    def _annotated(self, annotation: Any, site: Site | None) -> ValueType:
        base, *marks = get_args(annotation)
        for mark in marks:
            if isinstance(mark, Range) and base is int:
                low = self.number(mark.low, "a range's lower bound", site)
                high = self.number(mark.high, "a range's upper bound", site)
                if high < low or high - low >= 2**32:
                    set_by = [bound.name for bound in (mark.low, mark.high) if isinstance(bound, Parameter)]
                    remedy = f"; {' and '.join(set_by)} set{'s' * (len(set_by) == 1)} it" if set_by else ""
                    raise LanguageError(f"range {low}..{high} has no values or over 2^32{remedy}", site)
                return IntType(low, high)
            if isinstance(mark, Capacity) and get_origin(base) is Seq:
                capacity = self.number(mark.items, "a sequence's capacity", site)
                if capacity < 1:
                    raise LanguageError(
                        f"a sequence of capacity {capacity}; it needs at least one place", site
                    )
                parameter = mark.items.name if isinstance(mark.items, Parameter) else ""
                return SeqType(self._item(get_args(base)[0], site), capacity, parameter)
        raise LanguageError(f"{annotation} has no bounds; write 'Annotated[int, Range(low, high)]'", site)

    def _item(self, annotation: Any, site: Site | None) -> ScalarType | RecordType:
        type_ = self.type_of(annotation, site)
        if isinstance(type_, RecordType) and all(is_scalar(f.type) for f in type_.fields):
            return type_
        if not is_scalar(type_):
            raise LanguageError(
                f"a sequence of {type_}; its items have to be scalars or records of scalars", site
            )
        return typing.cast(ScalarType, type_)

    def _optional(self, annotation: Any, site: Site | None) -> OptionalType:
        items = [a for a in get_args(annotation) if a is not type(None)]
        if len(items) != 1 or len(get_args(annotation)) != 2:
            raise LanguageError(f"a union {annotation} is not in the language; write 'X | None'", site)
        item = self.scalar_of(items[0], "an optional's value", site)
        if isinstance(item, OptionalType):
            raise LanguageError("an optional of an optional; one None is enough", site)
        return OptionalType(item)

    def _key(self, annotation: Any, what: str, site: Site | None) -> EnumType | IndexType:
        type_ = self.type_of(annotation, site)
        if not isinstance(type_, EnumType | IndexType):
            raise LanguageError(f"{what} is a {type_}; it has to be of a domain or an enum", site)
        return type_

    def record(self, cls: type[Any]) -> RecordType:
        """The type of a record class; ``LanguageError`` names a field that does not fit."""
        if cls in self._records:
            return self._records[cls]
        if cls in self._unfinished:
            raise LanguageError(f"record {cls.__name__} contains itself; a state is finite, so leave it out")
        self._unfinished.append(cls)
        try:
            self._records[cls] = self._record(cls)
        finally:
            self._unfinished.pop()
        return self._records[cls]

    def _record(self, cls: type[Any]) -> RecordType:
        fields = []
        try:
            hints = get_type_hints(cls, include_extras=True)
        except NameError as e:
            raise LanguageError(
                f"{cls.__name__}: annotation names {e.name!r}, which is not defined; define it at the top"
                " level of the file",
                field_site(cls, "", naming=str(e.name)),
            ) from None
        except Exception as e:  # the user's own annotations, which Python may be told not to evaluate
            raise LanguageError(f"{cls.__name__}: {no_type(e)}", field_site(cls, "")) from None
        for name, annotation in hints.items():
            if name.startswith("_"):
                continue
            declared = getattr(cls, name, None)
            try:
                type_ = self.type_of(annotation)
            except LanguageError as e:
                raise LanguageError(
                    e.message if e.site else f"{cls.__name__}.{name}: {e.message}",
                    e.site or field_site(cls, name),
                ) from None
            fields.append(self._field(cls, name, type_, declared))
        for name, value in vars(cls).items():
            if isinstance(value, Field) and name.startswith("_"):
                written = name.removeprefix(f"_{cls.__name__}")  # Python puts the class before two dashes
                raise LanguageError(
                    f"{cls.__name__}.{written}: the name of a field begins with a letter; rename it",
                    field_site(cls, written),
                )
            if isinstance(value, Field) and name not in hints:
                raise LanguageError(
                    f"{cls.__name__}.{name} has no type; write '{name}: type = field(…)'",
                    field_site(cls, name),
                )
        if not fields:
            raise LanguageError(
                f"record {cls.__name__} has no fields; write 'name: type = field(initial, meaning)'",
                field_site(cls, ""),
            )
        return RecordType(cls, tuple(fields))

    def _field(self, cls: type[Any], name: str, type_: ValueType, declared: Any) -> FieldType:
        where = f"{cls.__name__}.{name}"
        if (cells := _cells(type_)) > MOST_CELLS:
            raise LanguageError(
                f"{where} has {cells:,} cells in every state; at most {MOST_CELLS:,}, so make it smaller",
                field_site(cls, name),
            )
        if isinstance(type_, RecordType) or (isinstance(type_, MapType) and _ends_in_record(type_)):
            if declared is not None and not (isinstance(declared, Field) and declared.initial is None):
                raise LanguageError(
                    f"{where}: a record has the initial values of its fields; write '{name}: type'",
                    field_site(cls, name),
                )
            meaning = declared.meaning if isinstance(declared, Field) else ""
            return FieldType(name, type_, None, meaning, isinstance(declared, Field) and declared.output)
        if not isinstance(declared, Field):
            raise LanguageError(
                f"{where} has no initial value; write '{name}: type = field(initial, \"meaning\")'",
                field_site(cls, name),
            )
        initial = (
            self.value(declared.initial) if isinstance(declared.initial, Parameter) else declared.initial
        )
        try:
            initial = self._initial(type_, initial)
            encode(type_, initial_value(type_, initial))
        except (ModelError, TypeError) as e:
            raise LanguageError(f"{where}: initial value: {e}", field_site(cls, name)) from None
        return FieldType(name, type_, initial, declared.meaning, declared.output)

    def _initial(self, type_: ValueType, initial: Any) -> Any:
        """An initial value as states hold it; ``ModelError`` if it does not fit."""
        match type_:
            case MapType():
                if isinstance(initial, Mapping):
                    keys = [type_.key.decode(i) for i in range(type_.key.size)]
                    for key in initial:
                        type_.key.encode(key)
                    for key in keys:
                        if key not in initial:
                            raise ModelError(f"there is nothing for key {_name(key)}; give every key a value")
                    return {key: self._initial(type_.value, initial[key]) for key in keys}
                return self._initial(type_.value, initial)
            case SeqType():
                if not isinstance(initial, tuple | list):
                    raise ModelError(f"{initial!r} is no sequence; write '()' for the empty one")
                if len(initial) > type_.capacity:
                    raise ModelError(f"{len(initial)} items in a sequence of {type_.capacity}")
                return tuple(initial)
            case SetType():
                if not isinstance(initial, Set | tuple):
                    raise ModelError(f"{initial!r} is no set; write 'frozenset()' for the empty one")
                type_.encode(frozenset(initial))
                return frozenset(initial)
            case RecordType():
                return initial
            case _:
                type_.encode(initial)
                return initial


MOST_CELLS = 1 << 16


def _cells(type_: ValueType) -> int:
    """How many scalars a value consists of."""
    match type_:
        case RecordType():
            return sum(_cells(f.type) for f in type_.fields)
        case MapType():
            return type_.key.size * _cells(type_.value)
        case SeqType():
            return 1 + type_.capacity * _cells(type_.item)
        case _:
            return 1


def _ends_in_record(type_: MapType) -> bool:
    inner: ValueType = type_
    while isinstance(inner, MapType):
        inner = inner.value
    return isinstance(inner, RecordType)


def _name(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return value.name
    return value if isinstance(value, str) else repr(value)


def field_site(cls: type[Any], name: str, naming: str = "") -> Site | None:
    """Where a field of a class is declared, or one whose type names something; as far as it can be read."""
    import inspect

    try:
        lines, start = inspect.getsourcelines(cls)
        file = os.path.realpath(inspect.getsourcefile(cls) or "?")
    except (OSError, TypeError):
        return None
    for number, text in enumerate(lines):
        declares = name and text.strip().startswith((f"{name}:", f"{name} ", f"{name}="))
        if declares or (naming and re.search(rf":.*\b{re.escape(naming)}\b", text)):
            return Site(file, start + number, text.strip())
    return Site(file, start, lines[0].strip())
