"""Rules of products of matrices."""

from __future__ import annotations

from ...ir import DType
from ...ir import compositions as c
from ...ir import dtypes as d
from .node import Node, Value
from .rules import rule


@rule("MatMul")
def matmul(node: Node, lhs: Value, rhs: Value) -> Value:
    """Multiply by numpy's rule: a vector is a row on the left, a column on the right."""
    left, right = node.rank(lhs), node.rank(rhs)
    if not left or not right:
        node.fail("a scalar is not a matrix")
    if left == 1:
        lhs = c.unsqueeze(node.emit, lhs, (0,))
    if right == 1:
        rhs = c.unsqueeze(node.emit, rhs, (1,))
    made = node.make.matmul(lhs, rhs)
    rank = node.rank(made)
    dropped = [*([rank - 2] if left == 1 else []), *([rank - 1] if right == 1 else [])]
    return c.squeeze(node.emit, made, dropped) if dropped else made


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
    return made if bias is None else node.make.add(made, scaled(node, bias, beta))


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
    return wide if zero is None else node.make.sub(wide, node.make.to(zero, dtype))
