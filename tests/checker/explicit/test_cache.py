"""Machine code on disk: found again, never trusted when broken, shared by concurrent runs, optional."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slotproof.checker.explicit import cache

ROOT = Path(__file__).parents[3]

RUN = """
import sys
from slotproof.checker.explicit.engine import explore
from slotproof.model.language.compile import compile_system
from tests.checker.explicit import small

print(explore(compile_system(small.counter)).coverage.states, "numba" in sys.modules)
"""


def command(folder: Path, code: str = RUN, **more: str) -> "subprocess.Popen[str]":
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "SLOTPROOF_CACHE": str(folder), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that two runs have filled at once."""
    folder = tmp_path_factory.mktemp("cache")
    both = [command(folder), command(folder)]
    assert [finished(p) for p in both] == ["7 True", "7 True"]
    assert not list(folder.glob("*.new"))
    assert len(list(folder.glob("*.o"))) == 2
    return folder


def test_a_second_run_compiles_nothing(filled: Path) -> None:
    assert finished(command(filled)) == "7 False"


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "foreign"])
def test_a_broken_entry_is_made_again(filled: Path, damage: str) -> None:
    for path in filled.glob("*.o"):
        content = bytearray(path.read_bytes())
        if damage == "flipped":
            content[len(content) // 2] ^= 0xFF
        kept: dict[str, bytes] = {
            "empty": b"",
            "short": bytes(content[:100]),
            "flipped": bytes(content),
            "foreign": b"no object code",
        }
        path.write_bytes(kept[damage])
    assert finished(command(filled)) == "7 True"
    assert finished(command(filled)) == "7 False"


def test_where_nothing_can_be_written_another_place_is_taken(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    home = tmp_path / "home"
    assert finished(command(blocked / "cache", XDG_CACHE_HOME=str(home))) == "7 True"
    assert len(list((home / "slotproof").glob("*.o"))) == 2


def test_without_any_place_the_search_still_runs(tmp_path: Path) -> None:
    nowhere = "from slotproof.checker.explicit import cache\ncache.directory = lambda: None\n"
    assert finished(command(tmp_path / "cache", nowhere + RUN)) == "7 True"
    assert not (tmp_path / "cache").exists()


def test_entries_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTPROOF_CACHE", str(tmp_path))
    assert cache.load("key") is None
    cache.store("key", b"content")
    assert cache.load("key") == b"content"


def test_the_oldest_entries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTPROOF_CACHE", str(tmp_path))
    for i in range(3):
        cache.store(f"key{i}", b"content")
        os.utime(tmp_path / f"key{i}.o", (i, i))
    cache.store("key3", b"content", kept=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["key2.o", "key3.o"]
