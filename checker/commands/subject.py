"""The one system that a command is about, by its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.checker.runs import Subject


def one_subject(
    scenario: str | None,
    release: str | None,
    full: bool,
    system: str | None,
    settings: tuple[str, ...],
    candidate: str | None = None,
) -> Subject:
    """A scenario on a release, by default the latest, or the system of a file."""
    from slotproof.checker.runs import Subject
    from slotproof.checker.systemfile import parse_settings

    parse_settings(settings)
    if system is not None:
        for name, value in {"SCENARIO": scenario, "--release": release, "--full": full}.items():
            if value:
                raise UsageProblem(
                    f"{name} does not go with --system; choose its sizes with --set NAME=VALUE"
                )
        return Subject(None, None, False, system, settings)
    from slotproof.model.releases import RELEASES
    from slotproof.properties import SCENARIOS

    if scenario is None:
        raise UsageProblem("name a scenario (slotproof list scenarios) or a --system FILE")
    if scenario.endswith(".py") and scenario not in SCENARIOS:
        raise UsageProblem(f"'{scenario}' is no scenario; write --system {scenario} for the System of a file")
    one_of("scenario", scenario, SCENARIOS, "slotproof list scenarios")
    if candidate is not None:
        from slotproof.checker.candidatefile import load_candidate

        if release is not None:
            raise UsageProblem("--release and --candidate contradict each other here; keep one of the two")
        return Subject(scenario, load_candidate(candidate).name, full, None, settings, candidate)
    latest = list(RELEASES)[-1]
    if release is not None:
        one_of("release", release, RELEASES, "slotproof list releases")
    return Subject(scenario, release or latest, full, None, settings)
