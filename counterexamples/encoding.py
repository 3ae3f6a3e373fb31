"""Values of the language as ITF values, and back.

Whole numbers, strings, sets, maps, lists and records are written as Apalache and Quint write them.
An enum member or a domain element is the string of its name. An optional is a tagged union,
``Some`` or ``Nothing`` (not ``None``: ITF libraries for Python make a class of each tag, and that name
is a keyword). An output is marked by ``output_`` before its name: it is shown and not part of the state.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import itf_py

from slotproof.model.language.domains import Domain
from slotproof.model.language.errors import ModelError
from slotproof.model.language.types import (
    BoolType,
    EnumType,
    FieldType,
    IndexType,
    IntType,
    KeyType,
    MapType,
    OptionalType,
    RecordType,
    ScalarType,
    SeqType,
    SetType,
    ValueType,
)
from slotproof.model.near import near, near_or_all

OUTPUT = "output_"
MANY = 5
"""Names from which on a set of every one is said as such."""
UNIT = "U_OF_UNIT"


class EncodingError(ValueError):
    """A value in a file that is none of its type; ``path`` says where."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")


@itf_py.itf_variant
class Some:
    """An optional that holds a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


@itf_py.itf_variant
class Nothing:
    """An optional that is empty."""

    def __init__(self) -> None:
        self.value = UNIT


class _InOrder(frozenset[str]):
    """A set that is written in the order of its elements' numbers: the same file on every run."""

    order: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.order)


@cache
def names(type_: KeyType) -> tuple[str, ...]:
    """The name of each element, in order; numbered where names would not tell the elements apart."""
    found = tuple(label(type_.decode(i)) for i in range(type_.size))
    return found if len(set(found)) == len(found) else tuple(f"{type_.name}{i}" for i in range(type_.size))


def label(value: Any) -> str:
    """A scalar value of the language in a person's words."""
    match value:
        case frozenset() | set():
            return "{" + ", ".join(label(v) for v in sorted(value, key=_number)) + "}"
        case enum.Enum():
            return value.name
    return str(value)


def in_words(value: Any) -> str:
    """A value as ``label`` gives it, but a set of every one of many names as that: ``every Layer (10)``."""
    if isinstance(value, set | frozenset) and len(value) >= MANY:
        kinds = {type(v) for v in value}
        kind = kinds.pop()
        if not kinds and issubclass(kind, enum.Enum) and len(value) == len(kind):
            return f"every {kind.__name__} ({len(value)})"
    return label(value)


def _number(value: Any) -> int:
    members: Any = type(value)
    return value.index if isinstance(value, Domain) else list(members).index(value)


def field_name(field: FieldType) -> str:
    """What a field is called in a file."""
    return OUTPUT + field.name if field.output else field.name


def to_itf(type_: ValueType, value: Any) -> Any:
    """A value of the language as the Python value that ``itf_py`` writes."""
    match type_:
        case BoolType() | IntType():
            return value
        case EnumType() | IndexType():
            return names(type_)[type_.encode(value)]
        case SetType():
            known = names(type_.item)
            elements = _InOrder(known[type_.item.encode(v)] for v in value)
            elements.order = tuple(name for name in known if name in frozenset(elements))
            return elements
        case OptionalType():
            return Nothing() if value is None else Some(to_itf(type_.item, value))
        case MapType():
            return {n: to_itf(type_.value, value[k]) for n, k in zip(names(type_.key), value, strict=True)}
        case SeqType():
            return [to_itf(type_.item, item) for item in value]
        case RecordType():
            return SimpleNamespace(
                **{field_name(f): to_itf(f.type, getattr(value, f.name)) for f in type_.fields}
            )


def small_numbers(document: Any) -> Any:
    """The same document with the number inside a ``Some`` written plainly.

    ITF allows both forms, and ``itf_py`` cannot read an object there.
    """
    match document:
        case {"tag": "Some", "value": {"#bigint": digits}}:
            return {"tag": "Some", "value": int(digits)}
        case dict():
            return {k: small_numbers(v) for k, v in document.items()}
        case list():
            return [small_numbers(v) for v in document]
    return document


def from_itf(type_: ValueType, raw: Any, path: str) -> Any:
    """The value of a type that stands at ``path`` of a file: records as plain objects, maps as dicts."""
    match type_:
        case MapType():
            return _map_from(type_, _inside(raw, "#map", path), path)
        case SeqType():
            if not isinstance(raw, list):
                raise EncodingError(path, f"{_brief(raw)} is no list")
            if len(raw) > type_.capacity:
                raise EncodingError(path, f"{len(raw)} items, where {type_.capacity} is the most")
            return [from_itf(type_.item, item, f"{path}[{i}]") for i, item in enumerate(raw)]
        case RecordType():
            fields = {field_name(f): f for f in type_.fields}
            _same_names(raw, fields, path)
            return SimpleNamespace(
                **{f.name: from_itf(f.type, raw[name], f"{path}.{name}") for name, f in fields.items()}
            )
        case _:
            return _scalar_from(type_, raw, path)


def _map_from(type_: MapType, pairs: Any, path: str) -> dict[Any, Any]:
    found = {}
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2):
            raise EncodingError(path, f"{_brief(pair)} is no pair of a key and a value")
        key = _scalar_from(type_.key, pair[0], path)
        found[key] = from_itf(type_.value, pair[1], f"{path}[{pair[0]}]")
    keys = [type_.key.decode(i) for i in range(type_.key.size)]
    for key in keys:
        if key not in found:
            raise EncodingError(path, f"nothing for key {label(key)}")
    return {key: found[key] for key in keys}


def _scalar_from(type_: ScalarType, raw: Any, path: str) -> Any:
    value: Any
    match type_:
        case OptionalType():
            if isinstance(raw, dict) and raw.get("tag") == "Nothing":
                return None
            if not (isinstance(raw, dict) and raw.get("tag") == "Some" and "value" in raw):
                raise EncodingError(path, f"{_brief(raw)} is neither Some nor Nothing")
            return _scalar_from(type_.item, raw["value"], path)
        case EnumType() | IndexType():
            known = names(type_)
            if raw not in known:
                hint = near_or_all(str(raw), known, "it is one of")
                raise EncodingError(path, f"{_brief(raw)} is no {type_}{hint}")
            return type_.decode(known.index(raw))
        case SetType():
            items = _inside(raw, "#set", path)
            value = frozenset(_scalar_from(type_.item, item, path) for item in items)
        case IntType():
            value = _whole_number(raw, path)
        case _:
            value = raw
    try:
        type_.encode(value)
    except ModelError as error:
        raise EncodingError(path, error.message) from None
    return value


def _whole_number(raw: Any, path: str) -> int:
    digits = raw.get("#bigint") if isinstance(raw, dict) else raw
    try:
        if isinstance(digits, bool) or not isinstance(digits, int | str):
            raise ValueError
        return int(digits)
    except ValueError:
        raise EncodingError(path, f"{_brief(raw)} is no whole number") from None


def _inside(raw: Any, mark: str, path: str) -> list[Any]:
    if not (isinstance(raw, dict) and isinstance(raw.get(mark), list)):
        raise EncodingError(path, f'{_brief(raw)} is no {{"{mark}": […]}}')
    inside: list[Any] = raw[mark]
    return inside


def _same_names(raw: Any, wanted: Iterable[str], path: str) -> None:
    if not isinstance(raw, dict):
        raise EncodingError(path, f"{_brief(raw)} is no record")
    wanted = list(wanted)
    for name in wanted:
        if name not in raw:
            raise EncodingError(path, f"field '{name}' is missing")
    for name in raw:
        if name not in wanted:
            raise EncodingError(path, f"there is no field '{name}'{near(name, wanted)}")


def plain(value: Any) -> Any:
    """A value of the language as plain JSON, for a trace's metadata."""
    match value:
        case None | bool() | int() | str():
            return value
        case frozenset() | set():
            return [label(v) for v in sorted(value, key=_number)]
        case list() | tuple():
            return [plain(v) for v in value]
    if isinstance(value, Mapping) or hasattr(value, "__getitem__"):
        return {label(key): plain(value[key]) for key in value}
    return label(value)


def setting(value: Any) -> str:
    """A parameter's value, as ``--set`` takes it."""
    match plain(value):
        case dict() as pairs:
            return "{" + ", ".join(f"{key}: {setting(v)}" for key, v in pairs.items()) + "}"
        case list() as elements:
            return "{" + ", ".join(map(str, elements)) + "}"
        case scalar:
            return label(scalar)


def to_plain(type_: ScalarType, value: Any) -> Any:
    """A scalar of a type as plain JSON, which ``from_plain`` reads."""
    match type_:
        case OptionalType():
            return None if value is None else to_plain(type_.item, value)
        case EnumType() | IndexType():
            return names(type_)[type_.encode(value)]
        case SetType():
            return [name for i, name in enumerate(names(type_.item)) if type_.encode(value) >> i & 1]
        case _:
            return value


def from_plain(type_: ScalarType, raw: Any, path: str) -> Any:
    """The scalar of a type that stands as plain JSON at ``path``."""
    match type_:
        case OptionalType():
            return None if raw is None else from_plain(type_.item, raw, path)
        case SetType():
            return _scalar_from(type_, {"#set": raw}, path)
        case _:
            return _scalar_from(type_, raw, path)


def _brief(raw: Any) -> str:
    text = repr(raw)
    return text if len(text) <= 40 else text[:37] + "..."
