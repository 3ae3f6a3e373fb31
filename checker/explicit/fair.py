"""Fair runs through a graph: where a run can stay for ever, and a shortest way there and around.

A run stays for ever in one strongly connected part, and can do so fairly if its fair sets allow it: of a
weak set some step is taken inside, or in some state none is possible; of a strong set some step is taken
inside, or in no state one is possible. A part that fails for a weak set fails as a whole: the set is
possible in all of it. One that fails for a strong set may have parts that avoid the states in which the
set is possible, so these states go and the rest is split again (Streett's condition; Lichtenstein and
Pnueli 1985, Emerson and Lei 1987). A run may also stop: a state is a part of its own, without a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from slotproof.checker.explicit.graph import Flags, Graph, Numbers

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Lasso:
    """A fair run: to state ``start`` by the way of the search, then the steps ``stem``, then ``loop`` again
    and again. An empty loop stands for a run that stops. Steps are named by their number in the graph."""

    start: int
    stem: tuple[int, ...]
    loop: tuple[int, ...]
    length: int
    """Steps from an initial state to the loop."""


class FairRuns:
    """The fair runs of a graph; ``look`` is called between the parts of longer work."""

    def __init__(self, graph: Graph, look: Callable[[], None] = lambda: None) -> None:
        self.graph = graph
        self.look = look
        self.weak = [i for i, s in enumerate(graph.strengths) if s == "weak"]
        self.strong = [i for i, s in enumerate(graph.strengths) if s == "strong"]
        self._depths = graph.depths()

    def violation(self, premise: Flags, goal: Flags) -> Lasso | None:
        """A fair run that meets the premise and from there on never the goal; one with a shortest stem."""
        open_ = self.graph.alive & ~goal
        depths, arrival = self._pending(premise & open_, open_)
        parts = self.parts(depths >= 0)
        inside = np.flatnonzero(parts >= 0)
        if not len(inside):
            return None
        entry = int(inside[np.argmin(depths[inside])])
        stem: list[int] = []
        state = entry
        while arrival[state] >= 0:
            stem.append(int(arrival[state]))
            state = int(self.graph.sources[arrival[state]])
        loop = self._loop(entry, parts == parts[entry])
        return Lasso(state, tuple(reversed(stem)), tuple(loop), int(depths[entry]))

    def _pending(self, opening: Flags, allowed: Flags) -> tuple[Numbers, Numbers]:
        """Of each state the fewest steps of a run that has met the premise and since then not the goal; -1
        for none. And the step with which such a run arrives; -1 where it meets the premise."""
        graph = self.graph
        depths = np.full(graph.size, NOWHERE)
        arrival = np.full(graph.size, NOWHERE)
        starts = np.flatnonzero(opening)
        order = np.argsort(self._depths[starts], kind="stable")
        starts = starts[order]
        levels = self._depths[starts]
        frontier: Numbers = np.empty(0, np.int64)
        level, taken = (int(levels[0]) if len(starts) else 0), 0
        while taken < len(starts) or len(frontier):
            if not len(frontier) and levels[taken] > level:
                level = int(levels[taken])
            upto = int(np.searchsorted(levels, level, side="right"))
            fresh = starts[taken:upto]
            taken = upto
            fresh = fresh[depths[fresh] < 0]
            depths[fresh] = level
            frontier = np.concatenate([frontier, fresh])
            steps = self._steps_from(frontier)
            steps = steps[allowed[graph.targets[steps]] & (depths[graph.targets[steps]] < 0)]
            found, first = np.unique(graph.targets[steps], return_index=True)
            level += 1
            depths[found] = level
            arrival[found] = steps[first]
            frontier = found.astype(np.int64)
        return depths, arrival

    def _steps_from(self, states: Numbers) -> Numbers:
        """The steps from these states, in their order."""
        first = self.graph.first
        counts = first[states + 1] - first[states]
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        result: Numbers = np.arange(total) + np.repeat(first[states] - (ends - counts), counts)
        return result

    def parts(self, states: Flags) -> Numbers:
        """The number of the part in which a run can stay fairly, for each of these states; else -1."""
        graph = self.graph
        found = np.full(graph.size, NOWHERE)
        numbered = 0
        work = np.flatnonzero(states)
        place = np.full(graph.size, NOWHERE)
        while len(work):
            self.look()
            place[:] = NOWHERE
            place[work] = np.arange(len(work))
            steps = self._steps_from(work)
            steps = steps[place[graph.targets[steps]] >= 0]
            sources, targets = place[graph.sources[steps]], place[graph.targets[steps]]
            # Steps between the same states are added up: in a small type they could add up to nothing.
            links = csr_matrix((np.ones(len(steps)), (sources, targets)), (len(work), len(work)))
            count, labels = connected_components(links, directed=True, connection="strong")
            part = labels.astype(np.int64)
            inner = part[sources] == part[targets]
            fails, leave = self._judge(count, part, steps[inner], part[sources[inner]], work)
            accepted = ~fails[part]
            accepted[part_has(count, part, leave)[part]] = False
            found[work[accepted]] = numbered + part[accepted]
            numbered += count
            work = work[~accepted & ~fails[part] & ~leave]
        return found

    def _judge(
        self, count: int, part: Numbers, steps: Numbers, part_of_step: Numbers, work: Numbers
    ) -> tuple[Flags, Flags]:
        """Which parts fail for good, by a weak set; and which states have to go, by a strong one."""
        graph = self.graph
        fails = np.zeros(count, bool)
        leave = np.zeros(len(work), bool)
        for number in (*self.weak, *self.strong):
            possible = graph.is_in(number, graph.enabled[work])
            if not possible.any():
                continue
            taken = np.zeros(count, bool)
            taken[part_of_step[graph.is_in(number, graph.fair[steps])]] = True
            if number in self.weak:
                fails |= ~taken & ~part_has(count, part, ~possible)
            else:
                leave |= possible & ~taken[part]
        return fails, leave

    def _loop(self, entry: int, inside: Flags) -> list[int]:
        """Steps from a state back to it that stay in a part and are fair; from each to the nearest need."""
        graph = self.graph
        inner = inside[graph.sources] & inside[graph.targets]
        home = np.zeros(graph.size, bool)
        home[entry] = True
        nothing = np.zeros(graph.steps, bool)
        loop: list[int] = []
        here = entry
        while True:
            self.look()
            seen = np.unique([entry, *(int(graph.targets[s]) for s in loop)])
            steps, states = self._needs(seen, np.array(loop, np.int64), inside, inner)
            if steps.any() or states.any():
                way = self._way(here, inside, states, steps)
            elif here != entry:
                way = self._way(here, inside, home, nothing)  # and it may meet what a strong set needs
            else:
                return loop
            loop += way
            here = int(graph.targets[way[-1]])

    def _needs(self, seen: Numbers, loop: Numbers, inside: Flags, inner: Flags) -> tuple[Flags, Flags]:
        """What a loop still needs to be fair: any of these steps, or any of these states."""
        graph = self.graph
        steps = np.zeros(graph.steps, bool)
        states = np.zeros(graph.size, bool)
        for number in (*self.weak, *self.strong):
            possible = graph.is_in(number, graph.enabled[seen])
            if graph.is_in(number, graph.fair[loop]).any():
                continue
            if possible.all() if number in self.weak else possible.any():
                steps |= inner & graph.is_in(number, graph.fair)
                if number in self.weak:
                    states |= inside & ~graph.is_in(number, graph.enabled)
        return steps, states

    def _way(self, start: int, inside: Flags, states: Flags, steps: Flags) -> list[int]:
        """A shortest way from a state, inside, that ends in one of the states or with one of the steps."""
        graph = self.graph
        arrival = np.full(graph.size, NOWHERE)
        seen = np.zeros(graph.size, bool)
        seen[start] = True
        frontier = np.array([start])
        while len(frontier):
            onward = self._steps_from(frontier)
            onward = onward[inside[graph.targets[onward]]]
            hits = onward[steps[onward] | states[graph.targets[onward]]]
            if len(hits):
                way = [int(hits[0])]
                while (state := int(graph.sources[way[-1]])) != start:
                    way.append(int(arrival[state]))
                return way[::-1]
            onward = onward[~seen[graph.targets[onward]]]
            found, first = np.unique(graph.targets[onward], return_index=True)
            arrival[found] = onward[first]
            seen[found] = True
            frontier = found.astype(np.int64)
        raise RuntimeError("internal error: a fair part has no way to what makes it fair")


def part_has(count: int, part: Numbers, states: Flags) -> Flags:
    """Of each part whether one of these states is in it."""
    has = np.zeros(count, bool)
    has[part[states]] = True
    return has
