"""Between what Keras gives and tensors: conversion, shapes, and Keras's promotion of types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeAlias, TypeGuard

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable, standardize_dtype
from keras.src.backend.common.dtypes import result_type
from keras.src.backend.config import floatx

from ....ir.types.tensor import Array
from ...eager.tensor import Tensor
from ...tf.core.bridge import dressed
from ...tf.core.shapes import TensorShape
from ...tf.core.values import convert
from ...tf.nondense.sparse_dense import from_dense, to_dense
from ...tf.nondense.sparse_tensor import SparseTensor
from ...tf.ops import array_ops, math_ops
from ...tf.ops.indexed_slices import IndexedSlices
from ...tf.ragged.tensor import RaggedTensor
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike

DType: TypeAlias = "DTypeLike | None"
"""An element type as Keras gives it; None: what the values have."""
Axes: TypeAlias = "int | Sequence[int] | None"
Unary: TypeAlias = Callable[[TensorLike], Tensor]
Binary: TypeAlias = Callable[[TensorLike, TensorLike], Tensor]


def is_tensor(x: object) -> bool:
    """Tell whether something is a tensor, which may be ragged, sparse or given by its rows."""
    return isinstance(x, Tensor | RaggedTensor | SparseTensor | IndexedSlices)


def is_dense(x: object) -> TypeGuard[Tensor]:
    """Tell whether something is a tensor of which all elements are there."""
    return isinstance(x, Tensor)


def convert_to_tensor(
    x: TensorLike, dtype: DType = None, sparse: bool | None = None, ragged: bool | None = None
) -> Tensor:
    """Return a tensor of an element type; without one Keras's rules say which.

    Ragged and sparse ones stay what they are unless dense ones are asked for. Raises ValueError
    where a sparse or ragged tensor is asked for.
    """
    if sparse or ragged:
        raise ValueError("sparse and ragged tensors are not supported with the gravure backend")
    wanted = None if dtype is None else standardize_dtype(dtype)
    if isinstance(x, KerasVariable):
        x = x.value
    if isinstance(x, IndexedSlices):
        x = x.to_dense()
    if isinstance(x, RaggedTensor | SparseTensor):
        same = _not_dense(x, wanted)
        if (ragged if isinstance(same, RaggedTensor) else sparse) is None:
            return same  # type: ignore[return-value]  # Keras takes it for one
        return all_elements(same)
    if hasattr(x, "__gv_tensor__"):
        x = x.__gv_tensor__()
    if isinstance(x, TensorShape):
        x = np.asarray(x.as_list(), "int32")
    if is_dense(x):
        return x if wanted is None or name_of(x) == wanted else cast(x, wanted)
    if wanted is None and not isinstance(x, np.ndarray | np.generic | str | bytes):
        wanted = result_type(*(getattr(leaf, "dtype", type(leaf)) for leaf in tree.flatten(x)))
    return _made(x, wanted)


def _not_dense(x: RaggedTensor | SparseTensor, wanted: str | None) -> RaggedTensor | SparseTensor:
    """Return the same elements in another type."""
    if wanted in (None, standardize_dtype(x.dtype)):
        return x
    made: object = math_ops.cast(x, wanted)
    assert isinstance(made, RaggedTensor | SparseTensor), "a cast keeps what a tensor is made of"
    return made


def all_elements(x: RaggedTensor | SparseTensor) -> Tensor:
    """Return a tensor with zeros where nothing is."""
    found: Tensor = x.to_tensor() if isinstance(x, RaggedTensor) else to_dense(x)
    return found


def as_sparse(x: Tensor) -> Tensor:
    """Return the elements of a tensor that are not zero, as a sparse one."""
    return from_dense(x)  # type: ignore[return-value]  # Keras takes it for one


def _made(x: TensorLike, wanted: str | None) -> Tensor:
    if isinstance(x, list | tuple) and any(
        is_dense(leaf) or isinstance(leaf, KerasVariable) for leaf in tree.flatten(x)
    ):
        return array_ops.stack([convert_to_tensor(each, wanted) for each in x])
    if wanted in (None, "string"):
        return convert(np.asarray(x) if not isinstance(x, str | bytes) else x)
    array = np.asarray(x)
    if array.dtype == object:
        array = np.asarray([np.asarray(leaf) for leaf in tree.flatten(x)]).reshape(array.shape)
    if array.dtype.name != wanted:
        return (
            cast(convert(array), wanted) if array.dtype.kind in "OSU" else converted(array, wanted)
        )
    return convert(array)


def converted(array: Array, wanted: str) -> Tensor:
    """Return an array as a tensor of another element type, by the rules of a cast."""
    return cast(convert(array), wanted)


def convert_to_numpy(x: TensorLike) -> Array:
    """Return the elements as an array."""
    if isinstance(x, np.ndarray):
        return x
    return np.array(convert_to_tensor(x, sparse=False, ragged=False))


def name_of(x: Tensor) -> str:
    """Return the name of a tensor's element type."""
    name: str = standardize_dtype(x.dtype)
    return name


def rowwise(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Apply a function of elements to the rows of a gradient, which stay rows.

    Rows of the same place are not added up before, as TensorFlow's backend does not.
    """

    @wraps(function)
    def applied(x: TensorLike, *args: TensorLike, **kwargs: TensorLike) -> Tensor:
        if isinstance(x, IndexedSlices):
            rows = function(x.values, *args, **kwargs)
            return IndexedSlices(dressed(rows), x.indices, x.dense_shape)
        return function(x, *args, **kwargs)

    return applied


@rowwise
def cast(x: TensorLike, dtype: DType) -> Tensor:
    """Return a tensor in an element type; the imaginary part is dropped where that is real.

    Numbers of Python become a tensor of their own type first, floats one of 32 bits: what an
    optimiser makes of 0.999 in 64 bits are the digits that TensorFlow's backend has.
    """
    wanted = standardize_dtype(dtype)
    if _is_of_numbers(x):
        x = convert(x)
    if not is_dense(x):
        return convert_to_tensor(x, wanted)
    if name_of(x) == wanted:
        return x
    if name_of(x).startswith("complex") and not wanted.startswith("complex"):
        x = math_ops.real(x)
    return math_ops.cast(x, wanted)


def _is_of_numbers(x: TensorLike) -> bool:
    """Say whether a value is a number of Python, or is made of such."""
    if isinstance(x, list | tuple):
        return bool(x) and all(_is_of_numbers(each) for each in x)
    return isinstance(x, int | float)


def dtype_or_float(dtype: DType) -> str:
    """Return the name of an element type; None: Keras's float."""
    name: str = standardize_dtype(dtype)
    return name


def largest(kind: str) -> float:
    """Return the largest number of a float."""
    return 3.3895313892515355e38 if kind == "bfloat16" else float(np.finfo(kind).max)


def shape(x: TensorLike) -> tuple[int | Tensor, ...]:
    """Return the sizes; those that are not known before the run are tensors.

    Those of ragged and sparse tensors that are not known are None.
    """
    if isinstance(x, RaggedTensor | SparseTensor):
        return tuple(x.shape.as_list())  # type: ignore[arg-type]  # some are None
    tensor = convert_to_tensor(x)
    known = tuple(tensor.shape)
    if None not in known:
        return known
    whole = array_ops.shape(tensor)
    return tuple(whole[axis] if size is None else size for axis, size in enumerate(known))


def sizes(x: TensorLike) -> tuple[int, ...]:
    """Return the sizes, all of which must be known."""
    known = tuple(convert_to_tensor(x).shape)
    if None in known:
        raise ValueError(f"the shape {known} must be known before the run")
    return known


def sizes_but_batch(x: Tensor) -> tuple[int, ...]:
    """Return the sizes, with -1 for a batch that is not known before the run."""
    known = tuple(x.shape)
    if None in known[1:]:
        raise ValueError(f"the shape {known} must be known before the run, but for the batch")
    return (-1 if known[0] is None else known[0], *known[1:])


def rank(x: TensorLike) -> int:
    """Return how many axes there are."""
    return len(convert_to_tensor(x).shape)


def type_of(x: object) -> object:
    """Return what Keras's promotion goes by: the element type, or the class of a number."""
    return getattr(x, "dtype", type(x))


def promoted(*values: TensorLike, least: str | type | None = None) -> list[Tensor]:
    """Return values as tensors of the element type that Keras promotes them to."""
    given = [x if isinstance(x, int | float | complex) else convert_to_tensor(x) for x in values]
    kinds = [type_of(x) for x in given] + ([least] if least is not None else [])
    wanted = result_type(*kinds)
    return [convert_to_tensor(x, wanted) for x in given]


def floating(x: TensorLike) -> Tensor:
    """Return a tensor of floats: integers become Keras's usual float."""
    tensor = convert_to_tensor(x)
    return cast(tensor, float_for(name_of(tensor)))


def float_for(dtype: str) -> str:
    """Return the float that an element type becomes where floats are wanted."""
    if dtype == "int64":
        return str(floatx())
    return str(result_type(dtype, float))


def axes_of(x: TensorLike, axis: Axes) -> list[int]:
    """Return axes as numbers from 0; None means all."""
    many = rank(x)
    if axis is None:
        return [*range(many)]
    listed = [axis] if isinstance(axis, int | np.integer) else [*axis]
    for each in listed:
        if not -many <= each < many:
            raise ValueError(f"axis {each} is out of range for a tensor of {many} axes")
    return [int(each) % many if many else 0 for each in listed]
