"""The tokenizer's side: names, use counts, request states, and what comes up from the schedulers."""

from __future__ import annotations

from dataclasses import dataclass, field

from slotproof.counterexamples.reference.rules import Rules


class LoRARegistry:
    """Which adapters a client can name, and how many references each has."""

    def __init__(self, names: list[str]) -> None:
        self.names = list(names)
        self.counts = dict.fromkeys(names, 0)

    def look_up(self, name: str) -> str:
        """The id of a registered name; ``KeyError`` if it is not registered."""
        if name not in self.names:
            raise KeyError(name)
        return name

    def acquire(self, uid: str) -> None:
        """Take a reference."""
        self.counts[uid] = self.counts.get(uid, 0) + 1

    def release(self, uid: str) -> None:
        """Give a reference back; the count has no floor."""
        self.counts[uid] = self.counts.get(uid, 0) - 1

    def unregister(self, name: str) -> None:
        """No client can name the adapter any more; its count stays."""
        self.names.remove(name)


@dataclass
class State:
    """What the tokenizer knows of a request that has not been answered."""

    rid: str
    adapter: str
    owns: bool = True


@dataclass(frozen=True)
class Output:
    """The last token output of a request, by way of the detokenizer."""

    rid: str
    tokens: tuple[int, ...]
    error: bool = False


@dataclass
class Channels:
    """The two ways up; they overtake each other."""

    outputs: dict[str, Output] = field(default_factory=dict)
    echoes: set[str] = field(default_factory=set)


class Tokenizer:
    """``TokenizerManager``: request states by id, and which way of ending releases a reference.

    ``unloading`` are adapters whose unload waits for the use count, ``incomplete`` those whose unload was
    given up and is remembered.
    """

    def __init__(self, names: list[str], rules: Rules) -> None:
        self.rules = rules
        self.registry = LoRARegistry(names)
        self.states: dict[str, State] = {}
        self.unloading: set[str] = set()
        self.incomplete: set[str] = set()
        self.channels = Channels()

    def open(self, rid: str, adapter: str, owns: bool = True) -> None:
        """Open the state of a request. Without ``owns`` it has no reference of its own (a warm-up)."""
        self.states[rid] = State(rid, adapter, owns)

    def send_output(self, output: Output) -> None:
        """The scheduler's last output of a request; ignored when nobody waits for it."""
        if output.rid in self.states:
            self.channels.outputs[output.rid] = output

    def send_echo(self, rid: str) -> None:
        """The scheduler's abort echo; ignored when nobody waits for it."""
        if rid in self.states:
            self.channels.echoes.add(rid)

    def handle_output(self, rid: str, listens: bool = False) -> Output:
        """``_handle_batch_output``, and the waiting handler behind it: close the state, give back."""
        output = self.channels.outputs[rid]
        state = self.close(rid)
        if state.owns:
            self.registry.release(state.adapter)
        if output.error and listens and self.rules.error_releases_twice == "by_output_and_by_handler":
            self.registry.release(state.adapter)
        return output

    def handle_echo(self, rid: str) -> None:
        """``_handle_abort_req``: close the state."""
        state = self.close(rid)
        if state.owns and self.rules.echo_releases == "every_end_releases":
            self.registry.release(state.adapter)

    def discard(self, rid: str) -> None:
        """The handler fails and drops the state; the reference is lost."""
        self.close(rid)

    def close(self, rid: str) -> State:
        """Forget a request."""
        self.channels.outputs.pop(rid, None)
        self.channels.echoes.discard(rid)
        return self.states.pop(rid)
