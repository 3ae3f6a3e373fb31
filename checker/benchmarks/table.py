"""From figures of many runs to a table of ratios; no time stands alone in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from slotproof.checker.benchmarks.peers import Figures


class Different(Exception):
    """Two checkers counted differently: they did not do the same work, and no ratio means anything."""


@dataclass(frozen=True)
class Measured:
    """All runs of one checker on one system."""

    name: str
    runs: tuple[Figures, ...]

    @property
    def seconds(self) -> float:
        """Median wall time of the search."""
        return median(r.seconds for r in self.runs)

    @property
    def cpu(self) -> float:
        """Median CPU time of the search."""
        return median(r.cpu for r in self.runs)

    @property
    def whole(self) -> float:
        """Median wall time with the compilation."""
        return median(r.seconds + r.built for r in self.runs)

    @property
    def peak(self) -> float:
        """Median peak of memory."""
        return median(r.peak for r in self.runs)


@dataclass(frozen=True)
class Section:
    """What was measured on one system; the first checker is the one that the others are held against."""

    title: str
    measured: tuple[Measured, ...]
    absent: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """``Different`` unless every run of every checker counted the same."""
        first = self.measured[0].runs[0]
        for checker in self.measured:
            for run in checker.runs:
                for what in ("states", "transitions", "depth"):
                    told = getattr(run, what)
                    if told is not None and told != getattr(first, what):
                        raise Different(
                            f"{self.title}: {checker.name} counts {told:,} {what},"
                            f" {self.measured[0].name} {getattr(first, what):,}"
                        )

    def lines(self) -> list[str]:
        """The section as markdown."""
        ours, *others = self.measured
        first = ours.runs[0]
        lines = [
            f"## {self.title}",
            "",
            f"{first.states:,} states, {first.transitions:,} transitions, depth {first.depth}:"
            f" counted by every checker below. Medians of {len(ours.runs)}.",
            "",
            f"| {ours.name} against | states per second | per CPU second"
            " | wall with compilation | peak memory |",
            "|---|---|---|---|---|",
        ]
        for peer in others:
            lines.append(
                f"| {peer.name} | {_times(peer.seconds / ours.seconds)} | {_times(peer.cpu / ours.cpu)}"
                f" | {_times(peer.whole / ours.whole)} | {ours.peak / peer.peak:.2f} of it |"
            )
        lines += [f"| {name} | {why} | | | |" for name, why in self.absent]
        return [*lines, ""]


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 20 else f"{ratio:.1f}×"


HEAD = """# Benchmarks

This checker and its peers on the same work: the same systems, derived from one source, with the same
counts demanded, in the same run on the same machine. Written by

<!-- not run: takes minutes, and the peers with it -->

    python -m slotproof.checker.benchmarks

"""

FOOT = """## How to read it

Every number is a ratio of medians; a time of one machine says nothing about another.

- *States per second* compares the searches alone, compiled before; *per CPU second* does it by CPU
  time, which other work on the machine disturbs less.
- *Wall with compilation* is what a first run takes: this checker with an empty cache, from the start of its
  process; Spin with its translation and the C compiler.
- *Peak memory* is the searching process's, for this checker with Python and LLVM in it.
- Spin searches breadth-first without reduction (`-DBFS -DNOREDUCE`, `gcc -O2`) what `slotproof export`
  writes. musil and minicheck get the system as flat Python over tuples with all arguments written in,
  which is faster for them than the dataclasses of their manuals.
  TLC and Stateright have a model of their own, named by `--tlc` and `--stateright`.
"""


def document(sections: Sequence[Section], machine: str) -> str:
    """The whole page."""
    lines = [line for section in sections for line in section.lines()]
    return HEAD + machine + "\n\n" + "\n".join(lines) + "\n" + FOOT
