"""Names of an exported model: those of the system, made fit for Promela."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum

from slotproof.model.language.columns import Column
from slotproof.model.language.types import EnumType, IndexType

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        active assert atomic auto bit bool break byte case chan char const continue c_code c_decl c_expr
        c_state c_track d_proctype d_step default do double D_proctype else empty enabled enum eval extern
        false fi float for full get_priority goto hidden if in init inline int label len local long ltl
        mtype never nempty nfull notrace np_ od of pc_value pid print printf priority proctype provided
        register return run select set_priority short show signed sizeof skip static struct switch timeout
        trace true typedef union unless unsigned void volatile while xr xs system crash now always
        eventually until weakuntil stronguntil next release implies equivalent
        """,
    )
)
"""Words of Promela and of C, and names that the exported model has anyway."""


def identifier(text: str) -> str:
    """The text as one name."""
    name = re.sub(r"\W+", "_", text.replace("[#]", "_item").replace("[]", "")).strip("_")
    return name if name and not name[0].isdigit() else f"n_{name}"


class Names:
    """Gives each thing one name, and no name twice."""

    def __init__(self, columns: Sequence[Column], others: Iterable[str]) -> None:
        self._taken = set(RESERVED)
        self._others = {identifier(name) for name in others}
        """Names that are given later."""
        self.columns = tuple(self.fresh(c.name) for c in columns)
        self._types: dict[type, str] = {}
        self.constants: dict[str, int] = {}
        """Elements and members that the model speaks of, with their numbers."""

    def fresh(self, wanted: str) -> str:
        """A name like the wanted one that nothing else has."""
        name = base = identifier(wanted)
        number = 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def parameter(self, wanted: str) -> str:
        """A name for use in one macro; another macro may have the same."""
        name = base = identifier(wanted)
        number = 1
        while name in self._taken or name in self._others:
            number += 1
            name = f"{base}_{number}"
        return name

    def constant(self, type_: EnumType | IndexType, code: int) -> str:
        """The name of an element or a member."""
        if type_.cls not in self._types:
            self._types[type_.cls] = self.fresh(type_.name)
        value = type_.decode(code)
        own = value.name if isinstance(value, Enum) else str(value)
        name = identifier(f"{self._types[type_.cls]}_{own}")
        if self.constants.setdefault(name, code) != code:
            name = f"{name}_{code}"
            self.constants[name] = code
        return name
