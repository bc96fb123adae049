"""A random ONNX graph that grows by what onnxruntime takes, for two sets of sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

Array = np.ndarray[Any, Any]
Random = np.random.Generator
OPSETS = (11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)


@dataclass
class Value:
    """A value of the graph, and what it is for each set of sizes."""

    name: str
    arrays: list[Array]

    @property
    def rank(self) -> int:
        return self.arrays[0].ndim

    @property
    def dtype(self) -> Any:
        return self.arrays[0].dtype

    @property
    def fixed(self) -> list[int | None]:
        """Sizes that are the same in all sets."""
        several = zip(*(x.shape for x in self.arrays), strict=True)
        return [sizes[0] if len(set(sizes)) == 1 else None for sizes in several]


@dataclass
class Graph:
    """A graph that grows."""

    random: Random
    opset: int
    values: list[Value] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    given: list[dict[str, Array]] = field(default_factory=lambda: [{}, {}])

    def constant(self, array: Array) -> str:
        """Add a constant."""
        name = f"c{len(self.constants)}"
        if array.ndim == 0 and self.chance(0.2):
            array = array.reshape(1)  # which onnxruntime takes for a number mostly
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def pick(self, test: Callable[[Value], bool] = lambda _: True) -> Value:
        """Return one of the values that fit, rather a late one."""
        found = [value for value in self.values if test(value)]
        if not found:
            raise LookupError
        late = self.random.random() < 0.5
        return found[-1] if late else found[self.random.integers(len(found))]

    def floats(self, rank: int | None = None, least: int = 0) -> Value:
        """Return a value of floats."""
        return self.pick(
            lambda v: v.dtype == np.float32 and v.rank >= least and rank in (None, v.rank)
        )

    def choose(self, *several: Any) -> Any:
        """Return one of several."""
        return several[self.random.integers(len(several))]

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def node(self, kind: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> None:
        """Add a node, if onnxruntime takes it; its results are values."""
        start = len(self.values)
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        domain = attributes.pop("domain", "")
        made = helper.make_node(kind, list(inputs), names, domain=domain, **attributes)
        session = start_session(self.model([made], names, self.known(inputs)))
        results = []
        for number in range(2):
            feed = {v.name: v.arrays[number] for v in self.values if v.name in inputs}
            results.append(session.run(names, feed))
        for name, *arrays in zip(names, *results, strict=True):
            if any(x.size > 200_000 for x in arrays):
                raise LookupError
            self.values.append(Value(name, arrays))
        assert len(self.values) == start + outputs
        self.nodes.append(made)

    def known(self, names: Sequence[str]) -> list[onnx.ValueInfoProto]:
        """Return the types of the inputs of a node."""
        found = {v.name: v for v in self.values if v.name in names}
        return [info(v.name, v.dtype, [None] * v.rank) for v in found.values()]

    def model(
        self, nodes: Sequence[onnx.NodeProto], outputs: Sequence[str],
        inputs: Sequence[onnx.ValueInfoProto],
    ) -> onnx.ModelProto:  # fmt: skip
        """Return a model of nodes."""
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
        used = {name for node in nodes for name in node.input}
        constants = [each for each in self.constants if each.name in used]
        graph = helper.make_graph(nodes, "chance", inputs, results, constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def info(name: str, dtype: Any, shape: Sequence[Any]) -> onnx.ValueInfoProto:
    """Return the type of an input."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, shape)


def start_session(model: onnx.ModelProto) -> Any:
    """Return the model in onnxruntime, as it is written."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"]
    )
