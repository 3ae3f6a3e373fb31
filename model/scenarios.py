"""Named finite configurations of the server: which parts take part, and how large they are.

Every scenario is the same server (``serving/``); it sets parameters, and what it leaves off has no state
and no step. Properties and witnesses stand above the model, in ``properties/``; the scenarios with theirs
attached are ``slotproof.properties.SCENARIOS``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slotproof.model.language import System
from slotproof.model.language.surface import Action, Property, Witness
from slotproof.model.releases import Release
from slotproof.model.serving import front, step
from slotproof.model.serving.server import Server
from slotproof.model.serving.vocabulary import Loading, Loop, Traffic

SINGLE_SERVER: tuple[Action[Any], ...] = (
    step.schedule,
    step.go_on,
    step.copy_ends,
    front.arrive,
    front.abort,
    front.disconnect,
    front.fail_before_sending,
    front.answer,
    front.echo,
    front.unregister,
    front.unload,
)


@dataclass(frozen=True)
class Scenario:
    """A configuration with a quick and a full size; ``full`` says what it changes of ``quick``."""

    name: str
    meaning: str
    actions: Sequence[Action[Any]]
    quick: Mapping[str, Any]
    full: Mapping[str, Any]
    properties: Sequence[Property] = ()
    witnesses: Sequence[Witness] = field(default_factory=tuple)

    def parameters(self, full: bool = False) -> dict[str, Any]:
        """The values of the parameters that this scenario sets."""
        return {**self.quick, **self.full} if full else dict(self.quick)

    def system(self, release: Release, full: bool = False) -> System:
        """The system to check: this configuration of this release."""
        return System(
            name=self.name,
            meaning=self.meaning,
            state=release.state or Server,
            actions=tuple(release.actions.get(a.name, a) for a in self.actions),
            properties=tuple(self.properties),
            witnesses=tuple(self.witnesses),
            parameters=self.parameters(full),
            decisions=release.alternatives(),
            choices=release.names(),
        )


overlap_cancel = Scenario(
    "overlap-cancel",
    "One server copies adapters in the background while clients come and go.",
    SINGLE_SERVER,
    quick={
        "requests": 3,
        "adapters": 4,
        "slots": 2,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["C"]},
        "loop": Loop.OVERLAP,
        "loading": Loading.BACKGROUND,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
    },
    full={"names": {"r1": ["A"], "r2": ["B"], "r3": ["base", "C"]}, "unloadable": ["B"]},
)

finish_unload = Scenario(
    "finish-unload",
    "One server loads adapters with the forward; adapters are unloaded while their last rows finish.",
    SINGLE_SERVER,
    quick={
        "requests": 2,
        "adapters": 4,
        "slots": 3,
        "names": {"r1": ["A"], "r2": ["base", "B"]},
        "pinned": ["C"],
        "unloadable": ["A"],
        "loop": Loop.OVERLAP,
        "loading": Loading.SYNCHRONOUS,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
    },
    full={"requests": 3, "names": {"r1": ["A"], "r2": ["B"], "r3": ["base", "C"]}},
)

finish_unload_normal = replace(
    finish_unload,
    name="finish-unload-normal",
    meaning="The same with the normal loop: a result is processed before the next step.",
    quick={**finish_unload.quick, "loop": Loop.NORMAL},
)

whole_server = Scenario(
    "whole-server",
    "All that one server of one role does at the same time, on one rank.",
    SINGLE_SERVER,
    quick={
        "requests": 3,
        "adapters": 4,
        "slots": 3,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["base", "C"]},
        "pinned": ["C"],
        "unloadable": ["A"],
        "loop": Loop.OVERLAP,
        "loading": Loading.BACKGROUND,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
        "least_room": 1,
        "most_room": 6,
    },
    full={"failures": True, "names": {"r1": ["A", "B"], "r2": ["A", "B"], "r3": ["base", "C"]}},
)

SCENARIOS: dict[str, Scenario] = {
    s.name: s for s in (overlap_cancel, finish_unload, finish_unload_normal, whole_server)
}
