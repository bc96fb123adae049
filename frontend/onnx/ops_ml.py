"""Rules of `ai.onnx.ml`: what prepares features, linear models, and trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir import Array
from ...ir import compositions as c
from ...ir import dtypes as d
from .node import Node, Value
from .rules import rule
from .trees import MODES, Ensemble, Nodes, decided

ML = "ai.onnx.ml"

POST = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@rule("ArrayFeatureExtractor", domain=ML)
def extract(node: Node, x: Value, places: Value) -> Value:
    """Take elements of the last axis."""
    flat = node.make.reshape(places, shape=(node.spec(places).size,))
    if node.rank(x) == 1:
        x = c.unsqueeze(node.emit, x, (0,))
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
    """Divide each row by its largest absolute element, their sum, or the root of their squares."""
    make, norm = node.make, node.text("norm", "MAX")
    x = make.to(x, d.f32)
    axes = (node.rank(x) - 1,)
    match norm:
        case "MAX":
            size = make.max(make.abs(x), axes=axes, keepdims=True)
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
        node.refuse("categories that are texts are not supported")
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
            zero = make.number(0, node.dtype(x))
            made = make.softmax(x, axis=node.rank(x) - 1)
            return make.select(make.equal(x, zero), zero, made)
        case _:
            return node.refuse(f"post_transform {how} is not supported")


@rule("TreeEnsemble", domain=ML)
def trees(node: Node, x: Value) -> Value:
    """Return the leaves' weights that each row comes to, put together over all trees."""

    def listed(name: str) -> Array:
        return np.array(node.integers(name) or (), np.int64)

    def stored(name: str) -> Array:
        found = node.tensor(name)
        return np.zeros(0) if found is None else found.astype(np.float64).ravel()

    modes, splits = stored("nodes_modes").astype(np.int64), stored("nodes_splits")
    count, leaves = len(modes), len(node.integers("leaf_targetids") or ())
    stored("nodes_hitrates")
    # Leaves stand behind the nodes in one numbering.
    yes = np.where(listed("nodes_trueleafs") > 0, count, 0) + listed("nodes_truenodeids")
    no = np.where(listed("nodes_falseleafs") > 0, count, 0) + listed("nodes_falsenodeids")
    tracks = listed("nodes_missing_value_tracks_true")
    nodes = Nodes(
        listed("nodes_featureids"), [MODES[m] for m in modes], splits,
        _members(modes, stored("membership_values")), yes, no,
        tracks > 0 if len(tracks) else np.zeros(count, bool),
    )  # fmt: skip
    table = np.zeros((leaves, node.integer("n_targets", 1)))
    table[np.arange(leaves), listed("leaf_targetids")] = stored("leaf_weights")
    used = np.zeros_like(table, dtype=bool)
    used[np.arange(leaves), listed("leaf_targetids")] = True
    ensemble = Ensemble(nodes, listed("tree_roots"), table, used)
    how = AGGREGATES[node.integer("aggregate_function", 1)]
    made = decided(node, x, ensemble, how)
    return transformed(node, made, POST[node.integer("post_transform", 0)])


def _members(modes: Array, values: Array) -> list[list[float]]:
    """Return the set of each node that asks for membership; sets end with NaN."""
    sets: list[list[float]] = [[]]
    for value in values.tolist():
        if np.isnan(value):
            sets.append([])
        else:
            sets[-1].append(value)
    each = iter(sets)
    return [next(each) if MODES[mode] == "BRANCH_MEMBER" else [] for mode in modes]


@rule("TreeEnsembleRegressor", domain=ML)
def regression(node: Node, x: Value) -> Value:
    """Return the sums of the leaves' weights that each row comes to."""

    def listed(name: str) -> Array:
        return np.array(node.integers(name) or (), np.int64)

    def numbers(name: str) -> Array:
        stored = node.tensor(f"{name}_as_tensor")
        given = node.floats(name) or ()
        return np.array(given, np.float64) if stored is None else stored.astype(np.float64).ravel()

    for name in ("nodes_hitrates",):
        numbers(name)
    tree, own = listed("nodes_treeids"), listed("nodes_nodeids")
    place = {pair: i for i, pair in enumerate(zip(tree.tolist(), own.tolist(), strict=True))}
    names = [*(node.texts("nodes_modes") or ())]
    tracks = listed("nodes_missing_value_tracks_true")
    is_leaf = np.array([name == "LEAF" for name in names])

    def following(name: str) -> Array:
        ends = listed(name)
        return np.array([
            i if leaf else place[t, end]
            for i, (leaf, t, end) in enumerate(zip(is_leaf, tree.tolist(), ends.tolist(),
                                                   strict=True))
        ], np.int64)  # fmt: skip

    nodes = Nodes(
        listed("nodes_featureids"), names, numbers("nodes_values"), [[] for _ in names],
        following("nodes_truenodeids"), following("nodes_falsenodeids"),
        tracks > 0 if len(tracks) else np.zeros(len(names), bool),
    )  # fmt: skip
    targets = node.integer("n_targets", 1)
    table, used = np.zeros((len(names), targets)), np.zeros((len(names), targets), bool)
    rows = zip(listed("target_treeids"), listed("target_nodeids"), listed("target_ids"),
               numbers("target_weights"), strict=True)  # fmt: skip
    for t, n, target, weight in rows:
        table[place[int(t), int(n)], target] += weight
        used[place[int(t), int(n)], target] = True
    roots = np.array([place[t, own[tree == t][0]] for t in dict.fromkeys(tree.tolist())], np.int64)
    ensemble = Ensemble(nodes, roots, table, used)
    made = decided(node, node.make.to(x, d.f32), ensemble, node.text("aggregate_function", "SUM"))
    if base := numbers("base_values").tolist():
        made = node.make.add(made, node.constant(base, d.f32))
    return transformed(node, made, node.text("post_transform", "NONE"))
