"""Ensembles of decision trees as tensor operations: all trees go down one node at a time.

A row's place in every tree is one tensor [N, trees]; a step looks up feature and split of each
place, compares, and looks up where to go. Leaves lead to themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir import Array
from ...ir.compose import functions as c
from ...ir.types import dtypes as d
from ...ir.types.dtypes import DType
from .node import Node, Value

MODES = (
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
    "BRANCH_MEMBER",
)  # fmt: skip
COMPARISONS = {
    "BRANCH_LEQ": "less_equal", "BRANCH_LT": "less", "BRANCH_GTE": "greater_equal",
    "BRANCH_GT": "greater", "BRANCH_EQ": "equal",
}  # fmt: skip

MOST_PLACES = 1 << 24
"""How many nodes and leaves trees may have, of those in common one for each way to them."""
MOST_CHOSEN = 3
"""Behind so many conditions what places have is chosen: a look-up costs as much as some choices."""
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

    def of_equals(self) -> Ensemble:
        """Return trees that ask whether values are equal where these ask whether they are not."""
        nodes = self.nodes
        swaps = np.array([mode == "BRANCH_NEQ" for mode in nodes.modes], bool)
        modes = ["BRANCH_EQ" if mode == "BRANCH_NEQ" else mode for mode in nodes.modes]
        yes, no = np.where(swaps, nodes.no, nodes.yes), np.where(swaps, nodes.yes, nodes.no)
        missing = nodes.missing_is_yes & ~swaps  # (these are equal to nothing)
        made = replace(nodes, modes=modes, yes=yes, no=no, missing_is_yes=missing)
        return replace(self, nodes=made)

    @property
    def first_leaf(self) -> int:
        """Return the number of the leaf in the first row of the weights."""
        return 0 if "LEAF" in self.nodes.modes else len(self.nodes.modes)

    @property
    def inner(self) -> Array:
        """Return which of nodes and leaves are nodes that ask."""
        asks = [mode != "LEAF" for mode in self.nodes.modes]
        more = len(self.weights) if self.first_leaf else 0
        return np.concatenate([np.array(asks, bool), np.zeros(more, bool)])

    def depths(self) -> Array:
        """Return each tree's steps to its farthest leaf; raise `TypeError` if there is none."""
        ends, inner = self._ends(), self.inner
        tree, place = np.arange(len(self.roots)), self.roots
        steps = np.zeros(len(self.roots), np.int64)
        for _ in range(len(ends) + 1):
            tree, place = tree[inner[place]], place[inner[place]]
            if not len(tree):
                return steps
            steps[np.unique(tree)] += 1
            pairs = np.stack([np.repeat(tree, 2), ends[place].ravel()])
            tree, place = np.unique(pairs, axis=1)
        raise TypeError("the nodes of a tree lead in a circle")

    def places(self, roots: Array) -> tuple[Array, Array]:
        """Return which node or leaf is at each place, and the place that it leads to.

        The roots come first; the two that a node leads to are side by side, where its condition
        does not hold first, and a leaf leads to itself: a step is a sum. What several nodes lead to
        is there as often. Raises `TypeError` where that is too often.
        """
        ends, inner = self._ends(), self.inner
        level, begin = roots, 0
        levels, leads = [], []
        while len(level):
            end, asks = begin + len(level), inner[level]
            if end > MOST_PLACES:
                raise TypeError(f"trees with nodes in common are more than {MOST_PLACES} nodes")
            own = np.arange(begin, end)
            leads.append(np.where(asks, end + 2 * (np.cumsum(asks) - 1), own))
            levels.append(level)
            level, begin = ends[level[asks]].ravel(), end
        return np.concatenate(levels), np.concatenate(leads)

    def _ends(self) -> Array:
        """Return what each node leads to, [nodes, 2]: without its condition, and with it."""
        return np.stack([self.nodes.no, self.nodes.yes], axis=1)


def decided(node: Node, x: Value, ensemble: Ensemble, how: str) -> Value:
    """Return [N, targets]: the weights of the leaves that rows come to, put together by `how`."""
    make, trees = node.make, len(ensemble.roots)
    place, weights, used = _leaves(node, x, ensemble.of_equals())
    dtype = node.dtype(x)
    if how in ("SUM", "AVERAGE"):
        total = make.sum(make.gather(node.constant(weights, dtype), place, axis=0), axes=(1,))
        count = make.number(trees if how == "AVERAGE" else 1, dtype)
        return total if how == "SUM" else make.div(total, count)
    worst = np.inf if how == "MIN" else -np.inf
    table = node.constant(np.where(used, weights, worst), dtype)
    reduce: Callable[..., object] = make.min if how == "MIN" else make.max
    found = reduce(make.gather(table, place, axis=0), axes=(1,))
    nothing = make.equal(found, make.number(worst, dtype))
    return make.select(nothing, make.number(0, dtype), found)


def _leaves(node: Node, x: Value, ensemble: Ensemble) -> tuple[Value, Array, Array]:
    """Return [N, trees]: the places that rows come to; weights and where they are, by places.

    The trees stand by their depth, the deepest first, and those at whose leaves all rows are by
    then go no further: most of LightGBM's trees are half as deep as the deepest.
    """
    make, depths = node.make, ensemble.depths()
    order = np.argsort(-depths, kind="stable")
    at, leads = ensemble.places(ensemble.roots[order])
    tables, live, done = _Tables(node, x, ensemble.nodes, (at, leads)), len(order), []
    places: InTrees = NearRoots.at_roots(tables, live)
    for step in range(int(depths.max(initial=0))):
        going = int((depths > step).sum())
        if going <= live * GOING:
            place = places.place
            done.append(c.cut(node.emit, place, 1, going, live))
            live, places = going, InTrees(tables, c.cut(node.emit, place, 1, 0, going))
        places = tables.step(places)
    place = places.place
    if done:
        place = make.concat(place, *reversed(done), axis=1)
    if not np.array_equal(order, np.arange(len(order))):
        place = make.gather(place, node.constant(np.argsort(order), d.i64), axis=1)
    leaf = np.where(ensemble.inner[at], 0, at - ensemble.first_leaf)
    return place, ensemble.weights[leaf], ensemble.used[leaf]


@dataclass(frozen=True)
class InTrees:
    """Where each row is in each tree, as a tensor."""

    tables: _Tables
    place: Value
    """[N, trees]."""

    def looked_up(self, values: Array, dtype: DType) -> Value:
        """Return what a table has at each place."""
        return self.tables.make.gather(self.tables.table(values, dtype), self.place, axis=0)

    def seen(self) -> Value:
        """Return the value of a row that is asked about at each place."""
        feature = self.looked_up(self.tables.features, d.i32)
        return self.tables.make.gather_elements(self.tables.x, feature, axis=1)

    def led(self, holds: Value) -> InTrees:
        """Return the places that these lead to."""
        made, tables = self.looked_up(self.tables.leads, d.i32), self.tables
        return InTrees(tables, tables.make.add(made, tables.make.to(holds, d.i32)))


@dataclass(frozen=True)
class NearRoots(InTrees):
    """Rows are at one of few places of each tree: what these have is chosen, not looked up."""

    options: Array
    """[2 ** conditions, trees]: the places, by the conditions that held, the first one foremost."""
    held: tuple[Value, ...]

    @classmethod
    def at_roots(cls, tables: _Tables, count: int) -> NearRoots:
        """Return the places of so many roots, which are the first ones."""
        roots = np.arange(count)[None]
        rows = tables.node.shape(tables.x)[0]
        place = tables.make.broadcast_to(tables.node.constant(roots, d.i32), shape=(rows, count))
        return cls(tables, place, roots, ())

    def looked_up(self, values: Array, dtype: DType) -> Value:
        """Return what the place has that the conditions lead to."""
        made = [self.tables.node.constant(values[option][None], dtype) for option in self.options]
        for holds in reversed(self.held):
            if values.ndim > 1:
                holds = c.unsqueeze(self.tables.node.emit, holds, (2,))  # noqa: PLW2901
            pairs = zip(made[1::2], made[::2], strict=True)
            made = [self.tables.make.select(holds, yes, no) for yes, no in pairs]
        return made[0]

    def seen(self) -> Value:
        """Return the value of a row that is asked about at each place."""
        if self.held:
            return super().seen()
        columns = self.tables.node.constant(self.tables.features[self.options[0]], d.i32)
        return self.tables.make.gather(self.tables.x, columns, axis=1)

    def led(self, holds: Value) -> InTrees:
        """Return the places that these lead to: twice as many for each tree."""
        below, leads = super().led(holds), self.tables.leads[self.options]
        if len(self.held) == MOST_CHOSEN:
            return below
        held = leads + (leads != self.options)  # (a leaf leads to itself)
        options = np.stack([leads, held], axis=1).reshape(-1, leads.shape[1])
        return NearRoots(self.tables, below.place, options, (*self.held, holds))


class _Tables:
    """What is asked at each place, as tensors; a leaf's condition never holds."""

    def __init__(self, node: Node, x: Value, nodes: Nodes, places: tuple[Array, Array]) -> None:
        self.node, self.make, self.x = node, node.make, x
        self.made: dict[int, Value] = {}
        at, leads = places
        own = np.where(leads == np.arange(len(leads)), -1, at)  # a leaf's is the last entry
        self.modes = [[*nodes.modes, ""][i] for i in own]
        members = [[*nodes.members, ()][i] for i in own]
        splits, features = np.append(nodes.splits, np.nan)[own], np.append(nodes.features, 0)[own]
        self.missing = np.append(nodes.missing_is_yes, False)[own]
        width = node.shape(x)[1]
        if (end := self._end(splits)) and isinstance(width, int):
            filled = node.make.select(node.make.isnan(x), node.make.number(end, node.dtype(x)), x)
            self.x = node.make.concat(x, filled, axis=1)
            features = features + width * self.missing
            self.missing = np.zeros_like(self.missing)
        self.features, self.splits, self.leads = features, splits, leads
        used = [mode for mode in MODES if mode in self.modes] or ["BRANCH_LEQ"]
        self.masks = {used[0]: np.ones(0, bool)}
        self.masks |= {mode: np.array([m == mode for m in self.modes]) for mode in used[1:]}
        self.sets = np.full((len(own), max(*map(len, members), 1)), np.nan)
        for row, chosen in enumerate(members):
            self.sets[row, : len(chosen)] = chosen

    def table(self, values: Array, dtype: DType) -> Value:
        """Return a table as a constant, once."""
        if id(values) not in self.made:
            self.made[id(values)] = self.node.constant(values, dtype)
        return self.made[id(values)]

    def _end(self, splits: Array) -> float:
        """Return the infinity that passes where missing values do, 0 where none does.

        Columns in which it stands for them save a look at each value, in each step.
        """
        if not self.missing.any() or not self.node.dtype(self.x).is_float:
            return 0.0
        modes = {mode for mode, asked in zip(self.modes, self.missing, strict=True) if asked}
        finite = bool(np.isfinite(splits[self.missing]).all())
        below, above = modes <= {"BRANCH_LEQ", "BRANCH_LT"}, modes <= {"BRANCH_GTE", "BRANCH_GT"}
        return 0.0 if not finite else -np.inf if below else np.inf if above else 0.0

    def step(self, places: InTrees) -> InTrees:
        """Return where each place leads to."""
        make, value = self.make, places.seen()
        holds = self._holds(places, value)
        if self.missing.any() and self.node.dtype(self.x).is_float:
            tracks = places.looked_up(self.missing, d.bool_)
            holds = make.logical_or(holds, make.logical_and(tracks, make.isnan(value)))
        return places.led(holds)

    def _holds(self, places: InTrees, value: Value) -> Value:
        """Say whether the condition of each place holds."""
        found = None
        for mode, mask in self.masks.items():
            if mode == "BRANCH_MEMBER":
                holds = self._is_member(places, value)
            else:
                split = places.looked_up(self.splits, self.node.dtype(self.x))
                holds = getattr(self.make, COMPARISONS[mode])(value, split)
            if found is None:
                found = holds
            else:
                found = self.make.select(places.looked_up(mask, d.bool_), holds, found)
        return found

    def _is_member(self, places: InTrees, value: Value) -> Value:
        members = places.looked_up(self.sets, self.node.dtype(self.x))
        same = self.make.equal(members, c.unsqueeze(self.node.emit, value, (2,)))
        return self.make.any(same, axes=(2,))
