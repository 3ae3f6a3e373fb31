"""The words of a system, for those who read what is said of it without knowing it.

A system names for each word what declares it (``System(…, words=…)``), so that its meaning stands once, where
the thing is declared::

    buffer = System("buffer", Buffer, actions=[put, take], words={"item": Item, "full": Buffer.full})

A domain, record, function or module explains by the first paragraph of its docstring, a field, parameter,
action or decision by its meaning. A word that nothing declares stands with its meaning as a text. No engine
looks at them.
"""

from __future__ import annotations

import re

from slotproof.model.language.domains import Parameter
from slotproof.model.language.surface import Action, Decision, Property, Witness
from slotproof.model.language.values import Field


def meaning_of(declared: object) -> str:
    """What something declared says of itself; empty if it says nothing."""
    if isinstance(declared, str):
        return declared
    if isinstance(declared, Parameter | Field | Action | Decision | Property | Witness):
        return declared.meaning
    paragraph = re.split(r"\n\s*\n", (getattr(declared, "__doc__", None) or "").strip())[0]
    return " ".join(paragraph.split())
