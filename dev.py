#!/usr/bin/env python3
"""Set the project up and work on it, with nothing but Python.

    python3 dev.py run ARGS...      the command line: `slotproof ARGS...`
    python3 dev.py test [ARGS...]   every check, then the tests: `pytest ARGS...`
    python3 dev.py lint             the checks alone
    python3 dev.py docs             the documentation as a site, in build/site
    python3 dev.py gallery [--full] after a change of the model: baseline and traces anew
    python3 dev.py setup            only what `run` needs, into .venv
    python3 dev.py setup --all      what the tests, the replay and the benchmarks need too

Each of them first brings `.venv` up to date: exact versions from constraints.txt, and the project
installed from this tree. `run`, `setup` and `gallery` install what the command needs, which is a
small part of all. A strict editable install links single files, so it is made again when a file was
added or removed.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
BIN = ROOT / ".venv" / "bin"
PYTHON = BIN / "python"
STAMP = ROOT / ".venv" / "up-to-date"
FOLDERS = ("model", "properties", "checker", "counterexamples")
COMMAND = ".[certify,explore,prove]"
EVERYTHING = ".[benchmarks,certify,dev,explore,prove,replay]"
SIZES = {
    COMMAND: "0.2 GB are downloaded",
    EVERYTHING: "on Linux torch alone is a download of 3 GB, unless pip is told where a build for CPUs is",
}

DOCS = (PYTHON, "-m", "mkdocs", "build", "--strict", "--quiet")

CHECKS = (
    (PYTHON, "-m", "ruff", "check", "."),
    (PYTHON, "-m", "ruff", "format", "--check", "."),
    (PYTHON, "-m", "mypy"),
    (BIN / "lint-imports",),
    (PYTHON, "-m", "mypy", "docs/site_hooks.py"),
    DOCS,
)


def say(text: str) -> None:
    """Tell the person, on standard error: standard output belongs to the command that is run."""
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


def announce(*command: str | Path) -> str:
    """Say which command comes now, as one would type it here."""
    line = shlex.join(str(part).removeprefix(f"{ROOT}/") for part in command)
    say(f"$ {line}")
    return line


def run(*command: str | Path) -> None:
    announce(*command)
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def tree_digest() -> str:
    """What the environment depends on beside the Python: the requirements, and which files there are."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    names = sorted(path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts)
    digest.update("\n".join([str(ROOT), *names]).encode())
    return digest.hexdigest()


def python_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def set_up(wanted: str) -> None:
    """Install ``COMMAND`` or ``EVERYTHING``, unless it is there already."""
    version, digest = python_version(), tree_digest()
    found = STAMP.read_text().split() if STAMP.exists() else []
    fresh = found[:1] != [version]
    if not fresh and EVERYTHING in found:  # never less than there was
        wanted = EVERYTHING
    if found == [version, digest, wanted] and any(ROOT.glob("build/__editable__.*")):
        return
    pip: list[str | Path] = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check"]
    if fresh:
        say(f"creating .venv with Python {version}, once; {SIZES[wanted]}")
        run(sys.executable, "-m", "venv", "--clear", ".venv")
    elif wanted in found:
        say("requirements or files have changed: installing again into .venv")
        pip.append("--quiet")
    else:
        say(f"adding to .venv what the tests, the replay and the benchmarks need; {SIZES[wanted]}")
    STAMP.unlink(missing_ok=True)
    run(*pip, "-c", "constraints.txt", "setuptools")
    strict = ("--no-build-isolation", "--config-settings", "editable_mode=strict")
    run(*pip, "-c", "constraints.txt", *strict, "-e", wanted)
    STAMP.write_text(f"{version} {digest} {wanted}")


def lint() -> bool:
    """Run every check, also after one fails; whether all pass."""
    failed = []
    for command in CHECKS:
        line = announce(*command)
        result = subprocess.run(
            command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        # Installed files are links into this tree: name them as they are known here.
        print(re.sub(r"build/__editable__[^/]*/slotproof/", "", result.stdout), end="", flush=True)
        if result.returncode:
            failed.append(line)
    say("FAILED: " + "; ".join(failed) if failed else "all checks pass")
    return not failed


def test(arguments: list[str]) -> bool:
    """Run the checks, then the tests, so that pytest's summary comes last; whether all pass."""
    clean = lint()
    command: list[str | Path] = [PYTHON, "-m", "pytest", "-n", "auto", *arguments]
    announce(*command)
    return subprocess.run(command, cwd=ROOT).returncode == 0 and clean


def gallery(full: bool) -> bool:
    """Search everything and keep what was found; whether each known violation has its reason.

    The baseline gets the lengths (of the full sizes too with ``full``) and keeps its reasons; the gallery
    gets one trace for each violated property of a scenario and each reason for it, on the newest release that
    has it.
    """
    folder = ROOT / "counterexamples" / "gallery"
    baseline = folder / "baseline.json"
    check = (BIN / "slotproof", "check", "--quiet", "--write-baseline", baseline, "--out")
    with tempfile.TemporaryDirectory() as found:
        for command in [(*check, found), (*check, f"{found}/full", "--full")][: 1 + full]:
            announce(*command)
            if subprocess.run(command, cwd=ROOT).returncode not in (0, 1):  # 1: something has changed
                return False
        known = json.loads(baseline.read_text(encoding="utf-8"))["violations"]
        newest: dict[tuple[str, str, str], str] = {}
        for entry in sorted(known, key=lambda entry: [int(n) for n in re.findall(r"\d+", entry["release"])]):
            if entry["size"] == "quick":
                newest[entry["scenario"], entry["property"], entry["reason"]] = entry["release"]
        for trace in folder.glob("*.itf.json"):
            trace.unlink()
        for (scenario, property_, _), release in newest.items():
            shutil.copy(Path(found) / f"{scenario}.{property_}.{release}.itf.json", folder)
    new = [entry for entry in known if "docs/findings.md" not in entry["reason"]]
    for entry in new:
        say(f"{entry['scenario']} {entry['property']} {entry['release']} ({entry['size']}) needs a reason")
    return not new


def main(arguments: list[str]) -> int:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        say(f"this is Python {python_version()}: run me with Python 3.11, 3.12 or 3.13")
        return 2
    match arguments:
        case ["setup" | "gallery"] | ["gallery", "--full"] | ["run", *_]:
            wanted = COMMAND
        case ["setup", "--all"] | ["lint" | "docs"] | ["test", *_]:
            wanted = EVERYTHING
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    try:
        set_up(wanted)
    except subprocess.CalledProcessError as error:
        say(f"the set-up stopped with exit status {error.returncode}; its last lines say why")
        return 2
    command, *rest = arguments
    if command == "run":
        os.execv(BIN / "slotproof", ["slotproof", *rest])
    match command:
        case "setup":
            return 0
        case "lint":
            passed = lint()
        case "docs":
            announce(*DOCS)
            passed = subprocess.run(DOCS, cwd=ROOT).returncode == 0
        case "gallery":
            passed = gallery(full=bool(rest))
        case _:
            passed = test(rest)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
