"""Emit loads and stores of scalars and vectors, gathers and scatters, and stack scratch.

Vectors are loaded with the alignment of an element: on today's machines that costs nothing where
the address happens to be aligned. A store marked `nontemporal` must be aligned to its own size.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Operation, SSAValue

from ....errors import CompileError
from ....ir.dialects.kernel import Prefetch
from ....target import Target
from ..text.build import Shape, Text
from ..text.masked import masked_read, masked_store
from .emitter import Emit, Emitter
from .integer import select

SCRATCH_LIMIT = 1 << 16
"""Bytes that one `memref.alloca` may take of the caller's stack."""


def address(e: Emitter, memref: SSAValue, index: str) -> str:
    """Return a pointer to an element."""
    element = e.stored(memref).name
    return e.text.value(f"getelementptr {element}, ptr {e.names[memref]}, i64 {index}")


def _of_memory(e: Emitter, value: SSAValue, loaded: str) -> None:
    """Name `value` what was loaded; a bool is any byte that is not 0."""
    shape = e.shape(value)
    if shape.element != "i1":
        e.names[value] = loaded
        return
    byte = shape.of("i8")
    e.names[value] = e.text.value(f"icmp ne {byte.name} {loaded}, {byte.splat(0)}")


def _to_memory(e: Emitter, value: SSAValue) -> tuple[Shape, str]:
    """Return what is stored of a value; a bool is the byte 0 or 1."""
    shape, name = e.shape(value), e.names[value]
    if shape.element != "i1":
        return shape, name
    byte = shape.of("i8")
    return byte, e.text.value(f"zext {shape.name} {name} to {byte.name}")


def _in_memory(shape: Shape) -> Shape:
    return shape.of("i8") if shape.element == "i1" else shape


def _load(e: Emitter, op: Operation) -> None:
    memref, index = op.operands
    result = op.results[0]
    pointer = address(e, memref, e.names[index])
    stored = _in_memory(e.shape(result))
    alignment = e.alignment(index, stored)
    loaded = e.text.value(f"load {stored.name}, ptr {pointer}, align {alignment}")
    _of_memory(e, result, loaded)


def _store(e: Emitter, op: Operation) -> None:
    value, memref, index = op.operands
    pointer = address(e, memref, e.names[index])
    stored, name = _to_memory(e, value)
    plain = f"store {stored.name} {name}, ptr {pointer}, align {e.alignment(index, stored)}"
    direct = op.properties.get("nontemporal")
    if isinstance(direct, IntegerAttr) and direct.value.data:
        _store_past_the_caches(e.text, plain, pointer, stored.bits // 8 * (stored.lanes or 1))
    else:
        e.text.line(plain)


def _store_past_the_caches(text: Text, plain: str, pointer: str, size: int) -> None:
    """Append a nontemporal store where the address is aligned, which it must be, or a plain one."""
    straight, crooked, end = text.fresh_label(), text.fresh_label(), text.fresh_label()
    place = text.value(f"ptrtoint ptr {pointer} to i64")
    low = text.value(f"and i64 {place}, {size - 1}")
    aligned = text.value(f"icmp eq i64 {low}, 0")
    text.line(f"br i1 {aligned}, label %{straight}, label %{crooked}")
    text.label(straight)
    text.line(f"{plain.rpartition(',')[0]}, align {size}, !nontemporal !0")
    text.line(f"br label %{end}")
    text.label(crooked)
    text.line(plain)
    text.line(f"br label %{end}")
    text.label(end)


def masked_load(
    text: Text, target: Target, shape: Shape, pointer: str, mask: str, other: str
) -> str:
    """Return a masked load of the back end's own; that of GPUs aborts if lanes are to be filled."""
    if not target.can.fill_masked and other != "poison":
        loaded = masked_load(text, target, shape, pointer, mask, "poison")
        return select(text, shape, mask, loaded, other)
    return masked_read(text, shape, pointer, mask, other)


def _masked_load(e: Emitter, op: Operation) -> None:
    memref, index, mask, other = op.operands
    pointer = address(e, memref, e.names[index])
    stored, passed = _to_memory(e, other)
    _of_memory(
        e, op.results[0], masked_load(e.text, e.target, stored, pointer, e.names[mask], passed)
    )


def _masked_store(e: Emitter, op: Operation) -> None:
    memref, index, mask, value = op.operands
    pointer = address(e, memref, e.names[index])
    stored, name = _to_memory(e, value)
    masked_store(e.text, stored, name, pointer, e.names[mask])


def _addresses(e: Emitter, memref: SSAValue, base: SSAValue, offsets: SSAValue) -> str:
    """Return a vector of pointers."""
    first = address(e, memref, e.names[base])
    kind = e.shape(offsets).name
    element = e.stored(memref).name
    return e.text.value(f"getelementptr {element}, ptr {first}, {kind} {e.names[offsets]}")


def _gather(e: Emitter, op: Operation) -> None:
    memref, base, offsets, *masking = op.operands
    pointers = _addresses(e, memref, base, offsets)
    stored = _in_memory(e.shape(op.results[0]))
    mask, other = stored.mask.splat(1), stored.splat(0) if not stored.is_float else "poison"
    if masking:
        mask, other = e.names[masking[0]], _to_memory(e, masking[1])[1]
    kind, masks, lanes = stored.name, stored.mask.name, stored.lanes
    name = f"@llvm.masked.gather.{stored.suffix}.v{lanes}p0"
    e.text.declare(f"declare {kind} {name}(<{lanes} x ptr>, {masks}, {kind})")
    loaded = e.text.value(
        f"call {kind} {name}(<{lanes} x ptr> align {stored.bits // 8} {pointers},"
        f" {masks} {mask}, {kind} {other})"
    )
    _of_memory(e, op.results[0], loaded)


def _scatter(e: Emitter, op: Operation) -> None:
    value, memref, base, offsets, *masking = op.operands
    pointers = _addresses(e, memref, base, offsets)
    stored, name = _to_memory(e, value)
    mask = e.names[masking[0]] if masking else stored.mask.splat(1)
    kind, masks, lanes = stored.name, stored.mask.name, stored.lanes
    function = f"@llvm.masked.scatter.{stored.suffix}.v{lanes}p0"
    e.text.declare(f"declare void {function}({kind}, <{lanes} x ptr>, {masks})")
    e.text.line(
        f"call void {function}({kind} {name},"
        f" <{lanes} x ptr> align {stored.bits // 8} {pointers}, {masks} {mask})"
    )


def _alloca(e: Emitter, op: Operation) -> None:
    kind = op.results[0].type
    assert isinstance(kind, MemRefType), f"{op.name}: unexpected {kind}"
    size = kind.get_shape()[0]
    stored = e.stored(op.results[0])
    if size < 0 or size * stored.bits // 8 > SCRATCH_LIMIT:
        raise CompileError(f"{op.name}: expected {SCRATCH_LIMIT} bytes at most, found {kind}")
    name = e.names[op.results[0]] = e.text.fresh()
    e.allocas.append(f"  {name} = alloca [{size} x {stored.name}], align 64")


def _place(e: Emitter, op: Operation) -> None:
    kind, pointer = e.shape(op.results[0]).name, e.names[op.operands[0]]
    e.names[op.results[0]] = e.text.value(f"ptrtoint ptr {pointer} to {kind}")


def _prefetch(e: Emitter, op: Operation) -> None:
    assert isinstance(op, Prefetch)
    memref, offset = op.operands
    pointer = address(e, memref, e.names[offset])
    prefetch(e.text, pointer, write=bool(op.write.value.data), locality=op.locality.value.data)


def prefetch(text: Text, pointer: str, *, write: bool, locality: int) -> None:
    """Append a prefetch of data."""
    text.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    text.line(
        f"call void @llvm.prefetch.p0(ptr {pointer}, i32 {int(write)}, i32 {locality}, i32 1)"
    )


MEMORY: Mapping[str, Emit] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.alloca": _alloca,
    "memref.extract_aligned_pointer_as_index": _place,
    "vector.load": _load,
    "vector.store": _store,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "gvk.gather": _gather,
    "gvk.scatter": _scatter,
    "gvk.prefetch": _prefetch,
}
"""Emitters of the operations on memory."""
