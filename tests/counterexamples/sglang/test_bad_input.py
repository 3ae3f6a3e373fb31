"""Wrong use of ``replay --on sglang``: one line with the remedy, exit status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotproof.checker.cli import main
from slotproof.counterexamples.replay.sglang import folder as folders
from tests.counterexamples.sglang.folders import make_release

GALLERY = Path(__file__).parents[3] / "counterexamples" / "gallery"
TRACE = GALLERY / "overlap-cancel.no-slot-leak.0.5.12.post1.itf.json"


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["replay", *arguments])
    captured = capsys.readouterr()
    assert ended.value.code == 2
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    return captured.err


def test_without_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--sglang DIR" in said([str(TRACE), "--on", "sglang"], capsys)


def test_with_a_folder_that_is_no_sglang(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said([str(TRACE), "--on", "sglang", "--sglang", str(tmp_path)], capsys)
    assert "holds no SGLang" in text
    assert "pip install --no-deps --target" in text


def test_with_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said([str(TRACE), "--on", "sglang", "--sglang", str(tmp_path / "x")], capsys)
    assert "there is no such folder" in text


def test_with_a_release_outside_the_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_release(tmp_path, "0.5.9")
    text = said([str(TRACE), "--on", "sglang", "--sglang", str(folder)], capsys)
    assert "supported are 0.5.12 to 0.5.23" in text


def test_with_packages_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "NEEDED", ("torch_that_nobody_has",))
    folder = make_release(tmp_path, "0.5.12.post1")
    text = said([str(TRACE), "--on", "sglang", "--sglang", str(folder)], capsys)
    assert "not installed: torch_that_nobody_has" in text
    assert "pip install 'slotproof[replay]'" in text


def test_fetching_a_release_that_is_not_supported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "no supported release '0.4.0'" in said([str(TRACE), "--on", "sglang", "--fetch", "0.4.0"], capsys)
