"""Phrases that every format for people shares: scope, coverage, what a search met and did not meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slotproof.checker.results import Cell, Standing
from slotproof.checker.runs import Subject, program_of
from slotproof.checker.verdict import Coverage, Unknown, Violated
from slotproof.counterexamples.encoding import setting
from slotproof.counterexamples.lasso import assumption
from slotproof.counterexamples.story import story
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call
from slotproof.counterexamples.words import place
from slotproof.model.language.program import Premise, Program


def count(number: int, singular: str, plural: str = "") -> str:
    """``1 step``, ``2,000 steps``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def scope(subject: Subject) -> str:
    """The sizes for which a verdict was found: of a scenario what it sets, of another system all."""
    program = program_of(subject)
    told = program.parameters if subject.scenario is None else program.system.parameters
    return ", ".join(f"{name} = {setting(program.parameters.get(name, told[name]))}" for name in told)


def covered(coverage: Coverage, remembered: bool = False) -> str:
    """How far a search went, and whether in an earlier run. Where no states are followed, none are told."""
    if remembered:
        return f"{covered(coverage)}; from the cache"
    if not coverage.states:
        return f"depth {coverage.depth}, {coverage.seconds:.1f} s"
    seen = f"{count(coverage.states, 'state')}, {count(coverage.transitions, 'transition')}"
    seen += f", depth {coverage.depth}"
    stopped = f"not to the end: {coverage.stopped or 'no closure'}"
    end = "searched to the end" if coverage.complete else stopped
    return f"{seen}, {coverage.seconds:.1f} s; {end}"


def assumptions(program: Program) -> list[str]:
    """The fairness that verdicts on progress rest on: a line for the weak and one for the strong sets."""
    lines = []
    for strength in ("weak", "strong"):
        told = [assumption(f) for f in program.fairness if f.strength == strength]
        if told:
            lines.append(f"{strength}ly fair: {'; '.join(told)}")
    return lines or ["no fair step is possible at this size"]


def met(searches: Sequence[tuple[Subject, Coverage]]) -> list[str]:
    """The report against vacuity over all of some searches: what one of them did, they did."""
    actions: dict[str, bool] = {}
    dropped: dict[str, None] = {}
    premises: dict[str, bool] = {}
    witnesses: dict[str, bool] = {}
    for subject, coverage in searches:
        if not coverage.fired:
            continue  # the engine does not follow single steps
        program = program_of(subject)
        _join(actions, ((n, fired > 0) for n, fired in _searched(program, coverage)))
        dropped |= dict.fromkeys(program.dropped)
        _join(premises, ((f"{p.property} at {place(p.site)}", was) for p, was in _judged(program, coverage)))
        _join(witnesses, ((name, depth is not None) for name, depth in coverage.witnesses.items()))
    lines = []
    if actions:
        lines.append(_share(actions, count(len(actions), "action"), "happened", "never enabled"))
    if impossible := [name for name in dropped if name not in actions]:
        lines.append(f"not possible at this size: {', '.join(impossible)}")
    if premises:
        lines.append(_share(premises, count(len(premises), "premise"), "met", "never"))
    if witnesses:
        every = count(len(witnesses), "witness", "witnesses")
        lines.append(_share(witnesses, every, "reached", "never"))
    return lines


def _searched(program: Program, coverage: Coverage) -> Iterable[tuple[str, int]]:
    """How often each action happened that was not left out of the search."""
    for a in program.actions:
        if coverage.asked is None or a.name in coverage.fired:
            yield a.name, coverage.fired.get(a.name, 0)


def _judged(program: Program, coverage: Coverage) -> Iterable[tuple[Premise, bool]]:
    """Whether each premise of the properties that were asked for was met."""
    for premise, was in zip(program.premises, coverage.premises, strict=False):
        if coverage.asked is None or premise.property in coverage.asked:
            yield premise, was


def _join(known: dict[str, bool], found: Iterable[tuple[str, bool]]) -> None:
    for name, was in found:
        known[name] = known.get(name, False) or was


def _share(found: dict[str, bool], every: str, done: str, otherwise: str) -> str:
    missing = [name for name, was in found.items() if not was]
    told = f"; {otherwise}: {', '.join(missing)}" if missing else ""
    return f"{len(found) - len(missing)} of {every} {done}{told}"


def counted(subject: Subject, coverage: Coverage) -> list[str]:
    """Every action, premise and witness of one search; one line each."""
    if not coverage.fired:
        return []
    lines = [f"action {name}: {count(number, 'time')}" for name, number in coverage.fired.items()]
    lines += [
        f"premise of {p.property} at {place(p.site)}: {'met' if was else 'never met'}"
        for p, was in _judged(program_of(subject), coverage)
    ]
    lines += [
        f"witness {name}: {'never reached' if depth is None else f'at depth {depth}'}"
        for name, depth in coverage.witnesses.items()
    ]
    return lines


def short(cell: Cell) -> str:
    """A verdict as it stands in a matrix."""
    if isinstance(cell.verdict, Violated):
        return f"{'known' if cell.standing is Standing.EXPECTED else 'fails'} {len(cell.verdict.trace)}"
    if cell.standing is Standing.NEWS:
        return "gone"
    return cell.word


def detail(cell: Cell) -> str:
    """What belongs beside a verdict in a list: steps, reason, what the baseline says."""
    parts = []
    if isinstance(cell.verdict, Violated):
        parts.append(count(len(cell.verdict.trace), "step"))
        if len(cell.verdict.traces) > 1:
            parts.append(f"{len(cell.verdict.traces)} parts of it")
    if isinstance(cell.verdict, Unknown):
        parts.append(cell.verdict.reason)
    if cell.note:
        parts.append(cell.note)
    return "; ".join(parts)


def total(cells: Sequence[Cell]) -> str:
    """One sentence over all cells."""
    words = [c.word for c in cells]
    known = sum(c.standing is Standing.EXPECTED for c in cells if c.word == "violated")
    violated = f"{words.count('violated')} violated" + (f" ({known} of them known)" if known else "")
    held, unknown = words.count("holds"), words.count("unknown")
    holds = f"{held} hold{'s' if held == 1 else ''}"
    return f"{count(len(cells), 'verdict')}: {holds}, {violated}, {unknown} unknown."


def spans(found: Iterable[str], order: Sequence[str]) -> str:
    """Releases as spans of a list: ``0.5.12 to 0.5.13, 0.5.16``."""
    runs: list[list[int]] = []
    for index in sorted(order.index(r) for r in found):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ", ".join(order[r[0]] if len(r) == 1 else f"{order[r[0]]} to {order[r[-1]]}" for r in runs)


def headline(cell: Cell) -> str:
    """One sentence on a cell: where, which property, what came of it, and what the property says."""
    where = f"{cell.scenario}{f' on {cell.release}' if cell.release else ''}"
    verb = cell.word if cell.word == "holds" else f"is {cell.word}"
    beside = detail(cell)
    return f"{where}: {cell.name} {verb}{f' ({beside})' if beside else ''}. It says: {meaning(cell)}"


def meaning(cell: Cell) -> str:
    """What the property of a cell says."""
    declared = next((p for p in program_of(cell.subject).system.properties if p.name == cell.name), None)
    if declared is not None and declared.meaning:
        return declared.meaning
    if cell.name.startswith("no-crash-"):
        return f"The modelled program never dies of '{cell.name.removeprefix('no-crash-')}'."
    if cell.name == "deadlock":
        return "Every state that an action does not leave is one that the system calls final."
    return cell.name


def way(trace: Trace) -> list[str]:
    """The steps of a trace as numbered calls."""
    return [f"{number}. {call(step)}" for number, step in enumerate(trace.steps, 1)]


def told(cell: Cell) -> str:
    """The story of a violated cell's shortest trace."""
    assert isinstance(cell.verdict, Violated)
    return story(cell.verdict.trace, program_of(cell.subject), scenario=cell.scenario)
