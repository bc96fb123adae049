"""Products and normalisations."""

from __future__ import annotations

from math import ceil, log2, prod

from xdsl.ir import SSAValue

from ....ir import Op
from ....ir.types import dtypes as d
from .extents import NotWritableError
from .layout import transposed
from .rules import writes
from .writer import Writer

EXACT = 53
"""Bits of an integer that f64 holds."""


@writes("gv.matmul")
def matmul(out: Writer, op: Op, a: str, b: str) -> str:
    """Multiply; two matrices of which one is transposed are a `Gemm`."""
    rules, ranks = op.plain_attributes(), [spec.rank for spec in op.specs]
    turned = [bool(rules[f"transpose_{side}"]) for side in ("lhs", "rhs")]
    if ranks == [2, 2] and any(turned) and out.types[a].is_float:
        return str(out.node("Gemm", a, b, transA=int(turned[0]), transB=int(turned[1])))
    parts = []
    for name, rank, is_turned in zip((a, b), ranks, turned, strict=True):
        order = [*range(rank - 2), rank - 1, rank - 2] if is_turned else list(range(rank))
        parts.append(transposed(out, name, order))
    return str(out.node("MatMul", *parts))


@writes("gv.einsum")
def einsum(out: Writer, op: Op, *xs: str) -> str:
    """Write the equation."""
    return str(out.node("Einsum", *xs, equation=op.plain_attributes()["equation"]))


def first(rank: int) -> list[int]:
    """Return the order of axes that puts channels behind the batch."""
    return [0, rank - 1, *range(1, rank - 1)]


def last(rank: int) -> list[int]:
    """Return the order of axes that puts channels behind the image."""
    return [0, *range(2, rank), 1]


@writes("gv.conv")
def conv(out: Writer, op: Op, x: str, w: str) -> str:
    """Convolve with the channels behind the batch; integers in f64, where that is exact."""
    rules, rank = op.plain_attributes(), op.specs[0].rank
    kernel = list(op.specs[1].static_shape[2:])
    dtype = out.types[x]
    x = transposed(out, x, first(rank)) if rules["channels_last"] else x
    if not dtype.is_float:
        inner = prod(op.specs[1].static_shape[1:])
        needed = sum(_bits(out, v) for v in op.operands) + ceil(log2(max(inner, 1)))
        if needed > EXACT:
            raise NotWritableError(f"a convolution of {dtype} whose sums take {needed} bits")
        x, w = out.cast(x, d.f64), out.cast(w, d.f64)
    made = out.node(
        "Conv", x, w, kernel_shape=kernel, strides=list(rules["strides"]), pads=ends(rules["pads"]),
        dilations=list(rules["dilations"]), group=rules["groups"],
    )  # fmt: skip
    if not dtype.is_float:
        made = out.cast(out.cast(made, d.i64), dtype)
    return transposed(out, made, last(rank)) if rules["channels_last"] else made


def ends(pads: tuple[tuple[int, int], ...]) -> list[int]:
    """Return pads in ONNX's order: all beginnings, then all ends."""
    return [low for low, _ in pads] + [high for _, high in pads]


def _bits(out: Writer, value: SSAValue) -> int:
    """Return how many bits the numbers of a value take, by where they come from."""
    array = out.known(value)
    if array is not None:
        largest = max(int(array.max()), -int(array.min())) if array.size else 0
        return largest.bit_length()
    op = value.owner
    if isinstance(op, Op) and op.name == "gv.cast" and not out.dtype(op.operands[0]).is_float:
        return min(_bits(out, op.operands[0]), out.dtype(value).bits)
    if isinstance(op, Op) and op.name in ("gv.add", "gv.sub"):
        found = max(_bits(out, operand) for operand in op.operands) + 1
        return min(found, out.dtype(value).bits)
    return out.dtype(value).bits


@writes("gv.conv_transpose")
def conv_transpose(out: Writer, op: Op, x: str, w: str) -> str:
    """Spread with the channels behind the batch."""
    rules, rank = op.plain_attributes(), op.specs[0].rank
    pads, more = ends(rules["pads"]), list(rules["output_pads"])
    if not out.types[x].is_float:
        raise NotWritableError(f"ConvTranspose of ONNX does not take {out.types[x]}")
    if min([*pads, 0]) < 0:
        raise NotWritableError("a transposed convolution that is cropped the other way")
    if not all(
        isinstance(m, int) and 0 <= m < s for m, s in zip(more, rules["strides"], strict=True)
    ):
        raise NotWritableError("a transposed convolution with more at its ends than a stride")
    x = transposed(out, x, first(rank)) if rules["channels_last"] else x
    kernel = list(op.specs[1].static_shape[2:])
    made = out.node(
        "ConvTranspose", x, w, kernel_shape=kernel, strides=list(rules["strides"]), pads=pads,
        dilations=list(rules["dilations"]), group=rules["groups"], output_padding=more,
    )  # fmt: skip
    return transposed(out, made, last(rank)) if rules["channels_last"] else made


@writes("gv.batch_norm")
def batch_norm(out: Writer, op: Op, x: str, *vectors: str) -> str:
    """Normalise along axis 1."""
    rules = op.plain_attributes()
    if rules["axis"] != 1:
        raise NotWritableError("a batch normalisation along another axis than 1")
    return str(out.node("BatchNormalization", x, *vectors, epsilon=rules["epsilon"]))


@writes("gv.layer_norm")
def layer_norm(out: Writer, op: Op, x: str, scale: str, bias: str) -> str:
    """Normalise over the last axes, in f32 at least."""
    rules, spec = op.plain_attributes(), op.specs[0]
    if any(other.rank > spec.rank - rules["axis"] for other in op.specs[1:]):
        raise NotWritableError("a layer normalisation scaled along other axes")
    return str(
        out.node("LayerNormalization", x, scale, bias, axis=rules["axis"], epsilon=rules["epsilon"])
    )


@writes("gv.group_norm")
def group_norm(out: Writer, op: Op, x: str, scale: str, bias: str) -> str:
    """Normalise over groups of channels."""
    rules = op.plain_attributes()
    how = {"num_groups": rules["groups"], "epsilon": rules["epsilon"]}
    return str(out.node("GroupNormalization", x, scale, bias, **how))
