"""Rules of ensembles of trees, and of linear models that choose a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....ir import Array
from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from ..trees import MODES, Ensemble, Nodes, decided
from .ml import ML, of_two, transformed
from .text import label_at, labels_of

POST = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


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
    ensemble = _ensemble(node, "target", node.integer("n_targets", 1))
    made = _scores(node, x, ensemble, node.text("aggregate_function", "SUM"))
    return transformed(node, made, node.text("post_transform", "NONE"))


@rule("TreeEnsembleClassifier", domain=ML)
def classification(node: Node, x: Value) -> Sequence[Value]:
    """Return the class of the largest sum of weights, and all sums."""
    labels = labels_of(node, "classlabels_int64s")
    ensemble = _ensemble(node, "class", len(labels))
    if len(labels) == 2 or len(_numbers(node, "base_values")):
        scores = _scores(node, x, ensemble, "SUM")
        if ensemble.used.any(axis=0).tolist() == [True, False]:
            return _one_of_two(node, c.cut(node.emit, scores, 1, 0, 1), labels, ensemble)
        if len(labels) == 2:
            return _second_is_above(node, scores, labels, ensemble)
        return _chosen(node, scores, labels)
    if all(_is_in_all_leaves(node, column) for column in ensemble.used.T):
        return _chosen(node, _scores(node, x, ensemble, "SUM"), labels)
    return _of_those_seen(node, x, ensemble, labels)


def _of_those_seen(node: Node, x: Value, ensemble: Ensemble, labels: Array) -> Sequence[Value]:
    """Return the class of the largest sum among those that some leaf names, and all sums."""
    weights = np.hstack([ensemble.weights, ensemble.used])
    both = replace(ensemble, weights=weights, used=np.hstack([ensemble.used, ensemble.used]))
    found, classes = _scores(node, x, both, "SUM"), len(labels)
    scores = c.cut(node.emit, found, 1, 0, classes)
    seen = c.cut(node.emit, found, 1, classes, 2 * classes)
    missing = node.make.equal(seen, node.make.number(0, d.f32))
    lowest = node.make.number(-np.inf, d.f32)
    _, made = _chosen(node, scores, labels)
    label, _ = _chosen(node, node.make.select(missing, lowest, scores), labels)
    return [label, made]


def _one_of_two(node: Node, score: Value, labels: Array, ensemble: Ensemble) -> Sequence[Value]:
    """Return the class and two scores where the trees weigh one class: a share, or odds about 0."""
    make, post = node.make, node.text("post_transform", "NONE")
    is_share = bool((ensemble.weights >= 0).all())
    both = of_two(node, score, post, to_one=is_share)
    limit = make.number(0.5 if is_share else 0.0, d.f32)
    above = make.reshape(make.greater(score, limit), shape=(node.shape(score)[0],))
    return [label_at(node, make.to(above, d.i64), labels), both]


def _second_is_above(
    node: Node, scores: Value, labels: Array, ensemble: Ensemble
) -> Sequence[Value]:
    """Return the class and two scores where the trees weigh the second of two classes, or both.

    The second's score alone decides, and each score is what the trees say of it: CatBoost writes
    both, one the negative of the other. Where rows come to no leaf of the second there is no such
    score.
    """
    if not _is_in_all_leaves(node, ensemble.used[:, 1]):
        node.refuse("two classes the second of which is not in all leaves of a tree")
    if len(_numbers(node, "base_values")):
        node.refuse("base_values of two classes whose weights are not all of the first")
    is_share = not ensemble.used[:, 0].any() and bool((ensemble.weights >= 0).all())
    second = c.cut(node.emit, scores, 1, 1, 2)
    above = node.make.greater(second, node.make.number(0.5 if is_share else 0.0, d.f32))
    above = node.make.reshape(above, shape=(node.shape(scores)[0],))
    label = label_at(node, node.make.to(above, d.i64), labels)
    return [label, transformed(node, scores, node.text("post_transform", "NONE"))]


def _is_in_all_leaves(node: Node, used: Array) -> bool:
    """Say whether some tree has what is used in each of its leaves."""
    tree = _listed(node, "nodes_treeids")
    leaves = np.array([mode == "LEAF" for mode in node.texts("nodes_modes") or ()])
    return any(bool(used[leaves & (tree == each)].all()) for each in set(tree.tolist()))


@rule("LinearClassifier", domain=ML)
def linear_classification(node: Node, x: Value) -> Sequence[Value]:
    """Return the class of the largest product with coefficients, and all products."""
    node.integer("multi_class", 0)
    labels = labels_of(node, "classlabels_ints")
    given = np.array(node.floats("coefficients") or ())
    features = node.shape(x)[-1]
    if not isinstance(features, int):
        node.refuse(f"{features} features, expected a number")
    is_one = len(labels) == 2 and given.size == features
    """Whether what is given is the score of the second of two classes."""
    if given.size != features * len(labels) and not is_one:
        node.refuse(f"{given.size} coefficients for {len(labels)} classes of {features} features")
    factors = given.reshape(-1, features)
    made = node.make.matmul(node.make.to(x, d.f32), node.constant(factors.T, d.f32))
    if offsets := node.floats("intercepts"):
        made = node.make.add(made, node.constant(offsets, d.f32))
    return _second_of_two(node, made, labels) if is_one else _chosen(node, made, labels)


def _second_of_two(node: Node, score: Value, labels: Array) -> Sequence[Value]:
    """Return the second label where a score is above zero, and the shares of both."""
    make, post = node.make, node.text("post_transform", "NONE")
    both = of_two(node, score, post, to_one=True)
    above = make.greater(score, make.number(0, d.f32))
    above = make.reshape(above, shape=(node.shape(score)[0],))
    return [label_at(node, make.to(above, d.i64), labels), both]


def _chosen(node: Node, scores: Value, labels: Array) -> Sequence[Value]:
    """Return the label of the largest score, and the scores as they are asked for."""
    place = node.make.argmax(scores, axis=1, keepdims=False)
    label = label_at(node, place, labels)
    return [label, transformed(node, scores, node.text("post_transform", "NONE"))]


def _scores(node: Node, x: Value, ensemble: Ensemble, how: str) -> Value:
    """Return the sums of an ensemble on rows, with what all rows get."""
    wide = d.f64 if node.dtype(x) == d.f64 else d.f32
    made = node.make.to(decided(node, node.make.to(x, wide), ensemble, how), d.f32)
    base = _numbers(node, "base_values").tolist()
    return node.make.add(made, node.constant(base, d.f32)) if base else made


def _listed(node: Node, name: str) -> Array:
    return np.array(node.integers(name) or (), np.int64)


def _numbers(node: Node, name: str) -> Array:
    """Return an attribute that is a list of f32, or a tensor."""
    stored = node.tensor(f"{name}_as_tensor")
    given = node.floats(name) or ()
    return np.array(given, np.float64) if stored is None else stored.astype(np.float64).ravel()


def _ensemble(node: Node, kind: str, columns: int) -> Ensemble:
    """Return the trees of a list of nodes, among them leaves, by their trees' and own numbers."""
    _numbers(node, "nodes_hitrates")
    tree, own = _listed(node, "nodes_treeids"), _listed(node, "nodes_nodeids")
    place = {pair: i for i, pair in enumerate(zip(tree.tolist(), own.tolist(), strict=True))}
    modes = [*(node.texts("nodes_modes") or ())]
    tracks = _listed(node, "nodes_missing_value_tracks_true")

    def following(name: str) -> Array:
        rows = enumerate(zip(modes, tree.tolist(), _listed(node, name).tolist(), strict=True))
        ends = [i if mode == "LEAF" else place[number, end] for i, (mode, number, end) in rows]
        return np.array(ends, np.int64)

    missing = tracks > 0 if len(tracks) else np.zeros(len(modes), bool)
    nodes = Nodes(
        _listed(node, "nodes_featureids"), modes, _numbers(node, "nodes_values"),
        [[] for _ in modes], following("nodes_truenodeids"), following("nodes_falsenodeids"),
        missing,
    )  # fmt: skip
    table, used = np.zeros((len(modes), columns)), np.zeros((len(modes), columns), bool)
    rows = zip(
        _listed(node, f"{kind}_treeids").tolist(), _listed(node, f"{kind}_nodeids").tolist(),
        _listed(node, f"{kind}_ids").tolist(), _numbers(node, f"{kind}_weights"), strict=True,
    )  # fmt: skip
    for number, leaf, column, weight in rows:
        table[place[number, leaf], column] += weight
        used[place[number, leaf], column] = True
    roots = [place[number, own[tree == number][0]] for number in dict.fromkeys(tree.tolist())]
    return Ensemble(nodes, np.array(roots, np.int64), table, used)
