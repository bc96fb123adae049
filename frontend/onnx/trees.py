"""Ensembles of decision trees as tensor operations: all trees go down one node at a time.

A row's place in every tree is one tensor [N, trees]; a step looks up feature and split of each
place, compares, and looks up where to go. Leaves lead to themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir import Array
from ...ir.compose import functions as c
from ...ir.types import dtypes as d
from .node import Node, Value

MODES = (
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
    "BRANCH_MEMBER",
)  # fmt: skip
COMPARISONS = {
    "BRANCH_LEQ": "less_equal", "BRANCH_LT": "less", "BRANCH_GTE": "greater_equal",
    "BRANCH_GT": "greater", "BRANCH_EQ": "equal", "BRANCH_NEQ": "not_equal",
}  # fmt: skip

GOING = 0.8
"""The share of trees that go on at which the others are left behind."""


@dataclass(frozen=True)
class Nodes:
    """The inner nodes of all trees, one entry each; leaves may stand among them."""

    features: Array
    modes: Sequence[str]
    splits: Array
    members: Sequence[Sequence[float]]
    yes: Array
    no: Array
    missing_is_yes: Array


@dataclass(frozen=True)
class Ensemble:
    """Trees, and what their leaves weigh: leaves are numbered behind the nodes, or among them."""

    nodes: Nodes
    roots: Array
    weights: Array
    """[leaves, targets]."""
    used: Array
    """Where a leaf says something about a target."""

    @property
    def first_leaf(self) -> int:
        """Return the number of the leaf in the first row of the weights."""
        return 0 if "LEAF" in self.nodes.modes else len(self.nodes.modes)

    def depths(self) -> Array:
        """Return each tree's steps to its farthest leaf; raise `TypeError` if there is none."""
        nodes, count = self.nodes, len(self.nodes.modes)
        inner = np.zeros(count + len(self.weights), bool)
        inner[:count] = [mode != "LEAF" for mode in nodes.modes]
        ends = np.stack([nodes.yes, nodes.no])
        tree, place = np.arange(len(self.roots)), self.roots
        steps = np.zeros(len(self.roots), np.int64)
        for _ in range(count + 1):
            tree, place = tree[inner[place]], place[inner[place]]
            if not len(tree):
                return steps
            steps[np.unique(tree)] += 1
            pairs = np.stack([np.tile(tree, 2), ends[:, place].ravel()])
            tree, place = np.unique(pairs, axis=1)
        raise TypeError("the nodes of a tree lead in a circle")


def decided(node: Node, x: Value, ensemble: Ensemble, how: str) -> Value:
    """Return [N, targets]: the weights of the leaves that rows come to, put together by `how`."""
    make, trees = node.make, len(ensemble.roots)
    place = _leaves(node, x, ensemble)
    leaf = make.sub(place, make.number(ensemble.first_leaf, d.i64))
    dtype = node.dtype(x)
    if how in ("SUM", "AVERAGE"):
        table = node.constant(ensemble.weights, dtype)
        total = make.sum(make.gather(table, leaf, axis=0), axes=(1,))
        count = make.number(trees if how == "AVERAGE" else 1, dtype)
        return total if how == "SUM" else make.div(total, count)
    worst = np.inf if how == "MIN" else -np.inf
    table = node.constant(np.where(ensemble.used, ensemble.weights, worst), dtype)
    reduce: Callable[..., object] = make.min if how == "MIN" else make.max
    found = reduce(make.gather(table, leaf, axis=0), axes=(1,))
    nothing = make.equal(found, make.number(worst, dtype))
    return make.select(nothing, make.number(0, dtype), found)


def _leaves(node: Node, x: Value, ensemble: Ensemble) -> Value:
    """Return [N, trees]: the places that rows come to.

    The trees stand by their depth, the deepest first, and those at whose leaves all rows are by
    then go no further: most of LightGBM's trees are half as deep as the deepest.
    """
    make, depths = node.make, ensemble.depths()
    order = np.argsort(-depths, kind="stable")
    roots = node.constant(ensemble.roots[order][None], d.i64)
    place = make.broadcast_to(roots, shape=(node.shape(x)[0], len(order)))
    look, live, done = _Tables(node, x, ensemble), len(order), []
    for step in range(int(depths.max(initial=0))):
        going = int((depths > step).sum())
        if going <= live * GOING:
            done.append(c.cut(node.emit, place, 1, going, live))
            place, live = c.cut(node.emit, place, 1, 0, going), going
        place = look.step(place)
    if done:
        place = make.concat(place, *reversed(done), axis=1)
    if np.array_equal(order, np.arange(len(order))):
        return place
    return make.gather(place, node.constant(np.argsort(order), d.i64), axis=1)


class _Tables:
    """The nodes as tensors, with a row for each leaf that leads to itself."""

    def __init__(self, node: Node, x: Value, ensemble: Ensemble) -> None:
        self.node, self.x = node, x
        nodes = ensemble.nodes
        more = 0 if ensemble.first_leaf == 0 else len(ensemble.weights)
        self.count = len(nodes.modes)
        leaves = np.arange(self.count, self.count + more)
        self.modes = [*nodes.modes, *["LEAF"] * more]
        features = np.concatenate([nodes.features, np.zeros(more)])
        self.splits = self._table(np.concatenate([nodes.splits, np.zeros(more)]), node.dtype(x))
        self.yes = self._table(np.concatenate([nodes.yes, leaves]), d.i64)
        self.no = self._table(np.concatenate([nodes.no, leaves]), d.i64)
        self.missing = np.concatenate([nodes.missing_is_yes, np.zeros(more, bool)])
        self.missing &= np.array([mode != "LEAF" for mode in self.modes])
        width = node.shape(x)[1]
        if (end := self._end(nodes.splits)) and isinstance(width, int):
            filled = node.make.select(node.make.isnan(x), node.make.number(end, node.dtype(x)), x)
            self.x = node.make.concat(x, filled, axis=1)
            features = features + width * self.missing
            self.missing = np.zeros_like(self.missing)
        self.features = self._table(features, d.i64)
        self.members = [*nodes.members, *[()] * more]

    def _end(self, splits: Array) -> float:
        """Return the infinity that passes where missing values do, 0 where none does.

        Columns in which it stands for them save a look at each value, in each step.
        """
        if not self.missing.any() or not self.node.dtype(self.x).is_float:
            return 0.0
        modes = {mode for mode, asked in zip(self.modes, self.missing, strict=True) if asked}
        finite = bool(np.isfinite(splits[self.missing[: len(splits)]]).all())
        below, above = modes <= {"BRANCH_LEQ", "BRANCH_LT"}, modes <= {"BRANCH_GTE", "BRANCH_GT"}
        return 0.0 if not finite else -np.inf if below else np.inf if above else 0.0

    def _table(self, values: Array, dtype: Any) -> Value:
        return self.node.constant(values, dtype)

    def step(self, place: Value) -> Value:
        """Return where each place leads to."""
        make = self.node.make
        feature = make.gather(self.features, place, axis=0)
        value = make.gather_elements(self.x, feature, axis=1)
        split = make.gather(self.splits, place, axis=0)
        holds = self._holds(place, value, split)
        if self.missing.any() and self.node.dtype(self.x).is_float:
            tracks = make.gather(self.node.constant(self.missing), place, axis=0)
            holds = make.logical_or(holds, make.logical_and(tracks, make.isnan(value)))
        yes, no = (make.gather(table, place, axis=0) for table in (self.yes, self.no))
        return make.select(holds, yes, no)

    def _holds(self, place: Value, value: Value, split: Value) -> Value:
        """Say whether the condition of each place holds."""
        make = self.node.make
        used = [m for m in MODES if m in self.modes] or ["BRANCH_LEQ"]
        found = None
        for mode in used:
            if mode == "BRANCH_MEMBER":
                holds = self._is_member(place, value)
            else:
                holds = getattr(make, COMPARISONS[mode])(value, split)
            if found is None:
                found = holds
                continue
            mask = np.array([m == mode for m in self.modes])
            asked = make.gather(self.node.constant(mask), place, axis=0)
            found = make.select(asked, holds, found)
        return found

    def _is_member(self, place: Value, value: Value) -> Value:
        node, width = self.node, max(*map(len, self.members), 1)
        table = np.full((len(self.members), width), np.nan)
        for row, members in enumerate(self.members):
            table[row, : len(members)] = members
        members = node.make.gather(node.constant(table, node.dtype(self.x)), place, axis=0)
        same = node.make.equal(members, c.unsqueeze(node.emit, value, (2,)))
        return node.make.any(same, axes=(2,))
