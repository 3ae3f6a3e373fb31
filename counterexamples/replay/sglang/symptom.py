"""What a user sees of a violation on real code: told of the release's own objects at the trace's end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slotproof.counterexamples.replay.driver import Died, Symptom
from slotproof.counterexamples.replay.sglang.ids import BASE, adapter_name

if TYPE_CHECKING:
    from slotproof.counterexamples.replay.sglang.target import SingleServer


def symptom(
    server: SingleServer, property: str, died: Died | None, seen: Mapping[str, Any]
) -> Symptom | None:
    """The symptom of a property's violation; ``seen`` is the last observation."""
    if died is not None:
        return Symptom("exception", f"{died.function} raised {died.error}")
    looks = {
        "no-slot-leak": stays_refused,
        "use-count": counts_are_off,
        "unload-clears": stays_loaded,
        "unload-completes": unload_waits,
        "progress": stays_refused,
        "unload-safe": gone_under_a_request,
        "slot-capacity": too_many_handed_over,
        "right-adapter": wrong_slot,
        "split-equals-single": wrong_slot,
        "resident-at-launch": wrong_slot,
        "stable-in-flight": overwritten_in_flight,
        "work-conserving": left_behind,
        "refused-waits": left_behind,
    }
    look = looks.get(property)
    return None if look is None else look(server, seen)


def _of_rank(seen: Mapping[str, Any], variable: str) -> Any:
    return seen.get(f"ranks[rank0].{variable}")


def stays_refused(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """The gate refuses, and goes on refusing when every copy has ended and the server has gone on."""
    first = set(server.gate.refused)
    if not first:
        return None
    with server.device.installed():
        _to_the_top(server)
        server.device.synchronize()
        server.fresh()
        server.do_schedule("rank0", (), (), 6)
        _to_the_top(server)
    still = first & server.gate.refused
    if not still:
        return None
    again = {r: sorted(server.gate.counted.get(r, ())) for r in still}
    return Symptom(
        "refused",
        f"the gate refuses {sorted(first)}, and {sorted(still)} again after every copy has ended:"
        f" the fit test counts {again}",
    )


def _to_the_top(server: SingleServer) -> None:
    while server.iteration is not None:
        server.do_go_on("rank0", (), ())


def counts_are_off(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """A use count that is not the number of open states, or one that stays without any."""
    off = []
    for a in sorted(server.unloadable):
        count = server.tokenizer.use_count(server.references[a].lora_id)
        if count is not None and server.drift(a) != 0:
            off.append(f"{count} for {a}, where {count - (server.drift(a) or 0)} requests are open")
    return Symptom("leftover", f"LoRARegistry counts {'; '.join(off)}") if off else None


def unload_waits(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """An unload whose task still waits for its use count, although no request of the adapter is open."""
    for a in sorted(seen["registry.unloading"]):
        count = server.tokenizer.use_count(server.references[a].lora_id)
        if not server.tokenizer.is_sent(a) and count and server.drift(a) == count:
            return Symptom(
                "hang", f"the unload of {a} waits for a use count of {count}, and no request is open"
            )
    return None


def stays_loaded(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """An adapter that was unloaded, and that a slot, the loader or the catalogue still holds."""
    for a in sorted(seen["registry.absent"] - seen["registry.unloading"]):
        holders = [
            name
            for name, holds in {
                "a slot (uid_to_buffer_id)": a in _of_rank(seen, "pool.resident"),
                "the loader (lora_to_overlap_load_event)": a in (_of_rank(seen, "loader.pending") or ()),
                "the catalogue (lora_refs)": a not in _of_rank(seen, "manager.gone"),
            }.items()
            if holds
        ]
        if holders:
            return Symptom(
                "leftover", f"no client can name {a} any more, and {' and '.join(holders)} holds it"
            )
    return None


def gone_under_a_request(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """An adapter that left the catalogue while the scheduler has a request for it."""
    gone = _of_rank(seen, "manager.gone")
    for request in server.held():
        if adapter_name(request.lora_id) in gone and not request.finished():
            return Symptom(
                "leftover",
                f"the scheduler holds {request.rid} for {adapter_name(request.lora_id)}, which is unloaded",
            )
    return None


def too_many_handed_over(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """A batch of more adapters than there are slots."""
    handed = _of_rank(seen, "forward.handed")
    if len(handed) <= server.manager.max_loras_per_batch:
        return None
    return Symptom("exception", f"a batch with {sorted(handed)} was handed over")


def wrong_slot(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """Rows whose metadata names the slot of another adapter, or of one whose copy has not ended."""
    report = server.forward.report
    if report.misrouted:
        return Symptom("token", f"rows {sorted(report.misrouted)} read the slot of another adapter")
    early = report.handed & set(_of_rank(seen, "loader.filling") or ())
    return Symptom("token", f"the copy of {sorted(early)} has not ended") if early else None


def overwritten_in_flight(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """A slot that the load stream writes."""
    written = server.gate.overwritten - {BASE}
    return (
        Symptom("token", f"the load stream writes over the slots of {sorted(written)}") if written else None
    )


def left_behind(server: SingleServer, seen: Mapping[str, Any]) -> Symptom | None:
    """Requests that stay in the queue."""
    waiting = _of_rank(seen, "scheduler.waiting")
    return Symptom("refused", f"{', '.join(waiting)} stay in the queue") if waiting else None
