"""What is not driven on real code, and why: of a walk's steps, of a scenario's size, of a trace's end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slotproof.counterexamples.replay.driver import Setting
from slotproof.model.releases import RELEASES, base_of

ACTIONS: Mapping[str, str] = {
    "arrive_for_two": "prompts with several samples",
}
"""Actions that are not taken on real code: no walk has them, and what follows from them cannot be reached."""

SWITCHED_OFF: Mapping[str, tuple[Any, str]] = {
    "targets": (["ROW", "LM_HEAD"], "layers but ROW and LM_HEAD"),
    "retraction": (False, "rows that are put out for want of KV"),
}
"""Parameters of scenarios that are set otherwise for walks on real code, and what that leaves out."""

COLLECTIVES = "from 0.5.21 on the ranks exchange adapter ids in a collective of several real processes"
SEVERAL_RANKS = "the feed-forward part, cut over several ranks, with its all-reduces"
GRAPHS = "captured graphs"
STREAMS = "the order of a zeroing and a copy on two real streams"


def out_of_reach(setting: Setting) -> str | None:
    """Why a trace of this setting, or a walk, cannot be driven on real code; ``None`` if it can."""
    release = base_of(setting.release or RELEASES[0])
    if setting.scenario == "idle-rank":
        if RELEASES.index(release) >= RELEASES.index("0.5.21"):
            return COLLECTIVES
        if setting.property in ("all-ranks-join", "right-adapter"):
            return SEVERAL_RANKS
        if setting.parameters.get("graphs"):
            return GRAPHS
    background = str(setting.parameters.get("loading")).endswith("BACKGROUND")
    cleared = setting.decisions.get("unload_and_slot") == "slot_cleared"
    if setting.property == "right-adapter" and background and cleared:
        return STREAMS
    return None


def never_walked(scenario: str, release: str) -> str | None:
    """Why no walk through a scenario can be driven on a release's code, whatever its sizes."""
    return out_of_reach(Setting(scenario, release, {}, {}))
