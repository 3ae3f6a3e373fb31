"""``slotproof replay --on sglang``: a counterexample happens on a release's own code."""

from __future__ import annotations

import os
from pathlib import Path

import click

from slotproof.checker.usage import UsageProblem


def replay_on_sglang(trace: Path, folder: Path | None, fetched: str | None) -> int:
    """Replay a trace on the release in a folder, or on one that is installed first."""
    from slotproof.counterexamples.itf import read
    from slotproof.counterexamples.replay.sglang import folder as place
    from slotproof.counterexamples.replay.sglang.parent import HARNESS, HarnessError, run_jobs

    if (folder is None) == (fetched is None):
        raise UsageProblem("--on sglang: give --sglang DIR with a release, or --fetch X to install release X")
    file = read(trace)
    if file.system_file is not None:
        raise UsageProblem(f"{trace}: is of a system of your own; replay takes scenarios' traces")
    try:
        if fetched is not None:
            folder = place.fetch(fetched, cache_folder())
        assert folder is not None
        (found,) = run_jobs(folder, [{"kind": "trace", "trace": str(trace.resolve())}])
    except place.Unusable as error:
        raise UsageProblem(str(error)) from None
    except HarnessError as error:
        click.echo(f"slotproof: {error}", err=True)
        return HARNESS
    if "wrong" in found:
        raise UsageProblem(f"{trace}: {found['wrong']}")
    if "harness" in found:
        click.echo(
            f"slotproof: the harness failed, which says nothing of {trace.name}: {found['harness']}", err=True
        )
        return HARNESS
    click.echo(told(found, trace.name))
    return 0 if found["happened"] else 1


def cache_folder() -> Path:
    """Where releases are installed: ``$XDG_CACHE_HOME/slotproof``, else ``~/.cache/slotproof``."""
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slotproof"
    place.mkdir(parents=True, exist_ok=True)
    return place


def told(found: dict[str, object], name: str) -> str:
    """What came of a replay, in a few lines."""
    lines = [f"{name} on sglang {found['release']}"]
    if found["difference"] is not None:
        return "\n".join([*lines, f"  differs at {found['difference']}"])
    compared = found["compared"]
    assert isinstance(compared, list)
    lines.append(f"  {found['steps']} steps end in the model's state ({len(compared)} variables compared)")
    symptom = found["symptom"]
    if isinstance(symptom, list):
        lines.append(f"  {symptom[1]} ({symptom[0]})")
    else:
        lines.append("  but nothing is seen of the violation")
    return "\n".join(lines)
