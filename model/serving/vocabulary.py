"""The words that every part of the server uses, and the sizes and switches that a scenario chooses.

The base model is an adapter throughout (upstream ``lora_id is None``): it takes a slot like any other.
An ``Adapter`` is an *id*: every load mints a new one, so that an id which was unloaded never comes back.
"""

# mypy: disable-error-code="type-abstract"

from __future__ import annotations

import enum

from slotproof.model.language import Domain, Map, Set, parameter


class Role(enum.Enum):
    """Upstream ``disaggregation_mode``: what part of the work this server does."""

    SINGLE = "prefills and decodes (NULL)"
    DECODE = "decodes what a prefill server sends (DECODE)"


class Loop(enum.Enum):
    """Upstream ``enable_overlap``: when the result of a forward is processed."""

    NORMAL = "at once, before the next step"
    OVERLAP = "one step late, after the next forward has been launched"


class Loading(enum.Enum):
    """Upstream ``enable_lora_overlap_loading``: who copies an adapter into a slot."""

    SYNCHRONOUS = "the forward itself, when it builds its batch"
    BACKGROUND = "the loader, on a stream of its own, started by the gate"


class Traffic(enum.Enum):
    """Whether a request can be sent again after it has been answered."""

    ONCE = "each request is sent at most once"
    ENDLESS = "a request that has left the server without a trace can be sent again, as a new one"


requests = parameter("requests", int, 3, "requests that can be under way at a time")
adapters = parameter("adapters", int, 4, "adapter ids, the base model included")
slots = parameter("slots", int, 2, "device slots, each for the weights of one adapter (max_loras_per_batch)")
ranks = parameter("ranks", int, 1, "scheduler processes with queues of their own (data-parallel ranks)")


class Request(Domain, size=requests, names="r{n}"):
    """A client's request, from acquiring its adapter to its answer."""


class Adapter(Domain, size=adapters, names=("base", "A", "B", "C", "D", "E", "F", "G")):
    """An adapter id; element 0, ``base``, is the base model, which takes a slot like any other."""


class Rank(Domain, size=ranks, names="rank{i}"):
    """A scheduler process with its own queue, catalogue, loader and slots."""


BASE = Adapter(0)

role = parameter("role", Role, Role.SINGLE, "what part of the work the server does")
loop = parameter("loop", Loop, Loop.OVERLAP, "when the result of a forward is processed")
loading = parameter("loading", Loading, Loading.SYNCHRONOUS, "who copies an adapter into a slot")
traffic = parameter("traffic", Traffic, Traffic.ONCE, "whether an answered request can be sent again")
names = parameter(
    "names",
    Map[Request, Set[Adapter]],
    {"r1": ["A"], "r2": ["B"], "r3": ["base", "C"]},
    "the adapters that each request may name",
)
pinned = parameter("pinned", Set[Adapter], [], "adapters that are loaded as pinned: never evicted")
unloadable = parameter("unloadable", Set[Adapter], [], "adapters that an operator may unload")
data_parallel = parameter("data_parallel", bool, False, "the ranks share each forward (DP attention)")
aborts = parameter("aborts", bool, True, "clients may cancel a request at every stage")
batches = parameter("batches", bool, False, "requests may come in lists, whose acquire is not atomic")
parallel = parameter("parallel", bool, False, "a prompt may ask for two samples (n = 2)")
give_up = parameter("give_up", bool, False, "the caller of an unload may give up while it waits")
failures = parameter("failures", bool, False, "requests may fail after the acquire, before the send")
least_room = parameter("least_room", int, 6, "half prompts that a prefill holds at least")
most_room = parameter("most_room", int, 6, "half prompts that a prefill holds at most")
stream = parameter("stream", int, 2, "copies that can be on the load stream at a time")
