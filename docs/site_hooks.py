"""Hooks of MkDocs: the pages of the reference that are made from the source, and links out of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from slotproof.checker.cli import main
from slotproof.checker.commands.listing import LISTS

MODULES = (
    "slotproof.model.language.surface",
    "slotproof.model.language.system",
    "slotproof.model.language.types",
    "slotproof.model.language.interpreter",
    "slotproof.model.language.program",
    "slotproof.model.releases",
    "slotproof.model.scenarios",
    "slotproof.checker.verdict",
    "slotproof.checker.baseline",
    "slotproof.checker.pytest_plugin",
    "slotproof.counterexamples.trace",
    "slotproof.counterexamples.itf",
    "slotproof.counterexamples.verify",
    "slotproof.counterexamples.story",
)
"""What a program that uses slotproof imports."""

OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!how-to/|examples/)[A-Za-z_.][^)]*\)")
"""A link to a file of the repository that is no page."""

TABLES = {
    "releases": "The releases: what each decides otherwise than the one before, and where that is written.",
    "scenarios": "The scenarios, with their quick sizes and what the full ones change.",
    "properties": "The properties, and the scenarios that ask for them.",
    "decisions": "The decisions, and the alternatives that releases have had.",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {"commands": _commands(), "python": _python()}
    pages |= {name: _table(name, says) for name, says in TABLES.items()}
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(text) + "\n"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files that the site does not have become their text."""
    depth = page.file.src_uri.count("/")
    inside = {file.src_uri for file in files}

    def kept(match: re.Match[str]) -> str:
        target = match[0].rpartition("](")[2].rstrip(")").split("#")[0]
        ups = target.count("../")
        return match[0] if ups <= depth and target.replace("../", "") in inside else match[1]

    return OUTSIDE.sub(kept, markdown)


def _commands() -> Iterator[str]:
    yield "# Commands"
    for name in sorted(main.commands):
        command = main.commands[name]
        context = click.Context(command, info_name=f"slotproof {name}", max_content_width=80)
        yield f"\n## {name}\n\n```text\n{command.get_help(context)}\n```"


def _table(name: str, says: str) -> Iterator[str]:
    yield f"# {name.capitalize()}\n\n{says}\n"
    for entry, text in LISTS[name]():
        first, *rest = text.split("\n")
        yield f"## {entry}\n\n{_escaped(first)}\n"
        for line in rest:
            yield f"- {_escaped(line)}"
        yield ""


def _escaped(text: str) -> str:
    return re.sub(r"([<*_\[\]])", r"\\\1", text) if "``" not in text else text.replace("``", "`")


def _python() -> Iterator[str]:
    yield "# Python"
    for module in MODULES:
        yield f"\n## {module}\n\n::: {module}\n"
