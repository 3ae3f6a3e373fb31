"""What a step did, in words: how a model declares it, for stories and the explorer to tell.

An action's docstring says what its step is, whatever comes of it. What came of it this time is said by a
telling, a function of the step, written beside the model and named by its system
(``System(…, telling=told)``)::

    def told(h: Happened[Buffer]) -> list[str]:
        return ["The buffer is full now."] if h.after.items == 2 else []

Its sentences follow the docstring's. Like a drawing it is linked as every function of the model (a decision
that it asks answers as the release does), is ordinary Python otherwise, and no engine looks at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Happened(Generic[S]):
    """A step: its action with the arguments, and the state objects before and after it.

    Outputs have their initial values ``before`` and those of this step ``after``. If the step ended in a
    ``crash`` (its cause), ``after`` is the state in which the program died, in the middle of the step.
    """

    action: str
    arguments: Mapping[str, Any]
    before: S
    after: S
    crash: str | None
