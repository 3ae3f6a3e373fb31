"""Wrong use is one line on standard error, with the near matches or the remedy, and exit status 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checker.conftest import Run

OPTIONS: list[tuple[list[str], str]] = [
    (["chek"], "there is no command 'chek'; did you mean check?"),
    (["frobnicate"], "there is no command 'frobnicate'; there are: check, "),
    (["check", "--relase", "0.1"], "there is no option --relase; did you mean --release?"),
    (["check", "--release"], "--release"),
    (["check", "--release", "0.2"], "there is no release '0.2'; did you mean 0.2.post1"),
    (["check", "--scenario", "markt"], "there is no scenario 'markt'; did you mean market?"),
    (
        ["check", "--property", "room-for-mor"],
        "there is no property 'room-for-mor'; did you mean room-for-more?",
    ),
    (["check", "--property", "no-crash-third"], "did you mean no-crash-third-of-a-kind?"),
    (["check", "--engine", "explict"], "there is no engine 'explict'; did you mean explicit?"),
    (["check", "--format", "jsn"], "there is no format 'jsn'; did you mean json?"),
    (["check", "--format", "xml"], "there is no format 'xml' (there are: text, json,"),
    (["check", "--symmetry", "--engine", "bounded"], "--symmetry is for engine explicit alone"),
    (["check", "--workers", "0"], "0 is not in the range"),
    (["check", "--max-states", "many"], "'many' is not a valid integer"),
    (["check", "--timeout", "0"], "0.0 is not in the range"),
    (["check", "--timeout", "nan"], "nan is no number of seconds"),
    (["compare", "0.5.22", "0.5.23", "--timeout", "nan"], "nan is no number of seconds"),
    (["prove", "idle-rank", "--timeout", "nan"], "nan is no number of seconds"),
    (["check", "--set", "goods"], "--set goods: write --set NAME=VALUE"),
    (["check", "--set", "goods="], "there is no value"),
    (["check", "--set", "goods=1", "--set", "goods=2"], "'goods' is set twice"),
    (["check", "--set", "good=1"], "system shop has no parameter 'good'; did you mean goods?"),
    (["check", "--set", "goods=many"], "parameter goods: 'many' is no int"),
    (["check", "--set", "goods={1"], "a } is missing"),
    (["check", "--set", "goods={A,b:1}"], "a set and a map are mixed"),
    (["check", "--set", "goods=1 2"], "'2' is left over"),
    (["check", "--set", "goods={{{1}}}"], "braces in braces in braces; write {A,B} or {r1: {A,B}, r2: {C}}"),
    (["check", "--set", f"goods={'{' * 5000}"], "braces in braces in braces"),
    (["check", "--set", f"goods={'1' * 5000}"], "a number of 5000 digits is too large"),
    (["check", "--set", "goods=0"], "domain Good has 0 elements; it needs at least one"),
    (
        ["check", "--baseline", "b.json", "--no-baseline"],
        "--baseline and --no-baseline contradict each other",
    ),
    (
        ["check", "--baseline", "none.json"],
        "none.json: there is no such file; --write-baseline none.json writes it",
    ),
    (["check", "--verbose", "--quiet"], "--verbose and --quiet contradict each other"),
    (["check", "--system", "shop.py", "--release", "0.1"], "--release does not go with --system"),
    (["check", "--system", "shop.py", "--full"], "--full does not go with --system"),
    (["check", "extra"], "'extra' stands by itself (slotproof check --help)"),
    (["check", "kiosk", "more"], "'kiosk' stands by itself; write --scenario kiosk"),
    (["check", "bounded"], "'bounded' stands by itself; write --engine bounded"),
    (["check", "my.py"], "'my.py' stands by itself; write --candidate my.py or --system my.py"),
    (["compare", "0.5.22", "0.5.23", "my.py"], "'my.py' stands by itself (slotproof compare --help)"),
    (["export", "my.py", "--to", "aiger"], "'my.py' is no scenario; write --system my.py"),
    (["prove", "my.py"], "'my.py' is no scenario; write --system my.py"),
    (["list"], "Missing argument"),
    (["list", "release"], "there is no list 'release'; did you mean releases?"),
    (["explain"], "Missing argument"),
    (["explain", "none.itf.json"], "none.itf.json: there is no such file"),
    (["explain", "none.itf.json", "--format", "txt"], "there is no format 'txt'; did you mean text?"),
]


def _one_line(result: Any, message: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message.lower() in result.stderr.lower()
    assert result.stderr.startswith("slotproof: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("shops")
@pytest.mark.parametrize(("arguments", "message"), OPTIONS, ids=[" ".join(a)[:60] for a, _ in OPTIONS])
def test_a_wrong_option_is_one_line_with_the_remedy(arguments: list[str], message: str, run: Run) -> None:
    _one_line(run(*arguments), message)


SMALL = """\
from slotproof.model.language import *

top = parameter("top", int, 2, "where the counter stops")
quick = parameter("quick", bool, False, "whether it counts by two")

class Counter(State):
    n: Annotated[int, Range(0, top)] = field(0, "the counter")

@action
def count(s: Counter) -> None:
    '''It counts.'''
    require(s.n < top)
    s.n += 2 if quick else 1

counter = System("counter", Counter, actions=[count], final=None)
"""

JUDGED = """\
@invariant
def low(s: Counter) -> bool:
    return s.n < 2

@invariant
def low_enough(s: Counter) -> bool:
    return s.n < 9

counter = """

FILES: list[tuple[str, str, list[str], str]] = [
    ("a syntax error", "x = 1\ndef f(:\n", [], "my.py:2: syntax error: invalid syntax"),
    (
        "an import error",
        "import sys\nimport nowhere\n",
        [],
        "my.py:2: ModuleNotFoundError: No module named 'nowhere'",
    ),
    (
        "an error of its own",
        "def f():\n    return 1 / 0\nf()\n",
        [],
        "my.py:2: ZeroDivisionError: division by zero",
    ),
    ("an exit", "import sys\nsys.exit('no')\n", [], "my.py:2: SystemExit: no"),
    ("no system", "x = 1\n", [], "no System is in it"),
    ("an exception of any kind", "class E(BaseException): ...\nraise E('x')\n", [], "my.py:2: E: x"),
    ("a null byte", "x = 1\0\n", [], "my.py"),
    (
        "two systems",
        SMALL + "other = counter.with_parameters(top=3)\n",
        [],
        "there are 2 Systems in it; write my.py:NAME, one of counter, other",
    ),
    ("no such name", SMALL, [":conter"], "there is no System 'conter'; did you mean counter?"),
    (
        "an unknown parameter",
        SMALL,
        ["--set", "tip=3"],
        "system counter has no parameter 'tip'; did you mean top?",
    ),
    ("a value of another type", SMALL, ["--set", "top=high"], "my.py:3: parameter top: 'high' is no int"),
    ("a number for a bool", SMALL, ["--set", "quick=1"], "my.py:4: parameter quick: 1 is no bool"),
    ("outside the language", SMALL.replace("s.n += ", "print(s.n)\n    s.n += "), [], "my.py:13: "),
    (
        "more steps than a state can have",
        SMALL.replace("class Counter", "class Bit(Domain, size=20): ...\nclass Counter").replace(
            "def count(s: Counter)", "def count(s: Counter, a: Set[Bit], b: Set[Bit])"
        ),
        [],
        "my.py:11: action count has 1,099,511,627,776 combinations of arguments",
    ),
    (
        "a type that is no name of the file",
        "from __future__ import annotations\nfrom slotproof.model.language import *\n"
        "def make():\n    class Bit(Domain, size=2): ...\n    class S(State):\n"
        "        b: Bit = field(Bit(0), 'a bit')\n    return System('s', S, actions=[])\ns = make()\n",
        [],
        "my.py:6: S: annotation names 'Bit', which is not defined; define it at the top level of the file",
    ),
    ("a bad declaration", SMALL.replace("int, Range", "float, Range"), [], "my.py:"),
    ("a model error", SMALL, ["--set", "quick=true", "--set", "top=3"], "my.py:13: 4 leaves the range 0..3"),
    (
        "a sequence that a parameter makes too short",
        SMALL.replace(
            '0, "the counter")',
            "0, \"the counter\")\n    q: Annotated[Seq[bool], Capacity(top)] = field([], 'q')",
        ).replace("    s.n +=", "    s.q.append(True)\n    s.q.append(True)\n    s.n +="),
        ["--set", "top=1"],
        "my.py:15: a sequence of 1 is full; its capacity is the parameter top: '--set top=2' makes room",
    ),
    (
        "a range that a parameter makes empty",
        SMALL,
        ["--set", "top=-1"],
        "Counter.n: range 0..-1 has no values or over 2^32; top sets it",
    ),
    (
        "an unknown property",
        SMALL,
        ["--property", "reachable-stats"],
        "did you mean reachable-states? (there are: reachable-states, deadlock)",
    ),
    (
        "states to be counted by an engine that goes through none",
        SMALL,
        ["--property", "reachable-states", "--engine", "pdr"],
        "--engine pdr has nothing to answer here: ",
    ),
]


def test_what_is_violated_before_a_model_error_is_told_with_its_trace(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(
        SMALL.replace("counter = ", JUDGED).replace("[count]", "[count], properties=[low, low_enough]")
    )
    given = ["--system", "my.py", "--set", "quick=true", "--set", "top=3"]
    result = run("check", *given)
    assert result.exit_code == 2
    assert "violated  low  1 step" in result.stdout
    assert "low-enough" not in result.stdout
    assert "model error: " in result.stderr
    assert result.stderr.count("\n") == 1
    told = run("explain", "slotproof-traces/counter.low.itf.json")
    assert "counter: low is violated after 1 step" in told.stdout
    lines = [json.loads(line) for line in run("check", *given, "--format", "json").stdout.splitlines()]
    assert [(d["property"], d["verdict"], d["complete"]) for d in lines] == [("low", "violated", False)]
    deep = run("check", *given, "--engine", "bounded")
    assert (deep.exit_code, deep.stderr) == (2, result.stderr)
    assert "violated  low  1 step" in deep.stdout
    assert "low-enough" not in deep.stdout
    again = run("check", *given, "--write-baseline", "known.json")
    assert again.exit_code == 2
    known = json.loads(Path("known.json").read_text())
    assert [entry["property"] for entry in known["violations"]] == ["low"]
    assert run("check", *given, "--baseline", "known.json").exit_code == 2


@pytest.mark.parametrize(("text", "more", "message"), [f[1:] for f in FILES], ids=[f[0] for f in FILES])
def test_an_error_in_a_system_file_names_its_own_line(
    text: str, more: list[str], message: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "my.py").write_text(text)
    name = "my.py" + (more[0] if more and more[0].startswith(":") else "")
    result = run("check", "--system", name, *[m for m in more if not m.startswith(":")])
    _one_line(result, message)
    assert "slotproof/" not in result.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none.py", "none.py: there is no such file"),
        ("mine.py", "mine.py: there is no such file; did you mean my.py?"),
        ("dangling_link.py", "dangling_link.py: is a link to nothing; name the file itself"),
        (".", ".: is a folder; name the Python file in it"),
        ("my.py:other", "there is no System 'other'"),
    ],
)
def test_a_system_that_is_not_there(given: str, message: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(SMALL)
    (tmp_path / "dangling_link.py").symlink_to("nowhere.py")
    _one_line(run("check", "--system", given), message)


BASELINES: list[tuple[Any, str]] = [
    ("{", "line 1: is no JSON"),
    ("[" * 100_000, "is no baseline: nested too deeply"),
    (f'{{"violations": [{"1" * 5000}]}}', "is no baseline: a number in it is too long"),
    ([], 'is no baseline; it is an object with a list "violations"'),
    ({"violations": [{}]}, "violations[0].scenario: is missing"),
    ({"violations": [3]}, "violations[0].scenario: is missing"),
    ({"violations": [{"scenario": 3}]}, "violations[0].scenario: 3, where a text has to stand"),
]
ENTRY = {
    "scenario": "market",
    "property": "deadlock",
    "release": "0.1",
    "size": "quick",
    "steps": 3,
    "parts": 1,
    "reason": "so",
}
BASELINES += [
    ({"violations": [{**ENTRY, "size": "large"}]}, "violations[0].size: 'large', where quick or full"),
    ({"violations": [{**ENTRY, "reason": " "}]}, "violations[0].reason: is empty"),
    ({"violations": [{**ENTRY, "steps": True}]}, "steps: True, where a whole number has to stand"),
    ({"violations": [ENTRY, ENTRY]}, "violations[1]: deadlock of market on 0.1 is listed twice"),
    (
        {"violations": [ENTRY, {**ENTRY, "scenario": "markt"}]},
        "known.json:12: there is no scenario 'markt'; did you mean market? (else take the entry out)",
    ),
    (
        {"violations": [ENTRY, {**ENTRY, "release": "0.2"}]},
        "known.json:12: there is no release '0.2'; did you mean 0.2.post1? (else take the entry out)",
    ),
    (
        {"violations": [{**ENTRY, "property": "room-for-mor"}]},
        "known.json:3: there is no property 'room-for-mor'; did you mean room-for-more?",
    ),
    (
        {"violations": [{**ENTRY, "property": "no-crash-third"}]},
        "known.json:3: there is no property 'no-crash-third'; did you mean no-crash-third-of-a-kind?",
    ),
]


@pytest.mark.usefixtures("shops")
@pytest.mark.parametrize(("content", "message"), BASELINES, ids=[m for _, m in BASELINES])
def test_a_bad_baseline_names_its_entry_and_field(
    content: Any, message: str, run: Run, tmp_path: Path
) -> None:
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    (tmp_path / "known.json").write_text(text)
    _one_line(run("check", "--baseline", "known.json"), message)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--out", "my.py"], "--out my.py: is a file; name a folder"),
        (["--out", "my.py/traces"], "my.py is a file; name another folder"),
        (["--write-baseline", "."], "--write-baseline .: is a folder; name a file in it"),
        (["--write-baseline", "new/known.json"], "there is no folder new; make it first"),
    ],
)
def test_what_cannot_be_written_is_found_before_the_search(
    option: list[str], message: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slotproof.checker.commands.check._search", None)
    (tmp_path / "my.py").write_text(SMALL)
    _one_line(run("check", "--system", "my.py", *option), message)
