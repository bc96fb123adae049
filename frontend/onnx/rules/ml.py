"""Rules of `ai.onnx.ml`: what prepares features, linear models, and trees."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from ..within import require_within
from .text import as_texts

ML = "ai.onnx.ml"
BEND = 0.147
"""The constant of the inverse of the error function."""


@rule("ArrayFeatureExtractor", domain=ML)
def extract(node: Node, x: Value, places: Value) -> Value:
    """Take elements of the last axis."""
    flat = node.make.reshape(places, shape=(node.spec(places).size,))
    if node.rank(x) == 1:
        x = c.unsqueeze(node.emit, x, (0,))
    require_within(node, flat, 0, node.shape(x)[-1], "index")
    return node.make.gather(x, flat, axis=node.rank(x) - 1)


@rule("Binarizer", domain=ML)
def binarize(node: Node, x: Value) -> Value:
    """Return 1 where elements are above the threshold, else 0."""
    dtype = node.dtype(x)
    above = node.make.greater(x, node.make.number(node.number("threshold", 0.0), dtype))
    return node.make.to(above, dtype)


@rule("Scaler", domain=ML)
def scale(node: Node, x: Value) -> Value:
    """Subtract an offset and multiply by a factor, each one number or one a feature."""
    make = node.make
    offset, factor = (node.floats(name) or () for name in ("offset", "scale"))
    made = make.to(x, d.f32)
    if offset:
        made = make.sub(made, node.constant(offset, d.f32))
    return make.mul(made, node.constant(factor, d.f32)) if factor else made


@rule("Normalizer", domain=ML)
def normalize(node: Node, x: Value) -> Value:
    """Divide each row by its largest element, the sum of magnitudes, or the root of squares."""
    make, norm = node.make, node.text("norm", "MAX")
    x = make.to(x, d.f32)
    axes = (node.rank(x) - 1,)
    match norm:
        case "MAX":
            size = make.max(x, axes=axes, keepdims=True)
        case "L1":
            size = make.sum(make.abs(x), axes=axes, keepdims=True)
        case "L2":
            size = make.sqrt(make.sum(make.mul(x, x), axes=axes, keepdims=True))
        case _:
            node.fail(f"norm {norm!r}, expected MAX, L1 or L2")
    zero, one = make.number(0, d.f32), make.number(1, d.f32)
    return make.div(x, make.select(make.equal(size, zero), one, size))


@rule("Imputer", domain=ML)
def impute(node: Node, x: Value) -> Value:
    """Replace missing values by one number, or one a feature."""
    make, dtype = node.make, node.dtype(x)
    if dtype.is_float:
        wanted: Sequence[float] = node.floats("imputed_value_floats") or (0.0,)
        missing = node.number("replaced_value_float", 0.0)
        node.integer("replaced_value_int64", 0)
    else:
        wanted = node.integers("imputed_value_int64s") or (0,)
        missing = node.integer("replaced_value_int64", 0)
        node.number("replaced_value_float", 0.0)
    hole = make.isnan(x) if np.isnan(missing) else make.equal(x, make.number(missing, dtype))
    value = node.constant(wanted if len(wanted) > 1 else wanted[0], dtype)
    return make.select(hole, value, x)


@rule("FeatureVectorizer", domain=ML)
def vectorize(node: Node, *xs: Value) -> Value:
    """Join features along the last axis."""
    sizes = node.integers("inputdimensions") or ()
    parts = []
    for index, x in enumerate(xs):
        row = c.unsqueeze(node.emit, x, (0,)) if node.rank(x) == 1 else x
        if index < len(sizes):
            row = c.cut(node.emit, row, 1, 0, sizes[index])
        parts.append(node.make.to(row, d.f32))
    return node.make.concat(*parts, axis=1)


@rule("OneHotEncoder", domain=ML)
def one_hot(node: Node, x: Value) -> Value:
    """Return 1 at the category that an element is."""
    node.integer("zeros", 1)
    categories = node.integers("cats_int64s")
    if categories is None:
        keys = as_texts(node.texts("cats_strings") or ())
        x = node.make.lookup(x, keys=keys, values=np.arange(len(keys)), default=np.array(-1))
        categories = tuple(range(len(keys)))
    column = c.unsqueeze(node.emit, node.make.to(x, d.i64), (node.rank(x),))
    return node.make.to(node.make.equal(column, node.constant(categories, d.i64)), d.f32)


@rule("LinearRegressor", domain=ML)
def linear(node: Node, x: Value) -> Value:
    """Multiply by coefficients, add intercepts."""
    targets = node.integer("targets", 1)
    factors = np.reshape(node.floats("coefficients") or (), (targets, -1))
    if node.rank(x) == 1:
        x = c.unsqueeze(node.emit, x, (0,))
    made = node.make.matmul(node.make.to(x, d.f32), node.constant(factors.T, d.f32))
    if offsets := node.floats("intercepts"):
        made = node.make.add(made, node.constant(offsets, d.f32))
    return transformed(node, made, node.text("post_transform", "NONE"))


def transformed(node: Node, x: Value, how: str) -> Value:
    """Apply what comes behind the scores."""
    make = node.make
    match how:
        case "NONE":
            return x
        case "LOGISTIC":
            return make.sigmoid(x)
        case "SOFTMAX":
            return make.softmax(x, axis=node.rank(x) - 1)
        case "SOFTMAX_ZERO":
            zero, none, near = (make.number(n, node.dtype(x)) for n in (0, -math.inf, 1e-7))
            is_zero = make.less_equal(make.abs(x), near)
            made = make.softmax(make.select(is_zero, none, x), axis=node.rank(x) - 1)
            return make.select(is_zero, zero, made)
        case "PROBIT":
            return _probit(node, x)
        case _:
            return node.fail(
                f"post_transform {how!r}, expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT"
            )


def _probit(node: Node, x: Value) -> Value:
    """Return the numbers below which a normal one is with these probabilities.

    By the error function's inverse of few terms (Winitzki, 2008) that everyone who runs these
    models has: scores are compared with those of others, and it is off by two thousandths.
    """
    make = node.make

    def number(value: float) -> Value:
        return make.number(value, node.dtype(x))

    y = make.sub(make.mul(x, number(2)), number(1))
    log = make.log(make.mul(make.sub(number(1), y), make.add(number(1), y)))
    half = make.add(make.mul(log, number(0.5)), number(2 / (3.14159 * BEND)))
    rest = make.mul(log, number(-1 / BEND))
    root = make.sqrt(make.add(make.mul(half, half), rest))
    # root - half, whose first digits are the same about 0.5
    far = make.sqrt(make.mul(make.div(rest, make.add(root, half)), number(2)))
    return make.select(make.less(y, number(0)), make.neg(far), far)


def of_two(node: Node, score: Value, post: str, *, to_one: bool) -> Value:
    """Return the scores of two classes where only the second's is known.

    They add up to one or to zero, and a softmax leaves them alone, as onnxruntime does: models that
    ask for one of a single score were trained for what it says.
    """
    make = node.make
    match post:
        case "NONE" | "SOFTMAX" | "SOFTMAX_ZERO":
            other = make.sub(make.number(1, d.f32), score) if to_one else make.neg(score)
            return make.concat(other, score, axis=1)
        case "LOGISTIC":
            return make.sigmoid(make.concat(make.neg(score), score, axis=1))
        case _:
            return node.refuse(f"post_transform {post} of one score of two classes")
