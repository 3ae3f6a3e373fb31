"""The wheel holds the four folders under `slotproof`, whole, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("model", "properties", "checker", "counterexamples")


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[PurePosixPath]:
    # Setuptools builds inside the source tree; a copy of links keeps this one clean.
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", *FOLDERS):
        (source / name).symlink_to(ROOT / name)
    dist = tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    result = subprocess.run([*pip, "--wheel-dir", dist, source], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    (wheel,) = dist.glob("slotproof-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


def test_wheel_cannot_collide_with_a_users_own_modules(wheel_files: set[PurePosixPath]) -> None:
    tops = {path.parts[0] for path in wheel_files}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"slotproof"}


def test_wheel_holds_every_file_of_the_four_folders(wheel_files: set[PurePosixPath]) -> None:
    tree = {
        PurePosixPath("slotproof", path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {path for path in wheel_files if path.parts[0] == "slotproof"} == tree


def test_wheel_is_typed(wheel_files: set[PurePosixPath]) -> None:
    assert {PurePosixPath("slotproof", folder, "py.typed") for folder in FOLDERS} <= wheel_files


def test_script_and_module_are_the_same(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("slotproof")
    for command in ([script], [sys.executable, "-m", "slotproof.checker"]):
        result = subprocess.run([*command, "--version"], cwd=tmp_path, capture_output=True, text=True)
        assert (result.returncode, result.stdout) == (0, "slotproof, version 0.1.0\n")
