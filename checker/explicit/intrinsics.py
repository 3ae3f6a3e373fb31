"""What the search loop needs and numba does not offer: calls by address, raw memory, prefetch, vectors.

Addresses and counts are ``int64``, words of memory ``uint64``.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from slotproof.checker.explicit.registers import BUCKET, LINE

_WORD = ir.IntType(64)
_FLAG = ir.IntType(32)
_BYTE = ir.IntType(8).as_pointer()
_ENTRIES = ir.VectorType(_WORD, BUCKET)


def compiled(function: Any) -> Any:
    """Let numba compile the function when it is asked to; nothing in it refers to Python."""
    options: Any = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(**options)(function)


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _emit_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = ir.FunctionType(_WORD, [_WORD] * (len(arguments) - 1))
    return builder.call(_pointer(builder, arguments[0], kind), list(arguments[1:]))


@intrinsic
def _call2(typingctx: Any, address: Any, a: Any, b: Any) -> Any:
    return types.int64(types.int64, types.int64, types.int64), _emit_call


@intrinsic
def _call3(typingctx: Any, address: Any, a: Any, b: Any, c: Any) -> Any:
    return types.int64(types.int64, types.int64, types.int64, types.int64), _emit_call


@intrinsic
def _call4(typingctx: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return types.int64(types.int64, types.int64, types.int64, types.int64, types.int64), _emit_call


@intrinsic
def _load(typingctx: Any, address: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0], _WORD))

    return types.uint64(types.int64), emit


@intrinsic
def _store(typingctx: Any, address: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _pointer(builder, arguments[0], _WORD))
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), emit


@intrinsic
def _store_half(typingctx: Any, address: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(builder.trunc(arguments[1], _FLAG), _pointer(builder, arguments[0], _FLAG))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


@intrinsic
def _prefetch(typingctx: Any, address: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        declared = ir.FunctionType(ir.VoidType(), [_BYTE, _FLAG, _FLAG, _FLAG])
        function = builder.module.declare_intrinsic("llvm.prefetch", [_BYTE], declared)
        flags = [ir.Constant(_FLAG, flag) for flag in (0, 3, 1)]  # to read, to keep, data
        builder.call(function, [builder.inttoptr(arguments[0], _BYTE), *flags])
        return context.get_dummy_value()

    return types.void(types.int64), emit


@intrinsic
def _equal(typingctx: Any, address: Any, mask: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        undefined = ir.Constant(_ENTRIES, ir.Undefined)

        def spread(number: Any) -> Any:
            first = builder.insert_element(undefined, number, ir.Constant(_FLAG, 0))
            return builder.shuffle_vector(
                first, undefined, ir.Constant(ir.VectorType(_FLAG, BUCKET), [0] * BUCKET)
            )

        line = builder.load(_pointer(builder, arguments[0], _ENTRIES), align=LINE)
        same = builder.icmp_unsigned("==", builder.and_(line, spread(arguments[1])), spread(arguments[2]))
        return builder.zext(builder.bitcast(same, ir.IntType(BUCKET)), _WORD)

    return types.int64(types.int64, types.uint64, types.uint64), emit


@intrinsic
def _lowest(typingctx: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), emit


# numba gives an intrinsic the type of its typing function, which has one parameter more than a call.
call2: Any = _call2  # (address, a, b): the result of the native function there
call3: Any = _call3
call4: Any = _call4
load: Any = _load  # (address): the word there
store: Any = _store  # (address, word)
store_half: Any = _store_half  # (address, number): its low 32 bits
prefetch: Any = _prefetch  # (address): ask for the line of memory around it
equal: Any = (
    _equal  # (address, mask, value): which entries of the bucket there, masked, are the value, as bits
)
lowest: Any = _lowest  # (bits): the number of the lowest bit set; there has to be one
