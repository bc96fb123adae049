"""Read a long chain of equal layers of an ONNX graph as a few of them, as `cut-layers` leaves it.

To read a thousand layers takes most of the time that compiling them as ten takes. So the nodes are
compared before they are read, and of equal layers all but ten are left out, but for their weights.
That the ten became equal operations is looked at when they are read: knowledge of values is not
seen in nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto
from xdsl.ir import Block

from ...ir import Array
from ...ir.compose.functions import HIDDEN
from ...passes.analysis.chains import CONSTANT, BlockRows, find_chain
from ...passes.cut_layers import KEPT, LEAST, MissingLayers
from ..files.beside import Bytes
from .file.data import DTYPES
from .file.read import Model
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

    def missing(self) -> dict[str, str]:
        """Return the names of the weights that are left out, and what they are called."""
        first, behind = self.cut.first, self.cut.first + self.cut.missing
        out = {name for names in self.cut.weights for name in names[first:behind]}
        return {name: called for name, called in self.own.items() if called in out}

    def holds(self, block: Block, weights: Mapping[str, Array]) -> bool:
        """Say whether what is left became equal operations on weights of these names."""
        chain = find_chain(BlockRows(block), KEPT - 2)
        if chain is None or any(name in weights for name in self.missing().values()):
            return False
        first, behind = self.cut.first, self.cut.first + self.cut.missing
        found = {tuple(names[-(KEPT - 2) :]) for names in chain.weights}
        wanted = [(*names[:first], *names[behind:]) for names in self.cut.weights]
        return all(names[-(KEPT - 2) :] in found for names in wanted)


def may_be_mask(array: Array) -> bool:
    """Say whether a weight may say which positions are hidden: it is known by its values then."""
    if array.dtype != np.float32 or array.ndim < 2:
        return False
    return bool(array.flat[array.shape[-1] - 1] <= HIDDEN)


def shorten(model: Model, stored: Stored, settable: Collection[str]) -> Short | None:
    """Return a graph, whose nodes are in order, without most of a long chain; None without one."""
    if len(model.graph.node) < LEAST:
        return None
    rows = NodeRows(model, stored, settable)
    chain = find_chain(rows, LEAST) if rows.are_ordered else None
    if chain is None:
        return None
    cut = MissingLayers.for_chain(chain, KEPT)
    start = chain.start + cut.first * chain.period
    end = start + cut.missing * chain.period
    nodes = list(enumerate(rows.nodes))
    behind = [(index, rows.linked(index, start, end)) for index, _ in nodes[end:]]
    own = {rows.stored_as(name): name for names in cut.weights for name in names}
    return Short([*nodes[:start], *behind], cut, own)


class NodeRows:
    """The nodes of a graph, and its outputs as one more."""

    def __init__(self, model: Model, stored: Stored, settable: Collection[str]) -> None:
        graph = model.graph
        self.stored, self.settable, self.tensors = stored, settable, model.tensors
        self.nodes: list[NodeProto] = list(graph.node)
        self.inputs: list[list[str]] = [list(node.input) for node in self.nodes]
        self.given = {value.name for value in graph.input}
        self.made: dict[str, tuple[int, int]] = {}
        self.counts: Counter[str] = Counter()
        self.are_ordered = True
        """Whether each node stands behind what it reads."""
        self.kinds: dict[str, object] = {}
        self.weighted: set[str] = set()
        self.small: set[str] = set()
        """Weights that would be constants if they were not those of layers."""
        known: dict[object, int] = {}
        self.numbers = [self.enter(index, node, known) for index, node in enumerate(self.nodes)]
        self.numbers.append(-1 - len(self.numbers))
        self.inputs.append([output.name for output in graph.output])
        self.counts.update(self.inputs[-1])

    def enter(self, index: int, node: NodeProto, known: dict[object, int]) -> int:
        """Take a node in; return the number that equal ones share."""
        names, outputs = self.inputs[index], node.output
        key: list[object] = [node.op_type, node.domain, len(outputs)]
        has_graphs = False
        if node.attribute:
            has_graphs = any(each.HasField("g") or each.graphs for each in node.attribute)
            key += [each.SerializeToString() for each in node.attribute]
        if has_graphs:
            names = self.inputs[index] = [*names, *outer_names(node)]
        for name in names:
            if name in self.stored:
                key.append(self.kind(name))
                self.counts[name] += 1
            else:
                key.append(not name)
                self.are_ordered &= not name or name in self.made or name in self.given
        for number, name in enumerate(outputs):
            if name:
                self.are_ordered &= name not in self.made and name not in self.stored
                self.made[name] = index, number
        return -1 - index if has_graphs else known.setdefault(tuple(key), len(known))

    def kind(self, name: str) -> object:
        """Return what a stored tensor is: of a weight its type, of others the values, too."""
        found = self.kinds.get(name)
        if found is None:
            tensor, payload = self.stored[name]
            shape = tuple(tensor.dims)
            found = (tensor.data_type, shape)
            if name in self.settable or self.is_weight(name, shape):
                self.weighted.add(name)
            else:
                plain = TensorProto()
                plain.CopyFrom(tensor)
                plain.name = ""
                data = payload.tobytes() if payload is not None else b""
                found = (plain.SerializeToString(), data)
            self.kinds[name] = found
        return found

    def is_weight(self, name: str, shape: Sequence[int]) -> bool:
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
        if not any(start <= self.made.get(name, (-1, 0))[0] < end for name in node.input):
            return node
        made = NodeProto()
        made.CopyFrom(node)
        for place, name in enumerate(node.input):
            maker, number = self.made.get(name, (-1, 0))
            if start <= maker < end:
                made.input[place] = self.nodes[maker - (end - start)].output[number]
        return made

    # -- what a chain is looked for in ----------------------------------------------------

    def tokens(self) -> list[int]:
        """Return a number for each node that equal ones share."""
        return self.numbers

    def uses(self, index: int) -> list[object]:
        """Return what a node reads but what is stored."""
        names = self.inputs[index]
        return [self.made.get(name, name) for name in names if name not in self.stored]

    def weights(self, index: int) -> list[str | None]:
        """Return the names of the inputs that are weights, as they are when they are read."""
        return [
            (self.called(name) if name in self.weighted else None) for name in self.inputs[index]
        ]

    def called(self, name: str) -> str:
        """Return the name of a weight: small ones cannot be set, and are called constants."""
        return f"{CONSTANT}{name}" if name in self.small else name

    def are_one(self, names: Sequence[str]) -> bool:
        """Say whether weights of these names are one and the same."""
        return names.count(names[0]) == len(names)

    def count(self, name: str) -> int:
        """Return how often a weight is read."""
        return self.counts[self.stored_as(name)]

    def stored_as(self, name: str) -> str:
        """Return the name in the model of what is called so."""
        plain = name.removeprefix(CONSTANT)
        return plain if plain in self.small else name
