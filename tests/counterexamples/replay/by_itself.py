"""The reference runs by itself: what the outside sees of it is a log for ``own_steam.py``.

Clients come, cancel, go and are answered, the operator unloads, copies, transfers and rows end, all when
``chance`` likes. Nothing asks the model what may happen. What the outside cannot see is not in the log: the
moment a copy ends, and the cut of a pass between two questions to the gate.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from slotproof.counterexamples.reference.decode import DecodeScheduler
from slotproof.counterexamples.reference.ranks import step_together
from slotproof.counterexamples.reference.request import Request
from slotproof.counterexamples.reference.scheduler import PAGE, Scheduler
from slotproof.counterexamples.replay.conform import setting_for
from slotproof.counterexamples.replay.driver import Died, Plain
from slotproof.counterexamples.replay.own_steam import Seen
from slotproof.counterexamples.replay.reference import ReferenceTarget
from slotproof.counterexamples.trace import Step
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program
from slotproof.model.releases import release

HIDDEN = frozenset({"copy_ends"})
REST_OF_THE_PASS = frozenset({"go_on", "copy_ends"})
UNSEEN = (".loader.copies", ".loader.filling", ".gate.", ".forward.", ".routing.", ".asked")
"""Of a pass that may have been cut, the log shows no outputs of its last part alone, nor the load stream."""

OFTEN = {
    **{"arrive": 5, "abort": 1, "disconnect": 0.5, "reply": 3},
    **{"unregister": 0.3, "unload": 3, "fail": 0.5, "step": 9},
}
"""How often what is tried; most tries come to nothing, because it is not the time for them."""


def run_by_itself(
    program: Program, scenario: str, name: str, chance: random.Random, length: int
) -> list[Seen]:
    """Let ``length`` things happen, those that change nothing included; a log ends where the server dies,
    and where the model leaves a use count that is off as it is."""
    steam = _Steam(program, scenario, name, chance)
    for _ in range(length):
        steam.happen()
        if steam.target.beyond() or (steam.log and steam.log[-1].crash is not None):
            break
    return steam.log


class _Steam:
    def __init__(self, program: Program, scenario: str, name: str, chance: random.Random) -> None:
        names = release(name).names()
        self.chance = chance
        self.log: list[Seen] = []
        self.target = ReferenceTarget(strict=False, late=chance.random() < 0.5)
        used = {p.name: names[p.name] for p in program.decisions}
        interpreter = Interpreter(program, program.choices(names))
        number, numbers, _ = chance.choice(list(interpreter.initial()))
        start = None
        if number is not None:
            action = program.initial[number]
            start = Step(action.name, interpreter.arguments(action, numbers))
        self.target.begin(setting_for(program, used, scenario, name, start))
        self.p = self.target.parameters
        self.server = self.target.server
        self.cuts = any(s.loader is not None for s in self.server.schedulers)

    def visible(self) -> dict[str, Plain]:
        """What the outside sees."""
        seen = self.target.observe()
        return {n: v for n, v in seen.items() if not (self.cuts and any(part in n for part in UNSEEN))}

    def happened(self, action: str, then: frozenset[str] = frozenset(), **arguments: Plain) -> None:
        """An entry of the log."""
        self.target.marks.update(self.server.tokenizer, {})
        self.log.append(Seen(action, arguments, then, self.visible()))

    def happen(self) -> None:
        """One thing."""
        chance, server, tokenizer = self.chance, self.server, self.server.tokenizer
        self.target.new_step()
        for scheduler in server.schedulers:
            self.copies_may_end(scheduler)
        k = chance.randrange(len(server.schedulers))
        name = chance.choice(self.target.names)
        r = self.target.current.get(name)
        opened = r is not None and r.rid in tokenizer.states
        doomed = next((a for a in sorted(self.target.unloadable)), None)
        match chance.choices([*OFTEN], [*OFTEN.values()])[0]:
            case "arrive":
                self.arrive(k, name, chance.choice(sorted(map(str, self.p["names"][name]))))
            case "abort" if r is not None and opened:
                before = self.visible()
                server.abort(r.rid)
                if self.visible() != before:
                    self.happened("abort", r=name)
            case "disconnect" if r is not None and opened:
                if server.rules.failing_handler_discards == "discards_the_state":
                    tokenizer.discard(r.rid)
                    server.abort(r.rid)
                    self.happened("disconnect", r=name)
            case "reply" if r is not None and r.rid in tokenizer.channels.outputs:
                self.reply(r)
            case "reply" if r is not None and r.rid in tokenizer.channels.echoes:
                tokenizer.handle_echo(r.rid)
                self.happened("echo", r=name)
            case "unregister" if doomed in tokenizer.registry.names and not tokenizer.unloading:
                tokenizer.registry.unregister(str(doomed))
                tokenizer.unloading.add(str(doomed))
                self.happened("unregister", a=doomed)
            case "unload" if doomed in tokenizer.unloading and tokenizer.registry.counts[str(doomed)] == 0:
                server.unload(str(doomed))
                self.happened("unload", a=doomed)
            case "fail" if r is not None:
                self.fail(k, r)
            case "step" if self.target.data_parallel:
                if any(s.has_work() for s in server.schedulers):
                    self.iterate("step_together", server.schedulers[0])
            case "step" if server.schedulers[k].has_work():
                decode = isinstance(server.schedulers[k], DecodeScheduler)
                self.iterate("decode_step" if decode else "schedule", server.schedulers[k])

    def arrive(self, k: int, name: str, adapter: str) -> None:
        """A client sends a request whose answer has one to four tokens."""
        r = self.target.current.get(name)
        waits = r is not None and self.target.under_way(r)
        if not waits and adapter in self.server.tokenizer.registry.names:
            self.target.current[name] = self.server.arrive(name, adapter, k)
            self.target.current[name].max_new_tokens = self.chance.randint(1, 4)
            self.happened("arrive", k=f"rank{k}", r=name, a=adapter)

    def reply(self, r: Request) -> None:
        """An output reaches the tokenizer; the client of one with an error may be gone."""
        tokenizer = self.server.tokenizer
        if not tokenizer.channels.outputs[r.rid].error:
            tokenizer.handle_output(r.rid)
            self.happened("answer", r=r.name)
            return
        twice = self.server.rules.error_releases_twice == "by_output_and_by_handler"
        follows = self.target.marks.off.get(r.adapter, 0) > -2  # the model takes no third extra release
        listens = twice and follows and self.chance.random() < 0.5
        tokenizer.handle_output(r.rid, listens=listens)
        self.happened("answer_error", r=r.name, listens=listens)

    def fail(self, k: int, r: Request) -> None:
        """The prefill server gives up on a request."""
        scheduler = self.server.schedulers[k]
        if not isinstance(scheduler, DecodeScheduler) or r.rid in self.server.peer.failed:
            return
        if r in scheduler.reserving + scheduler.transferring:
            self.server.peer.failed.add(r.rid)
            self.happened("transfer_fails", r=r.name)

    def iterate(self, action: str, scheduler: Scheduler) -> None:
        """One iteration of a loop."""
        try:
            if action == "step_together":
                step_together(self.server.forwards, self.server.schedulers)
            elif isinstance(scheduler, DecodeScheduler):
                self.peer_and_memory_move(scheduler)
                for _ in scheduler.iteration():
                    pass
            else:
                self.limit(scheduler)
                for _ in scheduler.iteration():
                    self.copies_may_end(scheduler)
        except Exception as error:
            dead: Died = self.target.died(error)
            self.log.append(Seen(action, then=REST_OF_THE_PASS, crash=dead.cause or dead.error))
            return
        self.happened(action, REST_OF_THE_PASS if self.cuts else frozenset())

    def copies_may_end(self, scheduler: Scheduler) -> None:
        """Copies end in the order of the load stream."""
        stream = scheduler.loader.stream if scheduler.loader is not None else None
        while stream is not None and stream.closed() and self.chance.random() < 0.4:
            stream.release()

    def limit(self, scheduler: Scheduler) -> None:
        """A pass has room for some half prompts, where the scenario limits it."""
        if self.p["least_room"] == self.p["most_room"]:
            return
        chunk = scheduler.chunk
        last = chunk is not None and len(chunk.prompt) - chunk.prefilled <= PAGE
        room = self.chance.randint(2 if last else self.p["least_room"], self.p["most_room"])
        scheduler.budget = lambda partial: self.target._budget(partial, room)

    def some(self, requests: Iterable[Request]) -> set[str]:
        """About half of them."""
        return {r.rid for r in requests if self.chance.random() < 0.5}

    def peer_and_memory_move(self, scheduler: DecodeScheduler) -> None:
        """Handshakes and transfers end, memory is short or free again."""
        peer, some = self.server.peer, self.some
        peer.ready = some(scheduler.reserving + scheduler.transferring)
        peer.resumable, peer.short = some(scheduler.retracted), []
        if self.p["retraction"] and not scheduler.retracted and self.chance.random() < 0.3:
            peer.short = sorted(some(scheduler.running))
