"""Emit what the threads of a block say to each other, by NVIDIA's intrinsics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from ....ir.dialects.gpu import AwaitCopies, LoadMatrix, MultiplyMatrices, Shared, Shuffle
from ..text.build import Shape, Text
from .emitter import Emit, Emitter
from .warpgroup import DYNAMIC, GENERIC, WARPGROUP, inner

SHARED = "@shared"
"""What the names of shared memory begin with."""


def _shared(e: Emitter, op: Operation) -> None:
    assert isinstance(op, Shared)
    kind = op.result.type
    assert isinstance(kind, MemRefType), f"{op.name}: unexpected {kind}"
    size, stored = kind.get_shape()[0], e.stored(op.result)
    if op.at is not None:
        e.text.declare(f"{DYNAMIC} = external addrspace(3) global [0 x i8], align 1024")
        name = f"getelementptr (i8, ptr addrspace(3) {DYNAMIC}, i64 {op.at.value.data})"
    else:
        name = f"{SHARED}{len(e.text.declarations)}"
        e.text.declare(
            f"{name} = internal addrspace(3) global [{size} x {stored.name}] poison, align 16"
        )
    e.names[op.result] = f"{GENERIC[0]}{name}{GENERIC[1]}"


def _barrier(e: Emitter, op: Operation) -> None:
    name = "@llvm.nvvm.barrier.cta.sync.aligned.all"
    e.text.declare(f"declare void {name}(i32)")
    e.text.line(f"call void {name}(i32 0)")


def _warp_barrier(e: Emitter, op: Operation) -> None:
    del op
    e.text.declare("declare void @llvm.nvvm.bar.warp.sync(i32)")
    e.text.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)")


def _shuffle(e: Emitter, op: Operation) -> None:
    assert isinstance(op, Shuffle)
    source = op.operands[0]
    shape, distance = e.shape(source), op.distance.value.data
    e.names[op.results[0]] = shuffled(e.text, shape, e.names[source], distance)


def shuffled(text: Text, shape: Shape, x: str, distance: int) -> str:
    """Return the value of the thread whose number in the warp is xor `distance`."""
    assert not shape.lanes, "a shuffle is of one value"
    integer = shape.integer
    bits = x if shape == integer else text.value(f"bitcast {shape.name} {x} to {integer.name}")
    if integer.bits == 64:
        low = text.value(f"trunc i64 {bits} to i32")
        high = text.value(f"trunc i64 {text.value(f'lshr i64 {bits}, 32')} to i32")
        low, high = (
            text.value(f"zext i32 {_exchange(text, part, distance)} to i64") for part in (low, high)
        )
        bits = text.value(f"or i64 {text.value(f'shl i64 {high}, 32')}, {low}")
    elif integer.bits == 32:
        bits = _exchange(text, bits, distance)
    else:
        wide = _exchange(text, text.value(f"zext {integer.name} {bits} to i32"), distance)
        bits = text.value(f"trunc i32 {wide} to {integer.name}")
    return (
        bits if shape == integer else text.value(f"bitcast {integer.name} {bits} to {shape.name}")
    )


def _exchange(text: Text, word: str, distance: int) -> str:
    name = "@llvm.nvvm.shfl.sync.bfly.i32"
    text.declare(f"declare i32 {name}(i32, i32, i32, i32)")
    return text.value(f"call i32 {name}(i32 -1, i32 {word}, i32 {distance}, i32 31)")


def _copy_async(e: Emitter, op: Operation) -> None:
    source, offset, target, place, given = op.operands
    element = e.stored(source).name
    start = e.text.value(f"getelementptr {element}, ptr {e.names[source]}, i64 {e.names[offset]}")
    come = e.text.value(f"addrspacecast ptr {start} to ptr addrspace(1)")
    count = e.text.value(f"trunc i64 {e.names[given]} to i32")
    name = "@llvm.nvvm.cp.async.cg.shared.global.16.s"
    e.text.declare(f"declare void {name}(ptr addrspace(3), ptr addrspace(1), i32)")
    into = inner(e, target, place)
    e.text.line(f"call void {name}(ptr addrspace(3) {into}, ptr addrspace(1) {come}, i32 {count})")


def _close_copies(e: Emitter, op: Operation) -> None:
    del op
    e.text.declare("declare void @llvm.nvvm.cp.async.commit.group()")
    e.text.line("call void @llvm.nvvm.cp.async.commit.group()")


def _await_copies(e: Emitter, op: Operation) -> None:
    assert isinstance(op, AwaitCopies)
    e.text.declare("declare void @llvm.nvvm.cp.async.wait.group(i32)")
    e.text.line(f"call void @llvm.nvvm.cp.async.wait.group(i32 {op.open.value.data})")


def _load_matrix(e: Emitter, op: Operation) -> None:
    assert isinstance(op, LoadMatrix)
    at = inner(e, *op.operands)
    way = ".trans" if op.transposed.value.data else ""
    name = f"@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4{way}.b16.p3"
    kind = "{i32, i32, i32, i32}"
    e.text.declare(f"declare {kind} {name}(ptr addrspace(3))")
    made = e.text.value(f"call {kind} {name}(ptr addrspace(3) {at})")
    words = [e.text.value(f"extractvalue {kind} {made}, {i}") for i in range(4)]
    packed = _packed(e, words, "i32")
    e.names[op.results[0]] = e.text.value(
        f"bitcast <4 x i32> {packed} to {e.shape(op.results[0]).name}"
    )


def _packed(e: Emitter, words: Sequence[str], element: str) -> str:
    """Return values as the lanes of a vector."""
    made, kind = "poison", f"<{len(words)} x {element}>"
    for number, word in enumerate(words):
        made = e.text.value(f"insertelement {kind} {made}, {element} {word}, i64 {number}")
    return made


_PRODUCTS = {
    "f16.f16": ("m16n8k16.row.col.f32.f32", "<2 x half>", "float"),
    "bf16.bf16": ("m16n8k16.row.col.bf16", "i32", "float"),
    "tf32.tf32": ("m16n8k8.row.col.tf32", "i32", "float"),
    "s8.s8": ("m16n8k32.row.col.s8", "i32", "i32"),
    "u8.u8": ("m16n8k32.row.col.u8", "i32", "i32"),
    "s8.u8": ("m16n8k32.row.col.s8.u8", "i32", "i32"),
    "u8.s8": ("m16n8k32.row.col.u8.s8", "i32", "i32"),
}
"""By the kinds of both operands: the end of the intrinsic's name, the words, and the sums."""


def _multiply_matrices(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MultiplyMatrices)
    name, word, total = _PRODUCTS[op.kinds.data]
    name = f"@llvm.nvvm.mma.{name}"
    words = [*_words(e, op.a, 4, word), *_words(e, op.b, 2, word)]
    totals = [
        e.text.value(f"extractelement <4 x {total}> {e.names[op.c]}, i64 {i}") for i in range(4)
    ]
    kind = "{" + ", ".join([total] * 4) + "}"
    e.text.declare(f"declare {kind} {name}({', '.join([word] * 6 + [total] * 4)})")
    given = [*(f"{word} {x}" for x in words), *(f"{total} {x}" for x in totals)]
    made = e.text.value(f"call {kind} {name}({', '.join(given)})")
    parts = [e.text.value(f"extractvalue {kind} {made}, {i}") for i in range(4)]
    e.names[op.result] = _packed(e, parts, total)


def _words(e: Emitter, value: SSAValue, count: int, word: str) -> list[str]:
    """Return a vector as words of 4 bytes."""
    whole = f"{e.shape(value).name} {e.names[value]}"
    packed = e.text.value(f"bitcast {whole} to <{count} x i32>")
    words = [
        e.text.value(f"extractelement <{count} x i32> {packed}, i64 {i}") for i in range(count)
    ]
    return words if word == "i32" else [e.text.value(f"bitcast i32 {x} to {word}") for x in words]


GPU: Mapping[str, Emit] = {
    "gvk.shared": _shared,
    "gvk.barrier": _barrier,
    "gvk.warp_barrier": _warp_barrier,
    "gvk.shuffle": _shuffle,
    "gvk.copy_async": _copy_async,
    "gvk.close_copies": _close_copies,
    "gvk.await_copies": _await_copies,
    "gvk.load_matrix": _load_matrix,
    "gvk.mma": _multiply_matrices,
    **WARPGROUP,
}
"""Emitters of the operations of blocks."""
