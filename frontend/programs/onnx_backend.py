"""A backend as the onnx package defines it: prepare a model, run it on arrays.

The suites that come with the standard, and others' programs, can so be run on gravure. A model
whose shapes are not all known is compiled when the shapes of its inputs are: once for each
combination.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep

from ...errors import UnsupportedOp
from ...ir import Array
from ...runtime.model import Model
from ..onnx.file.read import OWN_DOMAINS
from ..onnx.file.summary import every_node
from ..onnx.rules.random import DRAWS
from .compile import compile as compile_model
from .load import load_program

CPU = "CPU"


SMALL = 64
"""Elements up to which an input of rank 0 or 1 may be taken for a shape, axes or a number."""


class GravureRep(BackendRep):
    """A prepared model.

    Where axes, sizes or the like are inputs, the model is compiled when their values are known,
    once for each: the standard lets them change from run to run, compiled code does not.
    """

    def __init__(self, model: ModelProto) -> None:
        self.data = model.SerializeToString()
        stored = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in stored]
        self.names = [value.name for value in inputs]
        self.tensors = {v.name for v in inputs if v.type.WhichOneof("value") == "tensor_type"}
        self.is_static = all(_is_static(value) for value in inputs)
        self.models: dict[tuple[object, ...], Model] = {}
        self.refused: UnsupportedOp | None = None
        if self.is_static:
            try:
                self.models[()] = compile_model(self.data)
            except UnsupportedOp as error:
                self.refused = error

    def run(self, inputs: Any, **kwargs: object) -> tuple[Any, ...]:
        """Return the outputs for inputs in order, or by name."""
        values = [inputs[n] for n in self.names] if isinstance(inputs, dict) else list(inputs)
        arrays = [
            np.asarray(v) if n in self.tensors else v
            for n, v in zip(self.names, values, strict=False)
        ] + values[len(self.names) :]
        if self.refused is None:
            return tuple(self.model_for(arrays).run(arrays))
        fixed = {n: a for n, a in zip(self.names, arrays, strict=False) if _may_be_fixed(a)}
        if not fixed:
            raise self.refused
        free = [a for n, a in zip(self.names, arrays, strict=False) if n not in fixed]
        return tuple(self.specialised(fixed, arrays).run(free))

    def model_for(self, arrays: Sequence[object]) -> Model:
        """Return the model compiled for these shapes."""
        key = () if self.is_static else tuple(self.shapes(arrays).items())
        found = self.models.get(key)
        if found is None:
            found = self.models[key] = compile_model(self.data, shapes=self.shapes(arrays))
        return found

    def specialised(self, fixed: dict[str, Array], arrays: Sequence[object]) -> Model:
        """Return the model compiled for these values of small inputs."""
        key = tuple((name, a.shape, a.tobytes()) for name, a in fixed.items())
        found = self.models.get(key)
        if found is None:
            shapes = {n: s for n, s in self.shapes(arrays).items() if n not in fixed}
            program = load_program(self.data, shapes=shapes, constants=fixed)
            found = self.models[key] = compile_model(program)
        return found

    def shapes(self, arrays: Sequence[Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes of arrays by the names of their inputs."""
        pairs = zip(self.names, arrays, strict=False)
        return {name: array.shape for name, array in pairs if name in self.tensors}


def refuse_draws(model: ModelProto) -> None:
    """Raise for a model whose results the standard does not determine."""
    nodes = [*model.graph.node, *(n for f in model.functions for n in f.node)]
    for node in every_node(nodes):
        if node.op_type in DRAWS and node.domain in OWN_DOMAINS:
            raise UnsupportedOp(
                f"{node.op_type} draws numbers that the standard does not determine",
                hint="prepare(model, draws=True) runs the model all the same",
            )


def _may_be_fixed(array: object) -> bool:
    return (
        isinstance(array, np.ndarray)
        and array.ndim <= 1
        and array.size <= SMALL
        and array.dtype.kind in "iubfV"
    )


def _is_static(value: Any) -> bool:
    kind = value.type
    if not kind.HasField("tensor_type"):
        return True
    if not kind.tensor_type.HasField("shape"):
        return False
    return all(dim.HasField("dim_value") for dim in kind.tensor_type.shape.dim)


class GravureBackend(Backend):
    """gravure as a backend of ONNX models, on the CPU."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = CPU, **kwargs: object) -> GravureRep:
        """Return a model that can be run.

        One that draws random numbers must be asked for with `draws=True`: the standard does not
        say which numbers they are, so that no suite can compare them.
        """
        if not kwargs.get("draws", False):
            refuse_draws(model)
        if not cls.supports_device(device):
            raise UnsupportedOp(f"device {device!r} is not supported, expected {CPU}")
        return GravureRep(model)

    @classmethod
    def run_model(
        cls, model: ModelProto, inputs: object, device: str = CPU, **kwargs: object
    ) -> tuple[Array, ...]:
        """Return the outputs of a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = CPU,
        outputs_info: object = None,
        **kwargs: object,
    ) -> tuple[Array, ...]:
        """Return the outputs of one node."""
        arrays = [np.asarray(value) for value in inputs]
        given = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for name, a in zip([n for n in node.input if n], arrays, strict=True)
        ]
        made = [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in node.output]
        graph = helper.make_graph([node], "node", given, made)
        return cls.run_model(helper.make_model(graph), arrays, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Say whether models run on a device, such as `CPU` or `CPU:0`."""
        return device.split(":", maxsplit=1)[0] == CPU


prepare = GravureBackend.prepare
run_model = GravureBackend.run_model
run_node = GravureBackend.run_node
supports_device = GravureBackend.supports_device


def one_operator(name: str, domain: str, arrays: Mapping[str, Array], **attributes: Any) -> bytes:
    """Return a model of one operator on arrays of these names and shapes, with the result `y`."""
    node = helper.make_node(name, list(arrays), ["y"], domain=domain, **attributes)
    given = [
        helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for key, a in arrays.items()
    ]
    made = helper.make_tensor_value_info("y", given[0].type.tensor_type.elem_type, None)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    model = helper.make_model(
        helper.make_graph([node], name, given, [made]), opset_imports=sets, ir_version=8
    )
    return bytes(model.SerializeToString())


def repeated_operator(
    name: str, count: int, shape: Sequence[int], weights: Mapping[str, Array], **attributes: Any
) -> bytes:
    """Return a model of an operator with weights, so many times, each with ReLU behind it."""
    nodes = []
    for number in range(count):
        before = f"x{number}" if number else "x"
        after = f"x{number + 1}" if number + 1 < count else "y"
        nodes.append(helper.make_node(name, [before, *weights], [f"m{number}"], **attributes))
        nodes.append(helper.make_node("Relu", [f"m{number}"], [after]))
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, key) for key, array in weights.items()],
    )  # fmt: skip
    sets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=sets, ir_version=8)
    return bytes(model.SerializeToString())
