"""Fair runs by their definition: nothing of the engine's own graph code, nor of its method. Two ways to it.

With networkx, by strongly connected parts:

A run that stays for ever visits some states again and again. Of each strong set it takes steps again and
again, or from some point on none is possible any more. So: for each way to choose among the two, leave out
the states in which a set of the second kind is possible; the run then stays in a strongly connected part of
what is left, and the largest ones are enough to look at.

And by liveness to safety (Biere, Artho and Schuppan 2002): a run guesses a state, keeps it, and watches what
it passes from there on. It has found a lasso when it is back and no fair set is owed anything. That searches
plain states, without parts, and it tells the shortest way to a loop.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import networkx as nx

from slotproof.counterexamples.lasso import every
from slotproof.model.language.columns import Valuation
from slotproof.model.language.interpreter import Interpreter
from slotproof.model.language.program import Program

Step = tuple[int, int, frozenset[int]]
"""From, to, and the fair sets that the step is in."""


@dataclass
class Fair:
    """A graph with fair sets. ``enabled`` are the sets possible in a state, by steps that it lacks too."""

    weak: frozenset[int]
    strong: frozenset[int]
    steps: list[Step] = field(default_factory=list)
    enabled: dict[int, frozenset[int]] = field(default_factory=dict)

    def traps(self, open_: Iterable[int]) -> set[int]:
        """The states among these in which a run can stay fairly, or come to stay, without leaving them."""
        within = set(open_)
        found: set[int] = set()
        for kinds in product([True, False], repeat=len(self.strong)):
            never = {s for s, taken in zip(sorted(self.strong), kinds, strict=True) if not taken}
            graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
            graph.add_nodes_from(s for s in within if not self.enabled[s] & never)
            graph.add_edges_from(
                (a, b, {"sets": sets}) for a, b, sets in self.steps if a in graph and b in graph
            )
            for part in nx.strongly_connected_components(graph):
                inside = graph.subgraph(part)
                taken = set().union(*(d["sets"] for _, _, d in inside.edges(data=True)))
                always = frozenset.intersection(*(self.enabled[s] for s in part))
                if self.strong - never <= taken and not (always & self.weak) - taken:
                    found |= part
        whole = nx.DiGraph([(a, b) for a, b, _ in self.steps if a in within and b in within])
        whole.add_nodes_from(within)
        return found.union(*(nx.ancestors(whole, s) for s in found))

    def violated(self, starts: Iterable[int], premise: set[int], goal: set[int]) -> bool:
        """Whether a fair run from one of the states meets the premise and never again the goal."""
        whole = nx.DiGraph([(a, b) for a, b, _ in self.steps])
        whole.add_nodes_from(self.enabled)
        reachable = set(starts).union(*(nx.descendants(whole, s) for s in starts))
        traps = self.traps(s for s in self.enabled if s not in goal)
        return bool(reachable & premise & traps)

    def violated_by_some_set(self, starts: Iterable[int], premise: set[int], goal: set[int]) -> bool:
        """The same, by trying every set of states that a run may visit again and again. For a few states."""
        open_ = [s for s in self.enabled if s not in goal]
        whole = nx.DiGraph([(a, b) for a, b, _ in self.steps])
        whole.add_nodes_from(self.enabled)
        reachable = set(starts).union(*(nx.descendants(whole, s) for s in starts))
        calm = whole.subgraph(open_)
        waiting = [s for s in open_ if s in reachable and s in premise]
        pending = set(waiting).union(*(nx.descendants(calm, s) for s in waiting))
        for chosen in product([False, True], repeat=len(pending)):
            part = {s for s, one in zip(sorted(pending), chosen, strict=True) if one}
            if part and nx.is_strongly_connected(whole.subgraph(part)) and self.is_fair(part):
                return True
        return False

    def shortest(self, starts: Iterable[int], premise: set[int], goal: set[int]) -> int | None:
        """The fewest steps to a state at which a fair loop begins, on a run that has met the premise and not
        the goal since; ``None`` if there is none. By liveness to safety."""
        onward: dict[int, list[tuple[int, frozenset[int]]]] = {state: [] for state in self.enabled}
        for a, b, sets in self.steps:
            onward[a].append((b, sets))
        seen: set[tuple[int, bool]] = set()
        level = {(s, s in premise and s not in goal) for s in starts}
        depth = 0
        while level:
            if any(waits and self._comes_back(s, goal, onward) for s, waits in level):
                return depth
            seen |= level
            level = {
                (b, b not in goal and (waits or b in premise)) for s, waits in level for b, _ in onward[s]
            } - seen
            depth += 1
        return None

    def _comes_back(
        self, kept: int, goal: set[int], onward: Mapping[int, Iterable[tuple[int, frozenset[int]]]]
    ) -> bool:
        """Whether a run from the kept state comes back to it, or stays there, and owes no fair set a step."""
        possible = self.enabled[kept]
        # Where it is; weak sets possible in each state so far; strong ones that ever were; those taken.
        start = (kept, possible & self.weak, possible & self.strong, frozenset[int]())
        seen, queue = {start}, [start]
        for here, always, ever, taken in queue:
            if here == kept and not (always | ever) - taken:
                return True
            for there, sets in onward[here]:
                possible = self.enabled[there]
                state = (there, always & possible, ever | (possible & self.strong), taken | sets)
                if there not in goal and state not in seen:
                    seen.add(state)
                    queue.append(state)
        return False

    def is_fair(self, part: set[int]) -> bool:
        """Whether a run that visits exactly these states again and again, by all steps, is fair."""
        taken = set().union(*(sets for a, b, sets in self.steps if a in part and b in part))
        possible = [self.enabled[s] for s in part]
        weak = frozenset.intersection(*possible) & self.weak
        strong = frozenset.union(*possible) & self.strong
        return not (weak | strong) - taken


def violated(program: Program, choices: tuple[int, ...]) -> dict[str, bool]:
    """Of each progress property of a small program whether it is violated, by strongly connected parts."""
    return {
        name: any(fair.violated(starts, premise, goal) for premise, goal in judged)
        for name, fair, starts, judged in _graphs(program, choices)
    }


def shortest(program: Program, choices: tuple[int, ...]) -> dict[str, int | None]:
    """Of each progress property of a small program the fewest steps to a loop that violates it, or ``None``.

    By liveness to safety; it fails where strongly connected parts say something else.
    """
    found: dict[str, int | None] = {}
    for name, fair, starts, judged in _graphs(program, choices):
        ways = [fair.shortest(starts, premise, goal) for premise, goal in judged]
        assert [way is not None for way in ways] == [fair.violated(starts, p, g) for p, g in judged]
        found[name] = min((way for way in ways if way is not None), default=None)
    return found


def _graphs(
    program: Program, choices: tuple[int, ...]
) -> Iterator[tuple[str, Fair, list[int], list[tuple[set[int], set[int]]]]]:
    """Each progress property with the graph of the interpreter's steps, where that starts, and for each of
    the property's values the states that meet its premise and those that meet its goal."""
    interpreter = Interpreter(program, choices)
    sets = [(i, v) for i, f in enumerate(program.fairness) for v in every(f.instances)]
    strength = [program.fairness[i].strength for i, _ in sets]
    fair = Fair(
        frozenset(n for n, s in enumerate(strength) if s == "weak"),
        frozenset(n for n, s in enumerate(strength) if s == "strong"),
    )
    numbers: dict[Valuation, int] = {}
    queue = [interpreter.stored(state) for _, _, state in interpreter.initial()]
    starts = sorted({numbers.setdefault(state, len(numbers)) for state in queue})
    for state in queue:
        source = numbers[state]
        if source in fair.enabled:
            continue
        enabled: set[int] = set()
        for action, arguments, outcome in interpreter.successors(state):
            inside = frozenset(
                n for n, (i, v) in enumerate(sets) if interpreter.fair(i, v, state, action, arguments)
            )
            enabled |= inside
            if outcome.crash is None:
                target = interpreter.stored(outcome.state)
                queue.append(target)
                fair.steps.append((source, numbers.setdefault(target, len(numbers)), inside))
        fair.enabled[source] = frozenset(enabled)
    for i, declared in enumerate(program.progress):
        judged = []
        for values in every(declared.parameters):
            told = {n: interpreter.pending(i, values, state) for state, n in numbers.items()}
            premise = {n for n, (opened, _) in told.items() if opened}
            judged.append((premise, {n for n, (_, met) in told.items() if met}))
        yield declared.name, fair, starts, judged
