"""Rules of products of matrices."""

from __future__ import annotations

from ....ir import DType
from ....ir.compose import functions as c
from ....ir.ops.compare import Select
from ....ir.ops.convert import Cast
from ....ir.ops.softmax import Softmax
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule


@rule("MatMul")
def matmul(node: Node, lhs: Value, rhs: Value) -> Value:
    """Multiply by numpy's rule: a vector is a row on the left, a column on the right."""
    left, right = node.rank(lhs), node.rank(rhs)
    if not left or not right:
        node.fail("a scalar is not a matrix")
    if (wide := unrounded(node, lhs)) is not None:
        return node.make.to(matmul(node, wide, node.make.to(rhs, d.f32)), node.dtype(lhs))
    if left == 1:
        lhs = c.unsqueeze(node.emit, lhs, (0,))
    if right == 1:
        rhs = c.unsqueeze(node.emit, rhs, (1,))
    made = node.make.matmul(lhs, rhs)
    rank = node.rank(made)
    dropped = [*([rank - 2] if left == 1 else []), *([rank - 1] if right == 1 else [])]
    return c.squeeze(node.emit, made, dropped) if dropped else made


def unrounded(node: Node, value: Value) -> Value | None:
    """Return a softmax before it is rounded to f16 or bf16, None for any other value.

    Attention multiplies by it, and a rounding between the two would be the worst of all. Rows
    that are masked may have been replaced in between.
    """
    if node.dtype(value) not in (d.f16, d.bf16):
        return None
    if isinstance(value.owner, Select):
        condition, *sides = value.owner.operands
        found = [unrounded(node, side) for side in sides]
        if found[0] is None and found[1] is None:
            return None
        pairs = zip(sides, found, strict=True)
        wide = [node.make.to(side, d.f32) if f is None else f for side, f in pairs]
        return node.make.select(condition, *wide)
    if not isinstance(value.owner, Cast):
        return None
    source: Value = value.owner.operands[0]
    return source if isinstance(source.owner, Softmax) and node.dtype(source) == d.f32 else None


@rule("Gemm")
def gemm(node: Node, a: Value, b: Value, bias: Value | None = None) -> Value:
    """Return alpha * A' B' + beta * C."""
    node.has("broadcast")
    if node.rank(a) != 2 or node.rank(b) != 2:
        node.fail(f"ranks {node.rank(a)} and {node.rank(b)}, expected 2 and 2")
    made = node.make.matmul(
        a, b,
        transpose_lhs=bool(node.integer("transA", 0)),
        transpose_rhs=bool(node.integer("transB", 0)),
    )  # fmt: skip
    made = scaled(node, made, node.number("alpha", 1.0))
    beta = node.number("beta", 1.0)
    if bias is None:
        return made
    for has, size in zip(node.shape(made)[::-1], node.shape(bias)[::-1], strict=False):
        if has == 1 and isinstance(size, int) and size != 1:
            node.fail(f"a bias of {size} elements along an axis in which the product has 1")
    return node.make.add(made, scaled(node, bias, beta))


def scaled(node: Node, value: Value, factor: float) -> Value:
    """Return a value times a number; itself where that is 1."""
    if factor == 1:
        return value
    return node.make.mul(value, node.make.number(factor, node.dtype(value)))


@rule("MatMulInteger")
def matmul_integer(
    node: Node, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    """Multiply 8-bit matrices less their zero points, in 32 bits."""
    if a_zero is not None and node.rank(a_zero) == 1:
        a_zero = c.unsqueeze(node.emit, a_zero, (1,))
    return matmul(node, centred(node, a, a_zero), centred(node, b, b_zero))


def centred(node: Node, x: Value, zero: Value | None, dtype: DType = d.i32) -> Value:
    """Return a quantised value in a wider type, less its zero point."""
    wide = node.make.to(x, dtype)
    known = None if zero is None else node.known(zero)
    if known is not None and not known.any():
        return wide
    return wide if zero is None else node.make.sub(wide, node.make.to(zero, dtype))
