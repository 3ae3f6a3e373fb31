"""A small server for tests of the command line: three releases of a shop, and two scenarios of it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from slotproof.model.language.surface import Property, Witness
from slotproof.model.language.system import Alternatives, System
from slotproof.model.releases import base_of
from tests.counterexamples import shop


@dataclass(frozen=True)
class Cell:
    """What a release does at a decision."""

    since: str
    alternative: Callable[..., Any]
    reference: str


@dataclass(frozen=True)
class Release:
    """Which alternatives a release has."""

    name: str
    choices: Mapping[str, str]


@dataclass(frozen=True)
class Scenario:
    """The shop at two sizes."""

    name: str
    meaning: str
    quick: Mapping[str, Any]
    full: Mapping[str, Any]
    properties: Sequence[Property] = tuple(shop.shop.properties)
    witnesses: Sequence[Witness] = field(default=())

    def system(self, release: Release, full: bool = False, lemmas: bool = False) -> System:
        """The system of one release."""
        system = shop.shop.with_choices(release.choices)
        return system.with_parameters(**(self.full if full else self.quick))


HISTORY = {shop.may_order: (Cell("0.1", shop.always, "#1"), Cell("0.3", shop.only_new, "#3"))}
RELEASES = ("0.1", "0.2.post1", "0.3")


def release(name: str) -> Release:
    """A release by its name."""
    return Release(name, {"may_order": "only_new" if name == "0.3" else "always"})


SCENARIOS = {
    "market": Scenario("market", "Two kinds of goods.", {"goods": 2}, {"goods": 3}),
    "kiosk": Scenario("kiosk", "One kind of goods.", {"goods": 1, "room": 1}, {"goods": 1, "room": 2}),
}


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line see these instead of the real server."""
    contents: dict[str, dict[str, Any]] = {
        "slotproof.model.releases": {
            "RELEASES": RELEASES,
            "HISTORY": HISTORY,
            "release": release,
            "base_of": base_of,
        },
        "slotproof.properties": {"SCENARIOS": SCENARIOS},
        "slotproof.model.decisions": {
            "DECISIONS": [Alternatives(shop.may_order, shop.always, shop.only_new)],
        },
    }
    for name, content in contents.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
