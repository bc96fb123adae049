"""Operations on the bits of integers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..families import INTEGER, INTEGERS, Binary, Unary, binary_samples, unary_samples
from ..op import register
from ..types import numerics
from .compare import LogicalAnd, LogicalNot, LogicalOr, LogicalXor


@register
class BitwiseNot(Unary):
    """All bits changed."""

    name = "gv.bitwise_not"
    ON_BOOLS: ClassVar = LogicalNot
    INVOLUTION: ClassVar = True
    ONNX: ClassVar = "BitwiseNot"
    KINDS: ClassVar = INTEGER
    FUNCTION: ClassVar = np.invert
    SAMPLES: ClassVar = unary_samples(*INTEGERS, low=-99, high=99)


class Bitwise(Binary):
    """An operation on the bits of two tensors."""

    KINDS: ClassVar = INTEGER
    SAMPLES: ClassVar = binary_samples(*INTEGERS, low=-99, high=99)


@register
class BitwiseAnd(Bitwise):
    """The bits set in both."""

    name = "gv.bitwise_and"
    IDEMPOTENT: ClassVar = True
    ON_BOOLS: ClassVar = LogicalAnd
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "BitwiseAnd"
    FUNCTION: ClassVar = np.bitwise_and


@register
class BitwiseOr(Bitwise):
    """The bits set in one of both."""

    name = "gv.bitwise_or"
    IDEMPOTENT: ClassVar = True
    ON_BOOLS: ClassVar = LogicalOr
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "BitwiseOr"
    FUNCTION: ClassVar = np.bitwise_or


@register
class BitwiseXor(Bitwise):
    """The bits set in exactly one of both."""

    name = "gv.bitwise_xor"
    ON_BOOLS: ClassVar = LogicalXor
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "BitwiseXor"
    FUNCTION: ClassVar = np.bitwise_xor


@register
class ShiftLeft(Bitwise):
    """Bits shifted up; 0 where the amount, read as unsigned, is the width or more."""

    name = "gv.shift_left"
    COMPILED_ALONE: ClassVar = True
    FUNCTION: ClassVar = numerics.shift_left


@register
class ShiftRight(Bitwise):
    """Bits shifted down, the sign kept; an amount of the width or more leaves only that."""

    name = "gv.shift_right"
    COMPILED_ALONE: ClassVar = True
    FUNCTION: ClassVar = numerics.shift_right
