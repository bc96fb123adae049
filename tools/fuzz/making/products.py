"""Rules for products: of matrices, of windows, and networks that step through a sequence."""

from __future__ import annotations

import math
from typing import Any

from .elementwise import Rule, needs
from .maker import DIGITS, Grower, Value


def product(x: Value, y: Value, depth: int) -> dict[str, Any]:
    """Return what is known of a sum of so many products."""
    most = x.most * y.most * max(depth, 1)
    noise = max(depth, 1) * (x.noise * y.most + y.noise * x.most)
    if noise:
        noise += depth * 2.0 ** -DIGITS.get(x.dtype, 60) * most
    return {"most": most, "step": x.step * y.step, "noise": noise, "single": False}


def needs_floats(x: Value) -> None:
    """Take the rule back for types that products do not have."""
    needs(x.dtype in ("float32", "float64", "float16", "int32", "int64"))


def multiplied(maker: Grower, x: Value) -> Value:
    """Return a product of matrices, on either side, with a constant or another value."""
    needs_floats(x)
    needs(x.rank > 0)
    inner = x.shape[-1] if maker.chance(0.6) or x.rank < 2 else x.shape[-2]
    wide = maker.choose([maker.fixed(n) for n in (1, 2, 3, 8, 17)] + [*x.shape])
    batch = [d for d in x.shape[:-2] if maker.chance(0.7)] if maker.chance(0.4) else []
    batch = batch if batch == list(x.shape[:-2]) else []
    if inner is x.shape[-1]:
        shape = [*batch, inner, wide] if maker.chance(0.9) else [inner]
        y = maker.operand(x, shape)
        return maker.node("MatMul", [x, y], **product(x, y, max(inner)))
    y = maker.operand(x, [*batch, wide, inner])
    return maker.node("MatMul", [y, x], **product(x, y, max(inner)))


def transposed_pair(maker: Grower, x: Value) -> Value:
    """Return a value times its own transpose."""
    needs_floats(x)
    needs(x.rank > 1)
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    y = maker.node("Transpose", [x], perm=order)
    a, b = (x, y) if maker.chance(0.5) else (y, x)
    return maker.node("MatMul", [a, b], **product(x, y, max(a.shape[-1])))


def gemm(maker: Grower, x: Value) -> Value:
    """Return a product and a sum, by factors."""
    needs(x.rank == 2 and x.dtype in ("float32", "float64", "float16"))
    flip, other = maker.number(0, 1), maker.number(0, 1)
    rows, inner = x.shape[::-1] if flip else x.shape
    wide = maker.fixed(maker.choose([1, 3, 8]))
    y = maker.operand(x, [wide, inner] if other else [inner, wide])
    c = maker.operand(x, maker.choose([[wide], [rows, wide], [rows, maker.fixed(1)], []]))
    alpha, beta = maker.choose([1.0, 0.5, 2.0, 0.0]), maker.choose([1.0, 0.5, 0.0])
    known = product(x, y, max(inner))
    known["most"] = 2 * known["most"] + c.most
    known["noise"] = 2 * known["noise"] + c.noise
    known["step"] = min(known["step"] * min(alpha or 1, 1), c.step * (beta or 1))
    return maker.node("Gemm", [x, y, c], alpha=alpha, beta=beta, transA=flip, transB=other,
                      **known)  # fmt: skip


def summed_up(maker: Grower, x: Value) -> Value:
    """Return a sum of products that is written with letters."""
    needs(x.dtype in ("float32", "float64", "int32", "int64") and 0 < x.rank < 4)
    letters = "abcd"[: x.rank]
    other = [letter for letter in letters if maker.chance(0.6)]
    maker.random.shuffle(other)
    new = "e" if maker.chance(0.5) else ""
    sizes = dict(zip(letters, x.shape, strict=True)) | {"e": maker.fixed(2)}
    word = "".join(other) + new
    y = maker.operand(x, [sizes[letter] for letter in word])
    left = [letter for letter in letters + new if maker.chance(0.6)]
    maker.random.shuffle(left)
    gone = [sizes[letter] for letter in set(letters + new) - set(left)]
    depth = max(math.prod(dim[w] for dim in gone) for w in range(maker.worlds))
    equation = f"{letters},{word}->{''.join(left)}"
    return maker.node("Einsum", [x, y], equation=equation, **product(x, y, depth))


def _window(maker: Grower, x: Value) -> tuple[list[int], dict[str, Any]]:
    """Return the sizes of a window, and how it moves."""
    n = x.rank - 2
    sizes = [maker.choose([1, 2, 3, 3]) for _ in range(n)]
    moves: dict[str, Any] = {}
    if maker.chance(0.5):
        moves["strides"] = [maker.choose([1, 2]) for _ in range(n)]
    kind = maker.choose(["", "pads", "same"])
    if kind == "pads":
        moves["pads"] = [maker.number(0, min(1, s - 1)) for s in sizes * 2]
    if kind == "same":
        moves["auto_pad"] = maker.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif maker.chance(0.3):
        moves["dilations"] = [maker.choose([1, 2]) for _ in range(n)]
    _needs_room(x, sizes, moves)
    return sizes, moves


def _needs_room(x: Value, sizes: list[int], moves: dict[str, Any]) -> None:
    """Take the rule back where a window is larger than the picture and what is around it."""
    n = len(sizes)
    pads, gaps = moves.get("pads", [0] * 2 * n), moves.get("dilations", [1] * n)
    for axis, size in enumerate(sizes):
        room = min(x.shape[axis + 2]) + pads[axis] + pads[axis + n]
        needs(str(moves.get("auto_pad")).startswith("SAME") or room > (size - 1) * gaps[axis])


def needs_picture(x: Value) -> None:
    """Take the rule back for what is no batch of pictures with something in them."""
    needs(x.rank in (3, 4) and x.dtype in ("float32", "float64", "float16"))
    needs(all(min(dim) > 0 for dim in x.shape[1:]))


def convolved(maker: Grower, x: Value) -> Value:
    """Return a convolution, perhaps in groups, perhaps turned round."""
    needs_picture(x)
    channels = x.shape[1][0]
    needs(len(set(x.shape[1])) == 1)
    sizes, moves = _window(maker, x)
    groups = maker.choose([g for g in (1, 1, 2, channels) if channels % g == 0])
    outs = maker.choose([1, 2, 4])
    depth = channels * math.prod(sizes)
    if maker.chance(0.25):
        w = maker.drawn(x.dtype, [channels, outs, *sizes])
        needs("auto_pad" not in moves)
        return maker.node("ConvTranspose", [x, w], group=groups, **moves, **product(x, w, depth))
    w = maker.drawn(x.dtype, [outs * groups, channels // groups, *sizes])
    b = maker.drawn(x.dtype, [outs * groups]) if maker.chance(0.5) else None
    known = product(x, w, depth)
    if b is not None:
        known |= {"most": known["most"] + b.most, "step": min(known["step"], b.step)}
    operands = [x, w, b] if b else [x, w]
    return maker.node("Conv", operands, group=groups, kernel_shape=sizes, **moves, **known)


def pooled(maker: Grower, x: Value) -> Value:
    """Return the largest element or the mean of each window."""
    needs_picture(x)
    sizes, moves = _window(maker, x)
    ceil = maker.number(0, 1)
    if maker.chance(0.5):
        return maker.node("MaxPool", [x], kernel_shape=sizes, ceil_mode=ceil, **moves)
    noise = x.noise + 8 * 2.0 ** -DIGITS[x.dtype] * x.most
    return maker.node(
        "AveragePool", [x], kernel_shape=sizes, ceil_mode=ceil, noise=noise, step=0.0,
        count_include_pad=maker.number(0, 1), single=False, **moves,
    )  # fmt: skip


def whole_pooled(maker: Grower, x: Value) -> Value:
    """Return the largest element or the mean of each channel."""
    needs_picture(x)
    if maker.chance(0.5):
        return maker.node("GlobalMaxPool", [x])
    noise = x.noise + 64 * 2.0 ** -DIGITS[x.dtype] * x.most
    return maker.node("GlobalAveragePool", [x], noise=noise, step=0.0, single=False)


def stepped(maker: Grower, x: Value) -> Value:
    """Return what a recurrent network makes of a sequence."""
    needs(x.rank == 3 and x.dtype == "float32" and min(x.shape[0]) > 0)
    needs(len(set(x.shape[2])) == 1 and x.shape[2][0] > 0)
    kind, gates = maker.choose([("RNN", 1), ("GRU", 3), ("LSTM", 4)])
    way, both = maker.choose([("forward", 1), ("reverse", 1), ("bidirectional", 2)])
    hidden, width = maker.choose([1, 3, 4]), x.shape[2][0]
    w = maker.drawn("float32", [both, gates * hidden, width], -1, 1)
    r = maker.drawn("float32", [both, gates * hidden, hidden], -1, 1)
    b = maker.drawn("float32", [both, 2 * gates * hidden], -2, 2) if maker.chance(0.5) else None
    more: dict[str, Any] = {"linear_before_reset": maker.number(0, 1)} if kind == "GRU" else {}
    return maker.node(
        kind, [x, w, r, b] if b else [x, w, r], most=1.0, step=0.0, single=False,
        noise=1e-4 + 20 * width * x.noise, hidden_size=hidden, direction=way, **more,
    )  # fmt: skip


RULES: tuple[Rule, ...] = (
    multiplied, multiplied, multiplied, transposed_pair, gemm, gemm, summed_up, convolved,
    convolved, pooled, whole_pooled, stepped,
)  # fmt: skip
