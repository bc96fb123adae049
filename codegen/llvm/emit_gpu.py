"""Emit what the threads of a block say to each other, by NVIDIA's intrinsics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import BFloat16Type, MemRefType, VectorType
from xdsl.ir import Operation, SSAValue

from ...ir.gpu_ops import LoadMatrix, Shuffle
from .emit_warpgroup import emit_product
from .emitter import Emit, Emitter
from .text import Shape, Text

SHARED = "@shared"
"""What the names of shared memory begin with."""


def _shared(e: Emitter, op: Operation) -> None:
    kind = op.results[0].type
    assert isinstance(kind, MemRefType), f"{op.name}: unexpected {kind}"
    size, stored = kind.get_shape()[0], e.stored(op.results[0])
    name = f"{SHARED}{len(e.text.declarations)}"
    e.text.declare(
        f"{name} = internal addrspace(3) global [{size} x {stored.name}] poison, align 16"
    )
    e.names[op.results[0]] = f"addrspacecast (ptr addrspace(3) {name} to ptr)"


def _barrier(e: Emitter, op: Operation) -> None:
    name = "@llvm.nvvm.barrier.cta.sync.aligned.all"
    e.text.declare(f"declare void {name}(i32)")
    e.text.line(f"call void {name}(i32 0)")


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


def _load_matrix(e: Emitter, op: Operation) -> None:
    assert isinstance(op, LoadMatrix)
    memref, offset = op.operands
    found = _SHARED.search(e.names[memref])
    assert found is not None, f"{op.name}: expected shared memory"
    at = f"getelementptr i16, ptr addrspace(3) {found[0]}, i64 {e.names[offset]}"
    way = ".trans" if op.transposed.value.data else ""
    name = f"@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4{way}.b16.p3"
    kind = "{i32, i32, i32, i32}"
    e.text.declare(f"declare {kind} {name}(ptr addrspace(3))")
    made = e.text.value(f"call {kind} {name}(ptr addrspace(3) {e.text.value(at)})")
    words = [e.text.value(f"extractvalue {kind} {made}, {i}") for i in range(4)]
    packed = "poison"
    for number, word in enumerate(words):
        packed = e.text.value(f"insertelement <4 x i32> {packed}, i32 {word}, i64 {number}")
    e.names[op.results[0]] = e.text.value(f"bitcast <4 x i32> {packed} to <8 x i16>")


_SHARED = re.compile(rf"{SHARED}\d+")


def _multiply_matrices(e: Emitter, op: Operation) -> None:
    a, b, c = op.operands
    assert isinstance(a.type, VectorType), f"{op.name}: unexpected {a.type}"
    if isinstance(a.type.element_type, BFloat16Type):
        name, word = "@llvm.nvvm.mma.m16n8k16.row.col.bf16", "i32"
    else:
        name, word = "@llvm.nvvm.mma.m16n8k16.row.col.f32.f32", "<2 x half>"
    words = [*_words(e, a, 4, word), *_words(e, b, 2, word)]
    totals = [e.text.value(f"extractelement <4 x float> {e.names[c]}, i64 {i}") for i in range(4)]
    kind = "{float, float, float, float}"
    e.text.declare(f"declare {kind} {name}({', '.join([word] * 6 + ['float'] * 4)})")
    given = [*(f"{word} {x}" for x in words), *(f"float {x}" for x in totals)]
    made = e.text.value(f"call {kind} {name}({', '.join(given)})")
    result = "poison"
    for i in range(4):
        one = e.text.value(f"extractvalue {kind} {made}, {i}")
        result = e.text.value(f"insertelement <4 x float> {result}, float {one}, i64 {i}")
    e.names[op.results[0]] = result


def _words(e: Emitter, value: SSAValue, count: int, word: str) -> list[str]:
    """Return a vector of 16-bit elements as words of two."""
    packed = e.text.value(f"bitcast <{2 * count} x i16> {e.names[value]} to <{count} x i32>")
    words = [
        e.text.value(f"extractelement <{count} x i32> {packed}, i64 {i}") for i in range(count)
    ]
    return words if word == "i32" else [e.text.value(f"bitcast i32 {x} to {word}") for x in words]


GPU: Mapping[str, Emit] = {
    "gvk.shared": _shared,
    "gvk.barrier": _barrier,
    "gvk.shuffle": _shuffle,
    "gvk.load_matrix": _load_matrix,
    "gvk.mma": _multiply_matrices,
    "gvk.warpgroup_product": emit_product,
}
"""Emitters of the operations of blocks."""
