"""The page: one HTML file that holds its style, its script and its data, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

STYLE = ("base.css", "timeline.css", "panels.css")
SCRIPT = ("elements.js", "timeline.js", "panels.js", "finding.js", "live.js", "keys.js", "main.js")
"""The parts of the page, in order. The scripts share one scope: what a file declares, later ones use."""

SELF = "'self'"


def render(data: Mapping[str, Any], story: str = "") -> str:
    """The page as one text. ``story`` is what a reader without scripts gets."""
    style, script = _whole(STYLE), _whole(SCRIPT)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(_part("page.html.jinja"))
    return template.render(
        title=page_title(data),
        policy=policy(style, script, SELF if data.get("live") else "'none'"),
        style=Markup(style),
        script=Markup(script),
        data=Markup(as_script(data)),
        story=story,
    )


def page_title(data: Mapping[str, Any]) -> str:
    """What a browser's tab says."""
    subject = f" on {data['subject']}" if data["subject"] else ""
    finding = f"{data['finding']['property']}: " if data["finding"] else ""
    return f"{finding}{data['title']}{subject}"


def policy(style: str, script: str, connect: str = "'none'") -> str:
    """The content security policy: this style, this script, and nothing from anywhere else."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)};"
        f" connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def served_policy() -> str:
    """The policy of a live page, as a header: it may ask its own server, and stand in no frame."""
    return f"{policy(_whole(STYLE), _whole(SCRIPT), SELF)}; frame-ancestors 'none'"


@cache
def _whole(names: tuple[str, ...]) -> str:
    return "\n".join(_part(name) for name in names)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def as_script(data: Any) -> str:
    """JSON that can stand in a script element: no text in it can end the element or start a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


@cache
def _part(name: str) -> str:
    folder = files("slotproof.counterexamples.explorer").joinpath("page")
    return folder.joinpath(name).read_text(encoding="utf-8")
