"""LLVM IR to machine code: compiled once, kept on disk by the digest of its source, loaded by address."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Sequence
from functools import cache as once
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from slotproof.checker.explicit import cache

_loaded: dict[str, Code] = {}


class Code:
    """Machine code in memory; it stays as long as this object does."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def address(self, name: str) -> int:
        """The address of an exported function; 0 if there is none of that name."""
        address: int = self._engine.get_function_address(name)
        return address


def machine_code(source: Sequence[str], exports: Sequence[str], module: Callable[[], Any]) -> Code:
    """The code that ``source`` determines, from this process, from disk, or of ``module()`` compiled now."""
    key = hashlib.sha256("\n".join([*_machine(), *source]).encode()).hexdigest()
    if key not in _loaded:
        content = cache.load(key)
        code = _load(content, exports) if content is not None else None
        if code is None:
            content = _compile(module(), exports)
            cache.store(key, content)
            code = _load(content, exports)
            assert code is not None, "freshly compiled code cannot be loaded"
        _loaded[key] = code
    return _loaded[key]


def parse(text: str) -> Any:
    """A module of its text."""
    _initialize()
    return llvm.parse_assembly(text)


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


def _compile(module: Any, exports: Sequence[str]) -> bytes:
    """Object code of a module; what is not exported is inlined or left out."""
    machine = _target_machine()
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if not function.is_declaration and function.name not in exports:
            function.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization = False
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    content: bytes = machine.emit_object(module)
    return content


def _load(content: bytes, exports: Sequence[str]) -> Code | None:
    """The code of an object file, or ``None`` if it is not what it should be."""
    try:
        file = llvm.ObjectFileRef.from_data(content)
        engine = llvm.create_mcjit_compiler(parse(""), _target_machine())
        engine.add_object_file(file)
        engine.finalize_object()
    except RuntimeError:
        return None
    code = Code(engine)
    return code if all(code.address(name) for name in exports) else None
