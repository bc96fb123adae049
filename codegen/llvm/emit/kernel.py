"""Emit a `loops` kernel as the text of an LLVM module.

    define void @k0(ptr %ctx, i64 %lo, i64 %hi, i64 %slot)

`ctx` is an array of 8-byte slots: a pointer for each memref argument, an i64 for each symbolic
dimension, in the order of the arguments; `lo`, `hi` and `slot` are the last three. The function
writes through its pointers and does nothing else; the helper functions it needs are in the same
module, internal. One function emits each operation, by the tables of the `emit_*` modules.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Operation

from ....errors import CompileError
from ....ir.interpret.launch import GUARDED
from ....target import Target
from ..math.functions import MATH, NEAR
from ..shared import needed, part
from ..text.build import Text
from .checked import Checks
from .control import CONTROL
from .convert import CONVERT
from .emitter import Emit, Emitter
from .float import FLOAT, float_shape, intrinsic
from .gemm_pair import PAIRS
from .integer import INTEGER
from .memory import MEMORY
from .micro_kernels import MICRO_KERNELS
from .vector import VECTOR

TRAILING = ("%lo", "%hi", "%slot")
"""Names of the last three arguments, which every kernel has."""


def _mathematics(name: str) -> Emit:
    """Return the emitter of a function of `math.py`."""

    def emit(e: Emitter, op: Operation) -> None:
        shape = float_shape(e, op)
        flags = op.properties.get("fastmath")
        near = isinstance(flags, FastMathFlagsAttr) and FastMathFlag.APPROX_FUNC in flags.data
        function = NEAR[name] if near and name in NEAR else MATH[name]
        e.names[op.results[0]] = function(e.text, shape, e.target, *e.operands(op))

    return emit


_ROUNDING = ("floor", "ceil", "roundeven", "round", "trunc")

OPERATIONS: Mapping[str, Emit] = {
    **{name: _mathematics(name) for name in MATH},
    **{f"math.{name}": intrinsic(f"llvm.{name}") for name in _ROUNDING},
    **INTEGER,
    **FLOAT,
    **CONVERT,
    **VECTOR,
    **MEMORY,
    **CONTROL,
    **MICRO_KERNELS,
    **PAIRS,
}
"""Operation name to the function that emits it."""


def emit_kernel(func: FuncOp, target: Target) -> str:
    """Return the text of an LLVM module that has the kernel `func` and all it calls."""
    text = _emit(func, target)
    return _module(func, text, [*text.functions.values()], target)


def emit_parts(func: FuncOp, target: Target) -> tuple[str, dict[str, str]]:
    """Return the module of a kernel, and the modules of the shared functions it calls."""
    text = _emit(func, target)
    functions, modules = part(text.functions, [*text.declarations], target)
    return _module(func, text, functions, target), modules


def _emit(func: FuncOp, target: Target) -> Text:
    """Return the text of a kernel's body."""
    text = Text()
    e = Emitter(text, target, OPERATIONS)
    _enter(e, func)
    if GUARDED in func.attributes:
        e.look = Checks(e, func).emit
    head = len(text.lines)
    e.block(func.body.block)
    text.line("ret void")
    text.lines[head:head] = e.allocas
    return text


def _module(func: FuncOp, text: Text, functions: list[str], target: Target) -> str:
    """Return the text of a kernel's module."""
    used = "\n".join([*functions, *text.lines])
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            *needed(text.declarations, used),
            *functions,
            f"define void @{func.sym_name.data}(ptr %ctx, i64 %lo, i64 %hi, i64 %slot)"
            " unnamed_addr #0 {",
            "entry:",
            *text.lines,
            "}",
            f"attributes #0 = {{ {target.llvm_attributes} }}",
            "!0 = !{i32 1}",
            "",
        ]
    )


def _enter(e: Emitter, func: FuncOp) -> None:
    """Load what the context holds, and name all arguments."""
    arguments = func.body.block.args
    if len(arguments) < 3 or not all(isinstance(each.type, IndexType) for each in arguments[-3:]):
        raise CompileError(f"@{func.sym_name.data}: expected lo, hi and slot as last arguments")
    for number, argument in enumerate(arguments[:-3]):
        if not isinstance(argument.type, MemRefType | IndexType):
            raise CompileError(f"@{func.sym_name.data}: argument {number} is a {argument.type}")
        kind = "ptr" if isinstance(argument.type, MemRefType) else "i64"
        slot = e.text.value(f"getelementptr i64, ptr %ctx, i64 {number}")
        e.names[argument] = e.text.value(f"load {kind}, ptr {slot}, align 8")
    e.names.update(zip(arguments[-3:], TRAILING, strict=True))
