"""``slotproof conform``: an implementation takes the model's steps, and their states are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slotproof.checker.commands import completion
from slotproof.checker.commands.replay import ON, REAL, target_of
from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.counterexamples.replay.conform import Conformance

EXAMPLES = """\b
Example:
  slotproof conform --release 0.5.23 --on reference --steps 2000 --seed 1
  slotproof conform --release 0.5.20 --on sglang --fetch 0.5.20 --steps 500"""


@click.command(epilog=EXAMPLES, short_help="Random walks of the model, and an implementation beside them.")
@click.option(
    "--release",
    "release_name",
    required=True,
    metavar="R",
    shell_complete=completion.releases,
    help="The release whose decisions hold.",
)
@click.option("--on", "on", default="reference", metavar="TARGET", help="reference (default) or sglang.")
@click.option(
    "--sglang", "folder", type=click.Path(path_type=Path), metavar="DIR", help="A release, for --on sglang."
)
@click.option("--fetch", metavar="X", help="Install that release into a cache folder with pip.")
@click.option("--steps", default=2000, metavar="N", help="How many steps in all (2000).")
@click.option("--seed", default=0, metavar="K", help="Makes the walks the same again (0).")
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="S",
    shell_complete=completion.scenarios,
    help="Some scenarios alone.",
)
@click.option("--full", is_flag=True, help="The scenarios' full sizes.")
def conform(
    release_name: str,
    on: str,
    folder: Path | None,
    fetch: str | None,
    steps: int,
    seed: int,
    scenarios: tuple[str, ...],
    full: bool,
) -> int:
    """Walk through the model at random and drive an implementation along, comparing after each step.

    The steps are shared among the scenarios that are driven. At a difference a shortest way to one is
    printed; where there are too many ways to go through, a short one, and that it is no more than that.
    With --on sglang DIR holds the release as 'pip install --no-deps --target DIR sglang==X' lays it; the
    model's steps that are not driven there are named.

    Exit status: 0 if there is no difference, 1 if there is one, 4 if the harness around real code failed.
    """
    one_of("target", on, (*ON, REAL), f"there are: {', '.join((*ON, REAL))}")
    if steps < 1:
        raise UsageProblem(f"--steps {steps}: walk at least one step")
    from slotproof.model.releases import RELEASES
    from slotproof.properties import SCENARIOS

    one_of("release", release_name, RELEASES, "slotproof list releases")
    for name in scenarios:
        one_of("scenario", name, SCENARIOS, "slotproof list scenarios")
    chosen = list(scenarios or SCENARIOS)
    if on == REAL:
        from slotproof.checker.commands.real import conform_on_sglang

        return conform_on_sglang(release_name, folder, fetch, chosen, steps, seed, full)
    if folder is not None or fetch is not None:
        raise UsageProblem("--sglang and --fetch are for --on sglang; add it, or leave them out")
    return _on_reference(release_name, shares_of(steps, chosen), seed, full)


def shares_of(steps: int, scenarios: Sequence[str]) -> dict[str, int]:
    """How many of the steps each scenario gets; one that gets none is left out."""
    each, rest = divmod(steps, len(scenarios))
    return {name: each + (i < rest) for i, name in enumerate(scenarios) if i < steps}


def _on_reference(release_name: str, shares: dict[str, int], seed: int, full: bool) -> int:
    from slotproof.counterexamples.replay.conform import conform as walk
    from slotproof.counterexamples.replay.driver import Mismatch
    from slotproof.model.language.compile import compile_system
    from slotproof.model.releases import release
    from slotproof.properties import SCENARIOS

    on = ON[0]
    target_of(on)
    differs = False
    for name, share in shares.items():
        system = SCENARIOS[name].system(release(release_name), full=full)
        try:
            found = walk(
                compile_system(system),
                dict(system.choices),
                name,
                release_name,
                lambda: target_of(on, strict=False),
                share,
                seed,
            )
        except Mismatch as error:
            raise UsageProblem(f"{name}: {error}") from None
        differs = differs or found.difference is not None
        click.echo(told(found, name, on))
    return 1 if differs else 0


def told(found: Conformance, scenario: str, on: str) -> str:
    """What the walks through a scenario have shown."""
    from slotproof.counterexamples.verify import call

    head = f"{scenario} on {on}: {found.steps} steps, {found.walks} walks, {found.edges} edges"
    if found.difference is None:
        return f"{head}: no difference"
    way = [f"  {i}. {call(step)}" for i, step in enumerate(found.path, 1)]
    return "\n".join([f"{head}: differs at {found.difference}", *way, how_short(found.shortest)])


def how_short(proven: bool) -> str:
    """What is known of the length of a way to a difference."""
    if proven:
        return "  no shorter way ends in a difference"
    return "  made short by leaving steps out; not every shorter way was gone through"
