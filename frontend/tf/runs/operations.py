"""Operations of graphs with what TensorFlow's say of themselves: as messages, and their lines."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...formats.messages import AttrValue, NodeDef, OpDef
from ...formats.tensors import NUMBERS
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation
from ..core.element_types import as_dtype
from ..core.signatures import Argument, Signature, signatures
from .graph_messages import add_node, attribute_message, shape_message


def _is_argument(op: Operation) -> bool:
    """Say whether an operation stands for an argument of a function."""
    graph = op.graph
    return isinstance(graph, FuncGraph) and any(x.op is op for x in graph.inputs)


def _given(value: object) -> Any:
    """Return an attribute as it is handed out: types as TensorFlow's, shapes as messages."""
    if isinstance(value, list):
        return [_given(each) for each in value]
    if isinstance(value, DType):
        return as_dtype(value)
    return shape_message(value) if isinstance(value, TensorSpec) else value


LIKE = {"keep_dims": "keepdims", "axis": "axis"}
"""Attributes of TensorFlow's that options of ours are, by their names."""


class ByType(Protocol):
    """What makes an operation of a type."""

    def __call__(
        self,
        graph: Graph,
        op_type: str,
        inputs: Sequence[object],
        name: str | None,
        attrs: Mapping[str, AttrValue],
    ) -> Operation:
        """Add it to a graph; its name is that of the type where none is said."""


BY_TYPE: list[ByType] = []
"""The one that knows the functions of all types: it is put in where these are."""


def _check_types(what: str, said: Sequence[object] | None, tensors: Sequence[object]) -> None:
    """Raise `TypeError` if tensors have other element types than was said of them."""
    found = [as_dtype(x.spec.dtype) for x in tensors if isinstance(x, GraphTensor)]
    wanted = found if said is None else [as_dtype(each).base_dtype for each in said]
    if wanted != found:
        raise TypeError(f"{what} are of types {found}, not {wanted}")


class Creating(Graph):
    """A graph that operations are added to by their types."""

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[object],
        dtypes: Sequence[object] | None = None,
        input_types: Sequence[object] | None = None,
        name: str | None = None,
        attrs: Mapping[str, AttrValue] | None = None,
        op_def: object = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add an operation of a type that `tf.raw_ops` has, or raise `NotFoundError`.

        What it gives follows from its inputs and attributes: if other element types are said
        (`dtypes`, `input_types`), or the definition of another type, that is a `TypeError`. Shapes
        are always computed, as in TensorFlow; without `compute_device` it is put nowhere.
        """
        if op_def is not None and getattr(op_def, "name", None) != op_type:
            raise TypeError(f"op_def is not that of {op_type!r}: {op_def!r}")
        _check_types(f"inputs of {op_type!r}", input_types, inputs)
        [create] = BY_TYPE
        nowhere = nullcontext() if compute_device else self.on_device(None)
        with nowhere:
            made = create(self, op_type, inputs, name, attrs or {})
        _check_types(f"results of {made.name!r}", dtypes, made.outputs)
        return made


class TfOperation(Operation):
    """A node of a graph, as programs for TensorFlow look at it."""

    __slots__ = ()

    def get_attr(self, name: str) -> Any:
        """Return an attribute by TensorFlow's name or ours."""
        options: dict[str, object] = getattr(self.kind, "options", {})
        if name in LIKE and LIKE[name] in options:
            return options[LIKE[name]]
        known = signatures().get(self.type)
        typed = known and (_typed(self, known.inputs, self.inputs, name)
                           or _typed(self, known.outputs, self.outputs, name))  # fmt: skip
        if typed:
            return typed
        if name == "N" and known is not None and any(a.count == "N" for a in known.inputs):
            return len(self.inputs)
        if name == "_user_specified_name" and _is_argument(self):
            return self.name.encode()
        return _given(super().get_attr(name))

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)

    @property
    def node_def(self) -> NodeDef:
        """Return the node as a message."""
        made = NodeDef()
        add_node(made, self, {})
        if "_output_shapes" in made.attr:  # an operation without results has none
            del made.attr["_output_shapes"]
        return made

    @property
    def op_def(self) -> OpDef:
        """Return what operations of this type take, have and give, as a message."""
        known = signatures().get(self.type)
        made = OpDef(name=self.type)
        if known is None:
            for i, tensor in enumerate(self.inputs):
                made.input_arg.add(name=f"input_{i}", type=NUMBERS.get(str(tensor.spec.dtype), 0))
            for i, tensor in enumerate(self.outputs):
                made.output_arg.add(name=f"output_{i}", type=NUMBERS.get(str(tensor.spec.dtype), 0))
            return made
        fill(made, known)
        return made

    @property
    def traceback(self) -> traceback.StackSummary:
        """Return the line of the user's program that made it: the stack is not kept."""
        file, _, line = self.source.rpartition(":")
        number = int(line) if line.isdigit() else 0
        text = linecache.getline(file, number).strip()
        return traceback.StackSummary.from_list([(file, number, "", text)])

    def values(self) -> tuple[GraphTensor, ...]:
        """Return what it gives."""
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """Return the groups of operations that are on one device with it, as `loc:@NAME`."""
        names = [op.name for op in self.colocated] or [self.name]
        return [f"loc:@{name}".encode() for name in names]


def _typed(
    op: Operation, arguments: tuple[Argument, ...], tensors: list[GraphTensor], name: str
) -> object:
    """Return the element type that an attribute says, where it says that of one argument."""
    if any(a.count for a in arguments):
        same = [tensors[0]] if tensors and arguments[0].type == name else []
    else:
        same = [x for a, x in zip(arguments, tensors, strict=False) if a.type == name]
    return same[0].dtype if same else None


def fill(made: OpDef, known: Signature) -> None:
    """Fill a signature into a message."""
    lists = {a.name for a in known.attributes if a.type == "list(type)"}
    for arguments, field in ((known.inputs, made.input_arg), (known.outputs, made.output_arg)):
        for each in arguments:
            entry = field.add(name=each.name, number_attr=each.count)
            if each.type in lists:
                entry.type_list_attr = each.type
            elif each.type.startswith("DT_"):
                entry.type = each.type
            else:
                entry.type_attr = each.type
    for attribute in known.attributes:
        entry = made.attr.add(name=attribute.name, type=attribute.type)
        default = attribute.default
        if attribute.type == "type" and isinstance(default, str):
            entry.default_value.type = default
        elif default is not None:
            message = attribute_message(default)
            assert message is not None, f"{known.type}: {attribute.name} = {default!r}"
            entry.default_value.CopyFrom(message)
