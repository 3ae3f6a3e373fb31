"""``check`` with less to search: what it says of that, and that it answers the same."""

import re
from pathlib import Path

from tests.checker.conftest import Run

ZOO = Path(__file__).parents[1] / "zoo"
ALLOCATOR = ("check", "--system", str(ZOO / "allocator.py"), "--set", "requests=5")


def states(text: str) -> int:
    found = re.search(r"([\d,]+) states", text)
    assert found is not None
    return int(found.group(1).replace(",", ""))


def test_symmetry_searches_orbits_and_says_so(run: Run) -> None:
    whole, orbits = run(*ALLOCATOR), run(*ALLOCATOR, "--symmetry")
    assert (whole.exit_code, orbits.exit_code) == (0, 0)
    assert (states(whole.stdout), states(orbits.stdout)) == (25_040, 4_662)
    assert "one state of each orbit of 8 renamings: Alike(Slot), Alike(Request)" in orbits.stdout
    assert "orbit" not in whole.stdout
    assert whole.stdout.splitlines()[-1] == orbits.stdout.splitlines()[-1]


def test_symmetry_of_a_system_that_declares_none_is_wrong_use(run: Run) -> None:
    result = run("check", "--system", str(ZOO / "jugs.py"), "--symmetry")
    assert result.exit_code == 2
    assert "nothing is declared interchangeable; write System(…, interchangeable=[" in result.stderr


def test_several_workers_print_what_one_prints(run: Run) -> None:
    one, three = (run(*ALLOCATOR, "--workers", n) for n in ("1", "3"))
    assert re.sub(r"[\d.]+ s", "", one.stdout) == re.sub(r"[\d.]+ s", "", three.stdout)


def test_a_property_alone_is_searched_in_the_part_that_matters(run: Run) -> None:
    command = ("check", "--scenario", "overlap-cancel", "--release", "0.5.23", "--property", "slot-capacity")
    result = run(*command)
    assert result.exit_code == 0
    told = " ".join(result.stdout.split())
    assert "sliced: " in told
    assert "ranks[].gate.refused, " in told
    assert "premises met" not in result.stdout
