"""The command line: `slotproof`, or `python -m slotproof.checker`."""

import click


@click.group()
@click.version_option(package_name="slotproof")
def main() -> None:
    """Check the adapter-slot logic of a multi-LoRA language-model server."""
