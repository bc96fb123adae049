"""Operators that are functions of other operators: the model's own, and the standard's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto, defs
from xdsl.ir import SSAValue

from ...ir import TensorSpec
from ...ir.types.dtypes import f32
from ...ir.types.values import OptionalSpec, SequenceSpec, Spec
from .file.data import DTYPES
from .node import Node, Parts
from .within import require_within

LOSSES = ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
_CODES = {dtype.name: code for code, dtype in DTYPES.items()}


def has_function(node: Node) -> bool:
    """Say whether the standard defines an operator by a function of others."""
    if not defs.has(node.op_type, node.version, node.domain):
        return False
    schema: Any = defs.get_schema(node.op_type, node.version, node.domain)
    return bool(schema.has_function or schema.has_context_dependent_function)


def standard_function(node: Node, inputs: Sequence[object]) -> FunctionProto:
    """Return the function by which the standard defines an operator for these inputs."""
    schema: Any = defs.get_schema(node.op_type, node.version, node.domain)
    if schema.has_function:
        found: Any = schema.get_function_with_opset_version(_latest(schema, node.version))
    else:
        types = [_type(node, v).SerializeToString() for v in inputs]
        versions = schema.context_dependent_function_opset_versions
        version = max((v for v in versions if v <= node.version), default=versions[0])
        found = schema.get_context_dependent_function_with_opset_version(
            version, without_cap(node.proto).SerializeToString(), types
        )
    function = FunctionProto()
    function.ParseFromString(found if isinstance(found, bytes) else found.SerializeToString())
    for attribute in schema.attributes.values():
        if attribute.default_value.name:
            function.attribute_proto.add().CopyFrom(attribute.default_value)
    return function


def fitted(node: Node, inputs: Sequence[Any]) -> Sequence[SSAValue]:
    """Return the inputs of a function with sizes that the standard wants and its body does not.

    The losses take the class of each place from labels, of which there is one for each. The body
    of attention would take any rank, and values of more places than there are keys, and mean
    nothing by it.
    """
    if node.op_type == "Attention":
        ranks = [node.rank(x) for x in inputs[:3] if x is not None]
        if not {*ranks} <= {3, 4}:
            node.refuse(f"ranks {', '.join(map(str, ranks))}, expected 3 or 4")
        return _with_a_value_for_each_key(node, *inputs)
    if node.op_type not in LOSSES:
        return inputs
    scores, labels, *weights = inputs
    batch, classes, *places = node.shape(scores)
    wanted = ((batch, *places), (classes,))
    rest = [
        x if x is None or node.shape(x) == shape else node.make.fitted(x, shape=shape)
        for x, shape in zip((labels, *weights), wanted, strict=False)
    ]
    known = {each.name: each.i for each in node.proto.attribute}
    require_within(node, rest[0], -classes, classes, "class", known.get("ignore_index"))
    return [scores, *rest]


def _with_a_value_for_each_key(
    node: Node, q: SSAValue, k: SSAValue, v: SSAValue, *rest: SSAValue
) -> Sequence[SSAValue]:
    """Return the inputs of an attention; where keys and values differ in number, a run says so."""
    own, wanted = node.shape(v), node.shape(k)
    if len(own) != len(wanted) or own[1:-1] == wanted[1:-1]:
        return [q, k, v, *rest]
    return [q, k, node.make.fitted(v, shape=(own[0], *wanted[1:-1], own[-1])), *rest]


def without_cap(proto: NodeProto) -> NodeProto:
    """Return an attention without a softcap below zero: it stands for none."""
    made = NodeProto()
    made.CopyFrom(proto)
    for attribute in made.attribute:
        if proto.op_type == "Attention" and attribute.name == "softcap":
            attribute.f = max(attribute.f, 0.0)
    return made


def bind_attributes(proto: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """Return the node with references to its function's attributes replaced by their values."""
    if not any(attribute.ref_attr_name for attribute in proto.attribute):
        return proto
    made = NodeProto()
    made.CopyFrom(proto)
    del made.attribute[:]
    for attribute in proto.attribute:
        source = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if source is not None:
            made.attribute.add().CopyFrom(source)
            made.attribute[-1].name = attribute.name
    return made


def _latest(schema: Any, version: int) -> int:
    versions: list[int] = [v for v in schema.function_opset_versions if v <= version]
    return max(versions or schema.function_opset_versions[:1])


def _type(node: Node, value: object) -> TypeProto:
    made = TypeProto()
    if isinstance(value, Parts) and value.values:
        _write(made.sequence_type.elem_type, node.kind(value.values[0]))
    elif isinstance(value, Parts):
        _write(made, SequenceSpec(TensorSpec(value.dtype or f32, None)))
    elif isinstance(value, SSAValue):
        _write(made, node.kind(value))
    return made


def _write(made: TypeProto, spec: Spec) -> None:
    """Write a spec as a type of the standard."""
    if isinstance(spec, SequenceSpec):
        _write(made.sequence_type.elem_type, spec.element)
    elif isinstance(spec, OptionalSpec):
        _write(made.optional_type.elem_type, spec.element)
    else:
        made.tensor_type.elem_type = _CODES[spec.dtype.name]
        for dim in spec.shape or ():
            entry = made.tensor_type.shape.dim.add()
            if isinstance(dim, int):
                entry.dim_value = dim
            else:
                entry.dim_param = str(dim)
