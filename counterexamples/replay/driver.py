"""What a trace is replayed on: one small interface for the reference and for a release's own code.

A target is built for one run. It takes the steps of a trace by name, with plain arguments, and shows its
state as plain values under the names of the model's variables, so that ``run.py`` can compare the two.
Plain means: a request, an adapter, a rank or a member of an enum is its name (``"r1"``, ``"base"``,
``"rank0"``, ``"PREFILL"``), a set is a frozenset of names, a sequence a tuple, an empty optional ``None``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Plain = Any
"""A value as the module's docstring says; maps and records never stand in one, they are in its name."""


class Mismatch(Exception):
    """The target is none for this trace: another release, scenario or decision. One line with the remedy."""


class Refused(Exception):
    """The target cannot take a step that the trace has: its own guard says no. One line that says why."""


class OutOfReach(Exception):
    """The target cannot follow further, and nobody is wrong: a prompt is used up, say. A walk ends here."""


class Died(Exception):
    """A function of the target raised: what the model calls a crash.

    ``function`` is the innermost function of the target's own code, ``error`` the exception as a line.
    ``cause`` is the name that the model gives to a failure of that function, ``None`` if it has none.
    """

    def __init__(self, cause: str | None, function: str, error: str) -> None:
        self.cause = cause
        self.function = function
        self.error = error
        super().__init__(f"{function} raised {error}")


@dataclass(frozen=True)
class Setting:
    """What is replayed: where, with which sizes and switches, and under which decisions.

    ``parameters`` and ``decisions`` are those of the trace's metadata; ``start`` is the initial action with
    its plain arguments, if the scenario has one. ``property`` is what the trace's end violates, if anything.
    """

    scenario: str
    release: str | None
    parameters: Mapping[str, Any]
    decisions: Mapping[str, str]
    start: tuple[str, Mapping[str, Plain]] | None = None
    property: str | None = None


@dataclass(frozen=True)
class Symptom:
    """What a user would see of a violation.

    ``kind`` is one of ``exception`` (a function raised), ``token`` (a token differs from that of the same
    request run alone), ``refused`` (a slot or a request that stays shut out), ``hang`` (a process that makes
    no step) and ``leftover`` (something stays that had to go). ``text`` is one line in the server's words.
    """

    kind: str
    text: str


class Target(Protocol):
    """An implementation that a trace is replayed on; one object for each run."""

    name: str
    """How the target calls itself in messages: ``reference``, ``sglang 0.5.16``."""

    def begin(self, setting: Setting) -> None:
        """Set up the initial state. ``Mismatch`` if the setting asks for what this target is not."""

    def step(self, action: str, arguments: Mapping[str, Plain]) -> None:
        """Take one step. ``Refused`` if it cannot be taken, ``Died`` if a function of the target raises."""

    def observe(self) -> Mapping[str, Plain]:
        """The target's state under the model's names, such as ``ranks[rank0].pool.resident``.

        Variables that the target cannot see are left out; ``run.py`` says which were never compared.
        Outputs of the last step stand under their names too (``ranks[rank0].forward.rows``).
        """

    def unexpected(self, clean: frozenset[str]) -> tuple[str, Plain, Plain] | None:
        """What the last step delivered that is wrong, though the model says that it is right.

        ``clean``: requests whose every forward read the right weights and metadata so far. A variable's
        name, what it had to be and what it is; ``None`` if all is well or the target cannot tell.
        """

    def beyond(self) -> bool:
        """Whether the target is where the model does not tell states apart any more; a walk ends here."""

    def symptom(self, property: str, died: Died | None) -> Symptom | None:
        """After the last step: what a user sees of this violation; the target may go on for it.

        ``died`` is what the last step raised. ``None`` if there is nothing to be seen.
        """
