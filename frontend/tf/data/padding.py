"""The shapes and values that elements are filled up with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.types.tensor import Array
from ...data.stages import Given
from ..core.bridge import TfTensor
from ..core.nested import flatten
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import TensorSpec
from ..core.values import convert, static
from ..graph.debugging import assert_less_equal
from ..graph.state import control_dependencies
from ..nondense.sparse_tensor import SparseTensor
from ..ops.array_ops import reshape, shape, where
from ..ops.creation import ones_like

Shapes = Sequence[Any]


def padding(spec: object, shapes: object, values: object) -> tuple[Shapes, Shapes, Shapes]:
    """Return shapes (-1: the largest), values, and shapes with None, for each part."""
    leaves = flatten(spec)
    for leaf in leaves:
        if hasattr(leaf, "element_spec"):
            raise TypeError("`padded_batch` is not supported for datasets of datasets.")
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but "
                f"type spec of elements in the input dataset is not a subclass of TensorSpec: "
                f"`{leaf}`."
            )
    wanted = [leaf.shape for leaf in leaves] if shapes is None else like(spec, shapes)
    if shapes is None and any(leaf.shape.rank is None for leaf in leaves):
        raise ValueError(
            "`padded_shapes` must be given: the elements have components of unknown rank"
        )
    filled = [None] * len(leaves) if values is None else _values(spec, values)
    made = [_value(leaf, value) for leaf, value in zip(leaves, filled, strict=True)]
    found = [_dims(s) for s in wanted]
    for leaf, dims in zip(leaves, found, strict=True):
        _check(leaf, dims)
    numbers = [s if isinstance(s, Given) else _numbers(s) for s in found]
    open_ = [[None] * int(s.tensor.shape[0]) if isinstance(s, Given) else s for s in found]
    return tuple(numbers), [Given(x) for x in made], open_


def _numbers(dims: Sequence[int]) -> Array:
    return np.array([-1 if d is None else d for d in dims], np.int64)


def like(spec: object, shapes: Any) -> list[Any]:
    """Return the shapes of the parts; lists and tuples of numbers are shapes themselves."""
    if isinstance(spec, Mapping):
        return [s for key in sorted(spec) for s in like(spec[key], shapes[key])]
    if isinstance(spec, tuple):
        if len(spec) != len(shapes):
            raise ValueError(
                f"The two structures don't have the same sequence length: {len(spec)} parts and "
                f"{len(shapes)} shapes"
            )
        return [s for a, b in zip(spec, shapes, strict=True) for s in like(a, b)]
    return [shapes]


def _values(spec: object, values: object) -> list[object]:
    if isinstance(spec, Mapping):
        if not isinstance(values, Mapping):
            return [values] * len(flatten(spec))
        return [v for key in sorted(spec) for v in _values(spec[key], values[key])]
    if isinstance(spec, tuple):
        if not isinstance(values, tuple):
            return [values] * len(flatten(spec))
        return [v for a, b in zip(spec, values, strict=True) for v in _values(a, b)]
    return [values]


def _dims(shape: ShapeLike) -> Any:
    """Return a shape as numbers and None; a tensor stays one."""
    if hasattr(shape, "spec"):
        found = convert(shape)
        said = f"Padded shape {shape} must be a `tf.int64` vector tensor, but its"
        if found.shape.rank not in (1, None):
            raise ValueError(f"{said} shape was {tuple(found.shape.as_list())}.")
        if found.dtype.name not in ("int32", "int64"):
            raise TypeError(f"{said} element type was {found.dtype.name}.")
        known = found.numpy().tolist() if found.eager else static(found)
        if not isinstance(known, list) or any(not isinstance(d, int) for d in known):
            return Given(found)
        shape = known
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if isinstance(shape, list | tuple) and any(isinstance(d, list | tuple) for d in shape):
        raise ValueError(
            f"Padded shape {shape} must be a `tf.int64` vector tensor, but its shape was "
            f"{np.shape(shape)}."
        )
    if isinstance(shape, list | tuple):
        shape = [None if d in (None, -1) else int(d) for d in shape]
    return TensorShape(shape).as_list()


def _check(leaf: Any, wanted: Sequence[int | None] | Given) -> None:
    if leaf.shape.rank is None or (isinstance(wanted, Given) and not wanted.tensor.shape):
        return
    dims = [None] * int(wanted.tensor.shape[0]) if isinstance(wanted, Given) else wanted
    if leaf.shape.rank != len(dims):
        raise ValueError(
            f"The padded shape {tuple(dims)} is not compatible with the shape {leaf.shape} of the "
            "corresponding input component."
        )
    for have, want in zip(leaf.shape, dims, strict=True):
        if have is not None and want is not None and have > want:
            raise ValueError(
                f"The padded shape {tuple(dims)} is not compatible with the shape {leaf.shape} of "
                "the corresponding input component."
            )


def _value(leaf: Any, value: object) -> TfTensor:
    """Return what a part is filled up with, of its type."""
    if value is None:
        value = b"" if leaf.dtype.name == "string" else np.zeros((), leaf._spec.dtype.numpy)
    found = value if isinstance(value, TfTensor) else convert(value, leaf._spec.dtype)
    if found.spec.dtype != leaf._spec.dtype:
        raise TypeError(
            f"Mismatched type between padding value {found.dtype} and the input dataset's "
            f"component type {leaf.dtype}."
        )
    if found.shape.rank:
        raise ValueError("Padding value should be a scalar")
    return found


def as_sparse(element: object, row_shape: object) -> SparseTensor:
    """Return all elements of a tensor as a sparse one, in a shape that it does not exceed."""
    dense = convert(element)
    sizes = convert(row_shape, "int64")
    fits = assert_less_equal(shape(dense, "int64"), sizes, "an element is larger than row_shape")
    with control_dependencies([fits] if fits is not None else []):
        there = where(ones_like(dense, "bool"))
    return SparseTensor(there, reshape(dense, [-1]), sizes)
