"""Emit what the threads of a block say to each other, by NVIDIA's intrinsics."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from ...ir.gpu_ops import Shuffle
from .emitter import Emit, Emitter
from .text import Shape, Text


def _shared(e: Emitter, op: Operation) -> None:
    kind = op.results[0].type
    assert isinstance(kind, MemRefType), f"{op.name}: unexpected {kind}"
    size, stored = kind.get_shape()[0], e.stored(op.results[0])
    name = f"@shared{len(e.text.declarations)}"
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


GPU: Mapping[str, Emit] = {
    "gvk.shared": _shared,
    "gvk.barrier": _barrier,
    "gvk.shuffle": _shuffle,
}
"""Emitters of the operations of blocks."""
