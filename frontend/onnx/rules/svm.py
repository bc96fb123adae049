"""Rules of support vector machines, and of the maps that scikit-learn's exporter puts behind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ....ir import Array, Dim
from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from .control import Running
from .ml import ML, of_two, transformed
from .text import label_at, labels_of

SURE = 1e-7
"""What a probability of one class against another is away from 0 and 1 at least."""


@rule("ZipMap", domain=ML)
def zip_map(node: Node, x: Value) -> Value:
    """Return the columns as they are: a row is what its map holds, in the order of the classes."""
    node.integers("classlabels_int64s")
    node.texts("classlabels_strings")
    return x


@rule("SVMRegressor", domain=ML)
def regress(node: Node, x: Value) -> Value:
    """Add up what rows have in common with each support vector, weighted."""
    make, count = node.make, node.integer("n_supports", 0)
    factors = np.array(node.floats("coefficients") or (), np.float32)
    given = _stored(node, "support_vectors")
    if node.integer("n_targets", 1) != 1:
        node.refuse("several targets are not supported")
    vectors = given.reshape(count, -1) if count else None
    common = _common(node, make.to(x, d.f32), vectors)
    made = make.matmul(common, node.constant(factors.reshape(-1, 1), d.f32))
    made = make.add(made, node.constant(node.floats("rho") or (0.0,), d.f32))
    if node.integer("one_class", 0):
        above = make.greater(made, make.number(0, d.f32))
        made = make.select(above, make.number(1, d.f32), make.number(-1, d.f32))
    return transformed(node, made, node.text("post_transform", "NONE"))


@rule("SVMClassifier", domain=ML)
def classify(node: Node, x: Value) -> Sequence[Value]:
    """Return the class that wins most often against another, and scores or probabilities."""
    make = node.make
    labels = labels_of(node, "classlabels_ints")
    counts = node.integers("vectors_per_class") or ()
    if not counts or len(counts) != len(labels):
        node.refuse(f"{len(counts)} counts of support vectors for {len(labels)} classes")
    factors = _stored(node, "coefficients").reshape(-1, sum(counts))
    vectors = _stored(node, "support_vectors").reshape(sum(counts), -1)
    pairs = [*combinations(range(len(labels)), 2)]
    common = _common(node, make.to(x, d.f32), vectors)
    duels = make.matmul(common, node.constant(_weights_of_duels(factors, counts, pairs), d.f32))
    duels = make.add(duels, node.constant(node.floats("rho") or (), d.f32))
    place = _most_wins(node, duels, pairs, len(labels))
    slope, offset = node.floats("prob_a"), node.floats("prob_b")
    post = node.text("post_transform", "NONE")
    if slope:
        odds = make.add(
            make.mul(duels, node.constant(slope, d.f32)), node.constant(offset or (), d.f32)
        )
        scores = transformed(node, _probabilities(node, odds, pairs, len(labels)), post)
    elif len(labels) == 2:
        scores = of_two(node, duels, post, to_one=post.startswith("SOFTMAX"))
    else:
        scores = transformed(node, duels, post)
    return [label_at(node, place, labels), scores]


def _stored(node: Node, name: str) -> Array:
    return np.array(node.floats(name) or (), np.float32)


def _common(node: Node, x: Value, vectors: Array | None) -> Value:
    """Return what each row has in common with each vector, by the kernel that is asked for."""
    make, kind = node.make, node.text("kernel_type", "LINEAR")
    gamma, offset, degree = (*(node.floats("kernel_params") or (0.0, 0.0, 0.0)), 0.0, 0.0)[:3]
    if vectors is None:
        return x
    if kind == "RBF":
        apart = make.sub(c.unsqueeze(node.emit, x, (1,)), node.constant(vectors[None], d.f32))
        far = make.sum(make.mul(apart, apart), axes=(2,), keepdims=False)
        return make.exp(make.mul(far, make.number(-gamma, d.f32)))
    made = make.matmul(x, node.constant(vectors.T.copy(), d.f32))
    if kind == "LINEAR":
        return made
    made = make.add(make.mul(made, make.number(gamma, d.f32)), make.number(offset, d.f32))
    match kind:
        case "SIGMOID":
            return make.tanh(made)
        case "POLY":
            return make.pow(made, make.number(float(int(degree)), d.f32))
        case _:
            return node.fail(f"kernel_type {kind!r}, expected LINEAR, POLY, RBF or SIGMOID")


def _weights_of_duels(factors: Array, counts: Sequence[int], pairs: list[tuple[int, int]]) -> Array:
    """Return the weight of each support vector in each duel of two classes."""
    ends = np.cumsum([0, *counts])
    weights = np.zeros((factors.shape[1], len(pairs)), np.float32)
    for column, (i, j) in enumerate(pairs):
        one, two = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        weights[one, column] = factors[j - 1, one]
        weights[two, column] = factors[i, two]
    return weights


def _most_wins(node: Node, duels: Value, pairs: list[tuple[int, int]], classes: int) -> Value:
    """Return the class that wins most duels, the first of several."""
    make = node.make
    first, second = (np.zeros((len(pairs), classes), np.float32) for _ in range(2))
    for row, (i, j) in enumerate(pairs):
        first[row, i] = second[row, j] = 1
    won = make.to(make.greater(duels, make.number(0, d.f32)), d.f32)
    lost = make.sub(make.number(1, d.f32), won)
    votes = make.add(
        make.matmul(won, node.constant(first, d.f32)),
        make.matmul(lost, node.constant(second, d.f32)),
    )
    return make.argmax(votes, axis=1, keepdims=False)


def _probabilities(node: Node, odds: Value, pairs: list[tuple[int, int]], classes: int) -> Value:
    """Return the probability of each class, from the odds of each duel.

    Those that fit all duels best are found step by step, as in libsvm (Wu, Lin and Weng, 2004).
    """
    make = node.make
    sure = make.number(SURE, d.f32), make.number(1 - SURE, d.f32)
    chance = make.sub(make.number(1, d.f32), make.sigmoid(odds))
    chance = make.minimum(make.maximum(chance, sure[0]), sure[1])
    spread = np.zeros((len(pairs), classes, classes), np.float32)
    start = np.zeros((classes, classes), np.float32)
    for row, (i, j) in enumerate(pairs):
        spread[row, i, j], spread[row, j, i], start[j, i] = 1, -1, 1
    rows, square = node.shape(odds)[0], (node.shape(odds)[0], classes, classes)
    flat = make.matmul(chance, node.constant(spread.reshape(len(pairs), -1), d.f32))
    wins = make.add(make.reshape(flat, shape=square), node.constant(start, d.f32))
    losses = make.transpose(wins, order=(0, 2, 1))
    own = make.sum(make.mul(losses, losses), axes=(2,), keepdims=True)
    eye = node.constant(np.eye(classes, dtype=np.float32), d.f32)
    q = make.sub(make.mul(own, eye), make.mul(wins, losses))
    return _fitted(node, q, rows, classes)


def _fitted(node: Node, q: Value, rows: Dim, classes: int) -> Value:
    """Return the shares p that make p' q p smallest: each row goes on until it is near enough."""
    make = node.make
    even = make.filled(1 / classes, d.f32, (rows, classes))
    running = make.filled(value=True, dtype=d.bool_, shape=(rows, 1))
    loop = Running(node, [make.number(0, d.i64), running, even])
    trip, on, shares = loop.body.args
    with node.inside(loop.body):
        slopes = make.reshape(
            make.matmul(q, make.reshape(shares, shape=(rows, classes, 1))), shape=(rows, classes)
        )
        total = make.sum(make.mul(shares, slopes), axes=(1,), keepdims=True)
        error = make.max(make.abs(make.sub(slopes, total)), axes=(1,), keepdims=True)
        far = make.logical_not(make.less(error, make.number(0.005 / classes, d.f32)))
        still = make.logical_and(on, far)
        moved = _swept(node, q, (shares, slopes, total), classes)
        loop.results = [
            make.add(trip, make.number(1, d.i64)), still, make.select(still, moved, shares)
        ]  # fmt: skip

    def more(trip: Value, on: Value, *_: Value) -> Value:
        some = make.any(on, axes=(0, 1), keepdims=False)
        return make.logical_and(make.less(trip, make.number(max(100, classes), d.i64)), some)

    return loop.run(more)[2]


def _swept(node: Node, q: Value, now: tuple[Value, Value, Value], classes: int) -> Value:
    """Return the shares after each class has once been given what fits it best."""
    make = node.make
    shares, slopes, total = now
    one, two = make.number(1, d.f32), make.number(2, d.f32)
    for t in range(classes):
        column = c.cut(node.emit, q, 1, t, t + 1)
        line = make.reshape(column, shape=node.shape(shares))
        diagonal, slope = (c.cut(node.emit, v, 1, t, t + 1) for v in (line, slopes))
        more = make.div(make.sub(total, slope), diagonal)
        unit = np.zeros((1, classes), np.float32)
        unit[0, t] = 1
        shares = make.add(shares, make.mul(more, node.constant(unit, d.f32)))
        whole = make.add(one, more)
        step = make.add(make.mul(more, diagonal), make.mul(two, slope))
        total = make.div(make.add(total, make.mul(more, step)), make.mul(whole, whole))
        shares = make.div(shares, whole)
        slopes = make.div(make.add(slopes, make.mul(more, line)), whole)
    return shares
