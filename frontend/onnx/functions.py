"""Operators that are functions of other operators: the model's own, and the standard's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto, defs
from xdsl.ir import SSAValue

from ...ir import TensorSpec
from ...ir.dtypes import f32
from ...ir.values import OptionalSpec, SequenceSpec, Spec
from .data import DTYPES
from .node import Node, Parts

_CODES = {dtype.name: code for code, dtype in DTYPES.items()}


def has_function(node: Node) -> bool:
    """Say whether the standard defines an operator by a function of others."""
    if not defs.has(node.op_type, node.version, node.domain):
        return False
    schema: Any = defs.get_schema(node.op_type, node.version, node.domain)
    return bool(schema.has_function or schema.has_context_dependent_function)


def standard_function(node: Node, inputs: Sequence[Any]) -> FunctionProto:
    """Return the function by which the standard defines an operator for these inputs."""
    schema: Any = defs.get_schema(node.op_type, node.version, node.domain)
    if schema.has_function:
        found: Any = schema.get_function_with_opset_version(_latest(schema, node.version))
    else:
        types = [_type(node, v).SerializeToString() for v in inputs]
        versions = schema.context_dependent_function_opset_versions
        version = max((v for v in versions if v <= node.version), default=versions[0])
        found = schema.get_context_dependent_function_with_opset_version(
            version, node.proto.SerializeToString(), types
        )
    function = FunctionProto()
    function.ParseFromString(found if isinstance(found, bytes) else found.SerializeToString())
    for attribute in schema.attributes.values():
        if attribute.default_value.name:
            function.attribute_proto.add().CopyFrom(attribute.default_value)
    return function


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


def _type(node: Node, value: Any) -> TypeProto:
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
