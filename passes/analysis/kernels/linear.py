"""Operations that are linear in a weight: convolutions and products with a fixed matrix.

What multiplies the result by a number for each channel can multiply the weight instead, and
work on weights is done once.
"""

from __future__ import annotations

import cmath
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....ir import Op
from ....ir.ops.conv import Conv, ConvTranspose
from ....ir.ops.matrix import Matmul
from ....ir.types.dims import Dim
from ..constants import Known, scalar_of
from ..rewrite import Rewriter, spec


@dataclass(frozen=True)
class Linear:
    """A convolution or product whose weight is fixed, and the axis of its channels."""

    op: Op
    weight: int
    """The operand that is fixed."""
    axis: int
    """The axis of the result along which the weight has an entry for each element."""

    @property
    def channels(self) -> Dim:
        """Return the number of channels."""
        return spec(self.op.results[0]).dims[self.axis]

    def takes(self, scale: SSAValue) -> bool:
        """Say whether a factor has one number for all, or one for each channel."""
        result, shape = spec(self.op.results[0]).dims, spec(scale).dims
        if len(shape) > len(result) or is_infinite(scale):
            return False
        first = len(result) - len(shape)
        return all(
            dim == 1 or (first + i == self.axis and dim == self.channels)
            for i, dim in enumerate(shape)
        )

    def scaled(self, rewriter: Rewriter, scale: SSAValue) -> SSAValue:
        """Return the result times the factor, which `takes` has let through."""
        operands = list(self.op.operands)
        weight = operands[self.weight]
        operands[self.weight] = self._scaled_weight(rewriter, weight, scale)
        return rewriter.again(self.op, *operands)

    def _scaled_weight(self, rewriter: Rewriter, weight: SSAValue, scale: SSAValue) -> SSAValue:
        shape = spec(weight).dims
        if spec(scale).size == 1:
            return rewriter("mul", weight, shaped(rewriter, scale, ()))
        if self.op.name == "gv.matmul":
            return rewriter("mul", weight, shaped(rewriter, scale, self._matrix_shape()))
        taps = (1,) * (len(shape) - 2)
        groups = self.op.plain_attributes()["groups"]
        if self.op.name == "gv.conv":
            return rewriter("mul", weight, shaped(rewriter, scale, (self.channels, 1, *taps)))
        inputs, outputs, *kernel = shape
        parts = rewriter("reshape", weight, shape=(groups, inputs // groups, outputs, *kernel))
        made = rewriter("mul", parts, shaped(rewriter, scale, (groups, 1, outputs, *taps)))
        return rewriter("reshape", made, shape=shape)

    def _matrix_shape(self) -> tuple[Dim, ...]:
        """Return the factor's shape so that it runs along the weight's own axis."""
        side = ("transpose_lhs", "transpose_rhs")[self.weight]
        swapped = bool(self.op.plain_attributes()[side])
        last = (self.weight == 1) != swapped
        return (self.channels,) if last else (self.channels, 1)


def find_linear(value: SSAValue, known: Known) -> Linear | None:
    """Return how a value is made, if by a linear operation that nothing else uses."""
    op = value.owner
    if not value.has_one_use() or not spec(value).dtype.is_float:
        return None
    rank = spec(value).rank
    if isinstance(op, Conv | ConvTranspose):
        axis = rank - 1 if op.plain_attributes()["channels_last"] else 1
        return Linear(op, 1, axis) if known.is_fixed(op.operands[1]) else None
    if isinstance(op, Matmul):
        for index in (1, 0):
            if known.is_fixed(op.operands[index]):
                return Linear(op, index, rank - 2 + index)
    return None


def is_infinite(value: SSAValue) -> bool:
    """Say whether a constant is infinite or not a number: a sum of its products may be neither."""
    number = scalar_of(value)
    return number is not None and not cmath.isfinite(number)


def shaped(rewriter: Rewriter, value: SSAValue, shape: tuple[Dim, ...]) -> SSAValue:
    """Return the value in another shape."""
    return value if spec(value).dims == shape else rewriter("reshape", value, shape=shape)
