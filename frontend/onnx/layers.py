"""Read a long chain of equal layers of an ONNX graph as a few of them, as `cut-layers` leaves it.

To read a thousand layers takes most of the time that compiling them as ten takes. So the nodes are
compared before they are read, and of equal layers all but ten are left out, but for their weights.
That the ten became equal operations is looked at when they are read: knowledge of values is not
seen in nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
    Operands,
    find_chain,
)
from ...passes.cut_layers import KEPT, LEAST, MissingLayers
from ..files.beside import Bytes
from .file.data import DTYPES
from .file.read import Model, NodeNames, node_label
from .node import INLINE
from .order import outer_names
from .shapes import MAX_KNOWN

Stored = Mapping[str, tuple[TensorProto, Bytes | None]]


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


def may_be_masks(arrays: Sequence[Array]) -> bool:
    """Say whether one of some weights of one type may say which positions are hidden.

    It is known by its values then.
    """
    first = arrays[0]
    if first.dtype != np.float32 or first.ndim < 2:
        return False
    corner = first.shape[-1] - 1
    return bool(min(array.flat[corner] for array in arrays) <= HIDDEN)


def shorten(model: Model, stored: Stored, settable: Collection[str]) -> Short | None:
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
    """The nodes of a graph, and its outputs as one more."""

    def __init__(self, model: Model, stored: Stored, settable: Collection[str]) -> None:
        graph = model.graph
        self.stored, self.settable, self.tensors = stored, settable, model.tensors
        self.nodes: list[NodeProto] = model.nodes
        self.given = {value.name for value in graph.input}
        self.made: dict[str, int] = {}
        """Of a value the number of its node times `RESULTS`, and its own."""
        self.are_ordered = True
        """Whether each node stands behind what it reads."""
        self.ids: dict[str, int] = {}
        """Numbers of what is stored, as it is read."""
        self.kinds: list[int] = []
        """Of each of these what it is: of a weight its type, of others the values, too."""
        self.is_weight: list[bool] = []
        self.small: set[str] = set()
        """Weights that would be constants if they were not those of layers."""
        self.known: dict[object, int] = {}
        self.ends, self.values, self.weights = list[int](), list[int](), list[int]()
        self.outside: dict[str, int] = {}
        self.numbers = [self.enter(*row) for row in enumerate(model.names)]
        self.numbers.append(-1 - len(self.numbers))
        self.use([output.name for output in graph.output])

    def enter(self, index: int, names: NodeNames) -> int:
        """Take a node in; return the number that equal ones share."""
        kind, domain, inputs, outputs = names
        key: list[object] = [kind, domain, len(outputs)]
        has_graphs = False
        attributes = self.nodes[index].attribute
        if attributes:
            has_graphs = any(each.HasField("g") or each.graphs for each in attributes)
            key += [each.SerializeToString() for each in attributes]
            if has_graphs:
                inputs = [*inputs, *outer_names(self.nodes[index])]
        key += self.use(inputs)
        place = index * RESULTS
        for name in outputs:
            if name:
                self.are_ordered &= name not in self.made and name not in self.stored
                self.made[name] = place
            place += 1
        return -1 - index if has_graphs else self.number(tuple(key))

    def use(self, names: Sequence[str]) -> list[int]:
        """Note what a node reads; return what of it equal nodes share."""
        found, values, weights = list[int](), self.values, self.weights
        for name in names:
            known = self.ids.get(name)
            if known is None and name in self.stored:
                known = self.take(name)
            if known is not None:
                values.append(STORED)
                weights.append(known)
                found.append(self.kinds[known])
                continue
            value = self.made.get(name)
            if value is None:
                value = self.outside.setdefault(name, STORED - 1 - len(self.outside))
                self.are_ordered &= not name or name in self.given
            values.append(value)
            weights.append(-1)
            found.append(-1 if name else -2)
        self.ends.append(len(values))
        return found

    def number(self, key: object) -> int:
        """Return the number that equal things share."""
        return self.known.setdefault(key, len(self.known))

    def take(self, name: str) -> int:
        """Take in what is stored: of a weight its type is what counts, of others the values."""
        tensor, payload = self.stored[name]
        kind = tensor.data_type, tuple(tensor.dims)
        is_weight = name in self.settable or self.may_be_weight(name, kind[1])
        if is_weight:
            self.kinds.append(self.number(kind))
        else:
            plain = TensorProto()
            plain.CopyFrom(tensor)
            plain.name = ""
            data = payload.tobytes() if payload is not None else b""
            self.kinds.append(self.number((plain.SerializeToString(), data)))
        self.is_weight.append(is_weight)
        number = self.ids[name] = len(self.ids)
        return number

    def may_be_weight(self, name: str, shape: Sequence[int]) -> bool:
        """Say whether of a tensor its type is all that is known when it is read, or all but."""
        tensor, payload = self.stored[name]
        dtype, size = DTYPES.get(tensor.data_type), prod(shape)
        if dtype is None or dtype.kind not in "fiun":
            return False
        if size > max(INLINE, 0 if dtype.kind == "f" else MAX_KNOWN):
            return True
        if dtype.kind != "f" or size == 1:
            return False
        array = self.tensors.read(tensor, payload)
        if not size or (array == array.flat[0]).all():
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
        used = np.array(self.weights, np.int64)
        counts = np.bincount(used[used >= 0], minlength=len(names))
        own = np.array([*self.is_weight, False], np.bool_)
        weights = np.where(own[used], used, -1)
        ends, values = (np.array(row, np.int64) for row in (self.ends, self.values))
        every = np.arange(len(names), dtype=np.int64)
        return Operands(names, ends, values, weights, every, counts.astype(np.int64))

    def called(self, name: str) -> str:
        """Return the name of a weight: small ones cannot be set, and are called constants."""
        return f"{CONSTANT}{name}" if name in self.small else name

    def stored_as(self, name: str) -> str:
        """Return the name in the model of what is called so."""
        plain = name.removeprefix(CONSTANT)
        return plain if plain in self.small else name
