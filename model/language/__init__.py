"""The modelling language: typed finite state, atomic actions in restricted Python, and their meaning.

See ``surface.py`` for a complete example and ``docs/language.md`` for the reference.
"""

from typing import Annotated

from slotproof.model.language.domains import Domain, parameter
from slotproof.model.language.errors import LanguageError, ModelError
from slotproof.model.language.fairness import Fairness, eventually, leads_to, strong, weak
from slotproof.model.language.surface import (
    action,
    crash,
    decision,
    implies,
    initial,
    invariant,
    on_the_way,
    require,
    reset,
    some,
    step_invariant,
    witness,
)
from slotproof.model.language.symmetry import Alike, Swapped
from slotproof.model.language.system import Alternatives, System
from slotproof.model.language.values import Capacity, Map, Range, Record, Seq, Set, State, field, output

__all__ = [
    "Alike",
    "Alternatives",
    "Annotated",
    "Capacity",
    "Domain",
    "Fairness",
    "LanguageError",
    "Map",
    "ModelError",
    "Range",
    "Record",
    "Seq",
    "Set",
    "State",
    "Swapped",
    "System",
    "action",
    "crash",
    "decision",
    "eventually",
    "field",
    "implies",
    "initial",
    "invariant",
    "leads_to",
    "on_the_way",
    "output",
    "parameter",
    "require",
    "reset",
    "some",
    "step_invariant",
    "strong",
    "weak",
    "witness",
]
