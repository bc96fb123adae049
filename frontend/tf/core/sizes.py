"""Sizes that are computed in a graph: what is known of shapes that are made of them.

`tf.reshape(x, [tf.shape(x)[0], 3])` has a first size that is that of x, and a second one of 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.ops.random import STRIDE
from ....ir.types.dims import Dim, evaluate, product
from ....ir.types.tensor import Array, TensorSpec
from ...dims.unknown import unknown_dim
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor, spec_with_unknowns
from ...graph.kinds import Composite, Placeholder

DEPTH = 8
"""So many operations are looked through."""
FEW = 64
"""Tensors of more numbers are no sizes."""
SAME_ORDER = ("Squeeze", "ExpandDims", "Reshape")
"""Operations that give what they take in another shape."""
ARITHMETIC = {
    "AddV2": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
}


def sizes_of(tensor: GraphTensor, depth: int = DEPTH) -> Any:
    """Return integers of a graph as an array of numbers and symbols, None if nothing is known."""
    spec, op = tensor.spec, tensor.op
    if spec.dtype.kind not in "iu" or not depth:
        return None
    if (spec.shape is None and op.type != "Pack") or (spec.shape is not None and spec.rank > 2):
        return None
    if op.type == "Const":
        value = op.attributes["value"]
        return np.asarray(value, object) if np.size(value) <= FEW else None
    if isinstance(op.kind, Placeholder) and isinstance(op.graph, FuncGraph):
        outer = op.graph.outside(tensor)
        return sizes_of(outer, depth - 1) if isinstance(outer, GraphTensor) else None
    if not isinstance(op.kind, Composite):
        return None
    if op.type == "Shape":
        shape = op.inputs[0].spec.shape
        return None if shape is None else _objects(list(shape))
    if op.type == "Rank":
        shape = op.inputs[0].spec.shape
        return None if shape is None else np.asarray(len(shape), object)
    below = [sizes_of(x, depth - 1) for x in op.inputs]
    if op.type in SAME_ORDER and below[0] is not None and spec.is_static:
        return below[0].reshape(spec.static_shape)
    return _computed(op.type, op.kind.options, op.inputs, below)


def sizes_told(tensor: object) -> list[int | None] | None:
    """Return what is known of a tensor that is a shape: None is a size that is not known."""
    found = sizes_of(tensor) if isinstance(tensor, GraphTensor) else None
    if found is None or found.ndim != 1:
        return None
    return [int(n) if isinstance(n, int | np.integer) and n >= 0 else None for n in found]


def _objects(values: Sequence[object]) -> Array:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _computed(type_: str, options: Mapping[str, Any], inputs: Any, below: list[Any]) -> Any:
    """Return what an operation makes of sizes."""
    if type_ == "Pack" and all(x.spec.shape in ((), None) for x in inputs):
        return _objects([unknown_dim() if b is None else b[()] for b in below])
    if type_ == "ConcatV2" and all(x.spec.is_static and x.spec.rank == 1 for x in inputs):
        parts = [
            _objects([unknown_dim() for _ in range(x.spec.static_shape[0])]) if b is None else b
            for b, x in zip(below, inputs, strict=True)
        ]
        return np.concatenate(parts)
    if any(b is None for b in below):
        return None
    if type_ == "Pack" and len({b.shape for b in below}) == 1:
        return np.stack(below, axis=options["axis"])
    if type_ in ("Cast", "Identity"):
        return below[0]
    if type_ == "Fill" and all(isinstance(d, int) for d in below[0]):
        return (
            np.full(tuple(below[0]), below[1][()], object) if math.prod(below[0]) <= FEW else None
        )
    if type_ == "StridedSlice" and len(inputs) == 1:
        return np.asarray(below[0][tuple(options["keys"])], object)
    if type_ in ARITHMETIC:
        return np.asarray(ARITHMETIC[type_](below[0], below[1]), object)
    return None


def infer_sizes(
    kind: Composite, inputs: Sequence[GraphTensor], known: Mapping[int, object]
) -> Sequence[TensorSpec] | None:
    """Return the specs of results as far as sizes are known by parts; None if they do not help."""
    partly = {
        i: found
        for i, x in enumerate(inputs)
        if i not in known and (found := sizes_of(x)) is not None
    }
    if not partly:
        return None
    try:
        return kind.infer([x.spec for x in inputs], {"known": {**known, **partly}})
    except (TypeError, ValueError, ArithmeticError, AttributeError, IndexError):
        if kind.type == "Reshape" and 1 in partly:
            dims = [d if isinstance(d, int) and d >= 0 else None for d in partly[1]]
            return (spec_with_unknowns(inputs[0].spec.dtype, dims),)
        return None  # the rule wants numbers: what is said without them is inferred instead


def counters_of(type_: str, dims: Sequence[Dim]) -> Dim:
    """Return how many counters a draw uses up."""
    if type_ == "RandomShuffle":
        return (dims[0] + 2) // 4
    if type_.startswith("SampleDistorted"):
        return dims[0]
    if type_.endswith("CandidateSampler"):
        return 2048 // 4 * dims[0]
    if type_ == "Multinomial":
        return STRIDE * 2 * dims[0] * ((dims[1] + 3) // 4 * 4)
    return STRIDE * product(tuple(dims))


def known_counters(type_: str, dims: Sequence[int]) -> int:
    """Return how many counters a draw of a known shape uses up."""
    return evaluate(counters_of(type_, dims), {})


__all__ = ["counters_of", "infer_sizes", "known_counters", "sizes_of"]
