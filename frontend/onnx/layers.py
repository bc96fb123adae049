"""Read a long chain of equal layers of an ONNX graph as a few of them, as `cut-layers` leaves it.

To read a thousand layers takes most of the time that compiling them as ten takes. So the nodes are
compared before they are read, and of equal layers all but ten are left out, but for their weights.
They are compared as they lie in the file: what is left out never becomes objects of protobuf. That
the ten became equal operations is looked at when they are read: knowledge of values is not seen in
nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import prod
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError
from onnx import NodeProto, ValueInfoProto
from xdsl.ir import Block

from ...ir import Array
from ...ir.compose.functions import HIDDEN
from ...passes.analysis.chains import (
    CONSTANT,
    RESULTS,
    STORED,
    BlockRows,
    EqualLayers,
    Integers,
    Operands,
    find_chain,
)
from ...passes.cut_layers import KEPT, LEAST, MissingLayers
from ..files.beside import Bytes
from .file.columns import folded, same
from .file.data import DTYPES, Tensors
from .file.nodes import StoredNodes
from .file.read import MAX_NODES, node_label
from .file.stored import StoredTensors
from .file.wire import GRAPH_INPUT, GRAPH_OUTPUT, NODE, SPARSE, Outline
from .file.wire import STORED as TENSOR
from .node import INLINE
from .order import outer_names
from .shapes import MAX_KNOWN

VALUE, NOTHING = -1, -2
"""Stand for what a node reads that is not stored, or left out."""
NOWHERE = np.iinfo(np.int64).min
"""No value has this number."""
WEIGHTS = 1 << 60
"""From here on count what is stored, above all values of nodes."""
MANY = 64
"""A node that reads more is taken for one that is like no other."""


@dataclass(frozen=True)
class Short:
    """A graph without most of a long chain."""

    cut: MissingLayers
    own: Mapping[str, str]
    """What the weights of layers that are left are called, by their names in the model."""
    left_out: Sequence[tuple[Sequence[str], Sequence[int]]]
    """Of each weight of a layer what those that are left out are called, and their numbers."""
    stored: StoredTensors
    nodes: Sequence[int]
    """Positions among all of the nodes that are left."""
    links: Mapping[int, Mapping[int, str]]
    """Of nodes behind what they read instead of what is left out, by position among all."""
    without: Integers
    """Which fields of the graph are left out."""

    def linked(self, position: int, node: NodeProto) -> NodeProto:
        """Return a node that reads of layers before what it read of those that are left out."""
        if position not in self.links:
            return node
        made = NodeProto()
        made.CopyFrom(node)
        for place, name in self.links[position].items():
            made.input[place] = name
        return made

    def missing(self, block: Block, weights: Mapping[str, Array]) -> dict[str, Array] | None:
        """Return the weights that are left out; None where what is left did not become alike."""
        if not self.holds(block, weights):
            return None
        found = dict[str, Array]()
        for called, numbers in self.left_out:
            if self.may_be_masks(np.array(numbers, np.int64)):
                return None
            found.update(zip(called, self.stored.arrays(numbers), strict=True))
        return found

    def holds(self, block: Block, weights: Mapping[str, Array]) -> bool:
        """Say whether what is left became equal operations on weights of these names."""
        first, behind = self.cut.first, self.cut.first + self.cut.missing
        least = 2 * first - 2
        chain = find_chain(BlockRows(block), least)
        out = [name for called, _ in self.left_out for name in called]
        if chain is None or not weights.keys().isdisjoint(out):
            return False
        found = {tuple(names[-least:]) for names in chain.weights}
        wanted = [(*names[:first], *names[behind:]) for names in self.cut.weights]
        return all(names[-least:] in found for names in wanted)

    def may_be_masks(self, numbers: Integers) -> bool:
        """Say whether one of some weights of a kind may say which positions are hidden.

        It is known by its values then.
        """
        code, shape = self.stored.of_kind[self.stored.kinds[numbers[0]]]
        dtype = DTYPES[code]
        if dtype.numpy != np.float32 or len(shape) < 2:
            return False
        return bool(np.min(self.stored.elements(numbers, shape[-1] - 1)) <= HIDDEN)


def shorten(
    data: Bytes, graphs: Sequence[Outline], settable: Collection[str], directory: Path | None
) -> Short | None:
    """Return a graph, whose nodes are in order, without most of a long chain; None without one."""
    if len(graphs) != 1 or not LEAST <= np.count_nonzero(graphs[0].tags == NODE) <= MAX_NODES:
        return None
    try:
        rows = NodeRows.of(data, graphs[0], settable, Tensors(directory))
    except DecodeError:
        return None  # it is refused when it is read
    chain = find_chain(rows, LEAST) if rows is not None and rows.are_ordered else None
    return rows.without(chain) if rows is not None and chain is not None else None


class NodeRows:
    """The nodes of a graph, and its outputs as one more.

    A graph of a thousand layers has tens of thousands of nodes, and as many tensors are stored:
    names are looked up in one go, and what nodes share is told by columns of numbers.
    """

    def __init__(
        self,
        nodes: StoredNodes,
        stored: StoredTensors,
        settable: Collection[str],
        fields: tuple[Integers, Integers],
    ) -> None:
        self.nodes, self.stored, self.fields = nodes, stored, fields
        """The fields of the graph that these are, too."""
        self.settable = settable
        count = len(nodes.ends)
        self.is_weight = np.zeros(len(stored.names), np.bool_)
        self.small = np.zeros(len(stored.names), np.bool_)
        """Weights that would be constants if they were not those of layers."""
        self.contents = self.take()
        """Of each tensor what it is: of a weight its type, of others the values, too."""
        rows = zip(stored.names, self.small.tolist(), strict=True)
        self.called = [f"{CONSTANT}{name}" if small else name for name, small in rows]
        """What each tensor is called where it counts as a weight."""
        operations, self.alone = nodes.operations()
        self.operations = np.concatenate((operations, [-1]))
        self.alone += [*np.flatnonzero(nodes.read > MANY).tolist(), count]

    @classmethod
    def of(
        cls, data: Bytes, graph: Outline, settable: Collection[str], tensors: Tensors
    ) -> NodeRows | None:
        """Return the rows of a graph; None where it is written in an odd way."""
        rows = np.array((graph.tags, graph.starts, graph.ends))
        places = [
            np.flatnonzero(rows[0] == tag) for tag in (NODE, TENSOR, GRAPH_INPUT, GRAPH_OUTPUT)
        ]
        view = memoryview(data.data)
        (_, starts, ends), own, inputs, outputs = (rows[:, place] for place in places)
        nodes = StoredNodes.of(view, starts, ends)
        stored = StoredTensors.of(data, own[1], own[2], tensors)
        if nodes is None or stored is None or SPARSE in graph.tags:
            return None
        made = cls(nodes, stored, settable, (places[0], places[1]))
        made.link({*declared(view, inputs)}, declared(view, outputs))
        return made

    def link(self, given: set[str], outputs: Sequence[str]) -> None:
        """Note where what nodes read comes from."""
        nodes, count = self.nodes, len(self.nodes.ends)
        reads, counts = nodes.reads, np.concatenate((nodes.read, [len(outputs)]))
        inside = {n: outer_names(nodes.node(n)) for n in self.alone if n < count}
        if any(inside.values()):
            firsts = np.cumsum(nodes.read).tolist()
            parts = [
                [*reads[end - own : end], *inside.get(n, ())]
                for n, (own, end) in enumerate(zip(nodes.read.tolist(), firsts, strict=True))
            ]
            reads = [name for part in parts for name in part]
            counts = np.array([*map(len, parts), len(outputs)], np.int64)
        every = [*reads, *outputs]
        self.ends = np.cumsum(counts)
        makers = np.repeat(np.arange(count), nodes.made)
        places = makers * RESULTS + np.arange(len(nodes.makes)) - nodes.first_outputs[makers]
        codes = dict(zip(nodes.makes, places.tolist(), strict=True))
        blanks = nodes.makes.count("")
        codes.pop("", None)
        stored = self.stored.names
        codes.update(zip(stored, range(WEIGHTS, WEIGHTS + len(stored)), strict=True))
        found = np.fromiter(map(codes.get, every, repeat(NOWHERE)), np.int64, len(every))
        self.weights = np.where(found >= WEIGHTS, found - WEIGHTS, -1)
        self.values = np.where(found >= WEIGHTS, STORED, found)
        outside: dict[str, int] = {}
        for place in np.flatnonzero(found == NOWHERE).tolist():
            self.values[place] = outside.setdefault(every[place], STORED - 1 - len(outside))
        readers = np.repeat(np.arange(count + 1), counts)
        self.are_ordered = (
            len(codes) == len(nodes.makes) - blanks + len(stored)
            and given.issuperset(filter(None, outside))
            and bool((self.values < readers * RESULTS).all())
        )
        """Whether each node stands behind what it reads."""
        self.blank = outside.get("", NOWHERE)

    def take(self) -> Integers:
        """Take in what is stored, most of it weights of few types."""
        stored, kinds = self.stored, self.stored.kinds
        found = kinds.copy()
        others = dict[object, int]()
        for kind, what in enumerate(stored.of_kind):
            numbers = np.flatnonzero(kinds == kind)
            may_be = may_be_weights(*what)
            if may_be == "small":
                is_weight = ~stored.are_one_number(numbers)
                self.small[numbers[is_weight]] = True
            else:
                is_weight = np.full(len(numbers), may_be == "large")
            self.is_weight[numbers] = is_weight
        for name in self.settable:
            if name in stored.numbers:
                self.is_weight[stored.numbers[name]] = True
                self.small[stored.numbers[name]] = False
        for number in np.flatnonzero(~self.is_weight).tolist():
            content = stored.content(number)
            found[number] = len(stored.of_kind) + others.setdefault(content, len(others))
        return found

    def without(self, chain: EqualLayers) -> Short:
        """Return the graph without most of a chain."""
        cut = MissingLayers.for_chain(chain, KEPT, lambda row: [node_label(self.node(row), row)])
        start = chain.start + cut.first * chain.period
        end = start + cut.missing * chain.period
        first, behind = cut.first, cut.first + cut.missing
        numbers = dict(zip(self.called, range(len(self.called)), strict=True))
        own: dict[str, str] = {}
        left_out: list[tuple[Sequence[str], Sequence[int]]] = []
        for names in cut.weights:
            out = names[first:behind]
            left_out.append((out, [numbers[called] for called in out]))
            kept = (*names[:first], *names[behind:])
            own |= {self.stored.names[numbers[each]]: each for each in kept}
        tensors = [n for _, row in left_out for n in row]
        fields = np.concatenate((self.fields[0][start:end], self.fields[1][tensors]))
        nodes = [*range(start), *range(end, len(self.nodes.ends))]
        links = self.links(start, end)
        return Short(cut, own, left_out, self.stored, nodes, links, fields)

    def links(self, start: int, end: int) -> dict[int, dict[int, str]]:
        """Return what nodes behind read of layers before instead of those that are left out."""
        firsts = np.concatenate(([0], self.ends))
        places = np.arange(firsts[end], firsts[-2])
        makers, results = np.divmod(self.values[places], RESULTS)
        found: dict[int, dict[int, str]] = {}
        for at in np.flatnonzero((makers >= start) & (makers < end)).tolist():
            reader = int(np.searchsorted(self.ends, places[at], side="right"))
            maker, place = int(makers[at]) - (end - start), int(places[at] - firsts[reader])
            if place < self.nodes.read[reader]:
                name = self.nodes.makes[int(self.nodes.first_outputs[maker] + results[at])]
                found.setdefault(reader, {})[place] = name
        return found

    def node(self, row: int) -> NodeProto:
        """Return a node as protobuf has it."""
        return self.nodes.node(row)

    # -- what a chain is looked for in ----------------------------------------------------

    def tokens(self) -> list[int]:
        """Return a number for each node that equal ones share: so are they, and what they read."""
        kinds = np.array([*self.contents, VALUE], np.int64)[self.weights]
        kinds[self.values == self.blank] = NOTHING
        starts = np.concatenate(([0], self.ends[:-1]))
        counts = self.ends - starts
        counts[self.alone] = 0  # what they read plays no part
        records = np.repeat(np.arange(len(counts)), self.ends - starts)
        plain = np.repeat(counts > 0, self.ends - starts)
        found = folded(self.operations, records[plain], same(kinds[plain]))
        found[self.alone] = -1 - np.array(self.alone)
        return found.tolist()  # type: ignore[no-any-return]

    def operands(self) -> Operands:
        """Return what all nodes read; weights have the names that they are read by."""
        used = self.weights
        counts = np.bincount(used[used >= 0], minlength=len(self.called)).astype(np.int64)
        own = np.array([*self.is_weight, False], np.bool_)
        weights = np.where(own[used], used, -1)
        every = np.arange(len(self.called), dtype=np.int64)
        return Operands(self.called, self.ends, self.values, weights, every, counts)


def declared(data: memoryview, rows: Integers) -> list[str]:
    """Return the names of inputs or outputs of a graph, by tags, starts and ends."""
    places = zip(rows[1].tolist(), rows[2].tolist(), strict=True)
    return [ValueInfoProto.FromString(bytes(data[a:b])).name for a, b in places]


def may_be_weights(code: int, shape: tuple[int, ...]) -> str:
    """Say whether of tensors of a kind the type is all that is known when they are read.

    "large" ones are weights, "small" ones may be if they are not one number, and others are not.
    """
    dtype, size = DTYPES.get(code), prod(shape)
    if dtype is None or dtype.kind not in "fiun" or (dtype.kind != "f" and size <= MAX_KNOWN):
        return ""
    if size <= 1:
        return ""
    return "large" if size > INLINE else "small"
