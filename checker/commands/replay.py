"""``slotproof replay``: a counterexample happens on the reference implementation, or on real server code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.counterexamples.replay.driver import Target
    from slotproof.counterexamples.replay.run import Replay

ON = ("reference",)
REAL = "sglang"

EXAMPLES = """\b
Example:
  slotproof replay idle-rank.fresh-batch-info.0.5.16.itf.json --on reference
  slotproof replay overlap-cancel.no-slot-leak.0.5.12.post1.itf.json \\
                   --on sglang --fetch 0.5.12.post1"""


@click.command(epilog=EXAMPLES, short_help="A trace, step by step, on an implementation.")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--on", "on", default="reference", metavar="TARGET", help="reference (default) or sglang.")
@click.option(
    "--sglang", "folder", type=click.Path(path_type=Path), metavar="DIR", help="A release, for --on sglang."
)
@click.option("--fetch", metavar="X", help="Install that release into a cache folder with pip.")
@click.option("--device", default="cpu", metavar="D", help="cpu (default) or cuda, for the reference.")
@click.option("--log", "log", type=click.Path(path_type=Path), help="Write the run as a trace of its own.")
def replay(
    trace: Path, on: str, folder: Path | None, fetch: str | None, device: str, log: Path | None
) -> int:
    """Take every step of a trace on an implementation, compare the states, and show what a user sees.

    With --on sglang DIR holds a release as 'pip install --no-deps --target DIR sglang==X' lays it.

    Exit status: 0 if the trace happens, 1 if the implementation differs, 2 if it is no trace for it, 4 if
    the harness around real code failed (which says nothing about the trace).
    """
    one_of("target", on, (*ON, REAL), f"there are: {', '.join((*ON, REAL))}")
    if on == REAL:
        from slotproof.checker.commands.real import replay_on_sglang

        return replay_on_sglang(trace, folder, fetch)
    if folder is not None or fetch is not None:
        raise UsageProblem("--sglang and --fetch are for --on sglang; add it, or leave them out")
    one_of("device", device, ("cpu", "cuda"), "there are: cpu, cuda")
    target = target_of(on, device)
    from slotproof.checker.commands.explain import program_of_file
    from slotproof.counterexamples.errors import TraceError
    from slotproof.counterexamples.itf import read
    from slotproof.counterexamples.replay.driver import Mismatch, Refused
    from slotproof.counterexamples.replay.run import replay as run
    from slotproof.counterexamples.verify import verify

    file = read(trace)
    if file.system_file is not None:
        raise UsageProblem(
            f"{trace}: is of the system file {file.system_file}; replay takes scenarios' traces"
        )
    program = program_of_file(file, None)
    found = file.trace(program)
    try:
        verify(found, program)
    except TraceError as error:
        raise TraceError(f"{trace}: {error}") from None
    try:
        replayed = run(found, program, target, file.scenario)
    except Mismatch as error:
        raise UsageProblem(f"{trace}: {error}") from None
    except Refused as error:
        raise UsageProblem(
            f"{trace}: {target.name} refuses a step: {error}; see the step with 'slotproof explain {trace}'"
        ) from None
    if log is not None:
        from slotproof.counterexamples.replay.log import write_log

        write_log(replayed, found, program, log, file.scenario)
    click.echo(told(replayed, trace.name, target.name, len(found), found.property))
    return 0 if replayed.happened else 1


def told(replayed: Replay, name: str, on: str, steps: int, property: str) -> str:
    """What came of a replay, in a few lines."""
    lines = [f"{name} on {on}"]
    if replayed.difference is not None:
        return "\n".join([*lines, f"  differs at {replayed.difference}"])
    compared = len(replayed.compared)
    equal = steps if replayed.died is None else steps - 1
    lines.append(f"  {equal} of {steps} steps end in the model's state ({compared} variables compared)")
    if replayed.symptom is None:
        lines.append(f"  but nothing is seen of {property}: the violation has no effect on {on}")
    else:
        lines.append(f"  {property}: {replayed.symptom.text} ({replayed.symptom.kind})")
    return "\n".join(lines)


def target_of(on: str, device: str = "cpu", strict: bool = True) -> Target:
    """A fresh target by its name; ``UsageProblem`` with the remedy if it cannot run here."""
    if find_spec("torch") is None:
        raise UsageProblem("torch is not installed: pip install 'slotproof[replay]'")
    from slotproof.counterexamples.replay.reference import ReferenceTarget

    return ReferenceTarget(device, strict)
