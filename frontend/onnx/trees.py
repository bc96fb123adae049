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

    def depth(self) -> int:
        """Return the steps from a root to the farthest leaf; raise `TypeError` if there is none."""
        nodes, count = self.nodes, len(self.nodes.modes)
        level, steps = set(self.roots.tolist()), 0
        while True:
            inner = [i for i in level if i < count and nodes.modes[i] != "LEAF"]
            if not inner:
                return steps
            level = {int(end[i]) for i in inner for end in (nodes.yes, nodes.no)}
            steps += 1
            if steps > count:
                raise TypeError("the nodes of a tree lead in a circle")


def decided(node: Node, x: Value, ensemble: Ensemble, how: str) -> Value:
    """Return [N, targets]: the weights of the leaves that rows come to, put together by `how`."""
    make = node.make
    rows, trees = node.shape(x)[0], len(ensemble.roots)
    place = make.broadcast_to(node.constant(ensemble.roots[None], d.i64), shape=(rows, trees))
    look = _Tables(node, x, ensemble)
    for _ in range(ensemble.depth()):
        place = look.step(place)
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


class _Tables:
    """The nodes as tensors, with a row for each leaf that leads to itself."""

    def __init__(self, node: Node, x: Value, ensemble: Ensemble) -> None:
        self.node, self.x = node, x
        nodes = ensemble.nodes
        more = 0 if ensemble.first_leaf == 0 else len(ensemble.weights)
        self.count = len(nodes.modes)
        leaves = np.arange(self.count, self.count + more)
        self.modes = [*nodes.modes, *["LEAF"] * more]
        self.features = self._table(np.concatenate([nodes.features, np.zeros(more)]), d.i64)
        self.splits = self._table(np.concatenate([nodes.splits, np.zeros(more)]), node.dtype(x))
        self.yes = self._table(np.concatenate([nodes.yes, leaves]), d.i64)
        self.no = self._table(np.concatenate([nodes.no, leaves]), d.i64)
        self.missing = np.concatenate([nodes.missing_is_yes, np.zeros(more, bool)])
        self.members = [*nodes.members, *[()] * more]

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
