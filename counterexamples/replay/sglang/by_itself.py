"""A release's server runs by itself; what the outside has seen of it is a log for ``own_steam.py``.

Clients come, cancel and are answered, the operator unloads, copies end and rows get their last token, all
when ``chance`` likes. Nothing asks the model what may happen. What the code cannot see is not in the log:
the moment a copy ends, and the cut of a pass between two questions to the gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from slotproof.counterexamples.replay.driver import Died, Plain
from slotproof.counterexamples.replay.own_steam import Seen
from slotproof.counterexamples.replay.sglang.baton import Baton
from slotproof.counterexamples.replay.sglang.causes import died
from slotproof.counterexamples.replay.sglang.target import SingleServer

UNSEEN = (".loader.copies", ".loader.filling", ".gate.", ".forward.", ".routing.", ".asked", ".picks")
REST_OF_THE_PASS = frozenset({"go_on", "copy_ends"})
HIDDEN = frozenset({"copy_ends"})


def run_by_itself(server: SingleServer, chance: Random, length: int) -> list[Seen]:
    """Let ``length`` things happen, those that change nothing included; a log ends where the server dies."""
    log: list[Seen] = []
    names: Mapping[str, Any] = server.setting.parameters["names"]
    for _ in range(length):
        _copies_may_end(server, chance)
        r = chance.choice(server.names)
        entry = _happen(server, chance, r, chance.choice(sorted(map(str, names[r]))), _visible(server))
        if entry is not None:
            log.append(entry)
            if entry.crash is not None:
                break
    return log


def _visible(server: SingleServer) -> dict[str, Plain]:
    return {n: v for n, v in server.observe().items() if not any(part in n for part in UNSEEN)}


def _happen(server: SingleServer, chance: Random, r: str, a: str, before: Mapping[str, Plain]) -> Seen | None:
    registered = a == "base" or a in server.tokenizer.registered()
    doomed = next(iter(sorted(server.unloadable)), None)
    known = {q.rid for q in server.held()} | set(server.tokenizer.open_states)
    match chance.choice(["arrive", "arrive", "abort", "reply", "unload", "step", "step", "step"]):
        case "arrive" if r not in known and registered:
            server.step("arrive", {"k": "rank0", "r": r, "a": a})
            return Seen("arrive", {"r": r, "a": a}, state=_visible(server))
        case "abort" if r in server.tokenizer.open_states:
            server.step("abort", {"r": r})
            after = _visible(server)
            return None if after == before else Seen("abort", {"r": r}, state=after)
        case "reply" if r in server.replies["outputs"]:
            server.step("answer", {"r": r})
            return Seen("answer", {"r": r}, state=_visible(server))
        case "reply" if r in server.replies["echoes"]:
            server.step("echo", {"r": r})
            return Seen("echo", {"r": r}, state=_visible(server))
        case "unload" if doomed is not None and doomed in server.tokenizer.registered():
            server.step("unregister", {"a": doomed})
            return Seen("unregister", {"a": doomed}, state=_visible(server))
        case "unload" if doomed is not None and server.tokenizer.is_sent(doomed):
            server.step("unload", {"a": doomed})
            return Seen("unload", {"a": doomed}, state=_visible(server))
        case "step" if _has_work(server.scheduler):
            try:
                _iterate(server, chance)
            except Died as dead:
                return Seen("schedule", then=REST_OF_THE_PASS, crash=dead.cause or dead.error)
            return Seen("schedule", then=REST_OF_THE_PASS, state=_visible(server))
    return None


def _has_work(scheduler: Any) -> bool:
    return bool(
        scheduler.waiting_queue
        or scheduler.running_batch.reqs
        or scheduler.last_batch
        or scheduler.result_queue
    )


def _copies_may_end(server: SingleServer, chance: Random) -> None:
    while server.device.load.copies and chance.random() < 0.4:
        server.device.end_copy()


def _iterate(server: SingleServer, chance: Random) -> None:
    """One iteration of the scheduler's loop; copies may end wherever it could look at them."""
    server.fresh()
    server.gate.begin_pass()
    server._set_room(6)
    with server.device.installed():
        try:
            server.iteration = Baton(server._next_batch)
            while not server.iteration.go_on():
                _copies_may_end(server, chance)
            batch, server.iteration = server.iteration.value, None
            server._collect_echoes()
            server.finish_iteration(batch, {r for r in server.names if chance.random() < 0.4})
        except Exception as error:
            failed = died(error, server.folder)
            if failed is None:
                raise
            raise failed from error
    server.follow_counts()
