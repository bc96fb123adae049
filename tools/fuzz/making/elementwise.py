"""Rules for operations on single elements: functions, arithmetic, comparisons, choices, casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .maker import (
    DIGITS,
    FLOATS,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    Dim,
    Grower,
    UnfitError,
    Value,
    numpy_type,
    onnx_type,
)

Rule = Callable[[Grower, Value], Value]


def needs(condition: bool) -> None:
    """Take the rule back unless something holds."""
    if not condition:
        raise UnfitError


def broadcasting(maker: Grower, x: Value) -> tuple[Dim, ...]:
    """Return a shape that broadcasts with a value's."""
    shape = [dim if maker.chance(0.7) else maker.fixed(1) for dim in x.shape]
    shape = shape[maker.number(0, len(shape)) if maker.chance(0.3) else 0 :]
    if len(shape) == x.rank and x.rank < 4 and maker.chance(0.1):
        shape.insert(0, maker.fixed(2))
    return tuple(shape)


def partner(maker: Grower, x: Value) -> Value:
    """Return an operand of the same type that broadcasts with a value."""
    if maker.chance(0.1):  # any: it may disagree
        return maker.pick(fits=lambda v: v.dtype == x.dtype)
    return maker.operand(x, x.shape if maker.chance(0.4) else broadcasting(maker, x))


STEPS: Mapping[str, Mapping[str, Any]] = {
    "Neg": {}, "Abs": {}, "Relu": {}, "Identity": {}, "LeakyRelu": {"alpha": 0.5},
    "Sign": {}, "Floor": {}, "Ceil": {}, "Round": {}, "ThresholdedRelu": {"alpha": 1.0},
    "Shrink": {"lambd": 1.0, "bias": 0.5}, "HardSigmoid": {"alpha": 0.25, "beta": 0.5},
}  # fmt: skip
"""Functions that give exact results of exact operands."""
JUMPS = ("Sign", "Floor", "Ceil", "Round", "ThresholdedRelu", "Shrink")
ONES = ("Sigmoid", "Tanh", "Erf", "Softsign", "Atan", "Sin", "Cos", "HardSwish", "Softplus", "Elu",
        "Selu", "Celu", "Gelu", "Mish", "Asinh", "Swish")  # fmt: skip
"""Functions whose slope is not much more than one."""


def unary(maker: Grower, x: Value) -> Value:
    """Return an exact function of a value."""
    if not x.is_float:
        names = ["Abs", "Identity", "Sign"] + (["Neg"] if x.dtype in SIGNED else [])
        needs(x.dtype in INTEGERS)
        return maker.node(maker.choose(names), [x], step=1.0)
    name = maker.choose([*STEPS])
    needs(x.is_exact or name not in JUMPS)
    attributes = STEPS[name]
    step = x.step * {"LeakyRelu": 0.5, "HardSigmoid": 0.25}.get(name, 1.0)
    if name in ("Sign", "Floor", "Ceil", "Round", "HardSigmoid", "Shrink"):
        step = min(step, {"HardSigmoid": 0.25, "Shrink": 0.5}.get(name, 1.0))
    return maker.node(name, [x], most=x.most + 1.0, step=step, **attributes)


def smooth(maker: Grower, x: Value) -> Value:
    """Return a function that is computed approximately."""
    needs(x.is_float)
    name = maker.choose([n for n in ONES if n != "Swish"])
    noise = 1.2 * x.noise + 16 * 2.0 ** -DIGITS[x.dtype] * max(1.0, x.most)
    return maker.node(name, [x], most=1.8 * x.most + 1.0, step=0.0, noise=noise)


def bounded(maker: Grower, x: Value) -> Value:
    """Return a function of what is bounded before: exp, log, sqrt, reciprocals."""
    needs(x.is_float)
    eps = 2.0 ** -DIGITS[x.dtype]
    if maker.chance(0.5):
        low, high = (maker.constant(np.array(n, numpy_type(x.dtype))) for n in (-2, 2))
        kept = maker.node("Clip", [x, low, high], most=2.0)
        name = maker.choose(["Exp", "Sinh", "Cosh", "Tan"] if x.dtype != "bfloat16" else ["Exp"])
        if name == "Tan":
            kept = maker.node("Tanh", [kept], most=1.0, step=0.0, noise=kept.noise + 8 * eps)
        return maker.node(name, [kept], most=8.0, step=0.0, noise=8 * kept.noise + 64 * eps)
    one = maker.constant(np.array(1, numpy_type(x.dtype)))
    whole = maker.node("Add", [maker.node("Abs", [x]), one], most=x.most + 1)
    name = maker.choose(["Sqrt", "Log", "Reciprocal", "Acosh"])
    noise = 2 * whole.noise + 16 * eps * whole.most
    needs(name != "Acosh" or whole.is_exact)
    noise = max(noise, 1e-3 if name == "Acosh" else 0.0)
    return maker.node(name, [whole], most=whole.most, step=0.0, noise=noise)


def arithmetic(maker: Grower, x: Value) -> Value:
    """Return a sum, difference, product, or the larger or smaller."""
    needs(x.dtype != "bool")
    y = partner(maker, x)
    a, b = (x, y) if maker.chance(0.5) else (y, x)
    eps = 2.0 ** -DIGITS.get(x.dtype, 60)
    name = maker.choose(["Add", "Sub", "Mul", "Max", "Min"])
    step = min(x.step, y.step)
    if name in ("Max", "Min"):
        needs(x.is_float or x.dtype in ("int8", "int32", "int64", "uint8", "uint32", "uint64"))
        return maker.node(name, [a, b], step=step, noise=max(x.noise, y.noise))
    if name == "Mul":
        noise = x.noise * y.most + y.noise * x.most
        return maker.node(name, [a, b], most=x.most * y.most, step=x.step * y.step, noise=noise)
    most, noise = x.most + y.most, x.noise + y.noise
    return maker.node(name, [a, b], most=most, step=step, noise=noise and noise + 2 * eps * most)


def several(maker: Grower, x: Value) -> Value:
    """Return the sum, mean, or largest of several values."""
    needs(x.is_float)
    every = [x, *(partner(maker, x) for _ in range(maker.number(0, 3)))]
    name = maker.choose(["Sum", "Mean", "Max", "Min"])
    most, noise = sum(v.most for v in every), sum(v.noise for v in every)
    step = min(v.step for v in every)
    if name == "Mean":
        step = step / len(every) if len(every) in (1, 2, 4) else 0.0
    return maker.node(name, every, most=most, step=step, noise=noise)


def divided(maker: Grower, x: Value) -> Value:
    """Return a quotient, a remainder, or a power."""
    needs(x.dtype != "bool")
    shape = [dim[0] if len(set(dim)) == 1 and maker.chance(0.5) else 1 for dim in x.shape]
    count = int(np.prod(shape))
    choices = (1, 2, 4) if x.is_float or x.dtype in UNSIGNED else (1, 2, 3, -1, -3)
    numbers = np.array([maker.choose(choices) for _ in range(count)]).reshape(shape)
    y = maker.constant(numbers.astype(numpy_type(x.dtype)))
    name = maker.choose(["Div", "Mod", "Pow"])
    if name == "Pow":
        needs(x.dtype in ("float32", "float64", "int32", "int64"))
        two = maker.constant(np.array(2, numpy_type(maker.choose([x.dtype, "float32", "int64"]))))
        eps = 2.0 ** -DIGITS.get(x.dtype, 60)
        noise = 3 * x.noise * x.most + (4 * eps * x.most * x.most if x.is_float else 0)
        step = 0.0 if x.is_float else 1.0
        return maker.node(name, [x, two], most=x.most * x.most, step=step, noise=noise)
    if name == "Mod":
        needs(x.is_exact)
        return maker.node(name, [x, y], step=x.step, fmod=int(x.is_float or maker.chance(0.3)))
    step = x.step / 4 if x.is_float else 1.0
    return maker.node(name, [x, y], step=step)


def bits(maker: Grower, x: Value) -> Value:
    """Return what operations on bits make of integers."""
    needs(x.dtype in INTEGERS)
    if maker.chance(0.2):
        return maker.node("BitwiseNot", [x], most=1e18)
    if x.dtype in UNSIGNED and maker.chance(0.5):
        by = maker.constant(np.array(maker.number(0, 3), numpy_type(x.dtype)))
        way = maker.choose(["LEFT", "RIGHT"])
        return maker.node("BitShift", [x, by], most=x.most * 8, direction=way)
    name = maker.choose(["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
    return maker.node(name, [x, partner(maker, x)], most=1e18)


def compared(maker: Grower, x: Value) -> Value:
    """Return truths: comparisons, and what connects them."""
    if x.dtype == "bool":
        if maker.chance(0.3):
            return maker.node("Not", [x])
        return maker.node(maker.choose(["And", "Or", "Xor", "Equal"]), [x, partner(maker, x)])
    y = partner(maker, x)
    needs(x.is_exact and y.is_exact)
    name = maker.choose(["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
    return maker.node(name, [x, y], "bool", most=1.0, step=1.0)


def chosen(maker: Grower, x: Value) -> Value:
    """Return elements of one value or another."""
    y = partner(maker, x)
    truths = [v for v in maker.visible() if v.dtype == "bool"]
    if truths and maker.chance(0.5):
        test = maker.choose(truths)
    else:
        test = maker.operand(Value("", "bool", ()), broadcasting(maker, x))
    step = min(x.step, y.step)
    noise = max(x.noise, y.noise)
    return maker.node("Where", [test, x, y], x.dtype, most=max(x.most, y.most), step=step,
                      noise=noise)  # fmt: skip


def clipped(maker: Grower, x: Value) -> Value:
    """Return a value within limits, either of which may be left out."""
    needs(x.dtype != "bool")
    dtype = numpy_type(x.dtype)
    low = maker.constant(np.array(maker.number(0, 2), dtype)) if maker.chance(0.7) else None
    high = maker.constant(np.array(maker.number(2, 5), dtype)) if maker.chance(0.7) else None
    return maker.node("Clip", [x, low, high][: 3 if high else 2], most=x.most + 5,
                      step=min(x.step, 1.0))  # fmt: skip


def sloped(maker: Grower, x: Value) -> Value:
    """Return a value of which the negative is multiplied."""
    needs(x.is_float)
    y = maker.operand(x, broadcasting(maker, x)[-x.rank :] if x.rank else ())
    noise = x.noise * y.most + y.noise * x.most + x.noise
    most = x.most * max(y.most, 1.0)
    return maker.node("PRelu", [x, y], most=most, step=x.step * min(y.step, 1.0), noise=noise)


def cast(maker: Grower, x: Value) -> Value:
    """Return a value in another type, where its elements have a place there."""
    wanted = maker.choose([*FLOATS, *INTEGERS, "bool"])
    needs(wanted != x.dtype)
    number = onnx_type(wanted)
    if wanted == "bool":
        needs(x.is_exact)
        return maker.node("Cast", [x], wanted, most=1.0, step=1.0, to=number)
    if wanted in DIGITS:
        return maker.node("Cast", [x], wanted, to=number)
    needs(x.is_exact and x.most <= np.iinfo(wanted).max)
    if wanted in UNSIGNED and x.dtype not in UNSIGNED and x.dtype != "bool":
        x = maker.node("Abs", [x])
    return maker.node("Cast", [x], wanted, step=1.0, to=number)


def asked(maker: Grower, x: Value) -> Value:
    """Return whether elements are no numbers, or infinite."""
    needs(x.dtype in ("float32", "float64", "float16"))
    return maker.node(maker.choose(["IsNaN", "IsInf"]), [x], "bool", most=1.0, step=1.0, noise=0.0)


RULES: tuple[Rule, ...] = (
    unary, unary, smooth, bounded, arithmetic, arithmetic, arithmetic, several, divided, bits,
    compared, chosen, clipped, sloped, cast, cast, asked,
)  # fmt: skip
