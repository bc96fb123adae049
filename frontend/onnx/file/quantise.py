"""Let products of an ONNX model be of integers of 8 bits, by the ranges that data had in them.

    x ----------------> Conv       x -> Quantize -> Dequantize ------> Conv
    w (f32) --------------^        w (i8) --------> Dequantize ----------^
    b (f32) --------------^        b (i32) -------> Dequantize ----------^

What goes into a convolution or a product becomes u8 with one scale and one zero, from the least and
the largest number that it had; weights become i8 with a scale for each output channel, and biases
i32 with the product of both scales. That is the form (QDQ) that every runtime reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from ....errors import Advice, GraphError
from .surgery import Surgery

Array = np.ndarray[Any, Any]
Range = tuple[float, float]
PRODUCTS = ("Conv", "Gemm", "MatMul")
"""Operators that become products of integers, where their second operand is stored."""
OLDEST = 13
"""The first version of the operator set with a scale for each channel."""


@dataclass(frozen=True)
class IntegerProduct:
    """A node that is to multiply integers."""

    node: NodeProto
    weight: Array
    bias: Array | None

    @property
    def axis(self) -> int | None:
        """Return which axis of the weights is that of output channels; None for no single one."""
        if self.node.op_type == "Conv":
            return 0
        if self.weight.ndim != 2:
            return None
        turned = any(a.name == "transB" and a.i for a in self.node.attribute)
        return 0 if turned else 1


def products_of(surgery: Surgery) -> list[IntegerProduct]:
    """Return the nodes of the main graph that can multiply integers."""
    stored = {t.name: t for t in surgery.graph.initializer if t.data_type == TensorProto.FLOAT}
    found = []
    for node in surgery.graph.node:
        if node.op_type not in PRODUCTS or node.domain or len(node.input) < 2:
            continue
        if node.input[1] not in stored or node.input[0] in stored:
            continue
        weight = numpy_helper.to_array(stored[node.input[1]])
        third = node.input[2] if len(node.input) > 2 else ""
        bias = numpy_helper.to_array(stored[third]) if third in stored else None
        found.append(IntegerProduct(node, weight, bias))
    return found


def quantise(surgery: Surgery, ranges: Mapping[str, Range]) -> int:
    """Change a model; `ranges` are those of the first operands. Return how many nodes it was."""
    version = max((o.version for o in surgery.proto.opset_import if not o.domain), default=1)
    if version < OLDEST:
        raise GraphError(
            f"the model is of opset {version}, expected {OLDEST} or newer", location=surgery.name,
            hint=Advice(
                f"gravure.convert(MODEL, opset={OLDEST})", f"gravure convert --opset {OLDEST} MODEL"
            ),
        )  # fmt: skip
    work = _Quantiser(surgery, ranges)
    for product in products_of(surgery):
        work.take(product)
    return work.finish()


class _Quantiser:
    """The nodes and tensors that are added."""

    def __init__(self, surgery: Surgery, ranges: Mapping[str, Range]) -> None:
        self.surgery, self.ranges = surgery, ranges
        self.before: dict[str, list[NodeProto]] = {}
        """By a node's output: what stands before it."""
        self.tensors: dict[str, TensorProto] = {}
        self.ready: dict[str, tuple[str, float]] = {}
        """By a value: what it is once it was quantised, and its scale."""
        self.count = 0

    def take(self, product: IntegerProduct) -> None:
        """Let one node multiply integers."""
        node, key = product.node, product.node.output[0]
        x, weight = node.input[0], node.input[1]
        nodes = self.before.setdefault(key, [])
        if x not in self.ready:
            self.ready[x] = self.activation(x, nodes)
        node.input[0], scale = self.ready[x]
        node.input[1], scales = self.weight(weight, product, nodes)
        if product.bias is not None and _is_plain(node):
            node.input[2] = self.bias(node.input[2], product.bias, scale * scales, key, nodes)
        self.count += 1

    def activation(self, name: str, nodes: list[NodeProto]) -> tuple[str, float]:
        """Quantise and dequantise a value; return the result and its scale."""
        low, high = self.ranges[name]
        low, high = min(low, 0.0), max(high, 0.0)
        scale = float(np.float32((high - low) / 255 or 1.0))
        zero = int(np.clip(round(-low / scale), 0, 255))
        ends = [
            self.store(f"{name}_scale", np.float32(scale)),
            self.store(f"{name}_zero", np.uint8(zero)),
        ]
        inner, outer = f"{name}_quantised", f"{name}_dequantised"
        nodes.append(helper.make_node("QuantizeLinear", [name, *ends], [inner], f"{name}/quantise"))
        nodes.append(
            helper.make_node("DequantizeLinear", [inner, *ends], [outer], f"{name}/dequantise")
        )
        return outer, scale

    def weight(
        self, name: str, product: IntegerProduct, nodes: list[NodeProto]
    ) -> tuple[str, Array]:
        """Store a weight as i8; return what it is dequantised, and its scales."""
        axis = product.axis
        label = f"{name}_{'all' if axis is None else axis}"
        scales = scales_of(product.weight, axis)
        if label in self.ready:
            return self.ready[label][0], scales
        along = scales
        if axis is not None:
            along = scales.reshape([-1 if n == axis else 1 for n in range(product.weight.ndim)])
        rounded = np.clip(np.rint(product.weight / along), -127, 127).astype(np.int8)
        inner = self.store(f"{label}_i8", rounded)
        ends = [
            self.store(f"{label}_scale", scales),
            self.store(f"{label}_zero", np.zeros(scales.shape, np.int8)),
        ]
        outer = f"{label}_dequantised"
        node = helper.make_node("DequantizeLinear", [inner, *ends], [outer], f"{label}/dq")
        if axis is not None:
            node.attribute.append(helper.make_attribute("axis", axis))
        nodes.append(node)
        self.ready[label] = outer, 0.0
        return outer, scales

    def bias(self, name: str, bias: Array, scales: Array, key: str, nodes: list[NodeProto]) -> str:
        """Store a bias as i32; return what it is dequantised."""
        label = f"{name}_of_{key}"
        scales = np.broadcast_to(np.float32(scales), bias.shape).astype(np.float32)
        most = np.iinfo(np.int32).max
        rounded = np.clip(np.rint(bias / scales.astype(np.float64)), -most, most).astype(np.int32)
        inner = self.store(f"{label}_i32", rounded)
        ends = [
            self.store(f"{label}_scale", scales),
            self.store(f"{label}_zero", np.zeros(bias.shape, np.int32)),
        ]
        outer = f"{label}_dequantised"
        nodes.append(
            helper.make_node("DequantizeLinear", [inner, *ends], [outer], f"{label}/dq", axis=0)
        )
        return outer

    def store(self, name: str, array: Array | np.generic) -> str:
        """Store a tensor; return its name."""
        self.tensors[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def finish(self) -> int:
        """Put nodes and tensors into the graph; drop weights that nothing reads any more."""
        graph = self.surgery.graph
        nodes = []
        for node in graph.node:
            kept = NodeProto()
            kept.CopyFrom(node)
            nodes += [*self.before.get(node.output[0] if node.output else "", ()), kept]
        del graph.node[:]
        graph.node.extend(nodes)
        self.surgery.drop_unread_weights()
        graph.initializer.extend(self.tensors.values())
        return self.count


def scales_of(weight: Array, axis: int | None) -> Array:
    """Return the scales of a weight as f32: what 127 stands for is its largest number."""
    others = tuple(n for n in range(weight.ndim) if n != axis)
    most = np.abs(weight).max(axis=others if axis is not None else None, initial=0.0)
    return np.where(most > 0, most / np.float32(127), np.float32(1)).astype(np.float32)


def _is_plain(node: NodeProto) -> bool:
    """Say whether a bias is added as it is: not times a beta, nor to alpha times the product."""
    factors = [a.f for a in node.attribute if a.name in ("alpha", "beta")]
    return all(factor == 1.0 for factor in factors)


def read_by_products(products: Sequence[IntegerProduct]) -> list[str]:
    """Return the values whose ranges are needed, each once."""
    return [*dict.fromkeys(product.node.input[0] for product in products)]
