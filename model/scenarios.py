"""Named finite configurations of the server: which parts take part, and how large they are.

Every scenario is the same server (``serving/``); it sets parameters, and what it leaves off has no state
and no step. Properties and witnesses stand above the model, in ``properties/``; the scenarios with theirs
attached are ``slotproof.properties.SCENARIOS``.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slotproof.model.language import Alike, Fairness, LanguageError, System
from slotproof.model.language.errors import Site
from slotproof.model.language.surface import Action, Property, Witness
from slotproof.model.language.symmetry import Interchangeable
from slotproof.model.releases import RELEASES, Release
from slotproof.model.serving import clock, decode, fairness, front, ranks, sampling, step
from slotproof.model.serving.drawing import picture
from slotproof.model.serving.glossary import WORDS
from slotproof.model.serving.server import Server
from slotproof.model.serving.telling import telling
from slotproof.model.serving.vocabulary import Loading, Loop, Request, Role, Traffic

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

USE_COUNTS: tuple[Action[Any], ...] = (
    *SINGLE_SERVER,
    front.look_up,
    front.take_references,
    front.give_up_unload,
    front.unload_again,
    sampling.arrive_for_two,
    sampling.start_sampling,
    sampling.send_second_sample,
    sampling.fail_warm_up,
    sampling.fail_before_second_sample,
    sampling.end_failed_warm_up,
)

DECODE_ROLE: tuple[Action[Any], ...] = (
    decode.decode_step,
    decode.transfer_fails,
    front.arrive,
    front.abort,
    front.disconnect,
    front.answer,
    front.answer_error,
    front.echo,
    front.unregister,
    front.unload,
)

DATA_PARALLEL_RANKS: tuple[Action[Any], ...] = (
    ranks.step_together,
    front.arrive,
    front.abort,
    front.disconnect,
    front.answer,
    front.echo,
    front.unregister,
    front.unload,
)


def _names(request: int, parameters: Mapping[str, Any]) -> frozenset[Any]:
    """Which adapters a request may name."""
    return frozenset(parameters["names"][Request(request)])


REQUESTS_OF_EQUAL_NAMES = Alike(Request, by=_names)


@dataclass(frozen=True)
class Scenario:
    """A configuration with a quick and a full size; ``full`` says what it changes of ``quick``.

    ``since`` says what has to change from a release on, because that release refuses the set-up before it
    or allows more. ``initial`` makes the initial states where there is a choice among them. ``fairness`` is
    what progress rests on, and ``final`` says where the server may stop. ``interchangeable`` is for a search
    of orbits (``check --symmetry``). ``lemmas`` are invariants that help to prove the properties
    (``slotproof prove``), the ``costly`` ones of them only where the others do not suffice, and
    ``on_the_way`` is what they try in the middle of actions; no search asks for them.
    """

    name: str
    meaning: str
    actions: Sequence[Action[Any]]
    quick: Mapping[str, Any]
    full: Mapping[str, Any]
    properties: Sequence[Property] = ()
    witnesses: Sequence[Witness] = field(default_factory=tuple)
    lemmas: Sequence[Property] = ()
    costly: Sequence[Property] = ()
    on_the_way: Sequence[Property] = ()
    initial: Sequence[Action[Any]] = ()
    since: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fairness: Sequence[Fairness] = ()
    final: Callable[..., bool] | None = None
    interchangeable: Sequence[Interchangeable] = (REQUESTS_OF_EQUAL_NAMES,)

    def parameters(self, full: bool = False, release: Release | None = None) -> dict[str, Any]:
        """The values of the parameters that this scenario sets; without a release, as before ``since``."""
        values = {**self.quick, **self.full} if full else dict(self.quick)
        for first, changes in self.since.items():
            if release is not None and RELEASES.index(release.base) >= RELEASES.index(first):
                values.update(changes)
        return values

    def system(self, release: Release, full: bool = False, lemmas: bool = False) -> System:
        """The system to check: this configuration of this release; with ``lemmas`` these are properties too.

        Where nothing can be unloaded, nothing is asked about the steps of an unload.
        """
        asked = (*self.properties, *(x for x in self.lemmas if lemmas and x not in self.properties))
        parameters = self.parameters(full, release)
        unloads = bool(parameters.get("unloadable"))
        return System(
            name=self.name,
            meaning=self.meaning,
            state=release.state or Server,
            actions=tuple(release.actions.get(a.name, a) for a in self.actions),
            initial=tuple(self.initial),
            properties=tuple(
                _of_actions(p, release.actions) for p in asked if unloads or p.on != (front.unload,)
            ),
            witnesses=tuple(self.witnesses),
            on_the_way=tuple(self.on_the_way) if lemmas else (),
            parameters=parameters,
            decisions=release.alternatives(),
            choices=release.names(),
            interchangeable=tuple(self.interchangeable),
            drawing=picture if issubclass(release.state or Server, Server) else None,
            telling=telling if issubclass(release.state or Server, Server) else None,
            words=WORDS,
            fairness=tuple(_of_replaced(f, release.actions) for f in self.fairness),
            final=self.final,
        )


def _of_replaced(fair: Fairness, replaced: Mapping[str, Action[Any]]) -> Fairness:
    """The fairness of the actions that a candidate has in place of those that it names."""
    if not any(a.name in replaced for a in fair.actions):
        return fair
    return replace(fair, actions=tuple(replaced.get(a.name, a) for a in fair.actions))


def _of_actions(judged: Property, replaced: Mapping[str, Action[Any]]) -> Property:
    """The property, about the actions that a candidate has in place of those that it names."""
    if judged.on is None or not any(a.name in replaced for a in judged.on):
        return judged
    for a in judged.on:
        mine = replaced.get(a.name, a)
        written, wanted = inspect.signature(mine.function), inspect.signature(a.function)
        if list(written.parameters)[1:] != list(wanted.parameters)[1:]:
            code = mine.function.__code__
            parameters = ", ".join(f"{p.name}: {p.annotation}" for p in wanted.parameters.values())
            raise LanguageError(
                f"{judged} is about the arguments of {a.name}; write 'def {a.name}({parameters}) -> None:'",
                Site(os.path.realpath(code.co_filename), code.co_firstlineno),
            )
    return replace(judged, on=tuple(replaced.get(a.name, a) for a in judged.on))


ANY_ADAPTER = {r: ["base", "A", "B", "C"] for r in ("r1", "r2", "r3")}

overlap_cancel = Scenario(
    "overlap-cancel",
    "One server copies adapters in the background while clients come and go.",
    SINGLE_SERVER,
    quick={
        "requests": 3,
        "adapters": 4,
        "slots": 2,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["C"]},
        "unloadable": ["B"],
        "loop": Loop.OVERLAP,
        "loading": Loading.BACKGROUND,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
    },
    full={"names": ANY_ADAPTER},
)

finish_unload = Scenario(
    "finish-unload",
    "One server loads adapters with the forward; adapters are unloaded while their last rows finish.",
    SINGLE_SERVER,
    quick={
        "requests": 3,
        "adapters": 4,
        "slots": 3,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["base"]},
        "pinned": ["C"],
        "unloadable": ["A"],
        "loop": Loop.OVERLAP,
        "loading": Loading.SYNCHRONOUS,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
    },
    full={"names": ANY_ADAPTER},
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
        "stream": 6,
        "aborts": True,
        "least_room": 1,
        "most_room": 6,
    },
    full={"failures": True, "names": {"r1": ["A", "B"], "r2": ["A", "B"], "r3": ["base", "C"]}},
)

partial_prompt = Scenario(
    "partial-prompt",
    "One server computes long prompts in pieces, with other requests between the pieces.",
    SINGLE_SERVER,
    quick={
        "requests": 3,
        "adapters": 4,
        "slots": 2,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["C"]},
        "unloadable": ["A"],
        "loop": Loop.OVERLAP,
        "loading": Loading.SYNCHRONOUS,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
        "least_room": 1,
        "most_room": 6,
    },
    full={"names": ANY_ADAPTER},
)

use_counts = Scenario(
    "use-counts",
    "References are taken and given back in every way there is, while an unload waits for them.",
    USE_COUNTS,
    quick={
        "requests": 2,
        "adapters": 3,
        "slots": 2,
        "names": {"r1": ["A"], "r2": ["A", "B"]},
        "unloadable": ["A"],
        "loop": Loop.OVERLAP,
        "loading": Loading.SYNCHRONOUS,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
        "failures": True,
        "batches": True,
        "parallel": True,
        "give_up": True,
    },
    full={
        "requests": 3,
        "adapters": 4,
        "slots": 3,
        "names": {"r1": ["A"], "r2": ["A", "B"], "r3": ["base", "B"]},
        "pinned": ["C"],
    },
)

idle_rank = Scenario(
    "idle-rank",
    "Two data-parallel ranks share each forward, and one of them may have no rows.",
    DATA_PARALLEL_RANKS,
    quick={
        "requests": 2,
        "adapters": 4,
        "slots": 2,
        "ranks": 2,
        "data_parallel": True,
        "names": {"r1": ["A"], "r2": ["base", "B"]},
        "loop": Loop.NORMAL,
        "loading": Loading.SYNCHRONOUS,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
    },
    full={"requests": 3, "names": {"r1": ["A"], "r2": ["B"], "r3": ["base", "C"]}},
    initial=(ranks.ranks_start,),
    since={"0.5.17": {"unloadable": ["A"]}, "0.5.21": {"slots": 4, "pinned": ["A", "B", "C"]}},
)

decode_admission = Scenario(
    "decode-admission",
    "A decode server reserves, receives and runs what a prefill server sends, and either may give up.",
    DECODE_ROLE,
    quick={
        "requests": 2,
        "adapters": 3,
        "slots": 1,
        "names": {"r1": ["A"], "r2": ["A", "B"]},
        "unloadable": ["A"],
        "role": Role.DECODE,
        "loop": Loop.NORMAL,
        "loading": Loading.SYNCHRONOUS,
        "traffic": Traffic.ENDLESS,
        "aborts": True,
        "least_rows": 1,
        "retraction": True,
    },
    full={
        "requests": 3,
        "adapters": 4,
        "slots": 2,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["base", "C"]},
    },
    initial=(decode.with_rows,),
)

decode_admission_pinned = replace(
    decode_admission,
    name="decode-admission-pinned",
    meaning="The same with one slot more, kept for a pinned adapter.",
    quick={**decode_admission.quick, "adapters": 4, "slots": 2, "pinned": ["C"]},
    full={**decode_admission.full, "slots": 3, "pinned": ["C"]},
)

finite_traffic = Scenario(
    "finite-traffic",
    "Three requests come once, each for an adapter of its own, and adapters are copied in the background.",
    SINGLE_SERVER,
    quick={
        "requests": 3,
        "adapters": 4,
        "slots": 2,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["C"]},
        "unloadable": ["A"],
        "loop": Loop.OVERLAP,
        "loading": Loading.BACKGROUND,
        "traffic": Traffic.ONCE,
        "aborts": True,
    },
    full={"names": ANY_ADAPTER},
    fairness=(*fairness.SINGLE_SERVER, *fairness.NO_RACE_IS_ALWAYS_LOST),
    final=front.at_rest,
)

endless_traffic = Scenario(
    "endless-traffic",
    "Requests for a resident adapter keep coming, and one for another adapter waits for the slot.",
    SINGLE_SERVER,
    quick={
        **finite_traffic.quick,
        "adapters": 3,
        "slots": 1,
        "names": {"r1": ["A"], "r2": ["A"], "r3": ["B"]},
        "unloadable": ["B"],
        "traffic": Traffic.ENDLESS,
    },
    full={"names": {"r1": ["A"], "r2": ["A", "B"], "r3": ["B"]}},
    fairness=finite_traffic.fairness,
)

drained_traffic = replace(
    endless_traffic,
    name="drained-traffic",
    meaning="The same with the drainer on: after a while, one adapter makes room for the one that waits.",
    actions=(*SINGLE_SERVER, clock.waits_too_long, clock.gets_far_on, clock.comes_nearest),
    quick={**endless_traffic.quick, "drainer": True},
    full={"names": {"r1": ["A"], "r2": ["A", "B"], "r3": ["base", "B"]}},
    fairness=(*endless_traffic.fairness, *fairness.TIME_AND_TOKENS),
)

copy_race = Scenario(
    "copy-race",
    "Two requests need one slot, and a copy may end in the same gap of the scheduler's pass every time.",
    SINGLE_SERVER,
    quick={
        **finite_traffic.quick,
        "requests": 2,
        "adapters": 3,
        "slots": 1,
        "names": {"r1": ["A"], "r2": ["B"]},
        "unloadable": [],
        "aborts": False,
    },
    full={"requests": 3, "adapters": 4, "slots": 2, "names": {"r1": ["A"], "r2": ["B"], "r3": ["C"]}},
    fairness=fairness.SINGLE_SERVER,
    final=front.at_rest,
)

decode_finite_traffic = replace(
    decode_admission,
    name="decode-finite-traffic",
    meaning="Three requests come to a decode server once, each for an adapter of its own.",
    quick={
        **decode_admission.quick,
        "requests": 3,
        "adapters": 4,
        "names": {"r1": ["A"], "r2": ["B"], "r3": ["C"]},
        "traffic": Traffic.ONCE,
        "retraction": False,
    },
    full={"retraction": True, "names": {"r1": ["A"], "r2": ["A", "B"], "r3": ["C"]}},
    fairness=fairness.DECODE_ROLE,
    final=front.at_rest,
)

decode_endless_traffic = replace(
    decode_admission,
    name="decode-endless-traffic",
    meaning="Requests for a resident adapter keep coming to a decode server, and one for another waits.",
    quick={
        **decode_admission.quick,
        "requests": 3,
        "names": {"r1": ["A"], "r2": ["A"], "r3": ["B"]},
        "unloadable": ["B"],
        "least_rows": 3,
        "retraction": False,
    },
    full={"least_rows": 2},
    fairness=fairness.DECODE_ROLE,
)

SCENARIOS: dict[str, Scenario] = {
    s.name: s
    for s in (
        overlap_cancel,
        finish_unload,
        finish_unload_normal,
        partial_prompt,
        use_counts,
        idle_rank,
        decode_admission,
        decode_admission_pinned,
        finite_traffic,
        endless_traffic,
        drained_traffic,
        copy_race,
        decode_finite_traffic,
        decode_endless_traffic,
        whole_server,
    )
}
