"""The cache of verdicts: what it answers, and what it never answers."""

from __future__ import annotations

import json
import uuid
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from slotproof.checker import remembered
from slotproof.checker.explicit import cache
from slotproof.checker.identity import identity
from slotproof.checker.runs import Subject, plan
from slotproof.checker.verdict import Limits
from slotproof.model.language import Alternatives, System
from slotproof.model.language.compile import compile_system
from tests.checker.conftest import Run
from tests.checker.explicit import test_pairs as shelves

COUNTER = """\
from slotproof.model.language import *

class Counter(State):
    n: Annotated[int, Range(0, 6)] = field(0, "the counter")

@decision
def most() -> bool:
    '''Whether it counts to the end.'''
    raise NotImplementedError

def to_the_end() -> bool:
    return True

def not_to_the_end() -> bool:
    return False

@action
def count(s: Counter, by: Annotated[int, Range(1, 2)]) -> None:
    '''It counts.'''
    require(s.n + by <= 6 and (most() or s.n < 4))
    s.n += by

@invariant
def small(s: Counter) -> bool:
    '''The counter stays small.'''
    return s.n < 5

def stops(s: Counter) -> bool:
    return s.n > 3

counter = System("NAME", Counter, actions=[count], properties=[small], final=stops,
                 decisions=[Alternatives(most, to_the_end, not_to_the_end)], choices={"most": "to_the_end"})
"""


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> str:
    """A system that no earlier run has seen, and the cache turned on."""
    monkeypatch.delenv("SLOTPROOF_NO_CACHE")
    return COUNTER.replace("NAME", f"counter {uuid.uuid4()}")


def _check(run: Run, text: str, *more: str, status: int = 1) -> dict[str, dict[str, Any]]:
    Path("counter.py").write_text(text)
    result = run("check", "--system", "counter.py", "--format", "json", *more)
    assert result.exit_code == status, result.output
    return {d["property"]: d for d in map(json.loads, result.stdout.splitlines())}


def _cached(found: dict[str, dict[str, Any]]) -> bool:
    (cached,) = {d["cached"] for d in found.values()}
    assert isinstance(cached, bool)
    return cached


def test_a_second_run_answers_from_the_cache_and_writes_the_same_traces(counter: str, run: Run) -> None:
    first = _check(run, counter)
    written = Path(first["small"]["trace"]).read_text()
    Path(first["small"]["trace"]).unlink()
    second = _check(run, counter)
    assert (_cached(first), _cached(second)) == (False, True)
    for found in (first, second):
        for line in found.values():
            line.pop("cached")
    assert first == second
    assert json.loads(Path(second["small"]["trace"]).read_text()) == json.loads(written)
    assert run("explain", second["small"]["trace"]).exit_code == 0
    told = run("check", "--system", "counter.py")
    assert "searched to the end; from the cache" in " ".join(told.stdout.split())
    assert not _cached(_check(run, counter, "--no-cache"))


def test_an_edit_is_searched_again_and_a_comment_is_not(counter: str, run: Run) -> None:
    _check(run, counter)
    assert _cached(_check(run, "# a comment\n\n" + counter))
    edited = {
        "action": counter.replace("require(s.n + by <= 6", "require(s.n + by <= 5"),
        "property": counter.replace("s.n < 5", "s.n < 6"),
        "parameter": counter.replace("Range(1, 2)", "Range(1, 3)"),
        "initial value": counter.replace('field(0, "the', 'field(1, "the'),
        "final": counter.replace("return s.n > 3", "return s.n > 4"),
        "alternative": counter.replace("return True", "return False"),
        "choice": counter.replace('"most": "to', '"most": "not_to'),
    }
    for what, text in edited.items():
        assert text != counter, what
        assert not _cached(_check(run, text)), what
        assert _cached(_check(run, text)), what
    other = counter.replace("return False", "return 1 > 2")
    assert other != counter
    assert _cached(_check(run, other)), "the alternative that is not chosen"
    assert _cached(_check(run, counter))


def test_what_did_not_come_to_its_end_is_not_kept(counter: str, run: Run) -> None:
    for _ in range(2):
        found = _check(run, counter, "--max-depth", "1", status=3)
        assert {d["verdict"] for d in found.values()} == {"unknown"}
        assert not _cached(found)
    assert not _cached(_check(run, counter))
    assert not _cached(_check(run, counter, "--max-depth", "1", status=3)), (
        "another limit is another question"
    )


def test_engines_and_what_is_asked_of_them_are_told_apart(counter: str, run: Run) -> None:
    _check(run, counter)
    bounded = _check(run, counter, "--engine", "bounded", "--max-depth", "4", "--property", "small")
    assert not _cached(bounded)
    assert not _cached(_check(run, counter, "--property", "small")), "its search may leave something out"
    assert _cached(_check(run, counter, "--property", "small"))


def test_whatever_a_search_is_told_is_part_of_the_key(
    counter: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of threads does not count; another option does, and one that is added is not forgotten."""
    _check(run, counter)
    subject = Subject(None, None, False, "counter.py", ())
    (search,) = plan([subject], ["explicit"], None)
    key = remembered.key_of(search, Limits())
    assert remembered.key_of(replace(search, workers=7), Limits(seconds=3.0)) == key
    others = [replace(search, properties=("small",)), replace(search, symmetric=True)]
    keys = {remembered.key_of(s, Limits()) for s in others} | {remembered.key_of(search, Limits(states=9))}
    assert len(keys | {key}) == 4
    told = {f.name for f in fields(search)} - set(remembered.INDIFFERENT)
    assert told == {"engine", "properties", "symmetric"}, "is it in the key? then name it here"


def test_an_entry_that_is_not_sound_is_searched_again(
    counter: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[str, bytes]] = []

    def keep(key: str, content: bytes, kind: str, most: int) -> None:
        kept.append((key, content))

    with monkeypatch.context() as without:
        without.setattr(cache, "store", keep)
        _check(run, counter)
    ((key, content),) = kept
    folder = cache.directory()
    assert folder is not None
    path = folder / f"{key}{remembered.KIND}"
    for broken in (b"", b"nothing", content):  # a whole file begins with a digest of the rest
        path.write_bytes(broken)
        assert not _cached(_check(run, counter))
    good = json.loads(content)
    bad: list[dict[str, Any]] = [
        {},
        {**good, "verdicts": {}},
        {**good, "verdicts": {"small": good["verdicts"]["small"]}},
        {**good, "coverages": []},
    ]
    short = json.loads(content)
    short["verdicts"]["small"]["traces"][0]["states"].pop()
    for entry in (*bad, short):
        cache.store(key, json.dumps(entry).encode(), remembered.KIND, remembered.KEPT)
        assert not _cached(_check(run, counter))
    assert _cached(_check(run, counter))


def test_another_version_of_the_engine_does_not_know_it(
    counter: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check(run, counter)
    monkeypatch.setattr(remembered, "tool", lambda: "another")
    assert not _cached(_check(run, counter))


def test_the_source_of_every_engine_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = Path.read_bytes

    def note(path: Path) -> bytes:
        read.append(path.name)
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", note)
    remembered.tool.__wrapped__()
    needed = {
        "loop.py",
        "engine.py",
        "temporal.py",
        "vacuity.py",
        "runs.py",
        "execution.py",
        "interpreter.py",
    }
    assert needed <= set(read)


def test_the_identity_is_that_of_the_chosen_alternatives_alone() -> None:
    """More alternatives, or others in another order, are another program and the same system."""
    plain = compile_system(shelves.shelf)
    turned = compile_system(
        System(
            "shelf",
            shelves.Shelf,
            [shelves.take, shelves.put],
            decisions=[
                Alternatives(shelves.enough, shelves.at_four, shelves.at_three),
                Alternatives(shelves.put_down, *shelves.PUT[::-1]),
            ],
        )
    )
    assert plain.digest != turned.digest
    found = {}
    for i, j in product(range(2), range(len(shelves.PUT))):
        found[i, j] = identity(plain, (i, j))
        # Causes of crashes are properties of their own, so that their order is part of it.
        alike = identity(turned, (i, len(shelves.PUT) - 1 - j)) == found[i, j]
        assert alike == (plain.crashes == turned.crashes)
    assert len(set(found.values())) == len(found)
    fewer = compile_system(
        System(
            "shelf",
            shelves.Shelf,
            [shelves.take, shelves.put],
            decisions=[
                Alternatives(shelves.enough, shelves.at_three, shelves.at_four),
                shelves.shelf.decisions[1],
            ],
        )
    )
    for j in range(len(shelves.PUT)):
        assert identity(fewer, (1, j)) == found[0, j]
        assert identity(fewer, (0, j)) == found[1, j]
