"""The words of a system that a page uses, each with its meaning from where it is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slotproof.model.language.wording import meaning_of

ENDINGS = r"(?:s|es|d|ed|ing|\d+)?"


def glossary(words: Mapping[str, object], texts: Iterable[str]) -> list[tuple[str, str]]:
    """The words that occur in some texts, or in the meaning of one that does, in the order of ``words``."""
    meanings = {word: meaning_of(declared) for word, declared in words.items()}
    found: set[str] = set()
    new = "\n".join(texts)
    while new:
        used = {w for w in meanings if w not in found and _occurs(w, new)}
        found |= used
        new = "\n".join(meanings[w] for w in used)
    return [(word, meaning) for word, meaning in meanings.items() if word in found and meaning]


def _occurs(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word)}{ENDINGS}\b", text, re.I) is not None


def texts_of(data: Any) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from texts_of(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from texts_of(value)
