"""Read a long chain of equal layers of an ONNX graph as a few of them, as `cut-layers` leaves it.

To read a thousand layers takes most of the time that compiling them as ten takes. So the nodes are
compared before they are read, and of equal layers all but ten are left out, but for their weights.
That the ten became equal operations is looked at when they are read: knowledge of values is not
seen in nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain as chained
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto
from xdsl.ir import Block

from ...ir import Array
from ...ir.compose.functions import HIDDEN
from ...passes.analysis.chains import (
    CONSTANT,
    RESULTS,
    STORED,
    BlockRows,
    Integers,
    Operands,
    find_chain,
)
from ...passes.cut_layers import KEPT, LEAST, MissingLayers
from .file.data import DTYPES
from .file.read import Model, NodeNames, Stored, node_label
from .node import INLINE
from .order import outer_names
from .shapes import MAX_KNOWN

Kind = tuple[int, tuple[int, ...]]
"""Type and shape of a tensor."""
VALUE, NOTHING = -1, np.iinfo(np.int64).min
"""Stand for what a node reads that is not stored, or left out."""
MANY = 64
"""A node that reads more is taken for one that is like no other."""


@dataclass(frozen=True)
class Short:
    """The nodes of a graph that are left, and what is missing."""

    nodes: Sequence[tuple[int, NodeProto]]
    """With their positions among all."""
    cut: MissingLayers
    own: Mapping[str, str]
    """What the weights of layers are called, by their names in the model."""
    stored: Mapping[str, str]
    """The names in the model of those that are called otherwise."""

    def missing(self) -> list[dict[str, str]]:
        """Return of each weight of a layer the names of those that are left out.

        They are called so; what they are stored as is found by that.
        """
        first, behind = self.cut.first, self.cut.first + self.cut.missing
        out = [names[first:behind] for names in self.cut.weights]
        return [{called: self.stored.get(called, called) for called in names} for names in out]

    def holds(self, block: Block, weights: Mapping[str, Array]) -> bool:
        """Say whether what is left became equal operations on weights of these names."""
        first, behind = self.cut.first, self.cut.first + self.cut.missing
        least = 2 * first - 2
        chain = find_chain(BlockRows(block), least)
        out = [called for names in self.missing() for called in names]
        if chain is None or not weights.keys().isdisjoint(out):
            return False
        found = {tuple(names[-least:]) for names in chain.weights}
        wanted = [(*names[:first], *names[behind:]) for names in self.cut.weights]
        return all(names[-least:] in found for names in wanted)


def is_one_number(array: Array) -> bool:
    """Say whether all elements are the same."""
    first, *others = array.ravel().tolist()
    return others.count(first) == len(others)


def may_be_masks(arrays: Sequence[Array]) -> bool:
    """Say whether one of some weights of one type may say which positions are hidden.

    It is known by its values then.
    """
    first = arrays[0]
    if first.dtype != np.float32 or first.ndim < 2:
        return False
    corner = first.shape[-1] - 1
    return bool(min(array.flat[corner] for array in arrays) <= HIDDEN)


def shorten(model: Model, stored: Mapping[str, Stored], settable: Collection[str]) -> Short | None:
    """Return a graph, whose nodes are in order, without most of a long chain; None without one."""
    if len(model.graph.node) < LEAST:
        return None
    rows = NodeRows(model, stored, settable)
    chain = find_chain(rows, LEAST) if rows.are_ordered else None
    if chain is None:
        return None
    cut = MissingLayers.for_chain(chain, KEPT, lambda row: [node_label(rows.nodes[row], row)])
    start = chain.start + cut.first * chain.period
    end = start + cut.missing * chain.period
    nodes = list(enumerate(rows.nodes))
    behind = [(index, rows.linked(index, start, end)) for index, _ in nodes[end:]]
    own = {rows.stored_as(name): name for names in cut.weights for name in names}
    small = {called: name for name, called in own.items() if name != called}
    return Short([*nodes[:start], *behind], cut, own, small)


class NodeRows:
    """The nodes of a graph, and its outputs as one more.

    A graph of a thousand layers has tens of thousands of nodes, and as many tensors are stored:
    names are looked up in one go, and what nodes share is told by columns of numbers.
    """

    def __init__(
        self, model: Model, stored: Mapping[str, Stored], settable: Collection[str]
    ) -> None:
        graph = model.graph
        self.stored, self.settable, self.tensors = stored, settable, model.tensors
        self.nodes: list[NodeProto] = model.nodes
        self.ids: dict[str, int] = {}
        """Numbers of what is stored, as it is read."""
        self.kinds: list[int] = []
        """Of each of these what it is: of a weight its type, of others the values, too."""
        self.is_weight: list[bool] = []
        self.small: set[str] = set()
        """Weights that would be constants if they were not those of layers."""
        self.known: dict[object, int] = {}
        self.large: dict[Kind, bool] = {}
        """Whether tensors of a type are weights, where that is all that it takes to tell."""
        kinds = [self.operation(*row) for row in zip(self.nodes, model.names, strict=True)]
        alone = [i for i, kind in enumerate(kinds) if kind < 0 or len(model.names[i][2]) > MANY]
        reads = [names for _, _, names, _ in model.names]
        for index in (index for index in alone if kinds[index] < 0):
            reads[index] = [*reads[index], *outer_names(self.nodes[index])]
        reads.append([output.name for output in graph.output])
        makes = [names for _, _, _, names in model.names]
        self.made: dict[str, int] = {}
        """Of a value the number of its node times `RESULTS`, and its own."""
        self.link(reads, makes, {value.name for value in graph.input})
        self.numbers = self.alike(np.array([*kinds, -1], np.int64), [*alone, len(kinds)])

    def operation(self, node: NodeProto, names: NodeNames) -> int:
        """Return the number that operations with the same attributes share; -1 for one alone."""
        kind, domain, _, outputs = names
        attributes = node.attribute
        if not attributes:
            return self.number((kind, domain, len(outputs)))
        if any(each.HasField("g") or each.graphs for each in attributes):
            return -1
        rows = [each.SerializeToString() for each in attributes]
        return self.number((kind, domain, len(outputs), *rows))

    def link(
        self, reads: Sequence[Sequence[str]], makes: Sequence[Sequence[str]], given: set[str]
    ) -> None:
        """Note where what nodes read comes from."""
        every, made = [*chained.from_iterable(reads)], [*chained.from_iterable(makes)]
        counts = np.array([*map(len, reads)], np.int64)
        self.ends = np.cumsum(counts)
        lengths = np.array([*map(len, makes)], np.int64)
        firsts = np.cumsum(lengths) - lengths
        makers = np.repeat(np.arange(len(makes)), lengths)
        places = makers * RESULTS + np.arange(len(made)) - np.repeat(firsts, lengths)
        self.made = dict(zip(made, places.tolist(), strict=True))
        blanks = made.count("")
        self.made.pop("", None)
        names = [name for name in dict.fromkeys(every) if name in self.stored]
        self.take_all(names)
        outside = [n for n in dict.fromkeys(every) if n not in self.ids and n not in self.made]
        codes = {name: STORED - 1 - number for number, name in enumerate(outside)}
        codes |= self.made | dict.fromkeys(names, STORED)
        self.values = np.array([*map(codes.__getitem__, every)], np.int64)
        self.weights = np.array([self.ids.get(name, -1) for name in every], np.int64)
        readers = np.repeat(np.arange(len(reads)), counts)
        self.are_ordered = (
            len(self.made) == len(made) - blanks
            and self.made.keys().isdisjoint(self.stored)
            and given.issuperset(filter(None, outside))
            and bool((self.values < readers * RESULTS).all())
        )
        """Whether each node stands behind what it reads."""
        self.blank = codes.get("", NOTHING)

    def alike(self, operations: Integers, alone: Sequence[int]) -> list[int]:
        """Return a number for each node that equal ones share: so are they, and what they read."""
        kinds = np.array([*self.kinds, VALUE], np.int64)[self.weights]
        kinds[self.values == self.blank] = NOTHING
        kinds = np.unique(kinds, return_inverse=True)[1]
        starts = np.concatenate(([0], self.ends[:-1]))
        counts = self.ends - starts
        counts[alone] = 0  # what they read plays no part
        found = np.unique(operations * (counts.max(initial=0) + 1) + counts, return_inverse=True)[1]
        for place in range(counts.max(initial=0)):
            rows = np.flatnonzero(counts > place)
            pairs = found[rows] * len(kinds) + kinds[starts[rows] + place]
            found[rows] = len(found) * (place + 1) + np.unique(pairs, return_inverse=True)[1]
        found[alone] = -1 - np.array(alone)
        return [*map(int, found)]

    def number(self, key: object) -> int:
        """Return the number that equal things share."""
        return self.known.setdefault(key, len(self.known))

    def take_all(self, names: Sequence[str]) -> None:
        """Take in what is stored, most of it large weights of few types."""
        large, numbers = self.large, dict[Kind, int]()
        for name in names:
            tensor = self.stored[name][0]
            kind = tensor.data_type, tuple(tensor.dims)
            if not large.get(kind):
                self.take(name)
                continue
            if kind not in numbers:
                numbers[kind] = self.number(kind)
            self.kinds.append(numbers[kind])
            self.is_weight.append(True)
            self.ids[name] = len(self.ids)

    def take(self, name: str) -> None:
        """Take in what is stored: of a weight its type is what counts, of others the values."""
        tensor, payload, _ = self.stored[name]
        kind = tensor.data_type, tuple(tensor.dims)
        is_weight = name in self.settable or self.may_be_weight(name, kind)
        if is_weight:
            self.kinds.append(self.number(kind))
        else:
            plain = TensorProto()
            plain.CopyFrom(tensor)
            plain.name = ""
            data = payload.tobytes() if payload is not None else b""
            self.kinds.append(self.number((plain.SerializeToString(), data)))
        self.is_weight.append(is_weight)
        self.ids[name] = len(self.ids)

    def may_be_weight(self, name: str, kind: Kind) -> bool:
        """Say whether of a tensor its type is all that is known when it is read, or all but."""
        if kind in self.large:
            return self.large[kind]
        dtype, size = DTYPES.get(kind[0]), prod(kind[1])
        if dtype is None or dtype.kind not in "fiun" or (dtype.kind != "f" and size <= MAX_KNOWN):
            return self.large.setdefault(kind, False)
        if size > INLINE or size <= 1:
            return self.large.setdefault(kind, size > 1)
        if is_one_number(self.tensors.read(*self.stored[name])):
            return False
        self.small.add(name)
        return True

    def linked(self, index: int, start: int, end: int) -> NodeProto:
        """Return a node that reads of layers before what it read of those that are left out."""
        node = self.nodes[index]
        places = [self.made.get(name, -1) for name in node.input]
        if not any(start * RESULTS <= place < end * RESULTS for place in places):
            return node
        made = NodeProto()
        made.CopyFrom(node)
        for number, place in enumerate(places):
            maker, result = divmod(place, RESULTS)
            if start <= maker < end:
                made.input[number] = self.nodes[maker - (end - start)].output[result]
        return made

    # -- what a chain is looked for in ----------------------------------------------------

    def tokens(self) -> list[int]:
        """Return a number for each node that equal ones share."""
        return self.numbers

    def operands(self) -> Operands:
        """Return what all nodes read; weights have the names that they are read by."""
        names = [self.called(name) for name in self.ids]
        used = self.weights
        counts = np.bincount(used[used >= 0], minlength=len(names))
        own = np.array([*self.is_weight, False], np.bool_)
        weights = np.where(own[used], used, -1)
        every = np.arange(len(names), dtype=np.int64)
        return Operands(names, self.ends, self.values, weights, every, counts.astype(np.int64))

    def called(self, name: str) -> str:
        """Return the name of a weight: small ones cannot be set, and are called constants."""
        return f"{CONSTANT}{name}" if name in self.small else name

    def stored_as(self, name: str) -> str:
        """Return the name in the model of what is called so."""
        plain = name.removeprefix(CONSTANT)
        return plain if plain in self.small else name
