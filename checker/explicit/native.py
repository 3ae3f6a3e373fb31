"""A program as machine code: compiled once, kept on disk, loaded by address."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cache as once
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from slotproof.checker.explicit import cache
from slotproof.checker.explicit.context import STRIDE_EXTRA, Slots, combinations, slots_of
from slotproof.checker.explicit.module import EXPORTS, module_text
from slotproof.model.language.errors import LanguageError
from slotproof.model.language.layout import Layout, layout_of
from slotproof.model.language.program import Program

MOST_COMBINATIONS = 1 << 24

_loaded: dict[str, Native] = {}


@dataclass(frozen=True, slots=True)
class Native:
    """Addresses of a program's native functions (see ``module.py``) and the shapes that they use.

    ``most`` is the greatest number of successors of a state (or of initial states). ``engine`` owns
    the code.
    """

    layout: Layout
    slots: Slots
    most: int
    expand: int
    check: int
    final: int
    initial: int
    engine: Any

    @property
    def stride(self) -> int:
        """Words from one successor to the next."""
        return self.layout.total + STRIDE_EXTRA


def native(program: Program) -> Native:
    """The machine code of a program, from this process, from disk, or compiled now."""
    layout = layout_of(program)
    slots = slots_of(program)
    for action in (*program.actions, *program.initial):
        if combinations(action) > MOST_COMBINATIONS:
            raise LanguageError(
                f"action {action.name} has {combinations(action)} combinations of arguments; "
                f"at most {MOST_COMBINATIONS}, so split it or make its domains smaller"
            )
    text = module_text(program, layout, slots)
    key = hashlib.sha256("\n".join([*_machine(), text]).encode()).hexdigest()
    if key not in _loaded:
        content = cache.load(key)
        code = _load(content) if content is not None else None
        if code is None:
            content = _compile(text)
            cache.store(key, content)
            code = _load(content)
            assert code is not None, "freshly compiled code cannot be loaded"
        most = max(
            sum(combinations(a) for a in program.actions), sum(combinations(a) for a in program.initial), 1
        )
        addresses = {name: code.get_function_address(name) for name in EXPORTS}
        _loaded[key] = Native(layout, slots, most, **addresses, engine=code)
    return _loaded[key]


@once
def _machine() -> tuple[str, ...]:
    """What object code depends on besides its source."""
    _initialize()
    return (
        llvmlite.__version__,
        ".".join(map(str, llvm.llvm_version_info)),
        platform.machine(),
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )


@once
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine() -> Any:
    _initialize()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        codemodel="jitdefault",
        jit=True,
    )


def _compile(text: str) -> bytes:
    """Object code of a module."""
    machine = _target_machine()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization = False
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    content: bytes = machine.emit_object(module)
    return content


def _load(content: bytes) -> Any | None:
    """An engine that holds the code, or ``None`` if this is no object code."""
    try:
        code = llvm.ObjectFileRef.from_data(content)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        engine.add_object_file(code)
        engine.finalize_object()
    except RuntimeError:
        return None
    return engine if all(engine.get_function_address(name) for name in EXPORTS) else None
