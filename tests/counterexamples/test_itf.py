"""Trace files: what is written is read again, other ITF tools read it, and bad files are one-line errors."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import itf_py
import jsonschema
import pytest

from slotproof.counterexamples import itf
from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.trace import Trace
from slotproof.model.language.compile import compile_system
from slotproof.model.language.program import Program
from tests.counterexamples import shop

PROPERTIES = ["room-for-more", "buys-news", "few-of-each", "no-crash-third-of-a-kind"]


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_trace_is_read_as_it_was_written(
    name: str, traces: dict[str, Trace], program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "shop.itf.json"
    itf.write(traces[name], program, path, "shop", "shop.py:shop")
    file = itf.read(path)
    assert file.trace(program) == traces[name]
    assert (file.scenario, file.system_file, file.release) == ("shop", "shop.py:shop", None)
    assert file.decisions == {"may_order": "always"}
    assert file.parameters == {"room": 2, "goods": 2, "counts": 3}
    assert file.digest == program.digest


def test_a_lasso_keeps_its_loop(traces: dict[str, Trace], program: Program, tmp_path: Path) -> None:
    lasso = replace(traces["room-for-more"], loop=2, release="0.5.13")
    itf.write(lasso, program, tmp_path / "lasso.itf.json", "shop")
    assert itf.read(tmp_path / "lasso.itf.json").trace(program) == lasso


def test_values_are_written_as_apalache_and_quint_write_them(
    traces: dict[str, Trace], program: Program
) -> None:
    document = itf.document(traces["room-for-more"], program, "shop")
    last = document["states"][-1]
    assert last["#meta"] == {"index": 4, "action": "buy", "arguments": {}}
    assert last["mode"] == "BUSY"
    assert last["queue"] == []
    assert last["store"] == {
        "held": {"#set": ["A", "B"]},
        "last": {"tag": "Some", "value": "B"},
        "left": {"tag": "Some", "value": -1},
        "bought": {"tag": "Some", "value": {"#set": ["A", "B"]}},
        "seen": {"#map": [["A", {"#bigint": "1"}], ["B", {"#bigint": "1"}]]},
        "output_moved": {"tag": "Some", "value": "B"},
    }
    first = document["states"][0]
    assert first["#meta"] == {"index": 0, "action": "opens", "arguments": {"a": "A"}}
    assert first["store"]["bought"] == {"tag": "Nothing", "value": "U_OF_UNIT"}
    assert document["states"][1]["queue"] == [{"good": "A", "urgent": False}]
    assert document["states"][1]["#meta"]["arguments"] == {"a": "A", "urgent": False}


def test_metadata_says_what_the_trace_is_about(traces: dict[str, Trace], program: Program) -> None:
    meta = itf.document(traces["no-crash-third-of-a-kind"], program, "shop")["#meta"]
    assert meta["format"] == "ITF"
    assert meta["property"] == "no-crash-third-of-a-kind"
    assert meta["crash"] == "third-of-a-kind"
    assert meta["decisions"] == {"may_order": "always"}
    assert meta["engine"] == "interpreter"


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_trace_meets_the_published_schema(
    name: str, traces: dict[str, Trace], program: Program
) -> None:
    jsonschema.Draft202012Validator.check_schema(itf.schema())
    jsonschema.validate(itf.document(traces[name], program, "shop"), itf.schema())


def test_another_itf_library_reads_a_trace(traces: dict[str, Trace], program: Program) -> None:
    """All but an optional set: `itf_py` takes the value of a tag for a record (a known limit of it)."""
    document = itf.document(traces["room-for-more"], program, "shop")
    for state in document["states"]:
        del state["store"]["bought"]
    trace = itf_py.trace_from_json(document)
    assert trace.vars == ["store", "mode", "queue"]
    assert trace.states[-1].values["store"].held == frozenset({"A", "B"})
    assert trace.states[-1].values["store"].left.value == -1


def test_the_file_is_the_same_on_every_run(tmp_path: Path) -> None:
    """Sets are written in order: Python's own order of strings differs from process to process."""
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from pathlib import Path\n"
        "from slotproof.counterexamples import itf\n"
        "from slotproof.model.language.compile import compile_system\n"
        "from tests.counterexamples import shop\n"
        "from tests.counterexamples.finding import find\n"
        "program = compile_system(shop.shop)\n"
        "itf.write(find(program, 'room-for-more', shop.shop.choices), program, Path(sys.argv[1]), 'shop')\n"
    )
    root = Path(__file__).parents[2]
    texts = set()
    for seed in ("1", "2", "3"):
        path = tmp_path / f"{seed}.itf.json"
        environment = {**_environment(), "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(path)], cwd=root, env=environment, check=True)
        texts.add(path.read_text())
    assert len(texts) == 1


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


Edit = Callable[[dict[str, Any]], Any]


def _set(value: Any, *path: Any) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        at: Any = document
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return edit


def _delete(*path: Any) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        at: Any = document
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]

    return edit


META = ("states", 1, "#meta")
STORE = ("states", 1, "store")

BAD_FILES: list[tuple[str, Edit, str]] = [
    ("no metadata", _delete("#meta"), "is no trace: an ITF file is an object with #meta, vars and states"),
    ("foreign", _delete("#meta", "source"), "#meta.source: None, where 'slotproof' has to stand"),
    ("newer", _set(2, "#meta", "schema"), "#meta.schema: 1 was expected"),
    ("property gone", _delete("#meta", "property"), "#meta: 'property' is a required property"),
    (
        "decision is a number",
        _set(3, "#meta", "decisions", "may_order"),
        "#meta.decisions.may_order: 3 is not of",
    ),
    ("no states", _set([], "states"), "states: [] should be non-empty"),
    ("action is a number", _set(7, *META, "action"), "states[1].#meta.action: 7 is not of type"),
    ("unknown key", _set(1, "more"), "Additional properties are not allowed ('more' was unexpected)"),
    (
        "unknown action",
        _set("oder", *META, "action"),
        "states[1].#meta.action: shop has no action 'oder'; did you mean order?",
    ),
    (
        "initial action missing",
        _set(None, "states", 0, "#meta", "action"),
        "states[0].#meta.action: null, where",
    ),
    ("action missing", _set(None, *META, "action"), "states[1].#meta.action: null, where an action"),
    (
        "argument missing",
        _delete(*META, "arguments", "a"),
        "states[1].#meta.arguments: parameter 'a' of order is missing",
    ),
    (
        "argument too many",
        _set("A", *META, "arguments", "b"),
        "states[1].#meta.arguments: order has no parameter 'b'",
    ),
    (
        "argument of another type",
        _set(1, *META, "arguments", "urgent"),
        "states[1].#meta.arguments.urgent: 1 is no bool",
    ),
    ("unknown element", _set("Z", *META, "arguments", "a"), "a: 'Z' is no Good; it is one of: A, B"),
    ("variable gone", _delete("states", 1, "mode"), "states[1]: field 'mode' is missing"),
    (
        "variable misspelt",
        _set(1, "states", 1, "moed"),
        "states[1]: there is no field 'moed'; did you mean mode?",
    ),
    ("vars misspelt", _set(["stor"], "vars"), "vars: shop has no variable 'stor'; did you mean store?"),
    (
        "member misspelt",
        _set("BUSSY", "states", 1, "mode"),
        "states[1].mode: 'BUSSY' is no Mode; did you mean BUSY?",
    ),
    ("set is a list", _set(["A"], *STORE, "held"), "states[1].store.held: ['A'] is no {\"#set\": […]}"),
    ("optional untagged", _set("A", *STORE, "last"), "states[1].store.last: 'A' is neither Some nor Nothing"),
    (
        "number out of range",
        _set({"tag": "Some", "value": 9}, *STORE, "left"),
        "states[1].store.left: 9 leaves the range -2..3",
    ),
    (
        "number is text",
        _set({"#map": [["A", "x"], ["B", 0]]}, *STORE, "seen"),
        "states[1].store.seen[A]: 'x' is no whole number",
    ),
    (
        "map misses a key",
        _set({"#map": [["A", 0]]}, *STORE, "seen"),
        "states[1].store.seen: nothing for key B",
    ),
    (
        "sequence too long",
        _set([{"good": "A", "urgent": True}] * 3, "states", 1, "queue"),
        "states[1].queue: 3 items, where 2 is the most",
    ),
    (
        "item misses a field",
        _set([{"good": "A"}], "states", 1, "queue"),
        "states[1].queue[0]: field 'urgent' is missing",
    ),
    ("item is no record", _set([3], "states", 1, "queue"), "states[1].queue[0]: 3 is no record"),
    ("index wrong", _set(5, *META, "index"), "states[1].#meta.index: 5, where 1 has to stand"),
    ("loop too far", _set(9, "loop"), "loop: there is no state 9"),
]


@pytest.mark.parametrize(("edit", "message"), [b[1:] for b in BAD_FILES], ids=[b[0] for b in BAD_FILES])
def test_a_hand_edited_file_is_an_error_that_names_file_and_field(
    edit: Edit, message: str, traces: dict[str, Trace], program: Program, tmp_path: Path
) -> None:
    document = copy.deepcopy(itf.document(traces["room-for-more"], program, "shop"))
    edit(document)
    path = tmp_path / "edited.itf.json"
    path.write_text(json.dumps(document))
    with pytest.raises(TraceError) as error:
        itf.read(path).trace(program)
    text = str(error.value)
    assert text.startswith(f"{path}: ")
    assert message in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"#meta": {', "line 1: ends in the middle, it was cut off"),
        (b'{"#meta": }', "line 1: is no JSON"),
        (b"", "line 1: ends in the middle"),
        (b"[]", "is no trace"),
        (b"\xff\xfe\x00", "is no text"),
        (b"[" * 100_000, "is no trace: nested too deeply"),
        (b"[" + b"1" * 5000 + b"]", "is no trace: a number in it is too long"),
        (b'{"#meta": {"source": "Apalache"}, "vars": [], "states": []}', "#meta.source: 'Apalache'"),
    ],
)
def test_a_file_that_is_no_trace_is_a_one_line_error(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.itf.json"
    path.write_bytes(content)
    with pytest.raises(TraceError) as error:
        itf.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_names_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "shop.room.itf.json").write_text("{}")
    with pytest.raises(TraceError, match=r"there is no such file; did you mean shop\.room\.itf\.json\?"):
        itf.read(tmp_path / "shop.rom.itf.json")
    with pytest.raises(TraceError, match="cannot be read"):
        itf.read(tmp_path)


def test_a_file_is_written_whole_or_not_at_all(
    traces: dict[str, Trace], program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "shop.itf.json"
    path.write_text("old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        itf.write(traces["room-for-more"], program, path, "shop")
    assert path.read_text() == "old"


def test_elements_with_equal_names_stay_apart(traces: dict[str, Trace], tmp_path: Path) -> None:
    class Twin(shop.Good, size=2, names=("twin1",)):
        """The second has no name of its own, and the one that it gets is the first's."""

    from slotproof.counterexamples.encoding import names
    from slotproof.model.language.types import IndexType

    assert names(IndexType(Twin, 2)) == ("Twin0", "Twin1")


def test_a_larger_system_refuses_the_states_of_a_smaller_one(
    traces: dict[str, Trace], program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "shop.itf.json"
    itf.write(traces["room-for-more"], program, path, "shop")
    larger = compile_system(shop.shop.with_parameters(goods=3))
    with pytest.raises(TraceError, match=r"states\[0\]\.store\.seen: nothing for key C"):
        itf.read(path).trace(larger)
