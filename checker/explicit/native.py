"""The native functions of a program, and those of the loop that calls them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache as once
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slotproof.checker.explicit.context import STRIDE_EXTRA, Context, Slots, combinations, slots_of
from slotproof.checker.explicit.machine import Code, machine_code, parse
from slotproof.checker.explicit.module import EXPORTS, module_text
from slotproof.model.language.errors import LanguageError, Site
from slotproof.model.language.ir import Action
from slotproof.model.language.layout import Layout, Words, layout_of
from slotproof.model.language.program import Program
from slotproof.model.language.source import Source
from slotproof.model.language.symmetry import group

MOST_COMBINATIONS = 1 << 24
"""Of arguments, of all actions together: every one may be a step, and a state's steps lie side by side."""

Rows = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Native:
    """A program's machine code (see ``module.py``) and the shapes that it uses.

    ``most`` is the greatest number of successors of a state (or of initial states).
    """

    layout: Layout
    slots: Slots
    most: int
    code: Code

    @property
    def stride(self) -> int:
        """Words from one successor to the next."""
        return self.layout.total + STRIDE_EXTRA

    def initial(self, context: Context, out: Rows) -> int:
        """Write the initial states; their number, or -2 after a model error."""
        return _function(self.code.address("initial"), 2)(context.ctypes.data, out.ctypes.data)

    def check(self, context: Context, state: Words) -> bool:
        """Evaluate invariants and witnesses of a state; false after a model error."""
        words = np.ascontiguousarray(state[: self.layout.words])
        return _function(self.code.address("check"), 2)(context.ctypes.data, words.ctypes.data) == 0

    def final(self, context: Context, state: Words) -> int:
        """Whether the system may stop in a state: 0 or 1, or -2 after a model error."""
        words = np.ascontiguousarray(state[: self.layout.words])
        return _function(self.code.address("final"), 2)(context.ctypes.data, words.ctypes.data)

    def canonical(self, context: Context, state: Words) -> Words:
        """The canonical state of a state's orbit; the state itself where the code is not symmetric."""
        words = np.ascontiguousarray(state[: self.layout.words]).copy()
        address = self.code.address("canonical")
        if address:
            _function(address, 2)(context.ctypes.data, words.ctypes.data)
        return words

    def expand(self, context: Context, state: Words, out: Rows) -> int:
        """Write the successors of a state; their number, -1 for a crash state, -2 after a model error."""
        words = np.ascontiguousarray(state[: self.layout.words])
        return _function(self.code.address("expand"), 3)(
            context.ctypes.data, words.ctypes.data, out.ctypes.data
        )


@dataclass(frozen=True, slots=True)
class Loop:
    """The functions of ``loop.py`` and ``edges.py``, compiled."""

    advance: Callable[..., int]
    scan: Callable[..., int]
    settle: Callable[..., int]
    check_rest: Callable[..., int]
    rehash: Callable[..., int]
    edges: Callable[..., int]


_recent: dict[tuple[int, bool], tuple[Program, Native]] = {}
_MOST_RECENT = 16


def native(program: Program, symmetric: bool = False) -> Native:
    """The machine code of a program; at once for one of the last programs that were asked for.

    ``symmetric`` code writes, instead of a successor, the canonical state of its orbit.
    """
    key = id(program), symmetric
    if key not in _recent:
        if len(_recent) == _MOST_RECENT:
            _recent.pop(next(iter(_recent)))
        _recent[key] = program, _native(program, symmetric)  # the program too: its id stays its own
    return _recent[key][1]


def _native(program: Program, symmetric: bool) -> Native:
    layout = layout_of(program)
    slots = slots_of(program)
    most = max(_most(program, program.actions), _most(program, program.initial), 1)
    text = module_text(program, layout, slots, group(program) if symmetric else ())
    exports = (*EXPORTS, "canonical") if symmetric else EXPORTS
    code = machine_code([text], exports, lambda: parse(text))
    return Native(layout, slots, most, code)


def _most(program: Program, actions: Sequence[Action]) -> int:
    """How many steps one state can have at most; ``LanguageError`` if that is beyond all memory."""
    total = sum(map(combinations, actions))
    if total > MOST_COMBINATIONS:
        worst = max(actions, key=combinations)
        raise LanguageError(
            f"action {worst.name} has {combinations(worst):,} combinations of arguments, all together have"
            f" {total:,}; at most {MOST_COMBINATIONS:,}, so split it or make its domains smaller",
            _site(program, worst),
        )
    return total


def _site(program: Program, action: Action) -> Site | None:
    """Where an action stands."""
    for declared in (*program.system.actions, *program.system.initial):
        if declared.name == action.name:
            text = Source(declared.function)
            return text.site(text.tree)
    return None


@once
def native_loop() -> Loop:
    """The machine code of the search loop, and of the pass that keeps every step."""
    source = [Path(__file__).with_name(f"{name}.py").read_text() for name in LOOP_SOURCES]
    try:
        source.append(version("numba"))
    except PackageNotFoundError:
        source.append("?")
    code = machine_code(source, LOOP_EXPORTS, _loop_module)
    return Loop(*(_numba_function(code.address(name)) for name in LOOP_EXPORTS))


LOOP_SOURCES = ("context", "edge_registers", "edges", "entries", "intrinsics", "loop", "registers")
LOOP_EXPORTS = ("advance", "scan", "settle", "check_rest", "rehash", "edges")


def _loop_module() -> Any:
    from slotproof.checker.explicit import edges, loop  # numba, which takes a second to import

    whole = None
    for name, (symbol, text) in loop.texts({**loop.SIGNATURES, **edges.SIGNATURES}).items():
        module = parse(text)
        module.get_function(symbol).name = name
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
    return whole


def _function(address: int, arguments: int) -> Callable[..., int]:
    """A native function of addresses that gives an ``i64``."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * arguments)(address)


def _numba_function(address: int) -> Callable[..., int]:
    """A function of numba's convention: the result is where the first argument points to."""

    def call(*arguments: int) -> int:
        result = ctypes.c_int64()  # of this call alone: threads call at the same time
        place = ctypes.byref(result)
        kinds = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * len(arguments)]
        status = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(address)(place, None, *arguments)
        if status:
            raise RuntimeError(f"internal error: the search loop ended with status {status}")
        return result.value

    return call
