"""A release is compiled once, into the cache folder, and the modules that decide nothing are not read."""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from slotproof.counterexamples.replay.sglang import bytecode, standins

NAME = "release_of_the_test"

Import = Callable[[], ModuleType]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Import]:
    """Imports a module of a folder as a process that has just begun would."""
    package = tmp_path / "release" / NAME
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("ANSWER = 1\n")
    monkeypatch.setenv("SLOTPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path / "release")
    hooks = list(sys.path_hooks)

    def forget() -> None:
        sys.path_hooks[:] = hooks
        sys.path_importer_cache.clear()
        for name in [NAME, f"{NAME}.part"]:
            sys.modules.pop(name, None)

    def run() -> ModuleType:
        forget()
        bytecode.install(tmp_path / "release")
        return importlib.import_module(f"{NAME}.part")

    yield run
    forget()


def test_a_release_is_compiled_once_and_its_folder_left_alone(
    imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if Python is told to write no compiled files."""
    assert imported().ANSWER == 1
    assert not list((tmp_path / "release").rglob("*.pyc"))
    assert len(list((tmp_path / "cache").rglob("*.pyc"))) == 2
    monkeypatch.setattr(importlib.machinery.SourceFileLoader, "source_to_code", None)
    assert imported().ANSWER == 1
    assert sys.dont_write_bytecode


def test_a_file_that_has_changed_is_compiled_again(imported: Import, tmp_path: Path) -> None:
    """As ever in Python."""
    imported()
    changed = tmp_path / "release" / NAME / "part.py"
    changed.write_text("ANSWER = 1 + 41\n")
    assert imported().ANSWER == 42


def test_without_a_place_to_write_it_is_compiled_as_ever(
    imported: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay needs no cache."""
    monkeypatch.setattr(bytecode, "directory", lambda: None)
    assert imported().ANSWER == 1


def test_the_code_of_a_few_folders_stays(
    imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was not used for longest goes."""
    places = tmp_path / "cache" / "bytecode"
    for age, name in enumerate(["new", "old"]):
        (places / name).mkdir(parents=True)
        os.utime(places / name, (1000 - age, 1000 - age))
    monkeypatch.setattr(bytecode, "KEPT", 2)
    imported()
    assert {path.name for path in places.iterdir()} > {"new"}
    assert not (places / "old").exists()


def test_a_module_of_the_list_is_not_read_though_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named in the report of a run by its whole name; a missing package by its own."""
    package = tmp_path / NAME
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "large.py").write_text("raise RuntimeError('this was read')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(standins, "UNREAD", {f"{NAME}.large": "a test"})
    monkeypatch.setattr(standins, "PACKAGES", {"package_that_nobody_has": "a test"})
    standins.install()
    names = [NAME, f"{NAME}.large", "package_that_nobody_has", "package_that_nobody_has.part"]
    try:
        large = importlib.import_module(f"{NAME}.large")
        part = importlib.import_module("package_that_nobody_has.part")
        assert isinstance(large.Model, type)
        assert isinstance(part.Model, type)
        assert set(standins.stood_in()) == {f"{NAME}.large", "package_that_nobody_has"}
    finally:
        for name in names:
            sys.modules.pop(name, None)


def test_what_is_not_compiled_is_the_function_itself() -> None:
    """The compiler that is not read is asked to leave functions alone, as decorators do in several ways."""
    compiler = standins.StandIn("torch._dynamo")

    def function() -> None:
        """Decorated."""

    assert compiler.disable(function, False, wrapping=False) is function
    assert compiler.disable(recursive=False)(function) is function
    assert compiler.is_compiling() is False
