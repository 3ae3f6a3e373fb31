"""The folder that holds a release, as ``pip install --no-deps --target DIR sglang==X`` lays it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from slotproof.model.releases import RELEASES

NEEDED = (
    "torch",
    "transformers",
    "safetensors",
    "numpy",
    "msgspec",
    "pydantic",
    "dill",
    "psutil",
    "zmq",
    "orjson",
    "requests",
    "uvloop",
)
"""Packages that a release imports and that are never stood in for: the extra ``replay`` has them."""


class Unusable(Exception):
    """Wrong use: one line with the remedy."""


def version_of(folder: Path) -> str:
    """The release that a folder holds. ``Unusable`` if it holds none."""
    remedy = f"make one with: pip install --no-deps --target {folder} sglang=={RELEASES[-1]}"
    if not folder.is_dir():
        raise Unusable(f"{folder}: there is no such folder; {remedy}")
    if not (folder / "sglang" / "srt" / "lora" / "lora_manager.py").is_file():
        raise Unusable(f"{folder}: holds no SGLang (no sglang/srt/lora); {remedy}")
    for metadata in sorted(folder.glob("sglang-*.dist-info/METADATA")):
        found = re.search(r"^Version: (\S+)$", metadata.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1]
    for name in ("_version.py", "version.py"):
        path = folder / "sglang" / name
        if path.is_file():
            found = re.search(r"version(?:__)?\s*=\s*[\"']([^\"']+)[\"']", path.read_text(encoding="utf-8"))
            if found:
                return found[1]
    raise Unusable(f"{folder}: says no version of SGLang; {remedy}")


def supported(folder: Path) -> str:
    """The release that a folder holds, which is one that the model knows. ``Unusable`` if not."""
    version = version_of(folder)
    if version not in RELEASES:
        raise Unusable(
            f"{folder}: holds SGLang {version}; supported are {RELEASES[0]} to {RELEASES[-1]}:"
            " give a folder with one of them ('slotproof list releases')"
        )
    return version


def need_packages() -> None:
    """``Unusable`` if a package is missing that a release's code cannot be driven without."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Unusable(
            f"not installed: {', '.join(missing)}; install them with: pip install 'slotproof[replay]'"
        )


def fetch(version: str, cache: Path) -> Path:
    """Install a release into a folder of the cache with pip, unless it is there already."""
    if version not in RELEASES:
        raise Unusable(
            f"there is no supported release '{version}'; supported are {RELEASES[0]} to {RELEASES[-1]}"
        )
    place = cache / f"sglang-{version}"
    if (place / "sglang").is_dir():
        return place
    unfinished = cache / f".sglang-{version}.part"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    done = subprocess.run(
        [*command, "--target", str(unfinished), f"sglang=={version}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise Unusable(
            f"SGLang {version} cannot be installed: {why}; install it yourself and give --sglang DIR"
        )
    unfinished.rename(place)
    return place
