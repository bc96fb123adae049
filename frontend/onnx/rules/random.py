"""Rules of random numbers, which `ir/ops/random.py` makes from a key and a count.

The key is made of the attribute `seed`, or, where there is none, of the node's name and that of
its output: the standard does not say which numbers are drawn. A model therefore gives the same
numbers in each run; in a loop each trip draws others. Who wants new ones in each run passes them
as an input.
"""

from __future__ import annotations

import numpy as np

from ....ir import Dim, DType
from ....ir.ops.random import key_of, normal, uniform
from ....ir.types import dtypes as d
from ..file.data import dtype_of
from ..node import Node, Value
from ..registry import rule

DRAWS = {
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
}  # fmt: skip
"""The operators whose results the standard does not determine."""


def key(node: Node) -> Value:
    """Return the key of a node's numbers, in each trip of the loops around it another."""
    make, seeded = node.make, node.has("seed")
    parts = (node.number("seed"),) if seeded else (node.label, *node.proto.output)
    made = node.constant(key_of("onnx", *parts))
    for trip in node.trips:
        count = make.reshape(make.cast(trip, dtype=d.u32), shape=(1,))
        zeros = [node.constant(np.zeros(n, np.uint32)) for n in (2, 3)]
        told = make.add(made, make.concat(zeros[0], count, zeros[1], axis=0))
        a, b, *more = make.random_bits(told, shape=(1,))
        made = make.concat(a, b, zeros[0], *more, axis=0)
    return made


def kind_given(node: Node, default: DType) -> DType:
    """Return the element type asked for; 0 means the default."""
    number = node.integer("dtype", 0)
    return dtype_of(number, "attribute dtype") if number else default


def dtype_given(node: Node, default: DType) -> DType:
    """Return the element type asked for, a float."""
    dtype = kind_given(node, default)
    if not dtype.is_float:
        node.fail(f"dtype is {dtype}, expected a float")
    return dtype


def shape_given(node: Node) -> tuple[Dim, ...]:
    """Return the attribute `shape`."""
    shape = node.integers("shape")
    if shape is None or min(shape, default=0) < 0:
        node.fail(f"shape is {shape}, expected sizes")
    return shape


def like(node: Node, x: Value) -> tuple[tuple[Dim, ...], DType]:
    """Return the shape of an operand, and the element type of numbers like it."""
    return node.shape(x), dtype_given(node, node.dtype(x))


def normals(node: Node, shape: tuple[Dim, ...], dtype: DType) -> Value:
    """Return numbers of the normal distribution."""
    wide = d.f64 if dtype == d.f64 else d.f32
    mean, scale = node.number("mean", 0.0), node.number("scale", 1.0)
    made = normal(node.emit, key(node), shape, wide)
    made = node.make.mul(made, node.make.number(scale, wide))
    return node.make.to(node.make.add(made, node.make.number(mean, wide)), dtype)


def uniforms(node: Node, shape: tuple[Dim, ...], dtype: DType) -> Value:
    """Return numbers between two bounds, all as likely."""
    wide = d.f64 if dtype == d.f64 else d.f32
    low, high = node.number("low", 0.0), node.number("high", 1.0)
    made = uniform(node.emit, key(node), shape, wide)
    made = node.make.mul(made, node.make.number(high - low, wide))
    return node.make.to(node.make.add(made, node.make.number(low, wide)), dtype)


@rule("RandomNormal")
def random_normal(node: Node) -> Value:
    """Draw from the normal distribution."""
    return normals(node, shape_given(node), dtype_given(node, d.f32))


@rule("RandomNormalLike")
def random_normal_like(node: Node, x: Value) -> Value:
    """Draw from the normal distribution as many numbers as another tensor has."""
    return normals(node, *like(node, x))


@rule("RandomUniform")
def random_uniform(node: Node) -> Value:
    """Draw evenly between two bounds."""
    return uniforms(node, shape_given(node), dtype_given(node, d.f32))


@rule("RandomUniformLike")
def random_uniform_like(node: Node, x: Value) -> Value:
    """Draw evenly between two bounds as many numbers as another tensor has."""
    return uniforms(node, *like(node, x))


@rule("Bernoulli")
def bernoulli(node: Node, chance: Value) -> Value:
    """Draw 1 with the given chance, else 0."""
    given = node.dtype(chance)
    wide = d.f64 if given == d.f64 else d.f32
    drawn = uniform(node.emit, key(node), node.shape(chance), wide)
    hit = node.make.less(drawn, node.make.to(chance, wide))
    return node.make.cast(hit, dtype=kind_given(node, given))


@rule("Multinomial")
def multinomial(node: Node, weights: Value) -> Value:
    """Draw classes of each row of logarithms of their weights, by the places in running sums."""
    make, count = node.make, node.integer("sample_size", 1)
    if node.rank(weights) != 2:
        node.fail(f"the operand is {node.spec(weights)}, expected a matrix")
    (rows, classes), wide = node.shape(weights), d.f64 if node.dtype(weights) == d.f64 else d.f32
    chances = make.softmax(make.to(weights, wide), axis=1)
    sums = make.reshape(make.cumsum(chances, axis=1), shape=(rows, 1, classes))
    drawn = uniform(node.emit, key(node), (rows, count), wide)
    drawn = make.reshape(drawn, shape=(rows, count, 1))
    below = make.cast(make.less_equal(sums, drawn), dtype=d.i32)
    place = make.sum(below, axes=(2,), keepdims=False)
    # Sums of rounded chances may end below 1.
    place = make.minimum(place, make.extent_of(classes - 1, d.i32))
    return make.to(place, kind_given(node, d.i32))
