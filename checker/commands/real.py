"""``--on sglang`` of ``slotproof replay`` and ``slotproof conform``: a release's own code is driven."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from slotproof.checker.commands.conform import how_short, shares_of
from slotproof.checker.usage import UsageProblem


def replay_on_sglang(trace: Path, folder: Path | None, fetched: str | None) -> int:
    """Replay a trace on the release in a folder, or on one that is installed first."""
    from slotproof.counterexamples.itf import read
    from slotproof.counterexamples.replay.sglang.parent import HARNESS, HarnessError, run_jobs

    place = _folder(folder, fetched)
    file = read(trace)
    if file.system_file is not None:
        raise UsageProblem(f"{trace}: is of a system of your own; replay takes scenarios' traces")
    try:
        (found,) = run_jobs(place, [{"kind": "trace", "trace": str(trace.resolve())}])
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


def conform_on_sglang(
    release: str,
    folder: Path | None,
    fetched: str | None,
    scenarios: Sequence[str],
    steps: int,
    seed: int,
    full: bool,
) -> int:
    """Drive walks of the scenarios' models on the release in a folder, so many steps in all."""
    from slotproof.counterexamples.replay.sglang.folder import version_of
    from slotproof.counterexamples.replay.sglang.limits import never_walked
    from slotproof.counterexamples.replay.sglang.parent import HARNESS, HarnessError, run_jobs

    place = _folder(folder, fetched)
    version = version_of(place)
    if version != release:
        raise UsageProblem(
            f"{place}: holds SGLang {version}; give a folder with {release}, or --release {version}"
        )
    reasons = {name: never_walked(name, release) for name in scenarios}
    driven = [name for name, reason in reasons.items() if reason is None]
    for name, reason in reasons.items():
        if reason is not None:
            click.echo(f"{name} on sglang {version}: not driven: {reason}")
    if not driven:
        raise UsageProblem(f"nothing to walk through on real code of {release}; use --on reference")
    jobs = [
        {"kind": "walks", "scenario": name, "steps": share, "seed": seed, "full": full}
        for name, share in shares_of(steps, driven).items()
    ]
    worst = 0
    try:
        for job, found in zip(jobs, run_jobs(place, jobs), strict=True):
            click.echo(walked(found, str(job["scenario"]), version))
            if "harness" in found:
                worst = HARNESS
            elif worst == 0 and found.get("difference") is not None:
                worst = 1
    except HarnessError as error:
        click.echo(f"slotproof: {error}", err=True)
        return HARNESS
    return worst


def walked(found: Mapping[str, Any], scenario: str, version: str) -> str:
    """What the walks through a scenario have shown on a release."""
    head = f"{scenario} on sglang {version}"
    if "wrong" in found:
        return f"{head}: not driven: {found['wrong'].partition(': ')[2] or found['wrong']}"
    if "harness" in found:
        return f"{head}: the harness failed, which says nothing of the release: {found['harness']}"
    head = f"{head}: {found['steps']} steps, {found['walks']} walks, {found['edges']} edges"
    without = f" (not driven: {', '.join(found['left_out'])})" if found["left_out"] else ""
    if found["difference"] is None:
        return f"{head}: no difference{without}"
    way = [f"  {i}. {step}" for i, step in enumerate(found["path"], 1)]
    return "\n".join([f"{head}: differs at {found['difference']}", *way, how_short(found["shortest"])])


def _folder(folder: Path | None, fetched: str | None) -> Path:
    """The folder of a supported release, which is installed first if that is asked for."""
    from slotproof.counterexamples.replay.sglang import folder as place

    if (folder is None) == (fetched is None):
        raise UsageProblem("--on sglang: give --sglang DIR with a release, or --fetch X to install release X")
    try:
        found = place.fetch(fetched, cache_folder()) if fetched is not None else folder
        assert found is not None
        place.supported(found)
        place.need_packages()
    except place.Unusable as error:
        raise UsageProblem(str(error)) from None
    return found


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
