"""Tensors that are given by the places and values of what is not 0 in them."""

from __future__ import annotations

from math import prod

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper

from ....errors import ParseError
from ....ir import Array
from .data import Tensors

MOST = 1 << 28
"""Elements beyond which such a tensor is not written out."""


def dense(sparse: SparseTensorProto, tensors: Tensors) -> TensorProto:
    """Return the tensor with all its elements, by the name of its values."""
    name, shape = sparse.values.name, tuple(sparse.dims)
    what, size = f"sparse tensor {name!r}", prod(shape)
    if min(shape, default=0) < 0 or size > MOST:
        raise ParseError(f"{what}: {[*shape]} elements, expected at most {MOST}")
    values, indices = tensors.read(sparse.values), tensors.read(sparse.indices)
    places = _places(indices, shape, len(values) if values.ndim == 1 else -1, what)
    made = np.zeros(size, values.dtype)
    made[places] = values
    return numpy_helper.from_array(made.reshape(shape), name)


def _places(indices: Array, shape: tuple[int, ...], count: int, what: str) -> Array:
    """Return places in row-major order; they are given so, or as a row for each."""
    if indices.dtype != np.int64 or indices.shape not in ((count,), (count, len(shape))):
        found = f"{indices.dtype}{[*indices.shape]}"
        raise ParseError(f"{what}: indices {found} for {count} values of {[*shape]}")
    if indices.ndim == 2:
        if (indices < 0).any() or (indices >= np.array(shape, np.int64)).any():
            raise ParseError(f"{what}: an index lies outside of {[*shape]}")
        steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        indices = np.add.reduce(indices * np.array(steps, np.int64), -1)
    if count and not 0 <= indices.min() <= indices.max() < prod(shape):
        raise ParseError(f"{what}: an index lies outside of {[*shape]}")
    if len(np.unique(indices)) < count:
        raise ParseError(f"{what}: an element is given twice")
    return indices
