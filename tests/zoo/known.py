"""What is known about the systems of the zoo, by others than this project: see each file for where from.

``generated`` and TLC's depth are converted: TLC counts initial states and all successors, and the
states on a shortest path; the engines count transitions, and steps.
"""

from dataclasses import dataclass, field
from typing import Any

from slotproof.model.language import System
from tests.zoo import (
    allocator,
    alternating_bit,
    clean_forks,
    coffee_can,
    eight_puzzle,
    hanoi,
    increment,
    jugs,
    networked_allocator,
    peterson,
    philosophers,
    queens,
    readers_writers,
    river,
    scheduling_allocator,
    simple_allocator,
    smokers,
    termination,
    transaction_commit,
    two_phase_commit,
)


@dataclass(frozen=True)
class Known:
    """A system at one size, and what is published of it; ``None`` where nothing is.

    ``violations`` gives the steps of the shortest trace of each property that does not hold.
    """

    system: System
    parameters: dict[str, Any] = field(default_factory=dict)
    states: int | None = None
    transitions: int | None = None
    depth: int | None = None
    violations: dict[str, int] = field(default_factory=dict)

    @property
    def sized(self) -> System:
        """The system at this size."""
        return self.system.with_parameters(**self.parameters)

    @property
    def name(self) -> str:
        """The system and its size, as the name of a test."""
        size = ",".join(f"{k}={v}" for k, v in self.parameters.items())
        return f"{self.system.name}[{size}]" if size else self.system.name

    def tlc(self, distinct: int, generated: int, depth: int, starts: int = 1, idle: int = 0) -> "Known":
        """The same with TLC's counts.

        ``starts`` is the number of initial states, ``idle`` that of TLC's steps that are none here.
        """
        assert (self.states, self.transitions, self.depth) == (None, None, None)
        return Known(
            self.system, self.parameters, distinct, generated - starts - idle, depth - 1, self.violations
        )


SMALL = [
    Known(smokers.smokers).tlc(6, 15, 2, starts=3),
    Known(peterson.in_one_step, states=10),
    Known(peterson.flag_first),
    Known(peterson.turn_first, violations={"one-inside": 6}),
    Known(increment.racing, states=13, violations={"nothing-lost": 4}),
    Known(increment.locked),
    Known(philosophers.dining_philosophers, {"philosophers": 3}, states=14, violations={"deadlock": 3}),
    Known(river.river, states=16, violations={"somebody-is-left": 11}),
    Known(jugs.jugs, violations={"never-four-gallons": 6}).tlc(16, 97, 8),
    Known(queens.eight_queens, {"queens": 4}, states=17, transitions=16, violations={"unsolved": 4}),
    Known(hanoi.hanoi, {"disks": 3}, 27, 78, 7, {"unsolved": 7}),
    Known(transaction_commit.transaction_commit).tlc(34, 94, 7),
]
"""Systems that the interpreter and Z3 explore, too."""

LARGE = [
    Known(simple_allocator.simple_allocator, violations={"some-client-is-content": 3}).tlc(400, 1633, 6),
    Known(scheduling_allocator.scheduling_allocator).tlc(1690, 5854, 7),
    Known(networked_allocator.networked_allocator).tlc(17_701, 64_414, 16),
    # By the manifest 10 deep, an upper bound.
    Known(termination.termination, {"nodes": 3}, violations={"token-stays-orange": 1}).tlc(
        302, 2001, 9, starts=192
    ),
    Known(termination.termination, {"nodes": 4}, violations={"token-stays-orange": 1}).tlc(
        1566, 15_986, 12, starts=1024
    ),
    Known(two_phase_commit.two_phase_commit, {"managers": 3}).tlc(288, 1146, 11),
    Known(two_phase_commit.two_phase_commit, {"managers": 5}, states=8832),
    Known(two_phase_commit.two_phase_commit, {"managers": 6}, states=50_816),
    Known(clean_forks.clean_forks).tlc(67, 336, 29),
    Known(readers_writers.readers_writers).tlc(21_527, 59_674, 13),
    Known(coffee_can.coffee_can, {"beans": 100}).tlc(5150, 20_002, 1, starts=5150, idle=2),
    Known(alternating_bit.alternating_bit, states=240, depth=9),
    Known(philosophers.dining_philosophers, {"philosophers": 5}, states=82, violations={"deadlock": 5}),
    Known(philosophers.dining_philosophers, {"philosophers": 10}, states=6726, violations={"deadlock": 10}),
    Known(hanoi.hanoi, {"disks": 7}, 3**7, 3**8 - 3, 2**7 - 1, {"unsolved": 2**7 - 1}),
    Known(queens.eight_queens, {"queens": 8}, 2057, 2056, 8, {"unsolved": 8}),
    Known(allocator.allocator, {"requests": 6, "adapters": 3, "slots": 2}, 96_508, 908_832, 26),
    Known(eight_puzzle.eight_puzzle, {}, 181_440, 483_840, 31),
]
"""Systems for the native search alone."""

DEEP = [Known(allocator.allocator, {"requests": 8, "adapters": 3, "slots": 2}, 1_383_250, 16_675_150, 32)]
"""Over a million states."""

QUEENS_BY_ROW = [1, 8, 42, 140, 344, 568, 550, 312, 92]
"""Partial placements of eight queens, by the number placed."""
