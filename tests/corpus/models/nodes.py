"""Nodes of random ONNX graphs: operators with the attributes that they may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from grown import Graph, Value, info, start_session
from onnx import TensorProto, helper, numpy_helper

UNARY = """
Abs Neg Exp Sqrt Sigmoid Tanh Relu Floor Ceil Round Sign Softplus Softsign Erf Sin Cos Atan
Reciprocal Identity HardSwish Mish Log Sinh Asinh Selu Elu LeakyRelu HardSigmoid Celu
ThresholdedRelu Shrink Not IsNaN IsInf
"""


def unary(g: Graph) -> None:
    kind = g.choose(*UNARY.split())
    x = g.pick(lambda v: v.dtype == (np.bool_ if kind == "Not" else np.float32))
    more: dict[str, Any] = {}
    if kind in ("Elu", "LeakyRelu", "Celu", "ThresholdedRelu", "HardSigmoid", "Selu"):
        more = {"alpha": float(g.choose(0.1, 0.5, 1.5))}
    g.node(kind, [x.name], **more)


def binary(g: Graph) -> None:
    kind = g.choose("Add", "Sub", "Mul", "Div", "Min", "Max", "Less", "Greater", "Equal", "Pow",
                    "Mod", "GreaterOrEqual", "PRelu", "Mean", "Sum", "LessOrEqual")  # fmt: skip
    a = g.floats()
    if g.chance(0.4):
        shape = [n if n is not None and g.chance(0.7) else 1 for n in a.fixed]
        b = g.constant(g.random.standard_normal(shape).astype(np.float32))
    else:
        b = g.floats().name
    more = {"fmod": 1} if kind == "Mod" else {}
    pair = [a.name, b] if kind == "PRelu" or g.chance(0.7) else [b, a.name]
    g.node(kind, pair, **more)


def integers(g: Graph) -> None:
    kind = g.choose("Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "Neg", "Abs", "Min", "Max")
    a = g.pick(lambda v: v.dtype == np.int64)
    if kind in ("Neg", "Abs"):
        g.node(kind, [a.name])
        return
    b = g.constant(np.array(g.choose(2, 3, -2, 7), np.int64)) if g.chance(0.5) else g.pick(
        lambda v: v.dtype == np.int64).name  # fmt: skip
    g.node(kind, [a.name, b], **({"fmod": g.number(0, 1)} if kind == "Mod" else {}))


def logic(g: Graph) -> None:
    a, b = (g.pick(lambda v: v.dtype == np.bool_) for _ in range(2))
    g.node(g.choose("And", "Or", "Xor"), [a.name, b.name])


def where(g: Graph) -> None:
    test = g.pick(lambda v: v.dtype == np.bool_)
    g.node("Where", [test.name, g.floats().name, g.floats().name])


def clip(g: Graph) -> None:
    low, high = (g.constant(np.array(n, np.float32)) for n in (-0.5, 0.7))
    g.node("Clip", [g.floats().name, g.choose(low, ""), g.choose(high, "")])


def cast(g: Graph) -> None:
    x = g.pick()
    to = g.choose(TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL,
                  TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)  # fmt: skip
    whole = x.dtype.kind == "f" and to in (TensorProto.INT64, TensorProto.INT32)
    if whole and not all(np.all(np.abs(a) < 1e6) for a in x.arrays):
        raise LookupError
    g.node("Cast", [x.name], to=to)


def back(g: Graph) -> None:
    x = g.pick(lambda v: v.dtype != np.float32)
    g.node("Cast", [x.name], to=TensorProto.FLOAT)


def axes_of(g: Graph, rank: int, least: int = 1) -> list[int]:
    """Return some axes, some of them counted from the end."""
    count = g.number(least, rank)
    axes = g.random.permutation(rank)[:count]
    return [int(a) - rank * g.chance(0.4) for a in axes]


def reduce(g: Graph) -> None:
    kind = g.choose("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp",
                    "SumSquare")  # fmt: skip
    x = g.floats(least=1)
    axes, keep = axes_of(g, x.rank), g.number(0, 1)
    if g.opset >= 18 or (kind == "Sum" and g.opset >= 13):
        more = [g.constant(np.array(axes, np.int64))] if g.chance(0.8) else []
        g.node(f"Reduce{kind}", [x.name, *more], keepdims=keep)
    else:
        g.node(f"Reduce{kind}", [x.name], keepdims=keep, **({"axes": axes} if axes else {}))


def arg(g: Graph) -> None:
    x = g.floats(least=1)
    axis = g.number(-x.rank, x.rank - 1)
    last = {"select_last_index": g.number(0, 1)} if g.opset >= 12 else {}
    g.node(g.choose("ArgMax", "ArgMin"), [x.name], axis=axis, keepdims=g.number(0, 1), **last)


def along(g: Graph) -> None:
    x = g.floats(least=1)
    axis = g.number(-x.rank, x.rank - 1)
    kind = g.choose("Softmax", "LogSoftmax", "Hardmax", "CumSum", "LayerNormalization", "LpNorm",
                    "TopK")  # fmt: skip
    if kind == "CumSum":
        at = g.constant(np.array(axis, np.int64))
        g.node(kind, [x.name, at], exclusive=g.number(0, 1), reverse=g.number(0, 1))
    elif kind == "LpNorm":
        g.node("LpNormalization", [x.name], axis=axis, p=g.number(1, 2))
    elif kind == "TopK":
        k = g.constant(np.array([g.number(1, 2)], np.int64))
        g.node(kind, [x.name, k], 2, axis=axis, largest=g.number(0, 1))
    elif kind == "LayerNormalization":
        sizes = x.fixed[axis % x.rank :]
        if None in sizes:
            raise LookupError
        scale = g.constant(g.random.standard_normal(sizes).astype(np.float32))
        g.node(kind, [x.name, scale, *([scale] * g.chance(0.5))], axis=axis)
    else:
        g.node(kind, [x.name], axis=axis)


def transpose(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 1)
    g.node("Transpose", [x.name], perm=[int(a) for a in g.random.permutation(x.rank)])


def reshape(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0)
    kind = g.choose("zero", "last", "flat", "join", "shape", "flatten", "split")
    if kind == "flatten":
        g.node("Flatten", [x.name], axis=g.number(-x.rank, x.rank))
        return
    at = g.number(0, x.rank - 1)
    if kind == "split":
        size = x.fixed[at]
        if size is None or size % 2:
            raise LookupError
        shape = [0] * at + [2, size // 2]
        shape += [-1] if x.rank - at > 1 else []
    elif kind == "join":
        shape = [0] * at + [-1]
    elif kind == "shape":
        other = g.pick(lambda v: v.rank > 0)
        g.node("Shape", [other.name])
        g.node("Reshape", [x.name, g.values[-1].name])
        return
    else:
        shape = {"zero": [0] * at + [-1, 1], "last": [1, -1], "flat": [-1]}[kind]
    g.node("Reshape", [x.name, g.constant(np.array(shape, np.int64))])


def squeeze(g: Graph) -> None:
    x = g.pick()
    if g.chance(0.5):
        axes = axes_of(g, x.rank + 1)[:2]
        kind = "Unsqueeze"
    else:
        axes, kind = [a for a, n in enumerate(x.fixed) if n == 1][:1], "Squeeze"
        if not axes:
            raise LookupError
    if g.opset >= 13:
        g.node(kind, [x.name, g.constant(np.array(axes, np.int64))])
    else:
        g.node(kind, [x.name], axes=axes)


def cut(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0)
    axes = axes_of(g, x.rank)
    starts = [g.choose(0, 1, -1, -2, -9, 3) for _ in axes]
    ends = [g.choose(2, 5, -1, 2**31 - 1, -(2**31), 2**63 - 1, 1) for _ in axes]
    steps = [g.choose(1, 1, 1, 2, -1, -2) for _ in axes]  # downwards, the largest is no end
    ends = [-9 if step < 0 and end > 9 else end for step, end in zip(steps, ends, strict=True)]
    rows = [g.constant(np.array(n, np.int64)) for n in (starts, ends, axes, steps)]
    g.node("Slice", [x.name, *rows])


def concat(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0)
    y = g.pick(lambda v: v.rank == x.rank and v.dtype == x.dtype)
    names = [x.name, y.name, *([x.name] * g.chance(0.3))]
    g.node("Concat", names, axis=g.number(-x.rank, x.rank - 1))


def split(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0)
    axis = g.number(0, x.rank - 1)
    size = x.fixed[axis]
    if g.opset >= 18 and g.chance(0.5):
        g.node("Split", [x.name], 2, axis=axis, num_outputs=2)
        return
    if size is None or size < 2:
        raise LookupError
    parts = [1, size - 1]
    if g.opset >= 13:
        g.node("Split", [x.name, g.constant(np.array(parts, np.int64))], 2, axis=axis)
    else:
        g.node("Split", [x.name], 2, axis=axis, split=parts)


def pad(g: Graph) -> None:
    x = g.floats(least=1)
    mode = g.choose("constant", "reflect", "edge", "constant", *(["wrap"] * (g.opset >= 19)))
    low = -1 if mode == "constant" else 0
    pads = [g.number(low, 2) if g.chance(0.5) else 0 for _ in range(2 * x.rank)]
    rows = [g.constant(np.array(pads, np.int64))]
    if mode == "constant" and g.chance(0.5):
        rows.append(g.constant(np.array(g.choose(0.5, -1.0), np.float32)))
    g.node("Pad", [x.name, *rows], mode=mode)


def tile(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0)
    times = np.array([g.number(1, 2) for _ in range(x.rank)], np.int64)
    g.node("Tile", [x.name, g.constant(times)])


def expand(g: Graph) -> None:
    x, other = g.pick(), g.pick(lambda v: v.rank > 0)
    g.node("Shape", [other.name])
    g.node("Expand", [x.name, g.values[-1].name])


def gather(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0 and min(v.arrays[0].shape, default=0) > 0)
    axis = g.number(0, x.rank - 1)
    least = min(a.shape[axis] for a in x.arrays)
    shape = g.choose((), (2,), (2, 1), (1,))
    rows = g.random.integers(-least, least, shape).astype(g.choose(np.int64, np.int32))
    g.node("Gather", [x.name, g.constant(rows)], axis=axis)


def elements(g: Graph) -> None:
    x = g.floats(least=1)
    axis = g.number(-x.rank, x.rank - 1)
    sizes = [max(1, min(a.shape[i] for a in x.arrays) - g.number(0, 1)) for i in range(x.rank)]
    least = min(a.shape[axis] for a in x.arrays)
    rows = g.constant(g.random.integers(-least, least, sizes).astype(np.int64))
    if g.chance(0.5):
        g.node("GatherElements", [x.name, rows], axis=axis)
        return
    news = g.constant(g.random.standard_normal(sizes).astype(np.float32))
    how = g.choose("add", "mul", *(["max", "min"] * (g.opset >= 18)))
    g.node("ScatterElements", [x.name, rows, news], axis=axis,
           **({"reduction": how} if g.opset >= 16 else {}))  # fmt: skip


def points(g: Graph) -> None:
    x = g.floats(least=1)
    depth = g.number(1, x.rank)
    least = [min(a.shape[i] for a in x.arrays) for i in range(depth)]
    rows = np.stack([g.random.integers(-n, n, (3,)) for n in least], 1).astype(np.int64)
    if g.chance(0.5):
        g.node("GatherND", [x.name, g.constant(rows)])
        return
    rest = x.fixed[depth:]
    if None in rest:
        raise LookupError
    news = g.constant(g.random.standard_normal((3, *rest)).astype(np.float32))
    how = g.choose("add", "mul")
    g.node("ScatterND", [x.name, g.constant(rows), news],
           **({"reduction": how} if g.opset >= 16 else {}))  # fmt: skip


def resize(g: Graph) -> None:
    x = g.floats(4)
    mode = g.choose("nearest", "linear", "cubic")
    how = g.choose("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    more: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": how}
    if mode == "nearest":
        more["nearest_mode"] = g.choose("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        more["cubic_coeff_a"] = g.choose(-0.5, -0.75)
        more["exclude_outside"] = g.number(0, 1) if how != "align_corners" else 0
    if g.opset >= 18 and mode != "nearest" and g.chance(0.3):
        more["antialias"] = 1
    region = "" if g.opset >= 13 else g.constant(np.zeros(0, np.float32))
    if g.chance(0.6):
        factors = [1.0, 1.0, g.choose(2.0, 0.5, 1.5), g.choose(2.0, 0.6, 3.0)]
        g.node("Resize", [x.name, region, g.constant(np.array(factors, np.float32))], **more)
        return
    if g.opset < 13:
        raise LookupError
    sizes = [*(max(n or 0, 0) for n in x.fixed[:2]), g.number(1, 9), g.number(1, 9)]
    if 0 in sizes:
        raise LookupError
    g.node("Resize", [x.name, "", "", g.constant(np.array(sizes, np.int64))], **more)


def window(g: Graph, rank: int) -> dict[str, Any]:
    """Return attributes of windows."""
    kernel = [g.number(1, 3) for _ in range(rank)]
    more: dict[str, Any] = {"kernel_shape": kernel, "strides": [g.number(1, 2) for _ in kernel]}
    if g.chance(0.3):
        return more | {"auto_pad": g.choose("SAME_UPPER", "SAME_LOWER", "VALID")}
    pads = [g.number(0, n - 1) for n in kernel]
    return more | {"pads": [*pads, *(g.number(0, n - 1) for n in kernel)]}


def convolution(g: Graph) -> None:
    x = g.pick(lambda v: v.dtype == np.float32 and v.rank in (3, 4, 5) and v.fixed[1] is not None)
    channels, rank = x.fixed[1] or 1, x.rank - 2
    more = window(g, rank)
    groups = g.choose(1, 1, channels) if channels < 9 else 1
    out = groups * g.number(1, 3)
    if "auto_pad" not in more:
        more["dilations"] = [g.number(1, 2) for _ in range(rank)]
    if g.chance(0.7):
        shape = (out, channels // groups, *more["kernel_shape"])
        kind = "Conv"
    else:
        shape, kind = (channels, out // groups, *more["kernel_shape"]), "ConvTranspose"
        if g.chance(0.3) and "auto_pad" not in more:
            more["output_padding"] = [n - 1 for n in more["strides"]]
    weights = g.constant(g.random.standard_normal(shape).astype(np.float32) / 3)
    bias = [g.constant(g.random.standard_normal(out).astype(np.float32))] * g.chance(0.5)
    g.node(kind, [x.name, weights, *bias], group=groups, **more)


def pool(g: Graph) -> None:
    x = g.pick(lambda v: v.dtype == np.float32 and v.rank in (3, 4, 5))
    kind = g.choose("MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool",
                    "MaxPool", "AveragePool")  # fmt: skip
    if kind.startswith("Global"):
        g.node(kind, [x.name])
        return
    more = window(g, x.rank - 2)
    if kind != "LpPool" or g.opset >= 18:
        more["ceil_mode"] = g.number(0, 1)
    if kind == "AveragePool":
        more["count_include_pad"] = g.number(0, 1)
    if (kind == "MaxPool" or g.opset >= 19) and "auto_pad" not in more:
        more["dilations"] = [g.number(1, 2) for _ in more["kernel_shape"]]
    g.node(kind, [x.name], 1 + (kind == "MaxPool" and g.chance(0.2)), **more)


def norm(g: Graph) -> None:
    x = g.pick(lambda v: v.dtype == np.float32 and v.rank >= 3 and v.fixed[1] is not None)
    channels = x.fixed[1] or 1
    rows = [g.constant(g.random.random(channels).astype(np.float32) + 0.5) for _ in range(4)]
    kind = g.choose("BatchNormalization", "InstanceNormalization", "LRN", "GroupNormalization",
                    "MeanVarianceNormalization")  # fmt: skip
    if kind == "BatchNormalization":
        g.node(kind, [x.name, *rows])
    elif kind == "InstanceNormalization":
        g.node(kind, [x.name, *rows[:2]])
    elif kind == "LRN":
        g.node(kind, [x.name], size=g.choose(1, 3, 5), alpha=0.5)
    elif kind == "GroupNormalization" and g.opset >= 21 and channels % 2 == 0:
        g.node(kind, [x.name, *rows[:2]], num_groups=2)
    else:
        g.node("MeanVarianceNormalization", [x.name], axes=[0, *range(2, x.rank)])


def product(g: Graph) -> None:
    kind = g.choose("MatMul", "Gemm", "Self", "Einsum", "FusedMatMul")
    x = g.floats(least=1)
    if kind == "Self":
        order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        if x.rank < 2:
            raise LookupError
        g.node("Transpose", [x.name], perm=order)
        g.node("MatMul", [x.name, g.values[-1].name])
        return
    size = x.fixed[-1]
    if size is None:
        raise LookupError
    shape = (size, g.number(1, 5)) if g.chance(0.8) else (size,)
    weights = g.random.standard_normal(shape).astype(np.float32)
    if kind == "MatMul":
        g.node(kind, [x.name, g.constant(weights)])
    elif kind == "Einsum" and len(shape) == 2:
        equation = g.choose("...k,kn->...n", "...k,kn->n...")
        g.node(kind, [x.name, g.constant(weights)], equation=equation)
    elif kind == "FusedMatMul" and len(shape) == 2:
        g.node(kind, [x.name, g.constant(weights.T)], transB=1, alpha=0.5, domain="com.microsoft")
    elif x.rank == 2 and len(shape) == 2:
        bias = [g.constant(g.random.standard_normal(shape[1:]).astype(np.float32))]
        names = [x.name, g.constant(weights.T), *(bias * g.chance(0.5))]
        g.node("Gemm", names, transB=1, alpha=0.5, beta=2.0)
    else:
        raise LookupError


def sizes(g: Graph) -> None:
    x = g.pick(lambda v: v.rank > 0)
    kind = g.choose("Shape", "Size", "Range", "ConstantOfShape", "NonZero", "EyeLike", "OneHot",
                    "Trilu", "Compress")  # fmt: skip
    if kind == "Shape" and g.opset >= 15:
        g.node(kind, [x.name], start=g.number(-x.rank, x.rank), end=g.number(-x.rank, x.rank))
    elif kind in ("Shape", "Size", "NonZero"):
        g.node(kind, [x.name])
    elif kind == "Range":
        g.node("Size", [x.name])
        zero, one = (g.constant(np.array(n, np.int64)) for n in (0, g.choose(1, 2)))
        g.node(kind, [zero, g.values[-1].name, one])
    elif kind == "ConstantOfShape":
        g.node("Shape", [x.name])
        value = numpy_helper.from_array(np.array([g.choose(0.5, 2.0)], np.float32))
        g.node(kind, [g.values[-1].name], value=value)
    elif kind == "EyeLike":
        g.node(kind, [g.floats(2).name], k=g.number(-1, 1))
    elif kind == "Trilu" and g.opset >= 14:
        y = g.floats(least=2)
        g.node(kind, [y.name], upper=g.number(0, 1))
    elif kind == "OneHot":
        rows = g.pick(lambda v: v.dtype == np.int64)
        depth, values = g.constant(np.array(4, np.int64)), g.constant(np.array([0, 2], np.float32))
        g.node(kind, [rows.name, depth, values], axis=g.number(-1, rows.rank))
    else:
        least = min(a.shape[0] for a in x.arrays)
        chosen = g.constant(g.random.random(least) > 0.4)
        g.node("Compress", [x.name, chosen], axis=0)


def quantised(g: Graph) -> None:
    x = g.floats(least=1)
    kind = g.choose("pair", "channels", "dynamic", "integer", "conv")
    at = g.number(0, x.rank - 1)
    dtype = g.choose(np.int8, np.uint8)
    zero = np.array(g.number(-5, 5) if dtype == np.int8 else g.number(100, 140), dtype)
    scale = np.array(0.05, np.float32)
    more: dict[str, Any] = {}
    if kind == "channels" and g.opset >= 13 and x.fixed[at] is not None:
        n, more = x.fixed[at] or 1, {"axis": at - x.rank * g.chance(0.5)}
        scale = (g.random.random(n) * 0.1 + 0.01).astype(np.float32)
        zero = g.random.integers(1, 9, n).astype(dtype)
    if kind == "dynamic":
        g.node("DynamicQuantizeLinear", [x.name], 3)
        g.node("DequantizeLinear", [v.name for v in g.values[-3:]])
        return
    names = [g.constant(scale), g.constant(zero)]
    g.node("QuantizeLinear", [x.name, *names], **more)
    q = g.values[-1]
    if kind == "integer" and x.fixed[-1] is not None:
        weights = g.random.integers(-9, 9, (x.fixed[-1] or 1, 3)).astype(np.int8)
        offset = [names[1], g.constant(np.array(2, np.int8))]
        g.node("MatMulInteger", [q.name, g.constant(weights), *offset[: g.number(0, 2)]])
    elif kind == "conv" and x.rank == 4 and x.fixed[1] is not None:
        shape = (3, x.fixed[1] or 1, 2, 2)
        weights = g.random.integers(-9, 9, shape).astype(dtype if dtype == np.uint8 else np.int8)
        if dtype == np.uint8:
            weights = g.random.integers(0, 9, shape).astype(np.uint8)
        ws = g.constant((g.random.random(3) * 0.1).astype(np.float32))
        wz = g.constant(np.zeros(3, weights.dtype))
        ys, yz = g.constant(np.array(0.1, np.float32)), names[1]
        bias = [g.constant(g.random.integers(-99, 99, 3).astype(np.int32))] * g.chance(0.5)
        rest = {"pads": [1, 0, 0, 1], "strides": [1, 2]}
        g.node("QLinearConv", [q.name, *names, g.constant(weights), ws, wz, ys, yz, *bias], **rest)
    else:
        g.node("DequantizeLinear", [q.name, *names], **more)


def recurrent(g: Graph) -> None:
    x = g.floats(3)
    size = x.fixed[2]
    if size is None:
        raise LookupError
    kind = g.choose("LSTM", "GRU", "RNN")
    gates, hidden = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], g.number(1, 4)
    way = g.choose("forward", "reverse", "bidirectional")
    n = 2 if way == "bidirectional" else 1
    rows = [g.constant(g.random.standard_normal((n, gates * hidden, k)).astype(np.float32))
            for k in (size, hidden)]  # fmt: skip
    if g.chance(0.5):
        bias = g.random.standard_normal((n, 2 * gates * hidden)).astype(np.float32)
        rows.append(g.constant(bias))
    more: dict[str, Any] = {"linear_before_reset": g.number(0, 1)} if kind == "GRU" else {}
    g.node(kind, [x.name, *rows], 2, hidden_size=hidden, direction=way, **more)


def images(g: Graph) -> None:
    kind = g.choose("DepthToSpace", "SpaceToDepth", "GridSample", "CenterCropPad", "Einsum2")
    x = g.floats(4)
    if kind == "DepthToSpace":
        g.node(kind, [x.name], blocksize=2, mode=g.choose("DCR", "CRD"))
    elif kind == "SpaceToDepth":
        g.node(kind, [x.name], blocksize=g.choose(1, 2))
    elif kind == "GridSample" and g.opset >= 16 and x.fixed[0] is not None:
        grid = g.random.uniform(-1.3, 1.3, (x.fixed[0] or 1, 3, 2, 2)).astype(np.float32)
        mode = g.choose("bilinear", "nearest") if g.opset < 20 else g.choose("linear", "cubic")
        g.node(kind, [x.name, g.constant(grid)], mode=mode, align_corners=g.number(0, 1),
               padding_mode=g.choose("zeros", "border", "reflection"))  # fmt: skip
    elif kind == "CenterCropPad" and g.opset >= 18:
        shape = g.constant(np.array([g.number(1, 7), g.number(1, 7)], np.int64))
        g.node(kind, [x.name, shape], axes=[2, 3])
    else:
        equation = g.choose("nchw,nchw->nc", "nchw,nchw->nhc", "nchw->wn", "nchw,ndhw->ncd")
        g.node("Einsum", [x.name] * (1 + ("," in equation)), equation=equation)


def branch(g: Graph) -> None:
    """A branch by data, each side of it a node."""
    x = g.floats(least=1)
    g.node("ReduceSum", [x.name], keepdims=0)
    zero = g.constant(np.array(0, np.float32))
    g.node("Greater", [g.values[-1].name, zero])
    sides = []
    for kind in (g.choose("Relu", "Neg", "Tanh"), g.choose("Abs", "Exp", "Sigmoid")):
        name = f"{kind}{len(g.nodes)}"
        node = helper.make_node(kind, [x.name], [name])
        result = info(name, np.float32, [None] * x.rank)
        sides.append(helper.make_graph([node], kind, [], [result]))
    test = g.values[-1].name
    names = [f"v{len(g.nodes)}_0"]
    made = helper.make_node("If", [test], names, then_branch=sides[0], else_branch=sides[1])
    session = start_session(g.model([made], names, g.known([test, x.name])))
    arrays = [
        session.run(None, {v.name: v.arrays[i] for v in g.values if v.name in (test, x.name)})[0]
        for i in range(2)
    ]
    g.values.append(Value(names[0], arrays))
    g.nodes.append(made)


KINDS: dict[str, tuple[Callable[[Graph], None], int]] = {
    "unary": (unary, 5), "binary": (binary, 6), "integers": (integers, 2), "logic": (logic, 1),
    "where": (where, 2), "clip": (clip, 1), "cast": (cast, 2), "back": (back, 2),
    "reduce": (reduce, 3), "arg": (arg, 1), "along": (along, 3), "transpose": (transpose, 3),
    "reshape": (reshape, 4), "squeeze": (squeeze, 2), "cut": (cut, 4), "concat": (concat, 3),
    "split": (split, 2), "pad": (pad, 2), "tile": (tile, 1), "expand": (expand, 2),
    "gather": (gather, 2), "elements": (elements, 2), "points": (points, 1), "resize": (resize, 2),
    "convolution": (convolution, 4), "pool": (pool, 4), "norm": (norm, 2), "product": (product, 4),
    "sizes": (sizes, 3), "quantised": (quantised, 3), "recurrent": (recurrent, 1),
    "images": (images, 2), "branch": (branch, 1),
}  # fmt: skip
