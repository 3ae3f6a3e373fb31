"""What is known of progress in the systems of the zoo, by others than this project: see each file."""

from dataclasses import dataclass, field
from typing import Any

from slotproof.model.language import System
from tests.zoo import (
    alternating_bit,
    clean_forks,
    coin,
    peterson,
    readers_writers,
    revisited,
    scheduling_allocator,
    semaphore,
    simple_allocator,
    termination,
)


@dataclass(frozen=True)
class KnownRuns:
    """A system at one size, and which of its progress properties hold."""

    system: System
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def sized(self) -> System:
        """The system at this size."""
        return self.system.with_parameters(**self.parameters)

    @property
    def name(self) -> str:
        """The system and its size, as the name of a test."""
        size = ",".join(f"{k}={v}" for k, v in self.parameters.items())
        return f"{self.system.name}[{size}]" if size else self.system.name


SMALL = [
    KnownRuns(semaphore.compassionate, ("gets-in", "somebody-gets-in"), ()),
    KnownRuns(semaphore.just, ("somebody-gets-in",), ("gets-in",)),
    KnownRuns(semaphore.just, ("somebody-gets-in",), ("gets-in",), {"processes": 3}),
    KnownRuns(coin.fair_coin, ("heads", "tails", "lands-at-all"), ()),
    KnownRuns(coin.any_coin, ("lands-at-all",), ("heads", "tails")),
    KnownRuns(coin.fair_coin, ("lands-at-all",), ("heads", "tails"), {"again": False}),
    KnownRuns(revisited.revisited, ("even-in-the-end",), ("odd-in-the-end", "even-again")),
    KnownRuns(revisited.revisited, ("even-in-the-end", "odd-in-the-end"), ("even-again",), {"cycle": False}),
    KnownRuns(peterson.both_go_on, ("gets-in",), ("wants-again",)),
    KnownRuns(peterson.nobody_has_to_leave, (), ("gets-in", "wants-again")),
    KnownRuns(alternating_bit.fair_line, ("sent-leads-to-received", "acknowledged-in-the-end"), ()),
    KnownRuns(termination.token_moves, ("is-detected",), ("all-rest",)),
    KnownRuns(clean_forks.all_go_on, ("nobody-starves",), ()),
    KnownRuns(clean_forks.one_goes_on, (), ("nobody-starves",)),
    KnownRuns(
        simple_allocator.strong_allocator, ("clients-will-obtain", "clients-will-return"), (), {"clients": 2}
    ),
    KnownRuns(
        simple_allocator.waiting_allocator, ("clients-will-return",), ("clients-will-obtain",), {"clients": 2}
    ),
    KnownRuns(
        simple_allocator.weak_allocator, ("clients-will-return",), ("clients-will-obtain",), {"clients": 2}
    ),
]
"""Systems that the interpreter explores, too."""

LARGE = [
    KnownRuns(termination.nodes_rest, (), ("is-detected", "all-rest")),
    KnownRuns(alternating_bit.unfair_line, (), ("sent-leads-to-received", "acknowledged-in-the-end")),
    KnownRuns(simple_allocator.strong_allocator, ("clients-will-obtain", "clients-will-return"), ()),
    KnownRuns(simple_allocator.waiting_allocator, ("clients-will-return",), ("clients-will-obtain",)),
    KnownRuns(simple_allocator.weak_allocator, ("clients-will-return",), ("clients-will-obtain",)),
    KnownRuns(scheduling_allocator.patient_allocator, ("clients-will-obtain", "clients-will-return"), ()),
    KnownRuns(readers_writers.everybody_stops, ("reads-again", "writes-again", "stops-reading"), ()),
    KnownRuns(readers_writers.nobody_has_to_stop, (), ("reads-again", "writes-again", "stops-reading")),
    KnownRuns(termination.token_moves, ("is-detected",), ("all-rest",), {"nodes": 5}),
]
"""Systems for the engine alone."""
