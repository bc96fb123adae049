"""Nodes of TensorFlow's own graph files, made by the public functions that they are nodes of.

Most are called under their own names, by `raw_ops`; `OWN` has those whose functions take other
arguments. What is not here is refused by name, and so is an attribute that nothing here heeds.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ....ir.op import Array
from ...formats.messages import AttrValue, NodeDef
from ...formats.messages import GraphDef as Message
from ...formats.schema import ENUMS
from ...formats.tensors import from_message, numpy_types
from ...graph.graph import GraphTensor, Operation
from ...values.run_errors import NotFoundError, UnimplementedError
from ..core.bridge import TfTensor
from ..core.calls import PUBLIC
from ..core.signatures import signatures
from ..core.values import convert
from ..graph import debugging as _debugging
from ..graph import flow as _fl
from ..graph import state as _st
from ..image import resizing as _resizing
from ..ops import array_ops as _a
from ..ops import composed as _composed
from ..ops import creation as _c
from ..ops import gathering as _gathering
from ..ops import math_ops as _m
from ..ops import nn_ops as _n
from ..ops import sorting as _sorting
from ..ops import window_ops as _w
from . import v1_ops as _v1
from .raw import FIXED, RENAMED, SAME, raw

SCALAR_UNKNOWN = 24
"""Graphs of an older version say that a placeholder is a number where they know no shape."""
STATE = (
    *("VarHandleOp", "ReadVariableOp", "VariableV2", "Variable", "Assign", "AssignVariableOp"),
    *("RestoreV2", "SaveV2"),
)
"""Nodes that a graph has no more when it is frozen: its variables are constants then."""
TYPES = ("out_type", "output_type", "type", "DstT", "dtype")
"""Attributes that say which elements come out; others of their kind follow from what goes in."""
CALLED = dict.fromkeys(("reduction_indices", "squeeze_dims", "dim"), "axis")
"""Names that have others where an operation is called by Python."""
Made = object


@dataclass(frozen=True)
class FileNode:
    """A node of a file, with its attributes as Python's values."""

    name: str
    type: str
    inputs: Sequence[str]
    attributes: Mapping[str, object]
    producer: int
    place: str = "of the graph file"
    """Where it stands, for messages."""

    def get(self, name: str) -> AttrValue:
        """Return an attribute, or what it is where nothing is said."""
        if name in self.attributes:
            return self.attributes[name]
        known = signatures().get(self.type)
        found = known.default(name) if known is not None else None
        number = ENUMS["DataType"].get(found) if isinstance(found, str) else None
        return found if number is None else numpy_types()[number]


def value_of(message: AttrValue) -> object:
    """Return an attribute as a value: text, number, element type, extents, array, list."""
    kind = message.WhichOneof("value")
    if kind == "s":
        return message.s.decode("latin-1")
    if kind == "type":
        return numpy_types().get(message.type, message.type)
    if kind == "shape":
        unknown = message.shape.unknown_rank
        return None if unknown else [None if d.size < 0 else d.size for d in message.shape.dim]
    if kind == "tensor":
        return from_message(message.tensor)
    if kind == "list":
        found = message.list
        return [*found.i, *found.f, *found.b, *(s.decode("latin-1") for s in found.s)]
    return getattr(message, kind) if kind in ("i", "f", "b") else None


def placeholder(node: FileNode) -> Made:
    """Add what is fed."""
    shape = node.get("shape")
    if shape == [] and node.producer < SCALAR_UNKNOWN:
        shape = None
    return _st.placeholder(node.get("dtype"), shape, name=node.name)


def plain(function: Callable[..., Made], *attributes: str) -> Callable[..., Made]:
    """Return what calls a function with the tensors of a node, and attributes by their names."""
    return lambda node, *given: function(
        *given, **{n: node.get(n) for n in attributes}, name=node.name
    )


def batched_product(node: FileNode, x: TfTensor, y: TfTensor) -> Made:
    """Add products of matrices."""
    adjoint = {"adjoint_a": node.get("adj_x"), "adjoint_b": node.get("adj_y")}
    return _m.matmul(x, y, **adjoint, name=node.name)


def transposed_convolution(node: FileNode, sizes: object, filters: object, x: object) -> Made:
    """Add a convolution's way back."""
    return _w.conv2d_backprop_input(
        sizes, filters, x, node.get("strides"), node.get("padding"),
        data_format=node.get("data_format"), dilations=node.get("dilations"), name=node.name,
    )  # fmt: skip


def hot(node: FileNode, indices: object, depth: object, on: object, off: object) -> Made:
    """Add rows with one element that is different."""
    return _c.one_hot(indices, depth, on, off, node.get("axis"), name=node.name)


MASKS = [f"{n}_mask" for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
NORM = ("epsilon", "data_format", "is_training", "exponential_avg_factor")
CORNERS = ("align_corners", "half_pixel_centers")
OWN: dict[str, Callable[..., Made]] = {
    "Const": lambda node: _c.constant(node.get("value"), name=node.name),
    "Placeholder": placeholder,
    "PlaceholderV2": placeholder,
    "PlaceholderWithDefault":
        lambda node, x: _st.placeholder_with_default(x, node.get("shape"), name=node.name),
    "NoOp": lambda node: _st.no_op(name=node.name),
    "Add": plain(PUBLIC["AddV2"]),
    "AddN": lambda node, *tensors: _m.add_n(list(tensors), name=node.name),
    "Assert": lambda node, condition, *data: _debugging.Assert(
        condition, list(data), node.get("summarize"), name=node.name),
    "BatchMatMul": batched_product,
    "BatchMatMulV2": batched_product,
    "BatchToSpaceND": plain(_composed.batch_to_space),
    "BroadcastArgs": lambda node, x, y: _a.broadcast_dynamic_shape(x, y),
    "Cast": lambda node, x: _m.cast(x, node.get("DstT"), name=node.name),
    "Concat": lambda node, axis, *tensors: _a.concat(list(tensors), axis, name=node.name),
    "ConcatV2": lambda node, *given: _a.concat(list(given[:-1]), given[-1], name=node.name),
    "Conv2DBackpropInput": transposed_convolution,
    "Div": plain(_v1.div),
    "Einsum": lambda node, *given: _n.products(node.get("equation"), *given, name=node.name),
    "FusedBatchNorm": plain(_v1.fused_batch_norm, *NORM),
    "FusedBatchNormV2": plain(_v1.fused_batch_norm, *NORM),
    "FusedBatchNormV3": plain(_v1.fused_batch_norm, *NORM),
    "Gather": plain(_gathering.gather),
    "IdentityN": lambda node, *given: _m.identity_n(given, name=node.name),
    "MatrixBandPart": lambda node, x, low, high: _n.band_part(x, int(low), int(high)),
    "Merge": lambda node, *given: _fl.merge(list(given), name=node.name),
    "MirrorPad": lambda node, x, paddings: _a.pad(x, paddings, node.get("mode")),
    "Mod": plain(PUBLIC["FloorMod"]),
    "OneHot": hot,
    "OnesLike": plain(_c.ones_like),
    "Pack": lambda node, *given: _a.stack(list(given), node.get("axis"), name=node.name),
    "PadV2": lambda node, x, paddings, value: _a.pad(x, paddings, constant_values=value),
    "PreventGradient": plain(_m.identity),
    "Range": plain(_c.range_),
    "ResizeBilinear": plain(_resizing.old_resize("bilinear"), *CORNERS),
    "ResizeNearestNeighbor": plain(_resizing.old_resize("nearest"), *CORNERS),
    "Select": plain(_v1.where),
    "SelectV2": plain(_a.where),
    "Shape": lambda node, x: _a.shape(x, node.get("out_type"), name=node.name),
    "ShapeN": lambda node, *given: _a.shape_n(given, node.get("out_type"), name=node.name),
    "Snapshot": plain(_m.identity),
    "SpaceToBatchND": plain(_composed.space_to_batch),
    "SparseSoftmaxCrossEntropyWithLogits":
        lambda node, logits, labels: _n.sparse_softmax_cross_entropy_with_logits(labels, logits),
    "Split": lambda node, axis, x: _a.split(x, node.get("num_split"), axis, name=node.name),
    "SplitV": plain(_a.split),
    "StopGradient": plain(_fl.stop_gradient),
    "StridedSlice": plain(_a.strided_slice, *MASKS),
    "Switch": plain(_fl.switch),
    "TopK": lambda node, x: _sorting.top_k(x, node.get("k"), node.get("sorted"), name=node.name),
    "Unique": lambda node, x: _sorting.unique(x, node.get("out_idx"), name=node.name),
    "Unpack": lambda node, x: _a.unstack(x, node.get("num"), node.get("axis"), name=node.name),
    "Where": plain(_a.where),
    "ZerosLike": plain(_c.zeros_like),
}  # fmt: skip


def refused(node: FileNode, why: str) -> UnimplementedError:
    """Return the error for a node that has no form here."""
    return UnimplementedError(f"node '{node.name}' {node.place}: {node.type}: {why}")


def by_own_name(node: FileNode, tensors: Sequence[object]) -> Made:
    """Add a node by the function of its type."""
    known, renamed = signatures()[node.type], {**CALLED, **RENAMED.get(node.type, {})}
    function = PUBLIC[node.type]
    taken = set(inspect.signature(function).parameters)
    given = dict(zip([a.name for a in known.inputs], tensors, strict=True))
    for attribute in known.attributes:
        name, value = attribute.name, node.get(attribute.name)
        is_type = attribute.type == "type" and name not in TYPES
        if is_type or name not in node.attributes:
            continue
        heeded = name in FIXED or renamed.get(name, name) in taken
        if not heeded and value != attribute.default and attribute.type != "type":
            raise refused(node, f"{name} is {value!r}, expected {attribute.default!r}")
        if name not in FIXED and heeded:
            given[name] = value
        elif name in FIXED and attribute.type != "type" and value != FIXED[name]:
            raise refused(node, f"{name} is {value!r}, expected {FIXED[name]!r}")
    return raw(node.type, function, renamed)(**given, name=node.name)


def unknown_attributes(node: FileNode) -> Iterator[str]:
    """Give the attributes that operations of a node's type have not."""
    known = signatures().get(node.type)
    names = {a.name for a in known.attributes} if known is not None else set()
    return (n for n in node.attributes if not n.startswith("_") and n not in names)


def tensors_of(graph: _st.TfGraph, made: Made) -> list[GraphTensor]:
    """Return what a function gave, as a list of tensors."""
    if made is None or isinstance(made, Operation):
        return []
    given = list(made) if isinstance(made, tuple | list) else [made]
    return [graph.owned(convert(x)) for x in given]


def placed_by(node: NodeDef) -> tuple[str, list[str]]:
    """Return the device that a node asks for, and the nodes that it is to be beside of."""
    found = node.attr["_class"].list.s if "_class" in node.attr else ()
    names = [text.decode().removeprefix("loc:@") for text in found]
    return node.device, [name for name in names if name != node.name]


def check(node: FileNode, tensors: Sequence[object]) -> None:
    """Raise `ValueError` if a node lacks inputs or attributes, or has too many inputs."""
    known = signatures().get(node.type)
    if known is None:
        return
    several = any(a.count or a.type.startswith("list") for a in known.inputs)
    lists = {a.name for a in known.attributes if a.type.startswith("list")}
    several = several or any(a.type in lists for a in known.inputs)
    if not several and len(tensors) != len(known.inputs):
        raise ValueError(
            f"NodeDef expected {len(known.inputs)} inputs, which do not match "
            f"{len(tensors)} inputs specified: node '{node.name}' of type {node.type}"
        )
    if node.type in ("Placeholder", "Const") and "dtype" not in node.attributes:
        raise ValueError(f"NodeDef missing attr 'dtype' from Op {node.type}: node '{node.name}'")


class Adding:
    """The nodes of a file on their way into a graph; `given` stand in for some of its tensors."""

    def __init__(
        self, graph: _st.TfGraph, message: Message, given: Mapping[str, GraphTensor], scope: str
    ) -> None:
        self.graph, self.given, self.scope = graph, given, scope
        self.nodes = {
            n.name: FileNode(n.name, n.op, list(n.input),
                         {k: value_of(v) for k, v in n.attr.items() if not k.startswith("_")},
                         message.versions.producer)
            for n in message.node
        }  # fmt: skip
        if len(self.nodes) < len(message.node):
            twice = Counter(n.name for n in message.node).most_common(1)[0][0]
            raise ValueError(f"Node '{twice}' is not unique")
        self.places = {n.name: placed_by(n) for n in message.node}
        self.functions = {f.signature.name for f in message.library.function}
        self.made: dict[str, list[GraphTensor]] = {}
        self.ops: dict[str, Operation] = {}

    def order(self) -> list[FileNode]:
        """Return the nodes, each behind those that it takes from."""
        done: dict[str, bool] = {}
        found: list[FileNode] = []
        for first in self.nodes:
            stack = [(first, False)]
            while stack:
                name, ready = stack.pop()
                if ready:
                    done[name] = True
                    found.append(self.nodes[name])
                elif name not in done:
                    done[name] = False
                    stack.append((name, True))
                    for before in self.before(self.nodes[name]):
                        if done.get(before) is False and before not in self.made:
                            raise refused(self.nodes[name], "a circle of single nodes, expected a "
                                          "graph without loops")  # fmt: skip
                        stack.append((before, False))
        return found

    def before(self, node: FileNode) -> list[str]:
        """Return the names of the nodes that a node takes from or waits for."""
        names: list[str] = []
        for label in node.inputs:
            name, _, port = label.removeprefix("^").partition(":")
            if f"{name}:{port or 0}" in self.given and name not in self.nodes:
                continue  # (what stands in for it is there)
            if name not in self.nodes or not (port.isdigit() or not port):
                raise ValueError(f"Node '{node.name}': Unknown input node '{label}'")
            names.append(name)
        return names

    def tensor(self, label: str, node: FileNode) -> GraphTensor:
        """Return the tensor of an input of a node."""
        name, _, port = label.partition(":")
        full = f"{name}:{port or 0}"
        if full in self.given:
            return self.given[full]
        found = self.made[name]
        if int(port or 0) >= len(found):
            raise ValueError(
                f"Node '{node.name}': Connecting to invalid output {port} of source node {name} "
                f"which has {len(found)} outputs."
            )
        return found[int(port or 0)]

    def add(self) -> None:
        """Add all of them."""
        for node in self.order():
            waits = [self.ops[x[1:]] for x in node.inputs if x.startswith("^")]
            taken = [self.tensor(x, node) for x in node.inputs if not x.startswith("^")]
            device, names = self.places[node.name]
            beside = [self.ops[x] for x in names if x in self.ops]
            with ExitStack() as around:
                if waits:
                    around.enter_context(self.graph.control_dependencies(waits))
                if device:
                    around.enter_context(self.graph.device(device))
                if beside:
                    around.enter_context(self.graph.colocate_with(*beside))
                self.add_node(node, taken)

    def add_node(self, node: FileNode, taken: Sequence[GraphTensor]) -> None:
        """Add one, so that an operation of its name gives what it gives."""
        made = self.built(node, [_as_number(x) for x in taken])
        outputs, full = tensors_of(self.graph, made), f"{self.scope}{node.name}"
        if full not in self.graph.by_name and outputs:
            outputs[0] = self.graph.owned(_m.identity(outputs[0], name=node.name))
        self.made[node.name] = outputs
        self.ops[node.name] = self.graph.by_name[full]

    def built(self, node: FileNode, tensors: Sequence[object]) -> Made:
        """Call the function of a node."""
        if node.type in self.functions or node.type.endswith("PartitionedCall"):
            raise refused(node, "functions of graph files are not read, expected a frozen graph")
        if node.type in STATE:
            raise refused(node, "a variable, expected a frozen graph")
        if node.type not in OWN and node.type not in SAME and node.type not in RENAMED:
            if node.type not in signatures():
                raise NotFoundError(
                    f"Op type not registered '{node.type}': node '{node.name}' {node.place}"
                )
            raise refused(node, "there is no operation of this type")
        check(node, tensors)
        extra = next(unknown_attributes(node), None)
        if extra is not None:
            raise refused(node, f"it has no attribute '{extra}'")
        if node.type in OWN:
            return OWN[node.type](node, *tensors)
        return by_own_name(node, tensors)


def _as_number(tensor: GraphTensor) -> GraphTensor | Array:
    """Return a small constant of whole numbers as an array: an axis, sizes."""
    op = tensor.op
    if op.type != "Const" or op.attributes["value"].size > 64:
        return tensor
    value = np.asarray(op.attributes["value"])
    return value if value.dtype.kind == "i" else tensor


__all__ = ["Adding", "FileNode", "value_of"]
