"""What the emitting functions of all operations share: names of values, shapes, helper functions.

A value of the IR is known by the LLVM operand that stands for it: a name or a literal. f16 and
bf16 are kept as `i16`, so that LLVM never sees types that a target may not have; only the
conversions know better. A bool is an `i1` and lies in memory as one byte.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....errors import CompileError, UnsupportedOp
from ....ir.dialects.kernel import CHECKED
from ....target import Target
from ..text.build import Shape, Text, number
from ..text.multiples import MOST, multiple_of

Emit: TypeAlias = Callable[["Emitter", Operation], None]

_ELEMENTS: Mapping[type[Attribute], str] = {
    IndexType: "i64",
    Float16Type: "i16",
    BFloat16Type: "i16",
    Float32Type: "float",
    Float64Type: "double",
}


LANES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Vectors there may be. Others make LLVM's code generator abort on some machines, or very slow."""


class Emitter:
    """The state of emitting one function."""

    __slots__ = ("_shapes", "allocas", "look", "names", "operations", "target", "text")

    def __init__(self, text: Text, target: Target, operations: Mapping[str, Emit]) -> None:
        self.text = text
        self.target = target
        self.operations = operations
        self.names: dict[SSAValue, str] = {}
        self.allocas: list[str] = []
        self.look: Callable[[Operation, Emit], None] | None = None
        """Emits accesses that are looked at in the run."""
        self._shapes: dict[int, Shape] = {}  # by id: the function holds its types alive

    def shape(self, value: SSAValue) -> Shape:
        """Return the shape that LLVM sees of a value."""
        kind = value.type
        found = self._shapes.get(id(kind))
        if found is None:
            found = self._shapes[id(kind)] = shape_of(kind)
        return found

    def stored(self, memref: SSAValue) -> Shape:
        """Return the shape of one element of a memref as it lies in memory."""
        found = self._shapes.get(id(memref.type))
        if found is None:
            assert isinstance(memref.type, MemRefType), f"{memref.type} is no memref"
            found = shape_of(memref.type.element_type)
            found = Shape("i8") if found.element == "i1" else found
            self._shapes[id(memref.type)] = found
        return found

    def alignment(self, index: SSAValue, stored: Shape) -> int:
        """Return the bytes that the address of a load or store at an index is a multiple of.

        On processors it is taken to be that of an element; on GPUs a vector that is not known to
        be aligned is loaded piece by piece.
        """
        size = stored.bits // 8
        if not stored.lanes or self.target.can.load_unaligned:
            return size
        return min(MOST, size * min(stored.lanes, multiple_of(index)))

    def operands(self, op: Operation) -> list[str]:
        """Return the LLVM operands of an operation."""
        names = self.names
        return [names[operand] for operand in op.operands]

    def block(self, block: Block) -> list[str]:
        """Emit the operations of a block and return what its terminator passes on."""
        operations = self.operations
        for op in block.ops:
            emit = operations.get(op.name)
            if emit is None:
                if op.name in TERMINATORS:
                    return self.operands(op)
                raise UnsupportedOp(f"{op.name}: the LLVM back end has no code for it")
            if self.look is not None and CHECKED in op.attributes:
                self.look(op, emit)
            else:
                emit(self, op)
        return []


TERMINATORS = frozenset({"scf.yield", "scf.condition", "func.return"})


def shape_of(kind: Attribute) -> Shape:
    """Return the shape that LLVM sees of a scalar or 1-D vector type."""
    if isinstance(kind, VectorType):
        sizes = kind.get_shape()
        if len(sizes) != 1 or sizes[0] not in LANES:
            raise CompileError(
                f"{kind}: expected a vector of one dimension and {LANES[-1]} lanes,"
                " or a smaller power of two"
            )
        return _shape(shape_of(kind.element_type).element, int(sizes[0]))
    if isinstance(kind, IntegerType) and kind.width.data in (1, 8, 16, 32, 64):
        return _shape(f"i{kind.width.data}", 0)
    element = _ELEMENTS.get(type(kind))
    if element is None:
        raise CompileError(f"{kind}: the LLVM back end has no such values")
    return _shape(element, 0)


@lru_cache(maxsize=1024)
def _shape(element: str, lanes: int) -> Shape:
    """Return the one shape of its kind, so that its name is made once."""
    return Shape(element, lanes)


def literal(op: arith.ConstantOp) -> str:
    """Return the LLVM constant that an `arith.constant` is."""
    value = op.value
    kind = op.results[0].type
    shape = shape_of(kind)
    if isinstance(value, IntegerAttr | FloatAttr):
        return _number(kind, shape.element, value.value.data)
    assert isinstance(value, DenseIntOrFPElementsAttr), f"{op.name}: unexpected {value}"
    numbers = [_number(kind, shape.element, each) for each in value.get_values()]
    if numbers.count(numbers[0]) == len(numbers):
        return f"splat ({shape.element} {numbers[0]})"
    return f"<{', '.join([f'{shape.element} {each}' for each in numbers])}>"


def _number(kind: Attribute, element: str, value: float | int) -> str:
    """Return one element of a constant; of f16 and bf16 the bits."""
    inner = kind.element_type if isinstance(kind, VectorType) else kind
    if not isinstance(inner, Float16Type | BFloat16Type):
        return number(element, value)
    half = "half" if isinstance(inner, Float16Type) else "bfloat"
    return number("i16", int(number(half, value)[3:], 16))


def known_integer(value: SSAValue) -> int | None:
    """Return the number that a value is, in all lanes, if the IR says so."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        owner = owner.operands[0].owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    constant = owner.value
    if isinstance(constant, IntegerAttr):
        return int(constant.value.data)
    if isinstance(constant, DenseIntOrFPElementsAttr):
        numbers = list(constant.get_values())
        if isinstance(numbers[0], int) and numbers.count(numbers[0]) == len(numbers):
            return int(numbers[0])
    return None


def is_known_number(value: SSAValue) -> bool:
    """Say whether a float is a constant and no NaN."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        owner = owner.operands[0].owner
    if not isinstance(owner, arith.ConstantOp):
        return False
    constant = owner.value
    if isinstance(constant, FloatAttr):
        return not math.isnan(constant.value.data)
    return isinstance(constant, DenseIntOrFPElementsAttr) and not any(
        math.isnan(each) for each in constant.get_values()
    )
