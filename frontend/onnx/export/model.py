"""A program of the graph level as an ONNX model, in memory or in a file.

    model = to_model(program)
    save_onnx(program, Path("m.onnx"))          m.onnx, and m.onnx.data if the weights are large

Names of inputs, outputs, nodes and weights are kept. Weights beyond a limit go into a file beside
the model, from where they lie, without a copy in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
    checker,
    helper,
    version_converter,
)
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, OpResult, SSAValue

from .... import __version__
from ....errors import GraphError, UnsupportedOp
from ....ir import SOURCE, Array, Op, Program, TensorSpec, interpret, replace
from ....ir.ops.control.state import Require
from ....ir.program import (
    argument_names,
    by_name,
    forget_requirements,
    optional_function,
    requirements_of,
    result_names,
)
from ....ir.types.dtypes import of_numpy
from ....ir.types.values import ANY, OptionalSpec, SequenceSpec, Spec, value_spec
from ....passes.manager import run
from ....runtime.files import replacing, together
from .extents import NotWritableError
from .rules import write
from .writer import CODES, NEWEST, OPSET, Graph, NodeText, Value, Writer

IR_VERSION = 10
"""The version of the file format that came with `OPSET`."""

EMBEDDED = 1 << 30
"""Bytes of weights up to which a model is one file; ONNX itself allows twice as many."""
ALIGNMENT = 64
SMALL = 1024
"""Bytes up to which a tensor stays in the model even if others do not."""


def to_model(program: Program, *, opset: int = 0) -> ModelProto:
    """Return the model with its weights inside, or raise an error that lists what ONNX has not."""
    out, values = written(program)
    tensors = [_tensor(name, array) for name, array in out.initializers.items()]
    model = _model(program, out, values, tensors)
    checker.check_model(model)
    return model if opset in (0, out.opset) else converted(model, opset)


def save_onnx(
    program: Program, path: Path, *, opset: int = 0, external: bool = False
) -> list[Path]:
    """Write a program as a model; return the paths of the files that were written."""
    out, values = written(program)
    size = sum(array.nbytes for array in out.initializers.values())
    outside = external and any(array.nbytes > SMALL for array in out.initializers.values())
    if not outside and size <= EMBEDDED:
        tensors = [_tensor(name, array) for name, array in out.initializers.items()]
        model = _model(program, out, values, tensors)
        checker.check_model(model)
        if opset not in (0, out.opset):
            model = converted(model, opset)
        with replacing(path) as file:
            file.write(model.SerializeToString(deterministic=True))
        return [path]
    if opset not in (0, out.opset):
        raise UnsupportedOp(
            f"models with their weights beside them are written for opset {out.opset}, not {opset}"
        )
    data = path.with_name(f"{path.name}.data")
    with together():
        with replacing(data) as file:
            model = _model(program, out, values, _store(out.initializers, file, data.name))
        with replacing(path) as file:
            file.write(model.SerializeToString(deterministic=True))
    return [path, data]


def converted(model: ModelProto, opset: int) -> ModelProto:
    """Return the model for another version of the operator set, by the standard's own library."""
    try:
        made = version_converter.convert_version(model, opset)
    except Exception as error:  # whatever it raises is about the model
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise UnsupportedOp(f"the model cannot be converted to opset {opset}: {reason}") from error
    made.ir_version = min(made.ir_version, helper.find_min_ir_version_for(list(made.opset_import)))
    return made


# The graph.


Written = tuple[Writer, tuple[list[Value], list[Value]]]
"""Nodes, and the inputs and outputs of the graph."""


def written(program: Program) -> Written:
    """Return a program as a graph; of the newest operators where older ones are not enough."""
    try:
        return _written(program, OPSET)
    except UnsupportedOp as error:
        try:
            return _written(program, NEWEST)
        except UnsupportedOp:
            raise error from None


def _written(program: Program, opset: int) -> Written:
    if program.level != "graph":
        raise GraphError(
            f"the program is on level {program.level}, only level graph can be written as ONNX",
            location=program.source,
        )
    _drop_requirements(program)
    out = Writer(_weights(program), opset)
    main = program.main
    names, specs = argument_names(main), map(value_spec, main.function_type.inputs)
    outputs = result_names(main)
    out.names.taken.update(names, outputs)
    faults: list[str] = []
    inputs: list[Value] = []
    for name, spec, argument in zip(names, specs, main.body.block.args, strict=True):
        dtype = out.dtype(argument)
        if dtype not in CODES:
            faults.append(f"input {name!r}: ONNX has no tensors of {dtype}")
        out.values[argument], out.types[name] = name, dtype
        if isinstance(spec, TensorSpec):
            out.extents.declare(name, spec.dims)
        inputs.append((name, spec))
    given = _block(out, main, by_name(program.module), faults)
    if faults:
        raise UnsupportedOp("\n".join(faults), location=program.source)
    _name_outputs(out, outputs, given)
    results = map(value_spec, main.function_type.outputs)
    return out, (inputs, list(zip(outputs, results, strict=True)))


def _drop_requirements(program: Program) -> None:
    """Take away what a program requires of values: what runs the file requires it of itself."""
    required = [op for op in program.module.walk() if isinstance(op, Require)]
    if not required and not requirements_of(program.module):
        return
    forget_requirements(program)
    for op in required:
        replace(op, op.operands[0])
    run("dce", program, observers=(), verify_each=False)


def _weights(program: Program) -> Mapping[str, Array]:
    """Return all weights, with those that are prepared from others."""
    prepare = optional_function(program.module, "prepare")
    if prepare is None:
        return program.weights
    made = interpret(program, [], function="prepare")
    return {**program.weights, **dict(zip(result_names(prepare), made, strict=True))}


def _block(
    out: Writer, function: FuncOp, known: Mapping[str, FuncOp], faults: list[str]
) -> Sequence[SSAValue]:
    """Write the operations of a function; return what it returns."""
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            return tuple(op.operands)
        try:
            if isinstance(op, CallOp):
                _inline(out, op, known, faults)
            else:
                assert isinstance(op, Op), f"{op.name} does not stand in a graph"
                write(out, op)
        except NotWritableError as reason:
            faults.append(f"{_place(op)}: {op.name}: {reason}")
            _stand_in(out, op)
    raise AssertionError(f"@{function.sym_name.data} does not return")


def _stand_in(out: Writer, op: Operation) -> None:
    """Name the results of what could not be written, so that all faults are found."""
    for result in op.results:
        out.values[result] = out.names.fresh("lost")
        out.types[out.values[result]] = out.dtype(result)


def _inline(out: Writer, op: CallOp, known: Mapping[str, FuncOp], faults: list[str]) -> None:
    """Write the operations of a function that is called, in the call's place."""
    callee = known[op.callee.root_reference.data]
    if [a.type for a in op.operands] != list(callee.function_type.inputs):
        raise NotWritableError("a call with other shapes than the function's")
    for each in callee.body.walk():
        for result in each.results:
            out.forget(result)
    for argument, operand in zip(callee.body.block.args, op.operands, strict=True):
        out.forget(argument)
        if (array := out.known(operand)) is not None:
            out.arrays[argument] = array
        else:
            out.values[argument] = out.name(operand)
    made = _block(out, callee, known, faults)
    for result, value in zip(op.results, made, strict=True):
        out.values[result] = out.name(value)


def _place(op: Operation) -> str:
    source = op.attributes.get(SOURCE)
    return f"node {source.data!r}" if isinstance(source, StringAttr) else "a node without a name"


def _name_outputs(out: Writer, names: Sequence[str], values: Sequence[SSAValue]) -> None:
    """Give values the names of the outputs; one that has a name of its own is passed on."""
    made = {name for node in out.nodes for name in node.outputs}
    renamed: dict[str, str] = {}
    for wanted, value in zip(names, values, strict=True):
        found = out.name(value)
        if found in made and found not in renamed and isinstance(value, OpResult):
            renamed[found] = wanted
        else:
            node = NodeText("Identity", [found], [wanted], {}, out.labels.fresh(wanted))
            out.nodes.append(node)
    _rename(out.nodes, renamed)


def _rename(nodes: Sequence[NodeText], names: Mapping[str, str]) -> None:
    for node in nodes:
        node.inputs = [names.get(name, name) for name in node.inputs]
        node.outputs = [names.get(name, name) for name in node.outputs]
        for value in node.attributes.values():
            if isinstance(value, Graph):
                _rename(value.nodes, names)


# Protobuf.


def _model(
    program: Program,
    out: Writer,
    values: tuple[list[Value], list[Value]],
    tensors: Sequence[TensorProto],
) -> ModelProto:
    inputs, outputs = values
    used = {name for node in [*out.head, *out.nodes] for name in _read(node)}
    graph = helper.make_graph(
        [_node(node) for node in (*out.head, *out.nodes)],
        Path(program.source).stem or "main",
        [_info(value) for value in inputs],
        [_info(value) for value in outputs],
        [tensor for tensor in tensors if tensor.name in used],
    )
    opset = helper.make_opsetid("", out.opset)
    return helper.make_model(
        graph,
        opset_imports=[opset],
        ir_version=max(IR_VERSION, helper.find_min_ir_version_for([opset])),
        producer_name="gravure",
        producer_version=__version__,
    )


def _read(node: NodeText) -> list[str]:
    """Return all names that a node and the graphs in it read."""
    found = [*node.inputs]
    for value in node.attributes.values():
        if isinstance(value, Graph):
            found += [name for inner in value.nodes for name in _read(inner)]
    return found


def _node(node: NodeText) -> NodeProto:
    given: dict[str, Any] = {
        name: _graph(value) if isinstance(value, Graph) else value
        for name, value in node.attributes.items()
    }
    return helper.make_node(node.op_type, node.inputs, node.outputs, name=node.label, **given)


def _graph(graph: Graph) -> GraphProto:
    return helper.make_graph(
        [_node(node) for node in graph.nodes],
        graph.name,
        [_info(value) for value in graph.inputs],
        [_info(value) for value in graph.outputs],
    )


def _info(value: Value) -> ValueInfoProto:
    name, spec = value
    return helper.make_value_info(name, _type(spec))


def _type(spec: Spec) -> TypeProto:
    if isinstance(spec, SequenceSpec):
        return helper.make_sequence_type_proto(_type(spec.element))
    if isinstance(spec, OptionalSpec):
        return helper.make_optional_type_proto(_type(spec.element))
    dims: Any = spec.shape
    if dims is not None:
        dims = [None if d == ANY else d if isinstance(d, int) else str(d) for d in dims]
    return helper.make_tensor_type_proto(CODES[spec.dtype], dims)


def _empty(name: str, array: Array) -> TensorProto:
    return TensorProto(name=name, dims=array.shape, data_type=CODES[of_numpy(array.dtype)])


def _tensor(name: str, array: Array) -> TensorProto:
    """Return a tensor with its data inside."""
    made = _empty(name, array)
    if of_numpy(array.dtype).is_text:
        made.string_data.extend(str(each).encode() for each in array.ravel())
        return made
    made.raw_data = np.ascontiguousarray(array).tobytes()
    return made


def _store(arrays: Mapping[str, Array], file: BinaryIO, location: str) -> list[TensorProto]:
    """Write the data of tensors into a file; return the tensors, which say where in it."""
    tensors, offset, hashed = [], 0, hashlib.sha1(usedforsecurity=False)
    for name, array in arrays.items():
        if array.nbytes <= SMALL or of_numpy(array.dtype).is_text:
            tensors.append(_tensor(name, array))
            continue
        made = _empty(name, array)
        gap = -offset % ALIGNMENT
        for piece in (bytes(gap), np.ascontiguousarray(array).reshape(-1).view(np.uint8).data):
            file.write(piece)
            hashed.update(piece)
        offset += gap
        made.data_location = TensorProto.EXTERNAL
        rows = {"location": location, "offset": offset, "length": array.nbytes}
        for key, value in rows.items():
            made.external_data.add(key=key, value=str(value))
        tensors.append(made)
        offset += array.nbytes
    for made in tensors:
        if made.data_location == TensorProto.EXTERNAL:
            made.external_data.add(key="checksum", value=hashed.hexdigest())
    return tensors
