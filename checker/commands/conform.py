"""``slotproof conform``: an implementation takes the model's steps, and their states are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from slotproof.checker.commands import completion
from slotproof.checker.commands.replay import ON, target_of
from slotproof.checker.usage import UsageProblem, one_of

if TYPE_CHECKING:
    from slotproof.counterexamples.replay.conform import Conformance

EXAMPLES = """\b
Example:
  slotproof conform --release 0.5.23 --on reference --steps 2000 --seed 1"""


@click.command(epilog=EXAMPLES, short_help="Random walks of the model, and an implementation beside them.")
@click.option(
    "--release",
    "release_name",
    required=True,
    metavar="R",
    shell_complete=completion.releases,
    help="The release whose decisions hold.",
)
@click.option("--on", "on", default="reference", metavar="TARGET", help="reference (default).")
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
def conform(release_name: str, on: str, steps: int, seed: int, scenarios: tuple[str, ...], full: bool) -> int:
    """Walk through the model at random and drive an implementation along, comparing after each step.

    The steps are shared among the scenarios. At a difference the shortest way to it that is found is
    printed. Exit status: 0 if there is none, 1 if there is one.
    """
    one_of("target", on, ON, f"there are: {', '.join(ON)}")
    if steps < 1:
        raise UsageProblem(f"--steps {steps}: walk at least one step")
    from slotproof.counterexamples.replay.conform import conform as walk
    from slotproof.counterexamples.replay.driver import Mismatch
    from slotproof.model.language.compile import compile_system
    from slotproof.model.releases import RELEASES, release
    from slotproof.properties import SCENARIOS

    one_of("release", release_name, RELEASES, "slotproof list releases")
    for name in scenarios:
        one_of("scenario", name, SCENARIOS, "slotproof list scenarios")
    target_of(on)
    chosen = list(scenarios or SCENARIOS)
    differs = False
    for i, name in enumerate(chosen):
        system = SCENARIOS[name].system(release(release_name), full=full)
        share = steps // len(chosen) + (i < steps % len(chosen))
        if not share:
            continue
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
    return "\n".join([f"{head}: differs at {found.difference}", *way])
