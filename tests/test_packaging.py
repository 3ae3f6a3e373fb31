"""The wheel holds the four folders under `slotproof`, whole, and nothing else; installed, it works."""

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from email.parser import Parser
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("model", "properties", "checker", "counterexamples")
PIP = (sys.executable, "-m", "pip")

# What a user may have beside it: in the folder in which slotproof runs, or installed in the same environment.
OTHERS = ("model.py", "checker/__init__.py", "properties/__init__.py", "counterexamples.py")


def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; it has to succeed."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _source(folder: Path) -> Path:
    """Setuptools builds inside the source tree; a copy of links keeps this one clean."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", *FOLDERS):
        (folder / name).symlink_to(ROOT / name)
    return folder


def _wheel(source: Path, dist: Path) -> Path:
    _run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", dist, source, cwd=source.parent)
    (wheel,) = dist.glob("slotproof-*-py3-none-any.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    return _wheel(_source(folder / "source"), folder / "dist")


def _files(wheel: Path) -> set[PurePosixPath]:
    with zipfile.ZipFile(wheel) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel_files(wheel: Path) -> set[PurePosixPath]:
    """The names in it."""
    return _files(wheel)


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


def test_wheel_says_what_it_needs_and_what_it_offers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(archive.read(name).decode())
        points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert about["Requires-Python"] == "<3.14,>=3.11"
    extras = set(about.get_all("Provides-Extra", []))
    assert {"replay", "explore", "certify", "prove", "benchmarks"} <= extras
    for extra in extras:
        assert any(f'extra == "{extra}"' in r for r in about.get_all("Requires-Dist", []))
    assert "slotproof = slotproof.checker.__main__:run" in points
    assert "[pytest11]\nslotproof = slotproof.checker.pytest_plugin" in points


def test_a_wheel_from_the_source_distribution_is_the_same(
    wheel_files: set[PurePosixPath], tmp_path: Path
) -> None:
    source = _source(tmp_path / "source")
    build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    _run(sys.executable, "-c", build, tmp_path, cwd=source)
    (sdist,) = tmp_path.glob("slotproof-*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert _files(_wheel(unpacked, tmp_path / "dist")) == wheel_files


def _others(folder: Path) -> None:
    """Modules of a user's own, with the names of our folders; importing one is a fault."""
    for name in OTHERS:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"raise ImportError('{name} of somebody else')\n")


def _works(command: list[str | Path], folder: Path, **environment: str) -> None:
    """The installed command finds its scenarios, its baseline, its schema and its gallery."""
    _others(folder)
    arguments = ("check", "--scenario", "idle-rank", "--release", "0.5.16", "--format", "json")
    lines = [json.loads(line) for line in _run(*command, *arguments, cwd=folder, **environment).splitlines()]
    found = {line["property"]: line for line in lines}
    assert found["fresh-batch-info"]["verdict"] == "violated"
    assert found["fresh-batch-info"]["reason"].startswith("known: ")  # the shipped baseline
    told = _run(*command, "explain", found["fresh-batch-info"]["trace"], cwd=folder, **environment)
    assert "fresh-batch-info is violated" in told


def test_it_works_beside_modules_of_the_same_names(wheel: Path, tmp_path: Path) -> None:
    """In the folder in which it runs, and in the environment in which it is installed."""
    site, folder = tmp_path / "site", tmp_path / "folder"
    folder.mkdir()
    _run(*PIP, "install", "--no-deps", "--no-index", "--target", site, wheel, cwd=tmp_path)
    _others(site)
    where = (
        "import slotproof.model, slotproof.counterexamples as c; print(slotproof.model.__file__, c.__file__)"
    )
    printed = _run(sys.executable, "-c", where, cwd=folder, PYTHONPATH=str(site))
    assert all(name.startswith(str(site)) for name in printed.split())
    _works([sys.executable, "-m", "slotproof.checker"], folder, PYTHONPATH=str(site))
    _works([site / "bin" / "slotproof"], folder, PYTHONPATH=str(site))
    gallery = site / "slotproof" / "counterexamples" / "gallery"
    assert {p.name for p in gallery.iterdir()} >= {"baseline.json"}
    assert (site / "slotproof" / "counterexamples" / "trace.schema.json").is_file()


PINS = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()[1:])
PINNED_ELSEWHERE = re.compile(r"nvidia-.*|cuda-.*|triton")
"""What a build of torch for CUDA brings, in the versions that it was made with."""


def _needed(requirements: Iterable[str]) -> set[str]:
    """The distributions that these bring here, with all that they need as far as it is installed."""
    seen: set[str] = set()
    todo = [Requirement(text) for text in requirements]
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if f"{name} {sorted(requirement.extras)}" in seen:
            continue
        seen |= {name, f"{name} {sorted(requirement.extras)}"}
        with contextlib.suppress(metadata.PackageNotFoundError):
            for further in map(Requirement, metadata.requires(name) or []):
                extras = ({"extra": extra} for extra in ("", *requirement.extras))
                if further.marker is None or any(map(further.marker.evaluate, extras)):
                    todo.append(further)
    return {name for name in seen if " " not in name}


def test_each_package_of_the_development_environment_has_its_version() -> None:
    """One that has none is another one tomorrow, and the set-up another set-up."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = _needed(itertools.chain(project["dependencies"], *project["optional-dependencies"].values()))
    pinned = {canonicalize_name(name) for name in PINS}
    assert {"markupsafe", "pytest", "transformers"} <= needed
    assert {name for name in needed - pinned if not PINNED_ELSEWHERE.fullmatch(name)} == set()


@pytest.mark.parametrize("name", PINS)
def test_a_version_in_the_constraints_installs_on_every_python(name: str) -> None:
    """Also on the oldest patch release of each: a distribution keeps the one that it came with."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        pytest.skip("not installed here")
    if about["Version"].split("+")[0] != PINS[name]:
        pytest.skip("another version is installed here")
    needs = about["Requires-Python"]
    for version in ("3.11.0", "3.12.0", "3.13.0"):
        assert not needs or version in SpecifierSet(needs), f"{name} wants Python {needs}"


def _interpreters() -> Iterator[tuple[str, Path]]:
    """Each supported Python that this machine has, by its version."""
    for minor in (11, 12, 13):
        version = f"3.{minor}"
        managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        for found in [*managed, shutil.which(f"python{version}")]:
            if found is None:
                continue
            done = subprocess.run([found, "-c", "import sys, venv; print(sys.version)"], capture_output=True)
            if done.stdout.decode().startswith(version):
                yield version, Path(found)
                break


@pytest.mark.deep
@pytest.mark.parametrize(("version", "python"), list(_interpreters()))
def test_pip_installs_it_on_each_python(version: str, python: Path, wheel: Path, tmp_path: Path) -> None:
    _run(python, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    binaries = tmp_path / "venv" / "bin"
    _run(binaries / "python", "-m", "pip", "install", wheel, cwd=tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    _works([binaries / "slotproof"], folder)


@pytest.mark.deep
def test_pipx_installs_it(wheel: Path, tmp_path: Path) -> None:
    places = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    _run(sys.executable, "-m", "pipx", "install", wheel, cwd=tmp_path, **places)
    folder = tmp_path / "folder"
    folder.mkdir()
    _works([tmp_path / "bin" / "slotproof"], folder)


@pytest.mark.deep
def test_uv_installs_it(wheel: Path, tmp_path: Path) -> None:
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv = (sys.executable, "-m", "uv", "tool", "install", "--no-python-downloads")
    _run(*uv, "--python", sys.executable, wheel, cwd=tmp_path, **places)
    folder = tmp_path / "folder"
    folder.mkdir()
    _works([tmp_path / "bin" / "slotproof"], folder)
