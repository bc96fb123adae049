"""Emit a `loops` kernel as the text of an LLVM module for a GPU.

    define ptx_kernel void @k0(ptr addrspace(1) %a0, ..., i64 %d0, ..., i64 %units)

Pointers come first, then the symbolic dimensions, then the number of units. A unit is a thread's,
or with `gv.threads` a block's, and then `slot` is the number of the thread; with `gv.blocks` a
block has all units from its own on, and steps over those of the others. A kernel with scratch has
fewer threads than units: each has a part of the scratch, and runs several units.

Nothing is called but `llvm.nvvm.*` intrinsics that are named in `codegen/llvm`, and those LLVM
intrinsics that it selects as instructions: others would abort the process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...errors import CompileError
from ...ir.dialects.gpu import CLUSTER, MAPS, MOST_BLOCKS, THREADS
from ...ir.interpret.launch import GUARDED, SCRATCH, UNITS
from ...runtime.gpu.driver import MAP_BYTES
from ...target import Target
from ..kernels.builder.outside import guard
from ..llvm.emit.emitter import Emitter
from ..llvm.emit.gpu import GPU, SHARED
from ..llvm.emit.kernel import OPERATIONS
from ..llvm.emit.traps import Traps
from ..llvm.emit.warpgroup import DYNAMIC
from ..llvm.emit.warpgroup import MAPS as MAP_NAMES
from ..llvm.text.build import Text

BLOCK = 128
"""Threads of a block whose threads have nothing to do with each other."""

MOST_ARGUMENTS = 4096
"""Bytes of arguments that a launch may have."""

_MAP = 'ptr byval([128 x i8]) align 64 "nvvm.grid_constant"'
_SREG = "@llvm.nvvm.read.ptx.sreg"


def threads_of(func: FuncOp) -> int:
    """Return the threads of a block that is one unit; 0 where a unit is a thread."""
    row = func.attributes.get(THREADS)
    return int(row.value.data) if isinstance(row, IntegerAttr) else 0


def has_scratch(func: FuncOp) -> bool:
    """Say whether each thread has scratch memory of its own."""
    return text_of(func, SCRATCH) != "0"


def text_of(func: FuncOp, name: str) -> str:
    """Return a text attribute of a kernel."""
    row = func.attributes[name]
    assert isinstance(row, StringAttr), f"{name} is {row}"
    return row.data


def emit_gpu_kernel(func: FuncOp, target: Target) -> str:
    """Return the text of an LLVM module that has the kernel `func`.

    Accesses that are not shown to be inside of their buffers are looked at in the run.
    """
    guard(func)
    text = Text()
    e = Emitter(text, target, {**OPERATIONS, **GPU})
    head = _parameters(e, func)
    e.names.update(zip(func.body.block.args[-3:], _unit(text, func), strict=True))
    if GUARDED in func.attributes:
        e.look = Traps(e, func).emit
    e.block(func.body.block)
    text.lines[:0] = e.allocas
    text.line("br label %finished")
    text.label("finished")
    text.line("ret void")
    size = threads_of(func) or BLOCK
    made = "\n".join(
        [
            f'target triple = "{target.triple}"',
            *text.declarations,
            *(_inlined(function) for function in text.functions.values()),
            f"define ptx_kernel void @{func.sym_name.data}({', '.join(head)})"
            f' #0 "nvvm.reqntid"="{size}"{_limits(func)} {{',
            "entry:",
            *text.lines,
            "}",
            f"attributes #0 = {{ {target.llvm_attributes} }}",
            "!0 = !{i32 1}",
            "",
        ]
    )
    # Several kernels may stand in one text of PTX.
    for name in (SHARED, DYNAMIC):
        made = made.replace(name, f"{name}_{func.sym_name.data}_")
    return made


def _limits(func: FuncOp) -> str:
    """Return what is said of registers: of blocks, that one on a processor is enough.

    Else the assembler stores some of them away to have room for more blocks. Warpgroups must know
    how many they begin with, because they give each other some.
    """
    if not threads_of(func):
        return ""
    plain = ' "nvvm.minctasm"="1"'
    if MAPS not in func.attributes:
        return plain
    row = func.attributes.get(CLUSTER)
    cluster = f' "nvvm.cluster_dim"="{row.value.data},1,1"' if isinstance(row, IntegerAttr) else ""
    return f'{plain} "nvvm.maxnreg"="{64 * 1024 // threads_of(func) // 8 * 8}"{cluster}'


def _inlined(function: str) -> str:
    """Return a function that is not left as a call, which costs a thread its registers."""
    head, brace, body = function.lstrip().partition("{\n")
    return f"{head.replace('noinline ', '')}alwaysinline {brace}{body}"


def _parameters(e: Emitter, func: FuncOp) -> list[str]:
    """Name all arguments but the last three; return the parameters."""
    maps = json.loads(text_of(func, MAPS)) if MAPS in func.attributes else []
    head = [f"{_MAP} {name}" for name in MAP_NAMES[: len(maps)]]
    arguments: Sequence[SSAValue] = func.body.block.args[:-3]
    for number, argument in enumerate(arguments):
        if isinstance(argument.type, MemRefType):
            head.append(f"ptr addrspace(1) align 16 %a{number}")
            cast = f"addrspacecast ptr addrspace(1) %a{number} to ptr"
            e.names[argument] = e.text.value(cast)
        else:
            head.append(f"i64 %a{number}")
            e.names[argument] = f"%a{number}"
    taken = sum(MAP_BYTES if parameter.startswith(_MAP) else 8 for parameter in head) + 8
    if taken > MOST_ARGUMENTS:
        raise CompileError(
            f"kernel {func.sym_name.data} takes {taken} bytes of arguments,"
            f" expected {MOST_ARGUMENTS} at most",
            hint="join fewer tensors at a time",
        )
    return [*head, "i64 %units"]


def register(text: Text, name: str, high: int) -> str:
    """Return a special register, which is below `high`."""
    text.declare(f"declare i32 {_SREG}.{name}()")
    return text.value(f"call range(i32 0, {high}) i32 {_SREG}.{name}()")


def _unit(text: Text, func: FuncOp) -> tuple[str, str, str]:
    """Find the units of this thread; return lo, hi and slot."""
    size = threads_of(func)
    block = register(text, "ctaid.x", 2**31 - 1)
    thread = register(text, "tid.x", size or BLOCK)
    if size:
        low = text.value(f"zext i32 {block} to i64")
        if MOST_BLOCKS in func.attributes:
            return low, "%units", text.value(f"zext i32 {thread} to i64")
        slot = text.value(f"zext i32 {thread} to i64")
        return low, text.value(f"add nuw nsw i64 {low}, 1"), slot
    number = _number(text, func, block, thread)
    if not has_scratch(func):
        _only_below(text, number, "%units")
        return number, text.value(f"add nuw nsw i64 {number}, 1"), "0"
    blocks = text.value(f"zext i32 {register(text, 'nctaid.x', 2**31 - 1)} to i64")
    every = text.value(f"mul nuw nsw i64 {blocks}, {BLOCK}")
    more = text.value(f"add nsw i64 {every}, -1")
    share = text.value(f"udiv i64 {text.value(f'add nsw i64 %units, {more}')}, {every}")
    low = text.value(f"mul nsw i64 {number}, {share}")
    _only_below(text, low, "%units")
    text.declare("declare i64 @llvm.smin.i64(i64, i64)")
    end = text.value(f"add nsw i64 {low}, {share}")
    return low, text.value(f"call i64 @llvm.smin.i64(i64 {end}, i64 %units)"), number


def _number(text: Text, func: FuncOp, block: str, thread: str) -> str:
    """Return the number of this thread, in 32 bits where all units fit: division is cheaper."""
    units = text_of(func, UNITS)
    if units.isdigit() and int(units) < 2**31 - BLOCK:
        start = text.value(f"mul nuw nsw i32 {block}, {BLOCK}")
        number = text.value(f"add nuw nsw i32 {start}, {thread}")
        return text.value(f"zext i32 {number} to i64")
    start = text.value(f"mul nuw nsw i64 {text.value(f'zext i32 {block} to i64')}, {BLOCK}")
    return text.value(f"add nuw nsw i64 {start}, {text.value(f'zext i32 {thread} to i64')}")


def _only_below(text: Text, number: str, limit: str) -> None:
    """Let only threads below a limit go on."""
    body = text.fresh_label()
    inside = text.value(f"icmp slt i64 {number}, {limit}")
    text.line(f"br i1 {inside}, label %{body}, label %finished")
    text.label(body)
