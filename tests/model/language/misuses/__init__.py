"""Wrong uses of the language by kind; ``misuse.py`` says what each is."""

from tests.model.language.misuses import (
    expressions,
    fields,
    functions,
    parameters,
    progress,
    properties,
    statements,
    systems,
    values,
)
from tests.model.language.misuses.misuse import PREAMBLE, Misuse

__all__ = ["MISUSES", "PREAMBLE", "Misuse"]

MISUSES: list[Misuse] = [
    *statements.MISUSES,
    *expressions.MISUSES,
    *values.MISUSES,
    *functions.MISUSES,
    *fields.MISUSES,
    *parameters.MISUSES,
    *properties.MISUSES,
    *systems.MISUSES,
    *progress.MISUSES,
]
